package verify

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
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

// Event is one event of a trace. Of the fields after Task those are set that its name says.
type Event struct {
	Time time.Time `json:"time"` // by the host's clock
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
		Start: &Started{Task: r.task, Requirements: r.Requirements(), Report: r.report, Facts: r.facts}}
}

// Recorded returns the events that a decision was recorded and, with feedback, that the agent gets it. D and overrides are
// what Record returned.
func (r *Review) Recorded(at time.Time, d Decision, overrides []string) []Event {
	events := []Event{{Time: at, Name: DecisionMade, Task: r.task.ID, Decision: &Recorded{Decision: d, Overrides: overrides, Honesty: r.Honesty()}}}
	if d.Verdict != Approve {
		events = append(events, Event{Time: at, Name: FeedbackGiven, Task: r.task.ID, Items: ordered(d.Items)})
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

const maxEvent = 16 << 20 // bytes of a line of a trace

var errLine = errors.New("longer than 16 MiB")

// ErrTraceEdited says that a trace is not as it was written.
var ErrTraceEdited = errors.New("it was edited")

// signed is an event with its signature, which covers the event and the signature before it.
type signed struct {
	Event json.RawMessage `json:"signed"`
	MAC   string          `json:"mac"`
}

func sign(key []byte, before string, event []byte) string {
	h := hmac.New(sha256.New, key)
	_, _ = io.WriteString(h, before)
	_, _ = h.Write(event)
	return hex.EncodeToString(h.Sum(nil))
}

// ReadTrace reads JSON Lines as [Trace.Append] writes them, and checks that key signed each. It returns the events, the
// last signature, and how many bytes the whole lines have. A last line without its line end was cut off with its process,
// and is not part of the trace. Any other line that is not an event is an error that names it, and wraps [ErrTraceEdited]
// if its signature is wrong.
func ReadTrace(rd io.Reader, key []byte) (t Trace, last string, size int64, err error) {
	br := bufio.NewReader(rd)
	for n := 1; ; n++ {
		text, err := readLine(br)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, "", 0, fmt.Errorf("verify: trace, line %d: %w", n, err)
		}
		if err != nil {
			return t, last, size, nil
		}
		size += int64(len(text))
		var s signed
		var e Event
		switch {
		case len(bytes.TrimSpace(text)) == 0:
			continue
		case json.Unmarshal(text, &s) != nil || json.Unmarshal(s.Event, &e) != nil || e.Name == "":
			return nil, "", 0, fmt.Errorf("verify: trace, line %d: it is not an event", n)
		case !hmac.Equal([]byte(s.MAC), []byte(sign(key, last, s.Event))):
			return nil, "", 0, fmt.Errorf("verify: trace, line %d: %w", n, ErrTraceEdited)
		}
		t, last = append(t, e), s.MAC
	}
}

func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxEvent {
			return nil, errLine
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Append returns the lines of the events behind a signature, and the last signature. The first trace begins behind "".
// The error is for an event that is longer than 16 MiB.
func (t Trace) Append(key []byte, last string) ([]byte, string, error) {
	var b bytes.Buffer
	for _, e := range t {
		event, err := json.Marshal(e)
		if err != nil {
			return nil, "", fmt.Errorf("verify: trace: %w", err)
		}
		last = sign(key, last, event)
		line, err := json.Marshal(signed{event, last})
		if err != nil {
			return nil, "", fmt.Errorf("verify: trace: %w", err)
		}
		if len(line) >= maxEvent {
			return nil, "", fmt.Errorf("verify: trace: an event is %w", errLine)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes(), last, nil
}

// History returns the events of one task.
func (t Trace) History(task string) Trace {
	return slices.DeleteFunc(slices.Clone(t), func(e Event) bool { return e.Task != task })
}

// Stalled reports whether the last n decisions of a task gave the same feedback, and no requirement was met in them that had
// not been met before. N below 2 is 2.
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
