package main

import (
	"context"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
)

// tally counts what a classifier is asked, and what its answers cost.
type tally struct {
	classify.Classifier
	asking    func()
	calls     int
	fallbacks map[string]int // by why
	used      replayLLM
}

// Classify asks the classifier. The end of ctx is an error, also where a fallback answered for it.
func (t *tally) Classify(ctx context.Context, in classify.Input) (classify.Result, error) {
	if t.asking != nil {
		t.asking()
	}
	r, err := t.Classifier.Classify(ctx, in)
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	t.calls++
	if r.Fallback != "" {
		if t.fallbacks == nil {
			t.fallbacks = make(map[string]int)
		}
		t.fallbacks[whyNot(r.Fallback)]++
	}
	if u := r.Usage; u != nil {
		t.used.Answered++
		if u.Attempts == 0 {
			t.used.Repeated++
		}
		t.used.PromptTokens += u.PromptTokens
		t.used.CachedTokens += u.CachedTokens
		t.used.CompletionTokens += u.CompletionTokens
	}
	return r, err
}

// whyNot is why the LLM had no answer, in the same words each time.
func whyNot(fallback string) string {
	why := strings.TrimPrefix(fallback, "llm: ")
	if at := strings.Index(why, " for another "); at > 0 { // some seconds
		why = why[:at]
	}
	return strings.TrimSuffix(why, ": context deadline exceeded")
}

// into adds what was counted to a total.
func (t *tally) into(sum *replayTotal) {
	sum.Asked += t.calls
	for _, n := range t.fallbacks {
		sum.Fallbacks += n
	}
	if t.used.Answered > 0 || len(t.fallbacks) > 0 {
		used := t.used
		used.Failed = t.fallbacks
		sum.LLM = &used
	}
}

// replayLLM is what became of asking an LLM.
type replayLLM struct {
	Model            string         `json:"model"`
	Answered         int            `json:"answered"` // outputs
	Repeated         int            `json:"repeated"` // of these, outputs that were answered before and not sent again
	PromptTokens     int            `json:"prompt_tokens"`
	CachedTokens     int            `json:"cached_tokens"` // part of PromptTokens, by what the server says
	CompletionTokens int            `json:"completion_tokens"`
	Cost             *float64       `json:"cost,omitempty"`   // by --price, which knows no rebate for cached tokens
	Failed           map[string]int `json:"failed,omitempty"` // outputs by why the heuristic judged them
}

func (l *replayLLM) add(o replayLLM) {
	l.Answered += o.Answered
	l.Repeated += o.Repeated
	l.PromptTokens += o.PromptTokens
	l.CachedTokens += o.CachedTokens
	l.CompletionTokens += o.CompletionTokens
	for why, n := range o.Failed {
		if l.Failed == nil {
			l.Failed = make(map[string]int)
		}
		l.Failed[why] += n
	}
}
