package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

// walked is what a walk gives: the pauses, each with the human's words before and after it.
type walked struct {
	pauses []Event
	next   []string
	long   int
}

func walkThrough(ctx context.Context, data []byte) (w walked, err error) {
	t, err := Open(bytes.NewReader(data), int64(len(data)), "session")
	if err != nil {
		return w, err
	}
	w.long, err = t.Walk(ctx, func(e Event) error {
		switch {
		case e.Pause:
			w.pauses, w.next = append(w.pauses, e), append(w.next, "")
		case len(w.pauses) > 0 && w.pauses[len(w.pauses)-1].Session == e.Session && w.next[len(w.next)-1] == "":
			w.next[len(w.next)-1] = e.Prompt
		}
		return nil
	})
	return w, err
}

// String writes the pauses for golden files.
func (w walked) String() string {
	var b strings.Builder
	for i, e := range w.pauses {
		who := e.Session
		if e.Agent != "" {
			who += "/" + e.Agent
		}
		fmt.Fprintf(&b, "line %d of %s: %q after %q", e.Line, who, e.Trace.Message, e.Trace.Request)
		if w.next[i] != "" {
			fmt.Fprintf(&b, ", then %q", w.next[i])
		}
		fmt.Fprintf(&b, "; edited %s", e.Trace.Work.Edited)
		for _, c := range e.Trace.Work.Checks {
			fmt.Fprintf(&b, "; %s %s", c.Command, c.Outcome)
		}
		for name, is := range map[string]bool{"; broke": e.Trace.Broke, "; waits": e.Trace.Waits} {
			if is {
				b.WriteString(name)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Each transcript of testdata/walk has these pauses. They are of many versions of the hosts.
func TestWalk(t *testing.T) {
	names, err := filepath.Glob("testdata/walk/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			require.NoError(t, err)
			data, _ := bytes.CutSuffix(a.Files[0].Data, []byte("…\n"))
			w, err := walkThrough(t.Context(), data)
			got := w.String()
			if err != nil {
				got += err.Error() + "\n"
			}
			if *update {
				a.Files[1].Data = []byte(got)
				require.NoError(t, os.WriteFile(name, txtar.Format(a), 0o600))
				return
			}
			require.Equal(t, string(a.Files[1].Data), got)

			crlf, err2 := walkThrough(
				t.Context(),
				append([]byte("\ufeff"), bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))...),
			)
			require.Equal(t, fmt.Sprint(err), fmt.Sprint(err2))
			require.Equal(t, w.String(), crlf.String(), "with CRLF and a byte order mark")
		})
	}
}

// wholeSession is a session of each host with two pauses.
var wholeSessions = map[string]string{
	"claude": claudeAsks("Fix it — now.") + "\n" + claudeSays("m1", "Fixed — should work.") + "\n" +
		claudeAsks("And the logout?") + "\n" + claudeSays("m2", "The logout, too.") + "\n",
	"codex": `{"timestamp":"x","type":"session_meta","payload":{"id":"s1","cwd":"/w"}}
{"timestamp":"x","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Fix it — now."}]}}
{"timestamp":"x","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Fixed — should work."}]}}
{"timestamp":"x","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"And the logout?"}]}}
{"timestamp":"x","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"The logout, too."}]}}
`,
	"gemini": `{"sessionId":"s1","projectHash":"h","startTime":"x","lastUpdated":"x"}
{"id":"1","type":"user","content":[{"text":"Fix it — now."}]}
{"id":"2","type":"gemini","content":"Fixed — should work."}
{"id":"3","type":"user","content":[{"text":"And the logout?"}]}
{"id":"4","type":"gemini","content":"The logout, too."}
`,
	"copilot": `{"type":"session.start","data":{"sessionId":"s1","context":{"cwd":"/w"}},"id":"0"}
{"type":"user.message","data":{"content":"Fix it — now."},"id":"1"}
{"type":"assistant.message","data":{"content":"Fixed — should work.","toolRequests":[]},"id":"2"}
{"type":"user.message","data":{"content":"And the logout?"},"id":"3"}
{"type":"assistant.message","data":{"content":"The logout, too.","toolRequests":[]},"id":"4"}
`,
	"cursor": `{"role":"user","message":{"content":[{"type":"text","text":"Fix it — now."}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"Fixed — should work."}]}}
{"role":"user","message":{"content":[{"type":"text","text":"And the logout?"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"The logout, too."}]}}
`,
}

// A transcript that is cut off at any byte gives whole pauses, and says that it is cut off where that shows.
func TestCutOffAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	for name, session := range wholeSessions {
		data := []byte(session)
		all, err := walkThrough(t.Context(), data)
		require.NoError(t, err, name)
		require.Len(t, all.pauses, 2, name)
		for i := 1; i < len(data); i++ {
			some, err := walkThrough(t.Context(), data[:i])
			if errors.Is(err, ErrFormat) {
				require.LessOrEqual(t, i, max(120, bytes.IndexByte(data, '\n')), name)
				continue
			}
			for j, e := range some.pauses {
				require.Equal(t, all.pauses[j].Trace.Message, e.Trace.Message, "%s, %d bytes", name, i)
				require.Equal(t, all.pauses[j].Trace.Request, e.Trace.Request, "%s, %d bytes", name, i)
				require.Contains(t, []string{"", all.next[j]}, some.next[j], "%s, %d bytes", name, i)
			}
			whole := data[i-1] == '\n' || data[i] == '\n'
			if whole {
				require.NoError(t, err, "%s, %d bytes", name, i)
			} else {
				require.ErrorIs(t, err, errUnread, "%s, %d bytes", name, i)
			}
		}
	}
}

func TestWalkEndsWithWhatFails(t *testing.T) {
	broken := errors.New("broken")
	for name, session := range wholeSessions {
		tr, err := Open(strings.NewReader(session), int64(len(session)), "x")
		require.NoError(t, err, name)
		visits := 0
		_, err = tr.Walk(t.Context(), func(Event) error { visits++; return broken })
		require.ErrorIs(t, err, broken, name)
		require.Equal(t, 1, visits, name)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		long := strings.Repeat(session, 200)
		tr, err = Open(strings.NewReader(long), int64(len(long)), "x")
		require.NoError(t, err, name)
		_, err = tr.Walk(ctx, func(Event) error { return nil })
		require.ErrorIs(t, err, context.Canceled, name)
	}
	tr, err := Open(strings.NewReader(claudeAsks("Fix it.")+"\n"), 1<<20, "x")
	require.NoError(t, err)
	_, err = tr.Walk(t.Context(), func(Event) error { return nil })
	require.NoError(t, err, "a file that became shorter ends earlier")
}

func TestOpenErrors(t *testing.T) {
	for _, data := range []string{"", "\n\n", "notes\n", "{}\n", "[]", "null\n", `{"type":"user"}` + "\n",
		"\xff\xfe{\x00\n", `{"messages":[]}`} {
		_, err := Open(strings.NewReader(data), int64(len(data)), "x")
		require.ErrorIs(t, err, ErrFormat, data)
		require.ErrorContains(t, err, "~/.codex/sessions", data)
	}
	_, err := Open(brokenDisk{}, 100, "x")
	require.ErrorContains(t, err, "broken disk")
	require.NotErrorIs(t, err, ErrFormat)
}

// A line that is too long is counted, and the work is unknown from there on.
func TestWalkLeavesLongLinesOut(t *testing.T) {
	long := claudeSays("m1", strings.Repeat("x", maxLine+1))
	data := strings.Join(
		[]string{claudeAsks("Fix it."), long, claudeAsks("Thanks."), claudeSays("m2", "Welcome.")},
		"\n",
	) + "\n"
	w, err := walkThrough(t.Context(), []byte(data))
	require.NoError(t, err)
	require.Len(t, w.pauses, 1)
	require.Equal(t, 1, w.long)
	require.EqualValues(t, "", w.pauses[0].Trace.Work.Session)
}

// repeated is a file that repeats a turn between a beginning and an end, with a number in place of "########".
type repeated struct {
	before, turn, after string
	turns               int64
}

func (r repeated) size() int64 { return int64(len(r.before)+len(r.after)) + r.turns*int64(len(r.turn)) }

func (r repeated) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) && at < r.size() {
		part, in := r.before, at
		if in -= int64(len(r.before)); at >= int64(len(r.before)) {
			i := in / int64(len(r.turn))
			part, in = strings.ReplaceAll(r.turn, "########", fmt.Sprintf("%08d", i)), in-i*int64(len(r.turn))
			if i >= r.turns {
				part, in = r.after, at-(r.size()-int64(len(r.after)))
			}
		} else {
			in = at
		}
		got := copy(p[n:], part[in:])
		n, at = n+got, at+int64(got)
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// A walk through 24 MiB takes the memory of a walk through 4 MiB.
func TestWalkTakesTheSameMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	log := strings.Repeat("line of a log ", 4000)
	claude := strings.Join([]string{
		claudeAsks(
			"Explain file ########.",
		), claudeRuns("t########", "cat log.txt", log), claudeSays("m########", "It reads file ########."),
	}, "\n") + "\n"
	gemini := []string{
		`{"id":"u########","type":"user","content":[{"text":"Explain file ########."}]}`,
		`{"id":"t########","type":"gemini","content":"","toolCalls":[{"id":"c########","name":"run_shell_command",` +
			`"args":{"command":` +
			`"cat log.txt"},"status":"success","result":[{"functionResponse":{"response":{"response":{"output":"` + log +
			`"}}}}]}]}`,
		`{"id":"m########","type":"gemini","content":"It reads file ########."}`,
	}
	for name, form := range map[string]repeated{
		"lines":        {turn: claude},
		"gemini lines": {before: `{"sessionId":"g1","projectHash":"h"}` + "\n", turn: strings.Join(gemini, "\n") + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			peak := func(size int64) (most uint64) {
				form.turns = size / int64(len(form.turn))
				tr, err := Open(form, form.size(), "x")
				require.NoError(t, err)
				pauses := int64(0)
				_, err = tr.Walk(t.Context(), func(e Event) error {
					if pauses++; pauses%128 == 0 {
						var s runtime.MemStats
						runtime.GC()
						runtime.ReadMemStats(&s)
						most = max(most, s.HeapAlloc)
					}
					return nil
				})
				require.NoError(t, err)
				require.Equal(t, 2*form.turns, pauses, "a prompt and a pause each")
				return most
			}
			require.Less(t, peak(24<<20), peak(4<<20)+4<<20)
		})
	}
}

// FuzzWalk: whatever a file holds, the walk ends, in the order of its lines, and the error says what it skipped.
// Without one, a State that reads the file says of the last pause what the walk says.
func FuzzWalk(f *testing.F) {
	names, err := filepath.Glob("testdata/*/*.txtar")
	require.NoError(f, err)
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		require.NoError(f, err)
		f.Add(a.Files[0].Data)
	}
	for _, session := range wholeSessions {
		f.Add([]byte(session))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := Open(bytes.NewReader(data), int64(len(data)), "unnamed")
		if err != nil {
			require.ErrorIs(t, err, ErrFormat)
			return
		}
		require.Contains(t, formats, tr.Format)
		line, sessions := 0, map[string]bool{}
		var last Event
		_, err = tr.Walk(t.Context(), func(e Event) error {
			require.NotEmpty(t, e.Session)
			require.GreaterOrEqual(t, e.Line, line)
			require.NotEqual(t, e.Pause, e.Trace.Message == "")
			if e.Pause {
				line = e.Line
			}
			sessions[e.Session] = true
			last = e
			return nil
		})
		if err != nil {
			require.ErrorIs(t, err, errUnread)
			return
		}
		if len(sessions) != 1 || !last.Pause || tr.Subagent {
			return
		}
		src := sourceOf(t, string(tr.Format)+"-x", nil)
		src.Dir = ""
		require.NoError(t, os.WriteFile(src.Path, data, 0o600))
		live := new(State).look(t.Context(), src)
		require.NoError(t, live.Err)
		require.Equal(t, last.Trace.Message, live.Message)
		require.Equal(t, last.Trace.Work, live.Work)
	})
}

// Codex has the model write the summary of a compaction as a message of its own, after the end of a turn. That is not
// a pause, and the pause before it is one.
func TestASummaryIsNotAPause(t *testing.T) {
	item := func(role, text string) string {
		return fmt.Sprintf(`{"timestamp":"x","type":"response_item","payload":{"type":"message","id":"%.4s","role":%q,`+
			`"content":[{"type":"text","text":%q}]}}`, text, role, text)
	}
	const (
		head      = `{"timestamp":"x","type":"session_meta","payload":{"id":"s","cwd":"/w"}}`
		end       = `{"timestamp":"x","type":"event_msg","payload":{"type":"task_complete","turn_id":"t"}}`
		compacted = `{"timestamp":"x","type":"compacted","payload":{"message":"sum"}}`
	)
	for _, after := range []string{compacted, ""} {
		w, err := walkThrough(t.Context(), []byte(strings.Join([]string{
			head, item("user", "Fix it."), item("assistant", "Done."), end, item("assistant", "The human asked."), after,
			item("user", "And this."), item("assistant", "Also."), end,
		}, "\n")))
		require.NoError(t, err)
		var said []string
		for _, e := range w.pauses {
			said = append(said, e.Trace.Message)
		}
		want := []string{"Done.", "The human asked.", "Also."}
		if after == compacted {
			want = []string{"Done.", "Also."}
		}
		require.Equal(t, want, said)
	}
}
