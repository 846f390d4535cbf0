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

// verdict compares what the workers left with what must hold, and with what one process that never dies decides.
func (p *pass) verdict() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }

	attempts := make(map[string]map[int][]entry)
	for _, e := range p.journal {
		if attempts[e.Session] == nil {
			attempts[e.Session] = make(map[int][]entry)
		}
		attempts[e.Session][e.At] = append(attempts[e.Session][e.At], e)
	}
	done := make(map[string]act) // by decision
	for _, a := range p.acts {
		if _, twice := done[a.Decision]; twice {
			fault("%s, %s: decision %s was acted on twice", a.Session, a.Run, a.Decision)
		}
		done[a.Decision] = a
	}

	acted := 0
	for _, name := range slices.Sorted(maps.Keys(p.sessions)) {
		queue := p.sessions[name]
		want, err := alone(queue)
		if err != nil {
			return err
		}
		continues := make(map[string]map[string]bool) // decisions by run
		byTurn := make(map[string]map[string]bool)    // decisions by turn
		decided := make(map[string]string)            // decision by output
		for at, out := range queue {
			tries := attempts[name][at]
			if len(tries) == 0 {
				fault("%s: delivery %d (%s) was lost", name, at, out.ID)
			}
			for _, e := range tries {
				d := e.Decision
				if !sameDecision(d, want[at]) {
					fault("%s: delivery %d (%s): %s %s %s, but one process decides %s %s %s", name, at, out.ID,
						d.Action, d.Reason, d.ID, want[at].Action, want[at].Reason, want[at].ID)
				}
				if d.Action == autocontinue.Suppress {
					continue
				}
				if before, ok := decided[out.ID]; ok && before != d.ID {
					fault("%s: %s has two decisions, %s and %s", name, out.ID, before, d.ID)
				}
				decided[out.ID] = d.ID
				if _, ok := done[d.ID]; !ok {
					fault("%s: %s: decision %s was never acted on", name, out.ID, d.ID)
				}
				if d.Action == autocontinue.Continue {
					put(continues, out.Run, d.ID)
					put(byTurn, out.Turn, d.ID)
				}
			}
		}
		for run, ids := range continues {
			if len(ids) > 1 {
				fault("%s, %s: continued %d times", name, run, len(ids))
			}
		}
		for turn, ids := range byTurn {
			if len(ids) > 3 {
				fault("%s, %s: %d continuations, at most 3", name, turn, len(ids))
			}
		}
		acted += len(decided)
	}
	if acted != len(p.acts) {
		fault("%d decisions and %d acts", acted, len(p.acts))
	}
	if n := len(faults); n > maxFaults {
		faults = append(faults[:maxFaults], fmt.Errorf("and %d more", n-maxFaults))
	}
	return errors.Join(faults...)
}

func put(m map[string]map[string]bool, key, value string) {
	if m[key] == nil {
		m[key] = make(map[string]bool)
	}
	m[key][value] = true
}

// sameDecision compares what the host acts on. A delivery that comes to a second worker while the first is still slow may be told
// after the session went on: then a continuation has become the delivery of the same decision.
func sameDecision(got, want autocontinue.Decision) bool {
	if got.Action == want.Action && got.Message == want.Message && got.ID == want.ID {
		return true
	}
	return got.Replayed && got.ID == want.ID && got.Reason == autocontinue.ReasonSuperseded
}

// alone returns what one process decides that handles the session's deliveries in order.
func alone(queue []autocontinue.Output) ([]autocontinue.Decision, error) {
	h, err := classify.NewHeuristic()
	if err != nil {
		return nil, err
	}
	ac, err := autocontinue.New(autocontinue.Config{Classifier: h, Store: autocontinue.NewMemoryStore(0)})
	if err != nil {
		return nil, err
	}
	list := make([]autocontinue.Decision, len(queue))
	for i, out := range queue {
		if list[i], err = ac.Handle(context.Background(), out); err != nil {
			return nil, err
		}
	}
	return list, nil
}
