package agui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// desk is a session and how far its events were sent.
type desk struct {
	t *testing.T
	*gate.Session
	sent uint64
}

func open(t *testing.T) *desk {
	t.Helper()
	p, err := gate.ParsePolicy([]byte(`[{"tool":"look","then":"allow"},{"tool":"*_delete","then":"ask"}]`))
	require.NoError(t, err)
	s, err := gate.New(p, gate.Options{Audited: true, TTL: time.Hour})
	require.NoError(t, err)
	return &desk{t: t, Session: s}
}

func (d *desk) propose(kind gate.Kind, call, tool, body string) gate.Item {
	d.t.Helper()
	it, err := d.Propose(now, gate.Subject{Kind: kind, Thread: "main", Run: "r", Call: call, Tool: tool,
		Label: "see\u202e", Body: json.RawMessage(body)})
	require.NoError(d.t, err)
	return it
}

// resume answers what waits and redeems what was approved.
func (d *desk) resume(entries ...ResumeEntry) {
	d.t.Helper()
	decisions, err := Resume(d.Items("r"), entries, "ann")
	require.NoError(d.t, err)
	for _, dec := range decisions {
		it, err := d.Resolve(now, dec)
		require.NoError(d.t, err)
		if it.Status == gate.Approved {
			_, err = d.Redeem(now, it.ID)
			require.NoError(d.t, err)
		}
	}
}

// news returns what the new events are in the protocol, one a line.
func (d *desk) news(run string) string {
	d.t.Helper()
	events, all := d.Events(d.sent)
	require.True(d.t, all)
	var out []Event
	for _, e := range events {
		d.sent = e.Seq
		out = append(out, Map(d, run, e)...)
	}
	return written(d.t, out)
}

func written(t *testing.T, events []Event) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, e := range events {
		e.Timestamp = 0
		require.NoError(t, enc.Encode(e))
	}
	return b.String()
}

func yes(it gate.Item, more string) ResumeEntry {
	return ResumeEntry{it.ID, "resolved", fmt.Appendf(nil, `{"approved":true,"digest":%q%s}`, it.Digest, more)}
}

func no(it gate.Item, reason string) ResumeEntry {
	return ResumeEntry{it.ID, "resolved",
		fmt.Appendf(nil, `{"approved":false,"digest":%q,"reason":%q}`, it.Digest, reason)}
}

// A run of the session is three runs of the protocol: up to the context, up to the tools, and to the end.
func TestRunOverItsInterrupts(t *testing.T) {
	d := open(t)
	ctx := d.propose(gate.Context, "", "", `{"message":"delete it","n":1.50}`)
	assert.Equal(t, `{"type":"RUN_STARTED","threadId":"main","runId":"p1"}`+"\n", written(t, []Event{Begin("main", "p1")}))
	assert.Empty(t, d.news("p1"))
	end := Interrupt(d, "main", "p1", "r")
	require.Len(t, end, 3)
	assert.Equal(t, "STATE_SNAPSHOT", end[0].Type)
	assert.Equal(t, State{"r", "staged"}, *end[0].Snapshot)
	assert.Equal(t, "MESSAGES_SNAPSHOT", end[1].Type)
	assert.Equal(t, `{"type":"MESSAGES_SNAPSHOT","messages":[]}`+"\n", written(t, end[1:2]),
		"what was not approved was not said")
	require.Equal(t, "interrupt", end[2].Outcome.Type)
	i := end[2].Outcome.Interrupts[0]
	assert.Equal(t, ctx.ID, i.ID)
	assert.Equal(t, "sidecoach:context", i.Reason)
	assert.Equal(t, `see\u202e`, i.Message)
	assert.Equal(t, `{"message":"delete it","n":1.50}`, string(i.Metadata.Sidecoach.Body))
	assert.Equal(t, now.Add(time.Hour), *i.ExpiresAt)
	assert.True(t, json.Valid(i.ResponseSchema))

	d.resume(yes(ctx, ""))
	look := d.propose(gate.Tool, "c1", "look", `{}`)
	_, err := d.Redeem(now, look.ID)
	require.NoError(t, err)
	_, err = d.Done(now, look.ID, json.RawMessage(`"seen"`))
	require.NoError(t, err)
	first := d.propose(gate.Tool, "c2", "a_delete", `{"id":7.0}`)
	second := d.propose(gate.Tool, "c3", "b_delete", `{}`)
	assert.Equal(t, `{"type":"TOOL_CALL_START","toolCallId":"r/c1","toolCallName":"look"}
{"type":"TOOL_CALL_ARGS","delta":"{}","toolCallId":"r/c1"}
{"type":"TOOL_CALL_END","toolCallId":"r/c1"}
{"type":"TOOL_CALL_RESULT","messageId":"`+look.ID+`-result","role":"tool","toolCallId":"r/c1","content":"seen"}
{"type":"TOOL_CALL_START","toolCallId":"r/c2","toolCallName":"a_delete"}
{"type":"TOOL_CALL_ARGS","delta":"{\"id\":7.0}","toolCallId":"r/c2"}
{"type":"TOOL_CALL_END","toolCallId":"r/c2"}
{"type":"TOOL_CALL_START","toolCallId":"r/c3","toolCallName":"b_delete"}
{"type":"TOOL_CALL_ARGS","delta":"{}","toolCallId":"r/c3"}
{"type":"TOOL_CALL_END","toolCallId":"r/c3"}
`, d.news("p2"))
	end = Interrupt(d, "main", "p2", "r")
	require.Len(t, end[2].Outcome.Interrupts, 2)
	assert.Equal(t, "tool_call", end[2].Outcome.Interrupts[0].Reason)
	assert.Equal(t, "r/c2", end[2].Outcome.Interrupts[0].ToolCallID)
	roles := []string{}
	for _, m := range end[1].Messages {
		roles = append(roles, m.Role)
	}
	assert.Equal(t, []string{"user", "assistant", "tool", "assistant", "assistant"}, roles)

	d.resume(yes(first, `,"editedArgs":{"id":8.0}`), no(second, "keep it"))
	it, _ := d.Item(first.ID)
	assert.Equal(t, `{"id":8.0}`, string(it.ApprovedBody()))
	_, err = d.Done(now, first.ID, json.RawMessage(`{"ok":true}`))
	require.NoError(t, err)
	draft := d.propose(gate.Response, "", "", `{"text":"secret draft","a2ui":{"k":1}}`)
	middle := d.news("p3")
	assert.NotContains(t, middle, "secret", "a draft is nobody's yet")
	assert.NotContains(t, middle, "TOOL_CALL_START", "a call is not sent again")
	assert.Contains(t, middle, `"toolCallId":"r/c3","content":"{\"denied\":true,\"reason\":\"keep it\"}"`)
	d.resume(yes(draft, `,"editedText":"It is <gone>."`))
	assert.Equal(t, `{"type":"TEXT_MESSAGE_START","messageId":"`+draft.ID+`","role":"assistant"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"`+draft.ID+`","delta":"It is <gone>."}
{"type":"TEXT_MESSAGE_END","messageId":"`+draft.ID+`"}
{"type":"CUSTOM","name":"a2ui","value":{"k":1}}
{"type":"RUN_FINISHED","threadId":"main","runId":"p3","outcome":{"type":"success"}}
`, d.news("p3"))
	assert.Nil(t, Interrupt(d, "main", "p3", "r"), "nothing waits")
}

func TestRunThatMayNotGoOn(t *testing.T) {
	d := open(t)
	d.resume(no(d.propose(gate.Context, "", "", `{"message":"x"}`), "not today\u202e"))
	assert.Equal(t, `{"type":"RUN_ERROR","message":"the run was denied: not today\\u202e","code":"denied"}`+"\n",
		d.news("p"))

	d = open(t)
	d.propose(gate.Context, "", "", `{"message":"x"}`)
	_, err := d.Expire(now.Add(2 * time.Hour))
	require.NoError(t, err)
	got := d.news("p")
	assert.Equal(t, 1, strings.Count(got, "RUN_ERROR"), got)

	d = open(t)
	d.resume(yes(d.propose(gate.Context, "", "", `{"message":"x"}`), ""))
	call := d.propose(gate.Tool, "c", "a_delete", `{}`)
	d.news("p")
	_, err = d.Resolve(now, gate.Decision{Item: call.ID, Digest: call.Digest, Action: gate.Stop, By: "ann",
		Reason: "enough"})
	require.NoError(t, err)
	got = d.news("p")
	assert.True(t, strings.HasSuffix(got,
		`{"type":"RUN_ERROR","message":"the run was stopped: enough","code":"stopped"}`+"\n"), got)
}

func TestResumeIsTakenWholeOrNotAtAll(t *testing.T) {
	d := open(t)
	d.resume(yes(d.propose(gate.Context, "", "", `{"message":"x"}`), ""))
	a, b := d.propose(gate.Tool, "a", "a_delete", `{}`), d.propose(gate.Tool, "b", "b_delete", `{}`)
	raw := func(payload string) ResumeEntry { return ResumeEntry{a.ID, "resolved", json.RawMessage(payload)} }
	for _, tt := range []struct {
		name    string
		entries []ResumeEntry
		want    string
	}{
		{"nothing", nil, "2 open interrupts are not answered"},
		{"one of two", []ResumeEntry{yes(a, "")}, "1 open interrupts are not answered"},
		{"one twice", []ResumeEntry{yes(a, ""), no(a, ""), yes(b, "")}, "entry 2"},
		{"an unknown one", []ResumeEntry{{"x", "resolved", nil}}, "not open"},
		{"another status", []ResumeEntry{{a.ID, "maybe", nil}}, `"maybe" must be`},
		{"no payload", []ResumeEntry{{a.ID, "resolved", nil}}, "responseSchema"},
		{"no digest", []ResumeEntry{raw(`{"approved":true}`)}, "digest"},
		{"no verdict", []ResumeEntry{raw(`{"digest":"x"}`)}, "whether it is approved"},
		{"an unknown field", []ResumeEntry{raw(`{"approved":true,"digest":"x","by":"boss"}`)}, "responseSchema"},
		{"two payloads", []ResumeEntry{raw(`{"approved":true,"digest":"x"} {}`)}, "follows"},
		{"an edit of another kind", []ResumeEntry{yes(a, `,"editedText":"x"`)}, "has no such edit"},
		{"an edit of what is denied", []ResumeEntry{raw(`{"approved":false,"digest":"x","editedArgs":{}}`)}, "has no edit"},
		{"cancelled with a payload", []ResumeEntry{{a.ID, "cancelled", json.RawMessage(`{}`)}}, "has no payload"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Resume(d.Pending(), tt.entries, "ann")
			assert.Nil(t, got)
			require.ErrorIs(t, err, ErrResume)
			assert.ErrorContains(t, err, tt.want)
			assert.Equal(t, "RUN_ERROR", Failed(err).Type)
		})
	}
	got, err := Resume(d.Pending(), []ResumeEntry{{b.ID, "cancelled", nil}, raw(`{"approved":true,"digest":"stale"}`)},
		"ann")
	require.NoError(t, err)
	assert.Equal(t, gate.Decision{Item: b.ID, Digest: b.Digest, Action: gate.Deny, By: "ann", Reason: "cancelled"}, got[0])
	_, err = d.Resolve(now, got[1])
	assert.ErrorIs(t, err, gate.ErrStale, "a digest that was not echoed approves nothing")
}

// What waits in other runs of a session, or was decided before, is not this run's to answer.
func TestResumeAsksForWhatWaitsInItsRun(t *testing.T) {
	d := open(t)
	other, err := d.Propose(now, gate.Subject{Kind: gate.Context, Thread: "main", Run: "other",
		Body: json.RawMessage(`{}`)})
	require.NoError(t, err)
	it := d.propose(gate.Context, "", "", `{"message":"hi"}`)
	answer := func(it gate.Item) ResumeEntry {
		return ResumeEntry{InterruptID: it.ID, Status: "resolved",
			Payload: json.RawMessage(`{"approved":true,"digest":"` + it.Digest + `"}`)}
	}
	d.resume(answer(it))
	call := d.propose(gate.Tool, "c1", "x_delete", `{}`)
	d.resume(answer(call)) // beside the context, which is decided
	_, err = Resume(d.Items("r"), []ResumeEntry{answer(it)}, "ann")
	require.ErrorIs(t, err, ErrResume)
	_, err = Resume(d.Items("r"), []ResumeEntry{answer(other)}, "ann")
	require.ErrorIs(t, err, ErrResume)
}
