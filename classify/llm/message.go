package llm

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"text/template"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

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
