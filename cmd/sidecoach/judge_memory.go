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

// How long a judge that does not answer is left alone: the first time, and at most. The time doubles with each failure.
const (
	firstPause   = 2 * time.Minute
	longestPause = time.Hour
	probeTime    = 15 * time.Second // for one process to try it, while the others still leave it alone
	oddAnswers   = 3                // useless answers in a row are a failure: one comes fast, and the next may be better
	formatLasts  = 24 * time.Hour   // a server may be a newer one by then
)

// endpoint is what is remembered of a judge by processes that make one call each. The circuit breaker of a client would
// see one failure and be gone.
type endpoint struct {
	Failed    int       `json:"failed,omitempty"`    // calls in a row
	Odd       int       `json:"odd,omitempty"`       // useless answers in a row
	Fallbacks int       `json:"fallbacks,omitempty"` // decisions in a row that the heuristic made instead
	Told      bool      `json:"told,omitempty"`      // the human knows of them
	Until     time.Time `json:"until,omitzero"`      // it is left alone until then

	Format          llm.Format `json:"format,omitempty"` // see llm.Client.Learnt; empty is what a client begins with
	LegacyMaxTokens bool       `json:"legacy_max_tokens,omitempty"`
	Learnt          time.Time  `json:"learnt,omitzero"`
}

// rememberingJudge is a judge that leaves an endpoint alone that did not answer another process.
type rememberingJudge struct {
	classify.Classifier
	learnt func() (llm.Format, bool)
	doc    *filestore.Document[endpoint]
	now    func() time.Time
	warn   func(error) // of what could not be remembered
}

// openEndpoint returns the document of the judge that cfg names. Another key is another judge: a wrong one fails, too.
func openEndpoint(k *keeper, cfg llm.Config) (*filestore.Document[endpoint], error) {
	name := append([]string{cfg.Model, cfg.BaseURL, cfg.Key, cfg.Command.Agent}, cfg.Command.Args...)
	sum := sha256.Sum256([]byte(strings.Join(name, "\x00")))
	return filestore.NewDocument[endpoint](k.store, endpoints, hex.EncodeToString(sum[:]))
}

// seed returns cfg with what was learnt before.
func (e endpoint) seed(cfg llm.Config, now time.Time) llm.Config {
	if age := now.Sub(e.Learnt); e.Format != "" && cfg.Format == "" && age >= 0 && age < formatLasts {
		cfg.Format, cfg.LegacyMaxTokens = e.Format, e.LegacyMaxTokens
	}
	return cfg
}

// left is how long the judge is left alone yet. A time that is too far away was written by a clock that was wrong.
func (e endpoint) left(now time.Time) time.Duration {
	if left := e.Until.Sub(now); left > 0 && left <= longestPause {
		return left
	}
	return 0
}

// Classify asks the judge, unless others know that it does not answer. If nothing can be remembered, it asks.
func (j *rememberingJudge) Classify(ctx context.Context, in classify.Input) (classify.Result, error) {
	known, err := j.doc.Load(ctx)
	if err != nil {
		j.warn(err)
	}
	left := known.left(j.now())
	if left > 0 || known.Failed > 0 {
		j.update(ctx, func(e endpoint) endpoint {
			if left = e.left(j.now()); left > 0 {
				e.Fallbacks++
			} else {
				e.Until = j.now().Add(probeTime)
			}
			return e
		})
	}
	if left > 0 {
		return classify.Result{}, fmt.Errorf("%w for another %s", llm.ErrOpen, left.Round(time.Second))
	}
	r, failed := j.Classifier.Classify(ctx, in)
	if failed == nil && r.Usage == nil || errors.Is(failed, context.Canceled) {
		return r, failed // it was not asked, or not to the end
	}
	after := func(e endpoint) endpoint { return e.after(failed, j.learnt, j.now()) }
	if after(known) != known {
		j.update(context.WithoutCancel(ctx), after)
	}
	return r, failed
}

// manyFallbacks in a row are told to the human, once.
const manyFallbacks = 10

// notice returns what to tell the human about a judge that does not answer, or nothing.
func (j *rememberingJudge) notice(ctx context.Context) string {
	if j == nil {
		return ""
	}
	known, err := j.doc.Load(ctx)
	if err != nil || known.Fallbacks < manyFallbacks || known.Told {
		return ""
	}
	j.update(ctx, func(e endpoint) endpoint { e.Told = true; return e })
	return fmt.Sprintf("sidecoach: the judge did not answer %d times in a row, so the heuristic decides; "+
		"sidecoach log says why", known.Fallbacks)
}

func (j *rememberingJudge) update(ctx context.Context, change func(endpoint) endpoint) {
	if err := j.doc.Update(ctx, func(e endpoint) (endpoint, error) { return change(e), nil }); err != nil {
		j.warn(err)
	}
}

// after returns the memory after a call.
func (e endpoint) after(err error, learnt func() (llm.Format, bool), now time.Time) endpoint {
	if format, legacy := learnt(); format != e.Format || legacy != e.LegacyMaxTokens || now.Sub(e.Learnt) >= formatLasts {
		e.Format, e.LegacyMaxTokens, e.Learnt = format, legacy, now
	}
	failure, _ := errors.AsType[*llm.Error](err)
	if failure == nil {
		failure = &llm.Error{}
	}
	e.Fallbacks++
	switch odd := failure.Kind == llm.Unparseable; {
	case err == nil:
		e.Failed, e.Odd, e.Fallbacks, e.Told, e.Until = 0, 0, 0, false, time.Time{}
	case failure.Kind == llm.Refused:
		e.Failed, e.Odd, e.Until = 0, 0, time.Time{} // it answers, whatever it says
	case odd && e.Odd+1 < oddAnswers:
		e.Failed, e.Odd, e.Until = 0, e.Odd+1, time.Time{}
	default:
		pause := longestPause
		if e.Failed < 5 {
			pause = firstPause << e.Failed
		}
		pause = min(max(pause, failure.RetryAfter), longestPause)
		e.Failed, e.Until = e.Failed+1, now.Add(pause)
		if !odd {
			e.Odd = 0
		}
	}
	return e
}
