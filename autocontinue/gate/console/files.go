package console

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
)

// readFile returns the content of a regular file of at most limit bytes; nil if there is none.
func readFile(name string, limit int) ([]byte, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = fmt.Errorf("%s has more than %d KB", name, limit>>10)
	}
	return data, err
}

// replaceFile replaces a file as a whole and keeps its permissions.
func replaceFile(name string, data []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	return filestore.WriteFile(name, data, mode)
}
