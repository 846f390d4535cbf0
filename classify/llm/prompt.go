package llm

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
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
