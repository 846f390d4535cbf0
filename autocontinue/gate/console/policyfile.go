package console

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// maxRules is how many bytes a list of rules may have.
const maxRules = 256 << 10

// readRules returns the content of a policy file, nil when there is none.
func readRules(name string) ([]byte, error) {
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
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxRules+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxRules {
		return nil, fmt.Errorf("%s has more than %d KB", name, maxRules>>10)
	}
	return data, nil
}

// prepared is the new content of a file, on disk and not yet in its place.
type prepared struct{ tmp, name string }

// prepare writes data beside the file, with the rights that the file has.
func prepare(name string, data []byte) (*prepared, error) {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return nil, err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return nil, err
	}
	return &prepared{f.Name(), name}, nil
}

// commit puts the new content in the place of the old, all of it or nothing.
func (p *prepared) commit() error {
	if err := os.Rename(p.tmp, p.name); err != nil {
		p.drop()
		return err
	}
	if runtime.GOOS == "windows" {
		return nil // a folder can't be synced there
	}
	dir, err := os.Open(filepath.Dir(p.name))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

func (p *prepared) drop() { os.Remove(p.tmp) }
