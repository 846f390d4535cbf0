package evaluate

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
)

const (
	maxLine   = 64 << 20 // bytes of a case
	maxFaults = 50       // that are reported
)

// LoadCases reads the case files in fsys that the patterns name, in the order of the patterns, a pattern's files by
// name. A pattern is the name of a file or, if there is no file of that name, a pattern of [fs.Glob]. A file that two
// patterns name is read once.
//
// The error says everything that is wrong, one fault a line, as "file:line: fault": a pattern that names no file, a
// file that cannot be read or has no case, a line that is not a case, an unknown key or type, a name that is used
// twice. Its text has keys, names and labels at most, never the text of a case. [errors.Is] looks into each fault.
func LoadCases(fsys fs.FS, patterns ...string) ([]Case, error) {
	l := loader{fsys: fsys, read: make(map[string]bool), named: make(map[string]string)}
	if len(patterns) == 0 {
		l.fault("cases", 0, errors.New("no file is named"))
	}
	for _, pattern := range patterns {
		for _, name := range l.files(pattern) {
			if !l.read[name] {
				l.read[name] = true
				l.file(name)
			}
		}
	}
	if n := len(l.faults); n > 0 {
		if n > maxFaults {
			l.faults = append(l.faults[:maxFaults], fmt.Errorf("and %d more faults", n-maxFaults))
		}
		return nil, errors.Join(l.faults...)
	}
	return l.cases, nil
}

type loader struct {
	fsys   fs.FS
	read   map[string]bool
	named  map[string]string // where a name was first used
	cases  []Case
	faults []error
}

func (l *loader) fault(file string, line int, err error) {
	if line > 0 {
		file = fmt.Sprintf("%s:%d", file, line)
	}
	l.faults = append(l.faults, fmt.Errorf("%s: %w", file, err))
}

func (l *loader) files(pattern string) []string {
	if _, err := fs.Stat(l.fsys, pattern); err == nil {
		return []string{pattern}
	}
	names, err := fs.Glob(l.fsys, pattern)
	switch {
	case err != nil:
		l.fault(pattern, 0, err)
	case len(names) == 0:
		l.fault(pattern, 0, fs.ErrNotExist)
	}
	return names
}

func (l *loader) file(name string) {
	f, err := l.fsys.Open(name)
	if err != nil {
		l.fault(name, 0, plain(err))
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		l.fault(name, 0, fmt.Errorf("it is a folder; name its files: %s/*.jsonl", strings.TrimRight(name, "/")))
		return
	}
	cases, faults := len(l.cases), len(l.faults)
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 1<<16), maxLine)
	for n := 1; lines.Scan(); n++ {
		line := lines.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			l.line(name, n, line)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		l.fault(name, 0, fmt.Errorf("a line is longer than %d MiB", maxLine>>20))
	case err != nil:
		l.fault(name, 0, plain(err))
	case len(l.cases) == cases && len(l.faults) == faults:
		l.fault(name, 0, errors.New("it has no case"))
	}
}

func (l *loader) line(file string, n int, line []byte) {
	c, err := parseCase(line)
	if err != nil {
		l.fault(file, n, err)
		return
	}
	for _, err := range c.faults() {
		l.fault(file, n, err)
	}
	if first, ok := l.named[c.Name]; ok {
		l.fault(file, n, fmt.Errorf("name: %s is taken by %s", quoted(c.Name), first))
	} else if c.Name != "" {
		l.named[c.Name] = fmt.Sprintf("%s:%d", file, n)
	}
	l.cases = append(l.cases, c)
}

func parseCase(line []byte) (Case, error) {
	if !utf8.Valid(line) {
		return Case{}, errors.New("it is not UTF-8; save the file as UTF-8")
	}
	var in struct {
		Name  string `json:"name"`
		Input *struct {
			classify.Input
			Text *string `json:"text"` // missing is not empty
		} `json:"input"`
		Want *Want          `json:"want"`
		Meta map[string]any `json:"meta"`
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return Case{}, inWords("a case", err)
	}
	switch _, err := dec.Token(); {
	case !errors.Is(err, io.EOF):
		return Case{}, errors.New("something follows the case on its line")
	case in.Input == nil || in.Input.Text == nil:
		return Case{}, errors.New("input.text: it is missing")
	case in.Want == nil:
		return Case{}, errors.New("want: it is missing")
	}
	c := Case{Name: in.Name, Input: in.Input.Input, Want: *in.Want, Meta: in.Meta}
	c.Input.Text = *in.Input.Text
	return c, nil
}

// inWords says what the decoder found without the names of our types and without the value.
func inWords(what string, err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		kind, _, _ := strings.Cut(e.Value, " ") // "number 17" holds the value
		return fmt.Errorf("%s: a JSON %s does not fit", cmp.Or(strings.ReplaceAll(e.Field, "Input.", ""), what), kind)
	}
	if key, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("unknown key %s; keys of your own go under meta", key)
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("not JSON: byte %d: %v", e.Offset, e)
	}
	return fmt.Errorf("not JSON: %w", err)
}

// plain drops the call and the name, which the fault has already.
func plain(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
