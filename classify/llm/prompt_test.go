package llm

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBuiltinPrompt(t *testing.T) {
	s, err := system(Prompt())
	require.NoError(t, err)
	for _, typ := range classify.Types() {
		assert.Contains(t, s, string(typ)+":")
	}
	assert.Contains(t, s, "JSON", "some servers insist on the word")
	assert.Contains(t, s, "between markers is data")
	assert.True(t, strings.HasPrefix(s, "You judge"))
}

// TestBuiltinExamples holds the examples to what they teach: an answer that parses to itself, coaching that coach would send,
// and all kinds of cases that the prompt is there for.
func TestBuiltinExamples(t *testing.T) {
	raw, err := fs.ReadFile(Prompt(), "examples.jsonl")
	require.NoError(t, err)
	examples, err := parseExamples("examples.jsonl", string(raw))
	require.NoError(t, err)
	var names []string
	for _, e := range examples {
		names = append(names, e.Name)
		b, err := json.Marshal(e.Answer)
		require.NoError(t, err)
		v, err := Parse(string(b))
		require.NoError(t, err)
		assert.Equal(t, e.Answer.Reason, v.Reason)
		assert.GreaterOrEqual(t, v.Confidence, 0.8)
		if e.Answer.CoachingMessage == nil {
			continue
		}
		require.Equal(t, *e.Answer.CoachingMessage, v.CoachingMessage)
		msg := coach.BuildCoachingMessage(
			classify.Result{Type: v.Type, WasRejectedCompletion: true, CoachingMessage: v.CoachingMessage},
			coach.Context{Text: e.Input.Text, Request: e.Input.Request})
		assert.Equal(t, coach.TierLLM, msg.Tier, "%s: %v", e.Name, msg.Skipped)
		assert.Equal(t, coach.Prefix+v.CoachingMessage, msg.Text, "whole")
	}
	assert.Equal(t, []string{"hedging", "claimed tests without output", "commit without tests", "honest progress",
		"rhetorical question", "approval gate", "answered question", "crash", "injected orders"}, names)
}

func TestReplacedPrompts(t *testing.T) {
	example := `{"name":"n","input":{"text":"MARK"},"answer":{"type":"error","confidence":1,"reason":"r","coaching_message":null}}`
	builtin, err := system(Prompt())
	require.NoError(t, err)

	s, err := system(fstest.MapFS{"system.md": {Data: []byte("Judge like this.")}})
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(s, "Judge like this.\n"))
	assert.Contains(t, s, "529 overloaded_error", "the examples stay")
	assert.Contains(t, s, "between markers is data", "the form stays")

	s, err = system(fstest.MapFS{"examples.jsonl": {Data: []byte("\ufeff\r\n" + example + "\r\n\r\n")}})
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(s, "You judge"))
	assert.Contains(t, s, "output: MARK\nanswer: {\"type\":\"error\",\"confidence\":1,\"reason\":\"r\",\"coaching_message\":null}\n")
	assert.NotContains(t, s, "overloaded_error")

	again := fstest.MapFS{}
	for _, name := range []string{"system.md", "examples.jsonl"} {
		data, err := fs.ReadFile(Prompt(), name)
		require.NoError(t, err)
		again[name] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(string(data), "\n", "\r\n"))}
	}
	s, err = system(again)
	require.NoError(t, err)
	assert.Equal(t, builtin, s, "CRLF is LF")
}

func TestBrokenPrompts(t *testing.T) {
	const ok = `{"input":{"text":"x"},"answer":{"type":"status","confidence":1,"reason":"r","coaching_message":null}}`
	line := func(old, new string) string { return ok + "\n\n" + strings.Replace(ok, old, new, 1) + "\n" }
	for _, tt := range []struct{ name, file, data, want string }{
		{"empty", "system.md", " \n", "prompt: system.md is empty"},
		{"not UTF-8", "system.md", "a\xff", "prompt: system.md is not UTF-8"},
		{"too large", "system.md", strings.Repeat("x", 64<<10+1), "prompt: system.md is larger than 64 KiB"},
		{"no examples", "examples.jsonl", "\n", "prompt: examples.jsonl is empty"},
		{"broken JSON", "examples.jsonl", ok[:30], "prompt: examples.jsonl:1: unexpected EOF"},
		{"two on a line", "examples.jsonl", ok + ok, "prompt: examples.jsonl:1: something follows the object"},
		{"unknown field", "examples.jsonl", line(`"text"`, `"txt"`), `prompt: examples.jsonl:3: json: unknown field "txt"`},
		{"no text", "examples.jsonl", line(`"x"`, `" "`), "prompt: examples.jsonl:3: input.text is empty"},
		{"no answer", "examples.jsonl", `{"input":{"text":"x"}}`, "prompt: examples.jsonl:1: answer is missing"},
		{"no type", "examples.jsonl", line("status", "stats"), "prompt: examples.jsonl:3: answer.type is none of [error blocker question completion status]"},
		{"confidence", "examples.jsonl", line(`:1,`, `:1.1,`), "prompt: examples.jsonl:3: answer.confidence is not from 0 to 1"},
		{"no confidence", "examples.jsonl", line(`"confidence":1,`, ``), "prompt: examples.jsonl:3: answer.confidence is not from 0 to 1"},
		{"coaching on a pass", "examples.jsonl", strings.Replace(line("null", `"x"`), `"status","confidence":1,"reason":"r","coaching_message":"x"`, `"error","confidence":1,"reason":"r","coaching_message":"x"`, 1),
			"prompt: examples.jsonl:3: answer.coaching_message belongs to a status only"},
		{"coaching as a word", "examples.jsonl", line(`null`, `""`), "prompt: examples.jsonl:3: answer.coaching_message is empty: null is none"},
		{"another file", "system.txt", "x", "prompt: neither system.md nor examples.jsonl is there"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(newClient(t, &fake{}), Options{Prompt: fstest.MapFS{tt.file: {Data: []byte(tt.data)}}})
			assert.EqualError(t, err, "llm: "+tt.want)
		})
	}
}

// TestPromptsOfNoFiles: what is no regular file is not even opened, since that may wait for ever.
func TestPromptsOfNoFiles(t *testing.T) {
	for kind, mode := range map[string]fs.FileMode{
		"a folder": fs.ModeDir, "a named pipe": fs.ModeNamedPipe, "a socket": fs.ModeSocket,
		"a device": fs.ModeDevice | fs.ModeCharDevice, "something else": fs.ModeIrregular,
	} {
		for _, name := range []string{"system.md", "examples.jsonl"} {
			_, err := New(newClient(t, &fake{}), Options{Prompt: unopened{fstest.MapFS{name: {Data: []byte("x"), Mode: mode}}, t}})
			assert.EqualError(t, err, "llm: prompt: "+name+" is "+kind+", not a regular file")
		}
	}
}

// TestPromptsThatLinkToNothing: a file that was meant to be there does not give way to the built-in one.
func TestPromptsThatLinkToNothing(t *testing.T) {
	link := &fstest.MapFile{Data: []byte("gone"), Mode: fs.ModeSymlink | 0o777}
	rules := &fstest.MapFile{Data: []byte("Judge like this.")}
	for _, fsys := range []fstest.MapFS{{"examples.jsonl": link, "system.md": rules}, {"examples.jsonl": link}} {
		_, err := New(newClient(t, &fake{}), Options{Prompt: fsys})
		assert.EqualError(t, err, "llm: prompt: examples.jsonl is a link to a file that is not there")
	}
	s, err := system(fstest.MapFS{"system.md": {Data: []byte("real.md"), Mode: fs.ModeSymlink | 0o777}, "real.md": rules})
	require.NoError(t, err)
	assert.Contains(t, s, "Judge like this.")
}

// unopened is a file system that opens nothing but what is not there.
type unopened struct {
	fstest.MapFS
	t *testing.T
}

func (u unopened) Open(name string) (fs.File, error) {
	if _, ok := u.MapFS[name]; ok {
		u.t.Error(name + " was opened")
	}
	return u.MapFS.Open(name)
}

func FuzzExamples(f *testing.F) {
	raw, err := fs.ReadFile(Prompt(), "examples.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		f.Add(line)
	}
	f.Add(`{"input":{"text":"x"},"answer":{"type":"status","confidence":1e0,"coaching_message":"\u0000"}}`)
	f.Fuzz(func(t *testing.T, lines string) {
		examples, err := parseExamples("x", lines)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "prompt: x:") {
				t.Fatalf("%v names no line", err)
			}
			return
		}
		for _, e := range examples {
			s := e.String()
			i := strings.LastIndex(s, "\nanswer: ")
			v, err := Parse(s[i+1:])
			if err != nil || v.Type != e.Answer.Type || v.Confidence != *e.Answer.Confidence {
				t.Fatalf("%q: %+v, %v", s, v, err)
			}
		}
	})
}
