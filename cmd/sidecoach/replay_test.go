package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

// A session that is told to the hook while its transcript grows, and the same transcript replayed, give the same decisions.
func TestReplayIsTheHook(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	state := t.TempDir()
	n, active := 0, false
	write := func(kind string, message map[string]any, meta bool) {
		n++
		line, err := json.Marshal(map[string]any{"type": kind, "uuid": fmt.Sprint("u", n), "sessionId": "s1", "cwd": "/w", "isMeta": meta, "message": message})
		require.NoError(t, err)
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = f.Write(append(line, '\n'))
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	tell := func(v map[string]any) string {
		v["session_id"], v["cwd"], v["transcript_path"] = "s1", "/w", file
		payload, err := json.Marshal(v)
		require.NoError(t, err)
		out, errs, status := sidecoach(t, strings.NewReader(string(payload)), "hook", "claude", "--state", state)
		require.Zero(t, status, errs)
		return out
	}
	ask := func(text string) {
		active = false
		tell(map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": text})
		write("user", map[string]any{"role": "user", "content": text}, false)
	}
	pause := func(text string) {
		write("assistant", map[string]any{"id": fmt.Sprint("m", n), "content": []any{map[string]any{"type": "text", "text": text}}}, false)
		var answer struct{ Reason string }
		require.NoError(t, json.Unmarshal([]byte(tell(map[string]any{"hook_event_name": "Stop", "stop_hook_active": active, "last_assistant_message": text})), &answer))
		if answer.Reason != "" {
			active = true
			write("user", map[string]any{"role": "user", "content": "Stop hook feedback:\n" + answer.Reason}, true)
		}
	}
	run := func(output string) {
		write("assistant", map[string]any{"id": fmt.Sprint("m", n), "content": []any{map[string]any{"type": "tool_use", "id": fmt.Sprint("t", n), "name": "Bash", "input": map[string]any{"command": "go test ./..."}}}}, false)
		write("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": fmt.Sprint("t", n-1), "content": output}}}, false)
	}
	ask("Fix the login redirect.")
	pause("Fixed the login redirect, should work now.")
	run("ok  \tshop\t0.1s")
	pause("Fixed the login redirect. All tests pass.")
	ask("And the logout?")
	for range 3 {
		pause("Fixed the logout, should work now.")
	}
	ask("Explain it.")
	pause("Should I explain the old one, too?")
	ask("No.")
	for i := range 4 {
		pause(fmt.Sprintf("I am reading file number %d of the module now. Next I will read another.", i))
	}

	var want, got []string
	for _, e := range journalOf(t, state) {
		want = append(want, fmt.Sprint(e.Decision.Action, e.Decision.Outcome, e.Decision.Reason, e.Decision.Continues, e.Decision.Result.Confidence))
	}
	require.Len(t, want, 10)
	out, errs, status := sidecoach(t, strings.NewReader(""), "replay", "--json", file)
	require.Zero(t, status, errs)
	for line := range strings.Lines(out) {
		var v struct{ Pause *replayPause }
		require.NoError(t, json.Unmarshal([]byte(line), &v))
		if p := v.Pause; p != nil {
			got = append(got, fmt.Sprint(p.Action, p.Outcome, p.Reason, p.Continues, p.Confidence))
		}
	}
	assert.Equal(t, want, got)
	for _, reason := range []string{"rejected_completion", "repeat", "cap", "question", "completion"} {
		assert.Contains(t, strings.Join(want, "\n"), reason)
	}
}

func TestEndsWithQuestion(t *testing.T) {
	for text, want := range map[string]bool{
		"Which one?": true, "Which **one?**\n": true, "哪一个？": true, "(Which one?)": true, "Which one? I take A.": false, "": false, "Done.": false,
	} {
		assert.Equal(t, want, endsWithQuestion(text), text)
	}
}

func replayFixture(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(
		`{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Fix the login redirect."}}`+"\n"+
			`{"type":"assistant","uuid":"u2","sessionId":"s1","message":{"id":"m1","content":[{"type":"text","text":"Fixed the login redirect, should work now."}]}}`+"\n"), 0o600))
	return file
}

// Nothing is sent without a yes.
func TestReplayAsksBeforeItCosts(t *testing.T) {
	found, err := findTranscripts([]string{replayFixture(t)})
	require.NoError(t, err)
	heuristic, err := classify.NewHeuristic()
	require.NoError(t, err)
	t.Setenv("OPENAI_BASE_URL", "")
	for answer, yes := range map[string]bool{"y\n": true, " Yes \n": true, "y": true, "n\n": false, "\n": false, "": false, "yesterday\n": false} {
		var shown strings.Builder
		o := replayOptions{judging: judging{useLLM: true, llm: llmOptions{model: "judge"}}}
		err := o.agreed(t.Context(), found, replay{classifier: heuristic}, strings.NewReader(answer), &shown, terminal{keyboard: true})
		assert.Regexp(t, `^about 1 call of judge at OpenAI: \d+ tokens to it and 200 back\.\nSend what the agents wrote there\? \[y/N\] `, shown.String())
		if yes {
			assert.NoError(t, err, answer)
		} else {
			assert.EqualError(t, err, "nothing was sent", answer)
		}
	}
}

// A folder that cannot be opened is a fault like a file that cannot be read: the others are read.
func TestReplayBesideAClosedFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser can open every folder")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("closed/a.md", "")
	write("open/.aider.chat.history.md", "# aider chat started at 2026-11-01 10:00:00\n\n#### fix the bug\n\nDone, should work now.\n")
	closed := filepath.Join(dir, "closed")
	require.NoError(t, os.Chmod(closed, 0))
	t.Cleanup(func() { os.Chmod(closed, 0o755) })

	var out, errs strings.Builder
	code := run(t.Context(), []string{"replay", dir}, strings.NewReader(""), &out, &errs)
	require.Equal(t, 1, code)
	require.Contains(t, out.String(), "1 session, 1 pause")
	require.Contains(t, errs.String(), closed+": permission denied")
}
