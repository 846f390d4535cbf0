package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
)

// settingsFile is a settings file of another program.
type settingsFile struct {
	name string
	data []byte // nil for a missing file
	mode fs.FileMode
}

const (
	maxSettings   = 4 << 20 // bytes
	byteOrderMark = "\ufeff"
)

// openSettings reads a settings file. A missing file is not an error.
func openSettings(name string) (*settingsFile, error) {
	const hint = "edit the settings by hand"
	f := &settingsFile{name: name}
	info, err := os.Stat(name) // before it is opened, which would wait for the writer of a named pipe
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.isLink():
		return nil, badInput(hint+", or repair the link", "%q is a broken link", name)
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err == nil && !info.Mode().IsRegular():
		return nil, badInput(hint, "%q is not a regular file", name)
	case err == nil && info.Size() > maxSettings:
		return nil, badInput(hint, "%q is larger than %d MiB", name, maxSettings>>20)
	case err == nil:
		f.mode = info.Mode().Perm()
		f.data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, badInput("check its permissions", "cannot read %q: %v", name, cause(err))
	}
	return f, nil
}

func (f *settingsFile) isLink() bool {
	info, err := os.Lstat(f.name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// text returns the settings: without a byte order mark, and "{}" for a missing or empty file.
func (f *settingsFile) text() []byte {
	text := bytes.TrimPrefix(f.data, []byte(byteOrderMark))
	if len(bytes.TrimSpace(text)) == 0 {
		return []byte("{}\n")
	}
	return text
}

// install replaces the settings and keeps a copy of the file. With upgrade the file has another version's hook, so the
// copy from before that one stays. It returns the name of a new copy.
func (f *settingsFile) install(text []byte, upgrade bool) (kept string, err error) {
	if f.data == nil {
		if err := os.MkdirAll(filepath.Dir(f.name), 0o777); err != nil {
			return "", cannot("create the folder of", f.name, err)
		}
		return "", f.write(text)
	}
	if bytes.HasPrefix(f.data, []byte(byteOrderMark)) {
		text = append([]byte(byteOrderMark), text...)
	}
	old, name := f.copyOf(f.data), f.copyOf(text)
	if upgrade {
		if err = f.write(text); err == nil && exists(old) {
			err = os.Rename(old, name)
		}
		return "", err
	}
	if err := f.copyTo(name); err != nil {
		return "", err
	}
	if err := f.write(text); err != nil {
		os.Remove(name) // nothing was changed
		return "", err
	}
	return name, nil
}

// copyOf returns the name of the copy that install makes when it writes data. So a copy is found only while nobody has
// changed the file.
func (f *settingsFile) copyOf(data []byte) string {
	return fmt.Sprintf("%s.before-sidecoach-%.4x", f.name, sha256.Sum256(data))
}

func (f *settingsFile) copyTo(name string) error {
	return cannot("copy", f.name, os.WriteFile(name, f.data, f.mode))
}

// restore puts back the copy that install made, if nobody has changed the file since.
func (f *settingsFile) restore() (restored bool, err error) {
	name := f.copyOf(f.data)
	before, err := os.ReadFile(name)
	if err != nil {
		return false, nil
	}
	if err := f.write(before); err != nil {
		return false, err
	}
	return true, os.Remove(name)
}

// remove writes what uninstall leaves, and returns the name of the copy that it has made. It deletes a file of which
// nothing is left.
func (f *settingsFile) remove(rest []byte) (kept string, err error) {
	if rest == nil && !f.isLink() {
		if err := f.unchanged(); err != nil {
			return "", err
		}
		return "", cannot("remove", f.name, os.Remove(f.name))
	}
	kept = fmt.Sprintf("%s.before-uninstall-%.4x", f.name, sha256.Sum256(f.data))
	if err := f.copyTo(kept); err != nil {
		return "", err
	}
	if rest == nil {
		rest = []byte("{}\n")
	}
	return kept, f.write(rest)
}

// write replaces the content of the file.
func (f *settingsFile) write(data []byte) error {
	if err := f.unchanged(); err != nil {
		return err
	}
	return cannot("write", f.name, filestore.WriteFile(f.name, data, 0o666))
}

// unchanged returns an error if the file has changed since it was read.
func (f *settingsFile) unchanged() error {
	now, err := openSettings(f.name)
	if err != nil || !bytes.Equal(now.data, f.data) {
		return badInput("try again", "another program changed %q meanwhile", f.name)
	}
	return nil
}
