package llm

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Options is what a [Classifier] needs beside its client. The zero value is the default.
type Options struct {
	// Prompt replaces the built-in prompt. At its root it has "system.md" or "examples.jsonl" or both, in the form of
	// those that [Prompt] returns, and nothing else. It is not used after New returns.
	Prompt fs.FS

	Heuristic *classify.Heuristic // finds the signals; nil is a new one
}

// Classifier judges by one call to a model. It is safe for concurrent use.
type Classifier struct {
	client    *Client
	system    string
	heuristic *classify.Heuristic
}

var _ classify.Classifier = (*Classifier)(nil)

// New returns a classifier that asks through client. A prompt that cannot be used is an error that names file and line:
// one with neither file, or with a file of another name, or one that is not a regular file, cannot be read, is larger
// than 64 KiB or empty, or has an example with a fault.
func New(client *Client, o Options) (*Classifier, error) {
	if client == nil || client.transport == nil {
		return nil, errZeroClient
	}
	if classify.HoldsNil(o.Prompt) {
		return nil, fmt.Errorf("llm: Options.Prompt is a nil %T", o.Prompt)
	}
	system, err := systemMessage(o.Prompt)
	if err != nil {
		return nil, fmt.Errorf("llm: prompt: %w", err)
	}
	h := o.Heuristic
	if h == nil {
		h, err = classify.NewHeuristic()
	}
	return &Classifier{client: client, system: system, heuristic: h}, err
}

// Request returns what the model is asked about an input. The system message is the same for every input. In the user
// message, everything that comes from in stands between markers. The same input gives the same bytes.
//
// The user message has at most about 1,300 tokens. Of an output beyond 3,600 bytes (four take about a token)
// it has the head, the end, and the lines in which the heuristic found signals.
func (c *Classifier) Request(in classify.Input) Request { return c.client.request(c.call(in)) }

func (c *Classifier) call(in classify.Input) Call {
	user := userMessage(in, func(text string) []classify.Signal {
		in := in
		in.Text = text
		known, _ := c.heuristic.Classify(context.Background(), in) // without signals, position decides what is shown
		return known.Signals
	})
	return Call{System: c.system, User: user, Schema: schema}
}

// Classify asks the model about in and returns its verdict with the heuristic's signals. Facts decide about
// a claim, not the model: see [classify.Work.Weigh].
//
// The model is not asked where its words would change nothing, and the heuristic's result is returned: if nothing of
// the output is visible, and if the facts of the turn deliver a claim and the heuristic reads no progress. Usage says
// what the verdict cost; without it nothing was asked.
//
// The errors are those of [Client.JSON]. Use [classify.Fallback] with a heuristic to have an answer always.
func (c *Classifier) Classify(ctx context.Context, in classify.Input) (classify.Result, error) {
	known, err := c.heuristic.Classify(ctx, in)
	if err != nil {
		return classify.Result{}, fmt.Errorf("llm: %w", err)
	}
	if plaintext.IsBlank(in.Text) || known.Type != classify.Status && delivers(in.Work, known.Signals) {
		return known, nil
	}
	var r classify.Result
	call := c.call(in)
	call.Check = func(object json.RawMessage) (err error) {
		r, err = parseVerdict(object)
		return err
	}
	answer, err := c.client.JSON(ctx, call)
	if err != nil {
		return classify.Result{}, err
	}
	r.Language, r.Signals, r.SignalsDropped = known.Language, known.Signals, known.SignalsDropped
	r = in.Work.Weigh(r)
	r.Usage = &answer.Usage
	return r, nil
}

// delivers reports whether the facts of a turn show a claim with these signals to the human.
func delivers(w classify.Work, signals []classify.Signal) bool {
	r := w.Weigh(classify.Result{Type: classify.Completion, Signals: signals})
	return r.Confidence > 0 && r.Type != classify.Status // without facts the confidence stays 0
}

const (
	maxReason   = 200  // characters
	maxCoaching = 1000 // characters
)

// parseVerdict reads the verdict that a model wrote.
//
//   - The type, in any letter case, must be one of the five. Anything else is an error.
//   - The confidence is a number from 0 to 1, which may be in a string. Anything else is 0. Without one it is 0.5.
//   - A reason that is missing or not a string is empty.
//   - A coaching message counts only with a status. Null, a blank and a word for nothing are none.
//   - A status is a rejected completion if the model says so, or coaches. It need not coach. Its confidence is
//     calibrated.
//
// Both texts are cleaned of what cannot be seen and of secrets, and bounded.
func parseVerdict(object json.RawMessage) (classify.Result, error) {
	var fields struct {
		Type, Confidence, Reason any
		Rejected                 any
		CoachingMessage          any `json:"coaching_message"`
	}
	if err := json.Unmarshal(object, &fields); err != nil {
		return classify.Result{}, errors.New("it is not a JSON object")
	}
	text := func(v any) string { s, _ := v.(string); return plaintext.Redact(s) }
	r := classify.Result{
		Type:       classify.OutputType(strings.ToLower(strings.TrimSpace(text(fields.Type)))),
		Confidence: confidence(fields.Confidence),
		Reason:     plaintext.Line(text(fields.Reason), maxReason),
		Source:     "llm",
	}
	if !r.Type.Valid() {
		return classify.Result{}, errors.New("its type is not one of the five")
	}
	if r.Type == classify.Status {
		r.CoachingMessage = coaching(text(fields.CoachingMessage))
		r.WasRejectedCompletion = fields.Rejected == true || r.CoachingMessage != ""
		r.Confidence = calibrated(r.Confidence)
	}
	return r, nil
}

// calibrated returns how often a status is right that a model is so sure of. Of those for which large models state more
// than 0.60, 56 of 58 were right, and of the others 4 of 10. So 0.60 to 0.85 becomes 0.80 to 0.85.
func calibrated(stated float64) float64 {
	if stated <= 0.6 || stated > 0.85 {
		return stated
	}
	return 0.8 + (stated-0.6)*0.2
}

func confidence(v any) float64 {
	if v == nil {
		return 0.5
	}
	f, _ := v.(float64)
	if s, ok := v.(string); ok {
		f, _ = strconv.ParseFloat(strings.TrimSpace(s), 64) // the number of an error is 0 or infinite
	}
	if f >= 0 && f <= 1 {
		return f
	}
	return 0 // 90 may mean 0.9, or that the model did not understand the question
}

func coaching(s string) string {
	s = strings.TrimSpace(plaintext.Cut(strings.TrimSpace(plaintext.Clean(s)), maxCoaching))
	switch strings.ToLower(strings.Trim(s, " \t\n\"'`.()[]<>")) {
	case "", "null", "nil", "none", "n/a", "na", "-", "--", "–", "—":
		return ""
	}
	return s
}

// lastObject returns the last complete JSON object in a text, or nil. Prose, fences, thoughts and other objects may
// stand around it. An object inside another one does not count, complete or not: half an answer is no answer.
func lastObject(text []byte) (last json.RawMessage) {
	for at := 0; ; {
		next := bytes.IndexByte(text[at:], '{')
		if next < 0 {
			return last
		}
		at += next
		if rest := bytes.TrimLeft(text[at+1:], " \t\r\n"); len(rest) == 0 || rest[0] != '"' && rest[0] != '}' {
			at++ // a brace in prose or code
			continue
		}
		var object json.RawMessage
		dec := json.NewDecoder(bytes.NewReader(text[at:]))
		err := dec.Decode(&object)
		switch syntax := (*json.SyntaxError)(nil); {
		case err == nil:
			last = object
			at += int(dec.InputOffset())
		case errors.Is(err, io.ErrUnexpectedEOF), !errors.As(err, &syntax):
			return last // what is inside an unfinished object does not count
		default:
			at += max(1, int(syntax.Offset)-1)
		}
	}
}

//go:embed prompt/system.md prompt/examples.jsonl
var builtin embed.FS

//go:embed form.md
var form string // what no prompt can replace: how the data is marked, how the answer looks

//go:embed schema.json
var schema []byte

var promptFiles = []string{"system.md", "examples.jsonl"}

const maxPrompt = 64 << 10 // bytes of a file

// Prompt returns the built-in prompt: "system.md", how to judge, and "examples.jsonl", judged outputs, one a line. A
// changed copy of them is what [Options].Prompt takes.
func Prompt() fs.FS {
	sub, _ := fs.Sub(builtin, "prompt") // it is there
	return sub
}

// systemMessage words the static part of the prompt. A file that fsys lacks is the built-in one; a nil fsys lacks both.
func systemMessage(fsys fs.FS) (string, error) {
	if fsys == nil {
		fsys = Prompt()
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return "", err
	}
	texts := make(map[string]string)
	for _, e := range entries {
		switch name := e.Name(); {
		case slices.Contains(promptFiles, name):
			if texts[name], err = readPrompt(fsys, name); err != nil {
				return "", fmt.Errorf("%s: %w", name, err)
			}
		case !strings.HasPrefix(name, "."): // a misspelt name would silently leave the built-in file in use
			return "", fmt.Errorf("%q is not a file of a prompt; these are %s", name, strings.Join(promptFiles, " and "))
		}
	}
	if len(texts) == 0 {
		return "", fmt.Errorf("neither %s is there", strings.Join(promptFiles, " nor "))
	}
	for _, name := range promptFiles {
		if texts[name] == "" {
			texts[name], _ = readPrompt(Prompt(), name) // it is there
		}
	}
	var b strings.Builder
	b.WriteString(strings.TrimSpace(texts["system.md"]) + "\n")
	for i, line := range strings.Split(texts["examples.jsonl"], "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		example, err := parseExample(line)
		if err != nil {
			return "", fmt.Errorf("examples.jsonl:%d: %w", i+1, err)
		}
		b.WriteString("\n" + example)
	}
	b.WriteString("\n" + strings.TrimSpace(form) + "\n")
	return b.String(), nil
}

func readPrompt(fsys fs.FS, name string) (string, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular(): // opening a pipe or a device may block
		return "", errors.New("not a regular file")
	case info.Size() > maxPrompt:
		return "", errors.New("larger than 64 KiB")
	}
	text, err := fs.ReadFile(fsys, name)
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if err == nil && len(bytes.TrimSpace(text)) == 0 {
		err = errors.New("empty")
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err
}

// parseExample words a line of examples.jsonl as the judge sees it. The answer is shown as it is written there.
func parseExample(line string) (string, error) {
	var e struct {
		Name   string          `json:"name"`
		Input  classify.Input  `json:"input"`
		Answer json.RawMessage `json:"answer"`
	}
	dec := json.NewDecoder(strings.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return "", err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("something follows the object")
	}
	if strings.TrimSpace(e.Input.Text) == "" {
		return "", errors.New("input.text is empty")
	}
	if _, err := parseVerdict(e.Answer); err != nil {
		return "", fmt.Errorf("answer: %w", err)
	}
	text := "output: " + e.Input.Text + "\nanswer: " + string(e.Answer) + "\n"
	if known := contextOf(e.Input); known != "" {
		text = "context: " + known + "\n" + text
	}
	if e.Input.Request != "" {
		text = "request: " + e.Input.Request + "\n" + text
	}
	return text, nil
}

const (
	maxRequest  = 600 // characters
	maxCriteria = 500 // characters of all together
	lastItems   = 6   // of evidence, checks and files are shown
)

//go:embed context.txt
var contextText string

// contextView words what is known beside request and output, a line each. What is unknown is left out.
var contextView = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"line":     func(s any, most int) string { return plaintext.Line(fmt.Sprint(s), most) },
		"words":    func(code string) string { return strings.ReplaceAll(code, "_", " ") },
		"criteria": criteria,
		"from":     func(n int) int { return max(0, n-lastItems) },
	}).Parse(contextText))
})

func contextOf(in classify.Input) string {
	var b strings.Builder
	if err := contextView().Execute(&b, in); err != nil {
		panic(err) // the text does not fit the data
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// criteria lists the open ones that fit.
func criteria(items []string) (lines []string) {
	left := maxCriteria
	for i, item := range items {
		if item = plaintext.Line(item, maxCriteria); item == "" {
			continue
		}
		if left -= len([]rune(item)); left < 0 {
			return append(lines, fmt.Sprintf("and %d more", len(items)-i))
		}
		lines = append(lines, "- "+item)
	}
	return lines
}

// userMessage words the part of the prompt that varies. find returns the signals of a text; it is asked if the output
// is too long to be shown whole.
func userMessage(in classify.Input, find func(text string) []classify.Signal) string {
	request := plaintext.Cut(strings.TrimSpace(plaintext.Clean(in.Request)), maxRequest)
	if plaintext.IsOurs(in.Request) { // and not the human's
		request = ""
	}
	return section("request", request) +
		section("context", contextOf(in)) +
		section("output", window(plaintext.Clean(in.Text), find))
}

// section encloses a text in markers that carry its hash, which no text can contain. A part without text has no
// section, except the output.
func section(name, text string) string {
	if text == "" && name != "output" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	id := fmt.Sprintf("%s %x", name, sum[:8])
	return "<" + id + ">\n" + text + "\n</" + id + ">\n"
}

// maxWindow is how many bytes of an output the judge sees. Four bytes take about a token, in every script.
const maxWindow = 3600

// The parts of a text that is too long: its head, its end, and between them the lines with the weightiest signals.
const (
	headShare = maxWindow * 15 / 100
	tailShare = maxWindow * 45 / 100
	maxAround = 300 // bytes of one line around a signal
	maxGap    = 80  // bytes between two shown parts that are shown as well
)

// span is a part of a text, in bytes.
type span struct{ from, to int }

// window returns what the judge sees of a cleaned text: all of it, if it fits. Of a longer text it sees the head, the
// end, and the lines in which signals are. Each part that is left out is marked.
func window(text string, find func(string) []classify.Signal) string {
	text = strings.TrimSpace(text)
	if len(text) <= maxWindow {
		return text
	}
	head, tail := headShare, len(text)-tailShare
	if i := strings.LastIndexByte(text[:head], '\n'); i >= head/2 {
		head = i // a whole line, if its end is near
	}
	if i := strings.IndexByte(text[tail:], '\n'); i >= 0 && i < tailShare/3 {
		tail += i + 1
	}
	shown := []span{{0, head}, {tail, len(text)}}
	left := maxWindow - head - (len(text) - tail)
	for _, s := range ranked(find(text)) {
		line := span{strings.LastIndexByte(text[:s.Start], '\n') + 1, len(text)}
		if i := strings.IndexByte(text[s.End:], '\n'); i >= 0 {
			line.to = s.End + i
		}
		if line.to-line.from > maxAround {
			line = span{max(line.from, s.Start-maxAround/3), min(line.to, s.Start+maxAround*2/3)}
		}
		part := span{max(line.from, head), min(line.to, tail)}
		if n := part.to - part.from; 0 < n && n <= left && !slices.Contains(shown, part) {
			left -= n
			shown = append(shown, part)
		}
	}
	slices.SortFunc(shown, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	write := func(part string) { b.WriteString(strings.Trim(strings.ToValidUTF8(part, ""), "\n")) }
	from, to := 0, 0
	for _, s := range shown {
		if s.from > to+maxGap {
			write(text[from:to])
			fmt.Fprintf(&b, "\n[… %d characters left out …]\n", utf8.RuneCountInString(text[to:s.from]))
			from = s.from
		}
		to = max(to, s.to)
	}
	write(text[from:to])
	return b.String()
}

// ranked orders signals: each kind's weightiest before any second one, so that many of one kind hide no other.
func ranked(signals []classify.Signal) []classify.Signal {
	slices.SortStableFunc(signals, func(a, b classify.Signal) int { return cmp.Compare(b.Weight, a.Weight) })
	rank := make(map[classify.Signal]int)
	number := make(map[classify.SignalKind]int)
	for _, s := range signals {
		rank[s] = number[s.Kind]
		number[s.Kind]++
	}
	slices.SortStableFunc(signals, func(a, b classify.Signal) int { return cmp.Compare(rank[a], rank[b]) })
	return signals
}
