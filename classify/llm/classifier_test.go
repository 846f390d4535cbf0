package llm

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm/internal/o200k"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const rejectedAnswer = `{"type":"status","confidence":0.93,"reason":"bare claim","coaching_message":"Show the test output."}`

func TestClassify(t *testing.T) {
	in := classify.Input{Text: "Fixed the login redirect, should work now."}
	f := &fake{replies: []reply{says(rejectedAnswer)}}
	r, err := newJudge(t, f, Options{}).Classify(t.Context(), in)
	require.NoError(t, err)
	h, err := classify.NewHeuristic()
	require.NoError(t, err)
	known, err := h.Classify(t.Context(), in)
	require.NoError(t, err)
	require.NotEmpty(t, known.Signals)
	assert.Equal(t, classify.Result{
		Type: classify.Status, Confidence: 0.93, Reason: "bare claim", CoachingMessage: "Show the test output.", WasRejectedCompletion: true,
		Source: "llm", Signals: known.Signals,
		Usage: &classify.Usage{Model: "judge-2", PromptTokens: 1500, CachedTokens: 1280, CompletionTokens: 40, Attempts: 1, Latency: r.Usage.Latency},
	}, r)
}

func TestCoaching(t *testing.T) {
	for _, tt := range []struct {
		answer   string
		rejected bool
		message  string
	}{
		{rejectedAnswer, true, "Show the test output."},
		{`{"type":"status","confidence":0.9,"reason":"a rejected completion without evidence","coaching_message":null}`, false, ""},
		{`{"type":"status","confidence":0.9,"reason":"r","coaching_message":"null"}`, false, ""},
		{`{"type":"status","confidence":0.9,"reason":"r","coaching_message":""}`, false, ""},
		{`{"type":"status","confidence":0.9,"reason":"r"}`, false, ""},
		{`{"type":"completion","confidence":0.9,"reason":"rejected","coaching_message":"Show it."}`, false, ""},
		{`{"type":"question","confidence":0.9,"reason":"r","coaching_message":"Show it."}`, false, ""},
		{`{"type":"blocker","confidence":0.9,"reason":"r","coaching_message":"Show it."}`, false, ""},
		{`{"type":"error","confidence":0.9,"reason":"r","coaching_message":"Show it."}`, false, ""},
	} {
		r, err := newJudge(t, &fake{replies: []reply{says(tt.answer)}}, Options{}).Classify(t.Context(), classify.Input{Text: "x"})
		require.NoError(t, err)
		assert.Equal(t, tt.rejected, r.WasRejectedCompletion, tt.answer)
		assert.Equal(t, tt.message, r.CoachingMessage, tt.answer)
	}
}

// TestTheStaticPartNeverVaries: not by input, not by format.
func TestTheStaticPartNeverVaries(t *testing.T) {
	f := &fake{replies: []reply{unsupported("response_format"), says(good)}}
	j := newJudge(t, f, Options{})
	for _, text := range []string{"x", strings.Repeat("y\n", 5000)} {
		_, err := j.Classify(t.Context(), classify.Input{Text: text, Request: text})
		require.NoError(t, err)
	}
	system, _ := j.Messages(classify.Input{})
	for _, r := range f.requests {
		require.Len(t, r.Body.Messages, 2)
		assert.Equal(t, "system", r.Body.Messages[0].Role)
		assert.Equal(t, system, r.Body.Messages[0].Content)
		assert.Equal(t, "user", r.Body.Messages[1].Role)
		parts(t, r.Body.Messages[1].Content)
	}
	assert.Equal(t, f.requests[1].Body.Messages[1], f.requests[0].Body.Messages[1])
}

func TestBlankOutputIsNotSent(t *testing.T) {
	f := &fake{replies: []reply{says(good)}}
	for _, text := range []string{"", " \n\t", "\u200b\ufeff"} {
		r, err := newJudge(t, f, Options{}).Classify(t.Context(), classify.Input{Text: text})
		require.NoError(t, err)
		assert.Equal(t, classify.Status, r.Type)
		assert.Equal(t, "heuristic", r.Source)
	}
	assert.Zero(t, f.calls())
}

// What a call would cost is known before it, to a few tokens.
func TestTokens(t *testing.T) {
	f := &fake{replies: []reply{says(good)}}
	j := newJudge(t, f, Options{})
	for _, in := range []classify.Input{
		{Text: "x"},
		{Text: "Der Import behält die Reihenfolge, die Tests sollten grün sein.", Request: "Behalte die Reihenfolge.", Coached: 1},
		{Text: strings.Repeat("テストは通るはずです。", 900), Criteria: []string{"All tests pass."}},
	} {
		_, err := j.Classify(t.Context(), in)
		require.NoError(t, err)
		sent := f.requests[f.calls()-1].Body
		tokens := o200k.Count(string(sent.ResponseFormat))
		for _, m := range sent.Messages {
			tokens += o200k.Count(m.Content)
		}
		assert.InDelta(t, tokens, j.Tokens(in), 15)
		assert.Less(t, j.Tokens(in)-j.Tokens(classify.Input{Text: "x"}), maxBrief)
	}
	assert.Zero(t, j.Tokens(classify.Input{Text: " \n"}), "it is not sent")
}

func TestFallbackAlwaysAnswers(t *testing.T) {
	h, err := classify.NewHeuristic()
	require.NoError(t, err)
	for name, rep := range map[string]reply{
		"stuck": stuck, "down": status(500, bodyText), "prose": says(bodyText), "refusal": status(200, completion(map[string]any{"refusal": bodyText}, "stop")),
		"unknown type": says(`{"type":"` + bodyText + `"}`), "endless": func(r *http.Request) (*http.Response, error) { return nil, fmt.Errorf("%s %s", bodyText, testKey) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := classify.Fallback(newJudge(t, &fake{replies: []reply{rep}}, Options{}), h)
				for range 7 { // the last ones with an open circuit
					start := time.Now()
					r, err := c.Classify(t.Context(), classify.Input{Text: "Fixed it, should work now. " + outText})
					require.NoError(t, err)
					assert.Equal(t, classify.Status, r.Type)
					assert.Equal(t, "heuristic", r.Source)
					assert.LessOrEqual(t, time.Since(start), 10*time.Second)
					for _, secret := range []string{testKey, bodyText, outText} {
						assert.NotContains(t, r.Fallback, secret)
					}
					assert.True(t, strings.HasPrefix(r.Fallback, "llm: "), r.Fallback)
				}
			})
		})
	}
}

func TestDoneContext(t *testing.T) {
	f := &fake{replies: []reply{says(good)}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newJudge(t, f, Options{}).Classify(ctx, classify.Input{Text: "x"})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, f.calls())
}

func TestBadOptions(t *testing.T) {
	_, err := New(nil, Options{})
	assert.EqualError(t, err, "llm: no client")
	_, err = New(newClient(t, &fake{}), Options{Cache: -1})
	assert.EqualError(t, err, "llm: the size of the cache is negative")
}

func TestHeuristicOfTheHost(t *testing.T) {
	h, err := classify.NewHeuristic()
	require.NoError(t, err)
	j := newJudge(t, &fake{replies: []reply{says(good)}}, Options{Heuristic: h})
	assert.Same(t, h, j.heuristic)
}

func TestHostilesSizes(t *testing.T) {
	f := &fake{replies: []reply{says(good)}}
	j := newJudge(t, f, Options{})
	for _, text := range []string{strings.Repeat("All tests pass.\n", 1<<16), strings.Repeat("\xff", 1<<20), strings.Repeat("世", 1<<20)} {
		r, err := j.Classify(t.Context(), classify.Input{Text: text})
		require.NoError(t, err)
		assert.Equal(t, classify.Completion, r.Type)
	}
	for _, r := range f.requests {
		assert.Less(t, len(r.Raw), 20_000)
	}
}

func TestConcurrentUse(t *testing.T) {
	f := &fake{replies: []reply{says(good)}}
	j := newJudge(t, f, Options{Cache: 4, Prompt: fstest.MapFS{"system.md": {Data: []byte("x")}}})
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			_, err := j.Classify(context.Background(), classify.Input{Text: fmt.Sprint("text ", i%7)})
			assert.NoError(t, err)
		})
	}
	wg.Wait()
}

func ExampleNew() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, completion(map[string]any{"content": rejectedAnswer}, "stop"))
	}))
	defer srv.Close()

	client, err := NewClient(Config{Model: "judge", BaseURL: srv.URL + "/v1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	judge, err := New(client, Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		fmt.Println(err)
		return
	}
	c := classify.Fallback(judge, heuristic)
	r, err := c.Classify(context.Background(), classify.Input{Text: "Retries are in and all tests pass."})
	fmt.Println(r.Type, r.WasRejectedCompletion, r.Source, err)
	fmt.Println(r.CoachingMessage)
	// Output:
	// status true llm <nil>
	// Show the test output.
}

func ExamplePrompt() {
	// A folder to start from: os.CopyFS("prompt", llm.Prompt()).
	files := fstest.MapFS{"system.md": {Data: []byte("You judge outputs of our agent.")}}
	client, err := NewClient(Config{Model: "judge", BaseURL: "http://localhost:11434/v1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	judge, err := New(client, Options{Prompt: files})
	if err != nil {
		fmt.Println(err)
		return
	}
	system, _ := judge.Messages(classify.Input{Text: "Done."})
	fmt.Println(strings.SplitN(system, "\n", 2)[0])
	// Output: You judge outputs of our agent.
}
