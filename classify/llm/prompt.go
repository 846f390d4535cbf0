package llm

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
)

//go:embed prompt/system.md prompt/examples.jsonl
var builtin embed.FS

//go:embed form.md
var form string // what no prompt can replace: how the data is marked, how the answer looks

//go:embed schema.json
var schema []byte

// Prompt returns the built-in prompt: "system.md", how to judge, and "examples.jsonl", judged outputs, one a line. A copy of
// them, changed, is what [Options].Prompt takes.
func Prompt() fs.FS {
	sub, err := fs.Sub(builtin, "prompt")
	if err != nil { // it is a valid path
		panic(err)
	}
	return sub
}

const maxPrompt = 64 << 10 // bytes of a file

// system words the static part of the prompt, from fsys and, where a file is missing there, from the built-in one.
func system(fsys fs.FS) (string, error) {
	rules, err := read(fsys, "system.md")
	if err != nil {
		return "", err
	}
	lines, err := read(fsys, "examples.jsonl")
	if err != nil {
		return "", err
	}
	examples, err := parseExamples("examples.jsonl", lines)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(strings.TrimSpace(rules))
	b.WriteString("\n")
	for _, e := range examples {
		b.WriteString("\n" + e.String())
	}
	b.WriteString("\n" + strings.TrimSpace(form) + "\n")
	return b.String(), nil
}

func read(fsys fs.FS, name string) (string, error) {
	// To open a pipe or a device may wait for ever.
	if info, err := fs.Stat(fsys, name); err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("prompt: %s is %s, not a regular file", name, kindOf(info.Mode()))
	}
	file, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := fs.Lstat(fsys, name); err == nil { // else the built-in one would be taken for what was meant
			return "", fmt.Errorf("prompt: %s is a link to a file that is not there", name)
		}
		file, err = Prompt().Open(name)
	}
	if err != nil {
		return "", fmt.Errorf("prompt: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxPrompt+1))
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	switch {
	case err != nil:
		return "", fmt.Errorf("prompt: read %s: %w", name, err)
	case len(text) > maxPrompt:
		return "", fmt.Errorf("prompt: %s is larger than 64 KiB", name)
	case !utf8.Valid(text):
		return "", fmt.Errorf("prompt: %s is not UTF-8", name)
	case len(bytes.TrimSpace(text)) == 0:
		return "", fmt.Errorf("prompt: %s is empty", name)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n"), nil
}

// kindOf says what is no regular file.
func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// example is one line of examples.jsonl.
type example struct {
	Name   string         `json:"name"`
	Input  classify.Input `json:"input"`
	Answer *verdictJSON   `json:"answer"`
}

// verdictJSON is a verdict as a model should write it.
type verdictJSON struct {
	Type            classify.OutputType `json:"type"`
	Confidence      *float64            `json:"confidence"`
	Reason          string              `json:"reason"`
	CoachingMessage *string             `json:"coaching_message"`
}

func parseExamples(name, lines string) ([]example, error) {
	var examples []example
	n := 0
	for text := range strings.Lines(lines) {
		n++
		if strings.TrimSpace(text) == "" {
			continue
		}
		e, err := parseExample(text)
		if err != nil {
			return nil, fmt.Errorf("prompt: %s:%d: %w", name, n, err)
		}
		examples = append(examples, e)
	}
	return examples, nil
}

func parseExample(text string) (e example, err error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return e, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return e, errors.New("something follows the object")
	}
	a := e.Answer
	switch {
	case strings.TrimSpace(e.Input.Text) == "":
		return e, errors.New("input.text is empty")
	case a == nil:
		return e, errors.New("answer is missing")
	case !a.Type.Valid():
		return e, fmt.Errorf("answer.type is none of %v", classify.Types())
	case a.Confidence == nil || *a.Confidence < 0 || *a.Confidence > 1:
		return e, errors.New("answer.confidence is not from 0 to 1")
	case a.CoachingMessage != nil && a.Type != classify.Status:
		return e, errors.New("answer.coaching_message belongs to a status only")
	case a.CoachingMessage != nil && strings.TrimSpace(*a.CoachingMessage) == "":
		return e, errors.New("answer.coaching_message is empty: null is none")
	}
	return e, nil
}

// String is the example as the judge sees it.
func (e example) String() string {
	var b strings.Builder
	if e.Input.Request != "" {
		b.WriteString("request: " + e.Input.Request + "\n")
	}
	if c := surroundings(e.Input, window{}, "", nil, fullScale); c != "" {
		b.WriteString("context: " + c + "\n")
	}
	b.WriteString("output: " + e.Input.Text + "\nanswer: ")
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e.Answer); err != nil { // it was read from JSON
		panic(err)
	}
	return b.String()
}
