package hook

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// open opens the transcript of e for reading and returns its size. It does not wait for the writer of a pipe, and opens
// nothing but a regular file, behind whatever links. The errors hold no path: it is the user's, and may be long.
func (e Event) open() (*os.File, int64, error) {
	path, ok := e.Transcript.Get()
	if !ok || path == "" {
		return nil, 0, errors.New("the host names none")
	}
	if strings.IndexByte(path, 0) >= 0 {
		return nil, 0, errors.New("its name has a zero byte")
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(path) {
		if e.WorkDir.Value == "" {
			return nil, 0, errors.New("its name is not absolute, and the host names no working directory")
		}
		path = filepath.Join(e.WorkDir.Value, path)
	}
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
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
