package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/coach/verify"
)

// traceFile is the trace of reviews, on disk. For each trace that was written, the state folder has a file with the
// checksum in its name. A trace without such a file was edited.
type traceFile struct {
	name  string
	text  []byte
	trace verify.Trace
	state string // the folder of the checksums
}

// openTrace reads a trace. With create, it may be missing.
func openTrace(name string, create bool) (*traceFile, error) {
	state, err := stateDir("")
	if err != nil {
		return nil, err
	}
	t := &traceFile{name: name, state: filepath.Join(state, "verify")}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		t.name = real
	}
	info, err := os.Stat(t.name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && create:
		return t, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, badInput("call sidecoach verify begin with the same --trace first", "no such trace: %q", name)
	case err == nil && !info.Mode().IsRegular():
		return nil, badInput("give --trace the name of a file", "the trace %q is not a regular file", name)
	}
	if t.text, err = os.ReadFile(t.name); err != nil {
		return nil, badInput("check its name and permissions", "cannot open the trace %q: %v", name, cause(err))
	}
	t.trace, err = verify.ReadTrace(t.text)
	if err != nil {
		err = errors.New(strings.TrimPrefix(err.Error(), "verify: trace, "))
	} else if _, serr := os.Stat(t.checksum()); serr != nil {
		err = errors.New("it was edited")
	}
	if err != nil {
		return nil, badInput("name a file that sidecoach verify wrote, or a new one", "cannot read the trace %q: %v", name,
			err)
	}
	return t, nil
}

// checksum returns the name of the file that stands for the present text.
func (t *traceFile) checksum() string {
	return filepath.Join(t.state, fmt.Sprintf("trace-%x", sha256.Sum256(t.text)))
}

// add appends events. The new checksum is written first and the old one removed last: a crash leaves a valid trace.
func (t *traceFile) add(events ...verify.Event) error {
	lines, err := verify.Trace(events).Lines()
	if err != nil {
		return err
	}
	old := t.checksum()
	t.text = slices.Concat(t.text, lines)
	if err = os.MkdirAll(t.state, 0o700); err == nil {
		err = filestore.WriteFile(t.checksum(), nil, 0o600)
	}
	if err == nil {
		err = filestore.WriteFile(t.name, t.text, 0o600)
	}
	if err != nil {
		return badInput("check the disk", "cannot write to the trace %q: %v", t.name, cause(err))
	}
	_ = os.Remove(old)
	return nil
}
