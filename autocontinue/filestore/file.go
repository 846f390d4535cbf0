package filestore

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// unreadable is a file that no version of this package wrote. Its text quotes no more of it than a JSON error does.
type unreadable struct{ why string }

func (u *unreadable) Error() string { return u.why }

// readFile returns the content of a file, nil when there is none. What is no regular file, is empty or has more than limit
// bytes is an *unreadable, and is not opened: a named pipe would block, and a link leads elsewhere.
func (s *Store) readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, s.diskError("read", name, err)
	case !info.Mode().IsRegular():
		return nil, &unreadable{"it is no regular file"}
	case info.Size() > limit:
		return nil, &unreadable{"it is too large"}
	}
	f, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, s.diskError("read", name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, s.diskError("read", name, err)
	case int64(len(data)) > limit:
		return nil, &unreadable{"it is too large"}
	case len(data) == 0:
		return nil, &unreadable{"it is empty"}
	}
	return data, nil
}

// replace puts data in the place of a file, all of it or nothing. The caller holds the lock, so that the temporary file,
// which has a name of its own for each file, is nobody else's; one that is there was left by a process that was killed.
func (s *Store) replace(root *os.Root, name string, data []byte) error {
	tmp := strings.TrimSuffix(name, ".json") + ".tmp"
	fail := func(err error) error { return s.diskError("write", name, err) }
	f, err := s.createTemp(root, tmp)
	if err != nil {
		return fail(err)
	}
	_, err = f.Write(data)
	if err == nil && !s.opts.NoSync {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = root.Rename(tmp, name)
	}
	if err != nil {
		root.Remove(tmp)
		return fail(err)
	}
	if s.opts.NoSync {
		return nil
	}
	if err := syncFolder(root, path.Dir(name)); err != nil {
		return fail(err)
	}
	return nil
}

// createTemp makes a new file, in the place of what is there.
func (s *Store) createTemp(root *os.Root, tmp string) (f *os.File, err error) {
	create := func() error {
		f, err = root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	}
	err = within(root, path.Dir(tmp), create)
	if errors.Is(err, fs.ErrExist) {
		if err := root.Remove(tmp); err != nil {
			return nil, err
		}
		err = create()
	}
	return f, err
}
