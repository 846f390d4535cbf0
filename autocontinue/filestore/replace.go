package filestore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// WriteFile replaces a file as a whole or not at all. A new file gets the permissions perm, less the umask; an existing
// file keeps those of its own that perm has. The file behind a symbolic link is replaced, not the link. What is not a
// regular file, such as /dev/stdout, is written directly.
func WriteFile(name string, data []byte, perm fs.FileMode) error {
	info, err := os.Stat(name)
	exists := err == nil
	if exists && !info.Mode().IsRegular() {
		return os.WriteFile(name, data, perm)
	} else if exists {
		perm &= info.Mode().Perm()
	}
	for range 40 { // links, one to the next, as many as systems follow
		target, err := os.Readlink(name)
		if err != nil {
			break
		}
		if dir, _ := filepath.Split(name); !filepath.IsAbs(target) {
			target = dir + target
		}
		name = target
	}
	dir, base := filepath.Split(name)
	root, err := os.OpenRoot(cmp.Or(dir, "."))
	if err != nil {
		return err
	}
	defer root.Close()
	return replace(root, base, fmt.Sprintf("%s.%08x.tmp", base, rand.Uint32()), data, perm, exists, true)
}

// replace writes data to the file tmp and renames it. Exact permissions are those whatever the umask takes away. With
// sync, a loss of power leaves the old file or the new one. A file tmp that is there was left by a killed process.
func replace(root *os.Root, name, tmp string, data []byte, perm fs.FileMode, exact, sync bool) error {
	if err := root.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if exact && err == nil {
		err = f.Chmod(perm)
	}
	if sync && err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(tmp, name)
	}
	if err != nil {
		root.Remove(tmp)
	}
	return err
}
