package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// runGate is the gate before one run of the agent. A nil runGate asks nothing.
type runGate struct {
	gate    *gate.Session
	journal []byte
}

// anyMessage is the policy of a session without one.
const anyMessage = `[{"gate": "context", "then": "allow"}]`

const (
	maxBody = 512 << 10
	// of a run's journal: what its calls say and return is in the history several times, which takes 50 MB
	maxRunGate = 4 << 20
)

var errRunGate = fmt.Errorf("the calls of a run and their results have %d MB at most", maxRunGate>>20)

// openRunGate opens the gate of a new run, or of the one that wrote the journal.
func openRunGate(c Config, journal []byte) (*runGate, error) {
	d := &runGate{journal: bytes.Clone(journal)}
	o := gate.Options{
		Audited: true, TTL: c.approvalTTL(), MaxBody: maxBody,
		Journal: func(lines []byte) error { d.journal = append(d.journal, lines...); return nil },
	}
	policy := c.Gate
	if policy == nil {
		p, err := gate.ParsePolicy([]byte(anyMessage))
		if err != nil {
			return nil, err
		}
		policy = &p
	}
	var err error
	if len(journal) == 0 {
		d.gate, err = gate.New(*policy, o)
	} else {
		d.gate, err = gate.Replay(*policy, o, bytes.NewReader(journal))
	}
	return d, err
}

// written is the journal.
func (d *runGate) written() []byte {
	if d == nil {
		return nil
	}
	return d.journal
}

func (d *runGate) pending() []gate.Item {
	if d == nil {
		return nil
	}
	return d.gate.Pending()
}

// deadline is when the first approval expires.
func (d *runGate) deadline() (at time.Time, ok bool) {
	for _, it := range d.pending() {
		if !it.Expires.IsZero() && (!ok || it.Expires.Before(at)) {
			at, ok = it.Expires, true
		}
	}
	return at, ok
}

// stage proposes the message of a step, and returns its item.
func (d *runGate) stage(now time.Time, thread string, st *Step) (string, error) {
	body, err := json.Marshal(map[string]string{"from": st.From, "message": st.Message})
	if err != nil {
		return "", err
	}
	it, err := d.gate.Propose(now, gate.Subject{
		Kind: gate.Context, Thread: thread, Run: st.Run, Label: "message of the " + st.From, Body: body,
	})
	return it.ID, err
}

// message hands out the message that was approved, perhaps edited. open says that a human is still asked; a reason why
// it was not approved.
func (d *runGate) message(now time.Time, id string) (text, reason string, open bool) {
	grant, err := d.gate.Redeem(now, id)
	if errors.Is(err, gate.ErrPending) {
		return "", "", true
	}
	if err != nil {
		return "", d.why(id, err), false
	}
	var body struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(grant.Body, &body); err != nil || body.Message == "" {
		return "", "the approved payload has no message", false
	}
	return body.Message, "", false
}

// why says what became of an item that was not approved.
func (d *runGate) why(id string, err error) string {
	it, _ := d.gate.Item(id)
	switch it.Status {
	case gate.Expired:
		return "nobody approved it in time"
	case gate.Denied:
		return fmt.Sprintf("denied by %s: %s", it.By, orElse(it.Reason, it.Rule))
	}
	return err.Error()
}

// ended reports whether the gate ended the run: by a human's stop, or too many denials.
func (d *runGate) ended(run string) (string, bool) {
	if d.gate.Phase(run) != "denied" {
		return "", false
	}
	for _, it := range d.gate.Items(run) {
		if it.Kind == gate.Context && it.Status != gate.Redeemed {
			return "the message was not sent to the agent: " + d.why(it.ID, gate.ErrDenied), true
		}
	}
	for _, r := range d.gate.Runs() {
		if r.ID == run {
			return "the run was stopped: " + r.Reason, true
		}
	}
	return "the run was stopped", true
}

// ask proposes calls of tools that the agent wants.
func (s *session) ask(st *Step, calls []Call) error {
	for _, c := range calls {
		if len(s.runGate.journal)+len(c.Args) > maxRunGate {
			return errRunGate
		}
		it, err := s.runGate.gate.Propose(workflow.Now(s.ctx), gate.Subject{
			Kind: gate.Tool, Thread: s.Name, Run: st.Run, Call: c.ID, Tool: c.Tool, Body: c.Args,
		})
		if err != nil {
			return err
		}
		st.Calls = append(st.Calls, it.ID)
	}
	return nil
}

// call looks at a call. A grant says that the tool is to run now; open that the call has no answer yet.
func (d *runGate) call(now time.Time, id string) (grant *gate.Subject, open bool) {
	it, _ := d.gate.Item(id)
	switch it.Status {
	case gate.Pending, gate.Redeemed:
		return nil, true
	case gate.Approved:
		if g, err := d.gate.Redeem(now, id); err == nil {
			return &g, true
		}
		it, _ = d.gate.Item(id)
		return nil, it.Status == gate.Pending
	}
	return nil, false
}

// done takes a tool's result. A tool that failed, or whose worker was lost, has a result too, which says so.
func (d *runGate) done(now time.Time, id string, result json.RawMessage, err error) {
	if err != nil || len(result) == 0 {
		result, _ = json.Marshal(map[string]string{"error": "the tool may or may not have done it: " + reasonOf(err)})
	}
	if err == nil && len(d.journal)+len(result) > maxRunGate {
		err = errRunGate
	} else {
		_, err = d.gate.Done(now, id, result)
	}
	if err != nil {
		result, _ = json.Marshal(
			map[string]string{"error": "the tool ran, and its result could not be taken: " + err.Error()},
		)
		_, _ = d.gate.Done(now, id, result) // a few bytes of JSON for a call that executes are always taken
	}
}

func reasonOf(err error) string {
	if err == nil {
		return "it returned nothing"
	}
	return reason(err)
}

// answers says what became of calls, in what a payload may have.
func (d *runGate) answers(ids []string) []Answer {
	list, room := make([]Answer, 0, len(ids)), maxCarry
	for _, id := range ids {
		it, _ := d.gate.Item(id)
		a := Answer{Call: it.Call, Tool: it.Tool, Status: string(it.Status), Result: it.Result}
		if it.Action == gate.Respond {
			a.Status = "answered"
		}
		if it.Status != gate.Done {
			a.Reason = d.why(id, gate.ErrDenied)
		}
		if room -= size(a.Result); room < 0 {
			a.Result, a.Reason = nil, "its result is too large to be handed over with those before: ask for less at a time"
		}
		list = append(list, a)
	}
	return list
}

// close ends the run.
func (d *runGate) close(now time.Time, run, why string) {
	if d != nil {
		_ = d.gate.Finish(now, run, why) // it fails only for a run that the gate ended itself
	}
}

// answer takes what a human says about an approval.
func (s *session) answer(a gate.Decision) {
	if s.runGate == nil {
		s.refuse("answer", errors.New("nothing is asked"))
		return
	}
	if _, err := s.runGate.gate.Resolve(workflow.Now(s.ctx), a); err != nil {
		s.refuse("answer", err)
	}
}

// expire denies what was not answered in time.
func (s *session) expire() {
	if at, ok := s.runGate.deadline(); ok && !workflow.Now(s.ctx).Before(at) {
		if _, err := s.runGate.gate.Expire(workflow.Now(s.ctx)); err != nil {
			s.refuse("approval", err)
		}
	}
}
