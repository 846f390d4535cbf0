package classifytest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/classifytest"
	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/llm"
)

// judgeWith returns a classifier with the built-in prompt, or another, on cassettes.
func judgeWith(t testing.TB, c llm.Cache, baseURL string, prompt fs.FS) *llm.Classifier {
	t.Helper()
	client, err := llm.NewClient(llm.Config{Model: "gpt-4.1-mini", Key: key, BaseURL: baseURL, Cache: c, Retries: -1})
	require.NoError(t, err)
	judge, err := llm.New(client, llm.Options{Prompt: prompt})
	require.NoError(t, err)
	return judge
}

func promptCases(t testing.TB) []evaluate.Case {
	t.Helper()
	cases, err := evaluate.LoadCases(os.DirFS("testdata/prompt"), "cases.jsonl")
	require.NoError(t, err)
	return cases
}

func cassetteFiles(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	return list
}

// recording sets what the environment says about recording.
func recording(t *testing.T, how string) { t.Setenv("SIDECOACH_RECORD", how) }

// The built-in prompt on cassettes. As long as their origin is "written by hand", this shows that the prompt goes out
// as it was reviewed and that such answers are read rightly, and nothing about a model.
func TestPrompt(t *testing.T) {
	classifytest.Run(t, judgeWith(t, classifytest.Replay(t, "testdata/cassettes"), "", nil), promptCases(t))
}

const oldRule, newRule = "Take the first that fits.", "Take the first that matches."

func changedPrompt(t *testing.T) fs.FS {
	t.Helper()
	rules, err := fs.ReadFile(llm.Prompt(), "system.md")
	require.NoError(t, err)
	require.Contains(t, string(rules), oldRule)
	return fstest.MapFS{"system.md": {Data: []byte(strings.Replace(string(rules), oldRule, newRule, 1))}}
}

// With another word in the prompt the test of the prompt fails, says where, and how to go on.
func TestAChangedPromptHasNoCassettes(t *testing.T) {
	recording(t, "")
	f := newFake(t, "TestPrompt")
	f.run(func() {
		judge := judgeWith(t, classifytest.Replay(f, "testdata/cassettes"), "", changedPrompt(t))
		for range 2 {
			_, err := judge.Classify(t.Context(), promptCases(t)[0].Input)
			assert.ErrorContains(t, err, "no cassette for this request")
		}
	})
	assert.Contains(t, f.text(), "SIDECOACH_RECORD=1 go test -count=1 -run '^TestPrompt$'\n")
	assert.Contains(t, f.text(), "SIDECOACH_RECORD=hand go test")
}

func TestRecording(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "cassettes")
	server := classifytest.NewServer(t, classifytest.Verdict{Type: classify.Question, Confidence: 0.9,
		Reason: "asks " + key}.Answer())
	in := classify.Input{Text: "Which of the two ports shall I use?"}
	ask := func(how string, inputs ...classify.Input) *fake {
		t.Helper()
		recording(t, how)
		f := newFake(t, "TestX")
		return f.run(func() {
			judge := judgeWith(t, classifytest.Replay(f, dir), server.URL, nil)
			for _, in := range inputs {
				r, err := judge.Classify(t.Context(), in)
				if assert.NoError(t, err) {
					assert.Equal(t, classify.Question, r.Type)
				}
			}
		})
	}
	assert.Empty(t, ask("1", in).text())
	assert.Empty(t, ask("1", in).text())
	assert.Empty(t, ask("", in).text())
	assert.Equal(t, 1, server.Calls(), "recorded once")
	files := cassetteFiles(t, dir)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	assert.NotContains(t, string(text), key)
	assert.Contains(t, string(text), `"origin": "recorded from test-model on 2`)
	for _, broken := range []string{"{", regexp.MustCompile(`"origin": ".*"`).ReplaceAllString(string(text), `"origin": ""`),
		strings.Replace(string(text), "gpt-4.1-mini", "gpt-5", 1)} {
		require.NoError(t, os.WriteFile(files[0], []byte(broken), 0o600))
		recording(t, "")
		f := newFake(t, "TestX")
		f.run(func() {
			_, err := judgeWith(t, classifytest.Replay(f, dir), server.URL, nil).Classify(t.Context(), in)
			assert.Error(t, err)
		})
		assert.NotEmpty(t, f.text(), "%.60q", broken)
	}
}

func TestAnswersByHand(t *testing.T) {
	dir := t.TempDir()
	cases := promptCases(t)[:1]
	ok := t.Run("draft", func(t *testing.T) {
		recording(t, "hand")
		f := newFake(t, "TestX")
		f.run(func() {
			_, err := judgeWith(t, classifytest.Replay(f, dir), "", nil).Classify(t.Context(), cases[0].Input)
			assert.ErrorContains(t, err, "is a draft")
		})
		assert.Contains(t, f.text(), `is a draft: write its answer, and as its origin "written by hand"`)
		require.Len(t, cassetteFiles(t, dir), 1)
		require.NoError(t, os.Remove(cassetteFiles(t, dir)[0]))
	})
	require.True(t, ok)
	// They are kept when the prompt changes.
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/cassettes")))
	before := cassetteFiles(t, dir)
	ok = t.Run("keep", func(t *testing.T) {
		recording(t, "hand")
		classifytest.Run(t, judgeWith(t, classifytest.Replay(t, dir), "", changedPrompt(t)), promptCases(t))
	})
	require.True(t, ok)
	after := cassetteFiles(t, dir)
	assert.Len(t, after, len(before))
	for _, path := range after {
		assert.Contains(t, before, path)
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(b), newRule)
		assert.Contains(t, string(b), `"origin": "written by hand"`)
	}
}
