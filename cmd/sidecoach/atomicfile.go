package main

import (
	"bufio"
	"io"
	"io/fs"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
)

// atomicFile is an output file that is there as a whole or not at all, see [filestore.Create].
type atomicFile struct {
	name string
	file *filestore.File
}

// createAtomic prepares to write a file, and finds out whether it can be written. A new file gets the permissions perm.
func createAtomic(name string, perm fs.FileMode) (*atomicFile, error) {
	f, err := filestore.Create(name, perm)
	if err != nil {
		return nil, cannotWrite(name, err)
	}
	return &atomicFile{name, f}, nil
}

// commit has write fill the file and puts it in its place.
func (a *atomicFile) commit(write func(io.Writer) error) error {
	w := bufio.NewWriter(a.file)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = a.file.Commit()
	}
	if err != nil {
		return cannotWrite(a.name, err)
	}
	return nil
}

// discard removes what was not committed.
func (a *atomicFile) discard() { a.file.Close() }

func cannotWrite(name string, err error) error {
	return badInput("check the folder, its permissions and the space on the disk", "cannot write %q: %v", name, cause(err))
}
