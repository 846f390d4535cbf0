package evaluate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// The actions of a host on a verdict. Suppressing needs a history, which a case does not have.
const (
	deliver = "deliver"
	carryOn = "continue"
)

// Case is one labelled output.
type Case struct {
	Name  string         `json:"name"` // unique among the cases that are evaluated together
	Input classify.Input `json:"input"`
	Want  Want           `json:"want"`
	Meta  map[string]any `json:"meta,omitempty"` // free; "sure", "agent" and "lang" are known to the report
}

// Want is the label of a case.
type Want struct {
	Type                  classify.OutputType `json:"type"`
	WasRejectedCompletion bool                `json:"was_rejected_completion"` // only with a status
	Action                string              `json:"action,omitempty"`        // empty is what the type calls for
	Message               *Message            `json:"message,omitempty"`       // only with a status
}

// Message is what a message to the agent must be like. The zero value asks for any message.
type Message struct {
	Contains    []string `json:"contains,omitempty"`     // each of them; letter case does not matter
	NotContains []string `json:"not_contains,omitempty"` // none of them; letter case does not matter
	Matches     string   `json:"matches,omitempty"`      // a regular expression of package regexp
	MaxChars    int      `json:"max_chars,omitempty"`    // 0 is no limit
}

// Check returns what is wrong with a message, without quoting it. It returns nothing if the message is as it should be.
func (m Message) Check(message string) []string {
	if plaintext.IsBlank(message) {
		return []string{"there is no message"}
	}
	var wrong findings
	lower := strings.ToLower(message)
	for _, s := range m.Contains {
		wrong.add(!strings.Contains(lower, strings.ToLower(s)), "the message lacks %q", s)
	}
	for _, s := range m.NotContains {
		wrong.add(strings.Contains(lower, strings.ToLower(s)), "the message has %q", s)
	}
	expr, err := regexp.Compile(m.Matches)
	wrong.add(err != nil || !expr.MatchString(message), "the message does not match %q", m.Matches)
	n := utf8.RuneCountInString(message)
	wrong.add(m.MaxChars > 0 && n > m.MaxChars, "the message has %d characters, more than %d", n, m.MaxChars)
	return wrong
}

// findings are what is wrong, in words.
type findings []string

func (f *findings) add(wrong bool, format string, args ...any) {
	if wrong {
		*f = append(*f, fmt.Sprintf(format, args...))
	}
}

// sure reports whether the label is certain: it is, unless meta.sure is false.
func (c Case) sure() bool { return c.Meta["sure"] != false }

// action returns what the type of a case calls for.
func (w Want) action() string {
	if w.Type == classify.Status {
		return carryOn
	}
	return deliver
}

// faults returns everything that is wrong with a case by itself.
func (c Case) faults() (f findings) {
	w := c.Want
	status, known := w.Type == classify.Status, w.Type.Valid()
	f.add(strings.TrimSpace(c.Name) == "", "name: it is empty")
	f.add(!known, "want.type: %s is not one of %s", quoted(string(w.Type)), join(classify.Types()))
	f.add(known && w.WasRejectedCompletion && !status,
		"want.was_rejected_completion: only a status can be one, not a %s", w.Type)
	f.add(known && w.Action != "" && w.Action != w.action(), "want.action: a %s calls for %s, not for %s", w.Type,
		w.action(), quoted(w.Action))
	if m := w.Message; m != nil {
		f.add(known && !status, "want.message: only a status is continued with a message")
		_, err := regexp.Compile(m.Matches)
		f.add(err != nil, "want.message.matches: %v", err)
	}
	for i, e := range c.Input.Evidence {
		f.add(!e.Kind.Valid(), "input.evidence[%d].kind: %s is not one of %s", i, quoted(string(e.Kind)),
			join(classify.EvidenceKinds()))
	}
	if sure, ok := c.Meta["sure"]; ok {
		_, isBool := sure.(bool)
		f.add(!isBool, "meta.sure: it is neither true nor false")
	}
	return f
}

// places say where the name of a case was first used.
type places map[string]string

// faults returns everything that is wrong with a case among others.
func (p places) faults(c Case, at string) findings {
	f := c.faults()
	first, taken := p[c.Name]
	f.add(taken, "name: %s is taken by %s", quoted(c.Name), first)
	if !taken && c.Name != "" {
		p[c.Name] = at
	}
	return f
}

// checkAll returns the first fault of cases that were not read from a file.
func checkAll(cases []Case) error {
	if len(cases) == 0 {
		return errors.New("there are no cases")
	}
	named := make(places)
	for i, c := range cases {
		if faults := named.faults(c, fmt.Sprintf("case %d", i+1)); len(faults) > 0 {
			return fmt.Errorf("case %d, %s: %s", i+1, quoted(c.Name), faults[0])
		}
	}
	return nil
}

// digest tells one input and label from another.
func (c Case) digest() string {
	c.Meta, c.Want.Action, c.Want.Message = nil, "", nil
	b, _ := json.Marshal(c) // strings, numbers and flags: nothing can fail
	return fmt.Sprintf("%x", sha256.Sum256(b))[:16]
}

// quoted shows at most 60 characters of a label or a name.
func quoted(s string) string { return fmt.Sprintf("%q", plaintext.Line(s, 60)) }

func join[S ~string](list []S) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", ")
}

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
	named := make(places)
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
				c, err := parseCase(line)
				if err != nil {
					fault(at, err)
					continue
				}
				for _, what := range named.faults(c, at) {
					fault(at, errors.New(what))
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

func parseCase(line []byte) (c Case, err error) {
	if !utf8.Valid(line) {
		return c, errors.New("it is not UTF-8; save the file as UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return c, inWords("a case", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return c, errors.New("something follows the case on its line")
	}
	var there struct{ Input struct{ Text *string } }
	if _ = json.Unmarshal(line, &there); there.Input.Text == nil {
		return c, errors.New("input.text: it is missing")
	}
	return c, nil
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
