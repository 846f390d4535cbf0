package filestore

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"syscall"
)

// file replaces an old file: after Commit all of it is there, before Commit none of it.
type file struct {
	*os.File
	root   *os.Root // nil for a file that is written directly
	own    bool     // root is ours to close
	tmp    string   // "" once it is committed or discarded
	name   string
	noSync bool
}

// replacement prepares to replace a file, see [WriteFile]. The caller must call Close.
func replacement(name string, perm fs.FileMode) (*file, error) {
	info, err := os.Stat(name)
	if target, linkErr := os.Readlink(name); errors.Is(err, fs.ErrNotExist) && linkErr == nil {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil && !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		return replacement(target, perm) // there is no such file yet
	}
	exists := err == nil
	switch {
	case exists && info.IsDir():
		return nil, &fs.PathError{Op: "write", Path: name, Err: syscall.EISDIR}
	case exists && !info.Mode().IsRegular():
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		return &file{File: f}, err
	case exists:
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	base := filepath.Base(name)
	f, err := create(root, base, fmt.Sprintf("%s.%08x.tmp", base, rand.Uint32()), perm)
	if err != nil {
		root.Close()
		return nil, err
	}
	f.own = true
	if exists {
		if err := f.Chmod(info.Mode().Perm() & perm); err != nil { // whatever the umask takes away
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// create makes the file tmp, which will replace name. A file of that name was left by a process that was killed.
func create(root *os.Root, name, tmp string, perm fs.FileMode) (*file, error) {
	open := func() (*os.File, error) { return root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm) }
	f, err := open()
	if errors.Is(err, fs.ErrExist) {
		if err = root.Remove(tmp); err == nil {
			f, err = open()
		}
	}
	return &file{File: f, root: root, tmp: tmp, name: name}, err
}

// Commit puts the file in its place. It is then safe from a loss of power.
func (f *file) Commit() error {
	if f.root == nil {
		return nil
	}
	var err error
	if !f.noSync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.File.Close()); err == nil {
		err = f.root.Rename(f.tmp, f.name)
	}
	if err != nil {
		return err
	}
	f.tmp = ""
	if f.noSync || runtime.GOOS == "windows" {
		return nil
	}
	folder, err := f.root.Open(path.Dir(f.name))
	if err != nil {
		return err
	}
	defer folder.Close()
	err = folder.Sync() // some file systems cannot sync a folder
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// Close discards what was not committed.
func (f *file) Close() error {
	f.File.Close()
	if f.tmp != "" {
		f.root.Remove(f.tmp)
		f.tmp = ""
	}
	if f.own {
		return f.root.Close()
	}
	return nil
}

// WriteFile replaces a file as a whole or not at all. A new file gets the permissions perm, less the umask; an existing
// file keeps those of its own that perm has. The file behind a symbolic link is replaced, not the link. What is not a
// regular file, such as /dev/stdout, is written directly.
func WriteFile(name string, data []byte, perm fs.FileMode) error {
	f, err := replacement(name, perm)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}
