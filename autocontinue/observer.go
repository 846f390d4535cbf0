package autocontinue

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/classify"
)

// Characters of what an event shows.
const (
	maxPreview = 200 // of the output
	maxQuote   = 60  // of the words of a signal
	maxReason  = 200 // of the classifier's reason, of why it fell back, of an error
	maxJudge   = 600 // of the classifier's own coaching message
	maxName    = 40  // of the names that a classifier gives to itself and to signals

	maxSignals = 32 // in an event
)

// Observer gets every decision, an error included, once for each call of Handle and before it returns. Events of one
// session come in the order of the decisions, except those of outputs that never got their turn.
//
// An implementation must be safe for concurrent use and must not call Handle for the same session. The context is
// Handle's, or what [Starter] made of it, but is never done. An error becomes a warning in the log; it changes no
// decision. Handle waits for Observe, and so does the next output of the session.
type Observer interface {
	Observe(ctx context.Context, e Event) error
}

// ObserverFunc is a function that is an [Observer].
type ObserverFunc func(ctx context.Context, e Event) error

// Observe calls f.
func (f ObserverFunc) Observe(ctx context.Context, e Event) error { return f(ctx, e) }

// Starter is an [Observer] that learns when Handle begins, such as a tracer.
type Starter interface {
	// Start is called once for each call of Handle, before it waits for its turn. It returns ctx or one made from it. The
	// classifier, the verifier and the store get that context, and so does Observe, without its end.
	Start(ctx context.Context) context.Context
}

// Event explains one decision. Of the agent's text its JSON holds a preview of at most 200 characters, and at most 60
// with each of the 32 heaviest signals. Words of agent and classifier are on one line, visible and without secrets.
type Event struct {
	Time     time.Time     `json:"time"`    // when Handle was called
	Took     time.Duration `json:"took_ns"` // until the decision
	Session  string        `json:"session"` // this and the other names of the output: a secret in one is masked
	Turn     string        `json:"turn,omitempty"`
	Run      string        `json:"run,omitempty"`
	OutputID string        `json:"output_id,omitempty"`
	Decision Decision      `json:"decision"` // its Result without signals: they are in Signals
	Signals  []quote       `json:"signals,omitempty"`
	Preview  string        `json:"preview,omitempty"` // how the output begins
	Err      string        `json:"error,omitempty"`
	Cause    error         `json:"-"` // the error that Err shows, whole: for errors.Is, not to be shown
	// Input is what the classifier was asked, or would have been. It has the whole text, without secrets.
	Input classify.Input `json:"-"`
}

// quote is a signal and the words that it points at.
type quote struct {
	classify.Signal
	Words string `json:"words"`
}

func (a *AutoContinue) event(f Facts, s State, d Decision, err error) Event {
	o := f.Output
	e := Event{
		Session: a.redacted(o.Session), Turn: a.redacted(o.Turn), Run: a.redacted(o.Run), OutputID: a.redacted(o.ID),
		Input: f.input(s), Decision: d, Preview: shown(o.Text[:min(len(o.Text), 64*maxPreview)], maxPreview),
	}
	r := &e.Decision.Result
	signals := slices.Clone(r.Signals)
	if len(signals) > maxSignals { // the heaviest, in the order of the text
		slices.SortStableFunc(signals, func(a, b classify.Signal) int { return cmp.Compare(b.Weight, a.Weight) })
		signals = signals[:maxSignals]
		slices.SortStableFunc(signals, func(a, b classify.Signal) int { return cmp.Compare(a.Start, b.Start) })
	}
	for _, s := range signals {
		s.Kind, s.Name = classify.SignalKind(shown(string(s.Kind), maxName)), shown(s.Name, maxName)
		words := shown(o.Text[s.Start:s.End], maxQuote)
		e.Signals = append(e.Signals, quote{Signal: s, Words: strings.Clone(words)}) // does not keep the output
	}
	r.SignalsDropped += len(r.Signals) - len(e.Signals)
	r.Signals = nil
	r.Source = shown(r.Source, maxName)
	r.Reason = shown(r.Reason, maxReason)
	r.Fallback = shown(r.Fallback, maxReason)
	r.CoachingMessage = shown(r.CoachingMessage, maxJudge)
	if err != nil {
		e.Err, e.Cause = shown(err.Error(), maxReason), err
	}
	return e
}

// NewJournal returns an observer that writes each event to w as one line of JSON, with one call of Write. It is safe
// for concurrent use, goes on after an error, and never closes w. [New] refuses a journal without a writer.
func NewJournal(w io.Writer) Observer {
	if w == nil || classify.HoldsNil(w) {
		return ObserverFunc(nil)
	}
	var mu sync.Mutex
	return ObserverFunc(func(_ context.Context, e Event) error {
		mu.Lock()
		defer mu.Unlock()
		enc := json.NewEncoder(w) // it writes once
		enc.SetEscapeHTML(false)
		return wrap("journal", enc.Encode(e))
	})
}
