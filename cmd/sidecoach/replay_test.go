package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
)

// A session that is told to the hook while its transcript grows, and the same transcript replayed, give the same
// decisions.
func TestReplayIsTheHook(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	state := t.TempDir()
	n, active := 0, false
	write := func(kind string, message map[string]any, meta bool) {
		n++
		line, err := json.Marshal(
			map[string]any{
				"type":      kind,
				"uuid":      fmt.Sprint("u", n),
				"sessionId": "s1",
				"cwd":       "/w",
				"isMeta":    meta,
				"message":   message,
			},
		)
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
		write(
			"assistant",
			map[string]any{"id": fmt.Sprint("m", n), "content": []any{map[string]any{"type": "text", "text": text}}},
			false,
		)
		var answer struct{ Reason string }
		require.NoError(
			t,
			json.Unmarshal(
				[]byte(tell(map[string]any{"hook_event_name": "Stop", "stop_hook_active": active, "last_assistant_message": text})),
				&answer,
			),
		)
		if answer.Reason != "" {
			active = true
			write("user", map[string]any{"role": "user", "content": "Stop hook feedback:\n" + answer.Reason}, true)
		}
	}
	run := func(output string) {
		write(
			"assistant",
			map[string]any{
				"id": fmt.Sprint("m", n),
				"content": []any{
					map[string]any{
						"type":  "tool_use",
						"id":    fmt.Sprint("t", n),
						"name":  "Bash",
						"input": map[string]any{"command": "go test ./..."},
					},
				},
			},
			false,
		)
		write(
			"user",
			map[string]any{
				"role":    "user",
				"content": []any{map[string]any{"type": "tool_result", "tool_use_id": fmt.Sprint("t", n-1), "content": output}},
			},
			false,
		)
	}
	edit := func() {
		input := map[string]any{"file_path": "/w/auth.go"}
		write(
			"assistant",
			map[string]any{
				"id":      fmt.Sprint("m", n),
				"content": []any{map[string]any{"type": "tool_use", "id": fmt.Sprint("t", n), "name": "Edit", "input": input}},
			},
			false,
		)
		write(
			"user",
			map[string]any{
				"role":    "user",
				"content": []any{map[string]any{"type": "tool_result", "tool_use_id": fmt.Sprint("t", n-1), "content": "done"}},
			},
			false,
		)
	}
	ask("Fix the login redirect.")
	edit()
	pause("Fixed the login redirect, should work now.")
	run("ok  \tshop\t0.1s")
	pause("Fixed the login redirect. All tests pass.")
	ask("And the logout?")
	edit()
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
		want = append(
			want,
			fmt.Sprint(
				e.Decision.Action,
				e.Decision.Outcome,
				e.Decision.Reason,
				e.Decision.Continues,
				e.Decision.Result.Confidence,
			),
		)
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

func replayFixture(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(
		`{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Fix the login redirect."}}`+"\n"+
			`{"type":"assistant","uuid":"u2","sessionId":"s1","message":{"id":"m1","content":[{"type":"text",`+
			`"text":"Fixed the login redirect, should work now."}]}}`+"\n"), 0o600))
	return file
}

// replayHistory writes a session in which the human wrote one of each.
func replayHistory(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for i, turn := range [][2]string{
		{"Fix the login redirect.", "Fixed the login redirect, should work now."},
		{"run the tests", "I am reading auth.go now. Next I will change the handler."},   // agrees
		{"yes, go on", "Fixed it, all tests pass."},                                      // agrees
		{"no, the other one", "Should I run the tests with the database or without it?"}, // against
		{"run the tests", "Should it clear the cookie, too, or only the session?"},       // missed
		{"Both.", "Fixed <script>alert(1)</script> \u202e, should work now."},
		{"perfect, now add a footer", "I am reading footer.go now. Next I will write it."}, // neither
	} {
		edit := strings.HasPrefix(turn[1], "Fixed")
		call := map[string]any{
			"type":  "tool_use",
			"id":    fmt.Sprint("t", i),
			"name":  "Edit",
			"input": map[string]any{"file_path": "/w/auth.go"},
		}
		for j, kind := range []string{"user", "assistant", "user", "assistant"} {
			var content any
			switch {
			case !edit && (j == 1 || j == 2):
				continue
			case j == 0:
				content = turn[0]
			case j == 1:
				content = []any{call}
			case j == 2:
				content = []any{map[string]any{"type": "tool_result", "tool_use_id": call["id"], "content": "done"}}
			case j == 3:
				content = []any{map[string]any{"type": "text", "text": turn[1]}}
			}
			line, err := json.Marshal(map[string]any{"type": kind, "uuid": fmt.Sprint("u", i, j), "sessionId": "s1", "cwd": "/w",
				"message": map[string]any{"role": kind, "id": fmt.Sprint("m", i, j), "content": content}})
			require.NoError(t, err)
			b.Write(append(line, '\n'))
		}
	}
	file := filepath.Join(t.TempDir(), "history.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	return file
}

// The table and the JSON say the same.
func TestReplaysAgree(t *testing.T) {
	file := replayHistory(t)
	total, _ := replayTotals(t, 0, file)
	assert.Equal(t, []int{7, 5, 2, 1, 1}, []int{total.Pauses, total.Continued, total.Agrees, total.Against, total.Missed})
	assert.Equal(t, "pays", total.Verdict)
	out, _, _ := sidecoach(t, strings.NewReader(""), "replay", file)
	assert.True(t, strings.HasSuffix(out, "\n"+verdictOf(total)+"\n"), "the verdict is last")
	assert.Regexp(t, `(?m)^  claude +7 pauses, 5 continued, 2 agrees, 1 against, 1 missed: `, out)
}

// Of many sessions those with most to say have a row, and the sums are those of all.
func TestReplayOfManySessions(t *testing.T) {
	history, err := os.ReadFile(replayHistory(t))
	require.NoError(t, err)
	fixture, err := os.ReadFile(replayFixture(t))
	require.NoError(t, err)
	dir := t.TempDir()
	const many = 10*maxSessionRows + 50
	for i := range many {
		text := fixture
		if i%100 == 99 {
			text = history
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.jsonl", i)), text, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "empty.jsonl"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cut.jsonl"), fixture[:len(fixture)-20], 0o600))
	out, errs, status := sidecoach(t, strings.NewReader(""), "replay", dir)
	require.Equal(t, 1, status)
	rows, _, _ := strings.Cut(out, "\n\n")
	assert.Len(t, strings.Split(rows, "\n"), maxSessionRows+1)
	for _, name := range []string{"000.jsonl#s1", "099.jsonl#s1", "199.jsonl#s1"} {
		assert.Contains(t, out, name)
	}
	assert.Contains(t, out, "\n            230 more: see --json\n\n")
	assert.Contains(t, out, "\nnot a transcript, left out: 1 file\n", "the empty one")
	assert.Contains(t, errs, "cut.jsonl: lines could not be read: 1")
}

// What has been read when replay is interrupted is told, and what is JSON is whole.
func TestInterruptedReplay(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	server := meteredServer(t, func(string) (int, string) {
		if asked++; asked == 3 {
			cancel()
		}
		return http.StatusOK, `{"type":"completion","confidence":0.95,"reason":"r","coaching_message":null}`
	})
	var out, errs strings.Builder
	status := run(
		ctx,
		[]string{"replay", replayHistory(t), "--json", "--llm", "--yes", "--base-url", server.URL},
		strings.NewReader(""),
		&out,
		&errs,
	)
	assert.Equal(t, exitFailure, status)
	assert.Contains(t, errs.String(), "sidecoach: interrupted: what was read until then is above; --html writes no page\n")
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for _, line := range lines {
		assert.True(t, json.Valid([]byte(line)), line)
	}
	assert.Contains(t, lines[len(lines)-1], `"pauses":2,`)
	assert.Contains(t, lines[len(lines)-1], `"interrupted":true`)
}

// The help names every field of the JSON.
func TestReplayHelpNamesEveryField(t *testing.T) {
	text, err := helpTexts.ReadFile("help/replay.txt")
	require.NoError(t, err)
	help := string(text)
	for _, word := range []string{"agrees", "against", "missed"} {
		assert.Contains(t, help, word)
	}
	for _, v := range []reflect.Type{reflect.TypeFor[replayPause](), reflect.TypeFor[replaySession](),
		reflect.TypeFor[replayFault](), reflect.TypeFor[replayTotal](), reflect.TypeFor[replayCounts](),
		reflect.TypeFor[judgeTotals](), reflect.TypeFor[classify.Usage]()} {
		for field := range v.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
				assert.Regexp(t, `\b`+name+`\b`, help, v.Name())
			}
		}
	}
	for _, word := range []string{"pays", "may_pay", "does_not_pay", "no_difference"} {
		assert.Contains(t, help, word)
	}
	for _, word := range []string{"nudge", "assent", "yes_nudge", "answer", "other"} {
		assert.Contains(t, help, word)
	}
}

func TestWorth(t *testing.T) {
	for _, tt := range []struct {
		agrees, against int
		want            string
	}{{0, 0, "no_difference"}, {1, 0, "pays"}, {2, 1, "pays"}, {3, 2, "may_pay"}, {1, 1, "does_not_pay"},
		{0, 1, "does_not_pay"}, {10, 20, "does_not_pay"}} {
		assert.Equal(t, tt.want, worth(tt.agrees, tt.against), tt)
	}
	const little = " That is too little to be sure."
	counts := func(agrees, against, missed int) replayTotal {
		return replayTotal{
			replayCounts: replayCounts{
				Pauses:  9,
				Agrees:  agrees,
				Against: against,
				Missed:  missed,
			}, Verdict: worth(agrees, against),
		}
	}
	for want, total := range map[string]replayTotal{
		`It pays here: it would have spared you 1000 of 1200 messages such as "continue" or "run the tests", ` +
			`and it would have continued at 2 pauses where you answered or said no.`: counts(1000, 2, 200),
		`It makes no difference here: you wrote no message such as "continue" or "run the tests", ` +
			`and it would not have passed over a question that you answered.` + little: counts(0, 0, 0),
		`It does not pay here: it would have spared you 0 of 1 message such as "continue" or "run the tests", ` +
			`and it would have continued at 1 pause where you answered or said no.` + little: counts(0, 1, 1),
	} {
		total.Files = 1
		assert.Equal(t, want, verdictOf(total))
	}
}

func verdictOf(total replayTotal) string {
	text := strings.TrimSpace(replayTable(nil, total))
	return text[strings.LastIndexByte(text, '\n')+1:]
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
	write("closed/a.jsonl", "")
	text, err := os.ReadFile(replayFixture(t))
	require.NoError(t, err)
	write("open/a.jsonl", string(text))
	closed := filepath.Join(dir, "closed")
	require.NoError(t, os.Chmod(closed, 0))
	t.Cleanup(func() { os.Chmod(closed, 0o755) })

	var out, errs strings.Builder
	code := run(t.Context(), []string{"replay", dir}, strings.NewReader(""), &out, &errs)
	require.Equal(t, 1, code)
	require.Contains(t, out.String(), "1 session, 1 pause")
	require.Contains(t, errs.String(), closed+": permission denied")
}

// What is said at the end counts the files that are transcripts, and claims no others where there are none.
func TestReplayCountsFaults(t *testing.T) {
	whole, err := os.ReadFile(replayFixture(t))
	require.NoError(t, err)
	files := map[string][]byte{
		"a.jsonl": whole, "b.jsonl": []byte(strings.ReplaceAll(string(whole), `"s1"`, `"s2"`)),
		"cut.jsonl": whole[:len(whole)-20], "cut2.jsonl": whole[:len(whole)-30],
		"notes.json": []byte("{}\n"), "silent.jsonl": []byte(`{"sessionId":"g1","projectHash":"h"}` + "\n"),
	}
	for name, tt := range map[string]struct {
		files, out, errs, hint string
	}{
		"one, cut off": {
			"cut.jsonl", "1 transcript, 1 session, 0 pauses", "1 of 1 file could not be read as a whole",
			"--json names each, with what is wrong",
		},
		"one of two": {
			"a.jsonl cut.jsonl", "2 transcripts, 2 sessions, 1 pause", "1 of 2 files could not be read as a whole",
			"--json names each, with what is wrong",
		},
		"two of three": {
			"cut.jsonl a.jsonl cut2.jsonl", "3 transcripts", "2 of 3 files could not be read as a whole",
			"--json names each, with what is wrong",
		},
		"beside another file": {
			"cut.jsonl notes.json", "not a transcript, left out: 1 file", "1 of 1 file could not be read as a whole",
			"--json names each, with what is wrong",
		},
		"nobody speaks in one": {"silent.jsonl", "1 transcript, 0 sessions, 0 pauses: ", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range strings.Fields(tt.files) {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), files[name], 0o600))
			}
			out, errs, status := sidecoach(t, strings.NewReader(""), "replay", dir)
			assert.Contains(t, out, tt.out)
			if tt.errs == "" {
				assert.Zero(t, status)
				assert.Empty(t, errs)
				return
			}
			assert.Equal(t, 1, status)
			assert.True(t, strings.HasSuffix(errs, "\nsidecoach: "+tt.errs+"\nhint: "+tt.hint+"\n"), errs)
		})
	}
}

// A file may grow, shrink or go away between being found and being read.
func TestReplayOfFilesThatChange(t *testing.T) {
	heuristic, err := classify.NewHeuristic()
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		change func(file string) error
		pauses int
		fault  string
	}{
		"shrinks": {func(file string) error {
			return os.Truncate(file, 200)
		}, 0, "lines could not be read: 1, the first at line 2"},
		"is emptied": {func(file string) error {
			return os.Truncate(file, 0)
		}, 0, "not a transcript: " + transcript.Locations},
		"goes away": {os.Remove, 0, "no such file or directory"},
		"is now a folder": {func(file string) error {
			return errors.Join(os.Remove(file), os.Mkdir(file, 0o700))
		}, 0, "it is not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			file := replayFixture(t)
			found, _, err := findTranscripts([]string{file})
			require.NoError(t, err)
			require.NoError(t, tt.change(file))
			var out, errs strings.Builder
			cmd := newReplay(terminal{})
			cmd.SetOut(&out)
			cmd.SetErr(&errs)
			r := replay{cmd: cmd, classifier: heuristic, bar: newBar(io.Discard), json: true}
			r.all(t.Context(), found)
			assert.Equal(t, tt.pauses, r.sum.Pauses)
			var faults []replayFault
			for line := range strings.Lines(out.String()) {
				var v struct{ Fault *replayFault }
				require.NoError(t, json.Unmarshal([]byte(line), &v))
				if v.Fault != nil {
					faults = append(faults, *v.Fault)
				}
			}
			if tt.fault == "" {
				assert.Empty(t, faults)
				return
			}
			require.Len(t, faults, 1)
			assert.Equal(t, file, faults[0].File)
			assert.Equal(t, tt.fault, faults[0].Fault)
		})
	}
}
