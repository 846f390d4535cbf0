package console

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

func (d *fixture) tool(run, call, tool, args string) gate.Item {
	d.t.Helper()
	return d.propose(gate.Subject{Kind: gate.Tool, Thread: "main", Run: run, Call: call, Tool: tool,
		Body: json.RawMessage(args)})
}

// bodiesOf asks for an item as the page does.
func (d *fixture) bodiesOf(it gate.Item, all string) (b itemBody) {
	d.t.Helper()
	resp, body := answerTo(d.t, d.enter("reader"), d.request("GET", "/item?id="+url.QueryEscape(it.ID)+all, ""))
	require.Equal(d.t, 200, resp.StatusCode, body)
	require.NoError(d.t, json.Unmarshal([]byte(body), &b))
	return b
}

func TestNameIsTheSessionsWhateverTheMessageSays(t *testing.T) {
	d := serve(t)
	it := d.stage("r1", "x")
	p := d.open(d.enter("ann"), "")
	p.until("settings")
	for _, field := range []string{"by", "name", "By"} {
		cmd := decision(it, "approve")
		cmd[field] = "boss"
		assert.Equal(t, "input", p.ask(cmd).Code, field)
	}
	require.Nil(t, p.ask(decision(it, "approve")))
	it, _ = d.session.Item(it.ID)
	assert.Equal(t, "ann", it.By)
}

func TestEditKeepsEveryDigit(t *testing.T) {
	d := serve(t)
	d.running("r1")
	it := d.tool("r1", "c1", "weight_delete",
		`{"id":123456789012345678901234567890,"w":72.50,"e":1e400,"s":"a`+"\u202e"+`b"}`)
	b := d.bodiesOf(it, "")
	assert.Equal(t, "{\n  \"id\": 123456789012345678901234567890,\n  \"w\": 72.50,\n  \"e\": 1e400,\n  \"s\": "+
		"\"a\\u202eb\"\n}", b.Body.Text)

	p := d.open(d.enter("ann"), "")
	p.until("settings")
	cmd := decision(it, "edit")
	cmd["body"] = strings.Replace(b.Body.Text, "72.50", "72.60", 1)
	require.Nil(t, p.ask(cmd))
	g, err := d.session.Redeem(d.clock.now(), it.ID)
	require.NoError(t, err)
	assert.Contains(t, string(g.Body), `"id":123456789012345678901234567890,"w":72.60,"e":1e400`)
	now, _ := d.session.Item(it.ID)
	assert.Equal(t, "ann", now.By)
	edited := d.bodiesOf(it, "")
	assert.Contains(t, edited.Edited.Text, "72.60")
	assert.Contains(t, edited.Body.Text, "72.50", "what was proposed is still there to compare")
}

func TestProblemsAreToldApart(t *testing.T) {
	d := serve(t)
	d.running("r1")
	ann, ben := d.open(d.enter("ann"), ""), d.open(d.enter("ben"), "")
	ann.until("settings")
	ben.until("settings")

	it := d.tool("r1", "c1", "a_delete", `{"n":1}`)
	stale := decision(it, "approve")
	stale["digest"] = strings.Repeat("0", len(it.Digest))
	assert.Equal(t, "stale", ann.ask(stale).Code)
	for _, tt := range []struct{ body, code string }{{`{"n":1,"n":2}`, "input"}, {`{"n":`, "input"}, {`[]`, "input"}} {
		cmd := decision(it, "edit")
		cmd["body"] = tt.body
		assert.Equal(t, tt.code, ann.ask(cmd).Code, tt.body)
	}
	assert.Equal(t, "input", ann.ask(decision(it, "edit")).Code)
	assert.Equal(t, "input", ann.ask(decision(it, "respond")).Code)
	assert.Equal(t, "input", ann.ask(decision(it, "dance")).Code)

	deny := decision(it, "deny")
	deny["reason"] = "not now"
	require.Nil(t, ann.ask(deny))
	require.Nil(t, ben.ask(decision(it, "deny")), "the same decision is no conflict")
	late := ben.ask(decision(it, "approve"))
	require.NotNil(t, late)
	assert.Equal(t, problem{"decided", "it is denied"}, *late, "the page has the item, and says by whom")

	old := d.tool("r1", "c2", "b_delete", `{}`)
	d.clock.add(2 * time.Hour)
	assert.Equal(t, problem{"policy", "nobody answered in time"}, *ann.ask(decision(old, "approve")))
	assert.Equal(t, "illegal", ann.ask(map[string]any{"t": "decide", "item": "none", "digest": "x",
		"action": "approve"}).Code)
	assert.Equal(t, "input", ann.ask(map[string]any{"t": "explode"}).Code)
	ann.send(`{"t":"stop","id":"2"} {"t":"stop"}`)
	assert.Equal(t, "input", ann.until("reply").Error.Code)
}

func TestResponseIsShownWithEscapes(t *testing.T) {
	d := serve(t)
	d.running("r1")
	draft := "one\r\ntwo \u202e\u200bhidden\x1b"
	body, err := json.Marshal(map[string]any{"text": draft, "a2ui": map[string]any{"k": json.Number("1.10")}})
	require.NoError(t, err)
	it := d.propose(gate.Subject{Kind: gate.Response, Thread: "main", Run: "r1", Body: body})

	b := d.bodiesOf(it, "&all=1")
	assert.Equal(t, map[string]string{"text": "one\ntwo hidden"}, b.Write.Texts)
	assert.Equal(t, "{\n  \"text\": \"one\\r\\ntwo \\u202e\\u200bhidden\\u001b\",\n  \"a2ui\": {\n    \"k\": 1.10\n  }\n}",
		b.Body.Text)
	assert.Equal(t, b.Body.Text, b.Write.JSON)
}

func TestLongBodiesComeInParts(t *testing.T) {
	d := serve(t)
	d.running("r1")
	text := strings.Repeat("ä", 1<<19)
	body, err := json.Marshal(map[string]string{"text": text})
	require.NoError(t, err)
	it := d.propose(gate.Subject{Kind: gate.Response, Thread: "main", Run: "r1", Body: body})
	b := d.bodiesOf(it, "")
	assert.True(t, b.Body.Cut)
	const around = "{\n  \"text\": \""
	assert.Equal(t, 1<<20+len(around)+len("\"\n}"), b.Body.Size)
	assert.Equal(t, around+strings.Repeat("ä", (firstLook-len(around))/2), b.Body.Text)
	assert.Nil(t, b.Write, "nobody edits the beginning alone")
	whole := d.bodiesOf(it, "&all=1")
	assert.False(t, whole.Body.Cut)
	assert.Equal(t, around+text+"\"\n}", whole.Body.Text)
	assert.Equal(t, text, whole.Write.Texts["text"])

	resp, _ := answerTo(t, d.enter("ann"), d.request("GET", "/item?id=none", ""))
	assert.Equal(t, 404, resp.StatusCode)
}

func TestSubmitKnowsWhoAndIsBounded(t *testing.T) {
	var got []string
	d := serve(t, func(c *Config, _ *limits) {
		c.Submit = func(_ context.Context, by, thread, message string) error {
			got = append(got, by+" "+thread+" "+message)
			if message == "no" {
				return errors.New("the agent is asleep")
			}
			return nil
		}
	})
	p := d.open(d.enter("ann"), "")
	assert.True(t, p.next().Chat)
	p.until("settings")
	require.Nil(t, p.ask(map[string]any{"t": "submit", "thread": "main", "message": "hi"}))
	assert.Contains(t, p.ask(map[string]any{"t": "submit", "thread": "main", "message": "no"}).Message,
		"the agent is asleep")
	for _, bad := range []map[string]any{
		{"message": " "}, {"message": "x", "thread": strings.Repeat("t", 201)},
		{"message": strings.Repeat("x", maxMessage+1)},
	} {
		cmd := map[string]any{"t": "submit", "thread": "main"}
		for k, v := range bad {
			cmd[k] = v
		}
		assert.Equal(t, "input", p.ask(cmd).Code)
	}
	assert.Equal(t, []string{"ann main hi", "ann main no"}, got)
}

func TestRunIsStoppedAndItsItemsAreSeenToEnd(t *testing.T) {
	d := serve(t)
	d.running("r1")
	it := d.tool("r1", "c1", "a_delete", `{}`)
	p := d.open(d.enter("ann"), "")
	p.until("settings")
	require.Nil(t, p.ask(map[string]any{"t": "stop", "run": "r1", "reason": "enough"}))
	last := p.seen[len(p.seen)-2]
	require.Equal(t, "events", last.T)
	assert.Equal(t, gate.Phase("denied"), last.Runs[0].Phase)
	shown := map[string]gate.Status{}
	for _, v := range last.Items {
		shown[v.ID] = v.Status
	}
	assert.Equal(t, gate.Withdrawn, shown[it.ID])
	assert.Equal(t, problem{"decided", "it is withdrawn"}, *p.ask(decision(it, "approve")))
}
