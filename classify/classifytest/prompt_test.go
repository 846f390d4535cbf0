package classifytest_test

import (
	"cmp"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify/classifytest"
	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/llm"
)

// promptJudge is the classifier that the cassettes of this directory were made for.
func promptJudge(t testing.TB, transport http.RoundTripper, prompt fs.FS) *llm.Classifier {
	t.Helper()
	client, err := llm.NewClient(llm.Config{
		Model:     "gpt-4.1-mini",
		Key:       cmp.Or(os.Getenv("OPENAI_API_KEY"), "none"),
		Transport: transport,
	})
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

// The built-in prompt on cassettes. Each says by its origin how its answer was made: as long as that is "written by hand",
// this shows that the prompt goes out as reviewed and that such answers are read rightly, and nothing about a model.
func TestPrompt(t *testing.T) {
	classifytest.Run(t, promptJudge(t, classifytest.Replay(t, "testdata/cassettes"), nil), promptCases(t))
}

// The one word of the prompt that the tests below change.
const oldRule, newRule = "Take the first that fits.", "Take the first that matches."

func changedPrompt(t *testing.T) fs.FS {
	t.Helper()
	rules, err := fs.ReadFile(llm.Prompt(), "system.md")
	require.NoError(t, err)
	require.Contains(t, string(rules), oldRule)
	return fstest.MapFS{"system.md": {Data: []byte(strings.Replace(string(rules), oldRule, newRule, 1))}}
}

// One other word in the prompt, and the test of the prompt fails, says where, and how to go on.
func TestChangedPromptHasNoCassettes(t *testing.T) {
	quiet(t)
	f := newFake(t, "TestPrompt")
	f.run(func() {
		judge := promptJudge(t, classifytest.Replay(f, "testdata/cassettes"), changedPrompt(t))
		_, err := judge.Classify(t.Context(), promptCases(t)[0].Input)
		assert.ErrorIs(t, err, classifytest.ErrNoCassette)
	})
	require.Len(t, f.said, 1)
	for _, want := range []string{
		"hedged-deploy-", "messages[0].content (system) changed at line ", "- " + oldRule, "+ " + newRule, "answer " + classifytest.ByHand,
		"SIDECOACH_RECORD=1 go test -count=1 -run '^TestPrompt$' github.com/sidecoach/sidecoach/classify/classifytest",
		"SIDECOACH_RECORD=hand go test",
	} {
		assert.Contains(t, f.text(), want)
	}
}

func TestAnswersByHandAreKeptForAnotherPrompt(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/cassettes")))
	before := files(t, dir)
	ok := t.Run("keep", func(t *testing.T) {
		t.Setenv(classifytest.RecordVariable, "hand")
		classifytest.Run(t, promptJudge(t, classifytest.Replay(t, dir), changedPrompt(t)), promptCases(t))
	})
	require.True(t, ok)
	after := files(t, dir)
	assert.Len(t, after, len(before))
	for _, path := range after {
		assert.NotContains(t, before, path)
		assert.Contains(t, read(t, path), newRule)
		assert.Contains(t, read(t, path), `"origin": "`+classifytest.ByHand+`"`)
	}
	t.Run("replay", func(t *testing.T) {
		quiet(t)
		classifytest.Run(t, promptJudge(t, classifytest.Replay(t, dir), changedPrompt(t)), promptCases(t))
	})
}
