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

const (
	journalFile = "journal.jsonl"
	olderFile   = "journal.1.jsonl"
	maxLine     = 16 << 20 // bytes of a journal line
)

// Journal is the file journal.jsonl, to which any number of processes append lines. It is safe for concurrent use. It
// is what [autocontinue.NewJournal] writes to:
//
//	cfg.Observer = autocontinue.NewJournal(store.Journal())
//
// A line needs no lock: the system appends what one call writes as a whole. Once the file is larger than
// [Options].JournalSize, it becomes journal.1.jsonl, which replaces the one before, and a new journal is begun. Lines
// are not synced: after a loss of power the last ones may be missing.
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

// Append appends one line, with or without the line break at its end; one inside is an error. It waits for nothing.
// What a killed process left of its line is ended first. The errors are those of ctx, [ErrDisk] and [ErrTooLarge].
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
	aside, err := s.makeRoom(root, int64(len(line))+1)
	s.tell(aside)
	if err != nil {
		return err
	}
	f, err := root.OpenFile(journalFile, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		err = errors.Join(appendTo(f, line), f.Close())
	}
	if err != nil {
		return s.diskError("append to", journalFile, err)
	}
	return nil
}

// makeRoom begins a new journal if the next line would make it too large. If another process is doing that, the line
// makes the journal a little larger.
func (s *Store) makeRoom(root *os.Root, more int64) (aside *SetAside, err error) {
	full := func() (info fs.FileInfo, full bool) {
		info, err := root.Lstat(journalFile)
		return info, err == nil && (!info.Mode().IsRegular() || info.Size() > 0 && info.Size()+more > s.opts.JournalSize)
	}
	if _, ok := full(); !ok {
		return nil, nil
	}
	unlock := s.lockNow(root, journalLock)
	if unlock == nil {
		return nil, nil
	}
	defer unlock()
	info, ok := full()
	switch {
	case !ok:
		return nil, nil
	case !info.Mode().IsRegular():
		return s.setAside(root, journalFile, "journal", "", notRegular)
	}
	if err := root.Rename(journalFile, olderFile); err != nil {
		return nil, s.diskError("replace", olderFile, err)
	}
	return nil, nil
}

// appendTo writes line to the end of f in one call, as a line of its own.
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
	n, err := f.Write(append(append(data, line...), '\n'))
	if err != nil && n > 0 {
		if info, err2 := f.Stat(); err2 == nil && info.Size() == size+int64(n) { // nobody appended to the part
			err = errors.Join(err, f.Truncate(size))
		}
	}
	return err
}

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

// ReadJournal reads the lines of the journal in a folder, the oldest first, without their line breaks and without
// looking at what they say. A line is the caller's until the next one. A last line without a line break is left out
// unless it is valid JSON; blank lines always are. A missing folder or journal has no lines.
//
// It creates nothing, and may or may not see lines that are appended meanwhile. Beside an error the line is nil. A
// [LineError] is one line, of more than 16 MiB. Any other error is the last thing yielded: that of ctx, or [ErrDisk].
func ReadJournal(ctx context.Context, dir string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r := &reader{ctx: ctx, dir: dir, yield: yield}
		if r.open(true) {
			r.lines(true)
		}
		r.close()
	}
}

// FollowJournal is ReadJournal that goes on with what is appended, and with a folder and a journal that are made later,
// until ctx is done, which is not an error. It looks every so often; 0 is a quarter of a second. It misses nothing when
// a new journal is begun, unless that happens twice between two looks. It reads a file that was cut short from its
// beginning.
func FollowJournal(ctx context.Context, dir string, every time.Duration) iter.Seq2[[]byte, error] {
	if every <= 0 {
		every = time.Second / 4
	}
	return func(yield func([]byte, error) bool) {
		r := &reader{ctx: ctx, dir: dir, follow: true, yield: yield}
		defer r.close()
		tick := time.NewTicker(every)
		defer tick.Stop()
		for ok := r.open(true); ok && r.look(); {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

// reader reads a journal. Its methods report false when there is nothing more to do: the caller has seen enough, ctx is
// done, or an error was yielded.
type reader struct {
	ctx    context.Context
	dir    string
	follow bool
	yield  func([]byte, error) bool

	file   *os.File // nil when there is none yet
	offset int64    // in file, where the next line begins
}

func (r *reader) close() {
	if r.file != nil {
		r.file.Close()
	}
	r.file, r.offset = nil, 0
}

func (r *reader) fail(name string, err error) bool {
	r.yield(nil, &failure{ErrDisk, "read", filepath.Join(r.dir, name), cause(err)})
	return false
}

// open opens the journal, if there is one. With older, it reads the file before it first.
func (r *reader) open(older bool) bool {
	root, err := os.OpenRoot(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	} else if err != nil {
		return r.fail(".", err)
	}
	defer root.Close()
	var files []*os.File // journal.jsonl first: if it is renamed now, both are the same file
	for _, name := range []string{journalFile, olderFile} {
		f, err := openRegular(root, name)
		if err != nil {
			return r.fail(name, err)
		}
		files = append(files, f)
	}
	r.file = files[1]
	ok := !older || r.file == nil || r.lines(true)
	renamed := ok && older && sameFile(files[0], files[1])
	r.close()
	if r.file = files[0]; renamed {
		r.close()
		return r.open(false)
	}
	return ok
}

func sameFile(a, b *os.File) bool {
	if a == nil || b == nil {
		return false
	}
	x, err := a.Stat()
	y, err2 := b.Stat()
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// openRegular opens a file, nil if it is missing. What would block, or leads elsewhere, is an error.
func openRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, errors.New(notRegular)
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

// look reads what has come since the last look.
func (r *reader) look() bool {
	if r.file == nil && !r.open(false) {
		return false
	}
	for r.file != nil {
		if !r.lines(false) {
			return false
		}
		was, err := r.file.Stat()
		now, err2 := os.Lstat(filepath.Join(r.dir, journalFile))
		if err == nil && err2 == nil && os.SameFile(was, now) {
			if now.Size() < r.offset {
				r.offset = 0
			}
			return true
		}
		// It was renamed, and nobody appends to it any more: read its rest, then what took its place.
		if !r.lines(true) {
			return false
		}
		r.close()
		if !r.open(false) {
			return false
		}
	}
	return true
}

// lines yields the lines of the file from the offset on. Whole says that nobody appends to it any more.
func (r *reader) lines(whole bool) bool {
	if r.file == nil {
		return true
	}
	in := bufio.NewReaderSize(io.NewSectionReader(r.file, r.offset, 1<<62), 64<<10)
	for {
		if err := r.ctx.Err(); err != nil {
			if !r.follow {
				r.yield(nil, err)
			}
			return false
		}
		line, size, err := readLine(in)
		switch {
		case err != nil && err != io.EOF:
			return r.fail(filepath.Base(r.file.Name()), err)
		case err == io.EOF && !(whole && json.Valid(line)):
			return true
		}
		at := r.offset
		r.offset += size
		more := true
		if size > maxLine {
			more = r.yield(nil, &LineError{filepath.Join(r.dir, filepath.Base(r.file.Name())), at, ErrTooLarge})
		} else if len(bytes.TrimSpace(line)) > 0 {
			more = r.yield(line, nil)
		}
		if !more || err == io.EOF {
			return more
		}
	}
}

// readLine returns the next line without its line break, and its size with it. A line that is too large is nil. The
// error is io.EOF for a line without a line break.
func readLine(in *bufio.Reader) (line []byte, size int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if size += int64(len(part)); size <= maxLine {
			line = append(line, part...)
		} else {
			line = nil
		}
		if err != bufio.ErrBufferFull {
			return bytes.TrimSuffix(line, []byte("\n")), size, err
		}
	}
}
