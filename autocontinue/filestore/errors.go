package filestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// What a host tells apart, by [errors.Is]. The first two are also what every store calls them: a lock that others hold
// is [autocontinue.ErrConflict], everything else [autocontinue.ErrUnavailable].
var (
	// ErrDisk says that the folder, or a file in it, cannot be read or written: a full or read-only disk, no permission, a
	// name that is not a folder, a folder that everybody may write to. It wraps what the system said, such as
	// syscall.ENOSPC or [fs.ErrPermission].
	ErrDisk = errors.New("filestore: the folder cannot be used")
	// ErrLocked says that a lock was not free within [Options].LockTimeout, or that the file system has no locks.
	ErrLocked = errors.New("filestore: locked")
	// ErrTooLarge is a document of more than 1 MiB, or a journal line of more than 16 MiB.
	ErrTooLarge = errors.New("filestore: too large")
)

var errHeld = errors.New("another process has held the lock for too long")

// failure is an error of the system, with the sentinel that it counts as.
type failure struct {
	kind error  // ErrDisk or ErrLocked
	op   string // "write", "lock", …
	path string // of the file or folder
	err  error  // what the system said
}

func (f *failure) Error() string {
	return fmt.Sprintf("filestore: cannot %s %s: %v", f.op, f.path, f.err)
}

func (f *failure) Unwrap() []error {
	general := autocontinue.ErrUnavailable
	if f.err == errHeld {
		general = autocontinue.ErrConflict
	}
	return []error{f.kind, general, f.err}
}

// diskError says that op failed on a path below the folder.
func (s *Store) diskError(op, name string, err error) error {
	return &failure{ErrDisk, op, s.path(name), cause(err)}
}

// cause returns what the system said, without the names of the call and of the file.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
