package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/pflag"
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
	for _, bad := range []string{"testing", "net/http/httptest", "github.com/stretchr/testify",
		module + "/classify/classifytest"} {
		assert.False(t, slices.Contains(deps, bad), bad)
	}
}

// casesFile writes cases, each with its text and type, and returns the file's name.
func casesFile(t *testing.T, cases ...[2]string) string {
	t.Helper()
	var b strings.Builder
	for i, c := range cases {
		line, err := json.Marshal(map[string]any{"name": fmt.Sprint("case", i), "input": map[string]any{"text": c[0]},
			"want": map[string]any{"type": c[1]}})
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
			"model": body.Model,
			"choices": []any{map[string]any{"finish_reason": "stop",
				"message": map[string]any{"role": "assistant", "content": answer}}},
			"usage": map[string]any{"prompt_tokens": 1300, "completion_tokens": 50,
				"prompt_tokens_details": map[string]any{"cached_tokens": 1024}},
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
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("OPENAI_API_KEY", "sk-not-to-be-shown")
	t.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
	t.Setenv("SIDECOACH_MODEL", "")
	cases := casesFile(t, [2]string{"alpha", "question"}, [2]string{"beta", "status"})

	eval := func(want int, args ...string) (string, string) {
		t.Helper()
		out, errs, status := sidecoach(t, strings.NewReader(""), append([]string{"eval", "--cases", cases}, args...)...)
		require.Equal(t, want, status, errs)
		return out, errs
	}
	out, errs := eval(0, "--llm", "--repeat", "3", "--no-cache")
	assert.Empty(t, errs)
	assert.Regexp(t, `llm gpt-4.1-mini, prompt built-in [0-9a-f]{8}\n2 cases, 2 sure · threshold 0.80 · 3 times `+
		`each, 1 case unstable\n`, out)
	assert.Contains(t, out, "7800 prompt (6144 cached) and 300 completion tokens · 1350 tokens a verdict\n")
	assert.NotContains(t, out, "sk-not")

	out, _ = eval(0, "--llm", "--certain", "0.86", "--json")
	r, err := evaluate.ReadReport(strings.NewReader(out))
	require.NoError(t, err)
	assert.Regexp(t, `^cascade gpt-4.1-mini, prompt built-in [0-9a-f]{8}, certain 0.86$`, r.Classifier)
	assert.Equal(t, 2, r.Cost.Metered, "the heuristic is certain of neither")

	baseline := filepath.Join(t.TempDir(), "report.json")
	require.NoError(t, os.WriteFile(baseline, []byte(out), 0o600))
	out, _ = eval(0, "--llm", "--certain", "0.86", "--model", "qwen3", "--baseline", baseline)
	assert.Regexp(t, `not measured alike: classifier cascade gpt-4.1-mini, .* before, cascade qwen3, .* now\n`, out)

	output := filepath.Join(t.TempDir(), "output.txt")
	require.NoError(t, os.WriteFile(output, []byte("alpha"), 0o600))
	out, errs, status := sidecoach(t, strings.NewReader(""), "--llm", "--json", output)
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
		fmt.Fprint(w, `{"choices":[{"finish_reason":"stop","message":{"content":"{\"type\":\"question\",`+
			`\"confidence\":1,\"reason\":\"x\",\"coaching_message\":null}"}}]}`)
	}))
	defer server.Close()
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	ask := func(args ...string) string {
		_, errs, status := sidecoach(t, strings.NewReader("Which one?"),
			append([]string{"--llm", "--base-url", server.URL + "/v1"}, args...)...)
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
		fmt.Fprint(w, `{"choices":[{"finish_reason":"stop","message":{"content":"{\"type\":\"question\",`+
			`\"confidence\":1,\"reason\":\"x\",\"coaching_message\":null}"}}]}`)
	}))
	defer server.Close()
	_, errs, status = sidecoach(t, strings.NewReader("Which one?"), "--llm", "--base-url", server.URL+"/v1", "--prompt",
		dir)
	require.Equal(t, 0, status, errs)
	assert.Contains(t, <-seen, "Zebra first.")
}

func TestHostileCases(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "cases.jsonl")
	line, err := json.Marshal(map[string]any{"name": "\x1b[31m\u202ename", "input": map[string]any{"text": "\x1b[2J?"},
		"want": map[string]any{"type": "error"}, "meta": map[string]any{"lang": "\x1b[31m"}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, line, 0o600))
	report, _, status := sidecoach(t, strings.NewReader(""), "eval", name, "--json")
	require.Equal(t, 0, status)
	baseline := filepath.Join(dir, "base\x1b.json")
	require.NoError(t, os.WriteFile(baseline, []byte(report), 0o600))
	for _, args := range [][]string{{"--by", "lang", "--baseline", baseline, "--threshold", "0"}, {"--json"},
		{"--by", "\x1b", "--baseline", "\x1b"}} {
		out, errs, _ := sidecoach(t, strings.NewReader(""), append([]string{"eval", name}, args...)...)
		for line := range strings.Lines(out + errs) {
			line = strings.TrimSuffix(line, "\n")
			assert.Equal(t, visible(line), line, args)
		}
	}
}

func TestPageIsReplacedAsAWhole(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "page.html")
	require.NoError(t, os.WriteFile(name, []byte("old"), 0o640))
	require.NoError(t, os.WriteFile(name+".new0", []byte("of another"), 0o600))

	out, errs, status := sidecoach(t, strings.NewReader(""), "eval", casesFile(t, [2]string{"Which one?", "question"}),
		"--html", name)
	require.Equal(t, 0, status, out, errs)
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Contains(t, string(b), "</html>")
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "others cannot read outputs of an agent")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "no file is left behind")
	b, err = os.ReadFile(name + ".new0")
	require.NoError(t, err)
	assert.Equal(t, "of another", string(b))
}

// One wrong completion in the shell must not cost anybody their labelled cases.
func TestPageReplacesNoCases(t *testing.T) {
	dir := t.TempDir()
	cases := filepath.Join(dir, "c.jsonl")
	line := `{"name":"a","input":{"text":"Which one?"},"want":{"type":"question"}}` + "\n"
	require.NoError(t, os.WriteFile(cases, []byte(line), 0o644))
	_, stderr, status := sidecoach(t, strings.NewReader(""), "eval", "--cases", filepath.Join(dir, "*.jsonl"), "--html",
		cases)
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, stderr, "ends in .html")
	got, err := os.ReadFile(cases)
	require.NoError(t, err)
	assert.Equal(t, line, string(got))
}

// Several prompts and models are one run: one table, one page, each against the one before. Kept answers are not
// asked for again, and another prompt is.
func TestEvalOfSeveral(t *testing.T) {
	var calls atomic.Int32
	server := judgeServer(t, func(request string) string {
		calls.Add(1)
		if strings.Contains(request, "alpha") {
			return `{"type":"question","confidence":0.9}`
		}
		return `{"type":"status","rejected":true,"confidence":0.95,"coaching_message":"Run the tests now and paste ` +
			`the summary."}`
	})
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("OPENAI_API_KEY", "")
	prompt := filepath.Join(t.TempDir(), "mine")
	_, errs, status := sidecoach(t, strings.NewReader(""), "prompt", prompt)
	require.Equal(t, 0, status, errs)
	cases := casesFile(t, [2]string{"alpha", "question"}, [2]string{"beta", "completion"})
	page := filepath.Join(t.TempDir(), "page.html")
	eval := func(want int, args ...string) (string, string) {
		t.Helper()
		args = append([]string{"eval", "--cases", cases, "--judge", "api", "--base-url", server.URL, "--model", "x"}, args...)
		out, errs, status := sidecoach(t, strings.NewReader(""), args...)
		require.Equal(t, want, status, errs)
		return out, errs
	}
	out, _ := eval(0, "--model", "y", "--html", page)
	assert.EqualValues(t, 4, calls.Load())
	assert.Regexp(t, `(?m)^accuracy +0\.500 \(1/2\) +0\.500 \(1/2\)$`, out)
	assert.Regexp(t, `(?m)^changes, p +no flips 1\.000$`, out)
	assert.Regexp(t, `(?m)^A: llm x, prompt built-in `, out)
	assert.Regexp(t, `(?m)^Against llm x, prompt built-in .*, 2 cases in both:$`, out)
	b, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(b), "<h1>A: llm x, prompt built-in")

	out, _ = eval(0, "--json")
	assert.EqualValues(t, 4, calls.Load(), "answers are kept")
	before := filepath.Join(t.TempDir(), "before.json")
	require.NoError(t, os.WriteFile(before, []byte(out), 0o600))
	assert.Contains(t, out, `"kept": 2,`)
	require.NoError(t, os.WriteFile(filepath.Join(prompt, "system.md"), []byte("Judge. JSON."), 0o600))
	out, _ = eval(0, "--prompt", prompt, "--baseline", before, "--fail-on-regression", "--require", "broken<=0")
	assert.EqualValues(t, 6, calls.Load(), "another prompt asks")
	assert.Contains(t, out, "prompt "+prompt)
	eval(0, "--no-cache")
	assert.EqualValues(t, 8, calls.Load())

	// More broken than fixed is a regression.
	good := casesFile(t, [2]string{"Which database should I use, Postgres or SQLite?", "question"},
		[2]string{"I'm still migrating the tests; next come the docs.", "status"})
	out, _, status = sidecoach(t, strings.NewReader(""), "eval", "--cases", good, "--json")
	require.Equal(t, 0, status)
	require.NoError(t, os.WriteFile(before, []byte(out), 0o600))
	wrong := judgeServer(t, func(string) string { return `{"type":"error","confidence":0.9}` })
	out, errs, status = sidecoach(t, strings.NewReader(""), "eval", "--cases", good, "--judge", "api", "--base-url",
		wrong.URL, "--model", "x", "--baseline", before, "--fail-on-regression")
	require.Equal(t, exitUnmet, status)
	assert.Contains(t, errs, "sidecoach: not met: no regression (0 fixed, ")
	assert.Contains(t, out, "broken  case")
}

// Messages are checked as the agent would get them, whoever words them.
func TestEvalOfMessages(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cases.jsonl")
	line := `{"name":"%s","input":{"text":"Fixed the login redirect, should work now."},` +
		`"want":{"type":"status","was_rejected_completion":true,"message":{%s}}}` + "\n"
	text := fmt.Sprintf(line, "good", `"contains":["System Coach"],"max_chars":400`) + fmt.Sprintf(line, "bad",
		`"matches":"^never"`)
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	out, errs, status := sidecoach(t, strings.NewReader(""), "eval", name)
	require.Equal(t, 0, status, errs)
	assert.Regexp(t, `(?m)^message +0\.500 \(1/2\)`, out)
}

// A third of failed calls is no success.
func TestEvalOfAFailingJudge(t *testing.T) {
	for failing, want := range map[string]int{"a": 1, "abc": 1, "": 0} {
		server := judgeServer(t, func(request string) string {
			for _, c := range failing {
				if strings.Contains(request, strings.Repeat(string(c), 3)) {
					return "no verdict"
				}
			}
			return `{"type":"question","confidence":0.9}`
		})
		cases := casesFile(t, [2]string{"aaa", "question"}, [2]string{"bbb", "question"}, [2]string{"ccc", "question"})
		t.Setenv("OPENAI_API_KEY", "")
		_, errs, status := sidecoach(t, strings.NewReader(""), "eval", "--cases", cases, "--judge", "api", "--base-url",
			server.URL, "--no-cache")
		assert.Equal(t, want, status, errs)
		if want == 1 {
			assert.Contains(t, errs, fmt.Sprintf("sidecoach: %d of 3 calls failed: llm: unparseable answer", len(failing)))
		}
	}
}

// A script answers in the model's place: it keeps each question until somebody has written the answer.
func TestEvalOfAReader(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is one for a POSIX shell")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "answer.sh")
	require.NoError(t, os.WriteFile(script, []byte(`cd "$1"; cat >$$; mv $$ "$(cksum <$$)"; cat answer 2>/dev/null`), 0o600))
	cases := casesFile(t, [2]string{"Which one?", "question"}, [2]string{"Fixed, should work.", "status"},
		[2]string{"Hm.", "status"})
	eval := func(want int) string {
		t.Helper()
		out, errs, status := sidecoach(t, strings.NewReader(""), "eval", "--cases", cases, "--judge-command",
			"sh "+script+" "+dir, "--cache", filepath.Join(dir, "cache"))
		require.Equal(t, want, status, errs)
		return out
	}
	eval(1)
	questions, err := filepath.Glob(filepath.Join(dir, "[0-9]*"))
	require.NoError(t, err)
	require.Len(t, questions, 3)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "answer"), []byte(`{"type":"question","confidence":0.9}`), 0o600))
	assert.Regexp(t, `(?m)^accuracy +0\.333 \(1/3\)`, eval(0))
	require.NoError(t, os.Remove(script))
	assert.Regexp(t, `(?m)^accuracy +0\.333 \(1/3\)`, eval(0), "the answers are kept")
}

func TestHowLongAnLLMIsWaitedFor(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "k")
	for given, want := range map[string]time.Duration{"": 0, "--timeout=1m30s": 90 * time.Second,
		"--timeout=50ms": 50 * time.Millisecond} {
		var o judgeFlags
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		o.register(f)
		require.NoError(t, f.Parse(strings.Fields("--llm "+given)))
		cfg, err := o.config()
		require.NoError(t, err)
		assert.Equal(t, want, cfg.Timeout, given)
	}
}
