package filestore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

const (
	journalWait = 100 * time.Millisecond // for the journal's lock
	lateFolder  = "journal-late"
	maxLate     = 1000 // late lines that are kept
)

// appendLate writes a line to a file of its own, for which no lock is needed. The name begins with the time.
func (s *Store) appendLate(root *os.Root, line []byte) error {
	if len(readNames(root, lateFolder, maxLate)) == maxLate {
		return &Error{ErrLocked, "lock", s.path(lockName(journalLock)), errHeld}
	}
	now := s.opts.Now().UTC().Format("20060102T150405.000000000Z")
	name := fmt.Sprintf("%s/%s-%08x.jsonl", lateFolder, now, rand.Uint32())
	err := within(root, lateFolder, func() error {
		return root.WriteFile(name, append(line[:len(line):len(line)], '\n'), 0o600)
	})
	if err != nil {
		root.Remove(name)
		return s.diskError("append to", name, err)
	}
	return nil
}

// mergeLate moves late lines into the journal, in their order. The caller holds the journal's lock. If the process is killed
// between the two steps, the line is in the journal twice.
func (s *Store) mergeLate(root *os.Root) {
	for _, name := range lateNames(root) {
		line := lateLine(root, name)
		if line == nil {
			continue
		}
		aside, err := s.appendLine(root, line)
		s.tell(aside)
		if err != nil {
			return // they stay where they are, and are read from there
		}
		root.Remove(name)
	}
}

// lateNames returns the files with late lines, the oldest first.
func lateNames(root *os.Root) []string {
	names := readNames(root, lateFolder, maxLate)
	slices.Sort(names)
	for i, name := range names {
		names[i] = lateFolder + "/" + name
	}
	return names
}

// lateLine returns the line in a file without its line break. A file that is being written, or that cannot be read, has none.
func lateLine(root *os.Root, name string) []byte {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxLine {
		return nil
	}
	data, err := root.ReadFile(name)
	line, ended := bytes.CutSuffix(data, []byte("\n"))
	if err != nil || !ended || bytes.IndexByte(line, '\n') >= 0 {
		return nil
	}
	return line
}
