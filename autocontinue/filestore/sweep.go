package filestore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

const (
	folders   = 256  // of a kind
	maxNames  = 2000 // names of a folder that are read, for each new file
	maxLooked = 16   // files that are looked at, for each new file
	tempAge   = time.Hour
)

// sweep removes files of a kind that nobody used for MaxAge, by the time of their last change. It looks at a few files
// of one of the kind's folders. What fails is left for the next time.
func (s *Store) sweep(root *os.Root, kind string, folder int) {
	dir := fmt.Sprintf("%s/%02x", kind, folder)
	names := readNames(root, dir)
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	looked := 0
	for _, name := range names {
		id, suffix, _ := strings.Cut(name, ".")
		isOurs := len(id) == 32 && strings.Trim(id, "0123456789abcdef") == "" && (suffix == "json" || suffix == "tmp")
		if !isOurs {
			continue
		}
		if looked++; looked > maxLooked {
			return
		}
		limit := s.opts.MaxAge
		if suffix == "tmp" {
			limit = min(limit, tempAge)
		}
		isOld := func() bool {
			info, err := root.Lstat(dir + "/" + name)
			return err == nil && s.opts.Now().Sub(info.ModTime()) > limit
		}
		if !isOld() {
			continue
		}
		if unlock, _ := s.lockNow(root, lockOf(id)); unlock != nil { // else it is in use
			if isOld() {
				_ = root.Remove(dir + "/" + name)
			}
			unlock()
		}
	}
}

// readNames returns names in a folder, none if it cannot be read.
func readNames(root *os.Root, dir string) []string {
	f, err := root.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxNames)
	return names
}
