//go:build unix

package filestore

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder makes the names in a folder outlast a loss of power. Some file systems cannot; they are taken as they are.
func syncFolder(root *os.Root, dir string) error {
	f, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
