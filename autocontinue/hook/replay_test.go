package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
)

// scene plays a session of a host that runs the hook at each pause, while its transcript grows.
type scene struct {
	t       *testing.T
	host    Host
	file    string
	cfg     Config
	n, turn int
	loops   int
	active  bool
	printed []string // in this turn
	decided []autocontinue.Decision
	outputs []autocontinue.Output
}

const sceneSession = "5f0e8a1c-7b2d-4c39-8e64-90ab12cd34ef"

type dict = map[string]any

func newScene(t *testing.T, host Host) *scene {
	s := &scene{t: t, host: host, file: filepath.Join(t.TempDir(), "session.jsonl")}
	heuristic, err := classify.NewHeuristic()
	require.NoError(t, err)
	s.cfg = Config{Sessions: &store{state: map[string][]byte{}}}
	s.cfg.Loop = func(_ context.Context, p *Pause) (autocontinue.Config, error) {
		require.Empty(t, p.Lack)
		s.outputs = append(s.outputs, p.Output)
		observer := autocontinue.ObserverFunc(func(_ context.Context, e autocontinue.Event) error {
			s.decided = append(s.decided, e.Decision)
			return nil
		})
		return autocontinue.Config{Classifier: heuristic, Observer: observer}, nil
	}
	switch host {
	case Codex:
		s.write(dict{"timestamp": "x", "type": "session_meta", "payload": dict{"id": sceneSession, "cwd": "/w/shop"}})
	case Copilot:
		s.event("session.start", dict{"sessionId": sceneSession, "context": dict{"cwd": "/w/shop"}})
	case Gemini:
		s.write(dict{"sessionId": sceneSession, "projectHash": "h", "kind": "main"})
		s.words("<session_context>\nThis is the Gemini CLI.\n**Workspace Directories:**\n  - " +
			"/w/shop\n</session_context>")
	}
	return s
}

func newLoop(t testing.TB) *autocontinue.AutoContinue {
	heuristic, err := classify.NewHeuristic()
	require.NoError(t, err)
	loop, err := autocontinue.New(autocontinue.Config{Classifier: heuristic})
	require.NoError(t, err)
	return loop
}

func (s *scene) write(v any) {
	line, err := json.Marshal(v)
	require.NoError(s.t, err)
	f, err := os.OpenFile(s.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(s.t, err)
	_, err = f.Write(append(line, '\n'))
	require.NoError(s.t, err)
	require.NoError(s.t, f.Close())
}

func (s *scene) id() string { s.n++; return fmt.Sprintf("id-%d", s.n) }

func (s *scene) event(kind string, data dict) {
	s.write(dict{"type": kind, "data": data, "id": s.id()})
}

// claude writes a line with a block of content, or a text.
func (s *scene) claude(kind string, content any, more dict) {
	line := dict{
		"type": kind, "uuid": s.id(), "sessionId": sceneSession, "cwd": "/w/shop", "isSidechain": false,
		"promptId": fmt.Sprint("p", s.turn), "message": dict{"role": kind, "id": s.id(), "content": content},
	}
	for k, v := range more {
		line[k] = v
	}
	s.write(line)
}

func (s *scene) codex(payload dict) {
	s.write(dict{"timestamp": "x", "type": "response_item", "payload": payload})
}

func said(kind, text string) []any { return []any{dict{"type": kind, "text": text}} }

// words writes a prompt into the transcript.
func (s *scene) words(text string) {
	switch s.host {
	case Claude:
		s.claude("user", text, nil)
	case Codex:
		s.codex(dict{"type": "message", "role": "user", "content": said("input_text", text)})
	case Gemini:
		s.write(dict{"id": s.id(), "type": "user", "content": said("", text)})
	case Cursor:
		s.write(dict{"role": "user", "message": dict{"content": said("text", "<user_query>\n"+text+"\n</user_query>")}})
	case Copilot:
		s.event("user.message", dict{"content": text, "attachments": []any{}})
	}
}

// prompt is the host's event of a prompt.
func (s *scene) prompt(text string) {
	v := dict{
		"session_id": sceneSession, "cwd": "/w/shop", "prompt": text, "hook_event_name": "UserPromptSubmit",
		"prompt_id": fmt.Sprint("p", s.turn),
	}
	switch s.host {
	case Gemini:
		v["hook_event_name"] = "BeforeAgent"
	case Cursor:
		v["hook_event_name"], v["conversation_id"] = "beforeSubmitPrompt", sceneSession
	case Codex:
		v["turn_id"] = fmt.Sprint("t", s.turn)
	}
	s.call(v)
}

// call calls the hook.
func (s *scene) call(v dict) {
	payload, err := json.Marshal(v)
	require.NoError(s.t, err)
	_, err = Run(s.t.Context(), s.host, payload, s.cfg)
	require.NoError(s.t, err)
}

// ask is the human's prompt.
func (s *scene) ask(text string) {
	s.turn++
	s.active, s.printed = false, nil
	s.prompt(text)
	s.words(text)
}

// wake is a prompt that Claude Code writes itself.
func (s *scene) wake() {
	const text = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>"
	s.turn++
	s.active = false
	s.prompt(text)
	s.words(text)
}

// review is a command of the human; when local is set, one that Claude Code answers itself.
func (s *scene) review(local bool) {
	if !local {
		s.turn++
		s.active, s.printed = false, nil
		s.prompt("/review 12")
	}
	name := "/review"
	if local {
		name = "/model"
	}
	s.words("<command-name>" + name + "</command-name>\n<command-args>12</command-args>")
	if local {
		s.words("<local-command-stdout>Nothing.</local-command-stdout>")
	}
}

// run is a call of a shell.
func (s *scene) run(command, output string, exit int) {
	id := s.id()
	switch args := (dict{"command": command}); s.host {
	case Claude:
		s.claude("assistant", []any{dict{"type": "tool_use", "id": id, "name": "Bash", "input": args}}, nil)
		if exit != 0 {
			output = fmt.Sprintf("Exit code %d\n%s", exit, output)
		}
		s.claude("user", []any{dict{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": exit != 0}}, nil)
	case Codex:
		arguments, _ := json.Marshal(dict{"command": []string{"bash", "-lc", command}})
		s.codex(dict{"type": "function_call", "name": "shell", "call_id": id, "arguments": string(arguments)})
		text := fmt.Sprintf("Exit code: %d\nWall time: 1 seconds\nOutput:\n%s", exit, output)
		s.codex(dict{"type": "function_call_output", "call_id": id, "output": text})
	case Gemini:
		text := fmt.Sprintf("Output: %s\nExit Code: %d", output, exit)
		s.gemini("", dict{
			"id": id, "name": "run_shell_command", "args": args, "status": "success",
			"result": []any{dict{"functionResponse": dict{"response": dict{"output": text}}}},
		})
	case Cursor:
		content := []any{dict{"type": "tool_use", "name": "Shell", "input": args}}
		s.write(dict{"role": "assistant", "message": dict{"content": content}})
	case Copilot:
		request := dict{"toolCallId": id, "name": "bash", "arguments": args}
		s.event("assistant.message", dict{"content": "", "toolRequests": []any{request}})
		s.event("tool.execution_start", dict{"toolCallId": id, "toolName": "bash", "arguments": args})
		text := fmt.Sprintf("%s\n<exited with exit code %d>", output, exit)
		s.event("tool.execution_complete", dict{"toolCallId": id, "success": true, "result": dict{"content": text}})
	}
}

func (s *scene) gemini(text string, calls ...any) {
	line := dict{"id": s.id(), "type": "gemini", "content": text}
	if len(calls) > 0 {
		line["toolCalls"] = calls
	}
	s.write(line)
	if text != "" {
		s.printed = append(s.printed, text)
	}
}

// edit is a change of a file.
func (s *scene) edit(name string) {
	id := s.id()
	switch s.host {
	case Claude:
		call := dict{"type": "tool_use", "id": id, "name": "Edit", "input": dict{"file_path": "/w/shop/" + name}}
		s.claude("assistant", []any{call}, nil)
		s.claude("user", []any{dict{"type": "tool_result", "tool_use_id": id, "content": "updated"}}, nil)
	case Codex:
		patch := "*** Begin Patch\n*** Update File: " + name + "\n*** End Patch"
		s.codex(dict{"type": "custom_tool_call", "name": "apply_patch", "call_id": id, "input": patch})
		s.codex(dict{"type": "custom_tool_call_output", "call_id": id, "output": "Exit code: 0\nOutput:\nSuccess."})
	case Gemini:
		args := dict{"file_path": "/w/shop/" + name}
		s.gemini("Changing it.", dict{"id": id, "name": "replace", "args": args, "status": "success", "result": []any{}})
	case Cursor:
		content := append(
			said("text", "Changing it."),
			dict{"type": "tool_use", "name": "StrReplace", "input": dict{"path": name}},
		)
		s.write(dict{"role": "assistant", "message": dict{"content": content}})
	case Copilot:
		s.run("sed -i s/a/b/ "+name, "", 0)
	}
}

// interrupt is the human's, before the agent has paused.
func (s *scene) interrupt() {
	switch s.host {
	case Claude:
		s.words("[Request interrupted by user]")
	case Codex:
		s.words("<turn_aborted>\nThe user interrupted.\n</turn_aborted>")
	case Copilot:
		s.event("abort", dict{"reason": "user_initiated"})
	}
}

// stop is a pause with a text, at which the hook is called. Obey says that its answer is followed.
func (s *scene) stop(text string, obey bool) bool {
	v := dict{
		"session_id": sceneSession, "cwd": "/w/shop", "transcript_path": s.file, "hook_event_name": "Stop",
		"stop_hook_active": s.active,
	}
	switch s.host {
	case Claude:
		s.claude("assistant", said("text", text), nil)
		v["last_assistant_message"], v["prompt_id"] = text, fmt.Sprint("p", s.turn)
	case Codex:
		s.codex(dict{"type": "message", "role": "assistant", "id": s.id(), "content": said("output_text", text)})
		v["last_assistant_message"], v["turn_id"] = text, fmt.Sprint("t", s.turn)
	case Gemini:
		s.gemini(text)
		v["hook_event_name"], v["prompt_response"] = "AfterAgent", strings.Join(s.printed, "\n")
		v["timestamp"] = fmt.Sprintf("2026-11-02T10:00:00.%06dZ", s.n)
	case Cursor:
		s.write(dict{"role": "assistant", "message": dict{"content": said("text", text)}})
		v["hook_event_name"], v["conversation_id"], v["status"], v["loop_count"] = "stop", sceneSession, "completed", s.loops
	case Copilot:
		s.event("assistant.message", dict{"content": text, "toolRequests": []any{}})
	}
	s.call(v)
	d := s.decided[len(s.decided)-1]
	if !obey || d.Action != autocontinue.Continue {
		return false
	}
	s.active = true
	s.loops++
	switch s.host {
	case Claude:
		s.claude("user", "Stop hook feedback:\n"+d.Message, dict{"isMeta": true})
	case Codex:
		s.words(`<hook_prompt hook_run_id="stop:1">` + html.EscapeString(d.Message) + `</hook_prompt>`)
	default:
		s.prompt(d.Message)
		s.words(d.Message)
	}
	return true
}

// broke is an answer of Claude Code itself, in place of the model's.
func (s *scene) broke(text string) {
	s.claude("assistant", said("text", text), dict{"isApiErrorMessage": true})
	s.call(dict{
		"session_id": sceneSession, "cwd": "/w/shop", "transcript_path": s.file, "prompt_id": fmt.Sprint("p", s.turn),
		"hook_event_name": "StopFailure", "error": "server_error", "last_assistant_message": text,
	})
}

// replayed returns what a transcript gives.
func replayed(t testing.TB, data []byte) (moments []Moment, err error) {
	tr, err := transcript.Open(bytes.NewReader(data), int64(len(data)), sceneSession)
	require.NoError(t, err)
	_, err = Replay(t.Context(), tr, func(string) (*autocontinue.AutoContinue, error) { return newLoop(t), nil }, func(m Moment) error {
		moments = append(moments, m)
		return nil
	})
	return moments, err
}

var (
	sceneAsks = []string{
		"Fix the login redirect.",
		"continue",
		"And the logout?",
		"Run the tests.",
		"Explain the router.",
		"Yes.",
	}
	sceneSays = []string{
		"Fixed the login redirect, should work now.", "I fixed the login redirect. It should work now.",
		"All 42 tests pass and the login redirect is fixed.", "Should I change the test, too?",
		"I am reading auth.go now. Next I will run the tests.", "Next I will rename the three callers; two are left.",
		"Done:\n\n```\n$ go test ./...\nok  \tshop/auth\t0.2s\n```\n12 passed, 0 failed.",
		"I can't go on without the password.", "The router matches paths from left to right.",
	}
)

// play plays a random session.
func (s *scene) play(r *rand.Rand, obey bool) {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	interrupted := false
	for range 1 + r.IntN(8) {
		switch n := r.IntN(12); {
		case n == 0 && s.host == Claude:
			s.review(false)
		case n == 1 && s.host == Claude:
			s.wake()
		default:
			ask := pick(sceneAsks)
			if ask == "continue" && s.host.echoes() && (!obey || interrupted) {
				ask = "go on" // that may be ours, too, and then nobody can tell
			}
			s.ask(ask)
		}
		for goesOn := true; goesOn; {
			for range r.IntN(4) {
				switch r.IntN(6) {
				case 0:
					s.edit("auth.go")
				case 1:
					s.edit("README.md")
				case 2:
					s.run("go test ./...", "ok  \tshop/auth\t0.2s", 0)
				case 3:
					s.run("go test ./...", "--- FAIL: TestLogin\nFAIL", 1)
				default:
					s.run("ls -l", "auth.go", 0)
				}
			}
			switch {
			case r.IntN(15) == 0 && s.host != Gemini && s.host != Cursor:
				s.interrupt()
				goesOn, interrupted = false, true
			case s.host == Claude && r.IntN(12) == 0:
				s.broke(pick([]string{"API Error: 529", "Prompt is too long", "Credit balance is too low"}))
				goesOn = false
			default:
				goesOn = s.stop(pick(sceneSays), obey)
			}
		}
		if s.host == Claude && r.IntN(8) == 0 {
			s.review(true)
		}
	}
}

// Whatever happens in a session: its transcript, replayed, gives the decisions that the hook gave while it was written.
func TestReplayAgreesWithTheHook(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	seeds := uint64(25)
	if os.Getenv("SIDECOACH_ALL") != "" {
		seeds = 60
	}
	for _, host := range Hosts() {
		continued := 0
		for seed := range seeds {
			t.Run(fmt.Sprint(host, seed), func(t *testing.T) {
				s := newScene(t, host)
				s.play(rand.New(rand.NewPCG(seed, 7)), seed%2 == 0)
				data, err := os.ReadFile(s.file)
				require.NoError(t, err)
				moments, err := replayed(t, data)
				require.NoError(t, err)
				var decided []autocontinue.Decision
				var outputs []autocontinue.Output
				for _, m := range moments {
					decided, outputs = append(decided, m.Decision), append(outputs, m.Output)
				}
				for _, list := range [][]autocontinue.Output{s.outputs, outputs} {
					seen := map[string]bool{}
					for i := range list { // a transcript names turns and pauses as its host does, not as the events do
						require.False(t, seen[list[i].ID], list[i].ID)
						seen[list[i].ID] = true
						list[i].Turn, list[i].ID = "", ""
					}
				}
				require.Empty(t, cmp.Diff(s.outputs, outputs))
				for _, list := range [][]autocontinue.Decision{s.decided, decided} {
					for i := range list { // the journal has the signals elsewhere; IDs come from those of the pauses
						list[i].ID, list[i].Result.Signals, list[i].Result.SignalsDropped = "", nil, 0
					}
				}
				require.Empty(t, cmp.Diff(s.decided, decided))
				for _, d := range decided {
					if d.Action == autocontinue.Continue {
						continued++
					}
				}
			})
		}
		require.Greater(t, continued, 20, host)
	}
}

const shortSession = `{"type":"user","uuid":"1","sessionId":"s","message":{"role":"user","content":"Fix it."}}
{"type":"assistant","uuid":"2","sessionId":"s","message":{"id":"a","content":[{"type":"text","text":"Fixed."}]}}
{"type":"user","uuid":"3","sessionId":"s","message":{"role":"user","content":"Thanks."}}
{"type":"assistant","uuid":"4","sessionId":"s","message":{"id":"b","content":[{"type":"text","text":"Welcome."}]}}
`

func TestReplayEndsWithWhatFails(t *testing.T) {
	broken := errors.New("broken")
	tr, err := transcript.Open(strings.NewReader(shortSession), int64(len(shortSession)), "x")
	require.NoError(t, err)
	start := func(string) (*autocontinue.AutoContinue, error) { return newLoop(t), nil }
	show := func(Moment) error { return nil }

	_, err = Replay(t.Context(), tr, func(string) (*autocontinue.AutoContinue, error) { return nil, broken }, show)
	require.ErrorIs(t, err, broken)
	n := 0
	_, err = Replay(t.Context(), tr, start, func(Moment) error { n++; return broken })
	require.ErrorIs(t, err, broken)
	require.Equal(t, 1, n, "nothing is shown after that")
}

// A sub-agent's own transcript is one event of another kind. A turn that broke is another.
func TestReplayEvents(t *testing.T) {
	side := strings.ReplaceAll(
		shortSession,
		`"type":"user","uuid"`,
		`"type":"user","isSidechain":true,"agentId":"a7","uuid"`,
	)
	side = strings.ReplaceAll(side, `"type":"assistant",`, `"type":"assistant","isSidechain":true,"agentId":"a7",`)
	moments, err := replayed(t, []byte(side))
	require.NoError(t, err)
	require.Len(t, moments, 2)
	require.Equal(t, "s/a7", moments[0].Output.Session)

	broke := strings.Replace(shortSession, `"type":"assistant",`, `"type":"assistant","isApiErrorMessage":true,`, 1)
	moments, err = replayed(t, []byte(broke))
	require.NoError(t, err)
	require.Len(t, moments, 2)
	require.Equal(t, autocontinue.Reason("crash_guard"), moments[0].Decision.Reason)
	require.Equal(t, "Thanks.", moments[0].Next)
	require.Empty(t, moments[1].Next)
}

func TestEffect(t *testing.T) {
	const agrees, against, missed, none = "agrees", "against", "missed", ""
	for _, tt := range []struct {
		text, next         string
		progress           bool
		continued, stopped string
		answered           bool
	}{
		{"Fixed.", "continue", false, agrees, missed, false},
		{"Fixed.", "can you run lint, test and check-types", false, agrees, missed, false},
		{"Fixed. Shall I go on?", "run the tests", false, agrees, missed, false},
		{"Fixed.", "yes, go on", false, agrees, missed, false},
		{"Shall I go on?", "yes, go on", false, against, none, true},
		{"Next I fix the logout.", "ok", true, agrees, missed, false},
		{"Shall I fix the logout?", "ok", true, against, none, true},
		{"Fixed.", "thanks", false, none, none, false},
		{"Fixed.", "no", false, against, none, true},
		{"Fixed.", "And the logout?", false, none, none, false},
		{"Which one, A or B?", "the one with the index please", false, against, none, true},
		{"どちらにしますか？", "the one with the index please", false, against, none, true},
		{"Shall I go on? **", "the one with the index please", false, against, none, true},
		{"Which one?", "", false, none, none, false},
	} {
		m := Moment{Output: autocontinue.Output{Text: tt.text}, Next: tt.next}
		m.Decision.Result = classify.Result{Type: classify.Status, WasRejectedCompletion: !tt.progress}
		effect, _, answered := m.Effect()
		require.Equal(t, tt.stopped, effect, "%+v", tt)
		require.Equal(t, tt.answered, answered, "%+v", tt)
		m.Decision.Action = autocontinue.Continue
		effect, _, _ = m.Effect()
		require.Equal(t, tt.continued, effect, "%+v", tt)
	}
}
