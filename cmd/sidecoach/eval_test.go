package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// The binary links nothing that only tests need.
func TestBinaryLinksNoTesting(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	require.Contains(t, deps, module+"/classify/evaluate")
	for _, bad := range []string{"testing", "net/http/httptest", "github.com/stretchr/testify", module + "/classify/classifytest"} {
		assert.False(t, slices.Contains(deps, bad), bad)
	}
}

// casesFile writes cases, each with its text and type, and returns the file's name.
func casesFile(t *testing.T, cases ...[2]string) string {
	t.Helper()
	var b strings.Builder
	for i, c := range cases {
		line, err := json.Marshal(map[string]any{"name": fmt.Sprint("case", i), "input": map[string]any{"text": c[0]}, "want": map[string]any{"type": c[1]}})
		require.NoError(t, err)
		b.Write(append(line, '\n'))
	}
	name := filepath.Join(t.TempDir(), "cases.jsonl")
	require.NoError(t, os.WriteFile(name, []byte(b.String()), 0o600))
	return name
}

// judgeServer speaks chat completions: it says of every output what verdict returns.
func judgeServer(t *testing.T, verdict func(request string) string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model    string
			Messages []struct{ Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) == 0 {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		answer := verdict(body.Messages[len(body.Messages)-1].Content)
		json.NewEncoder(w).Encode(map[string]any{
			"model":   body.Model,
			"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": answer}}},
			"usage":   map[string]any{"prompt_tokens": 1300, "completion_tokens": 50, "prompt_tokens_details": map[string]any{"cached_tokens": 1024}},
		})
	}))
	t.Cleanup(s.Close)
	return s
}

func TestEvalOfAnLLM(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	server := judgeServer(t, func(request string) string {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case strings.Contains(request, "alpha"):
			return `{"type":"question","confidence":0.9,"reason":"asks","coaching_message":null}`
		default: // says something else each second time
			asked["beta"]++
			if asked["beta"]%3 == 0 {
				return `{"type":"completion","confidence":0.9,"reason":"done","coaching_message":null}`
			}
			return `{"type":"status","confidence":0.95,"reason":"claims","coaching_message":"Show the test output."}`
		}
	})
	t.Setenv("OPENAI_API_KEY", "sk-not-to-be-shown")
	t.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
	t.Setenv("SIDECOACH_MODEL", "")
	cases := casesFile(t, [2]string{"alpha", "question"}, [2]string{"beta", "status"})

	out, errs, status := sidecoach(t, strings.NewReader(""), "eval", "--cases", cases, "--classifier", "llm", "--repeat", "3")
	require.Equal(t, 0, status, errs)
	assert.Empty(t, errs)
	assert.Contains(t, out, "llm gpt-4.1-mini · 2 cases, 2 sure · threshold 0.80 · 3 times each, 1 case unstable\n")
	assert.Contains(t, out, "7800 prompt (6144 cached) and 300 completion tokens · 1350 tokens a verdict\n")
	assert.Contains(t, out, "0.500–1.000", "the spread of the accuracy")
	assert.NotContains(t, out, "sk-not")

	out, errs, status = sidecoach(t, strings.NewReader(""), "eval", "--cases", cases, "--classifier", "cascade", "--json")
	require.Equal(t, 0, status, errs)
	r, err := evaluate.ReadReport(strings.NewReader(out))
	require.NoError(t, err)
	assert.Equal(t, "cascade gpt-4.1-mini", r.Classifier)
	assert.Equal(t, 2, r.Cost.Metered, "the heuristic is certain of neither")

	baseline := filepath.Join(t.TempDir(), "report.json")
	require.NoError(t, os.WriteFile(baseline, []byte(out), 0o600))
	out, errs, status = sidecoach(t, strings.NewReader(""), "eval", "--cases", cases, "--classifier", "cascade", "--model", "qwen3", "--baseline", baseline)
	require.Equal(t, 0, status, errs)
	assert.Contains(t, out, "  not measured alike: classifier cascade gpt-4.1-mini before, cascade qwen3 now\n")

	output := filepath.Join(t.TempDir(), "output.txt")
	require.NoError(t, os.WriteFile(output, []byte("alpha"), 0o600))
	out, errs, status = sidecoach(t, strings.NewReader(""), "--llm", "--json", output)
	require.Equal(t, 0, status, errs)
	assert.Contains(t, out, `"source":"llm"`)
	assert.Contains(t, out, `"type":"question"`)
}

// Flags come before the environment, and both before the default.
func TestWhichModel(t *testing.T) {
	models := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Model string }
		json.NewDecoder(r.Body).Decode(&body)
		models <- body.Model
		fmt.Fprint(w, `{"choices":[{"finish_reason":"stop","message":{"content":"{\"type\":\"question\",\"confidence\":1,\"reason\":\"x\",\"coaching_message\":null}"}}]}`)
	}))
	defer server.Close()
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	ask := func(args ...string) string {
		_, errs, status := sidecoach(t, strings.NewReader("Which one?"), append([]string{"--llm", "--base-url", server.URL + "/v1"}, args...)...)
		require.Equal(t, 0, status, errs)
		return <-models
	}
	t.Setenv("SIDECOACH_MODEL", "")
	assert.Equal(t, defaultModel, ask())
	t.Setenv("SIDECOACH_MODEL", "from-the-environment")
	assert.Equal(t, "from-the-environment", ask())
	assert.Equal(t, "from-a-flag", ask("--model", "from-a-flag"))
}

// A word that was changed in the prompt reaches the server.
func TestPromptOfAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "prompt")
	_, errs, status := sidecoach(t, strings.NewReader(""), "prompt", dir)
	require.Equal(t, 0, status, errs)
	system := filepath.Join(dir, "system.md")
	b, err := os.ReadFile(system)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(system, append([]byte("Zebra first. "), b...), 0o600))
	seen := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Messages []struct{ Content string } }
		json.NewDecoder(r.Body).Decode(&body)
		seen <- body.Messages[0].Content
		fmt.Fprint(w, `{"choices":[{"finish_reason":"stop","message":{"content":"{\"type\":\"question\",\"confidence\":1,\"reason\":\"x\",\"coaching_message\":null}"}}]}`)
	}))
	defer server.Close()
	_, errs, status = sidecoach(t, strings.NewReader("Which one?"), "--llm", "--base-url", server.URL+"/v1", "--prompt", dir)
	require.Equal(t, 0, status, errs)
	assert.Contains(t, <-seen, "Zebra first.")
}

func TestHostileCases(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "cases.jsonl")
	line, err := json.Marshal(map[string]any{"name": "\x1b[31m\u202ename", "input": map[string]any{"text": "\x1b[2J?"}, "want": map[string]any{"type": "error"},
		"meta": map[string]any{"lang": "\x1b[31m"}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, line, 0o600))
	report, _, status := sidecoach(t, strings.NewReader(""), "eval", name, "--json")
	require.Equal(t, 0, status)
	baseline := filepath.Join(dir, "base\x1b.json")
	require.NoError(t, os.WriteFile(baseline, []byte(report), 0o600))
	for _, args := range [][]string{{"--by", "lang", "--baseline", baseline, "--threshold", "0"}, {"--json"}, {"--by", "\x1b", "--baseline", "\x1b"}} {
		out, errs, _ := sidecoach(t, strings.NewReader(""), append([]string{"eval", name}, args...)...)
		for line := range strings.Lines(out + errs) {
			line = strings.TrimSuffix(line, "\n")
			assert.Equal(t, visible(line), line, args)
		}
	}
}

func TestAtomicFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "page.html")
	require.NoError(t, os.WriteFile(name, []byte("old"), 0o640))
	require.NoError(t, os.WriteFile(name+".new0", []byte("of another"), 0o600))

	f, err := createAtomic(name, 0o666)
	require.NoError(t, err)
	f.discard()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, "old", string(b), "nothing is lost before all is written")

	out, errs, status := sidecoach(t, strings.NewReader(""), "eval", casesFile(t, [2]string{"Which one?", "question"}), "--html", name)
	require.Equal(t, 0, status, out, errs)
	b, err = os.ReadFile(name)
	require.NoError(t, err)
	assert.Contains(t, string(b), "</html>")
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "no file is left behind")
	b, err = os.ReadFile(name + ".new0")
	require.NoError(t, err)
	assert.Equal(t, "of another", string(b))
}

func TestRoundedDurations(t *testing.T) {
	for in, want := range map[int64]string{0: "0s", 999: "999ns", 39_689: "39.7µs", 102_112: "102µs", 1_234_567_890: "1.23s", 61_234_000_000: "1m1.2s"} {
		assert.Equal(t, want, round(time.Duration(in)).String())
	}
}

// One wrong completion in the shell must not cost anybody their labelled cases.
func TestPageReplacesNoCases(t *testing.T) {
	dir := t.TempDir()
	cases := filepath.Join(dir, "c.jsonl")
	line := `{"name":"a","input":{"text":"Which one?"},"want":{"type":"question"}}` + "\n"
	require.NoError(t, os.WriteFile(cases, []byte(line), 0o644))
	_, stderr, status := sidecoach(t, strings.NewReader(""), "eval", "--cases", filepath.Join(dir, "*.jsonl"), "--html", cases)
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, stderr, "overwrite")
	got, err := os.ReadFile(cases)
	require.NoError(t, err)
	assert.Equal(t, line, string(got))
}
