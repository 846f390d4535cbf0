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
	"slices"
	"time"
)

const (
	journalFile = "journal.jsonl"
	olderFile   = "journal.1.jsonl"
	maxLine     = 16 << 20 // bytes of a journal line
)

// Journal returns the file journal.jsonl, to which any number of processes append lines. It is what
// [autocontinue.NewJournal] writes to:
//
//	cfg.Observer = autocontinue.NewJournal(store.Journal())
//
// Each call of Write appends one line, with or without the line break at its end; one inside is an error. What a killed
// process left of its line is ended first. The errors are [autocontinue.ErrUnavailable] and [ErrTooLarge]. It is safe
// for concurrent use: the system appends what one call writes as a whole. Lines are not synced. A file that would be
// larger than [Options].JournalSize becomes journal.1.jsonl, in place of the one before, and a new journal is begun.
func (s *Store) Journal() io.Writer { return journal{s} }

type journal struct{ *Store }

func (s journal) Write(data []byte) (int, error) {
	line := bytes.TrimSuffix(data, []byte("\n"))
	switch {
	case len(line) == 0 || bytes.IndexByte(line, '\n') >= 0:
		return 0, errors.New("filestore: the journal takes one line at a time")
	case len(line) >= maxLine:
		return 0, fmt.Errorf("%w: a journal line of %d bytes", ErrTooLarge, len(line))
	}
	root, err := s.open(context.Background(), true)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	if err := s.makeRoom(root, int64(len(line))+1); err != nil {
		return 0, err
	}
	f, err := root.OpenFile(journalFile, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		err = errors.Join(appendTo(f, line), f.Close())
	}
	if err != nil {
		return 0, s.diskError("append to", journalFile, err)
	}
	return len(data), nil
}

// makeRoom begins a new journal if the next line would make it too large.
func (s *Store) makeRoom(root *os.Root, more int64) error {
	full := func() (info fs.FileInfo, full bool) {
		info, err := root.Lstat(journalFile)
		return info, err == nil && (!info.Mode().IsRegular() || info.Size() > 0 && info.Size()+more > s.opts.JournalSize)
	}
	if _, ok := full(); !ok {
		return nil
	}
	unlock, err := s.lock(context.Background(), root, journalLock)
	if err != nil {
		return err
	}
	defer unlock()
	info, ok := full()
	if !ok {
		return nil // another process did it
	}
	if !info.Mode().IsRegular() {
		return s.setAside(root, journalFile, "journal", notRegular)
	}
	return s.diskError("replace", olderFile, root.Rename(journalFile, olderFile))
}

// appendTo writes line to the end of f in one call. It first ends a line that was cut short.
func appendTo(f *os.File, line []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size, last := info.Size(), []byte("\n")
	if size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
	}
	data := slices.Concat(line, []byte("\n"))
	if last[0] != '\n' {
		data = slices.Concat([]byte("\n"), data)
	}
	n, err := f.Write(data)
	if err != nil && n > 0 {
		if info, err2 := f.Stat(); err2 == nil && info.Size() == size+int64(n) { // nobody appended to the part
			err = errors.Join(err, f.Truncate(size))
		}
	}
	return err
}

// ReadJournal reads the lines of the journal in a folder, the oldest first, without their line breaks and without
// looking at what they say. A line is the caller's until the next one. A last line without a line break is left out
// unless it is valid JSON; blank lines always are. A missing folder or journal has no lines.
//
// If every is not 0, it goes on with what is appended, and with a folder and a journal that are made later, until ctx
// is done, which is not an error then. It looks that often. It misses nothing unless three new journals are begun between
// two looks. It reads a file that was cut short from its beginning.
//
// Beside an error the line is nil. An error that wraps [ErrTooLarge] is one line, of more than 16 MiB. Any other error
// is the last thing yielded: that of ctx, or [autocontinue.ErrUnavailable].
func ReadJournal(ctx context.Context, dir string, every time.Duration) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r := &reader{ctx: ctx, dir: dir, follow: every != 0, yield: yield, in: bufio.NewReaderSize(nil, maxLine)}
		defer func() { r.file.Close() }() // of nil, too
		for r.read() && r.follow {
			select {
			case <-ctx.Done():
				return
			case <-time.After(every):
			}
		}
	}
}

// reader reads a journal. Its methods report false at the end: the caller has enough, ctx is done, or it saw an error.
type reader struct {
	ctx    context.Context
	dir    string
	follow bool // there is a next call of read
	yield  func([]byte, error) bool
	in     *bufio.Reader // whose buffer has room for a line

	file   *os.File // nil before the first one; open, so that no new file looks like it
	offset int64    // in it, where the next line begins
}

func (r *reader) read() bool {
	root, err := os.OpenRoot(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return r.fail(err)
	}
	defer root.Close()
	current, older, err := openJournal(root)
	if err != nil {
		return r.fail(err)
	}
	if isSame(r.file, current) { // the older file was read before it
		older.Close()
		older = nil
	}
	if !r.turnTo(older) {
		current.Close()
		return false
	}
	return r.turnTo(current)
}

// openJournal opens the two files of the journal, nil for one that is missing. No new journal was begun between the two.
func openJournal(root *os.Root) (current, older *os.File, err error) {
	for {
		if current, err = openRegular(root, journalFile); err != nil {
			return nil, nil, err
		}
		if older, err = openRegular(root, olderFile); err != nil {
			current.Close()
			return nil, nil, err
		}
		again, err := openRegular(root, journalFile)
		settled := current == nil && again == nil || isSame(current, again)
		again.Close() // of nil, too
		if err != nil || settled {
			return current, older, err
		}
		current.Close()
		older.Close()
	}
}

func isSame(a, b *os.File) bool {
	info, err := a.Stat() // of nil, too
	other, err2 := b.Stat()
	return err == nil && err2 == nil && os.SameFile(info, other)
}

func (r *reader) fail(err error) bool {
	r.yield(nil, (&Store{dir: r.dir}).diskError("read the journal in", ".", err))
	return false
}

// turnTo yields what the file of before still has, if f is another one, and then what is new in f. Nil has nothing.
func (r *reader) turnTo(f *os.File) bool {
	info, err := f.Stat() // of nil, too
	if err != nil {
		return true
	}
	same := isSame(r.file, f)
	more := same || r.file == nil || r.lines(true)
	r.file.Close()
	if r.file = f; !same || info.Size() < r.offset {
		r.offset = 0
	}
	return more && r.lines(!r.follow)
}

// lines yields the lines of the file that are new. Whole says that nobody appends to it any more.
func (r *reader) lines(whole bool) bool {
	r.in.Reset(io.NewSectionReader(r.file, r.offset, 1<<62))
	for {
		if err := r.ctx.Err(); err != nil {
			if !r.follow {
				r.yield(nil, err)
			}
			return false
		}
		line, err := r.in.ReadSlice('\n')
		size := int64(len(line))
		for err == bufio.ErrBufferFull { // the line is too large: it is passed over
			line, err = r.in.ReadSlice('\n')
			size += int64(len(line))
		}
		switch {
		case err != nil && err != io.EOF:
			return r.fail(err)
		case err == io.EOF && !(whole && size <= maxLine && json.Valid(line)):
			return true
		}
		at := r.offset
		r.offset += size
		more := true
		if size > maxLine {
			more = r.yield(nil, fmt.Errorf("%w: the line at byte %d of %s", ErrTooLarge, at, r.file.Name()))
		} else if line = bytes.TrimSuffix(line, []byte("\n")); len(bytes.TrimSpace(line)) > 0 {
			more = r.yield(line, nil)
		}
		if !more || err == io.EOF {
			return more
		}
	}
}
