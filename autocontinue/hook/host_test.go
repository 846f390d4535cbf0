package hook

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
)

// payloads returns the payloads of testdata/events by their files' names.
func payloads(t testing.TB) map[string][]byte {
	names, err := filepath.Glob("testdata/events/*.txtar")
	require.NoError(t, err)
	all := make(map[string][]byte)
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		require.NoError(t, err)
		for _, f := range a.Files {
			if f.Name == "given/payload" {
				all[strings.TrimSuffix(filepath.Base(name), ".txtar")] = f.Data
			}
		}
	}
	require.NotEmpty(t, all)
	return all
}

func hostOf(name string) Host {
	host, _, _ := strings.Cut(name, "-")
	return Host(host)
}

// presences says how each key of each event is seen in the neutral form.
var presences = map[string]map[string]func(Event) Presence{
	"claude-stop": {
		"last_assistant_message": func(e Event) Presence { return e.Message.Is },
		"stop_hook_active":       func(e Event) Presence { return e.StopActive.Is },
		"background_tasks":       func(e Event) Presence { return e.Background.Is },
		"session_crons":          func(e Event) Presence { return e.Wakeups.Is },
		"permission_mode":        func(e Event) Presence { return e.Mode.Is },
		"prompt_id":              func(e Event) Presence { return e.Turn.Is },
		"cwd":                    func(e Event) Presence { return e.WorkDir.Is },
		"transcript_path":        func(e Event) Presence { return e.Transcript.Is },
	},
	"claude-subagent-stop": {
		"agent_id":              func(e Event) Presence { return e.Agent.Is },
		"agent_type":            func(e Event) Presence { return e.AgentType.Is },
		"agent_transcript_path": func(e Event) Presence { return e.Transcript.Is },
	},
	"claude-stop-failure": {"error": func(e Event) Presence { return e.Status.Is }},
	"claude-prompt":       {"prompt": func(e Event) Presence { return e.Prompt.Is }},
	"codex-stop": {
		"last_assistant_message": func(e Event) Presence { return e.Message.Is },
		"stop_hook_active":       func(e Event) Presence { return e.StopActive.Is },
		"turn_id":                func(e Event) Presence { return e.Turn.Is },
		"transcript_path":        func(e Event) Presence { return e.Transcript.Is },
	},
	"codex-notify": {
		"last-assistant-message": func(e Event) Presence { return e.Message.Is },
		"turn-id":                func(e Event) Presence { return e.Turn.Is },
	},
	"cursor-stop": {
		"generation_id":   func(e Event) Presence { return e.Generation.Is },
		"transcript_path": func(e Event) Presence { return e.Transcript.Is },
		"status":          func(e Event) Presence { return e.Status.Is },
	},
	"cursor-response": {"text": func(e Event) Presence { return e.Message.Is }},
	"cursor-prompt":   {"prompt": func(e Event) Presence { return e.Prompt.Is }},
	"copilot-stop": {
		"cwd":              func(e Event) Presence { return e.WorkDir.Is },
		"transcript_path":  func(e Event) Presence { return e.Transcript.Is },
		"stop_hook_active": func(e Event) Presence { return e.StopActive.Is },
	},
	"copilot-agent-stop": {
		"transcriptPath":   func(e Event) Presence { return e.Transcript.Is },
		"stop_hook_active": func(e Event) Presence { return e.StopActive.Is },
	},
	"copilot-prompt": {"prompt": func(e Event) Presence { return e.Prompt.Is }},
	"gemini-after-agent": {
		"prompt":           func(e Event) Presence { return e.Prompt.Is },
		"prompt_response":  func(e Event) Presence { return e.Message.Is },
		"stop_hook_active": func(e Event) Presence { return e.StopActive.Is },
		"timestamp":        func(e Event) Presence { return e.Time.Is },
	},
}

func TestAbsentNullAndEmptyDiffer(t *testing.T) {
	all := payloads(t)
	for name, keys := range presences {
		for key, presence := range keys {
			t.Run(name+"/"+key, func(t *testing.T) {
				var o map[string]json.RawMessage
				require.NoError(t, json.Unmarshal(all[name], &o))
				read := func() Event {
					payload, err := json.Marshal(o)
					require.NoError(t, err)
					e, err := hostOf(name).Read(payload)
					require.NoError(t, err)
					return e
				}
				require.Equal(t, Given, presence(read()))
				empty := map[byte]string{'"': `""`, '[': `[]`, '{': `{}`, 't': `false`, 'f': `false`}[o[key][0]]
				o[key] = json.RawMessage(empty)
				require.Equal(t, Given, presence(read()), "empty")
				o[key] = json.RawMessage("null")
				require.Equal(t, Null, presence(read()), "null")
				o[key] = json.RawMessage(`{"no":"such thing"}`)
				payload, err := json.Marshal(o)
				require.NoError(t, err)
				_, err = hostOf(name).Read(payload)
				require.ErrorIs(t, err, ErrPayload)
				require.ErrorContains(t, err, `"`+key+`" is not `)
				require.NotContains(t, err.Error(), "such thing")
				delete(o, key)
				require.Equal(t, Absent, presence(read()), "absent")
			})
		}
	}
}

func TestEventsSurviveJSON(t *testing.T) {
	for name, payload := range payloads(t) {
		e, err := hostOf(name).Read(payload)
		if err != nil {
			continue
		}
		data, err := json.Marshal(e)
		require.NoError(t, err)
		var back Event
		require.NoError(t, json.Unmarshal(data, &back))
		require.Empty(t, cmp.Diff(e, back), name)
	}
}

func TestHugePayloads(t *testing.T) {
	big := strings.Repeat("It should work now. ", 1<<20)
	payload, err := json.Marshal(map[string]any{"session_id": "s", "hook_event_name": "Stop", "last_assistant_message": big, "unknown": big[:1<<20]})
	require.NoError(t, err)
	e, err := Claude.Read(payload)
	require.NoError(t, err)
	require.Equal(t, big, e.Message.Value)

	_, err = Claude.Read(make([]byte, MaxPayload+1))
	require.ErrorIs(t, err, ErrPayload)
	require.ErrorContains(t, err, "larger than 64 MiB")

	deep := func(n int) []byte {
		return []byte(`{"session_id":"s","hook_event_name":"Stop","x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`)
	}
	_, err = Claude.Read(deep(5000))
	require.NoError(t, err)
	_, err = Claude.Read(deep(5_000_000))
	require.ErrorIs(t, err, ErrPayload)
}

// known are the keys that a host may be answered with.
var known = map[Host][]string{Claude: {"decision", "reason"}, Codex: {"decision", "reason"}, Gemini: {"decision", "reason"},
	Cursor: {"followup_message"}, Copilot: {"decision", "reason"}}

// checkAnswer fails unless an answer is one line of JSON with keys the host knows, and says what d says.
func checkAnswer(t *testing.T, e Event, d autocontinue.Decision, answer []byte) {
	if e.Kind != Stop && e.Kind != SubagentStop && e.Host == Cursor {
		want := "{}\n"
		if e.Kind == Prompt {
			want = `{"continue":true}` + "\n"
		}
		require.Equal(t, want, string(answer), "no answer is a no")
		return
	}
	if e.Kind != Stop && e.Kind != SubagentStop {
		require.Empty(t, answer, "it would be shown to the model, or to nobody")
		return
	}
	require.True(t, json.Valid(answer))
	require.Equal(t, 1, bytes.Count(answer, []byte("\n")))
	var got map[string]any
	require.NoError(t, json.Unmarshal(answer, &got))
	for key := range got {
		require.Contains(t, known[e.Host], key)
	}
	reason := "reason"
	goesOn := got["decision"] == "block" || got["decision"] == "deny"
	if e.Host == Cursor {
		reason = "followup_message"
		_, goesOn = got[reason]
	}
	require.Equal(t, d.Action == autocontinue.Continue && strings.TrimSpace(d.Message) != "", goesOn)
	if goesOn {
		require.Equal(t, string([]rune(d.Message)), got[reason]) // bytes that are no UTF-8 become U+FFFD
	} else {
		require.NotContains(t, got, reason)
	}
}

func TestAnswers(t *testing.T) {
	for name, payload := range payloads(t) {
		e, err := hostOf(name).Read(payload)
		if err != nil {
			continue
		}
		for _, d := range []autocontinue.Decision{
			{},
			{Action: autocontinue.Deliver, Message: "x"},
			{Action: autocontinue.Suppress, Message: "x"},
			{Action: autocontinue.Continue},
			{Action: autocontinue.Continue, Message: " \n"},
			{Action: autocontinue.Continue, Message: "continue"},
			{Action: autocontinue.Continue, Message: "two\nlines, \"quotes\", <tags> & \u2028"},
			{Action: autocontinue.Action(7), Message: "x"},
		} {
			checkAnswer(t, e, d, e.Answer(d))
		}
	}
	require.Empty(t, Event{Host: "windsurf", Kind: Stop}.Answer(autocontinue.Decision{Action: autocontinue.Continue, Message: "x"}))
}

func TestHostsAreComplete(t *testing.T) {
	for _, h := range Hosts() {
		require.NotNil(t, h.dialect(), h)
	}
	require.Nil(t, Host("").dialect())
	tr, _, err := Event{Host: "windsurf", Kind: Stop}.Await(t.Context(), Memory{}, nil)
	require.NoError(t, err)
	require.Error(t, tr.Err)
}

// FuzzRead: a payload is an event or an error that quotes nothing of it; a key that nobody knows changes nothing; and whatever
// is decided, the answer is one that the host understands.
func FuzzRead(f *testing.F) {
	for name, payload := range payloads(f) {
		for i, h := range Hosts() {
			if h == hostOf(name) {
				f.Add(uint8(i), payload, "go on")
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, payload []byte, msg string) {
		h := Hosts()[int(which)%len(Hosts())]
		e, err := h.Read(payload)
		if err != nil {
			require.ErrorIs(t, err, ErrPayload)
			require.Less(t, len(err.Error()), 200)
			return
		}
		require.NotEmpty(t, e.Session)
		d := autocontinue.Decision{Action: autocontinue.Continue, Message: msg}
		checkAnswer(t, e, d, e.Answer(d))
		checkAnswer(t, e, autocontinue.Decision{}, e.Answer(autocontinue.Decision{}))
		if e.Kind.IsPause() {
			out := e.Output(transcript.Trace{}, Memory{})
			require.NotEmpty(t, out.Session)
			require.Empty(t, out.Run)
			if id := out.ID; (e.Host != Gemini || !strings.HasPrefix(id, "time:")) && (e.Host != Cursor || !strings.HasPrefix(id, "prompt:")) {
				require.Empty(t, id, "there is no transcript")
			}
			if e.Message.Is != Given && !out.Failed {
				require.NotEmpty(t, out.Hold)
			}
			require.True(t, strings.HasSuffix(e.Message.Value, out.Text) || e.Kind == StopFailure)
		}
		if i := bytes.IndexByte(payload, '{'); i >= 0 {
			more := append(append(bytes.Clone(payload[:i+1]), `"last_assistant_messagE":"shadow","x_unknown":{"session_id":["other"]}`...), ',')
			if rest := bytes.TrimSpace(payload[i+1:]); len(rest) > 0 && rest[0] != '}' {
				again, err := h.Read(append(more, payload[i+1:]...))
				require.NoError(t, err)
				require.Empty(t, cmp.Diff(e, again))
			}
		}
		data, err := json.Marshal(e)
		require.NoError(t, err)
		var back Event
		require.NoError(t, json.Unmarshal(data, &back))
	})
}

// The human is told why a loop ends, and nothing where there was none, the agent's own words say it, or the other hook of the
// pause has told it.
func TestTheEndOfALoopIsTold(t *testing.T) {
	note := map[Host]string{
		Claude: `{"systemMessage":"sidecoach: Because."}` + "\n",
		Codex:  `{"systemMessage":"sidecoach: Because."}` + "\n",
		Gemini: `{"decision":"allow","systemMessage":"sidecoach: Because."}` + "\n",
		Cursor: "{}\n", Copilot: "{}\n", // they show nothing
	}
	plain := map[Host]string{Claude: "{}\n", Codex: "{}\n", Gemini: `{"decision":"allow"}` + "\n", Cursor: "{}\n", Copilot: "{}\n"}
	for _, host := range Hosts() {
		for _, kind := range []Kind{Stop, SubagentStop} {
			e := Event{Host: host, Kind: kind, Session: "s"}
			after := func(reason autocontinue.Reason) autocontinue.Decision {
				return autocontinue.Decision{Reason: reason, Note: "Because.", Continues: 2}
			}
			for _, reason := range []autocontinue.Reason{
				autocontinue.ReasonRepeat, autocontinue.ReasonCap, autocontinue.ReasonCrashGuard, autocontinue.ReasonLowConfidence,
				autocontinue.ReasonSuperseded, autocontinue.ReasonHold,
			} {
				d := after(reason)
				require.Equal(t, note[host], string(e.Answer(d)), reason)
				d.Continues = 0
				require.Equal(t, plain[host], string(e.Answer(d)), "%s: it stops as it would without a hook", reason)
				active := e
				active.StopActive = Value(true)
				require.Equal(t, note[host], string(active.Answer(d)), "%s: a hook sent it on, if none that is remembered", reason)
				d = after(reason)
				d.Replayed = true
				require.Equal(t, plain[host], string(e.Answer(d)), reason)
				d = after(reason)
				d.Note = ""
				require.Equal(t, plain[host], string(e.Answer(d)), reason)
			}
			for _, reason := range []autocontinue.Reason{
				autocontinue.ReasonCompletion, autocontinue.ReasonQuestion, autocontinue.ReasonBlocker, autocontinue.ReasonWaiting, autocontinue.ReasonRunClosed,
				autocontinue.ReasonSameText, autocontinue.ReasonError,
			} {
				require.Equal(t, plain[host], string(e.Answer(after(reason))), reason)
			}
		}
		for _, kind := range []Kind{StopFailure, Notify, Prompt, Said, Other} {
			answer := Event{Host: host, Kind: kind}.Answer(autocontinue.Decision{Reason: autocontinue.ReasonCrashGuard, Note: "Because.", Continues: 2})
			require.NotContains(t, string(answer), "Because", kind)
			require.Equal(t, host == Cursor, len(answer) > 0, kind)
		}
	}
}

// Codex refuses an answer with a key that it does not know. These are all that it knows of Stop and SubagentStop.
func TestCodexKnowsTheKeys(t *testing.T) {
	known := []string{"continue", "decision", "reason", "stopReason", "suppressOutput", "systemMessage"}
	for _, d := range []autocontinue.Decision{
		{}, {Action: autocontinue.Continue, Message: "Go on."}, {Reason: autocontinue.ReasonRepeat, Note: "Because.", Continues: 2},
	} {
		var keys map[string]any
		require.NoError(t, json.Unmarshal(Event{Host: Codex, Kind: Stop}.Answer(d), &keys))
		for key := range keys {
			require.Contains(t, known, key)
		}
	}
}
