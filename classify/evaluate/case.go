package evaluate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
)

// Action is what a host would do on a verdict.
type Action string

// The actions. Suppressing needs a history, which a case does not have.
const (
	Deliver  Action = "deliver"
	Continue Action = "continue"
)

// Case is one labelled output.
type Case struct {
	Name  string         `json:"name"` // unique among the cases that are evaluated together
	Input classify.Input `json:"input"`
	Want  Want           `json:"want"`
	Meta  map[string]any `json:"meta,omitempty"` // free; "sure", "agent" and "lang" are known to the report
}

// Want is the label of a case.
type Want struct {
	Type                  classify.OutputType `json:"type"`
	WasRejectedCompletion bool                `json:"was_rejected_completion"` // only with a status
	Action                Action              `json:"action,omitempty"`        // empty is what the type calls for
	Coaching              *Coaching           `json:"coaching,omitempty"`      // only with a rejected completion
}

// Coaching is what a classifier's coaching message has to be like. The zero value asks for a message, whatever it says.
type Coaching struct {
	Contains  []string `json:"contains,omitempty"`   // each of them; letter case does not matter
	Excludes  []string `json:"excludes,omitempty"`   // none of them; letter case does not matter
	MaxLength int      `json:"max_length,omitempty"` // in characters; 0 is no limit
}

// Check returns what is wrong with a message, in words and without quoting it; nothing when it is as it should be.
func (c Coaching) Check(message string) []string {
	if strings.TrimSpace(message) == "" {
		return []string{"there is no coaching message"}
	}
	var wrong []string
	lower := strings.ToLower(message)
	for _, s := range c.Contains {
		if !strings.Contains(lower, strings.ToLower(s)) {
			wrong = append(wrong, fmt.Sprintf("the coaching message lacks %q", s))
		}
	}
	for _, s := range c.Excludes {
		if strings.Contains(lower, strings.ToLower(s)) {
			wrong = append(wrong, fmt.Sprintf("the coaching message has %q", s))
		}
	}
	if n := utf8.RuneCountInString(message); c.MaxLength > 0 && n > c.MaxLength {
		wrong = append(wrong, fmt.Sprintf("the coaching message has %d characters, more than %d", n, c.MaxLength))
	}
	return wrong
}

// Sure reports whether the label is certain: unless meta.sure is false.
func (c Case) Sure() bool { return c.Meta["sure"] != false }

// action returns what the type of a case calls for.
func (w Want) action() Action {
	if w.Type == classify.Status {
		return Continue
	}
	return Deliver
}

// check returns every fault of a case by itself.
func (c Case) check() []error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if strings.TrimSpace(c.Name) == "" {
		fault("name: it is empty")
	}
	switch w := c.Want; {
	case w.Type == "":
		fault("want.type: it is missing")
	case !w.Type.Valid():
		fault("want.type: %s is none of %s", quoted(string(w.Type)), join(classify.Types()))
	default:
		if w.WasRejectedCompletion && w.Type != classify.Status {
			fault("want.was_rejected_completion: a %s is none; only a status can be", w.Type)
		}
		switch w.Action {
		case "", w.action():
		case Deliver, Continue:
			fault("want.action: a %s calls for %s, not for %s", w.Type, w.action(), w.Action)
		default:
			fault("want.action: %s is neither continue nor deliver", quoted(string(w.Action)))
		}
		if w.Coaching != nil && !(w.Type == classify.Status && w.WasRejectedCompletion) {
			fault("want.coaching: only a rejected completion is coached")
		}
	}
	for i, e := range c.Input.Evidence {
		if !e.Kind.Valid() {
			fault("input.evidence[%d].kind: %s is none of %s", i, quoted(string(e.Kind)), join(classify.EvidenceKinds()))
		}
	}
	if co := c.Want.Coaching; co != nil {
		if co.MaxLength < 0 {
			fault("want.coaching.max_length: %d is below 0", co.MaxLength)
		}
		if slices.Contains(co.Contains, "") || slices.Contains(co.Excludes, "") {
			fault("want.coaching: it contains or excludes an empty string")
		}
	}
	if sure, ok := c.Meta["sure"]; ok {
		if _, ok := sure.(bool); !ok {
			fault("meta.sure: it is neither true nor false")
		}
	}
	return faults
}

// checkAll returns the first fault of cases that no file was read for.
func checkAll(cases []Case) error {
	if len(cases) == 0 {
		return errors.New("there are no cases")
	}
	seen := make(map[string]bool, len(cases))
	for i, c := range cases {
		if faults := c.check(); len(faults) > 0 {
			return fmt.Errorf("case %d, %s: %w", i+1, quoted(c.Name), faults[0])
		}
		if seen[c.Name] {
			return fmt.Errorf("case %d: a second case is named %s", i+1, quoted(c.Name))
		}
		seen[c.Name] = true
	}
	return nil
}

// digest tells one input and label from another.
func (c Case) digest() string {
	c.Meta, c.Want.Action, c.Want.Coaching = nil, "", nil
	b, err := json.Marshal(c)
	if err != nil {
		return "" // strings, numbers and flags: there is nothing that could fail
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// quoted shows at most 60 bytes of a label or a name.
func quoted(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}

func join[S ~string](list []S) string {
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(s))
	}
	return b.String()
}
