package autocontinue

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
)

// Characters of what an event shows.
const (
	maxPreview = 200 // of the output
	maxQuote   = 60  // of the words of a signal
	maxReason  = 200 // of the classifier's reason, of why it fell back, of an error
	maxJudge   = 600 // of the classifier's own coaching message
	maxName    = 40  // of the names that a classifier gives to itself and to signals
)

// maxSignals is how many signals an event shows.
const maxSignals = 32

// Observer is told of every decision, an error included, once for each call of Handle and before it returns. Events of one
// session come in the order of the decisions, except for those of outputs that never got their turn.
//
// An implementation must be safe for concurrent use and must not call Handle for the same session. The context is
// Handle's, or what [Starter] made of it, but is never done. An error becomes a warning in the log; it changes no decision.
//
// Handle waits for Observe, and so does the next output of the session: what may take long belongs in a queue of the
// observer's. A panic is not caught; by then the decision is recorded and the session free again once Handle has unwound.
type Observer interface {
	Observe(ctx context.Context, e Event) error
}

// ObserverFunc is a function that is an [Observer].
type ObserverFunc func(ctx context.Context, e Event) error

// Observe calls f.
func (f ObserverFunc) Observe(ctx context.Context, e Event) error { return f(ctx, e) }

// Starter is what an [Observer] can be as well, to be told when Handle begins. A tracer opens its span here, and what the
// classifier, the verifier and the store then trace is part of it.
type Starter interface {
	// Start is called once for each call of Handle, before it waits for its turn. The context it returns, ctx or one made from
	// it, is what the classifier, the verifier, the store and then, without its end, Observe are given.
	Start(ctx context.Context) context.Context
}

// Event explains one decision. Of the agent's text it holds a preview of at most 200 characters and, with each signal, at
// most 60; it shows the 32 heaviest signals. What was written by the agent or by a classifier is cleaned, see [coach.Clean].
type Event struct {
	Time     time.Time     `json:"time"`    // when Handle was called
	Took     time.Duration `json:"took_ns"` // until the decision
	Session  string        `json:"session"`
	Turn     string        `json:"turn,omitempty"`
	Run      string        `json:"run,omitempty"`
	OutputID string        `json:"output_id,omitempty"`
	Decision Decision      `json:"decision"` // its Result without signals: they are in Signals
	Signals  []Quote       `json:"signals,omitempty"`
	Preview  string        `json:"preview,omitempty"` // how the output begins
	Err      string        `json:"error,omitempty"`
	Cause    error         `json:"-"` // the error that Err shows, whole: for errors.Is, not to be shown
}

// Quote is a signal and the words it points at.
type Quote struct {
	classify.Signal
	Words string `json:"words"`
}

func newEvent(o Output, d Decision, err error) Event {
	e := Event{
		Session: o.Session, Turn: o.Turn, Run: o.Run, OutputID: o.ID,
		Decision: d, Preview: coach.Clean(o.Text, maxPreview),
	}
	r := &e.Decision.Result
	signals, dropped := strongest(r.Signals)
	for _, s := range signals {
		s.Kind, s.Name = classify.SignalKind(coach.Clean(string(s.Kind), maxName)), coach.Clean(s.Name, maxName)
		words := coach.Clean(span(o.Text, s.Start, s.End), maxQuote)
		e.Signals = append(e.Signals, Quote{Signal: s, Words: strings.Clone(words)}) // an event that is kept does not keep the output
	}
	r.Signals = nil
	r.SignalsDropped += dropped
	r.Source = coach.Clean(r.Source, maxName)
	r.Reason = coach.Clean(r.Reason, maxReason)
	r.Fallback = coach.Clean(r.Fallback, maxReason)
	r.CoachingMessage = coach.Clean(r.CoachingMessage, maxJudge)
	if err != nil {
		e.Err, e.Cause = coach.Clean(err.Error(), maxReason), err
	}
	return e
}

// strongest returns the maxSignals heaviest signals, in their order, and how many there were beside them.
func strongest(signals []classify.Signal) (kept []classify.Signal, dropped int) {
	if len(signals) <= maxSignals {
		return signals, 0
	}
	weights := make([]float64, len(signals))
	for i, s := range signals {
		weights[i] = s.Weight
	}
	slices.Sort(weights)
	least := weights[len(weights)-maxSignals]
	for _, s := range signals {
		if s.Weight >= least && len(kept) < maxSignals {
			kept = append(kept, s)
		}
	}
	return kept, len(signals) - len(kept)
}

// span returns text[start:end], or nothing for what is no span of text.
func span(text string, start, end int) string {
	if start < 0 || end > len(text) || start >= end {
		return ""
	}
	return text[start:end]
}
