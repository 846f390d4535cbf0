package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// maxFaults is how many faults are named.
const maxFaults = 10

// checker compares what the workers left with what must hold, and with what one process that never dies decides. Where
// versions of the library are mixed, or the order is lost, what was decided first stands for the latter.
type checker struct {
	faults   []error
	attempts map[string]map[int][]entry // by session and place in its queue
	acts     map[string]act             // by decision
	crowd    bool
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf(format, args...))
}

// verdict returns what is wrong.
func (p *pass) verdict() error {
	c := &checker{crowd: p.crowd, attempts: make(map[string]map[int][]entry), acts: make(map[string]act)}
	for _, e := range p.journal {
		if e.At < 0 || e.At >= len(p.sessions[e.Session]) {
			c.fault("%s: the journal has a delivery %d that was never made", e.Session, e.At)
			continue
		}
		if c.attempts[e.Session] == nil {
			c.attempts[e.Session] = make(map[int][]entry)
		}
		c.attempts[e.Session][e.At] = append(c.attempts[e.Session][e.At], e)
	}
	c.whatWasDone(p.acts)
	for _, name := range slices.Sorted(maps.Keys(p.sessions)) {
		want, err := alone(p.sessions[name])
		if err != nil {
			return err
		}
		switch {
		case p.newer[name]:
			want = refused(p.sessions[name])
		case p.mixed, p.crowd:
			c.asTold(name, want)
		}
		c.session(name, p.sessions[name], want)
	}
	for id, a := range c.acts {
		c.fault("%s, %s: %s was acted on, but nothing decided it", a.Session, a.Run, id)
	}
	if p.overwritten > 0 {
		c.fault("%d states of a newer version were overwritten", p.overwritten)
	}
	if n := len(c.faults); n > maxFaults {
		c.faults = append(c.faults[:maxFaults], fmt.Errorf("and %d more", n-maxFaults))
	}
	return errors.Join(c.faults...)
}

// whatWasDone checks what holds whatever was decided.
func (c *checker) whatWasDone(acts []act) {
	type part struct{ session, name string }
	byRun, byTurn, byOutput := make(map[part]int), make(map[part]int), make(map[part]int)
	for _, a := range acts {
		if _, twice := c.acts[a.Decision]; twice {
			c.fault("%s, %s: decision %s was acted on twice", a.Session, a.Run, a.Decision)
		}
		c.acts[a.Decision] = a
		if a.Output != "" {
			if output := (part{a.Session, a.Output}); byOutput[output] == 0 {
				byOutput[output]++
			} else {
				c.fault("%s: %s was acted on under two decisions", a.Session, a.Output)
			}
		}
		if a.Action == autocontinue.Continue {
			byRun[part{a.Session, a.Run}]++
			byTurn[part{a.Session, a.Turn}]++
		}
	}
	for run, n := range byRun {
		if n > 1 {
			c.fault("%s, %s: continued %d times", run.session, run.name, n)
		}
	}
	for turn, n := range byTurn {
		if n > autocontinue.DefaultMaxContinues {
			c.fault("%s, %s: %d continuations, at most %d", turn.session, turn.name, n, autocontinue.DefaultMaxContinues)
		}
	}
}

// asTold makes of what one process would decide what was told first. Another version, or another order, may lead to
// something else; but what was decided first holds for all, under the same ID. Without an order, what is outdated may
// be told before what it was.
func (c *checker) asTold(name string, want []autocontinue.Decision) {
	for at := range want {
		id, told := want[at].ID, false
		for _, e := range c.attempts[name][at] {
			d := e.Decision
			if e.Error == "" && d.ID == id && (!told || c.crowd && outdated(want[at], d) && !outdated(d, want[at])) {
				want[at], told = d, true
			}
		}
	}
}

// session checks the attempts at a session's deliveries, and takes the acts that they led to from c.acts.
func (c *checker) session(name string, queue []autocontinue.Output, want []autocontinue.Decision) {
	decided := make(map[string]autocontinue.Decision) // by output
	for at, out := range queue {
		decisions := 0
		for _, e := range c.attempts[name][at] {
			d := e.Decision
			if e.Error != "" && (d.Action != autocontinue.Deliver || d.Reason != "error") {
				c.fault("%s: delivery %d (%s): %s %s with the error %s", name, at, out.ID, d.Action, d.Reason, e.Error)
			}
			if e.Error != "" && !e.Shown {
				continue // it came again
			}
			if same(d, want[at]) {
				decisions++
			} else if !outdated(d, want[at]) {
				c.fault("%s: delivery %d (%s): %s %s %s, but one process decides %s %s %s", name, at, out.ID,
					d.Action, d.Reason, d.ID, want[at].Action, want[at].Reason, want[at].ID)
			}
		}
		if decisions == 0 {
			c.fault("%s: delivery %d (%s) was lost", name, at, out.ID)
		}
		if a, ok := c.acts[want[at].ID]; ok && c.crowd && want[at].Action == autocontinue.Suppress && a.Session == name &&
			a.Output == out.ID {
			decided[out.ID] = decisionOf(a) // who acted died before it could say so
		}
		first, again := decided[out.ID]
		switch {
		case !again && want[at].Action != autocontinue.Suppress:
			decided[out.ID] = want[at]
		case again && c.crowd && outdated(first, want[at]) && !outdated(want[at], first):
			decided[out.ID] = want[at]
		case again && !same(want[at], first) && !outdated(want[at], first):
			c.fault("%s: delivery %d (%s): %s %s, after %s %s of the same output", name, at, out.ID,
				want[at].Action, want[at].Reason, first.Action, first.Reason)
		}
	}
	for output, d := range decided {
		a, ok := c.acts[d.ID]
		delete(c.acts, d.ID)
		switch {
		case !ok:
			c.fault("%s: %s: decision %s was never acted on", name, output, d.ID)
		case c.crowd && a.Session == name && a.Output == output && outdated(d, decisionOf(a)):
			// Who acted died before it could say so; the others were told when the turn was over.
		case c.crowd && a.Session == name && a.Output == output && a.Action == autocontinue.Deliver &&
			c.superseded(name, d.ID):
			// Who was told so last acted first.
		case a.Session != name, a.Output != "" && a.Output != output, a.Action != d.Action, a.Message != d.Message:
			c.fault("%s: %s: decision %s is %s, but what was done is %s of %s, %s", name, output, d.ID, d.Action,
				a.Action, a.Session, a.Output)
		}
	}
}

// decisionOf returns the decision that an act was made under.
func decisionOf(a act) autocontinue.Decision {
	return autocontinue.Decision{ID: a.Decision, Action: a.Action, Message: a.Message}
}

// superseded reports whether a worker was told that the turn of a decision is over.
func (c *checker) superseded(session, id string) bool {
	for _, tries := range c.attempts[session] {
		for _, e := range tries {
			if e.Decision.ID == id && e.Decision.Reason == "superseded" {
				return true
			}
		}
	}
	return false
}

// same compares what the host acts on.
func same(got, want autocontinue.Decision) bool {
	return got.Action == want.Action && got.Message == want.Message && got.ID == want.ID
}

// outdated says that got is what a worker was told that came back to a delivery, after others had handled it and the
// session had gone on: the same decision, but nothing to send the agent any more.
func outdated(got, want autocontinue.Decision) bool {
	return got.ID == want.ID && (got.Reason == "superseded" || got.Action == autocontinue.Suppress)
}

// alone returns what one process decides that handles the session's deliveries in order.
func alone(queue []autocontinue.Output) ([]autocontinue.Decision, error) {
	return decideAll(queue, autocontinue.NewMemoryStore(0), nil)
}

// refused returns the decisions about the deliveries of a session that a newer version wrote.
func refused(queue []autocontinue.Output) []autocontinue.Decision {
	list, _ := decideAll(queue, newerStore{}, autocontinue.ErrStateVersion)
	return list
}

// newerStore holds nothing but states of a newer version.
type newerStore struct{ autocontinue.Store }

func (newerStore) Load(context.Context, string) (autocontinue.State, error) {
	return autocontinue.State{}, autocontinue.ErrStateVersion
}

func decideAll(queue []autocontinue.Output, store autocontinue.Store, expected error) ([]autocontinue.Decision, error) {
	h, err := classify.NewHeuristic()
	if err != nil {
		return nil, err
	}
	ac, err := autocontinue.New(autocontinue.Config{Classifier: h, Store: store})
	if err != nil {
		return nil, err
	}
	list := make([]autocontinue.Decision, len(queue))
	for i, out := range queue {
		if list[i], err = ac.Handle(context.Background(), out); !errors.Is(err, expected) {
			return nil, err
		}
	}
	return list, nil
}
