package sidecoachotel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/coach"
)

// answered is the error of an HTTP status.
func answered(status int) error {
	return &llm.Error{Status: status, Why: fmt.Sprintf("the endpoint answered %d", status)}
}

// Each error of classify/llm, by the words that a fallback keeps of it.
func TestFallbackCodes(t *testing.T) {
	heuristic, err := classify.NewHeuristic()
	require.NoError(t, err)
	never := progress
	never.Confidence = 2
	both := completion
	both.WasRejectedCompletion = true
	for _, tt := range []struct {
		says classify.Result
		err  error
		want string
	}{
		{err: answered(429), want: "status_429"},
		{err: answered(401), want: "status_4xx"},
		{err: answered(503), want: "status_5xx"},
		{err: answered(302), want: "status_other"},
		{err: &llm.Error{Why: "the model refused to answer"}, want: "refusal"},
		{err: &llm.Error{Why: "the answer was cut off at the limit of tokens"}, want: "length"},
		{err: &llm.Error{Why: "a content filter withheld the answer"}, want: "content_filter"},
		{err: &llm.Error{Why: "unparseable answer: no JSON object in it"}, want: "unparseable"},
		{err: &llm.Error{Why: "no answer: connection refused", Err: syscall.ECONNREFUSED}, want: "connection"},
		{err: &llm.Error{Why: "cannot run claude: executable file not found in $PATH"}, want: "program"},
		{err: fmt.Errorf("%w for another 30s", llm.ErrOpen), want: "circuit_open"},
		{err: fmt.Errorf("llm: no answer in time: %w", context.DeadlineExceeded), want: "timeout"},
		{err: fmt.Errorf("llm: given up: %w", context.Canceled), want: "canceled"},
		{err: fmt.Errorf("mine: %w", context.DeadlineExceeded), want: "timeout"},
		{err: errors.New("mine"), want: "_OTHER"},
		{says: classify.Result{Type: "maybe"}, want: "invalid_verdict"},
		{says: never, want: "invalid_verdict"},
		{says: both, want: "invalid_verdict"},
	} {
		t.Run(fmt.Sprint(tt.err, tt.says.Type), func(t *testing.T) {
			judge := classify.ClassifierFunc(func(context.Context, classify.Input) (classify.Result, error) {
				return tt.says,
					tt.err
			})
			l := newLoop(t, autocontinue.Config{Classifier: classify.Fallback(judge, heuristic)})
			_, err := l.Handle(t.Context(), autocontinue.Output{Session: "s", Text: "I am looking into the parser now."})
			require.NoError(t, err)
			assert.Equal(t, []point{{map[string]any{"sidecoach.fallback.kind": tt.want}, 1, 1}}, l.collect(t)[fallbacks.name])
			assert.Equal(t, tt.want, attrs(l.span(t, "sidecoach.handle").Attributes())["sidecoach.fallback.kind"])
		})
	}
}

func TestDegradedCodes(t *testing.T) {
	for why, want := range map[string]string{
		"plan: no such file": "plan", "verifier: boom": "verifier", `evidence: "x" is no kind of evidence`: "evidence",
		"llm: repeats itself": "llm", "skill: x": "skill", "made up: x": "_OTHER", "": "_OTHER",
	} {
		assert.Equal(t, want, degradedCode(why), why)
	}
}

func TestUsage(t *testing.T) {
	type m = map[string]any
	l := newLoop(t, autocontinue.Config{})
	r := completion
	r.Source = "llm"
	r.Usage = &classify.Usage{Model: "judge-1-0613", PromptTokens: 1800, CachedTokens: 1200, CompletionTokens: 90,
		Latency: 2_500_000_000, Attempts: 2}
	l.handle(t, r, autocontinue.Output{ID: "1", Text: "x"})
	want := func(more ...string) m {
		all := m{"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "judge-1"}
		for _, typ := range more {
			all["gen_ai.token.type"] = typ
		}
		return all
	}
	check := func() {
		t.Helper()
		series := l.collect(t)
		assert.ElementsMatch(t, []point{{want("input"), 1, 1800}, {want("output"), 1, 90}}, series[tokenUsage.name])
		assert.Equal(t, []point{{want(), 1, 2.5}}, series[operationDuration.name])
	}
	check()
	a := attrs(l.span(t, "sidecoach.handle").Attributes())
	assert.Equal(t, []any{int64(1800), int64(1200), int64(90), "judge-1-0613", "judge-1"},
		[]any{a["gen_ai.usage.input_tokens"], a["gen_ai.usage.cache_read.input_tokens"], a["gen_ai.usage.output_tokens"],
			a["gen_ai.response.model"], a["gen_ai.request.model"]})

	l.handle(t, r, autocontinue.Output{ID: "1", Text: "x"}) // a replay
	r.Usage = &classify.Usage{Model: "judge-1-0613"}        // from the cache
	l.handle(t, r, autocontinue.Output{ID: "2", Text: "y"})
	check()
}

// What a model was asked costs, whatever becomes of the decision.
func TestUsageOfADecisionThatFailed(t *testing.T) {
	l := newLoop(t, autocontinue.Config{Store: &failingStore{err: autocontinue.ErrConflict}})
	r := completion
	r.Usage, r.Fallback = &classify.Usage{PromptTokens: 1800, CompletionTokens: 90, Attempts: 1},
		"llm: the model refused to answer"
	l.says = func(context.Context, classify.Input) (classify.Result, error) { return r, nil }
	_, err := l.Handle(t.Context(), autocontinue.Output{Session: "s", Text: "x"})
	require.ErrorIs(t, err, autocontinue.ErrConflict)
	series := l.collect(t)
	assert.Len(t, series[tokenUsage.name], 2)
	assert.Len(t, series[fallbacks.name], 1)
	assert.Empty(t, series[turnContinues.name])
}

// Whatever an event says, there is only so much that a metric can be asked for, and none of it is text.
func TestMetricsHaveCodesOnly(t *testing.T) {
	l := newLoop(t, autocontinue.Config{})
	allowed := make(map[string][]string)
	for _, in := range table {
		for _, k := range in.attributes {
			allowed[in.name] = append(allowed[in.name], string(k))
		}
	}
	const secret = "hunter"
	for i := range 3000 {
		s := fmt.Sprint(secret, i)
		e := autocontinue.Event{Session: s, Turn: s, Run: s, OutputID: s, Preview: s}
		e.Decision = autocontinue.Decision{
			ID: s, Action: autocontinue.Action(i), Outcome: autocontinue.Outcome(s), Reason: autocontinue.Reason(s), Note: s,
			Message: s,
			Tier: coach.Tier(
				s,
			), Verified: autocontinue.VerificationStatus(s), Degraded: []string{s + ": " + s}, Attempt: i, Continues: i,
			Result: classify.Result{Type: classify.OutputType(s), Reason: s, CoachingMessage: s, Source: s, Fallback: s,
				Usage: &classify.Usage{Model: s, PromptTokens: 1, Attempts: 1}},
		}
		if i%2 == 0 {
			e.Decision.Reason = "cap"
		}
		if i%7 == 0 {
			e.Err, e.Cause = s, errors.New(s)
		}
		require.NoError(t, l.o.Observe(t.Context(), e))
	}
	series := l.collect(t)
	require.NotEmpty(t, series[turnContinues.name])
	total := 0
	for name, points := range series {
		total += len(points)
		for _, p := range points {
			for k, v := range p.attrs {
				assert.Contains(t, allowed[name], k, name)
				assert.NotContains(t, fmt.Sprint(v), secret, name)
			}
		}
	}
	assert.LessOrEqual(t, total, 60)
	assert.LessOrEqual(t, len(l.o.series.made), 60)
	for _, span := range l.spans.Ended() {
		for _, kv := range span.Attributes() {
			if !strings.HasSuffix(string(kv.Key), ".id") && kv.Key != keyResponseModel {
				assert.NotContains(t, kv.Value.String(), secret, kv.Key)
			}
		}
	}
}

// Of what the agent, the human and the coach said there is nothing in what is exported.
func TestNoTextIsExported(t *testing.T) {
	const words = "marmalade"
	l := newLoop(t, autocontinue.Config{Verifier: verifierFunc(func() (autocontinue.Verification, error) {
		return autocontinue.Verification{Status: autocontinue.Rejected, Feedback: words, Note: words}, nil
	})})
	r := completion
	r.Reason, r.CoachingMessage, r.Signals = words, words, []classify.Signal{{Kind: classify.SignalClaim, Name: words,
		End: 9, Weight: 1}}
	d := l.handle(t, r, autocontinue.Output{Text: words, Request: words, PlanFile: words, Phase: words,
		Evidence: []classify.Evidence{{Kind: words, Text: words}}})
	require.Contains(t, d.Message, words, "the coach quotes it")
	for name, points := range l.collect(t) {
		assert.NotContains(t, fmt.Sprint(points), words, name)
	}
	for _, span := range l.spans.Ended() {
		assert.NotContains(t, fmt.Sprint(span.Attributes(), span.Events(), span.Status(), span.Name()), words)
	}
}

// The attributes that a decision may have are few enough for the SDK's limit of 2,000 series an instrument.
func TestSeriesOfADecisionAreBounded(t *testing.T) {
	kinds := len(types) + 1 + 1 // a rejected status, and none
	sources := 2 + 8 + 1
	assert.Less(t, (len(reasons)+1)*kinds*sources+len(reasons)+1, 2000,
		"reasons decide the action and the outcome; what is replayed was not judged")
	_, err := New(Config{Sources: make([]string, 9)})
	assert.ErrorContains(t, err, "at most 8")
}

func TestSourcesOfTheHost(t *testing.T) {
	l := newLoop(t, autocontinue.Config{})
	o, err := New(Config{MeterProvider: nil, Sources: []string{"rules"}})
	require.NoError(t, err)
	assert.Equal(t, "rules", code("rules", o.sources))
	assert.Equal(t, "_OTHER", code("rules", l.o.sources))
}
