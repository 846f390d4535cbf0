package llm

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

const hollow = `{"reason":"bare claim","type":"status","rejected":true,"confidence":0.93,"coaching_message":"Run it."}`

func TestClassify(t *testing.T) {
	f := &fake{replies: []httpReply{says(hollow)}}
	in := classify.Input{Text: "Fixed the login redirect, should work now.", Request: "fix the login"}
	judge := newJudge(t, newClient(t, f))
	r, err := judge.Classify(t.Context(), in)
	require.NoError(t, err)
	assert.Equal(t, classify.Status, r.Type)
	assert.True(t, r.WasRejectedCompletion)
	assert.Equal(t, "Run it.", r.CoachingMessage)
	assert.Equal(t, "llm", r.Source)
	assert.Equal(t, "en", r.Language)
	assert.NotEmpty(t, r.Signals, "the heuristic's")
	assert.Equal(t, "judge-2", r.Usage.Model)

	request := judge.Request(in)
	assert.Equal(t, request.System, f.requests[0].Body.Messages[0].Content)
	assert.Equal(t, request.User, f.requests[0].Body.Messages[1].Content)

	f.replies = []httpReply{says(`{"type":"maybe"}`)}
	_, err = judge.Classify(t.Context(), in)
	assert.EqualError(t, err, "llm: unparseable answer: its type is not one of the five")
	_, err = New(nil, Options{})
	assert.Error(t, err)
}

// Facts settle a claim, and spare the call where no words could change what follows.
func TestFactsComeBeforeTheJudge(t *testing.T) {
	const done = `{"reason":"tests shown","type":"completion","confidence":0.95,"coaching_message":null}`
	failed := classify.Work{Edited: classify.EditedCode, Checks: []classify.Check{{Kind: classify.CheckTest,
		Outcome: classify.OutcomeFailed}}}
	passed := classify.Work{Edited: classify.EditedCode, Checks: []classify.Check{{Kind: classify.CheckTest,
		Outcome: classify.OutcomePassed}}}
	for _, tt := range []struct {
		name, text string
		work       classify.Work
		says       string
		calls      int
		want       classify.OutputType
		rejected   bool
	}{
		{"unknown", "Fixed the redirect. All tests pass.", classify.Work{}, hollow, 1, classify.Status, true},
		{"a refuted claim", "Fixed the redirect. Tests: 4 passed, 0 failed.", failed, done, 1, classify.Status, true},
		{"a backed claim, seen as a claim", "Fixed the redirect. All tests pass.", passed, hollow, 0, classify.Completion,
			false},
		{"an answer", "The session ends 30 minutes after the last read.", classify.Work{Edited: classify.EditedNone}, hollow,
			0, classify.Completion, false},
		{"progress without edits", "I'm still reading the parser. Next I'll look at the printer.",
			classify.Work{Edited: classify.EditedNone},
			`{"type":"status","confidence":0.9}`, 1, classify.Status, false},
		{"nothing to see", " \u200b\n", classify.Work{}, done, 0, classify.Status, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{replies: []httpReply{says(tt.says)}}
			r, err := newJudge(t, newClient(t, f)).Classify(t.Context(), classify.Input{Text: tt.text, Work: tt.work})
			require.NoError(t, err)
			assert.Equal(t, tt.calls, f.calls())
			assert.Equal(t, tt.want, r.Type)
			assert.Equal(t, tt.rejected, r.WasRejectedCompletion)
			assert.Equal(t, tt.calls == 0, r.Usage == nil)
		})
	}
}

func TestDirCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "answers")
	in := classify.Input{Text: "Fixed the login redirect, should work now."}
	ask := func(cache *DirCache, f *fake, change ...func(*Config)) (classify.Result, error) {
		change = append(change, func(c *Config) { c.Cache = cache })
		return newJudge(t, newClient(t, f, change...)).Classify(t.Context(), in)
	}
	f := &fake{replies: []httpReply{says("no verdict"), says(hollow)}}
	_, err := ask(&DirCache{Dir: dir}, f)
	require.Error(t, err, "and it is not kept")
	first, err := ask(&DirCache{Dir: dir}, f)
	require.NoError(t, err)
	again, err := ask(&DirCache{Dir: dir}, f)
	require.NoError(t, err)
	assert.Equal(t, 2, f.calls())
	assert.Equal(t, 0, again.Usage.Attempts)
	assert.Equal(t, "judge-2", again.Usage.Model)
	first.Usage, again.Usage = nil, nil
	assert.Equal(t, first, again)

	_, err = ask(&DirCache{Dir: dir}, f, func(c *Config) { c.Effort = "high" })
	require.NoError(t, err)
	assert.Equal(t, 3, f.calls(), "another request")

	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotContains(t, string(text), testKey)
		require.NoError(t, os.WriteFile(file, text[:len(text)-1], 0o600))
	}
	_, err = ask(&DirCache{Dir: dir}, f)
	require.NoError(t, err)
	assert.Equal(t, 4, f.calls(), "half a file is no answer")
}
