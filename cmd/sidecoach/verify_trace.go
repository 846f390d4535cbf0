package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// traceFile is a trace on disk, to which events are added.
type traceFile struct {
	name string
	f    *os.File
	end  int64 // of the last whole line
	open bool  // which has no line end
	made bool  // it was not there before
}

// openTrace reads a trace, and makes one where that is wanted and there is none. The caller closes it.
func openTrace(name string, make bool) (*traceFile, verify.Trace, error) {
	mode := os.O_RDWR
	if make {
		mode |= os.O_CREATE
	}
	info, err := os.Stat(name)
	made := errors.Is(err, fs.ErrNotExist)
	if err == nil && !info.Mode().IsRegular() {
		return nil, nil, badInput("--trace takes the name of a file", "the trace %q is no regular file", name)
	}
	f, err := os.OpenFile(name, mode, 0o600)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !make:
		return nil, nil, badInput("call sidecoach verify begin with the same --trace first", "no such trace: %q", name)
	case err != nil:
		return nil, nil, badInput("check its name and permissions", "cannot open the trace %q: %v", name, cause(err))
	}
	text, err := io.ReadAll(f)
	if err == nil {
		var trace verify.Trace
		if trace, err = verify.ReadTrace(bytes.NewReader(text)); err == nil {
			end := bytes.LastIndexByte(text, '\n') + 1
			if rest := bytes.TrimSpace(text[end:]); len(rest) > 0 && json.Valid(rest) {
				end = len(text) // only its line end is missing
			}
			return &traceFile{name, f, int64(end), end > 0 && text[end-1] != '\n', made}, trace, nil
		}
	}
	f.Close()
	return nil, nil, badInput("name a file that sidecoach verify wrote, or a new one", "cannot read the trace %q: %s", name, strings.TrimPrefix(cause(err).Error(), "verify: trace, "))
}

// add writes events behind the last whole line: what a process that died left after it is overwritten.
func (t *traceFile) add(events ...verify.Event) error {
	var b bytes.Buffer
	if t.open {
		b.WriteByte('\n')
	}
	if _, err := verify.Trace(events).WriteTo(&b); err != nil {
		return err
	}
	err := t.f.Truncate(t.end)
	if err == nil {
		_, err = t.f.WriteAt(b.Bytes(), t.end)
	}
	if err == nil {
		t.end, t.open = t.end+int64(b.Len()), false
		err = t.f.Sync()
	}
	if err != nil {
		return badInput("check the disk", "cannot write to the trace %q: %v", t.name, cause(err))
	}
	return nil
}

// close closes the file, and takes away one that was made and has nothing in it.
func (t *traceFile) close() {
	t.f.Close()
	if t.made && t.end == 0 {
		_ = os.Remove(t.name)
	}
}
