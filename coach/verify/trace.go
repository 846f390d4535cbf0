package verify

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// EventName is what an event of a trace is.
type EventName string

// The events of a trace.
const (
	ValidateStart EventName = "coach_validate_start" // a review was begun
	DecisionMade  EventName = "coach_decision"       // a decision was recorded
	FeedbackGiven EventName = "coach_feedback"       // the agent got feedback
)

// Event is one event of a trace. Of the fields after Task those belong to it that its name says.
type Event struct {
	Time time.Time `json:"time"` // as the host's clock has it
	Name EventName `json:"event"`
	Task string    `json:"task_id"`

	Start    *Started  `json:"start,omitempty"`    // coach_validate_start
	Decision *Recorded `json:"decision,omitempty"` // coach_decision
	Items    []Item    `json:"items,omitempty"`    // coach_feedback: worst first
}

// Started is what a review was begun with and what was seen until then: enough to go on with it in another process.
type Started struct {
	Task         Task          `json:"task"`
	Requirements []Requirement `json:"requirements"`
	Report       Report        `json:"report"`
	Facts        Facts         `json:"facts"`
}

// Recorded is a decision as it was recorded.
type Recorded struct {
	Decision  Decision `json:"decision"`
	Overrides []string `json:"overrides,omitempty"`
	Honesty   Honesty  `json:"honesty"`
}

// Started returns the event that a review was begun.
func (r *Review) Started(at time.Time) Event {
	return Event{Time: at, Name: ValidateStart, Task: r.task.ID,
		Start: &Started{Task: r.task, Requirements: r.Requirements(), Report: r.report, Facts: r.Facts()}}
}

// Recorded returns the events that a decision was recorded and, with feedback, that the agent gets it. D and overrides are what Record
// returned.
func (r *Review) Recorded(at time.Time, d Decision, overrides []string) []Event {
	events := []Event{{Time: at, Name: DecisionMade, Task: r.task.ID, Decision: &Recorded{Decision: d, Overrides: overrides, Honesty: r.Honesty()}}}
	if d.Verdict != Approve {
		events = append(events, Event{Time: at, Name: FeedbackGiven, Task: r.task.ID, Items: Ordered(d.Items)})
	}
	return events
}

// Resume returns the review that an event of its begin describes.
func (s Started) Resume() *Review {
	r := Begin(s.Task, s.Requirements, s.Report)
	r.Observe(s.Facts)
	return r
}

// Trace is a list of events, in the order of time.
type Trace []Event

// maxLine bounds a line of a trace: a report and the ends of some outputs fit.
const maxLine = 16 << 20

// ReadTrace reads JSON Lines as WriteTo writes them; blank lines are skipped. A last line without its line end was cut off, by
// a process that died, and is skipped if it is no JSON. Any other line that is no event is an error that names it.
func ReadTrace(rd io.Reader) (Trace, error) {
	var t Trace
	br := bufio.NewReader(rd)
	for n := 1; ; n++ {
		line, err := readLine(br)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("verify: trace, line %d: %w", n, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			var e Event
			if bad := json.Unmarshal(line, &e); bad != nil || e.Name == "" {
				if err != nil {
					return t, nil
				}
				return nil, fmt.Errorf("verify: trace, line %d: it is no event", n)
			}
			t = append(t, e)
		}
		if err != nil {
			return t, nil
		}
	}
}

var errLine = errors.New("longer than 16 MiB")

func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, errLine
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// WriteTo writes the events as JSON Lines, in one call of Write. An event that is longer than ReadTrace takes is an error, and then
// nothing is written.
func (t Trace) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, e := range t {
		before := b.Len()
		if err := enc.Encode(e); err != nil {
			return 0, fmt.Errorf("verify: trace: %w", err)
		}
		if b.Len()-before > maxLine {
			return 0, fmt.Errorf("verify: trace: an event is %w", errLine)
		}
	}
	n, err := w.Write(b.Bytes())
	return int64(n), err
}

// History returns the events of one task.
func (t Trace) History(task string) Trace {
	return slices.DeleteFunc(slices.Clone(t), func(e Event) bool { return e.Task != task })
}

// The steps of the contract, for [Trace.VerifyContract].
const (
	ValidateStep = "validate_implementation"
	RecordStep   = "record_decision"
)

// VerifyContract returns an error unless the trace of a task has the steps, each after the one before, and no decision without a
// review that was begun after the decision before it. The error says what is missing.
func (t Trace) VerifyContract(steps ...string) error {
	begun := false
	for i, e := range t {
		switch e.Name {
		case ValidateStart:
			begun = true
		case DecisionMade:
			if !begun {
				return fmt.Errorf("verify: contract: event %d is a decision without %s before it", i+1, ValidateStep)
			}
			begun = false
		}
	}
	rest := t
	for _, step := range steps {
		name, ok := map[string]EventName{ValidateStep: ValidateStart, RecordStep: DecisionMade}[step]
		if !ok {
			return fmt.Errorf("verify: contract: no such step, %q: the steps are %s and %s", step, ValidateStep, RecordStep)
		}
		i := slices.IndexFunc(rest, func(e Event) bool { return e.Name == name })
		if i < 0 {
			return fmt.Errorf("verify: contract: %s was not called", step)
		}
		rest = rest[i+1:]
	}
	return nil
}

// Stalled reports whether the last n decisions of a task gave the same feedback and no requirement was met in them that had not been
// met before: the next round would give the same. N below 2 is 2.
func Stalled(history Trace, n int) bool {
	n = max(n, 2)
	var decisions []Decision
	for _, e := range history {
		if e.Name == DecisionMade && e.Decision != nil {
			decisions = append(decisions, e.Decision.Decision)
		}
	}
	if len(decisions) < n {
		return false
	}
	met := map[string]bool{}
	progress := false // in one of the last n after their first
	for i, d := range decisions {
		late := i > len(decisions)-n
		for _, c := range d.Requirements {
			if id := firstOf(c.ID, c.Requirement); c.Status == Met && !met[id] {
				met[id] = true
				progress = progress || late
			}
		}
		if late && (d.Verdict == Approve || !slices.Equal(said(d), said(decisions[i-1]))) {
			return false
		}
	}
	return !progress && decisions[len(decisions)-n].Verdict != Approve
}

// said is what a decision's feedback says, in an order of its own.
func said(d Decision) []string {
	var all []string
	for _, it := range d.Items {
		all = append(all, cleanPath(it.File)+"\x00"+fold(it.Issue))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
