package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

func (s *State) look(ctx context.Context, src Source) Trace { return s.Await(ctx, src, 0, nil) }

// Lines of a session of Claude Code.
func claudeAsks(text string) string {
	return fmt.Sprintf(
		`{"isSidechain":false,"promptId":"p1","type":"user","message":{"role":"user","content":%q},"uuid":"u"}`,
		text,
	)
}

func claudeSays(id, text string) string {
	const line = `{"isSidechain":false,"message":{"id":"msg_%s","role":"assistant","content":[{"type":"text",` +
		`"text":%q}]},"type":"assistant","uuid":%q}`
	return fmt.Sprintf(line, id, text, id)
}

func claudeCoached(text string) string {
	const line = `{"isSidechain":false,"type":"user","isMeta":true,"message":{"role":"user","content":%q},"uuid":"f"}`
	return fmt.Sprintf(line, "Stop hook feedback:\n"+text)
}

func claudeCalls(id, tool, input string) string {
	return fmt.Sprintf(
		`{"isSidechain":false,"message":{"id":"msg_%[1]s","role":"assistant","content":[{"type":"tool_use","id":%[1]q,`+
			`"name":%[2]q,"input":%[3]s}]},"type":"assistant","uuid":"c%[1]s"}`,
		id,
		tool,
		input,
	)
}

func claudeReturns(id, output string, failed bool) string {
	return fmt.Sprintf(
		`{"isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":%[1]q,"type":"tool_result",`+
			`"content":%[2]q,"is_error":%[3]v}]},"uuid":"r%[1]s"}`,
		id,
		output,
		failed,
	)
}

// claudeRuns is a command and its output. An output that begins with "Exit code" is a failure.
func claudeRuns(id, script, output string) string {
	return claudeCalls(id, "Bash", fmt.Sprintf(`{"command":%q}`, script)) + "\n" +
		claudeReturns(id, output, strings.HasPrefix(output, "Exit code"))
}

func claudeEdits(id, file string) string {
	return claudeCalls(id, "Edit", fmt.Sprintf(`{"file_path":%q}`, file)) + "\n" + claudeReturns(id, "done", false)
}

// transcriptOf writes lines to a file.
func transcriptOf(t testing.TB, format Format, lines ...string) Source {
	file := filepath.Join(t.TempDir(), "transcript.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return Source{Format: format, Path: file, Dir: "/home/ada/shop"}
}

func write(t testing.TB, src Source, lines ...string) {
	f, err := os.OpenFile(src.Path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = io.WriteString(f, strings.Join(lines, "\n")+"\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func shows(text string) func(Trace) bool {
	return func(t Trace) bool { return t.Aborted || t.Shows(text, false) }
}

// The last line of a transcript may come after the hook is called. An older copy of the message is not it.
func TestAwait(t *testing.T) {
	before := []string{claudeAsks("Fix it."), claudeSays("m0", "All tests pass.")}
	for name, tt := range map[string]struct {
		lines  []string
		sent   bool // the message before was answered with coaching
		later  []string
		after  time.Duration
		took   time.Duration
		behind bool
		want   string // the message that the trace shows
	}{
		"there": {lines: before, want: "m0"},
		"late": {lines: before[:1], later: before[1:], after: 95 * time.Millisecond,
			took: 100 * time.Millisecond, want: "m0"},
		"never": {lines: before[:1], took: 300 * time.Millisecond, behind: true},
		"too late": {lines: before[:1], later: before[1:], after: time.Second,
			took: 300 * time.Millisecond, behind: true},
		"other": {lines: []string{before[0], claudeSays("m0", "Fixed.")},
			took: 300 * time.Millisecond, behind: true, want: "m0"},
		"the answer is an older copy": {lines: before, sent: true, took: 300 * time.Millisecond, behind: true, want: "m0"},
		"the coaching is not followed": {lines: before, sent: true, later: []string{claudeCoached("[System Coach] Run it.")},
			after: 45 * time.Millisecond, took: 300 * time.Millisecond, behind: true},
		"coached and answered": {
			lines: before, sent: true, later: []string{claudeCoached("[System Coach] Run it."),
				claudeSays("m1", "All tests pass.")},
			after: 45 * time.Millisecond, took: 50 * time.Millisecond, want: "m1",
		},
		"interrupted": {lines: []string{claudeAsks("Fix it."), claudeAsks("[Request interrupted by user]")}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src := transcriptOf(t, claude, tt.lines...)
				var s State
				if tt.sent {
					s.look(t.Context(), src)
					s.Expect()
				}
				if tt.later != nil {
					time.AfterFunc(tt.after, func() { write(t, src, tt.later...) })
				}
				start := time.Now()
				tr := s.Await(t.Context(), src, 300*time.Millisecond, shows("All  tests pass."))
				require.NoError(t, tr.Err)
				require.Equal(t, tt.took, time.Since(start))
				require.Equal(t, tt.behind, tr.Behind)
				require.Equal(t, tt.want, tr.MessageID)
			})
		})
	}
}

// A transcript that is behind does not prove that something was not done.
func TestBehindIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := transcriptOf(
			t,
			claude,
			claudeAsks("Fix it."),
			claudeEdits("e", "a.go"),
			claudeRuns("t", "go test", "Exit code 1\nFAIL"),
		)
		tr := new(State).Await(t.Context(), src, time.Millisecond, shows("Fixed."))
		require.Equal(t, classify.EditedUnknown, tr.Work.Edited)
		require.Equal(t, classify.EditedCode, tr.Work.Session)
		require.Equal(
			t,
			[]classify.Check{{Command: "go test", Kind: classify.CheckTest, Outcome: classify.OutcomeFailed}},
			tr.Work.Checks,
		)
	})
}

// A prompt that the host has told of, and that is not in the transcript yet, makes the messages before it old.
func TestExpect(t *testing.T) {
	src := transcriptOf(t, claude, claudeAsks("Fix it."), claudeSays("m0", "Fixed."))
	var s State
	require.Equal(t, "m0", s.look(t.Context(), src).MessageID)
	s.Expect()
	require.True(t, s.look(t.Context(), src).Old)
	write(t, src, claudeAsks("And the logout?"), claudeSays("m1", "Fixed."))
	tr := s.look(t.Context(), src)
	require.Equal(t, "m1", tr.MessageID)
	require.Equal(t, "And the logout?", tr.Request)
}

// The plain message that continues an agent has no prefix. Where the host feeds it back as a prompt it is known by
// what was sent.
func TestSent(t *testing.T) {
	geminiAsks := func(id, text string) string {
		return fmt.Sprintf(`{"id":%q,"type":"user","content":[{"text":%q}]}`, id, text)
	}
	geminiSays := func(id, text string) string { return fmt.Sprintf(`{"id":%q,"type":"gemini","content":%q}`, id, text) }
	src := transcriptOf(
		t,
		gemini,
		`{"sessionId":"s","projectHash":"h"}`,
		geminiAsks("u1", "Fix it."),
		geminiSays("g1", "Next I will add a test."),
	)
	var s State
	s.look(t.Context(), src)
	s.Sent(true)
	write(t, src, geminiAsks("u2", "continue"), geminiSays("g2", "Added."))
	tr := s.look(t.Context(), src)
	require.Equal(
		t,
		Trace{
			Request:   "Fix it.",
			Message:   "Added.",
			MessageID: "g2",
			Continues: 1,
			Continued: true,
			Work:      tr.Work,
		},
		tr,
	)
	write(t, src, geminiAsks("u3", "Thanks. Now the logout."), geminiSays("g3", "Done."), geminiAsks("u4", "continue"))
	tr = s.look(t.Context(), src)
	require.Equal(t, "continue", tr.Request, "the human says it, too")
	require.Zero(t, tr.Continues)
}

// A file that was written anew is read from its beginning.
func TestAnotherFile(t *testing.T) {
	src := transcriptOf(t, claude, claudeAsks("Fix it."), claudeEdits("e", "a.go"), claudeSays("m0", "Fixed."))
	var s State
	require.Equal(t, classify.EditedCode, s.look(t.Context(), src).Work.Edited)
	other := transcriptOf(t, claude, claudeAsks("What is this?"), claudeSays("m1", strings.Repeat("A shop. ", 1000)))
	src.Path = other.Path
	tr := s.look(t.Context(), src)
	require.Equal(t, "What is this?", tr.Request)
	require.Equal(t, classify.Work{Edited: classify.EditedNone, Session: classify.EditedNone}, tr.Work)
}

// What cannot be read says why, without the name of the file.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for name, tt := range map[string]struct {
		src  Source
		want string
	}{
		"no name":   {Source{Format: claude}, "the host names none"},
		"zero byte": {Source{Format: claude, Path: "/a\x00b"}, "invalid argument"},
		"missing":   {Source{Format: claude, Path: filepath.Join(dir, "none")}, "no such file or directory"},
		"a folder":  {Source{Format: claude, Path: dir}, "it is not a regular file"},
		"empty":     {Source{Format: claude, Path: empty}, "none of its lines is one that this host writes"},
		"another host": {func() Source { s := transcriptOf(t, codex, claudeAsks("Fix it.")); return s }(),
			"none of its lines is one that this host writes"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := new(State).look(t.Context(), tt.src)
			require.EqualError(t, tr.Err, tt.want)
			require.Zero(t, tr.Work)
		})
	}
	var s State
	err := s.read(t.Context(), brokenDisk{}, 100, Source{Format: claude})
	require.EqualError(t, cause(err), "broken disk")
}

type brokenDisk struct{}

func (brokenDisk) ReadAt([]byte, int64) (int, error) {
	return 0, &os.PathError{Op: "read", Path: "/home/ada/secret", Err: errors.New("broken disk")}
}

// A line that is too long, cut off, deep, or not JSON does not break the rest. What it held is unknown.
func TestHostileLines(t *testing.T) {
	edit, passed := claudeEdits("e", "a.go"), claudeRuns("t", "go test ./...", "ok  \tshop\t0.1s")
	for name, tt := range map[string]struct {
		line string
		want classify.Work
	}{
		"too long": {`{"type":"user","x":"` + strings.Repeat("y", maxLine) + `"}`,
			classify.Work{Session: classify.EditedCode}},
		"deep": {strings.Repeat(`{"message":`, 100_000), checkedWork},
		"arrays": {`{"type":"user","uuid":"x","message":{"content":` + strings.Repeat("[", 9000) + strings.Repeat("]",
			9000) + `}}`, checkedWork},
		"cut off":  {`{"type":"user","message":{"content":"Fix`, checkedWork},
		"NUL":      {"\x00\x00\x00", checkedWork},
		"spaces":   {" \t\r", checkedWork},
		"a number": {"17", checkedWork},
		"other types": {`{"type":"assistant","uuid":7,"message":{"id":{},"content":[{"type":"tool_use","id":[],` +
			`"input":"x","name":{}},4,null]}}` + "\n" +
			`{"type":"user","message":{"content":[{"type":"tool_result","content":{"a":1},"tool_use_id":9}]},` +
			`"toolUseResult":[1]}`, classify.Work{Session: classify.EditedCode}},
		"another case": {`{"Type":"user","MESSAGE":{"role":"user","content":"Break it."},"uuid":"u9"}`, checkedWork},
	} {
		t.Run(name, func(t *testing.T) {
			for _, end := range []string{"\n", "\r\n"} {
				lines := strings.Split(
					strings.Join([]string{claudeAsks("Fix it."), edit, passed, tt.line, claudeSays("m", "Fixed.")}, "\n"),
					"\n",
				)
				src := transcriptOf(t, claude)
				require.NoError(t, os.WriteFile(src.Path, []byte(strings.Join(lines, end)+end), 0o600))
				tr := new(State).look(t.Context(), src)
				require.NoError(t, tr.Err)
				require.Equal(t, "Fixed.", tr.Message)
				require.Equal(t, "Fix it.", tr.Request)
				require.Equal(t, tt.want, tr.Work)
			}
		})
	}
}

var checkedWork = classify.Work{
	Edited: classify.EditedNone, Session: classify.EditedCode,
	Checks: []classify.Check{{Command: "go test ./...", Kind: classify.CheckTest, Outcome: classify.OutcomePassed}},
}

// Of a large transcript without a kept state only the end is read, and the work before it is unknown. With a kept
// state only new lines are read.
func TestLargeTranscripts(t *testing.T) {
	src := transcriptOf(t, claude)
	f, err := os.Create(src.Path)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(1<<30)) // a hole: a line without an end
	_, err = f.Seek(0, io.SeekEnd)
	require.NoError(t, err)
	_, err = io.WriteString(
		f,
		"\n"+claudeAsks("Fix it.")+"\n"+claudeRuns("t", "go vet", "")+"\n"+claudeSays("m1", "Vetted.")+"\n",
	)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	var s State
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, allocated(func() {
		tr := s.look(t.Context(), src)
		require.NoError(t, tr.Err)
		require.Equal(t, "Fix it.", tr.Request)
		require.Equal(t, classify.EditedUnknown, tr.Work.Session)
		require.Equal(t, classify.EditedNone, tr.Work.Edited, "a check succeeded")
	}), uint64(32<<20))
	stored, err := json.Marshal(s)
	require.NoError(t, err)
	require.Less(t, len(stored), 2000)

	write(t, src, claudeAsks("And now?"), claudeSays("m2", "Nothing."))
	require.Less(t, allocated(func() {
		var s State
		require.NoError(t, json.Unmarshal(stored, &s))
		require.Equal(t, "m2", s.look(t.Context(), src).MessageID)
	}), uint64(2<<20))
}

// A message on many lines, many calls without a result and many results without a call are bounded.
func TestBounds(t *testing.T) {
	var s State
	for i := range 10 * maxCalls {
		s.add(entry{kind: call, tool: tool{id: fmt.Sprint("c", i), name: "Bash",
			input: value{map[string]any{"command": "go test ./..."}}}})
		s.add(entry{kind: outcome, result: result{id: fmt.Sprint("r", i), output: strings.Repeat("x", 1000)}})
		s.add(entry{kind: message, id: fmt.Sprint("m", i), group: "g", text: strings.Repeat("y", 10_000)})
	}
	for i, text := range []string{"a", "b", "c"} {
		s.add(entry{kind: message, id: fmt.Sprint("long", i), group: "long", text: strings.Repeat(text, maxMessage/2)})
	}
	half := strings.Repeat("b", maxMessage/2)
	require.Equal(t, half+"\n"+strings.ReplaceAll(half, "b", "c"), strings.TrimLeft(s.trace().Message, "\n"))
	s.add(entry{kind: human, text: strings.Repeat("ä", maxRequest)})
	s.add(entry{kind: message, id: "m", group: "g", text: strings.Repeat("ö", maxMessage)})
	stored, err := json.Marshal(s)
	require.NoError(t, err)
	require.Less(t, len(stored), 2*maxMessage)
	require.LessOrEqual(t, len(s.trace().Work.Checks), maxChecks)
	require.True(t, s.trace().Shows(strings.Repeat("ö", maxMessage), false), "a message that was too long to keep")
	require.Equal(t, strings.Repeat("ä", maxRequest/2), s.trace().Request)
}

// Any part of a session's end can be what was written so far.
func TestHalfWritten(t *testing.T) {
	text := strings.Join([]string{
		claudeAsks(
			"Fix it.",
		), claudeEdits("e", "a.go"), claudeRuns("t", "go test ./...", "ok  \tshop\t0.1s"), claudeSays("m", "Fixed."),
	}, "\n") + "\n"
	src := transcriptOf(t, claude)
	for n := 0; n < len(text); n += 5 {
		require.NoError(t, os.WriteFile(src.Path, []byte(text[:n]), 0o600))
		var s State
		s.look(t.Context(), src)
		require.NoError(t, os.WriteFile(src.Path, []byte(text), 0o600))
		tr := s.look(t.Context(), src)
		require.Equal(t, "Fixed.", tr.Message, "%d", n)
		require.Equal(t, checkedWork, tr.Work, "%d", n)
	}
}

func BenchmarkLook(b *testing.B) {
	lines := []string{claudeAsks("Fix it.")}
	for i := range 100 {
		lines = append(
			lines,
			claudeRuns(fmt.Sprint("t", i), "grep -rn redirect . | head", strings.Repeat("auth.go:12: redirect(w, r)\n", 100)),
		)
	}
	lines = append(
		lines,
		claudeRuns("t", "go test ./... 2>&1 | tail", "ok  \ta\t0.1s"),
		claudeSays("m1", "All tests pass."),
	)
	src := transcriptOf(b, claude, lines...)
	info, err := os.Stat(src.Path)
	require.NoError(b, err)
	b.SetBytes(info.Size())
	for b.Loop() {
		new(State).look(b.Context(), src)
	}
}
