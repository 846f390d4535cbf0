package plancriteria

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
)

// ExtractFile returns the success criteria of the plan name in fsys.
//
// A name may have the platform's separators, a leading "./" and "..". A name that leaves the tree, also an absolute
// one, is [fs.ErrInvalid]. So is anything but a regular file, which is not opened. Other errors are those of the file
// system, such as [fs.ErrNotExist], and those of [Extract].
//
// The file system decides whether a symbolic link can leave the tree. The FS of an [os.Root] refuses it.
func ExtractFile(fsys fs.FS, name string) (Criteria, error) {
	markdown, err := readFile(fsys, name)
	if err != nil {
		return Criteria{}, fmt.Errorf("plancriteria: %w", err)
	}
	c, err := extract(markdown, names)
	if err != nil {
		return Criteria{}, fmt.Errorf("plancriteria: %q: %w", name, err)
	}
	return c, nil
}

func readFile(fsys fs.FS, name string) (_ []byte, err error) {
	if fsys == nil || name == "" {
		return nil, fmt.Errorf("no file system or no name: %w", fs.ErrInvalid)
	}
	defer func() { // a nil pointer in the interface, for example
		if p := recover(); p != nil {
			err = fmt.Errorf("the file system %T panics: %v: %w", fsys, p, fs.ErrInvalid)
		}
	}()
	clean := path.Clean(filepath.ToSlash(name))
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return nil, fmt.Errorf("%q leaves the file tree: %w", name, fs.ErrInvalid)
	}
	// Opening a pipe can block forever, so stat it first.
	info, err := fs.Stat(fsys, clean)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file: %w", name, fs.ErrInvalid)
	}
	f, err := fsys.Open(clean)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSize+1))
}
