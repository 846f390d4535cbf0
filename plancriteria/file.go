package plancriteria

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
)

// ExtractFile returns the success criteria of the plan name in fsys, which it reads up to [MaxSize].
//
// A name may have the platform's separators, a leading "./" and "..", as long as it stays in the tree. One that leaves
// it, an absolute one included, is [ErrOutside]. Anything but a regular file is [ErrNotRegular] and not opened. A file
// that cannot be read has the error of the file system, such as [fs.ErrNotExist]; what is wrong with its content is
// told as by [Extract].
//
// Whether a symbolic link can leave the tree is up to fsys. The FS of an [os.Root] stops it with an error of its own.
func ExtractFile(fsys fs.FS, name string) (Criteria, error) {
	markdown, err := readFile(fsys, name)
	if err != nil {
		return Criteria{}, fmt.Errorf("plancriteria: %w", err)
	}
	c, err := extract(markdown)
	if err != nil {
		return Criteria{}, fmt.Errorf("plancriteria: %q: %w", name, err)
	}
	return c, nil
}

func readFile(fsys fs.FS, name string) ([]byte, error) {
	if fsys == nil || name == "" {
		return nil, fmt.Errorf("no file system or no name: %w", fs.ErrInvalid)
	}
	clean := path.Clean(filepath.ToSlash(name))
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return nil, fmt.Errorf("%q: %w", name, ErrOutside)
	}
	// Opening a pipe can wait for ever, so look before.
	info, err := fs.Stat(fsys, clean)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q: %w", name, ErrNotRegular)
	}
	f, err := fsys.Open(clean)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSize+1))
}
