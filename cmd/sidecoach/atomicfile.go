package main

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// atomicFile is an output file that is there as a whole or not at all. What is no regular file, such as /dev/stdout, is
// written as it is.
type atomicFile struct {
	name   string // as the user has it
	target string // behind symbolic links
	tmp    *os.File
}

// createAtomic prepares the writing of a file, and finds out whether it can be written.
func createAtomic(name string) (*atomicFile, error) {
	a := &atomicFile{name: name, target: name}
	mode := fs.FileMode(0o666)
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil, badInput("name the file that is to be written", "%q is a directory", name)
	case err == nil && !info.Mode().IsRegular():
		if a.tmp, err = os.OpenFile(name, os.O_WRONLY, 0); err != nil {
			return nil, a.failure(err)
		}
		return a, nil
	case err == nil:
		if a.target, err = filepath.EvalSymlinks(name); err != nil {
			return nil, a.failure(err)
		}
		mode = info.Mode().Perm()
	}
	for try := 0; ; try++ {
		a.tmp, err = os.OpenFile(a.target+".new"+string(rune('0'+try)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err == nil && info != nil {
			err = a.tmp.Chmod(mode) // whatever the umask takes away from new files
			if err != nil {
				a.discard()
				return nil, a.failure(err)
			}
		}
		if err == nil {
			return a, nil
		}
		if !errors.Is(err, fs.ErrExist) || try == 9 {
			return nil, a.failure(err)
		}
	}
}

// commit has write fill the file and puts it in its place.
func (a *atomicFile) commit(write func(io.Writer) error) error {
	w := bufio.NewWriter(a.tmp)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if err = errors.Join(err, a.tmp.Close()); err != nil {
		return a.failure(err)
	}
	if a.tmp.Name() != a.name {
		if err := os.Rename(a.tmp.Name(), a.target); err != nil {
			return a.failure(err)
		}
	}
	return nil
}

// discard takes away what commit did not put in its place.
func (a *atomicFile) discard() {
	a.tmp.Close()
	if a.tmp.Name() != a.name {
		os.Remove(a.tmp.Name())
	}
}

func (a *atomicFile) failure(err error) error {
	return badInput("check the folder, its permissions and the space on the disk", "cannot write %q: %v", a.name, cause(err))
}
