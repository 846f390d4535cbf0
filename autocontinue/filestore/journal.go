package filestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

const (
	journalFile = "journal.jsonl"
	olderFile   = "journal.1.jsonl"
	maxLine     = 16 << 20 // bytes of a journal line
)

// Journal is the file journal.jsonl, to which any number of processes append lines. It is safe for concurrent use. It is what
// [autocontinue.NewJournal] writes to:
//
//	cfg.Observer = autocontinue.NewJournal(store.Journal())
//
// When a line would make it larger than [Options].JournalSize it becomes journal.1.jsonl, in whose place it is kept, and a
// new one is begun. Lines are not synced: after a loss of power the last ones may be missing.
type Journal struct{ store *Store }

// Journal returns the journal of the folder.
func (s *Store) Journal() *Journal { return &Journal{s} }

// Write appends one line: see [Journal.Append].
func (j *Journal) Write(line []byte) (int, error) {
	if err := j.Append(context.Background(), line); err != nil {
		return 0, err
	}
	return len(line), nil
}

// Append appends one line, with or without the line break it ends with; one inside is an error. The line is written as
// a whole or not at all; what a process that was killed left of one is ended first. While another process holds the lock,
// Append waits for 100 ms at most. Then it writes the line to a file of its own in the folder journal-late. The next Append
// that gets the lock moves such lines into the journal. The errors are those of ctx, [ErrDisk], [ErrTooLarge] and, with
// 1,000 lines waiting for the lock, [ErrLocked].
func (j *Journal) Append(ctx context.Context, line []byte) error {
	line = bytes.TrimSuffix(line, []byte("\n"))
	switch {
	case len(line) == 0 || bytes.IndexByte(line, '\n') >= 0:
		return errors.New("filestore: the journal takes one line at a time")
	case len(line) >= maxLine:
		return fmt.Errorf("%w: a journal line of %d bytes", ErrTooLarge, len(line))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s := j.store
	root, err := s.open(true)
	if err != nil {
		return err
	}
	defer root.Close()
	unlock, err := s.lock(ctx, root, journalLock)
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		return s.appendLate(root, line)
	}
	s.mergeLate(root)
	aside, err := s.appendLine(root, line)
	unlock()
	s.tell(aside)
	return err
}

// appendLine does it, with the lock held.
func (s *Store) appendLine(root *os.Root, line []byte) (aside *SetAside, err error) {
	info, err := root.Lstat(journalFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, s.diskError("append to", journalFile, err)
	case !info.Mode().IsRegular():
		if aside, err = s.setAside(root, journalFile, "journal", "", "it is no regular file"); err != nil {
			return nil, err
		}
	case info.Size() > 0 && info.Size()+int64(len(line))+1 > s.opts.JournalSize:
		if err := root.Rename(journalFile, olderFile); err != nil {
			return nil, s.diskError("replace", olderFile, err)
		}
	}
	f, err := root.OpenFile(journalFile, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		err = errors.Join(appendTo(f, line), f.Close())
	}
	if err != nil {
		return aside, s.diskError("append to", journalFile, err)
	}
	return aside, nil
}

// appendTo writes line to the end of f in one call, on a line of its own. When that fails f is as it was.
func appendTo(f *os.File, line []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	data := make([]byte, 0, len(line)+2)
	if size > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			data = append(data, '\n')
		}
	}
	data = append(append(data, line...), '\n')
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	return nil
}
