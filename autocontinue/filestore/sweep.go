package filestore

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"time"
)

const (
	folders    = 256  // of a kind
	maxNames   = 2000 // names of a folder that are read, for each new file
	maxLooked  = 16   // files that are looked at, for each new file
	tempAge    = time.Hour
	minBetween = 24 * time.Hour // two looks that remove a file
)

// birth is before any session of this program: a clock that said less was wrong.
var birth = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// sweep removes files of a kind that nobody used for MaxAge. It looks at a few files of one of the kind's folders. What
// fails is left for the next time.
func (s *Store) sweep(root *os.Root, kind string, folder int) {
	dir := fmt.Sprintf("%s/%02x", kind, folder)
	names := readNames(root, dir, maxNames)
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	isOurs, looked := regexp.MustCompile(`^[0-9a-f]{32}\.(json|tmp)$`), 0
	for _, name := range names {
		if looked < maxLooked && isOurs.MatchString(name) {
			looked++
			s.sweepFile(root, dir+"/"+name, lockOf(name))
		}
	}
}

// sweepFile removes a file that is too old. The time of its last change only spares reading most files: a young one is
// never removed, and an old one is asked for its last use.
func (s *Store) sweepFile(root *os.Root, name, lock string) {
	now := s.opts.Now()
	isTemp := strings.HasSuffix(name, ".tmp")
	limit := s.opts.MaxAge
	if isTemp {
		limit = min(limit, tempAge)
	}
	info, err := root.Lstat(name)
	if err != nil || now.Sub(info.ModTime()) <= limit {
		return
	}
	unlock, _ := s.lockNow(root, lock)
	if unlock == nil {
		return // in use
	}
	defer unlock()
	if isTemp || s.isUnused(root, name, now) {
		_ = root.Remove(name)
	}
}

// isUnused reports whether nobody used a document for too long: it looked like that before, a day ago or earlier, and
// does again. At the first look, it is marked.
func (s *Store) isUnused(root *os.Root, name string, now time.Time) bool {
	data, err := s.readFile(root, name)
	var e envelope
	if data == nil || err != nil || json.Unmarshal(data, &e) != nil || e.Format != format || len(e.Value) == 0 {
		return false // who uses it will set it aside
	}
	between := now.Sub(e.Unused)
	switch {
	case e.Used.Before(birth), e.Used.After(now): // by a wrong clock
		e.Used, e.Unused = now.UTC(), time.Time{}
	case now.Sub(e.Used) <= s.opts.MaxAge:
		return false
	case e.Unused.IsZero(), between < 0:
		e.Unused = now.UTC()
	default:
		return between >= minBetween
	}
	info, err := root.Lstat(name)
	if err == nil && s.write(root, name, e) == nil && !e.Unused.IsZero() {
		_ = root.Chtimes(name, info.ModTime(), info.ModTime()) // so that it is looked at again
	}
	return false
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
