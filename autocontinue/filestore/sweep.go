package filestore

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	maxNames   = 2000           // names of a folder that are read, for each new file
	maxLooked  = 16             // files that are looked at, for each new file
	minBetween = 24 * time.Hour // two looks that remove a file
)

// sweep removes files that nobody used for MaxAge. It looks at a few files of a folder, whose lock the caller holds:
// they all have the same. What fails is left for the next time.
func (s *Store) sweep(root *os.Root, dir string) {
	isOurs := regexp.MustCompile(`^[0-9a-f]{32}\.(json|tmp)$`)
	names := slices.DeleteFunc(readNames(root, dir, maxNames), func(n string) bool { return !isOurs.MatchString(n) })
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:min(len(names), maxLooked)] {
		s.sweepFile(root, dir+"/"+name)
	}
}

// sweepFile removes a file that is too old, by its last change: at the first look it is marked, and removed at one that
// is a day later. A use in between takes the mark away.
func (s *Store) sweepFile(root *os.Root, name string) {
	now := s.opts.Now()
	info, err := root.Lstat(name)
	if err != nil || now.Sub(info.ModTime()) <= s.opts.MaxAge {
		return
	}
	var e envelope
	isTemp := strings.HasSuffix(name, ".tmp") // a killed process left it
	if data, err := s.readFile(root, name); !isTemp && (err != nil || json.Unmarshal(data, &e) != nil || e.Format != format) {
		return // who uses it will set it aside
	}
	between := now.Sub(e.Unused)
	switch {
	case isTemp, !e.Unused.IsZero() && between >= minBetween:
		_ = root.Remove(name)
	case e.Unused.IsZero() || between < 0: // marked by a wrong clock
		e.Unused = now.UTC()
		if s.write(root, name, e) == nil {
			_ = root.Chtimes(name, info.ModTime(), info.ModTime()) // so that it is looked at again
		}
	}
}

// readNames returns at most that many of the names in a folder, none if it cannot be read.
func readNames(root *os.Root, dir string, most int) []string {
	f, err := root.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(most)
	return names
}
