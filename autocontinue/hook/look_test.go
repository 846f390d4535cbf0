package hook

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The lines of a session of Claude Code, for tests that make their own.
func claudeHuman(text string) string {
	return fmt.Sprintf(`{"isSidechain":false,"promptId":"p1","type":"user","message":{"role":"user","content":%q},"uuid":"u","origin":{"kind":"human"}}`, text)
}

func claudeSays(id, text string) string {
	return fmt.Sprintf(`{"isSidechain":false,"message":{"id":"msg_%s","role":"assistant","content":[{"type":"text","text":%q}]},"type":"assistant","uuid":%q}`, id, text, id)
}

func claudeRuns(id, command, output string) string {
	return fmt.Sprintf(`{"isSidechain":false,"message":{"id":"msg_%[1]s","role":"assistant","content":[{"type":"tool_use","id":%[1]q,"name":"Bash","input":{"command":%[2]q}}]},"type":"assistant","uuid":"c%[1]s"}
{"isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":%[1]q,"type":"tool_result","content":%[3]q,"is_error":false}]},"uuid":"r%[1]s","toolUseResult":{"stdout":%[3]q,"interrupted":false}}`, id, command, output)
}

func lookAt(t *testing.T, lines ...string) Trace {
	t.Helper()
	text := strings.Join(lines, "\n") + "\n"
	tr := look(strings.NewReader(text), int64(len(text)), claudeScript{}, project{}, isOurs)
	require.NoError(t, tr.Err)
	return tr
}

// The plain message that sends an agent on has no prefix. Where the host feeds it back as a prompt, and what was sent is
// forgotten, the transcript still counts it, or a turn whose state is lost each time would never end.
func TestAPlainMessageCountsWhenTheStateIsLost(t *testing.T) {
	name := filepath.Join(t.TempDir(), "session.jsonl")
	lines := []string{`{"sessionId":"s","projectHash":"h"}`, `{"id":"u0","type":"user","content":[{"text":"Fix the login redirect."}]}`}
	for i := range 3 {
		lines = append(lines, fmt.Sprintf(`{"id":"m%d","type":"gemini","content":"Next I will add step %[1]d."}`, i), fmt.Sprintf(`{"id":"u%d","type":"user","content":[{"text":"continue"}]}`, i+1))
	}
	lines = append(lines, `{"id":"m9","type":"gemini","content":"Next I will add step 9."}`)
	require.NoError(t, os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600))

	look := func(active bool, m Memory) (Trace, string) {
		e := Event{Host: Gemini, Kind: Stop, Session: "s", Transcript: Value(name), Prompt: Value("continue"), Message: Value("Next I will add step 9."), StopActive: Value(active)}
		tr := e.Look(m)
		require.NoError(t, tr.Err)
		return tr, e.Output(tr, m).Request
	}
	tr, request := look(true, Memory{})
	require.Equal(t, 3, tr.Continues)
	require.Equal(t, "Fix the login redirect.", request)

	for _, m := range []Memory{{}, {Pauses: 4}} { // a human's "continue" is the human's
		tr, request = look(m.Pauses > 0, m)
		require.Zero(t, tr.Continues)
		require.Equal(t, "continue", request)
	}
}

// A file of 1 GiB costs no more than what its end costs.
func TestLookAtALargeFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "session.jsonl")
	f, err := os.Create(name)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(1<<30)) // a hole: a line without an end
	_, err = f.Seek(0, io.SeekEnd)
	require.NoError(t, err)
	_, err = io.WriteString(f, "\n"+claudeHuman("Fix it.")+"\n"+claudeRuns("t1", "go test ./...", "ok  \ta\t0.1s")+"\n"+claudeSays("m1", "All tests pass.")+"\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())

	tr := Event{Host: Claude, Kind: Stop, Session: "s", Transcript: Value(name)}.Look(Memory{})
	require.NoError(t, tr.Err)
	require.Equal(t, "Fix it.", tr.Request)
	require.Equal(t, "m1", tr.MessageID)
	require.Equal(t, TestsPassed, tr.Tests)
}

// A turn of 64 MiB and one of 1 TiB take the same memory, and their beginning is not reached.
func TestLookTakesTheSameMemory(t *testing.T) {
	line := claudeRuns("t", "cat log.txt", strings.Repeat("line of a log ", 500)) + "\n"
	allocated := func(size int64) uint64 {
		e := &endless{line: []byte(line)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tr := look(e, size/int64(len(line))*int64(len(line)), claudeScript{}, project{}, isOurs)
		runtime.ReadMemStats(&after)
		require.True(t, tr.Read)
		require.False(t, tr.Whole)
		require.Equal(t, TestsUnknown, tr.Tests)
		require.LessOrEqual(t, e.read, int64(maxTail))
		return after.TotalAlloc - before.TotalAlloc
	}
	small := allocated(64 << 20)
	require.LessOrEqual(t, allocated(1<<40), small+small/10)
	require.LessOrEqual(t, small, uint64(4*maxTail))
}

func TestRequestIsClipped(t *testing.T) {
	tr := lookAt(t, claudeHuman(strings.Repeat("ä", maxRequest)), claudeSays("m", "Done."))
	require.Equal(t, strings.Repeat("ä", maxRequest/2), tr.Request)
}

// Old outcomes without a call are not kept for ever.
func TestOutcomesAreBounded(t *testing.T) {
	c := collector{ours: isOurs}
	for i := range 3 * maxCalls {
		c.add(entry{kind: result, done: outcome{id: fmt.Sprint(i), raw: make([]byte, 10_000)}})
	}
	require.Len(t, c.outcomes, maxCalls)
	require.LessOrEqual(t, c.held, maxHeld)
	for i := range maxCalls {
		c.add(entry{kind: call, tool: tool{id: fmt.Sprint(i)}})
	}
	require.Empty(t, c.outcomes)
	require.Zero(t, c.held)
}

func TestLastMessageIsBounded(t *testing.T) {
	lines := []string{claudeHuman("Fix it.")}
	for range maxParts + 1 {
		lines = append(lines, claudeSays("m", "part"))
	}
	tr := lookAt(t, lines...)
	require.LessOrEqual(t, strings.Count(tr.Message, "part"), maxParts)
}

// A command that both fails and was read later, tests in a tool of another server, a run whose call is out of reach.
func TestOddRuns(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		tests Tests
		why   string
	}{
		"a server's tool": {[]string{
			claudeHuman("Fix it."),
			`{"type":"assistant","uuid":"a","message":{"id":"m1","content":[{"type":"tool_use","id":"t","name":"mcp__ide__run_tests","input":{}}]}}`,
			`{"type":"user","uuid":"b","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"12 passed"}]}]}}`,
		}, TestsPassed, "mcp__ide__run_tests: passed"},
		"no tests found": {[]string{claudeHuman("Fix it."), claudeRuns("t", "pytest", "collected 0 items\n= no tests ran in 0.01s =")}, TestsNone, "the test run found no tests"},
		"not there": {[]string{
			claudeHuman("Fix it."),
			`{"type":"assistant","uuid":"a","message":{"id":"m1","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"pytest"}}]}}`,
			`{"type":"user","uuid":"b","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"Exit code 127\npytest: command not found"}]}}`,
		}, TestsNone, "the test command could not be run"},
		"killed": {[]string{
			claudeHuman("Fix it."),
			`{"type":"assistant","uuid":"a","message":{"id":"m1","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"pytest"}}]}}`,
			`{"type":"user","uuid":"b","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"Exit code 137\n"}]}}`,
		}, TestsNone, "the test run was interrupted"},
		"timed out": {[]string{
			claudeHuman("Fix it."),
			`{"type":"assistant","uuid":"a","message":{"id":"m1","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"pytest"}}]}}`,
			`{"type":"user","uuid":"b","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"Command timed out after 2m 0.0s\n"}]}}`,
		}, TestsNone, "the test run was interrupted"},
		"exits with 0 all the same": {[]string{claudeHuman("Fix it."), claudeRuns("t", "./run-tests.sh", "1 failed, 3 passed")}, TestsFailed, "./run-tests.sh: failed"},
		"passes without a word":     {[]string{claudeHuman("Fix it."), claudeRuns("t", "go test ./... > /dev/null", "")}, TestsPassed, "go test ./...: passed"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := lookAt(t, append(tt.lines, claudeSays("m9", "All tests pass."))...)
			require.Equal(t, tt.tests, tr.Tests)
			require.Equal(t, tt.why, tr.Why)
		})
	}
}

// Any part of a session's end can be what was written so far, and what a cut leaves is never more than what was there.
func TestHalfWrittenTranscripts(t *testing.T) {
	text := strings.Join([]string{
		claudeHuman("Fix it."), claudeRuns("t1", "sed -i s/a/b/ a.go", ""), claudeRuns("t2", "go test ./...", "ok  \ta\t0.1s"), claudeSays("m1", "All tests pass."),
	}, "\n") + "\n"
	for n := range len(text) {
		tr := look(strings.NewReader(text[:n]), int64(n), claudeScript{}, project{}, isOurs)
		require.True(t, tr.Message == "" || tr.Message == "All tests pass.", "%d: %q", n, tr.Message)
		require.True(t, tr.Request == "" || tr.Request == "Fix it.", "%d", n)
		if n < strings.LastIndex(text, `{"isSidechain":false,"message":{"id":"msg_m1"`) {
			require.Empty(t, tr.MessageID, "%d", n)
		}
	}
}

func BenchmarkLook(b *testing.B) {
	lines := []string{claudeHuman("Fix it.")}
	for i := range 100 {
		lines = append(lines, claudeRuns(fmt.Sprint("t", i), "grep -rn redirect . | head", strings.Repeat("auth.go:12: redirect(w, r)\n", 100)))
	}
	lines = append(lines, claudeRuns("t", "go test ./... 2>&1 | tail", "ok  \ta\t0.1s"), claudeSays("m1", "All tests pass."))
	text := strings.Join(lines, "\n") + "\n"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		look(strings.NewReader(text), int64(len(text)), claudeScript{}, project{}, isOurs)
	}
}
