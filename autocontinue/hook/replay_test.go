package hook

import (
	"bytes"
	"context"
	"encoding/json"
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
	"github.com/sidecoach/sidecoach/classify"
)

// scene plays a session of a host that runs the hook at each pause, while its transcript grows.
type scene struct {
	t       *testing.T
	host    Host
	file    string
	loop    *autocontinue.AutoContinue
	mem     Memory
	n       int
	turn    int
	active  bool
	loops   int
	printed []string // in this turn
	decided []autocontinue.Decision
	outputs []autocontinue.Output
}

const sceneSession = "5f0e8a1c-7b2d-4c39-8e64-90ab12cd34ef"

func newScene(t *testing.T, host Host) *scene {
	s := &scene{t: t, host: host, file: filepath.Join(t.TempDir(), "session.jsonl"), loop: newLoop(t)}
	switch host {
	case Codex:
		s.write(map[string]any{"timestamp": "x", "type": "session_meta", "payload": map[string]any{"id": sceneSession, "cwd": "/w/shop"}})
	case Copilot:
		s.event("session.start", map[string]any{"sessionId": sceneSession, "context": map[string]any{"cwd": "/w/shop"}})
	case Gemini:
		s.write(map[string]any{"sessionId": sceneSession, "projectHash": "h", "kind": "main"})
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

func (s *scene) event(kind string, data map[string]any) {
	s.write(map[string]any{"type": kind, "data": data, "id": s.id()})
}

func (s *scene) claude(kind string, message map[string]any, more map[string]any) {
	line := map[string]any{"type": kind, "uuid": s.id(), "sessionId": sceneSession, "cwd": "/w/shop", "isSidechain": false, "message": message, "promptId": fmt.Sprint("p", s.turn)}
	for k, v := range more {
		line[k] = v
	}
	s.write(line)
}

func (s *scene) codex(payload map[string]any) {
	s.write(map[string]any{"timestamp": "x", "type": "response_item", "payload": payload})
}

func texts(kind string, said ...string) []any {
	var list []any
	for _, s := range said {
		list = append(list, map[string]any{"type": kind, "text": s})
	}
	return list
}

// words writes a prompt into the transcript.
func (s *scene) words(text string) {
	switch s.host {
	case Claude:
		s.claude("user", map[string]any{"role": "user", "content": text}, nil)
	case Codex:
		s.codex(map[string]any{"type": "message", "role": "user", "content": texts("input_text", text)})
	case Gemini:
		s.write(map[string]any{"id": s.id(), "type": "user", "content": texts("", text)})
	case Cursor:
		s.write(map[string]any{"role": "user", "message": map[string]any{"content": texts("text", "<user_query>\n"+text+"\n</user_query>")}})
	case Copilot:
		s.event("user.message", map[string]any{"content": text, "attachments": []any{}})
	}
}

// prompt is the host's event of a prompt.
func (s *scene) prompt(text string) {
	v := map[string]any{"session_id": sceneSession, "cwd": "/w/shop", "prompt": text, "hook_event_name": "UserPromptSubmit", "prompt_id": fmt.Sprint("p", s.turn)}
	switch s.host {
	case Gemini:
		v["hook_event_name"] = "BeforeAgent"
	case Cursor:
		v["hook_event_name"], v["conversation_id"] = "beforeSubmitPrompt", sceneSession
	case Codex:
		v["turn_id"] = fmt.Sprint("t", s.turn)
	}
	e := s.read(v)
	if e.FromHuman(s.mem) {
		require.NoError(s.t, s.loop.Reset(s.t.Context(), e.SessionKey()))
	}
	s.mem = s.mem.Heard(e)
}

func (s *scene) read(v map[string]any) Event {
	payload, err := json.Marshal(v)
	require.NoError(s.t, err)
	e, err := s.host.Read(payload)
	require.NoError(s.t, err)
	return e
}

// ask is the human's prompt.
func (s *scene) ask(text string) {
	s.turn++
	s.active, s.printed = false, nil
	s.prompt(text)
	s.words(text)
}

// wake is a prompt that the host writes itself.
func (s *scene) wake() {
	if s.host != Claude {
		return
	}
	s.turn++
	s.active = false
	const text = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>"
	s.prompt(text)
	s.words(text)
}

// review is a command of the human's, which the host answers itself where local is set.
func (s *scene) review(local bool) {
	if s.host != Claude {
		return
	}
	if !local {
		s.turn++
		s.active, s.printed = false, nil
		s.prompt("/review 12")
	}
	s.words("<command-name>/review</command-name>\n<command-message>review</command-message>\n<command-args>12</command-args>")
	if local {
		s.words("<local-command-stdout>Nothing.</local-command-stdout>")
	}
}

// run is a call of a shell.
func (s *scene) run(command, output string, exit int) {
	id := s.id()
	switch s.host {
	case Claude:
		s.claude("assistant", map[string]any{"id": s.id(), "content": []any{map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": command}}}}, nil)
		if exit != 0 {
			output = fmt.Sprintf("Exit code %d\n%s", exit, output)
		}
		s.claude("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": exit != 0}}}, nil)
	case Codex:
		arguments, _ := json.Marshal(map[string]any{"command": []string{"bash", "-lc", command}})
		s.codex(map[string]any{"type": "function_call", "name": "shell", "call_id": id, "arguments": string(arguments)})
		s.codex(map[string]any{"type": "function_call_output", "call_id": id, "output": fmt.Sprintf("Exit code: %d\nWall time: 1 seconds\nOutput:\n%s", exit, output)})
	case Gemini:
		s.write(map[string]any{"id": s.id(), "type": "gemini", "content": "", "toolCalls": []any{map[string]any{
			"id": id, "name": "run_shell_command", "args": map[string]any{"command": command}, "status": "success",
			"result": []any{map[string]any{"functionResponse": map[string]any{"response": map[string]any{"output": fmt.Sprintf("Output: %s\nExit Code: %d", output, exit)}}}},
		}}})
	case Cursor:
		s.write(map[string]any{"role": "assistant", "message": map[string]any{"content": []any{map[string]any{"type": "tool_use", "name": "Shell", "input": map[string]any{"command": command}}}}})
	case Copilot:
		args := map[string]any{"command": command}
		s.event("assistant.message", map[string]any{"content": "", "toolRequests": []any{map[string]any{"toolCallId": id, "name": "bash", "arguments": args}}})
		s.event("tool.execution_start", map[string]any{"toolCallId": id, "toolName": "bash", "arguments": args})
		s.event("tool.execution_complete", map[string]any{"toolCallId": id, "success": true, "result": map[string]any{"content": fmt.Sprintf("%s\n<exited with exit code %d>", output, exit)}})
	}
}

// edit is a change of a file.
func (s *scene) edit(name string) {
	id := s.id()
	switch s.host {
	case Claude:
		s.claude("assistant", map[string]any{"id": s.id(), "content": []any{map[string]any{"type": "tool_use", "id": id, "name": "Edit", "input": map[string]any{"file_path": "/w/shop/" + name}}}}, nil)
		s.claude("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": "updated"}}}, nil)
	case Codex:
		s.codex(map[string]any{"type": "custom_tool_call", "name": "apply_patch", "call_id": id, "input": "*** Begin Patch\n*** Update File: " + name + "\n*** End Patch"})
		s.codex(map[string]any{"type": "custom_tool_call_output", "call_id": id, "output": "Exit code: 0\nOutput:\nSuccess."})
	case Gemini:
		s.write(map[string]any{"id": s.id(), "type": "gemini", "content": "Changing it.", "toolCalls": []any{map[string]any{
			"id": id, "name": "replace", "args": map[string]any{"file_path": "/w/shop/" + name}, "status": "success", "result": []any{},
		}}})
		s.printed = append(s.printed, "Changing it.")
	case Cursor:
		s.write(map[string]any{"role": "assistant", "message": map[string]any{"content": []any{map[string]any{"type": "text", "text": "Changing it."}, map[string]any{"type": "tool_use", "name": "StrReplace", "input": map[string]any{"path": name}}}}})
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
		s.event("abort", map[string]any{"reason": "user_initiated"})
	}
}

// stop is a pause with a text, at which the hook is called. Obey says that its answer is done.
func (s *scene) stop(text string, obey bool) bool {
	switch s.host {
	case Claude:
		id := s.id()
		s.claude("assistant", map[string]any{"id": id, "content": []any{map[string]any{"type": "thinking", "thinking": "hm"}}}, nil)
		s.claude("assistant", map[string]any{"id": id, "content": texts("text", text)}, nil)
	case Codex:
		s.codex(map[string]any{"type": "message", "role": "assistant", "id": s.id(), "content": texts("output_text", text)})
	case Gemini:
		s.write(map[string]any{"id": s.id(), "type": "gemini", "content": text})
		s.printed = append(s.printed, text)
	case Cursor:
		s.write(map[string]any{"role": "assistant", "message": map[string]any{"content": texts("text", text)}})
	case Copilot:
		s.event("assistant.message", map[string]any{"content": text, "toolRequests": []any{}})
		s.event("assistant.turn_end", map[string]any{"turnId": "0"})
	}
	v := map[string]any{"session_id": sceneSession, "cwd": "/w/shop", "transcript_path": s.file, "hook_event_name": "Stop", "stop_hook_active": s.active}
	switch s.host {
	case Claude:
		v["last_assistant_message"], v["prompt_id"] = text, fmt.Sprint("p", s.turn)
	case Codex:
		v["last_assistant_message"], v["turn_id"] = text, fmt.Sprint("t", s.turn)
	case Gemini:
		v["hook_event_name"], v["prompt_response"], v["timestamp"] = "AfterAgent", strings.Join(s.printed, "\n"), fmt.Sprintf("2026-11-02T10:00:00.%06dZ", s.n)
	case Cursor:
		v["hook_event_name"], v["conversation_id"], v["status"], v["loop_count"] = "stop", sceneSession, "completed", s.loops
	}
	d := s.pause(s.read(v))
	if !obey || d.Action != autocontinue.Continue {
		return false
	}
	s.active = true
	s.loops++
	switch s.host {
	case Claude:
		s.claude("user", map[string]any{"role": "user", "content": "Stop hook feedback:\n" + d.Message}, map[string]any{"isMeta": true})
	case Codex:
		s.words(`<hook_prompt hook_run_id="stop:1">` + html.EscapeString(d.Message) + `</hook_prompt>`)
	default:
		s.prompt(d.Message)
		s.words(d.Message)
	}
	return true
}

// broke is an answer of Claude Code's own, in place of the model's.
func (s *scene) broke(text string) {
	s.claude("assistant", map[string]any{"id": s.id(), "model": "<synthetic>", "content": texts("text", text)}, map[string]any{"isApiErrorMessage": true})
	s.pause(s.read(map[string]any{
		"session_id": sceneSession, "cwd": "/w/shop", "transcript_path": s.file, "prompt_id": fmt.Sprint("p", s.turn),
		"hook_event_name": "StopFailure", "error": "server_error", "last_assistant_message": text,
	}))
}

// pause calls the hook.
func (s *scene) pause(e Event) autocontinue.Decision {
	out := e.Output(e.Look(s.mem), s.mem)
	d, err := s.loop.Handle(s.t.Context(), out)
	require.NoError(s.t, err)
	s.mem = s.mem.After(e, out, d)
	s.decided, s.outputs = append(s.decided, d), append(s.outputs, out)
	return d
}

// replayed returns what a transcript gives.
func replayed(t testing.TB, data []byte) (moments []Moment, account Account, err error) {
	tr, err := OpenTranscript(bytes.NewReader(data), int64(len(data)), sceneSession)
	if err != nil {
		return nil, Account{}, err
	}
	account, err = tr.Replay(context.Background(), func(string) (Loop, error) { return newLoop(t), nil }, func(m Moment) error {
		moments = append(moments, m)
		return nil
	})
	return moments, account, err
}

var (
	sceneAsks = []string{"Fix the login redirect.", "continue", "And the logout?", "Run the tests.", "Explain the router.", "Yes."}
	sceneSays = []string{
		"Fixed the login redirect, should work now.", "I fixed the login redirect. It should work now.", "All 42 tests pass and the login redirect is fixed.",
		"Should I change the test, too?", "I am reading auth.go now. Next I will run the tests.", "Done:\n\n```\n$ go test ./...\nok  \tshop/auth\t0.2s\n```\n12 passed, 0 failed.",
		"I can't go on without the password.", "The router matches paths from left to right.",
	}
)

// Whatever happens in a session: its transcript, replayed, gives the decisions that the hook gave while it was written.
func TestReplayAgreesWithTheHook(t *testing.T) {
	for _, host := range Hosts() {
		for seed := range uint64(60) {
			t.Run(fmt.Sprint(host, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 7))
				pick := func(list []string) string { return list[r.IntN(len(list))] }
				s := newScene(t, host)
				obey := seed%2 == 0
				for range 1 + r.IntN(8) {
					switch n := r.IntN(12); {
					case n == 0 && host == Claude:
						s.review(false)
					case n == 1 && host == Claude:
						s.wake()
					default:
						ask := pick(sceneAsks)
						if ask == "continue" && host.Echoes() && !obey {
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
						if r.IntN(15) == 0 {
							s.interrupt()
							break
						}
						if host == Claude && r.IntN(12) == 0 {
							s.broke(pick([]string{"API Error: 529", "Prompt is too long", "Credit balance is too low"}))
							break
						}
						goesOn = s.stop(pick(sceneSays), obey)
					}
					if r.IntN(8) == 0 {
						s.review(true)
					}
				}
				data, err := os.ReadFile(s.file)
				require.NoError(t, err)
				moments, _, err := replayed(t, data)
				require.NoError(t, err)
				var decided []autocontinue.Decision
				var outputs []autocontinue.Output
				for i := range moments {
					decided = append(decided, moments[i].Decision)
					outputs = append(outputs, moments[i].Output)
					outputs[i].Turn = ""
				}
				for i := range s.outputs { // that a turn has an ID changes nothing where all prompts are known
					s.outputs[i].Turn = ""
				}
				require.Empty(t, cmp.Diff(s.outputs, outputs))
				require.Empty(t, cmp.Diff(s.decided, decided))
			})
		}
	}
}
