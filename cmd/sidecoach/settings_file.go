package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// settingsFile is a file of settings that belongs to another program, and what is in it.
type settingsFile struct {
	name string
	text []byte // "{}" of a file that is not there or empty
	info fs.FileInfo
}

const maxSettings = 4 << 20 // bytes

// openSettings reads a file of settings. One that is not there can be made.
func openSettings(name string) (*settingsFile, error) {
	f := &settingsFile{name: name, text: []byte("{}\n")}
	info, err := os.Stat(name) // before it is opened, which would wait for the writer of a named pipe
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(name); err == nil {
			return nil, badInput("put them in by hand, or mend the link", "%q is a link that leads nowhere", name)
		}
		return f, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, badInput("put them in by hand", "%q is no regular file", name)
	}
	if err == nil && info.Size() > maxSettings {
		return nil, badInput("put them in by hand", "%q is larger than %d MiB", name, maxSettings>>20)
	}
	f.info = info
	if err == nil {
		f.text, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, badInput("check its permissions", "cannot read %q: %v", name, cause(err))
	}
	if len(bytes.TrimSpace(f.text)) == 0 {
		f.text = []byte("{}\n")
	}
	return f, nil
}

// unsafe says that the file was left as it is, and why.
func (f *settingsFile) unsafe(err error) error {
	return badInput("nothing was written; change the file by hand", "cannot change %q safely: %v", f.name, err)
}

// replace writes another text into the file, as a whole, and returns the name under which the one before was kept; "" if
// there was none.
func (f *settingsFile) replace(text []byte) (kept string, err error) {
	if f.info == nil {
		if err := os.MkdirAll(filepath.Dir(f.name), 0o777); err != nil {
			return "", badInput("check the folder and its permissions", "cannot make the folder of %q: %v", f.name, cause(err))
		}
	} else if kept, err = f.backup(time.Now()); err != nil {
		return "", err
	}
	a, err := createAtomic(f.name)
	if err != nil {
		return "", err
	}
	defer a.discard()
	if now, err := openSettings(f.name); err != nil || !bytes.Equal(now.text, f.text) {
		return "", badInput("try again", "%q was changed by somebody else meanwhile", f.name)
	}
	return kept, a.commit(func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// backup copies the file beside it, under a name that is free and tells when.
func (f *settingsFile) backup(now time.Time) (string, error) {
	text, err := os.ReadFile(f.name)
	if err != nil {
		return "", badInput("check its permissions", "cannot read %q: %v", f.name, cause(err))
	}
	for try := 1; ; try++ {
		name := f.name + ".before-sidecoach-" + now.Format("20060102-150405")
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
		return "", badInput("check the folder, its permissions and the space on the disk", "cannot keep %q as it is: %v", f.name, cause(err))
	}
}
