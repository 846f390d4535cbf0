package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

// Four processes may be told of one pause, by settings of the user, the project, the machine and a plugin: they give one
// answer.
func TestManyHooksOnOnePause(t *testing.T) {
	dir := t.TempDir()
	transcript := filepath.Join(dir, "t.jsonl")
	const text = "Fixed the login redirect, should work now."
	require.NoError(t, os.WriteFile(transcript, []byte(
		`{"type":"user","uuid":"u1","message":{"role":"user","content":"Fix the login redirect."}}`+"\n"+
			`{"type":"assistant","uuid":"u2","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"`+text+
			`"}]}}`+"\n"), 0o666))
	payload, err := json.Marshal(map[string]any{"session_id": "s", "hook_event_name": "Stop", "stop_hook_active": false,
		"permission_mode": "default", "transcript_path": transcript, "cwd": dir, "last_assistant_message": text})
	require.NoError(t, err)
	binary, err := os.Executable()
	require.NoError(t, err)
	const processes = 4 // more hooks of one pause are taken for another pause
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
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	for _, tt := range []struct {
		stdin io.Reader
		want  string
	}{
		{io.MultiReader(strings.NewReader("{"), failing{}), "cannot read the event: broken pipe of some kind"},
		{io.LimitReader(zeros{}, hook.MaxEvent+1), "the event cannot be used: it is larger than 64 MiB"},
	} {
		out, errs, status := sidecoach(t, tt.stdin, "hook", "gemini", "--state", t.TempDir())
		assert.Equal(t, exitFailure, status)
		assert.Equal(t, "{\"decision\":\"allow\"}\n", out)
		assert.Contains(t, errs, "sidecoach: "+tt.want+"\nhint: the agent stops")
	}
	_, err := readEvent(hook.Codex, nil, strings.NewReader(""), true)
	f, ok := err.(*failure)
	require.True(t, ok)
	assert.Equal(t, "no event: Codex runs this and pipes one in", f.what)
	assert.Equal(t, "sidecoach hook install codex sets it up", f.hint)
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, fmt.Errorf("broken pipe of some kind") }

// A goroutine whose panic nobody catches ends the program with 2. Those that a hook may start all catch theirs.
func TestGoroutinesCatchTheirPanics(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
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
	require.NoError(t, os.WriteFile(filepath.Join(workspace, "plan.md"),
		[]byte("## Success Criteria\n\n- All redirects have a test\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(home, "plan.md"),
		[]byte("## Success Criteria\n\n- Nothing of the workspace\n"), 0o644))
	t.Chdir(home)
	event := func(h hook.Host, fields map[string]any) string {
		payload, err := json.Marshal(fields)
		require.NoError(t, err)
		out, errs, status := sidecoach(t, bytes.NewReader(payload), "hook", string(h), "--state",
			filepath.Join(home, "state"), "--plan", "plan.md")
		require.Zero(t, status, errs)
		return out
	}
	const progress = "Next I will add the redirect tests."
	for _, roots := range [][]string{{workspace}, {workspace, home}} {
		session := strconv.Itoa(len(roots))
		event(hook.Cursor, map[string]any{"hook_event_name": "afterAgentResponse", "conversation_id": session,
			"generation_id": "g", "text": progress})
		out := event(hook.Cursor, map[string]any{"hook_event_name": "stop", "conversation_id": session, "generation_id": "g",
			"status": "completed", "loop_count": 0, "workspace_roots": roots})
		assert.Contains(t, out, "All redirects have a test")
	}
	out := event(hook.Claude, map[string]any{"hook_event_name": "Stop", "session_id": "c", "cwd": workspace,
		"stop_hook_active": false, "last_assistant_message": progress})
	assert.Contains(t, out, "All redirects have a test")
	out = event(hook.Claude, map[string]any{"hook_event_name": "Stop", "session_id": "d",
		"cwd": filepath.Join(workspace, "gone"), "stop_hook_active": false, "last_assistant_message": progress})
	assert.Contains(t, out, "Nothing of the workspace")
}

// Cursor runs a hook of the user's and one of the project's, and what they answer comes back as a prompt: however
// often they are told of it, it is no prompt of the human's, and the loop ends at the cap.
func TestCursorHookInstalledTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	for _, installed := range []int{1, 2, 3} {
		dir := t.TempDir()
		event := func(name, generation string, fields map[string]any) (message string) {
			payload := map[string]any{"hook_event_name": name, "conversation_id": "s", "generation_id": generation,
				"transcript_path": nil, "workspace_roots": []string{dir}}
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
				require.True(t, n == 0 || answer.Message == message, "the hooks of a pause do not agree: %q, %q", message,
					answer.Message)
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
				event("afterAgentResponse", generation,
					map[string]any{"text": fmt.Sprintf("Next I'll rename the callers; %d of 20 files are done.", 4*turn+n)})
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

// The context of a hook ends at its limit and when its host has gone. A hook that goes on all the same is ended.
func TestWatchdog(t *testing.T) {
	ends := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	hangs := func(context.Context) error { time.Sleep(time.Hour); return errors.New("late") }
	const limit = hookSeconds*time.Second - hookMargin
	for name, tt := range map[string]struct {
		do      func(context.Context) error
		orphan  time.Duration // when the host goes
		want    string
		took    time.Duration
		exitsAt time.Duration // 0 is never
	}{
		"in time":       {func(context.Context) error { return nil }, 0, "", 0, 0},
		"its own error": {func(context.Context) error { return errors.New("own") }, 0, "own", 0, 0},
		"too late":      {ends, 0, "no decision: the time for a hook is over", limit, 0},
		"host gone":     {ends, 3 * time.Second, "no decision: the host has gone", 3 * time.Second, 0},
		"hangs":         {hangs, 0, "no decision: the time for a hook is over", time.Hour, limit + hookGrace},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var exited atomic.Int64
				parent := func() int {
					if tt.orphan > 0 && time.Since(start) >= tt.orphan {
						return 1
					}
					return 7
				}
				exit := func() { exited.Store(int64(time.Since(start))) }
				err := watched(t.Context(), parent, exit, tt.do)
				took := time.Since(start)
				time.Sleep(parentCheck) // then it has seen that do has ended
				if tt.want == "" {
					assert.NoError(t, err)
				} else {
					assert.EqualError(t, err, tt.want)
				}
				assert.InDelta(t, tt.took.Seconds(), took.Seconds(), 0.2)
				assert.InDelta(t, tt.exitsAt.Seconds(), time.Duration(exited.Load()).Seconds(), 0.2)
			})
		})
	}
}
