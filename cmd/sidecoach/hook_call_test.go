package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/classify"
)

// Every payload that the hosts' formats are tested with gets an answer that the host understands, and an exit status
// of 0 or 1.
func TestHookAnswersEveryPayload(t *testing.T) {
	files, err := filepath.Glob("../../autocontinue/hook/testdata/*/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var calls sync.WaitGroup
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		require.NoError(t, err)
		name := filepath.Base(file)
		h := hook.Host(name[:strings.IndexByte(name, '-')])
		for _, part := range a.Files {
			if part.Name != "given/payload" {
				continue
			}
			e, unread := h.Read(part.Data)
			check := func(shadow string) {
				out, errs, status := sidecoach(t, bytes.NewReader(part.Data), "hook", string(h), "--state", t.TempDir(), shadow)
				if unread != nil {
					assert.Equal(t, exitFailure, status, name)
					if slices.Contains(hook.Hosts(), h) {
						assert.Equal(t, string(h.Pass()), out, name)
					}
					assert.Regexp(t, "^sidecoach: (the event cannot be used: |unknown host )", errs, name)
					return
				}
				assert.Zero(t, status, "%s: %s", name, errs)
				stop := string(e.Answer(autocontinue.Decision{}))
				if out == stop {
					return
				}
				var answer struct{ Decision, Reason, SystemMessage string }
				dec := json.NewDecoder(strings.NewReader(out))
				dec.DisallowUnknownFields()
				assert.NoError(t, dec.Decode(&answer), "%s: %s", name, out)
				if answer.SystemMessage == "" {
					assert.Equal(t, map[bool]string{true: "deny", false: "block"}[h == hook.Gemini], answer.Decision, name)
					assert.NotEmpty(t, answer.Reason, name)
				} else { // let stop, and the human is told
					assert.Equal(t, map[bool]string{true: "allow", false: ""}[h == hook.Gemini], answer.Decision, name)
					assert.Empty(t, answer.Reason, name)
				}
				assert.Equal(t, "--shadow=false", shadow, name)
			}
			for _, shadow := range []string{"--shadow", "--shadow=false"} { // many wait for a transcript: all at once
				calls.Go(func() { check(shadow) })
			}
		}
	}
	calls.Wait()
}

// The same events through the command and through the library get the same decisions.
func TestHookIsTheLibrary(t *testing.T) {
	const grown = "Fixed the login redirect, should work now."
	stop := func(session, text string) string {
		return fmt.Sprintf(`{"session_id":%q,"hook_event_name":"Stop","stop_hook_active":false,"permission_mode":"default","last_assistant_message":%q}`, session, text)
	}
	after := func(n int, text string) string {
		return fmt.Sprintf(`{"session_id":"g","hook_event_name":"AfterAgent","timestamp":"2026-11-02T10:25:%02d.000Z","prompt":"Fix it.","prompt_response":%q,"stop_hook_active":%v}`, n, text, n > 0)
	}
	codex := func(turn, text, more string) string {
		return fmt.Sprintf(`{"session_id":"c","turn_id":%q,"hook_event_name":"Stop","stop_hook_active":false,"transcript_path":null,"last_assistant_message":%s%s}`, turn, text, more)
	}
	for h, events := range map[hook.Host][]string{
		hook.Codex: {
			codex("t1", strconv.Quote(hollow), ""), "\ufeff" + codex("t1", strconv.Quote(hollow), `,"later":[null]`), codex("t1", strconv.Quote(hollow), `,"cwd":null`), codex("t1", `""`, ""), codex("t2", "null", ""),
			codex("t2", strconv.Quote(strings.Repeat("Next I'll move the parser. ", 40_000)), ""), codex("t1", strconv.Quote(hollow), ""),
			`{"session_id":"c","agent_id":"a","agent_type":"explorer","turn_id":"t2","hook_event_name":"SubagentStop","stop_hook_active":false,"last_assistant_message":` + strconv.Quote(hollow) + `}`,
			`{"type":"agent-turn-complete","thread-id":"c","turn-id":"t3","last-assistant-message":` + strconv.Quote(hollow) + `}`,
		},
		hook.Claude: {
			stop("s", hollow), stop("s", hollow), stop("other", hollow), stop("s", hollow), stop("s", "Next I'll move the parser."),
			`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"Once more, please."}`, stop("s", hollow), stop("s", "Which one do you want, A or B?"),
			`{"session_id":"s","hook_event_name":"StopFailure","error":"rate_limit","last_assistant_message":"API Error: 429"}`,
		},
		hook.Gemini: {
			after(0, grown), `{"session_id":"g","hook_event_name":"BeforeAgent","prompt":"[System Coach] You reported"}`,
			after(1, grown+" Next I'll move the parser; 1 of 3 files is done."), `{"session_id":"g","hook_event_name":"BeforeAgent","prompt":"continue"}`,
			after(2, grown+" Next I'll move the parser; 1 of 3 files is done. "+grown), after(3, grown+" Next I'll move the parser; 1 of 3 files is done. "+grown+" "+grown),
			`{"session_id":"g","hook_event_name":"BeforeAgent","prompt":"continue"}`,
		},
	} {
		heuristic, err := classify.NewHeuristic()
		require.NoError(t, err)
		ac, err := autocontinue.New(autocontinue.Config{Classifier: heuristic})
		require.NoError(t, err)
		memory := map[string]hook.Memory{}
		var want []autocontinue.Decision
		state := t.TempDir()
		for _, payload := range events {
			e, err := h.Read([]byte(payload))
			require.NoError(t, err)
			m := memory[e.SessionKey()]
			answer := ""
			if e.FromHuman(m) {
				require.NoError(t, ac.Reset(t.Context(), e.SessionKey()))
			}
			memory[e.SessionKey()] = m.Heard(e)
			if e.Kind.IsPause() {
				tr, m, err := e.Await(t.Context(), m, nil)
				require.NoError(t, err)
				out := e.Output(tr, m)
				d, err := ac.Handle(t.Context(), out)
				require.NoError(t, err)
				memory[e.SessionKey()] = m.After(e, out, d)
				answer = string(e.Answer(d))
				d.Result.Signals, d.Result.SignalsDropped = nil, 0
				want = append(want, d)
			}
			got, errs, status := sidecoach(t, strings.NewReader(payload), "hook", string(h), "--state", state)
			require.Zero(t, status)
			require.Empty(t, errs)
			require.Equal(t, answer, got, payload)
		}
		var got []autocontinue.Decision
		for _, e := range journalOf(t, state) {
			assert.Equal(t, string(h), e.Host)
			e.Decision.Result.SignalsDropped = 0 // the journal leaves more out
			got = append(got, e.Decision)
		}
		line := func(v any) string {
			b, err := json.Marshal(v)
			require.NoError(t, err)
			return string(b)
		}
		assert.Equal(t, line(want), line(got))
	}
}

// A session of each host, told to one process an event: three hollow claims are coached, coached firmer and then the
// human's, who is told why; our coaching comes back as a prompt and resets nothing; and a state that is lost between
// them ends it.
func TestHollowClaimsInEachHost(t *testing.T) {
	claims := []string{"Fixed the login redirect, should work now.", "I fixed the login redirect. It should work now.", "The login redirect is fixed and should work.", "Fixed the login redirect, should work now."}
	for _, h := range []hook.Host{hook.Claude, hook.Codex, hook.Gemini} { // the others' pauses have no message: hook_cursor_copilot.txtar
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, lost %v", h, lost), func(t *testing.T) {
				state := filepath.Join(t.TempDir(), "st")
				tell := func(payload map[string]any) (answer struct{ Decision, Reason, SystemMessage string }) {
					payload["session_id"], payload["cwd"], payload["transcript_path"], payload["permission_mode"] = "s", "/nowhere", nil, "default"
					in, err := json.Marshal(payload)
					require.NoError(t, err)
					out, errs, status := sidecoach(t, bytes.NewReader(in), "hook", string(h), "--state", state)
					require.Zero(t, status, errs)
					if out != "" {
						dec := json.NewDecoder(strings.NewReader(out))
						dec.DisallowUnknownFields()
						require.NoError(t, dec.Decode(&answer), out)
					}
					return answer
				}
				prompt := func(text string) {
					name := "UserPromptSubmit"
					if h == hook.Gemini {
						name = "BeforeAgent"
					}
					require.Zero(t, tell(map[string]any{"hook_event_name": name, "prompt": text}), "the agent would see it")
				}
				pause := func(i int) (string, string) {
					said := map[string]any{"hook_event_name": "Stop", "stop_hook_active": i > 0, "last_assistant_message": claims[i]}
					if h == hook.Gemini {
						said = map[string]any{"hook_event_name": "AfterAgent", "stop_hook_active": i > 0, "prompt": "Fix the login redirect.",
							"prompt_response": strings.Join(claims[:i+1], "\n"), "timestamp": fmt.Sprintf("2026-11-02T10:25:%02d.000Z", i)}
					}
					a := tell(said)
					require.Equal(t, a.Reason != "", a.Decision == "block" || a.Decision == "deny")
					return a.Reason, a.SystemMessage
				}
				prompt("Fix the login redirect.")
				first, told := pause(0)
				require.Contains(t, first, "[System Coach] ")
				require.Empty(t, told)
				prompt(first)
				if lost {
					require.NoError(t, os.RemoveAll(state))
					again, told := pause(1)
					require.Empty(t, again)
					require.Contains(t, told, "state lost")
					return
				}
				second, told := pause(1)
				require.Contains(t, second, "already asked")
				require.Empty(t, told)
				prompt(second)
				for i, want := range []string{"sidecoach: The agent stopped at the same gap again despite coaching.", ""} {
					again, told := pause(2 + i)
					require.Empty(t, again, "it is never passed")
					require.Equal(t, want, told, "told once")
				}
			})
		}
	}
}

// Any number of processes may be told of one pause, by settings of the user, the project and others: they give one
// answer.
func TestManyHooksOnOnePause(t *testing.T) {
	dir := t.TempDir()
	transcript := filepath.Join(dir, "t.jsonl")
	const text = "Fixed the login redirect, should work now."
	require.NoError(t, os.WriteFile(transcript, []byte(
		`{"type":"user","uuid":"u1","message":{"role":"user","content":"Fix the login redirect."}}`+"\n"+
			`{"type":"assistant","uuid":"u2","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"`+text+`"}]}}`+"\n"), 0o666))
	payload, err := json.Marshal(map[string]any{"session_id": "s", "hook_event_name": "Stop", "stop_hook_active": false, "permission_mode": "default",
		"transcript_path": transcript, "cwd": dir, "last_assistant_message": text})
	require.NoError(t, err)
	binary, err := os.Executable()
	require.NoError(t, err)
	const processes = 4
	answers := make([]string, processes)
	var wait sync.WaitGroup
	for i := range answers {
		wait.Go(func() {
			cmd := exec.Command(binary)
			cmd.Args = []string{"sidecoach", "hook", "claude", "--state", filepath.Join(dir, "st")} // see TestMain
			cmd.Stdin = bytes.NewReader(payload)
			out, err := cmd.Output()
			assert.NoError(t, err)
			answers[i] = string(out)
		})
	}
	wait.Wait()
	assert.Contains(t, answers[0], `"block"`)
	replayed := 0
	for i, e := range journalOf(t, filepath.Join(dir, "st")) {
		assert.Equal(t, answers[0], answers[i])
		assert.Equal(t, 1, e.Decision.Continues)
		if e.Decision.Replayed {
			replayed++
		}
	}
	assert.Equal(t, processes-1, replayed)
}

// panics is standard input that nobody expected.
type panics struct{}

func (panics) Read([]byte) (int, error) { panic("out of the blue") }

// A panic is a failure like any other: not the runtime's exit status, which hosts read as "block".
func TestHookPanics(t *testing.T) {
	state := t.TempDir()
	out, errs, status := sidecoach(t, panics{}, "hook", "claude", "--state", state)
	assert.Equal(t, exitFailure, status)
	assert.Equal(t, "{}\n", out)
	assert.Contains(t, errs, "sidecoach: internal error: out of the blue\n")
	assert.Contains(t, errs, "readEvent")
	list := journalOf(t, state)
	require.Len(t, list, 1)
	assert.Equal(t, "internal error: no decision", list[0].Notice)
	assert.Equal(t, "claude", list[0].Host)
}

func TestHookInput(t *testing.T) {
	for _, tt := range []struct {
		stdin io.Reader
		want  string
	}{
		{io.MultiReader(strings.NewReader("{"), failing{}), "cannot read the event: broken pipe of some kind"},
		{io.LimitReader(zeros{}, hook.MaxPayload+1), "the event cannot be used: it is larger than 64 MiB"},
		{strings.NewReader("\xff\xfe{\x00}\x00"), "the event cannot be used: it is UTF-16, where UTF-8 is needed"},
	} {
		out, errs, status := sidecoach(t, tt.stdin, "hook", "gemini", "--state", t.TempDir())
		assert.Equal(t, exitFailure, status)
		assert.Equal(t, "{\"decision\":\"allow\"}\n", out)
		assert.Contains(t, errs, "sidecoach: "+tt.want+"\nhint: the agent is let stop")
	}
	_, err := readEvent(hook.Codex, nil, strings.NewReader(""), true)
	f, ok := err.(*failure)
	require.True(t, ok)
	assert.Equal(t, "no event: Codex runs this and pipes one in", f.what)
	assert.Equal(t, "sidecoach hook install codex prints the settings that make it do so", f.hint)
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, fmt.Errorf("broken pipe of some kind") }

// A goroutine whose panic nobody catches ends the program with 2. Those that a hook may start all catch theirs.
func TestGoroutinesCatchTheirPanics(t *testing.T) {
	all := list(t, "./...")
	linked := map[string]bool{}
	for _, p := range all {
		if p.ImportPath == module+"/cmd/sidecoach" {
			linked[p.ImportPath] = true
			for _, path := range p.Deps {
				linked[path] = true
			}
		}
	}
	for _, p := range all {
		if !linked[p.ImportPath] {
			continue
		}
		for _, file := range p.GoFiles {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, where := range uncaught(f) {
				t.Errorf("a panic is not caught: %v", fset.Position(where))
			}
		}
	}
}

// uncaught returns where a file starts a goroutine that does not recover at once.
func uncaught(f *ast.File) (found []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		g, ok := n.(*ast.GoStmt)
		if !ok {
			return true
		}
		caught := false
		if body, ok := g.Call.Fun.(*ast.FuncLit); ok {
			for _, s := range body.Body.List {
				if d, ok := s.(*ast.DeferStmt); ok {
					ast.Inspect(d, func(n ast.Node) bool {
						if call, ok := n.(*ast.CallExpr); ok {
							name, ok := call.Fun.(*ast.Ident)
							caught = caught || ok && name.Name == "recover"
						}
						return true
					})
				}
			}
		}
		if !caught {
			found = append(found, g.Pos())
		}
		return true
	})
	return found
}

func TestUncaughtGoroutinesAreFound(t *testing.T) {
	const src = `package p
func f() {
	go f()
	go func() { f() }()
	go func() { defer func() { _ = recover() }(); f() }()
}`
	f, err := parser.ParseFile(token.NewFileSet(), "", src, 0)
	require.NoError(t, err)
	require.Len(t, uncaught(f), 2)
}

// Cursor runs a hook of the user's in ~/.cursor: the plan is the workspace's, and so is what --verify runs in.
func TestHookWorksWhereTheAgentDoes(t *testing.T) {
	home, workspace := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(workspace, "plan.md"), []byte("## Success Criteria\n\n- All redirects have a test\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(home, "plan.md"), []byte("## Success Criteria\n\n- Nothing of the workspace\n"), 0o644))
	t.Chdir(home)
	event := func(h hook.Host, fields map[string]any) string {
		payload, err := json.Marshal(fields)
		require.NoError(t, err)
		out, errs, status := sidecoach(t, bytes.NewReader(payload), "hook", string(h), "--state", filepath.Join(home, "state"), "--plan", "plan.md")
		require.Zero(t, status, errs)
		return out
	}
	const progress = "Next I will add the redirect tests."
	for _, roots := range [][]string{{workspace}, {workspace, home}} {
		session := strconv.Itoa(len(roots))
		event(hook.Cursor, map[string]any{"hook_event_name": "afterAgentResponse", "conversation_id": session, "generation_id": "g", "text": progress})
		out := event(hook.Cursor, map[string]any{"hook_event_name": "stop", "conversation_id": session, "generation_id": "g", "status": "completed", "loop_count": 0, "workspace_roots": roots})
		assert.Contains(t, out, "All redirects have a test")
	}
	out := event(hook.Claude, map[string]any{"hook_event_name": "Stop", "session_id": "c", "cwd": workspace, "stop_hook_active": false, "last_assistant_message": progress})
	assert.Contains(t, out, "All redirects have a test")
	out = event(hook.Claude, map[string]any{"hook_event_name": "Stop", "session_id": "d", "cwd": filepath.Join(workspace, "gone"), "stop_hook_active": false, "last_assistant_message": progress})
	assert.Contains(t, out, "Nothing of the workspace")
}

// Cursor runs a hook of the user's and one of the project's, and what they answer comes back as a prompt: however
// often they are told of it, it is no prompt of the human's, and the loop ends at the cap.
func TestCursorHookInstalledTwice(t *testing.T) {
	for _, installed := range []int{1, 2, 3} {
		dir := t.TempDir()
		event := func(name, generation string, fields map[string]any) (message string) {
			payload := map[string]any{"hook_event_name": name, "conversation_id": "s", "generation_id": generation, "transcript_path": nil, "workspace_roots": []string{dir}}
			maps.Copy(payload, fields)
			data, err := json.Marshal(payload)
			require.NoError(t, err)
			for n := range installed {
				out, errs, status := sidecoach(t, bytes.NewReader(data), "hook", "cursor", "--state", dir)
				require.Zero(t, status, errs)
				var answer struct {
					Message string `json:"followup_message"`
				}
				if out != "" {
					require.NoError(t, json.Unmarshal([]byte(out), &answer))
				}
				require.True(t, n == 0 || answer.Message == message, "the hooks of a pause do not agree: %q, %q", message, answer.Message)
				message = answer.Message
			}
			return message
		}
		loops := 0
		for turn, prompt := range []string{"Move all callers.", "continue", "Now the tests."} {
			sent := 0
			for n := 0; prompt != ""; n++ {
				generation := fmt.Sprint(turn, "-", n)
				event("beforeSubmitPrompt", generation, map[string]any{"prompt": prompt})
				event("afterAgentResponse", generation, map[string]any{"text": fmt.Sprintf("Next I'll rename the callers; %d of 20 files are done.", 4*turn+n)})
				prompt = event("stop", generation, map[string]any{"status": "completed", "loop_count": loops})
				if prompt != "" {
					sent, loops = sent+1, loops+1
				}
				require.LessOrEqual(t, sent, autocontinue.DefaultMaxContinues, "%d hooks", installed)
			}
			assert.Equal(t, autocontinue.DefaultMaxContinues, sent, "%d hooks, turn %d", installed, turn)
		}
	}
}
