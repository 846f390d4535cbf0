package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// settingsFile is a settings file of another program, and its content.
type settingsFile struct {
	name string
	mark []byte // the byte order mark that some editors write
	text []byte // the rest; "{}" for a missing or empty file
	info fs.FileInfo
}

// withoutMark splits a file into a byte order mark and the text after it.
func withoutMark(data []byte) (mark, text []byte) {
	text = bytes.TrimPrefix(data, []byte("\ufeff"))
	mark = data[:len(data)-len(text)]
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	return mark, text
}

const maxSettings = 4 << 20 // bytes

// openSettings reads a settings file. A missing one is no error.
func openSettings(name string) (*settingsFile, error) {
	f := &settingsFile{name: name}
	f.mark, f.text = withoutMark(nil)
	info, err := os.Stat(name) // before it is opened, which would wait for the writer of a named pipe
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(name); err == nil {
			return nil, badInput("edit the settings by hand, or repair the link", "%q is a broken link", name)
		}
		return f, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, badInput("edit the settings by hand", "%q is not a regular file", name)
	}
	if err == nil && info.Size() > maxSettings {
		return nil, badInput("edit the settings by hand", "%q is larger than %d MiB", name, maxSettings>>20)
	}
	f.info = info
	var data []byte
	if err == nil {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, badInput("check its permissions", "cannot read %q: %v", name, cause(err))
	}
	f.mark, f.text = withoutMark(data)
	return f, nil
}

// unsafe says why the file was left as it is.
func (f *settingsFile) unsafe(err error) error {
	return badInput("nothing was written; change the file by hand", "cannot change %q safely: %v", f.name, err)
}

// replace replaces the text of the file. With keep it first copies the file, and returns the name of the copy; "" if
// there was no file.
func (f *settingsFile) replace(text []byte, keep bool) (kept string, err error) {
	if f.info == nil {
		if err := os.MkdirAll(filepath.Dir(f.name), 0o777); err != nil {
			return "", badInput("check the folder and its permissions", "cannot create the folder of %q: %v", f.name, cause(err))
		}
	} else if keep {
		if kept, err = f.backup(time.Now()); err != nil {
			return "", err
		}
	}
	if err := f.putBack(append(slices.Clip(f.mark), text...)); err != nil {
		if kept != "" {
			os.Remove(kept) // nothing was changed
		}
		return "", err
	}
	return kept, nil
}

// putBack replaces the content of the file.
func (f *settingsFile) putBack(data []byte) error {
	a, err := createAtomic(f.name, 0o666)
	if err != nil {
		return err
	}
	defer a.discard()
	if err := f.unchanged(); err != nil {
		return err
	}
	return a.commit(func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// remove deletes the file.
func (f *settingsFile) remove() error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := os.Remove(f.name); err != nil {
		return badInput("check the folder and its permissions", "cannot remove %q: %v", f.name, cause(err))
	}
	return nil
}

func (f *settingsFile) isLink() bool {
	info, err := os.Lstat(f.name)
	return err != nil || info.Mode()&fs.ModeSymlink != 0
}

// unchanged returns an error if the file has changed since it was read.
func (f *settingsFile) unchanged() error {
	now, err := openSettings(f.name)
	if err != nil || !bytes.Equal(now.text, f.text) || !bytes.Equal(now.mark, f.mark) {
		return badInput("try again", "another program changed %q meanwhile", f.name)
	}
	return nil
}

const copyMark = ".before-sidecoach-" // the time follows

// copies returns the names of the copies of the file, the latest first.
func (f *settingsFile) copies() []string {
	entries, err := os.ReadDir(filepath.Dir(f.name))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(f.name)+copyMark) && e.Type().IsRegular() {
			names = append(names, filepath.Join(filepath.Dir(f.name), e.Name()))
		}
	}
	slices.Reverse(names)
	return names
}

// backup copies the file to a new name beside it.
func (f *settingsFile) backup(now time.Time) (string, error) {
	text, err := os.ReadFile(f.name)
	if err != nil {
		return "", badInput("check its permissions", "cannot read %q: %v", f.name, cause(err))
	}
	for try := 1; ; try++ {
		name := f.name + copyMark + now.Format("20060102-150405")
		if try > 1 {
			name += fmt.Sprintf("-%d", try)
		}
		c, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.info.Mode().Perm())
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		if err == nil {
			_, err = c.Write(text)
			err = errors.Join(err, c.Close())
			if err == nil {
				return name, nil
			}
			os.Remove(name)
		}
		return "", badInput("check the folder, its permissions and the space on the disk", "cannot copy %q: %v", f.name, cause(err))
	}
}
