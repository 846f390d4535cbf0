package evaluate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
)

const (
	maxLine   = 64 << 20 // bytes of a case
	maxFaults = 50       // that are told
)

// Fault is one thing that is wrong with a case file.
type Fault struct {
	File string
	Line int // from 1; 0 is the file as a whole
	Err  error
}

func (f *Fault) Error() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %v", f.File, f.Err)
	}
	return fmt.Sprintf("%s:%d: %v", f.File, f.Line, f.Err)
}

func (f *Fault) Unwrap() error { return f.Err }

// LoadError is what is wrong with the cases that were to be loaded: every fault in the order of files and lines, the first
// 50 of them in Faults. [errors.Is] looks into each.
type LoadError struct {
	Faults []*Fault
	More   int // how many more there are
}

func (e *LoadError) Error() string {
	var b strings.Builder
	b.WriteString("evaluate: load cases: ")
	for i, f := range e.Faults {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(f.Error())
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\nand %d more", e.More)
	}
	return b.String()
}

// Unwrap returns the faults.
func (e *LoadError) Unwrap() []error {
	list := make([]error, len(e.Faults))
	for i, f := range e.Faults {
		list[i] = f
	}
	return list
}

func (e *LoadError) add(file string, line int, err error) {
	if len(e.Faults) == maxFaults {
		e.More++
		return
	}
	e.Faults = append(e.Faults, &Fault{File: file, Line: line, Err: err})
}

// LoadCases reads the case files in fsys that the patterns name, in the order of the patterns, a pattern's files by name.
// A pattern is the name of a file or, if there is none of that name, a pattern of [fs.Glob]; a file that two patterns name
// is read once.
//
// The error is a [LoadError] with everything that is wrong: a pattern that names no file, a file that can't be read or has
// no case, a line that is no case, no UTF-8 or longer than 64 MiB, a key that is there twice, in another letter case, or outside
// meta unknown, an unknown type or kind of evidence, an action that does not go with the type, a name that is used twice, in
// whichever files. Then there are no cases. Its text has keys, names and labels at most, never the text of a case.
func LoadCases(fsys fs.FS, patterns ...string) ([]Case, error) {
	l := loader{fsys: fsys, read: make(map[string]bool), named: make(map[string]string)}
	if len(patterns) == 0 {
		l.errs.add("cases", 0, errors.New("no file is named"))
	}
	for _, pattern := range patterns {
		for _, name := range l.files(pattern) {
			if !l.read[name] {
				l.read[name] = true
				l.file(name)
			}
		}
	}
	if len(l.errs.Faults) > 0 {
		return nil, &l.errs
	}
	return l.cases, nil
}

type loader struct {
	fsys  fs.FS
	read  map[string]bool
	named map[string]string // where a name was first used
	cases []Case
	errs  LoadError
}

func (l *loader) files(pattern string) []string {
	if _, err := fs.Stat(l.fsys, pattern); err == nil {
		return []string{pattern}
	}
	names, err := fs.Glob(l.fsys, pattern)
	switch {
	case err != nil:
		l.errs.add(pattern, 0, err)
	case len(names) == 0:
		l.errs.add(pattern, 0, fs.ErrNotExist)
	}
	return names
}

func (l *loader) file(name string) {
	f, err := l.fsys.Open(name)
	if err != nil {
		l.errs.add(name, 0, plain(err))
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		l.errs.add(name, 0, errors.New("it is a directory"))
		return
	}
	before, faults := len(l.cases), len(l.errs.Faults)+l.errs.More
	r := bufio.NewReaderSize(f, 1<<16)
	for n := 1; ; n++ {
		line, err := readLine(r)
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if errors.Is(err, errLong) {
			l.errs.add(name, n, err)
			continue
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			l.line(name, n, line)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			l.errs.add(name, n, plain(err))
			return
		}
	}
	if len(l.cases) == before && len(l.errs.Faults)+l.errs.More == faults {
		l.errs.add(name, 0, errors.New("it has no case"))
	}
}

var errLong = fmt.Errorf("the line is longer than %d MiB", maxLine>>20)

// readLine returns the next line; a longer one than maxLine is passed over.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			long, line = true, nil
		}
		if !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && (err == nil || errors.Is(err, io.EOF)) {
			return nil, errLong // at the end of the file the next call says so
		}
		return line, err
	}
}

func (l *loader) line(file string, n int, line []byte) {
	faults := 0
	fault := func(err error) {
		faults++
		l.errs.add(file, n, err)
	}
	c := parseCase(line, fault)
	if faults > 0 {
		return
	}
	for _, err := range c.check() {
		fault(err)
	}
	here := fmt.Sprintf("%s:%d", file, n)
	if first, ok := l.named[c.Name]; ok {
		fault(fmt.Errorf("name: %s is taken by %s", quoted(c.Name), first))
	} else if c.Name != "" {
		l.named[c.Name] = here
	}
	l.cases = append(l.cases, c)
}

// parseCase reads one line, or calls fault. What encoding/json reads in silence in another way than it stands there (a key
// twice, in another letter case, bytes that are no UTF-8) would be a label that nobody gave.
func parseCase(line []byte, fault func(error)) Case {
	if at := invalidUTF8(line); at > 0 {
		fault(fmt.Errorf("byte %d is not UTF-8; save the file as UTF-8", at))
		return Case{}
	}
	var raw json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(line))
	if err := dec.Decode(&raw); err != nil {
		fault(inWords("a case", err))
		return Case{}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		fault(errors.New("something follows the case on its line"))
		return Case{}
	}
	known := true
	checkKeys(raw, func(err error) {
		known = false
		fault(err)
	})
	if !known {
		return Case{}
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
	switch err := json.Unmarshal(raw, &in); {
	case err != nil:
		fault(inWords("a case", err))
	case in.Input == nil || in.Input.Text == nil:
		fault(errors.New("input.text: it is missing"))
	case in.Want == nil:
		fault(errors.New("want: it is missing"))
	default:
		c := Case{Name: in.Name, Input: in.Input.Input, Want: *in.Want, Meta: in.Meta}
		c.Input.Text = *in.Input.Text
		return c
	}
	return Case{}
}

// invalidUTF8 returns the place of the first byte, from 1, that is not part of UTF-8; 0 when there is none.
func invalidUTF8(line []byte) int {
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && n == 1 {
			return i + 1
		}
		i += n
	}
	return 0
}

// inWords says what the decoder found without the names of our types and without the value.
func inWords(what string, err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		kind, _, _ := strings.Cut(e.Value, " ") // "number 17" holds the value
		if kind == "number" && e.Type != nil && e.Type.Kind() >= reflect.Int && e.Type.Kind() <= reflect.Uint64 {
			kind = "number that is not whole, or so large"
		}
		where := strings.ReplaceAll(e.Field, "Input.", "")
		if where == "" {
			return fmt.Errorf("%s is an object, not a JSON %s", what, kind)
		}
		return fmt.Errorf("%s: it can't be a JSON %s", where, kind)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("not JSON: the line ends too early")
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("not JSON: byte %d: %v", e.Offset, e)
	}
	return errors.New("not JSON")
}

// plain drops the call and the name, which the fault tells already.
func plain(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
