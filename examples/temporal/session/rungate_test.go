package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

func rules(t *testing.T, text string) *gate.Policy {
	t.Helper()
	p, err := gate.ParsePolicy([]byte(text))
	require.NoError(t, err)
	return &p
}

// asked returns the only approval that is asked for.
func (w *world) asked() gate.Item {
	w.t.Helper()
	v := w.view()
	require.Len(w.t, v.Asked, 1)
	assert.Equal(w.t, "approval", v.Doing)
	return v.Asked[0]
}

// answers answers the approval that is asked for then.
func (w *world) answers(d time.Duration, action gate.Action, change func(*gate.Decision)) {
	w.at(d, func() {
		it := w.asked()
		a := gate.Decision{Item: it.ID, Digest: it.Digest, Action: action, By: "ada"}
		if change != nil {
			change(&a)
		}
		w.SignalWorkflow(SignalAnswer, a)
	})
}

// coached asks a human before the coach's messages are sent.
const coached = `[{"gate": "context", "then": "allow"}, {"gate": "context", "when": [{"at": "/from", "equals": ` +
	`"coach"}], "then": "ask"}]`

func TestMessageApproved(t *testing.T) {
	for name, c := range map[string]struct {
		action gate.Action
		change func(*gate.Decision)
		want   []string
		text   string // of the last effect
		told   string // the agent, in the end
	}{
		"approved": {gate.Approve, nil, []string{"run-2 deliver completion"}, "All 42 tests pass", "[System Coach]"},
		"edited": {gate.Edit, func(d *gate.Decision) {
			d.Body = json.RawMessage(`{"from": "coach", "message": "Run the tests."}`)
		},
			[]string{"run-2 deliver completion"}, "All 42 tests pass", "Run the tests."},
		"edited to nothing": {gate.Edit, func(d *gate.Decision) { d.Body = json.RawMessage(`{}`) },
			[]string{"run-2 deliver hold"}, "no message", "fix the cart"},
		"denied": {gate.Deny, func(d *gate.Decision) { d.Reason = "enough for today" },
			[]string{"run-2 deliver hold"}, "denied by ada: enough for today", "fix the cart"},
		"of another digest": {gate.Approve, func(d *gate.Decision) { d.Digest = "0" },
			[]string{"run-2 deliver hold"}, "nobody approved it in time", "fix the cart"},
		"of another item": {gate.Approve, func(d *gate.Decision) { d.Item = "9" },
			[]string{"run-2 deliver hold"}, "nobody approved it in time", "fix the cart"},
	} {
		t.Run(name, func(t *testing.T) {
			agent := says(claim, shown)
			w := newWorld(t, Config{Agent: true, Gate: rules(t, coached), ApprovalTTL: 4 * time.Hour}, Activities{Agent: agent})
			w.say(0, "w1", "fix the cart")
			w.answers(3*time.Hour, c.action, c.change)
			w.end(10 * time.Hour)
			w.play()
			assert.Equal(t, c.want, w.box.said())
			assert.Contains(t, w.box.effects[len(w.box.effects)-1].Text, c.text)
			told := agent.told()
			assert.Contains(t, told[len(told)-1].Message, c.told)
		})
	}
}

// TestNobodyApproves: the timer denies, and a late answer changes nothing.
func TestNobodyApproves(t *testing.T) {
	agent := says(claim)
	w := newWorld(t, Config{Agent: true, Gate: rules(t, coached), ApprovalTTL: time.Hour}, Activities{Agent: agent})
	var late gate.Item
	w.say(0, "w1", "fix the cart")
	w.at(59*time.Minute, func() { late = w.asked() })
	w.at(61*time.Minute, func() {
		assert.Empty(t, w.view().Asked)
		w.SignalWorkflow(SignalAnswer, gate.Decision{Item: late.ID, Digest: late.Digest, Action: gate.Approve, By: "ada"})
	})
	w.at(62*time.Minute, func() { assert.Len(t, w.view().Refused, 1) })
	w.end(2 * time.Hour)
	w.play()
	assert.Equal(t, []string{"run-2 deliver hold"}, w.box.said())
	assert.Contains(t, w.box.effects[0].Text, "nobody approved it in time")
	assert.Len(t, agent.told(), 1)
}

// TestHumanSpeaksInsteadOfApproving withdraws what was asked.
func TestHumanSpeaksInsteadOfApproving(t *testing.T) {
	agent := says(claim, shown)
	w := newWorld(t, Config{Agent: true, Gate: rules(t, coached)}, Activities{Agent: agent})
	w.say(0, "w1", "fix the cart")
	w.at(time.Minute, func() { w.asked() })
	w.say(2*time.Minute, "w2", "leave it, fix the wishlist")
	w.at(3*time.Minute, func() { assert.Empty(t, w.view().Asked) })
	w.end(time.Hour)
	w.play()
	assert.Equal(t, []string{"run-3 deliver completion"}, w.box.said())
	assert.Len(t, agent.told(), 2)
}

func calls(list ...Call) *script {
	return &script{says: []Reply{{Text: "I need a tool.", Calls: list}, {Text: shown}}}
}

func TestTools(t *testing.T) {
	const policy = `[{"gate": "context", "then": "allow"}, {"tool": "read", "then": "allow"},
		{"tool": "deploy", "then": "ask"}, {"tool": "drop", "then": "deny"}]`
	args := json.RawMessage(`{"to": "test"}`)
	for name, c := range map[string]struct {
		call   Call
		answer func(w *world)
		ran    []string // arguments
		want   Answer
	}{
		"allowed": {Call{"c1", "read", args}, nil, []string{`{"to":"test"}`},
			Answer{Status: "done", Result: json.RawMessage(`{"ok":1}`)}},
		"denied by the policy": {Call{"c1", "drop", args}, nil, nil,
			Answer{Status: "denied", Reason: "denied by policy"}},
		"unknown": {Call{"c1", "format", args}, nil, nil, Answer{Status: "denied", Reason: "denied by policy"}},
		"approved": {Call{"c1", "deploy", args}, func(w *world) { w.answers(time.Hour, gate.Approve, nil) },
			[]string{`{"to":"test"}`}, Answer{Status: "done", Result: json.RawMessage(`{"ok":1}`)}},
		"edited": {Call{"c1", "deploy", args}, func(w *world) {
			w.answers(time.Hour, gate.Edit, func(d *gate.Decision) { d.Body = json.RawMessage(`{"to":"stage"}`) })
		}, []string{`{"to":"stage"}`}, Answer{Status: "done", Result: json.RawMessage(`{"ok":1}`)}},
		"denied": {Call{"c1", "deploy", args}, func(w *world) {
			w.answers(time.Hour, gate.Deny, func(d *gate.Decision) { d.Reason = "not on a Friday" })
		}, nil, Answer{Status: "denied", Reason: "denied by ada: not on a Friday"}},
		"answered by a human": {Call{"c1", "deploy", args}, func(w *world) {
			w.answers(time.Hour, gate.Respond, func(d *gate.Decision) { d.Body = json.RawMessage(`"done by hand"`) })
		}, nil, Answer{Status: "answered", Result: json.RawMessage(`"done by hand"`)}},
		"not answered": {Call{"c1", "deploy", args}, nil, nil,
			Answer{Status: "expired", Reason: "nobody approved it in time"}},
	} {
		t.Run(name, func(t *testing.T) {
			var ran []string
			tool := func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
				ran = append(ran, string(args))
				return json.RawMessage(`{"ok":1}`), nil
			}
			agent := calls(c.call)
			w := newWorld(t, Config{Agent: true, Gate: rules(t, policy), ApprovalTTL: 2 * time.Hour},
				Activities{Agent: agent, Tools: map[string]Tool{"read": tool, "deploy": tool, "drop": tool}})
			w.say(0, "w1", "ship it")
			if c.answer != nil {
				c.answer(w)
			}
			w.end(5 * time.Hour)
			w.play()
			assert.Equal(t, []string{"run-1 deliver completion"}, w.box.said())
			assert.Equal(t, c.ran, ran)
			told := agent.told()
			require.Len(t, told, 2)
			require.Len(t, told[1].Answers, 1)
			got := told[1].Answers[0]
			assert.Contains(t, got.Reason, c.want.Reason)
			got.Reason, c.want.Reason = "", ""
			c.want.Call, c.want.Tool = "c1", c.call.Tool
			assert.Equal(t, c.want, got)
		})
	}
}

// TestToolFails: a tool that may have done it is not called again.
func TestToolFails(t *testing.T) {
	n := 0
	agent := calls(Call{"c1", "read", json.RawMessage(`{}`)}, Call{"c2", "gone", json.RawMessage(`{}`)})
	w := newWorld(
		t,
		Config{
			Agent: true,
			Gate: rules(
				t,
				`[{"gate": "context", "then": "allow"}, {"tool": "read", "then": "allow"}, {"tool": "gone", "then": "allow"}]`,
			),
		},
		Activities{
			Agent: agent,
			Tools: map[string]Tool{"read": func(context.Context, json.RawMessage) (json.RawMessage, error) {
				n++
				return nil, errors.New("disk full")
			}},
		},
	)
	w.say(0, "w1", "ship it")
	w.end(time.Hour)
	w.play()
	assert.Equal(t, 1, n)
	answers := agent.told()[1].Answers
	require.Len(t, answers, 2)
	assert.Contains(t, string(answers[0].Result), "disk full")
	assert.Contains(t, string(answers[1].Result), "has no tool")
}

// TestResultsTooLarge: what tools return is neither more than an agent can be handed at once, nor than a history takes.
func TestResultsTooLarge(t *testing.T) {
	large, err := json.Marshal(strings.Repeat("x", 300<<10))
	require.NoError(t, err)
	agent := &script{run: func(_ context.Context, n int, p Prompt) (Reply, error) {
		var list []Call
		for i := range 8 {
			list = append(list, Call{fmt.Sprint(n, "-", i), "read", json.RawMessage(`{}`)})
		}
		return Reply{Text: "More.", Calls: list}, nil
	}}
	w := newWorld(
		t,
		Config{Agent: true, Gate: rules(t, `[{"gate": "context", "then": "allow"}, {"tool": "read", "then": "allow"}]`)},
		Activities{
			Agent: agent,
			Tools: map[string]Tool{
				"read": func(context.Context, json.RawMessage) (json.RawMessage, error) { return large, nil },
			},
		},
	)
	w.say(0, "w1", "read it all")
	w.end(time.Hour)
	w.play()
	assert.Equal(t, []string{"run-1 deliver crash_guard"}, w.box.said())
	assert.Contains(t, w.box.effects[0].Text, "4 MB at most")
	told := agent.told()
	require.Greater(t, len(told), 2)
	assert.Equal(t, large, []byte(told[1].Answers[0].Result))
	assert.Contains(t, told[1].Answers[7].Reason, "too large")
	for _, p := range told {
		assert.Less(t, size(p), 3<<19, "a payload has 2 MB at most")
	}
}

func TestCallsThatCannotBeTaken(t *testing.T) {
	for name, list := range map[string][]Call{
		"no ID":        {{"", "read", json.RawMessage(`{}`)}},
		"no object":    {{"c1", "read", json.RawMessage(`[1]`)}},
		"one ID twice": {{"c1", "read", json.RawMessage(`{}`)}, {"c1", "read", json.RawMessage(`{"a":1}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Config{Agent: true}, Activities{Agent: calls(list...)})
			w.say(0, "w1", "ship it")
			w.end(time.Hour)
			w.play()
			assert.Equal(t, []string{"run-1 deliver crash_guard"}, w.box.said())
			assert.Contains(t, w.box.effects[0].Text, "could not be taken")
		})
	}
}

// TestDeniedTooOften: the gate ends a run that asks for the same again and again.
func TestDeniedTooOften(t *testing.T) {
	agent := &script{run: func(_ context.Context, n int, p Prompt) (Reply, error) {
		return Reply{Text: "I need it.", Calls: []Call{{string(rune('a' + n)), "drop", json.RawMessage(`{}`)}}}, nil
	}}
	w := newWorld(t, Config{Agent: true}, Activities{Agent: agent})
	w.say(0, "w1", "ship it")
	w.end(time.Hour)
	w.play()
	assert.Equal(t, []string{"run-1 deliver hold"}, w.box.said())
	assert.Contains(t, w.box.effects[0].Text, "the run was stopped")
	assert.Len(t, agent.told(), 3)
}
