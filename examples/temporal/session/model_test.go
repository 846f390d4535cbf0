package session

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
)

// judgeFunc is the heuristic, which does something first.
func judgeFunc(t *testing.T, first func()) *autocontinue.AutoContinue {
	t.Helper()
	h, err := classify.NewHeuristic()
	require.NoError(t, err)
	a, err := autocontinue.New(autocontinue.Config{
		Classifier: classify.ClassifierFunc(func(ctx context.Context, in classify.Input) (classify.Result, error) {
			first()
			return h.Classify(ctx, in)
		}),
	})
	require.NoError(t, err)
	return a
}

// endpoint is a model's endpoint that answers one thing after another.
type endpoint struct {
	mu      sync.Mutex
	answers []answer
	calls   int
}

type answer struct {
	code  int
	after string
	body  string
}

func (e *endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.answers[min(e.calls, len(e.answers)-1)]
	e.calls++
	resp := &http.Response{
		StatusCode: a.code,
		Header:     make(http.Header),
		Body:       io.NopCloser(strings.NewReader(a.body)),
		Request:    r,
	}
	resp.Header.Set("Content-Type", "application/json")
	if a.after != "" {
		resp.Header.Set("Retry-After", a.after)
	}
	return resp, nil
}

func verdict(content string) string {
	return `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":` + content + `}}]}`
}

func model(t *testing.T, e *endpoint) *autocontinue.AutoContinue {
	t.Helper()
	client, err := llm.NewClient(llm.Config{Model: "m", BaseURL: "http://model.invalid/v1", Transport: e, Retries: -1})
	require.NoError(t, err)
	c, err := llm.New(client, llm.Options{})
	require.NoError(t, err)
	a, err := autocontinue.New(autocontinue.Config{Classifier: c})
	require.NoError(t, err)
	return a
}

func TestModel(t *testing.T) {
	good := answer{
		code: 200,
		body: verdict(`"{\"type\":\"question\",\"confidence\":0.97,\"reason\":\"it asks\",\"coaching_message\":null}"`),
	}
	busy := answer{code: 503, body: "{}"}
	for name, c := range map[string]struct {
		answers  []answer
		calls    int
		fallback string
		reason   string
		waits    time.Duration
	}{
		"answers":         {[]answer{good}, 1, "", "question", 0},
		"is busy, twice":  {[]answer{busy, busy, good}, 3, "", "question", 3 * time.Second},
		"says when":       {[]answer{{code: 429, after: "40", body: "{}"}, good}, 2, "", "question", 40 * time.Second},
		"stays busy":      {[]answer{busy}, 5, "503", "rejected_completion", 0},
		"refuses the key": {[]answer{{code: 401, body: "{}"}}, 1, "401", "rejected_completion", 0},
		"babbles": {[]answer{{code: 200, body: verdict(`"I would say it is done."`)}}, 1, "unparseable",
			"rejected_completion", 0},
		"is cut off": {[]answer{{code: 200, body: strings.Replace(verdict(`"{"`), `"stop"`, `"length"`, 1)}}, 1,
			"cut off", "rejected_completion", 0},
	} {
		t.Run(name, func(t *testing.T) {
			e := &endpoint{answers: c.answers}
			var took time.Duration
			w := newWorld(t, Config{Model: true}, Activities{Model: model(t, e)})
			w.report(0, autocontinue.Output{Run: "r1", ID: "o1", Text: claim})
			w.end(time.Hour)
			w.box.fail = func(int) error { took = w.Now().Sub(w.start); return nil }
			counts := w.play()
			assert.Equal(t, c.calls, e.calls)
			assert.GreaterOrEqual(t, took, c.waits)
			assert.Equal(t, 1, counts.Reasons[c.reason], counts.Reasons)
			if c.fallback == "" {
				assert.Zero(t, counts.Fallbacks)
			} else {
				assert.Equal(t, 1, counts.Fallbacks)
			}
		})
	}
}

// TestFallbackIsRecorded: the decision says that the model did not answer, and why.
func TestFallbackIsRecorded(t *testing.T) {
	for want, a := range map[string]answer{
		"llm: autocontinue: classify: llm: the endpoint answered 401": {code: 401, body: "{}"},
		"llm: autocontinue: classify: llm: the endpoint answered 503": {code: 503, body: "{}"},
	} {
		var suite = newWorld(t, Config{Model: true}, Activities{Model: model(t, &endpoint{answers: []answer{a}})})
		suite.RegisterWorkflow(judgeOnce)
		suite.ExecuteWorkflow(judgeOnce, Session{Name: "s", Config: Config{Model: true}})
		require.NoError(t, suite.GetWorkflowError())
		var f autocontinue.Facts
		require.NoError(t, suite.GetWorkflowResult(&f))
		assert.Contains(t, f.Result.Fallback, want)
		assert.Equal(t, classify.Status, f.Result.Type)
		assert.Equal(t, "heuristic", f.Result.Source)
	}
}

// TestNothingAnswers: an error of ours is shown to the human, and is no state.
func TestNothingAnswers(t *testing.T) {
	broken, err := autocontinue.New(autocontinue.Config{
		Classifier: classify.ClassifierFunc(func(context.Context, classify.Input) (classify.Result, error) {
			return classify.Result{}, context.DeadlineExceeded
		}),
	})
	require.NoError(t, err)
	w := newWorld(t, Config{Model: true},
		Activities{Judge: broken, Model: model(t, &endpoint{answers: []answer{{code: 401, body: "{}"}}})})
	w.report(0, autocontinue.Output{Run: "r1", ID: "o1", Text: claim})
	w.end(time.Hour)
	w.play()
	assert.Equal(t, []string{"r1 deliver error"}, w.box.said())
	assert.Equal(t, claim, w.box.effects[0].Text)
}

func judgeOnce(ctx workflow.Context, in Session) (autocontinue.Facts, error) {
	s, err := begin(ctx, in)
	if err != nil {
		return autocontinue.Facts{}, err
	}
	return s.judge(autocontinue.Output{Session: "s", Run: "r1", ID: "o1", Text: claim}), nil
}
