package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
)

const endpoints = "endpoints" // the kind of document that holds an endpoint

// How long an LLM that does not answer is left alone: the first time, doubled each time that it still does not, and at most.
const (
	firstPause   = 2 * time.Minute
	longestPause = time.Hour
	probeTime    = 15 * time.Second // for one process to try it, while the others still leave it alone
	oddAnswers   = 3                // useless answers in a row are a failure: one comes fast, and the next may be better
	formatLasts  = 24 * time.Hour   // a server may be a newer one by then
)

// endpoint is what is remembered of an LLM by processes that make one call each. A circuit breaker of a client would see
// one failure and be gone.
type endpoint struct {
	Failed int       `json:"failed,omitempty"` // calls in a row
	Odd    int       `json:"odd,omitempty"`    // useless answers in a row
	Until  time.Time `json:"until,omitzero"`   // it is left alone until then

	Format          llm.Format `json:"format,omitempty"` // see llm.Client.Learnt; empty is what a client begins with
	LegacyMaxTokens bool       `json:"legacy_max_tokens,omitempty"`
	Learnt          time.Time  `json:"learnt,omitzero"`
}

// rememberingJudge is a judge that leaves an endpoint alone which did not answer another process.
type rememberingJudge struct {
	classify.Classifier
	learnt func() (llm.Format, bool)
	doc    *filestore.Document[endpoint]
	now    func() time.Time
	warn   func(error) // of what could not be remembered
}

// openEndpoint returns the document of the endpoint that cfg names. Another key is another endpoint: a wrong one fails, too.
func openEndpoint(k *keeper, cfg llm.Config) (*filestore.Document[endpoint], error) {
	name := sha256.Sum256([]byte(strings.Join([]string{cfg.Model, cfg.BaseURL, cfg.Key}, "\x00")))
	return filestore.NewDocument[endpoint](k.store, endpoints, hex.EncodeToString(name[:]))
}

// seed returns cfg with what was learnt before.
func (e endpoint) seed(cfg llm.Config, now time.Time) llm.Config {
	if age := now.Sub(e.Learnt); age >= 0 && age < formatLasts {
		cfg.Format, cfg.LegacyMaxTokens = e.Format, e.LegacyMaxTokens
	}
	return cfg
}

// left is how long the endpoint is left alone yet. A time that is too far away was written by a clock that was wrong.
func (e endpoint) left(now time.Time) time.Duration {
	if left := e.Until.Sub(now); left > 0 && left <= longestPause {
		return left
	}
	return 0
}

// Classify asks the judge, unless others know that it does not answer. Where nothing can be remembered it asks.
func (j *rememberingJudge) Classify(ctx context.Context, in classify.Input) (classify.Result, error) {
	known, err := j.doc.Load(ctx)
	if err != nil {
		j.warn(err)
	}
	if left := known.left(j.now()); left > 0 {
		return classify.Result{}, leftAlone(left)
	}
	if known.Failed > 0 {
		var left time.Duration
		err := j.doc.Update(ctx, func(e endpoint) (endpoint, error) {
			if left = e.left(j.now()); left == 0 {
				e.Until = j.now().Add(probeTime)
			}
			return e, nil
		})
		if err != nil {
			j.warn(err)
		}
		if left > 0 {
			return classify.Result{}, leftAlone(left)
		}
	}
	r, failed := j.Classifier.Classify(ctx, in)
	if failed == nil && r.Usage == nil || errors.Is(failed, context.Canceled) {
		return r, failed // it was not asked, or not to the end
	}
	after := func(e endpoint) endpoint { return e.after(failed, j.learnt, j.now()) }
	if after(known) != known {
		if err := j.doc.Update(context.WithoutCancel(ctx), func(e endpoint) (endpoint, error) { return after(e), nil }); err != nil {
			j.warn(err)
		}
	}
	return r, failed
}

func leftAlone(left time.Duration) error {
	return fmt.Errorf("%w for another %s", llm.ErrOpen, left.Round(time.Second))
}

// after returns the memory after a call.
func (e endpoint) after(err error, learnt func() (llm.Format, bool), now time.Time) endpoint {
	if format, legacy := learnt(); format != e.Format || legacy != e.LegacyMaxTokens || now.Sub(e.Learnt) >= formatLasts {
		e.Format, e.LegacyMaxTokens, e.Learnt = format, legacy, now
	}
	odd := errors.As(err, new(llm.ParseError))
	switch {
	case err == nil, errors.As(err, new(llm.RefusalError)), errors.As(err, new(llm.FilterError)), errors.As(err, new(llm.LengthError)):
		e.Failed, e.Odd, e.Until = 0, 0, time.Time{} // it answers, whatever it says
	case odd && e.Odd+1 < oddAnswers:
		e.Failed, e.Odd, e.Until = 0, e.Odd+1, time.Time{}
	default:
		pause := longestPause
		if e.Failed < 5 {
			pause = firstPause << e.Failed
		}
		if s, ok := errors.AsType[llm.StatusError](err); ok {
			pause = min(max(pause, s.RetryAfter), longestPause)
		}
		e.Failed, e.Until = e.Failed+1, now.Add(pause)
		if !odd {
			e.Odd = 0
		}
	}
	return e
}
