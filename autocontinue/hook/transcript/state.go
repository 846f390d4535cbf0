package transcript

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sidecoach/sidecoach/classify"
)

const (
	maxRead = 32 << 20 // bytes that are read at most at a time, from the end
	poll    = 10 * time.Millisecond
)

// Source says where a transcript is and how to read it.
type Source struct {
	Format   Format
	Path     string // a relative one is below Dir
	Dir      string // where the agent works, as far as the host says
	Subagent bool   // the transcript is a sub-agent's own

	// Secrets are masked in all texts, beside the kinds that [plaintext.Redact] knows.
	Secrets []string
}

// State is what the lines of a transcript came to, up to an offset. The zero value has read nothing. It is JSON, to
// be kept between two events, with secrets masked. A copy of a State must not be used beside the original.
type State struct{ fold }

// Expect says that the agent paused or that a prompt goes to it. Its next message comes after a prompt, ours or
// another, so no message counts as new until a prompt is in the transcript.
func (s *State) Expect() { s.Expects = true }

// Sent says that the agent paused, and whether a message of ours goes to it and comes back as a prompt. That prompt is
// not the human's, though it may be without our prefix.
func (s *State) Sent(echoes bool) {
	s.Echoes = echoes
	s.Expect()
}

// Await reads the lines that are new in the transcript, and returns what all lines say. Without a kept state at most
// 32 MiB are read, from the end of the file; the work before them is unknown.
//
// A host may write the last lines a moment after it has called the hook, so Await reads again until done is satisfied,
// for at most limit. When done is not satisfied then, the trace is Behind. A nil done is satisfied at once.
func (s *State) Await(ctx context.Context, src Source, limit time.Duration, done func(Trace) bool) (t Trace) {
	if ctx == nil {
		panic("transcript: Await with a nil context")
	}
	end := time.After(limit)
	for {
		if err := s.readNew(ctx, src); err != nil {
			t = Trace{Err: cause(err)}
		} else {
			t = s.trace()
		}
		if done == nil || done(t) {
			return t
		}
		select {
		case <-time.After(poll):
			continue
		case <-ctx.Done():
		case <-end:
		}
		if t.Behind = t.Err == nil; t.Work.Session != classify.EditedCode {
			t.Work.Session = ""
		}
		t.Work.Edited = "" // what the transcript does not show may have been done
		return t
	}
}

// readNew reads what is new in the file. The errors hold no path: it is the user's, and may be long.
func (s *State) readNew(ctx context.Context, src Source) error {
	path := src.Path
	if path == "" {
		return errors.New("the host names none")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(src.Dir, path)
	}
	f, size, err := OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err = s.read(ctx, f, size, src); err == nil && !s.Known {
		err = errors.New("none of its lines is one that this host writes")
	}
	return err
}

func (s *State) read(ctx context.Context, r io.ReaderAt, size int64, src Source) error {
	if src.Path != s.File || s.Offset > size { // another file, or one that was written anew
		*s = State{fold{File: src.Path, Expects: s.Expects, Echoes: s.Echoes, Work: nothing()}}
	}
	s.secrets = src.Secrets
	s.move(src.Dir)
	l := newLines(ctx, r, max(s.Offset, size-maxRead), size)
	if l.next > s.Offset {
		s.add(entry{kind: lost})
		l.scan() // it begins within a line
		s.Offset = l.next
	}
	for l.scan() && (l.whole || l.isJSON || l.long) { // or it is still being written
		parsed := l.read(src.Format, src.Subagent, s.Messages)
		s.Known = s.Known || parsed.known
		s.move(parsed.dir)
		for _, e := range parsed.entries {
			s.add(e)
		}
		s.Offset = l.next
	}
	return l.err
}

// OpenFile opens a regular file and returns its size. It does not wait for the writer of a pipe. Errors hold no name.
func OpenFile(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, cause(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, 0, cause(err)
	}
	return f, info.Size(), nil
}

// cause returns what the system said, without the name of the file.
func cause(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}
