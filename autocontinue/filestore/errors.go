package filestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// What a host tells apart, by [errors.Is].
var (
	// ErrDisk says that the folder, or a file in it, cannot be used: a full or read-only disk, no permission, a name that
	// is not a folder, a folder that everybody may write to, a file system without locks. It wraps
	// [autocontinue.ErrUnavailable] and what the system said, such as syscall.ENOSPC or [fs.ErrPermission].
	ErrDisk = fmt.Errorf("filestore: the folder cannot be used: %w", autocontinue.ErrUnavailable)
	// ErrLocked says that a lock was not free within [Options].LockTimeout. It wraps [autocontinue.ErrConflict].
	ErrLocked = fmt.Errorf("filestore: locked: %w", autocontinue.ErrConflict)
	// ErrTooLarge is a document of more than 1 MiB, or a journal line of more than 16 MiB.
	ErrTooLarge = errors.New("filestore: too large")
)

// failure says that op failed on a path.
type failure struct {
	kind, err error
	op, path  string
}

func (f *failure) Error() string {
	return fmt.Sprintf("filestore: cannot %s %s: %v", f.op, f.path, f.err)
}
func (f *failure) Unwrap() []error { return []error{f.kind, f.err} }

// diskError says that op failed on a path below the folder. It leaves out the names that the system's error has.
func (s *Store) diskError(op, name string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return &failure{ErrDisk, err, op, s.path(name)}
}
