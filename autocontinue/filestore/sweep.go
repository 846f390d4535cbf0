package filestore

import (
	"cmp"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	maxLooked  = 16 // files that are looked at, for each new one
	maxRemoved = 4  // files that are removed, for each new one
	tempAge    = time.Hour
)

// isOurs reports whether a file's name is one that this package gives; others are none of its business.
func isOurs(name string) bool {
	id, kind, _ := strings.Cut(name, ".")
	return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == "" && (kind == "json" || kind == "tmp")
}

// sweep removes a few of the files of a kind that are too old or too many, but not the new one. What fails is left for the
// next time.
func (s *Store) sweep(root *os.Root, kind, created string) {
	names := slices.DeleteFunc(readNames(root, kind, s.opts.MaxFiles+1000), func(name string) bool {
		return name == created || !isOurs(name)
	})
	count := len(names) + 1
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })

	type file struct {
		name  string
		used  time.Time
		limit time.Duration
	}
	var files []file
	for _, name := range names[:min(len(names), maxLooked)] {
		info, err := root.Lstat(kind + "/" + name)
		if err != nil {
			continue
		}
		limit := s.opts.MaxAge
		if strings.HasSuffix(name, ".tmp") {
			limit = min(limit, tempAge)
		}
		files = append(files, file{name, info.ModTime(), limit})
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.name, b.name)) })

	now, removed := s.opts.Now(), 0
	for _, f := range files {
		if removed == maxRemoved {
			return
		}
		if (now.Sub(f.used) > f.limit || count-removed > s.opts.MaxFiles) && s.remove(root, kind, f.name, f.used) {
			removed++
		}
	}
}

// remove removes a file that nobody has locked or written since it was looked at.
func (s *Store) remove(root *os.Root, kind, name string, used time.Time) bool {
	unlock := s.lockNow(root, stripeOf(name))
	if unlock == nil {
		return false
	}
	defer unlock()
	info, err := root.Lstat(kind + "/" + name)
	if err != nil || !info.ModTime().Equal(used) {
		return false
	}
	return root.Remove(kind+"/"+name) == nil
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
