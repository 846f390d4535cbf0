package evaluate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

const noGate = -1 // the threshold of a host that continues every status

// Options say how to evaluate. The zero value is the default.
type Options struct {
	Threshold float64               // a status is continued at or above it; 0 is [classify.DefaultThreshold], -1 no gate
	Repeat    int                   // how often each case is judged; 0 is once
	Parallel  int                   // calls at a time at most; 0 is 8
	Progress  func(done, total int) // called after each call of the classifier, one at a time, done rising to total
	Name      string                // of the classifier, for the report
	About     []string              // what the cases are, a sentence each, for the report

	// Message returns the message that a case's [Message] is held against; nil is the classifier's own coaching.
	Message func(classify.Input, classify.Result) string
}

func (o *Options) defaults() error {
	switch {
	case o.Threshold == 0:
		o.Threshold = classify.DefaultThreshold
	case o.Threshold != noGate && !(o.Threshold > 0 && o.Threshold <= 1):
		return errors.New("the threshold is not a number from 0 to 1, or -1 for no gate")
	}
	if o.Repeat < 0 || o.Parallel < 0 {
		return errors.New("the options Repeat and Parallel must not be below 0")
	}
	o.Repeat, o.Parallel = cmp.Or(o.Repeat, 1), cmp.Or(o.Parallel, 8)
	if o.Message == nil {
		o.Message = func(_ classify.Input, r classify.Result) string { return r.CoachingMessage }
	}
	return nil
}

// Evaluate puts every case to c and reports how it did. The report does not depend on the order of the cases, nor on
// the order in which the calls end. The same verdicts give the same report, except for its latency.
//
// A failure of c, even a panic, is a fault of the case's verdict, and not an error of Evaluate. A case or an option
// that makes no sense is an error before c is called. At the end of ctx there is no report.
func Evaluate(ctx context.Context, c classify.Classifier, cases []Case, opts Options) (Report, error) {
	if c == nil || classify.HoldsNil(c) {
		return Report{}, errors.New("evaluate: there is no classifier")
	}
	if ctx == nil {
		return Report{}, errors.New("evaluate: the context is nil: give context.Background() if there is none")
	}
	err := cmp.Or(opts.defaults(), checkAll(cases))
	var answers []answer
	if err == nil {
		answers, err = ask(ctx, c, cases, opts)
	}
	if err != nil {
		return Report{}, fmt.Errorf("evaluate: %w", err)
	}
	return newReport(cases, answers, opts), nil
}

// Record makes the report that [Evaluate] makes, of verdicts that are there already: one result for each case. The
// options Repeat, Parallel and Progress do not count.
func Record(cases []Case, results []classify.Result, opts Options) (Report, error) {
	opts.Repeat = 1
	if err := cmp.Or(opts.defaults(), checkAll(cases)); err != nil {
		return Report{}, fmt.Errorf("evaluate: %w", err)
	}
	answers := make([]answer, len(cases))
	for i := range cases {
		answers[i].result = results[i]
	}
	return newReport(cases, answers, opts), nil
}

type answer struct {
	result classify.Result
	err    error
	took   time.Duration
}

// ask calls the classifier Repeat times for each case. The answers of a case stand together, in the order of cases.
func ask(ctx context.Context, c classify.Classifier, cases []Case, opts Options) ([]answer, error) {
	answers := make([]answer, len(cases)*opts.Repeat)
	slots := make(chan struct{}, opts.Parallel)
	var workers sync.WaitGroup
	var progress sync.Mutex
	done := 0
	for i := range answers {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		workers.Go(func() {
			defer func() { <-slots }()
			answers[i] = call(ctx, c, cases[i/opts.Repeat].Input)
			progress.Lock()
			defer progress.Unlock()
			if done++; opts.Progress != nil {
				opts.Progress(done, len(answers))
			}
		})
	}
	workers.Wait()
	return answers, context.Cause(ctx)
}

// call asks the classifier once and holds it to its contract.
func call(ctx context.Context, c classify.Classifier, in classify.Input) (a answer) {
	start := time.Now()
	defer func() {
		a.took = time.Since(start)
		if p := recover(); p != nil {
			a.result, a.err = classify.Result{}, fmt.Errorf("panic: %v", p)
		}
	}()
	if a.result, a.err = c.Classify(ctx, in); a.err == nil {
		a.err = a.result.ValidateFor(in.Text)
	}
	return a
}

// Verdict is what the classifier said about a case, once or by majority.
type Verdict struct {
	Type                  classify.OutputType `json:"type"` // empty when it failed
	WasRejectedCompletion bool                `json:"was_rejected_completion"`
	Confidence            float64             `json:"confidence"`
	Action                string              `json:"action"`
	Error                 string              `json:"error,omitempty"`    // why there is no type
	Fallback              string              `json:"fallback,omitempty"` // why the primary classifier did not answer
	Message               []string            `json:"message,omitempty"`  // what is wrong with the message to the agent
}

// Label is the verdict in a word: the type, "rejected" for a rejected completion, "unanswered" for none.
func (v Verdict) Label() string { return label(v.Type, v.WasRejectedCompletion) }

// Label is the label in a word, as [Verdict.Label] has it.
func (w Want) Label() string { return label(w.Type, w.WasRejectedCompletion) }

func label(t classify.OutputType, rejected bool) string {
	if rejected {
		return "rejected"
	}
	return cmp.Or(string(t), "unanswered")
}

// Outcome is a case and what became of it.
type Outcome struct {
	Name    string         `json:"name"`
	Want    Want           `json:"want"` // with its action
	Verdict Verdict        `json:"verdict"`
	Runs    []Verdict      `json:"runs,omitempty"` // each, if there was more than one
	Sure    bool           `json:"sure"`
	Meta    map[string]any `json:"meta,omitempty"`
	Digest  string         `json:"digest"` // of input and label: the case was the same if this is

	Result classify.Result `json:"-"` // of the first run that agrees with the verdict; not in a file

	input classify.Input // for the page
}

func (o Outcome) typeRight() bool { return o.Verdict.Type == o.Want.Type }

// score returns how many of label and action are right.
func (o Outcome) score() (n int) {
	if o.Verdict.Label() == o.Want.Label() {
		n++
	}
	if o.Verdict.Action == o.Want.Action {
		n++
	}
	return n
}

// Faults says in words what is wrong, the message included. It returns nothing if all is right.
func (o Outcome) Faults() []string {
	if o.Verdict.Type == "" {
		return []string{"unanswered: " + o.Verdict.Error}
	}
	var f findings
	f.add(o.Verdict.Label() != o.Want.Label(), "%s, want %s", o.Verdict.Label(), o.Want.Label())
	f.add(o.Verdict.Action != o.Want.Action, "would %s at %.2f, want %s", o.Verdict.Action, o.Verdict.Confidence,
		o.Want.Action)
	return append(f, o.Verdict.Message...)
}

// Signals returns the twelve strongest signals of the result in words.
func (o Outcome) Signals() (words []string) {
	text, signals := plaintext.Redact(o.input.Text), slices.Clone(o.Result.Signals) // spans of it stay valid
	slices.SortStableFunc(signals, func(a, b classify.Signal) int { return cmp.Compare(b.Weight, a.Weight) })
	for _, s := range signals[:min(len(signals), 12)] {
		if s.Start >= 0 && s.Start < s.End && s.End <= len(text) {
			words = append(words, fmt.Sprintf("%s %s %.2f %s", s.Kind, s.Name, s.Weight, quoted(text[s.Start:s.End])))
		}
	}
	return words
}

// runs are the verdicts of which the verdict is the majority.
func (o Outcome) runs() []Verdict {
	if len(o.Runs) == 0 {
		return []Verdict{o.Verdict}
	}
	return o.Runs
}

func (o Outcome) agree() int {
	return count(o.runs(), func(v Verdict) bool { return v.Label() == o.Verdict.Label() })
}

func (a answer) verdict(c Case, opts Options) Verdict {
	if a.err != nil {
		return Verdict{Action: actionDeliver, Error: plaintext.Line(a.err.Error(), 200)}
	}
	v := Verdict{
		Type:                  a.result.Type,
		WasRejectedCompletion: a.result.WasRejectedCompletion,
		Confidence:            a.result.Confidence,
		Action:                actionDeliver,
		Fallback:              plaintext.Line(a.result.Fallback, 200),
	}
	if v.Type == classify.Status && v.Confidence >= opts.Threshold {
		v.Action = actionContinue
	}
	if c.Want.Message != nil {
		v.Message = c.Want.Message.Check(opts.Message(c.Input, a.result))
	}
	return v
}

// outcome is the verdict of most of the runs, with the other fields of the first run that agrees with it. A run that
// failed has a vote too: for no answer.
func outcome(c Case, answers []answer, opts Options) Outcome {
	o := Outcome{Name: c.Name, Want: c.Want, Sure: c.sure(), Meta: maps.Clone(c.Meta), Digest: c.digest(), input: c.Input}
	o.Want.Action = c.Want.action()
	runs := make([]Verdict, len(answers))
	for i, a := range answers {
		runs[i] = a.verdict(c, opts)
	}
	if len(runs) > 1 {
		o.Runs = runs
	}
	m := Verdict{Action: actionDeliver}
	var voters []Verdict
	for _, t := range append([]classify.OutputType{""}, classify.Types()...) { // of equals the first
		list := slices.DeleteFunc(slices.Clone(runs), func(v Verdict) bool { return v.Type != t })
		if len(list) > len(voters) {
			m.Type, voters = t, list
		}
	}
	for _, v := range voters {
		m.Confidence += v.Confidence / float64(len(voters))
	}
	m.Confidence = min(1, m.Confidence)
	m.WasRejectedCompletion = 2*count(voters, func(v Verdict) bool { return v.WasRejectedCompletion }) > len(voters)
	if m.Type != "" && 2*count(runs, func(v Verdict) bool { return v.Action == actionContinue }) > len(runs) {
		m.Action = actionContinue
	}
	first := slices.IndexFunc(runs, func(v Verdict) bool { return v.Label() == m.Label() })
	m.Error, m.Fallback, m.Message = runs[first].Error, runs[first].Fallback, runs[first].Message
	o.Verdict, o.Result = m, answers[first].result
	return o
}

// The actions of a host on a verdict. Suppressing needs a history, which a case does not have.
const (
	actionDeliver  = "deliver"
	actionContinue = "continue"
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
		return actionContinue
	}
	return actionDeliver
}

// caseNames are the names of the cases so far, and where they stand.
type caseNames map[string]string

// faults returns everything that is wrong with a case that stands at a place, and keeps its name.
func (names caseNames) faults(c Case, at string) (f findings) {
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
	first, taken := names[c.Name]
	f.add(taken, "name: %s is taken by %s", quoted(c.Name), first)
	if !taken && c.Name != "" {
		names[c.Name] = at
	}
	return f
}

// checkAll returns the first fault of cases that were not read from a file.
func checkAll(cases []Case) error {
	if len(cases) == 0 {
		return errors.New("there are no cases")
	}
	names := make(caseNames)
	for i, c := range cases {
		if faults := names.faults(c, fmt.Sprintf("case %d", i+1)); len(faults) > 0 {
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
	taken := make(caseNames)
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
				for _, what := range taken.faults(c, at) {
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
