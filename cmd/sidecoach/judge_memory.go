package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
)

const endpoints = "endpoints" // the kind of document that holds a judgeMemory

// How long a judge that does not answer is left alone: the first time, and at most. The time doubles with each failure.
const (
	firstPause    = 2 * time.Minute
	longestPause  = time.Hour
	probeTime     = 15 * time.Second // for one process to try it, while the others still leave it alone
	oddAnswers    = 3                // useless answers in a row are a failure: one comes fast, and the next may be better
	manyFallbacks = 10               // in a row are told to the human, once
)

// judgeMemory is what processes that make one call each remember of a judge. The circuit breaker of a client would see
// one failure and be gone.
type judgeMemory struct {
	Failed    int       `json:"failed,omitempty"`    // calls in a row
	Odd       int       `json:"odd,omitempty"`       // useless answers in a row
	Fallbacks int       `json:"fallbacks,omitempty"` // decisions in a row that the heuristic made instead
	Told      bool      `json:"told,omitempty"`      // the human knows of them
	Until     time.Time `json:"until,omitzero"`      // it is left alone until then
}

// rememberingJudge is a judge that leaves a judge alone that did not answer another process.
type rememberingJudge struct {
	classify.Classifier
	doc  *filestore.Document[judgeMemory]
	now  func() time.Time
	warn func(error) // of what could not be remembered
}

// rememberJudge returns a judge with the memory of the judge that cfg names. Another key is another judge: a wrong one
// fails, too.
func rememberJudge(k *keeper, cfg llm.Config, judge classify.Classifier) (*rememberingJudge, error) {
	name := append([]string{cfg.Model, cfg.BaseURL, cfg.Key, cfg.Command.Agent}, cfg.Command.Args...)
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(name, "\x00"))))
	doc, err := filestore.NewDocument[judgeMemory](k.store, endpoints, sum)
	return &rememberingJudge{Classifier: judge, doc: doc, now: time.Now, warn: k.warn}, err
}

// left is how long the judge is left alone yet. A time that is too far away was written by a clock that was wrong.
func (m judgeMemory) left(now time.Time) time.Duration {
	if left := m.Until.Sub(now); left > 0 && left <= longestPause {
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
		j.update(ctx, func(m judgeMemory) judgeMemory {
			if left = m.left(j.now()); left > 0 {
				m.Fallbacks++
			} else {
				m.Until = j.now().Add(probeTime)
			}
			return m
		})
	}
	if left > 0 {
		return classify.Result{}, fmt.Errorf("%w for another %s", llm.ErrOpen, left.Round(time.Second))
	}
	r, failed := j.Classifier.Classify(ctx, in)
	if failed == nil && r.Usage == nil || errors.Is(failed, context.Canceled) {
		return r, failed // it was not asked, or not to the end
	}
	if known.after(failed, j.now()) != known {
		j.update(context.WithoutCancel(ctx), func(m judgeMemory) judgeMemory { return m.after(failed, j.now()) })
	}
	return r, failed
}

// notice returns what to tell the human about a judge that does not answer, or nothing.
func (j *rememberingJudge) notice(ctx context.Context) string {
	if j == nil {
		return ""
	}
	known, err := j.doc.Load(ctx)
	if err != nil || known.Fallbacks < manyFallbacks || known.Told {
		return ""
	}
	j.update(ctx, func(m judgeMemory) judgeMemory { m.Told = true; return m })
	return fmt.Sprintf("sidecoach: the judge did not answer %d times in a row, so the heuristic decides; "+
		"sidecoach log says why", known.Fallbacks)
}

func (j *rememberingJudge) update(ctx context.Context, change func(judgeMemory) judgeMemory) {
	if err := j.doc.Update(ctx, func(m judgeMemory) (judgeMemory, error) { return change(m), nil }); err != nil {
		j.warn(err)
	}
}

// after returns the memory after a call.
func (m judgeMemory) after(err error, now time.Time) judgeMemory {
	if err == nil {
		return judgeMemory{}
	}
	failure, _ := errors.AsType[*llm.Error](err)
	if failure == nil {
		failure = &llm.Error{}
	}
	m.Fallbacks++
	switch odd := failure.Kind == llm.Unparseable; {
	case failure.Kind == llm.Refused:
		m.Failed, m.Odd, m.Until = 0, 0, time.Time{} // it answers, whatever it says
	case odd && m.Odd+1 < oddAnswers:
		m.Failed, m.Odd, m.Until = 0, m.Odd+1, time.Time{}
	default:
		pause := min(max(firstPause<<min(m.Failed, 5), failure.RetryAfter), longestPause)
		m.Failed, m.Until = m.Failed+1, now.Add(pause)
		if !odd {
			m.Odd = 0
		}
	}
	return m
}
