package llm

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

func TestBuiltinPrompt(t *testing.T) {
	s, err := systemMessage(nil)
	require.NoError(t, err)
	for _, typ := range classify.Types() {
		assert.Contains(t, s, ". "+string(typ))
	}
	assert.Contains(t, s, "JSON", "some servers insist on the word")
	assert.Contains(t, s, "between markers is data")
	assert.True(t, strings.HasPrefix(s, "You judge"))
	assert.Less(t, len(s), 10_000, "about 2,300 tokens")

	var form struct{ Required []string }
	require.NoError(t, json.Unmarshal(schema, &form))
	for _, key := range form.Required {
		assert.Contains(t, s, `"`+key+`":`)
	}
}

// Each example must be what it teaches: an answer that parses to itself, and coaching as short as the prompt asks for.
func TestBuiltinExamples(t *testing.T) {
	raw, err := fs.ReadFile(Prompt(), "examples.jsonl")
	require.NoError(t, err)
	types := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		s, err := parseExample(line)
		require.NoError(t, err)
		var answer struct {
			Rejected        bool
			CoachingMessage *string `json:"coaching_message"`
		}
		_, written, _ := strings.Cut(s, "\nanswer: ")
		require.NoError(t, json.Unmarshal([]byte(written), &answer))
		v, err := parse(written)
		require.NoError(t, err)
		assert.Equal(t, answer.Rejected, v.WasRejectedCompletion, line)
		types[string(v.Type)+map[bool]string{true: " rejected"}[v.WasRejectedCompletion]] = true
		if answer.CoachingMessage != nil {
			assert.Equal(t, *answer.CoachingMessage, v.CoachingMessage)
			assert.LessOrEqual(t, len(v.CoachingMessage), 300, line)
		}
	}
	for _, want := range []string{"question", "completion", "error", "status", "status rejected"} {
		assert.True(t, types[want], want)
	}
}

func TestReplacedPrompts(t *testing.T) {
	const example = `{"name":"n","input":{"text":"MARK"},` +
		`"answer":{"reason":"r","type":"error","confidence":1,"coaching_message":null}}`
	builtin, err := systemMessage(nil)
	require.NoError(t, err)

	s, err := systemMessage(fstest.MapFS{"system.md": {Data: []byte("Judge like this.")}, ".DS_Store": {}})
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(s, "Judge like this.\n"))
	assert.Contains(t, s, "listening on 9090", "the examples stay")
	assert.Contains(t, s, "between markers is data", "the form stays")

	s, err = systemMessage(fstest.MapFS{"examples.jsonl": {Data: []byte("\ufeff\r\n" + example + "\r\n\r\n")}})
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(s, "You judge"))
	assert.Contains(t, s,
		"output: MARK\nanswer: "+`{"reason":"r","type":"error","confidence":1,"coaching_message":null}`+"\n")
	assert.NotContains(t, s, "listening on 9090")

	again := fstest.MapFS{}
	for _, name := range promptFiles {
		data, err := fs.ReadFile(Prompt(), name)
		require.NoError(t, err)
		again[name] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(string(data), "\n", "\r\n"))}
	}
	s, err = systemMessage(again)
	require.NoError(t, err)
	assert.Equal(t, builtin, s, "CRLF is LF")
}

func TestBrokenPrompts(t *testing.T) {
	const ok = `{"input":{"text":"x"},"answer":{"type":"status","confidence":1,"reason":"r","coaching_message":null}}`
	line := func(old, new string) string { return ok + "\n\n" + strings.Replace(ok, old, new, 1) + "\n" }
	for _, tt := range []struct {
		name, file, data string
		mode             fs.FileMode
		want             string
	}{
		{"empty", "system.md", " \n", 0, "system.md: empty"},
		{"too large", "system.md", strings.Repeat("x", 64<<10+1), 0, "system.md: larger than 64 KiB"},
		{"no examples", "examples.jsonl", "\n", 0, "examples.jsonl: empty"},
		{"broken JSON", "examples.jsonl", ok[:30], 0, "examples.jsonl:1: unexpected EOF"},
		{"two on a line", "examples.jsonl", ok + ok, 0, "examples.jsonl:1: something follows the object"},
		{"unknown field", "examples.jsonl", line(`"text"`, `"txt"`), 0, `examples.jsonl:3: json: unknown field "txt"`},
		{"no text", "examples.jsonl", line(`"x"`, `" "`), 0, "examples.jsonl:3: input.text is empty"},
		{"no answer", "examples.jsonl", `{"input":{"text":"x"}}`, 0,
			"examples.jsonl:1: answer: it is not a JSON object"},
		{"no type", "examples.jsonl", line("status", "stats"), 0,
			"examples.jsonl:3: answer: its type is not one of the five"},
		{"a misspelt name", "sytem.md", "x", 0,
			`"sytem.md" is not a file of a prompt; these are system.md and examples.jsonl`},
		{"a hidden file", ".system.md", "x", 0, "neither system.md nor examples.jsonl is there"},
		{"a folder", "system.md", "", fs.ModeDir, "system.md: not a regular file"},
		{"a pipe", "examples.jsonl", "", fs.ModeNamedPipe, "examples.jsonl: not a regular file"},
		{"a link to nothing", "examples.jsonl", "gone", fs.ModeSymlink | 0o777,
			"examples.jsonl: stat examples.jsonl: file does not exist"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			prompt := fstest.MapFS{tt.file: {Data: []byte(tt.data), Mode: tt.mode}}
			_, err := New(newClient(t, &fake{}), Options{Prompt: prompt})
			require.Error(t, err)
			assert.Equal(t, "llm: prompt: "+tt.want, strings.Replace(err.Error(), "open examples", "stat examples", 1))
		})
	}
}

func FuzzExample(f *testing.F) {
	raw, err := fs.ReadFile(Prompt(), "examples.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		s, err := parseExample(line)
		if err != nil {
			return
		}
		if _, err := parse(s[strings.LastIndex(s, "\nanswer: ")+1:]); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
	})
}
