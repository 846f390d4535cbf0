package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// kind says what a host reports.
type kind int

const (
	other           kind = iota // nothing to do
	stopped                     // the agent paused and can be continued
	subagentStopped             // a sub-agent did
	broke                       // the turn broke; the message is the error, and the answer is not read
	notified                    // the agent paused, and cannot be continued any more
	prompted                    // a prompt goes to the agent
	printed                     // the agent printed something
)

// isPause reports whether the event is about an agent that paused.
func (k kind) isPause() bool {
	return k == stopped || k == subagentStopped || k == broke || k == notified
}

// event is what a host reports, in one form for all hosts. A field that a host does not have is zero.
type event struct {
	host    Host
	dialect dialect
	kind    kind
	session string // the host's ID of the conversation; never empty

	agent      string // which agent of the session, when it is not the main one
	internal   bool   // an agent that the host runs for itself
	generation string // the host's ID of the prompt, whoever wrote it
	dir        string // where the agent works
	transcript string // the file with the conversation of the agent that the event is about
	time       string // the host's time of the event, the same for all hooks that get it

	message  optional // what the agent printed last; with [dialect.accumulates] all of the turn so far
	prompt   optional // what went to the agent
	resumed  bool     // a hook continued the agent
	loop     int      // how often a hook continued the agent, in this turn or in this session
	counts   bool     // the host gives loop
	status   string   // how the turn ended: an error's code, "aborted", "error"
	mode     string   // the permission mode: "plan"
	tasks    []task   // work that goes on without the agent
	noTasks  bool     // the host says nothing about such work
	schedule int      // how many prompts are scheduled for later
}

// key is the session's name for [autocontinue.Output.Session]: the host's ID, and for a sub-agent a slash and the
// sub-agent's. So a sub-agent has a session of its own.
func (e event) key() string {
	if e.agent != "" {
		return e.session + "/" + e.agent
	}
	return e.session
}

// active reports whether a hook continued the agent before this pause.
func (e event) active() bool { return e.resumed || e.loop > 0 }

// ended reports whether the turn ended in the usual way.
func (e event) ended() bool { return e.status == "" || strings.EqualFold(e.status, "completed") }

// fromHuman reports whether the event is a prompt of the human, which opens a turn: not a message of ours that a host
// feeds back, and not a notice that the host wrote itself.
func (e event) fromHuman(m memory) bool {
	switch {
	case e.kind != prompted:
		return false
	case e.host == Gemini && m.Rested: // then Gemini CLI does not say "Please continue." to itself
		return !plaintext.IsOurs(e.prompt.text)
	}
	return !e.prompt.given || !transcript.Format(e.host).IsNotice(e.prompt.text) && !m.ours(e.prompt.text)
}

// optional is a text that a payload may leave out. Null is not the empty text.
type optional struct {
	text        string
	given, null bool
}

func some(text string) optional { return optional{text: text, given: true} }

func (t *optional) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*t = optional{null: true}
		return nil
	}
	t.given = true
	return json.Unmarshal(data, &t.text)
}

// task is a piece of background work. One that cannot be read is work all the same.
type task struct{ status string }

func (t *task) UnmarshalJSON(data []byte) error {
	var v struct {
		Status string `json:"status"`
	}
	if o, err := parse(data); err == nil && o.fill(&v) == nil {
		t.status = v.Status
	}
	return nil
}

// running reports whether the task may still be at work: only a status that is known to be an end says that it is not.
func (t task) running() bool {
	switch strings.ToLower(t.status) {
	case "completed", "complete", "done", "finished", "succeeded", "success", "failed", "error", "errored",
		"killed", "cancelled", "canceled", "stopped", "exited", "aborted", "timeout", "timed_out":
		return false
	}
	return true
}

// object holds the members of a JSON object by their exact names.
type object map[string]json.RawMessage

// parse reads a payload. Its errors quote nothing of it.
func parse(payload []byte) (object, error) {
	switch {
	case len(payload) > MaxEvent:
		return nil, fmt.Errorf("it is larger than %d MiB", MaxEvent>>20)
	case bytes.HasPrefix(payload, []byte{0xff, 0xfe}), bytes.HasPrefix(payload, []byte{0xfe, 0xff}):
		return nil, errors.New("it is UTF-16, where UTF-8 is needed")
	}
	payload = bytes.TrimPrefix(payload, []byte("\ufeff"))
	trimmed := bytes.TrimSpace(payload)
	switch {
	case len(trimmed) == 0:
		return nil, errors.New("it is empty")
	case trimmed[0] != '{':
		return nil, errors.New("it is not a JSON object")
	}
	var o object
	err := json.Unmarshal(payload, &o)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, fmt.Errorf("it is not valid JSON, at byte %d of %d", e.Offset, len(payload))
	}
	return o, err
}

// has reports whether all these keys are there.
func (o object) has(keys ...string) bool {
	for _, key := range keys {
		if _, ok := o[key]; !ok {
			return false
		}
	}
	return true
}

// fill sets the fields of a struct from the members with the exact names in its tags. A key that is not known is
// skipped. A value of another type than the host documents is an error: nobody can tell what it means.
func (o object) fill(v any) error {
	s := reflect.ValueOf(v).Elem()
	for i := range s.NumField() {
		key := s.Type().Field(i).Tag.Get("json")
		raw, ok := o[key]
		if !ok {
			continue
		}
		if err := json.Unmarshal(raw, s.Field(i).Addr().Interface()); err != nil {
			return fmt.Errorf("%q is not %s", key, nounOf(s.Field(i).Type()))
		}
	}
	return nil
}

func nounOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Slice:
		return "an array"
	}
	return "a string"
}

// need returns an error for the first of these texts that is missing.
func need(texts ...string) error {
	for i := 0; i < len(texts); i += 2 {
		if texts[i+1] == "" {
			return fmt.Errorf("%q is missing", texts[i])
		}
	}
	return nil
}

func blank(s string) bool { return plaintext.IsBlank(s) }
