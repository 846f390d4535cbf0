package filestore

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"
)

// LineError is a journal line that could not be read. Those after it can.
type LineError struct {
	File   string // absolute path
	Offset int64  // of the line, in bytes
	Err    error
}

func (e *LineError) Error() string {
	return fmt.Sprintf("filestore: %s: the line at byte %d: %v", e.File, e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// ReadJournal reads the lines of the journal in a folder, the oldest first, without their line breaks and without looking
// at what they say. A line is the caller's until the next one. The last line, when its line break is missing, is left out
// unless it is whole; blank lines always are. A folder or journal that is not there has no lines. Lines that are not yet
// in the journal because its lock was held (see [Journal.Append]) come last.
//
// It takes no lock and creates nothing; lines that are appended meanwhile may or may not be seen. Beside an error the line
// is nil. A [LineError] is one line, of more than 16 MiB; any other error is the last thing yielded: ctx's, or [ErrDisk].
func ReadJournal(ctx context.Context, dir string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r := reader{ctx: ctx, dir: dir, yield: yield}
		defer r.close()
		if r.open() && (r.current == nil || r.lines(true)) {
			r.late()
		}
	}
}

// FollowJournal is ReadJournal that goes on with what is appended, and with a folder and a journal that are not there yet, until
// ctx is done, which is no error. It looks every so often; 0 is a quarter of a second. It sees a line that was written while
// the lock was held when the next line is appended. Of a journal that is begun anew it
// misses nothing, unless that happens twice between two looks. A file that was cut short is read from its beginning.
func FollowJournal(ctx context.Context, dir string, every time.Duration) iter.Seq2[[]byte, error] {
	if every <= 0 {
		every = time.Second / 4
	}
	return func(yield func([]byte, error) bool) {
		r := reader{ctx: ctx, dir: dir, follow: true, yield: yield}
		defer r.close()
		tick := time.NewTicker(every)
		defer tick.Stop()
		for r.look() {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

// reader reads journal.jsonl from an offset on, and what was before it. Its methods report false when there is nothing
// more to do: the caller has seen enough, ctx is done, or an error was yielded.
type reader struct {
	ctx    context.Context
	dir    string
	follow bool
	yield  func([]byte, error) bool

	current *os.File    // nil when there is none yet
	name    string      // of current, for errors
	offset  int64       // in current, where a line begins
	begun   bool        // the older file was looked at
	last    fs.FileInfo // of the file that was current before
}

func (r *reader) close() {
	if r.current != nil {
		r.current.Close()
		r.current = nil
	}
}

func (r *reader) fail(err error) bool {
	r.yield(nil, err)
	return false
}

func (r *reader) disk(name string, err error) bool {
	return r.fail(&Error{ErrDisk, "read", filepath.Join(r.dir, name), cause(err)})
}

// look reads what has come since the last look.
func (r *reader) look() bool {
	if r.current == nil {
		if !r.open() {
			return false
		}
		if r.current == nil {
			return true
		}
	}
	if !r.lines(false) {
		return false
	}
	switch same, ok := r.isCurrent(); {
	case !ok:
		return false
	case same:
		return true
	}
	// It was renamed, after which nobody appends to it: read its rest, then what took its place.
	if !r.lines(true) {
		return false
	}
	info, err := r.current.Stat()
	if err != nil {
		return r.disk(journalFile, err)
	}
	r.last = info
	r.close()
	return r.open() && (r.current == nil || r.lines(false))
}

// isCurrent reports whether the open file is the journal still. One that is shorter than what was read of it is read anew.
func (r *reader) isCurrent() (same, ok bool) {
	root, err := os.OpenRoot(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, true
	} else if err != nil {
		return false, r.disk(".", err)
	}
	defer root.Close()
	now, err := root.Lstat(journalFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, true
	} else if err != nil {
		return false, r.disk(journalFile, err)
	}
	info, err := r.current.Stat()
	if err != nil {
		return false, r.disk(journalFile, err)
	}
	if now.Size() < r.offset && os.SameFile(info, now) {
		r.offset = 0
	}
	return os.SameFile(info, now), true
}

// open opens the journal; there may be none. It reads the older file first, if that was never looked at or, being another
// one than was read last and newer, was the journal between two looks.
func (r *reader) open() bool {
	root, err := os.OpenRoot(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	} else if err != nil {
		return r.disk(".", err)
	}
	defer root.Close()
	current, older, err := openBoth(root)
	if err != nil {
		return r.disk(journalFile, err)
	}
	if older != nil {
		defer older.Close()
		info, err := older.Stat()
		if err != nil {
			return r.disk(olderFile, err)
		}
		missed := r.last != nil && !os.SameFile(r.last, info) && !info.ModTime().Before(r.last.ModTime())
		if missed || !r.begun {
			r.current, r.name, r.offset = older, olderFile, 0
			ok := r.lines(true)
			r.current, r.last = nil, info
			if !ok {
				if current != nil {
					current.Close()
				}
				return false
			}
		}
	}
	r.begun = r.begun || current != nil || older != nil
	if current != nil {
		r.last = nil
	}
	r.current, r.name, r.offset = current, journalFile, 0
	return true
}

// openBoth opens the journal and the file before it, as they are at one moment. One that is not there is nil.
func openBoth(root *os.Root) (current, older *os.File, err error) {
	for range 100 {
		if current, err = openRegular(root, journalFile); err != nil {
			return nil, nil, err
		}
		if older, err = openRegular(root, olderFile); err != nil {
			closeAll(current)
			return nil, nil, err
		}
		if current == nil {
			return nil, older, nil
		}
		was, err := current.Stat()
		now, err2 := root.Lstat(journalFile)
		if err == nil && err2 == nil && os.SameFile(was, now) {
			return current, older, nil
		}
		closeAll(current, older) // it was renamed in between
	}
	return nil, nil, errors.New("it is begun anew all the time")
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// openRegular opens a file, nil when it is not there. What would block, or leads elsewhere, is an error.
func openRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	var f *os.File
	if err == nil {
		f, err = root.Open(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// lines yields the lines of the current file from the offset on. Whole says that nobody appends to it any more.
func (r *reader) lines(whole bool) bool {
	in := bufio.NewReaderSize(io.NewSectionReader(r.current, r.offset, 1<<62), 64<<10)
	for {
		if err := r.ctx.Err(); err != nil {
			if r.follow {
				return false
			}
			return r.fail(err)
		}
		line, size, err := readLine(in)
		ended := err == nil
		switch {
		case err != nil && err != io.EOF:
			return r.disk(r.name, err)
		case !ended && !(whole && json.Valid(line)):
			return true
		}
		at := r.offset
		r.offset += size
		switch {
		case line == nil && size > maxLine:
			if !r.yield(nil, &LineError{filepath.Join(r.dir, r.name), at, ErrTooLarge}) {
				return false
			}
		case len(bytes.TrimSpace(line)) > 0:
			if !r.yield(line, nil) {
				return false
			}
		}
		if !ended {
			return true
		}
	}
}

// late yields the lines that wait for the journal's lock.
func (r *reader) late() bool {
	root, err := os.OpenRoot(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	} else if err != nil {
		return r.disk(".", err)
	}
	defer root.Close()
	for _, name := range lateNames(root) {
		if line := lateLine(root, name); line != nil && !r.yield(line, nil) {
			return false
		}
	}
	return true
}

// readLine returns the next line without its line break, and its size with it. A line that is too large is nil. The error is
// io.EOF for what has no line break.
func readLine(in *bufio.Reader) (line []byte, size int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		size += int64(len(part))
		if size <= maxLine {
			line = append(line, part...)
		} else {
			line = nil
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if size > maxLine {
			return nil, size, err
		}
		return bytes.TrimSuffix(line, []byte("\n")), size, err
	}
}
