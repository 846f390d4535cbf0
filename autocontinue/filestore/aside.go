package filestore

import (
	"os"
	"path"
	"slices"
)

const (
	asideFolder = "aside"
	maxAside    = 8 // things set aside that are kept
)

// SetAside is a file that could not be read and was moved away, so that its session could start afresh.
type SetAside struct {
	Kind string // of the document: "sessions", …; "journal"
	Name string // of the document, its first 200 bytes: host and session, with a slash between them
	File string // absolute path it had
	To   string // absolute path it has now
	Why  string // what was wrong with it
}

// setAside moves a file away. The caller holds its lock.
func (s *Store) setAside(root *os.Root, name, kind, label, why string) (*SetAside, error) {
	now := s.opts.Now().UTC().Format("20060102T150405.000000000Z")
	to := asideFolder + "/" + now + "-" + kind + "-" + path.Base(name)
	err := root.MkdirAll(asideFolder, 0o700)
	if err == nil {
		s.trimAside(root)
		err = root.Rename(name, to)
	}
	if err != nil {
		return nil, s.diskError("set aside", name, err)
	}
	return &SetAside{Kind: kind, Name: label, File: s.path(name), To: s.path(to), Why: why}, nil
}

// trimAside makes room for one more, the oldest going first: names begin with the time. A folder that holds something
// stays; nothing is removed with what is in it.
func (s *Store) trimAside(root *os.Root) {
	names := readNames(root, asideFolder, 1000)
	slices.Sort(names)
	for i := 0; i < len(names) && len(names)-i >= maxAside; i++ {
		root.Remove(asideFolder + "/" + names[i])
	}
}

func (s *Store) tell(a *SetAside) {
	if a != nil && s.opts.OnSetAside != nil {
		s.opts.OnSetAside(*a)
	}
}
