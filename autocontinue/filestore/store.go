package filestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// ErrTooLarge is a document of more than 1 MiB, or a journal line of more than 16 MiB.
var ErrTooLarge = errors.New("filestore: too large")

// Options are the settings of a [Store]. The zero value has the defaults.
type Options struct {
	// Host is part of every session's name, so that the same session ID at two hosts is two sessions: "claude", "codex".
	Host string

	LockTimeout time.Duration // how long to wait for a lock; 0 is 5 s
	MaxAge      time.Duration // a session unused for longer may be removed; 0 is 30 days
	JournalSize int64         // bytes at which a new journal is begun and the one before it is kept; 0 is 16 MiB

	// NoSync leaves it to the system when a file reaches the disk, see the package doc. A killed process loses nothing.
	NoSync bool

	// OnSetAside is told each file that could not be read and was set aside: its kind, such as "sessions" or "journal",
	// and what happened, in words. It may write to the journal, must not use documents, and may be called concurrently.
	OnSetAside func(kind, what string)

	Now func() time.Time // for ages and names; nil is time.Now
}

// Store keeps sessions and other documents in a folder. It is safe for concurrent use, by goroutines and by processes.
// It holds nothing open between calls and needs no closing. A folder that is removed meanwhile is made again.
type Store struct {
	dir  string
	opts Options
}

var _ autocontinue.Store = (*Store)(nil)

// New returns the store in a folder, which is made when something is first written. Nothing is touched yet. An empty
// name and an option below zero are errors.
func New(dir string, opts Options) (*Store, error) {
	if dir == "" {
		return nil, errors.New("filestore: no folder is named")
	}
	if opts.LockTimeout < 0 || opts.MaxAge < 0 || opts.JournalSize < 0 {
		return nil, errors.New("filestore: an option is below zero; 0 is the default")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}
	opts.LockTimeout = cmp.Or(opts.LockTimeout, 5*time.Second)
	opts.MaxAge = cmp.Or(opts.MaxAge, 30*24*time.Hour)
	opts.JournalSize = cmp.Or(opts.JournalSize, 16<<20)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Store{dir: dir, opts: opts}, nil
}

// Dir returns the folder, as an absolute path.
func (s *Store) Dir() string { return s.dir }

// Load returns the state of a session, the zero State if there is none. Its errors are those of ctx,
// [autocontinue.ErrNoSession], [autocontinue.ErrStateVersion] and [autocontinue.ErrUnavailable].
func (s *Store) Load(ctx context.Context, session string) (autocontinue.State, error) {
	d, err := s.session(session)
	if err != nil {
		return autocontinue.State{}, err
	}
	v, err := d.Load(ctx)
	return v.State, err
}

// Update replaces the state of a session by what fn returns, see [Document.Update].
func (s *Store) Update(
	ctx context.Context, session string, fn func(autocontinue.State) (autocontinue.State, error),
) error {
	d, err := s.session(session)
	if err != nil {
		return err
	}
	return d.Update(ctx, func(v kept) (kept, error) {
		v.State, err = fn(v.State)
		return v, err
	})
}

// kept is what the file of a session holds.
type kept struct {
	State autocontinue.State `json:"state"`
}

func (s *Store) session(name string) (*Document[kept], error) {
	if name == "" {
		return nil, autocontinue.ErrNoSession
	}
	return newDocument[kept](s, sessionKind, s.opts.Host, name), nil
}

func (s *Store) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

var errZero = errors.New("filestore: the context is nil, or this Store or Document is a zero value: " +
	"make one with New or NewDocument")

// open opens the folder unless ctx is done. Without create, a missing folder is [fs.ErrNotExist].
func (s *Store) open(ctx context.Context, create bool) (root *os.Root, err error) {
	switch {
	case s == nil || s.dir == "" || ctx == nil:
		return nil, errZero
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case create:
		err = os.MkdirAll(s.dir, 0o700)
	}
	if err == nil {
		root, err = os.OpenRoot(s.dir)
	}
	if err != nil {
		return nil, s.diskError("open", ".", err)
	}
	info, err := root.Stat(".")
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0 { // there the mode says nothing
		err = errors.New("everybody may write to it")
	}
	if err != nil {
		root.Close()
		return nil, s.diskError("use", ".", err)
	}
	return root, nil
}

// failure says that op failed on a path.
type failure struct {
	kind, err error
	op, path  string
}

func (f *failure) Error() string {
	return fmt.Sprintf("filestore: cannot %s %s: %v", f.op, f.path, f.err)
}

func (f *failure) Unwrap() []error { return []error{f.kind, f.err} }

// diskError says that op failed on a path below the folder, unless err is nil. It leaves out the names that the error
// of the system has.
func (s *Store) diskError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return &failure{autocontinue.ErrUnavailable, err, op, s.path(name)}
}

const (
	lockFolder  = "locks"
	journalLock = lockFolder + "/journal"
	lockPause   = 4 * time.Millisecond // between two tries to get a lock
)

// lock takes a lock and returns the function that releases it. It waits until ctx is done, and at most LockTimeout.
func (s *Store) lock(ctx context.Context, root *os.Root, name string) (unlock func(), err error) {
	err = root.MkdirAll(lockFolder, 0o700)
	if err == nil {
		_, err = root.Stat(lockFolder) // an error for a link that leads out
	}
	info, missing := root.Lstat(name)
	if err == nil && missing == nil && !info.Mode().IsRegular() { // flock would follow a link
		err = unreadable(notRegular)
	}
	wait, cancel := context.WithTimeout(ctx, s.opts.LockTimeout)
	defer cancel()
	f := flock.New(s.path(name))
	if err == nil {
		_, err = f.TryLockContext(wait, lockPause)
	}
	switch {
	case err == nil:
		return func() { _ = f.Unlock() }, nil // which also closes it
	case ctx.Err() != nil:
		return nil, fmt.Errorf("filestore: waiting for a lock: %w", ctx.Err())
	case wait.Err() != nil:
		held := errors.New("another process has held the lock for too long")
		return nil, &failure{autocontinue.ErrConflict, held, "lock", s.path(name)}
	}
	return nil, s.diskError("lock", name, err)
}
