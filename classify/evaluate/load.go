package evaluate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// LoadCases reads the case files in fsys that the patterns name, in the order of the patterns, a pattern's files by
// name. A pattern is the name of a file or, if there is no file of that name, a pattern of [fs.Glob]. A file that two
// patterns name is read once.
//
// The error says everything that is wrong, one fault a line, as "file:line: fault": a pattern that names no file, a
// file that cannot be read or has no case, a line that is not a case, an unknown key or type, a name that is used
// twice. Its text has keys, names and labels at most, never the text of a case. [errors.Is] looks into each fault.
func LoadCases(fsys fs.FS, patterns ...string) ([]Case, error) {
	if len(patterns) == 0 {
		return nil, errors.New("cases: no file is named")
	}
	var cases []Case
	var faults []error
	fault := func(at string, err error) { faults = append(faults, fmt.Errorf("%s: %w", at, err)) }
	read := make(map[string]bool)
	named := make(map[string]string) // where a name was first used
	for _, pattern := range patterns {
		names, err := match(fsys, pattern)
		if err != nil {
			fault(pattern, err)
		}
		for _, name := range names {
			if read[name] {
				continue
			}
			read[name] = true
			data, err := fs.ReadFile(fsys, name)
			if err != nil {
				fault(name, cmp.Or(errors.Unwrap(err), err)) // which has the name already
				continue
			}
			n, before := 0, len(cases)+len(faults)
			for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
				n++
				if line = bytes.TrimSpace(line); len(line) == 0 {
					continue
				}
				at := fmt.Sprintf("%s:%d", name, n)
				c, wrong := parseCase(line)
				for _, err := range wrong {
					fault(at, err)
				}
				if first, ok := named[c.Name]; ok {
					fault(at, fmt.Errorf("name: %s is taken by %s", quoted(c.Name), first))
				} else if c.Name != "" {
					named[c.Name] = at
				}
				cases = append(cases, c)
			}
			if len(cases)+len(faults) == before {
				fault(name, errors.New("it has no case"))
			}
		}
	}
	if faults != nil {
		return nil, errors.Join(faults...)
	}
	return cases, nil
}

func match(fsys fs.FS, pattern string) ([]string, error) {
	if _, err := fs.Stat(fsys, pattern); err == nil {
		return []string{pattern}, nil
	}
	names, err := fs.Glob(fsys, pattern)
	if err == nil && len(names) == 0 {
		err = fs.ErrNotExist
	}
	return names, err
}

func parseCase(line []byte) (Case, []error) {
	var c Case
	if !utf8.Valid(line) {
		return c, []error{errors.New("it is not UTF-8; save the file as UTF-8")}
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return Case{}, []error{inWords("a case", err)}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Case{}, []error{errors.New("something follows the case on its line")}
	}
	var there struct{ Input struct{ Text *string } }
	if _ = json.Unmarshal(line, &there); there.Input.Text == nil {
		return Case{}, []error{errors.New("input.text: it is missing")}
	}
	return c, c.faults()
}

// inWords says what the decoder found without the names of our types and without the value.
func inWords(what string, err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		kind, _, _ := strings.Cut(e.Value, " ")         // "number 17" holds the value
		field := strings.TrimPrefix(e.Field, "Report.") // which is embedded
		return fmt.Errorf("%s: a JSON %s does not fit", cmp.Or(field, what), kind)
	}
	if key, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("unknown key %s; keys of your own go under meta", key)
	}
	return fmt.Errorf("not JSON: %w", err)
}
