package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// cycle is a file that says the same again and again, with a number in place of each '#'.
type cycle struct {
	turn string
	size int64
}

func (c cycle) ReadAt(p []byte, at int64) (int, error) {
	n := 0
	for n < len(p) && at+int64(n) < c.size {
		here := at + int64(n)
		turn := strings.ReplaceAll(c.turn, "########", strings.Repeat("0", 8-len(digitsOf(here/int64(len(c.turn)))))+digitsOf(here/int64(len(c.turn))))
		n += copy(p[n:], turn[here%int64(len(c.turn)):])
	}
	if n > len(p) || at+int64(n) > c.size {
		n = int(c.size - at)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func digitsOf(n int64) string {
	if n == 0 {
		return ""
	}
	return digitsOf(n/10) + string(rune('0'+n%10))
}

// A transcript of 8 MiB and one of 64 MiB take the same memory while they are gone through, with turns in which nothing was run
// or changed, for which a hook would look far back.
func TestReplayTakesTheSameMemory(t *testing.T) {
	turn := claudeHuman("Explain file ########.") + "\n" + claudeRuns("t########", "cat log.txt", strings.Repeat("line of a log ", 4000)) + "\n" + claudeSays("m########", "It reads file ########, line by line.") + "\n"
	peak := func(size int64) (most uint64, pauses int) {
		c := cycle{turn, size / int64(len(turn)) * int64(len(turn))}
		tr, err := OpenTranscript(c, c.size, "x")
		require.NoError(t, err)
		account, err := tr.Replay(t.Context(), func(string) (Loop, error) { return deliver{}, nil }, func(m Moment) error {
			if pauses++; pauses%64 == 0 {
				runtime.GC()
				var s runtime.MemStats
				runtime.ReadMemStats(&s)
				most = max(most, s.HeapAlloc)
			}
			require.Contains(t, m.Output.Request, "Explain file ")
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, c.size, account.Bytes)
		require.Equal(t, int(c.size/int64(len(turn))), pauses)
		return most, pauses
	}
	small, _ := peak(8 << 20)
	large, _ := peak(64 << 20)
	require.Less(t, large, small+4<<20)
}

// between puts something before and after a cycle.
type between struct {
	before string
	cycle
	after string
}

func (b between) len() int64 { return int64(len(b.before)) + b.size + int64(len(b.after)) }

func (b between) ReadAt(p []byte, at int64) (n int, err error) {
	begin, end := int64(len(b.before)), int64(len(b.before))+b.size
	for n < len(p) && at < b.len() {
		var got int
		switch {
		case at < begin:
			got = copy(p[n:], b.before[at:])
		case at < end:
			got, _ = b.cycle.ReadAt(p[n:min(int64(len(p)), int64(n)+end-at)], at-begin)
		default:
			got = copy(p[n:], b.after[at-end:])
		}
		n, at = n+got, at+int64(got)
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// The same holds for Gemini CLI's sessions, of lines and of one object, indented or on one line.
func TestReplayOfGeminiTakesTheSameMemory(t *testing.T) {
	messages := []string{
		`{"id":"u########","type":"user","content":[{"text":"Explain file ########."}]}`,
		`{"id":"t########","type":"gemini","content":"","toolCalls":[{"id":"c########","name":"run_shell_command","args":{"command":"cat log.txt"},"status":"success","result":[{"functionResponse":{"response":{"output":"` + strings.Repeat("line of a log ", 4000) + `"}}}]}]}`,
		`{"id":"m########","type":"gemini","content":"It reads file ########, line by line."}`,
	}
	spread := strings.NewReplacer(`,"`, ",\n      \"", `[{`, "[\n{", `}]`, "}\n]")
	for name, form := range map[string]between{
		"lines":    {`{"sessionId":"g1","projectHash":"h"}` + "\n", cycle{strings.Join(messages, "\n") + "\n", 0}, ""},
		"one line": {`{"sessionId":"g1","messages":[`, cycle{strings.Join(messages, ",") + ",", 0}, "null]}"},
		"indented": {"{\n  \"sessionId\": \"g1\",\n  \"messages\": [", cycle{spread.Replace("\n    " + strings.Join(messages, ",\n    ") + ","), 0}, "\n    null\n  ]\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			peak := func(size int64) (most uint64) {
				form.size = size / int64(len(form.turn)) * int64(len(form.turn))
				tr, err := OpenTranscript(form, form.len(), "x")
				require.NoError(t, err)
				pauses := 0
				account, err := tr.Replay(t.Context(), func(string) (Loop, error) { return deliver{}, nil }, func(m Moment) error {
					if pauses++; pauses%64 == 0 {
						runtime.GC()
						var s runtime.MemStats
						runtime.ReadMemStats(&s)
						most = max(most, s.HeapAlloc)
					}
					require.Contains(t, m.Output.Request, "Explain file ")
					return nil
				})
				if name == "lines" {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, ErrDamaged, "null is no message")
				}
				require.Equal(t, form.len(), account.Bytes)
				require.Equal(t, int(form.size/int64(len(form.turn))), pauses)
				return most
			}
			small, large := peak(4<<20), peak(40<<20)
			require.Less(t, large, small+4<<20)
		})
	}
}

// BenchmarkReplay goes through sessions of 16 MiB in which nothing was run or changed, so that a hook looks far back.
func BenchmarkReplay(b *testing.B) {
	log := strings.Repeat("line of a log\\n", 800)
	messages := func(i int) []string {
		return []string{
			fmt.Sprintf(`{"id":"u%d","type":"user","content":[{"text":"Explain file %d."}]}`, i, i),
			fmt.Sprintf(`{"id":"t%d","type":"gemini","content":"","toolCalls":[{"id":"c%d","name":"run_shell_command","args":{"command":"cat log.txt"},"status":"success","result":[{"functionResponse":{"response":{"output":"%s"}}}]}]}`, i, i, log),
			fmt.Sprintf(`{"id":"m%d","type":"gemini","content":"It reads file %d, line by line."}`, i, i),
		}
	}
	for _, form := range []struct {
		name, before, after string
		turn                func(int) string
	}{
		{"claude", "", "", func(i int) string {
			return claudeHuman(fmt.Sprintf("Explain file %d.", i)) + "\n" + claudeRuns(fmt.Sprint("t", i), "cat log.txt", log) + "\n" + claudeSays(fmt.Sprint("m", i), "It reads the file, line by line.") + "\n"
		}},
		{"gemini/lines", `{"sessionId":"g1","projectHash":"h"}` + "\n", "", func(i int) string { return strings.Join(messages(i), "\n") + "\n" }},
		{"gemini/one line", `{"sessionId":"g1","messages":[`, "{}]}", func(i int) string { return strings.Join(messages(i), ",") + "," }},
		{"gemini/indented", "{\n  \"sessionId\": \"g1\",\n  \"messages\": [\n", "    {}\n  ]\n}\n", func(i int) string {
			var s string
			for _, m := range messages(i) {
				var out bytes.Buffer
				require.NoError(b, json.Indent(&out, []byte(m), "    ", "  "))
				s += "    " + out.String() + ",\n"
			}
			return s
		}},
	} {
		b.Run(form.name, func(b *testing.B) {
			data := []byte(form.before)
			for i := 0; len(data) < 16<<20; i++ {
				data = append(data, form.turn(i)...)
			}
			data = append(data, form.after...)
			b.SetBytes(int64(len(data)))
			pauses := 0
			for b.Loop() {
				tr, err := OpenTranscript(bytes.NewReader(data), int64(len(data)), "x")
				require.NoError(b, err)
				_, err = tr.Replay(b.Context(), func(string) (Loop, error) { return deliver{}, nil }, func(Moment) error { pauses++; return nil })
				require.NoError(b, err)
			}
			b.ReportMetric(float64(pauses)/float64(b.N), "pauses/op")
		})
	}
}

// deliver is a loop that lets every agent stop.
type deliver struct{}

func (deliver) Reset(context.Context, string) error { return nil }
func (deliver) Handle(context.Context, autocontinue.Output) (autocontinue.Decision, error) {
	return autocontinue.Decision{Action: autocontinue.Deliver}, nil
}

func TestReplayEndsWithWhatFails(t *testing.T) {
	data := []byte(claudeHuman("Fix it.") + "\n" + claudeSays("m1", "Fixed, should work now.") + "\n" + claudeHuman("Thanks.") + "\n" + claudeSays("m2", "You are welcome.") + "\n")
	broken := errors.New("broken")
	tr, err := OpenTranscript(bytes.NewReader(data), int64(len(data)), "x")
	require.NoError(t, err)
	require.Equal(t, Claude, tr.Format)
	start := func(string) (Loop, error) { return deliver{}, nil }
	show := func(Moment) error { return nil }

	_, err = tr.Replay(t.Context(), func(string) (Loop, error) { return nil, broken }, show)
	require.ErrorIs(t, err, broken)
	n := 0
	_, err = tr.Replay(t.Context(), start, func(Moment) error { n++; return broken })
	require.ErrorIs(t, err, broken)
	require.Equal(t, 1, n, "nothing is shown after that")
	_, err = tr.Replay(t.Context(), func(string) (Loop, error) { return nil, nil }, show)
	require.ErrorContains(t, err, "no loop")

	short, err := OpenTranscript(bytes.NewReader(data), int64(len(data))+100, "x")
	require.NoError(t, err)
	_, err = short.Replay(t.Context(), start, show)
	require.NoError(t, err, "a file that became shorter ends earlier")

	_, err = OpenTranscript(bytes.NewReader(nil), 0, "x")
	require.ErrorIs(t, err, ErrFormat)
	require.ErrorContains(t, err, "it is empty")
}

// A sub-agent's own transcript is one, all of whose lines say so; in its caller's, its lines are nobody's.
func TestReplayOfASubAgent(t *testing.T) {
	data := []byte(strings.ReplaceAll(claudeHuman("Find it.")+"\n"+claudeSays("m1", "Found it, probably.")+"\n", `"type":`, `"isSidechain":true,"agentId":"a7","sessionId":"s","type":`))
	moments, _, err := replayed(t, data)
	require.NoError(t, err)
	require.Len(t, moments, 1)
	require.Equal(t, SubagentStop, moments[0].Event.Kind)
	require.Equal(t, "s/a7", moments[0].Output.Session)

	own := []byte(claudeHuman("Fix it.") + "\n" + string(data) + claudeSays("m2", "Fixed.") + "\n")
	moments, _, err = replayed(t, own)
	require.NoError(t, err)
	require.Len(t, moments, 1)
	require.Equal(t, "Fixed.", moments[0].Output.Text)
}

// A file of Claude Code's may have titles and snapshots of files and no conversation.
func TestReplayOfNoConversation(t *testing.T) {
	for _, data := range []string{
		`{"type":"summary","summary":"Login redirect","leafUuid":"u1"}` + "\n" + `{"type":"summary","summary":"Logout","leafUuid":"u2"}` + "\n",
		`{"type":"file-history-snapshot","messageId":"m1","snapshot":{"messageId":"m1","trackedFileBackups":{}},"isSnapshotUpdate":false}` + "\n",
	} {
		tr, err := OpenTranscript(strings.NewReader(data), int64(len(data)), "x")
		require.NoError(t, err, data)
		require.Equal(t, Claude, tr.Format)
		account, err := tr.Replay(t.Context(), func(string) (Loop, error) { return nil, errors.New("nobody spoke") }, func(Moment) error { return errors.New("there is no pause") })
		require.NoError(t, err)
		require.Equal(t, strings.Count(data, "\n"), account.Lines)
	}
}

// A line that is too long to be read is counted, and nothing is decided about what it may have said.
func TestReplayLeavesLongLinesOut(t *testing.T) {
	long := claudeSays("m1", strings.Repeat("x", maxLine+1))
	data := []byte(claudeHuman("Fix it.") + "\n" + long + "\n" + claudeHuman("Thanks.") + "\n" + claudeSays("m2", "You are welcome.") + "\n")
	moments, account, err := replayed(t, data)
	require.NoError(t, err)
	require.Len(t, moments, 1)
	require.Equal(t, 4, moments[0].Line)
	require.Equal(t, Account{Lines: 4, Bytes: int64(len(data)), Long: 1}, account)
}

// Old sessions of Gemini CLI stand on one line, or on many.
func TestReplayOfOneLine(t *testing.T) {
	data := []byte(`{"sessionId":"g1","projectHash":"h","messages":[{"id":"1","type":"user","content":"Fix it."},{"id":"2","type":"gemini","content":"Fixed, should work now."}]}`)
	moments, _, err := replayed(t, data)
	require.NoError(t, err)
	require.Len(t, moments, 1)
	require.Equal(t, "g1", moments[0].Output.Session)
	require.Equal(t, "Fix it.", moments[0].Output.Request)
	require.Equal(t, "2", moments[0].Output.ID)
}

// FuzzReplay: whatever a file holds, going through it ends, in the order of its lines, and what is wrong with it has a name.
func FuzzReplay(f *testing.F) {
	for _, data := range transcripts(f) {
		f.Add(data)
	}
	for _, text := range []string{
		"<!-- Generated by SpecStory -->\n_**User**_\n\nFix it.\n\n_**Assistant**_\n\nFixed.\n<tool-use>\nx\n</tool-use>\nDone.\n\n_**User**_\nthanks\n",
		"# aider chat started at \n\nFixed.\n", // no time
		"# aider chat started at 2026-11-02 10:20:00\n\n#### Fix it.\n#### Now.\n\nFixed.\n\n> Tokens: 1  \n\n#### /ask why\n\nBecause.\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := OpenTranscript(bytes.NewReader(data), int64(len(data)), "unnamed")
		if err != nil {
			require.ErrorIs(t, err, ErrFormat)
			return
		}
		require.Contains(t, Formats(), tr.Format)
		line := 0
		account, err := tr.Replay(t.Context(), func(session string) (Loop, error) {
			require.NotEmpty(t, session)
			return deliver{}, nil
		}, func(m Moment) error {
			if tr.oneObject { // which may stand on one line
				require.GreaterOrEqual(t, m.Line, line)
			} else {
				require.Greater(t, m.Line, line)
			}
			line = m.Line
			require.NotEmpty(t, m.Output.Session)
			require.Equal(t, autocontinue.Deliver, m.Decision.Action)
			return nil
		})
		require.LessOrEqual(t, line, account.Lines)
		if err != nil && !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrInterleaved) && !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
	})
}

func TestFormatsAreNamed(t *testing.T) {
	for _, h := range Formats() {
		require.NotEmpty(t, formatName(h))
	}
}

// An answer that the host itself wrote, because the model gave none, is told to a hook as a turn that broke.
func TestReplayOfATurnThatBroke(t *testing.T) {
	for _, said := range []string{"Prompt is too long", "Credit balance is too low", "Done."} {
		line := strings.Replace(claudeSays("m1", said), `{`, `{"isApiErrorMessage":true,`, 1)
		moments, _, err := replayed(t, []byte(claudeHuman("Fix it.")+"\n"+line+"\n"))
		require.NoError(t, err)
		require.Len(t, moments, 1)
		require.Equal(t, StopFailure, moments[0].Event.Kind)
		require.True(t, moments[0].Output.Failed)
		require.Equal(t, said, moments[0].Output.Text)
		require.Equal(t, autocontinue.ReasonCrashGuard, moments[0].Decision.Reason)
	}
}
