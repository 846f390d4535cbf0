package filestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// ErrTooLarge is a document of more than 1 MiB, or a journal line of more than 16 MiB.
var ErrTooLarge = errors.New("filestore: too large")

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
	return &failure{autocontinue.ErrUnavailable, err, op, s.path(name)}
}
