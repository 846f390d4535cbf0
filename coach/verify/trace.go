package verify

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

type eventName string // what an event of a trace is

const (
	validateStart eventName = "coach_validate_start" // a review was begun
	decisionMade  eventName = "coach_decision"       // a decision was recorded
	feedbackGiven eventName = "coach_feedback"       // the agent got feedback
)

// Event is one event of a trace. Name says which of the fields after Task is set.
type Event struct {
	Time time.Time `json:"time"` // by the host's clock
	Name eventName `json:"event"`
	Task string    `json:"task_id"`

	Start    *started  `json:"start,omitempty"`    // coach_validate_start
	Decision *recorded `json:"decision,omitempty"` // coach_decision
	Items    []Item    `json:"items,omitempty"`    // coach_feedback: worst first
}

// Started is what a review was begun with and what was seen until then. Another process can resume it.
type started struct {
	Task         Task          `json:"task"`
	Requirements []Requirement `json:"requirements"`
	Report       Report        `json:"report"`
	Facts        Facts         `json:"facts"`
}

// Recorded is a decision as it was recorded.
type recorded struct {
	Decision  Decision `json:"decision"`
	Overrides []string `json:"overrides,omitempty"`
	Honesty   Honesty  `json:"honesty"`
}

// Started returns the event that a review was begun.
func (r *Review) Started(at time.Time) Event {
	return Event{Time: at, Name: validateStart, Task: r.task.ID,
		Start: &started{Task: r.task, Requirements: r.Requirements(), Report: r.report, Facts: r.facts}}
}

// Recorded returns the event that a decision was recorded. With feedback, a second event says that the agent gets it.
// D and overrides are what Record returned.
func (r *Review) Recorded(at time.Time, d Decision, overrides []string) []Event {
	events := []Event{{Time: at, Name: decisionMade, Task: r.task.ID,
		Decision: &recorded{Decision: d, Overrides: overrides, Honesty: r.Honesty()}}}
	if d.Verdict != Approve {
		events = append(events, Event{Time: at, Name: feedbackGiven, Task: r.task.ID, Items: ordered(d.Items)})
	}
	return events
}

// Resume returns the review that was begun.
func (s started) Resume() *Review {
	r := Begin(s.Task, s.Requirements, s.Report)
	r.Observe(s.Facts)
	return r
}

// Trace is a list of events, in the order of time.
type Trace []Event

// ReadTrace reads JSON Lines as [Trace.Lines] writes them. The error names the first line that is not an event.
func ReadTrace(text []byte) (Trace, error) {
	var t Trace
	n := 0
	for line := range bytes.Lines(text) {
		n++
		var e Event
		if json.Unmarshal(line, &e) != nil || e.Name == "" {
			return nil, fmt.Errorf("verify: trace, line %d: it is not an event", n)
		}
		t = append(t, e)
	}
	return t, nil
}

// Lines returns the events as JSON Lines.
func (t Trace) Lines() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, e := range t {
		if err := enc.Encode(e); err != nil {
			return nil, fmt.Errorf("verify: trace: %w", err)
		}
	}
	return b.Bytes(), nil
}

// History returns the events of one task.
func (t Trace) History(task string) Trace {
	return slices.DeleteFunc(slices.Clone(t), func(e Event) bool { return e.Task != task })
}

// Stalled reports whether the last n decisions of a task gave the same feedback. N below 2 is 2.
func Stalled(history Trace, n int) bool {
	n = max(n, 2)
	var rounds [][]string
	for _, e := range history {
		if e.Decision != nil {
			rounds = append(rounds, issues(e.Decision.Decision))
		}
	}
	if len(rounds) < n || len(rounds[len(rounds)-1]) == 0 {
		return false
	}
	return len(slices.CompactFunc(rounds[len(rounds)-n:], slices.Equal)) == 1
}

// issues returns the feedback of a decision, sorted, and which requirements it found to be met. An approval has none.
func issues(d Decision) (all []string) {
	if d.Verdict == Approve {
		return nil
	}
	for _, c := range d.Requirements {
		if c.Status == Met {
			all = append(all, "met\x00"+cmp.Or(c.ID, c.Requirement))
		}
	}
	for _, it := range d.Items {
		all = append(all, cleanPath(it.File)+"\x00"+fold(it.Issue))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
