package hook

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
)

const hollow = `Fixed the login redirect, should work now.`

// What each event of each host leads to: the answer, and the reason of the decision if there is one.
func TestEvents(t *testing.T) {
	stop := func(fields string) string {
		return `{"session_id":"s","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"` + hollow +
			`"` + fields + `}`
	}
	for name, tt := range map[string]struct {
		host   Host
		event  string
		answer string // "block" is an answer that continues the agent
		reason autocontinue.Reason
		hold   string
	}{
		"Claude Code":     {Claude, stop(``), "block", "rejected_completion", ""},
		"byte order mark": {Claude, "\ufeff" + stop(``), "block", "rejected_completion", ""},
		"unknown keys": {Claude, stop(`,"Session_ID":7,"stop_hook_Active":"x","effort":{"level":"high"}`), "block",
			"rejected_completion", ""},
		"invalid UTF-8":        {Claude, strings.Replace(stop(``), "now", "n\xffw", 1), "block", "rejected_completion", ""},
		"the last of two keys": {Claude, stop(`,"last_assistant_message":"Which one, A or B?"`), `{}`, "question", ""},
		"empty message":        {Claude, stop(`,"last_assistant_message":""`), "block", "empty", ""},
		"null message":         {Claude, stop(`,"last_assistant_message":null`), `{}`, "hold", "there is no message of the agent to judge"},
		"plan mode":            {Claude, stop(`,"permission_mode":"plan"`), `{}`, "hold", "plan mode"},
		"background": {Claude, stop(`,"background_tasks":[{"id":"b1","status":"running"}]`), `{}`, "hold",
			"background work"},
		"odd background": {Claude, stop(`,"background_tasks":[7]`), `{}`, "hold", "background work"},
		"background that ended": {Claude, stop(`,"background_tasks":[{"id":"b1","status":"Completed"}]`), "block",
			"rejected_completion", ""},
		"scheduled": {Claude, stop(`,"session_crons":[{}]`), `{}`, "hold", "a scheduled prompt"},
		"sub-agent": {Claude, strings.Replace(stop(`,"agent_id":"a","agent_type":"x"`), "Stop", "SubagentStop",
			1), "block", "rejected_completion", ""},
		"sub-agent in the background": {Claude, strings.Replace(stop(
			`,"agent_id":"a","agent_type":"x","background_tasks":[{"id":"a","type":"subagent","status":"running"}]`),
			"Stop", "SubagentStop", 1), "block", "rejected_completion", ""},
		"sub-agent with background work": {Claude, strings.Replace(stop(
			`,"agent_id":"a","agent_type":"x","background_tasks":[{"id":"b","type":"shell","status":"running"}]`),
			"Stop", "SubagentStop", 1), `{}`, "hold", "background work"},
		"internal sub-agent": {Claude,
			strings.Replace(stop(`,"agent_id":"a","agent_type":""`), "Stop", "SubagentStop", 1), `{}`, "hold", "an agent of the host's own"},
		"failure": {Claude,
			`{"session_id":"s","hook_event_name":"StopFailure","error":"rate_limit","last_assistant_message":"API Error"}`, ``,
			"crash_guard", ""},
		"bare failure": {Claude, `{"session_id":"s","hook_event_name":"StopFailure","error":"rate_limit"}`, ``,
			"crash_guard", ""},
		"prompt": {Claude, `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"Fix it."}`, ``,
			"", ""},
		"another event": {Claude, `{"session_id":"s","hook_event_name":"PreToolUse","tool_input":{"a":[]}}`, ``, "",
			""},
		"Cursor runs it":      {Claude, stop(`,"cursor_version":"3.8"`), ``, "", ""},
		"Copilot CLI runs it": {Claude, stop(`,"transcript_path":"/h/session-state/s/events.jsonl"`), ``, "", ""},
		"Codex":               {Codex, stop(`,"turn_id":"t"`), "block", "rejected_completion", ""},
		"Codex, null": {Codex, stop(`,"transcript_path":null,"last_assistant_message":null`), `{}`, "hold",
			"there is no message of the agent to judge"},
		"Gemini CLI": {Gemini,
			`{"session_id":"s","hook_event_name":"AfterAgent","prompt":"Fix it.","prompt_response":"` + hollow + `"}`, "block",
			"rejected_completion", ""},
		"Gemini CLI, no text": {Gemini,
			`{"session_id":"s","hook_event_name":"AfterAgent","prompt":"Fix it.","prompt_response":"[no response text]"}`,
			"block", "empty", ""},
		"Gemini CLI, another": {Gemini, `{"session_id":"s","hook_event_name":"SessionEnd"}`, ``, "", ""},
		"Cursor's prompt": {Cursor,
			`{"conversation_id":"s","hook_event_name":"beforeSubmitPrompt","prompt":"Fix it."}`, `{"continue":true}`, "", ""},
		"Cursor's message": {Cursor, `{"conversation_id":"s","hook_event_name":"afterAgentResponse","text":"Fixed."}`,
			`{}`, "", ""},
		"Cursor's other events": {Cursor, `{"conversation_id":"s","hook_event_name":"preToolUse"}`, `{}`, "", ""},
		"Cursor aborted": {Cursor,
			`{"conversation_id":"s","hook_event_name":"stop","status":"aborted","loop_count":0}`, `{}`, "hold", "aborted"},
		"Cursor failed": {Cursor,
			`{"conversation_id":"s","hook_event_name":"stop","status":"error","loop_count":0}`, `{}`, "crash_guard", ""},
		"Cursor, new status": {Cursor,
			`{"conversation_id":"s","hook_event_name":"stop","status":"paused","loop_count":0}`, `{}`, "hold", "an end that is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlayer(t, tt.host)
			out, err := Run(t.Context(), tt.host, []byte(tt.event), p.cfg)
			require.NoError(t, err)
			switch tt.answer {
			case "block":
				assert.Regexp(t, `^\{"decision":"(block|deny)","reason":"`, string(out))
			default:
				assert.Equal(t, tt.answer, strings.TrimSuffix(string(out), "\n"))
			}
			assert.Equal(t, tt.reason, p.last.Decision.Reason)
			if tt.hold != "" {
				assert.Contains(t, p.last.Decision.Note, tt.hold)
			}
		})
	}
}

// An event that cannot be read is an error that quotes nothing of it, and the host goes on.
func TestUnreadableEvents(t *testing.T) {
	goesOn := map[Host]string{Gemini: `{"decision":"allow"}`, Cursor: `{"continue":true}`}
	for _, host := range Hosts() {
		for event, want := range map[string]string{
			"":                      "it is empty",
			`[]`:                    "it is not a JSON object",
			`"secret"`:              "it is not a JSON object",
			`{"session_id":"secret`: "it is not valid JSON, at byte 21 of 21",
			`{} secret`:             "it is not valid JSON, at byte 4 of 9",
			`{"secret":1}`:          "",
		} {
			out, err := Run(t.Context(), host, []byte(event), Config{})
			require.ErrorIs(t, err, ErrEvent, "%s %.40q", host, event)
			assert.Contains(t, err.Error(), want)
			assert.NotContains(t, strings.Replace(err.Error(), `"secret"`, "", 1), "secret")
			if goesOn[host] == "" {
				goesOn[host] = "{}"
			}
			assert.Equal(t, goesOn[host]+"\n", string(out))
		}
	}
	out, err := Run(t.Context(), Claude, bytes.Repeat([]byte(" "), 64<<20+1), Config{})
	require.ErrorIs(t, err, ErrEvent)
	assert.ErrorContains(t, err, "it is larger than 64 MiB")
	assert.Equal(t, "{}\n", string(out))
	for event, want := range map[string]string{
		`{"hook_event_name":"Stop","session_id":7}`:                                  `"session_id" has another`,
		`{"hook_event_name":"Stop","session_id":"s","stop_hook_active":"no"}`:        `"stop_hook_active" has another`,
		`{"hook_event_name":"Stop","session_id":"s","last_assistant_message":["x"]}`: `"last_assistant_message" has another`,
		`{"hook_event_name":"Stop","session_id":"s","background_tasks":{}}`:          `"background_tasks" has another`,
		`{"hook_event_name":"Stop","session_id":""}`:                                 `it names no session`,
		`{"session_id":"s"}`: `"hook_event_name" is missing`,
		`{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":{"a":1}}`: `"prompt" has another`,
	} {
		_, err := Run(t.Context(), Claude, []byte(event), Config{})
		require.ErrorIs(t, err, ErrEvent)
		assert.Contains(t, err.Error(), "the event cannot be used: "+want)
	}
	_, err = Run(t.Context(), Cursor, []byte(`{"hook_event_name":"stop","conversation_id":"s","loop_count":1.5}`),
		Config{})
	assert.EqualError(t, err, `the event cannot be used: "loop_count" has another type than documented`)
}

// A sub-agent, and a thread that Codex forked, have sessions of their own.
func TestSessions(t *testing.T) {
	const thread = "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee"
	for event, want := range map[string]string{
		`{"hook_event_name":"Stop","session_id":"s"}`:                        "s",
		`{"hook_event_name":"SubagentStop","session_id":"s","agent_id":"a"}`: "s/a",
		`{"hook_event_name":"Stop","session_id":"s","transcript_path":"/h/rollout-2026-11-02T10-20-30-` + thread +
			`.jsonl"}`: "s/" + thread,
		`{"hook_event_name":"Stop","session_id":"` + thread +
			`","transcript_path":"/h/rollout-2026-11-02T10-20-30-` + thread + `.jsonl"}`: thread,
		`{"hook_event_name":"Stop","session_id":"s","transcript_path":"/h/rollout-x.jsonl"}`: "s",
	} {
		e, err := Codex.read([]byte(event))
		require.NoError(t, err)
		assert.Equal(t, want, e.key())
	}
	e, err := Cursor.read([]byte(`{"hook_event_name":"stop","conversation_id":"s",` +
		`"workspace_roots":["/c:/src/shop","/x"]}`))
	require.NoError(t, err)
	assert.Equal(t, "c:/src/shop", e.Dir)
	e, err = Copilot.read([]byte(`{"hook_event_name":"Stop","session_id":"other",` +
		`"transcript_path":"/h/session-state/s/events.jsonl"}`))
	require.NoError(t, err)
	assert.Empty(t, e.Transcript, "it is not the sub-agent's")
}

// The human learns why a loop ended, and nothing if there was none, or the agent's own words say it.
func TestNote(t *testing.T) {
	const note = "The agent stopped at the same gap again despite coaching."
	for name, tt := range map[string]struct {
		d      autocontinue.Decision
		active bool
		told   bool
	}{
		"stalled":           {autocontinue.Decision{Reason: "repeat", Continues: 2}, false, true},
		"capped":            {autocontinue.Decision{Reason: "cap", Continues: 3}, false, true},
		"crashed":           {autocontinue.Decision{Reason: "crash_guard", Continues: 1}, false, true},
		"held":              {autocontinue.Decision{Reason: "hold"}, true, true},
		"held at the start": {autocontinue.Decision{Reason: "hold"}, false, false},
		"replayed": {autocontinue.Decision{Reason: "repeat", Continues: 2, Replayed: true},
			false, false},
		"done":       {autocontinue.Decision{Reason: "completion", Continues: 2}, false, false},
		"a question": {autocontinue.Decision{Reason: "question", Continues: 2}, false, false},
		"continued for real": {autocontinue.Decision{Action: autocontinue.Continue, Message: "m", Continues: 2}, false,
			false},
		"nothing was decided": {autocontinue.Decision{}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.d.Reason != "" {
				tt.d.Note = note
			}
			for _, host := range []Host{Claude, Codex, Gemini} {
				e := event{host: host, kind: stopped, Resumed: tt.active}
				assert.Equal(t, tt.told, strings.Contains(string(e.answer(tt.d, "")), "sidecoach: "+note), host)
			}
			for _, host := range []Host{Cursor, Copilot} { // they would show it to nobody
				e := event{host: host, kind: stopped, Resumed: tt.active}
				assert.NotContains(t, string(e.answer(tt.d, "")), note)
			}
		})
	}
}

// FuzzEvent: an event is answered with one line of JSON with keys that its host knows, or nothing; an error quotes
// nothing of it; and a key that nobody knows changes nothing.
func FuzzEvent(f *testing.F) {
	for _, seed := range []string{
		`{"session_id":"s","hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"Done."}`,
		`{"session_id":"s","hook_event_name":"AfterAgent","prompt_response":"x","timestamp":"2026-11-02T10:25:00.000Z"}`,
		`{"conversation_id":"s","hook_event_name":"stop","status":"completed","loop_count":2}`,
		`{`, ``, `[]`,
	} {
		f.Add([]byte(seed))
	}
	known := map[Host]string{
		Claude: "decision reason systemMessage", Codex: "decision reason systemMessage", Copilot: "decision reason",
		Gemini: "decision reason systemMessage", Cursor: "followup_message continue",
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		for _, host := range Hosts() {
			p := newPlayer(t, host)
			out, err := Run(t.Context(), host, payload, p.cfg)
			if len(out) > 0 {
				require.Equal(t, 1, bytes.Count(out, []byte("\n")))
				var keys map[string]any
				require.NoError(t, json.Unmarshal(out, &keys))
				for key := range keys {
					require.Contains(t, strings.Fields(known[host]), key)
				}
			}
			if err != nil {
				require.Equal(t, string(host.Pass()), string(out))
				continue
			}
			more := bytes.TrimSpace(bytes.TrimPrefix(payload, []byte("\ufeff")))
			more = append(more[:len(more)-1:len(more)-1], `,"nobody knows":[null]}`...)
			if !json.Valid(more) {
				continue // the object is empty
			}
			again, err := Run(t.Context(), host, more, newPlayer(t, host).cfg)
			require.NoError(t, err)
			require.Equal(t, string(out), string(again))
		}
	})
}
