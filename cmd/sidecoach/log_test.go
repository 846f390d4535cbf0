package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify"
)

// row is a journal line with a decision.
func row(session string, continues int, reason autocontinue.Reason, change ...func(*entry)) entry {
	e := entry{Host: "h"}
	e.Session, e.Decision.Reason, e.Decision.Continues = session, reason, continues
	switch reason {
	case "progress", "rejected_completion", "empty":
		e.Decision.Action = autocontinue.Continue
	case "run_closed", "same_text":
		e.Decision.Action = autocontinue.Suppress
	}
	for _, f := range change {
		f(&e)
	}
	return e
}

// The totals of continuations are the sum of the rows named "result".
func TestResultsOfContinues(t *testing.T) {
	const (
		progress, claim      = "progress", "rejected_completion"
		completion, question = "completion", "question"
		repeat, superseded   = "repeat", "superseded"
	)
	replay := func(e *entry) { e.Decision.Replayed = true }
	shadow := func(e *entry) { e.Shadow = true }
	otherHost := func(e *entry) { e.Host = "other" }
	turn := func(name string) func(*entry) { return func(e *entry) { e.Turn = name } }
	list := func(rows ...entry) []entry { return rows }
	for name, tt := range map[string]struct {
		rows []entry
		want outcomes
		last string // the row "result" of the last entry
	}{
		"none": {list(row("s", 0, completion)), outcomes{}, ""},
		"all of a turn": {list(row("s", 1, claim), row("s", 2, progress), row("s", 2, completion)), outcomes{Accepted: 2},
			"2 continues accepted"},
		"stalled": {list(row("s", 1, claim), row("s", 2, claim), row("s", 2, repeat)), outcomes{NotAccepted: 2},
			"2 continues not accepted"},
		"a question": {list(row("s", 1, claim), row("s", 1, question), row("s", 0, completion)),
			outcomes{NotAccepted: 1}, ""},
		"open":           {list(row("s", 1, claim), row("r", 1, claim)), outcomes{Open: 2}, ""},
		"sessions apart": {list(row("s", 1, claim), row("r", 0, completion)), outcomes{Open: 1}, ""},
		"hosts apart":    {list(row("s", 1, claim), row("s", 1, completion, otherHost)), outcomes{Open: 1}, ""},
		"the host names the turn once": { // as Claude Code and Codex do: after a continuation the turn has no name
			list(row("s", 1, claim, turn("t")), row("s", 1, completion)), outcomes{Accepted: 1}, "1 continue accepted"},
		"the human spoke": {list(row("s", 1, claim), row("s", 0, completion)), outcomes{NotAccepted: 1},
			"1 continue of the turn before not accepted"},
		"the human spoke, and a " +
			"continue": {list(row("s", 2, claim), row("s", 1, claim)), outcomes{NotAccepted: 1, Open: 1},
			"1 continue of the turn before not accepted"},
		"late, of the turn before": {
			list(row("s", 1, claim), row("s", 1, claim), row("s", 1, superseded), row("s", 1, completion)),
			outcomes{Accepted: 1, NotAccepted: 1}, "1 continue accepted"},
		"superseded": {list(row("s", 1, claim), row("s", 0, superseded)), outcomes{NotAccepted: 1},
			"1 continue of the turn before not accepted"},
		"suppressed": {list(row("s", 1, claim), row("s", 1, "run_closed"), row("s", 1, completion)),
			outcomes{Accepted: 1}, "1 continue accepted"},
		"replayed": {list(row("s", 1, claim), row("s", 1, claim, replay), row("s", 1, completion)), outcomes{Accepted: 1},
			"1 continue accepted"},
		"shadow": {list(row("s", 1, claim, shadow), row("s", 1, completion)), outcomes{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sums := newTotals()
			last := ""
			for _, e := range tt.rows {
				last = sums.add(e)
			}
			assert.Equal(t, tt.want, sums.Continues)
			assert.Equal(t, tt.last, last)
		})
	}
}

func TestTotals(t *testing.T) {
	sums := newTotals()
	use := func(e *entry) {
		e.Decision.Result.Usage = &classify.Usage{PromptTokens: 1000, CachedTokens: 800, CompletionTokens: 50, Attempts: 2,
			Latency: time.Second, CostUSD: 0.002}
	}
	for _, e := range []entry{
		row("a", 1, "progress", use), row("a", 2, "progress", use),
		row("a", 3, "rejected_completion"), row("a", 3, "cap"),
		row("b", 0, "run_closed"), row("b", 1, "progress", func(e *entry) {
			e.Shadow = true
		}),
		row("b", 0, "error", func(e *entry) { e.Decision.Result.Fallback = "llm: no" }),
		row("b", 0, "error", func(e *entry) { e.Decision.Degraded = []string{"plan: no"} }),
		row("b", 0, "cap", func(e *entry) { e.Decision.Replayed = true }),
		{Notice: "something"},
	} {
		sums.add(e)
	}
	assert.Equal(t, `
8 decisions in 2 sessions
  continued 3: progress 2, rejected completion 1
  stopped   3: error 2, cap 1
  dropped   1: run closed 1
  shadow    1 time not continued because of --shadow
  continues 0 led to an accepted completion, 3 did not, 0 open
  judge     2 verdicts in 4 calls, 2000 tokens in, 1600 of them cached, 100 out, 2.0 s, $0.0040
  fallback  1 verdict of the heuristic, where another classifier had none
  degraded  1 decision without a plan, a judge or a verifier that could not be used
  replayed  1 decision asked for again, and not counted above
  notices   1 time something went wrong beside a decision
`, terminal{}.show(view("totals", sums)))
	line := jsonOf(t, map[string]totals{"totals": sums})
	var back struct{ Totals totals }
	require.NoError(t, json.Unmarshal([]byte(line), &back))
	assert.Equal(t, judgeTotals{2, classify.Usage{PromptTokens: 2000, CachedTokens: 1600, CompletionTokens: 100, CostUSD: 0.004,
		Latency: 2 * time.Second, Attempts: 4}}, back.Totals.Judge)
	assert.Equal(t, map[string]int{"error": 2, "cap": 1}, back.Totals.Stopped)
}

func TestLogEntries(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 5, 0, time.UTC)
	zone := time.Local
	time.Local = time.UTC
	defer func() { time.Local = zone }()
	e := row("chat 7", 3, "cap", func(e *entry) {
		e.Time = at
		e.Preview = "I moved " + strings.Repeat("the parser and ", 20)
		e.Err = "boom"
		e.Decision.ID = "0123456789abcdef"
		e.Decision.Note = "Sent on as often as one turn allows."
		e.Decision.Degraded = []string{"classifier: llm: no answer", "plan: no such file"}
		e.Decision.Result = classify.Result{Type: classify.Status, Confidence: 0.9, Fallback: "llm: no answer",
			Usage: &classify.Usage{Model: "m", PromptTokens: 1234, CompletionTokens: 5, Latency: 1250 * time.Millisecond}}
	})
	before := ""
	show := func(t terminal, e entry, result string) string { return t.show(entryText(e, result, &before)) }
	assert.Equal(t, `chat 7 (h)
  2026-03-01 12:00:05  01234567  deliver · status · cap · 0.90
    output    "I moved the parser and the parser and the parser and the parser and the parser and the parser and…"
    note      Sent on as often as one turn allows.
    degraded  classifier: llm: no answer
    degraded  plan: no such file
    judge     m, 1234 tokens in, 5 out, 1.2 s
    error     boom
    result    3 continues not accepted
`, show(terminal{}, e, "3 continues not accepted"))
	replayed := row("chat 7", 0, "question", func(e *entry) {
		e.Time = at
		e.Decision.Replayed = true
		e.Decision.Note = "no"
	})
	assert.Equal(t, "  2026-03-01 12:00:05            deliver · question · replayed\n", show(terminal{}, replayed, ""),
		"the session is named once")
	shadow := row("", 1, "progress", func(e *entry) { e.Time = at; e.Shadow = true; e.Host = "" })
	assert.Equal(t, "\nno session\n  2026-03-01 12:00:05            continue · progress · shadow: not continued\n",
		show(terminal{}, shadow, ""))

	for line := range strings.Lines(show(terminal{width: 40}, e, "")) {
		assert.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), 40, line)
	}
	head := strings.Split(show(terminal{width: 70, color: true}, e, ""), "\n")[0]
	assert.Contains(t, head, "\x1b[1;33mdeliver\x1b[0m")
}

// A journal may hold what a newer program wrote: unknown keys are kept for programs and passed over for people.
func TestParseEntry(t *testing.T) {
	_, ok := parseEntry([]byte(`{"time":"2026-03-01T12:00:00Z","session":"s","decision":{"action":"deliver",` +
		`"new":1},"newer":{}}`))
	assert.True(t, ok)
	for _, bad := range []string{``, `{`, `[]`, `null`, `{}`, `"x"`,
		`{"time":"2026-03-01T12:00:00Z","decision":{"action":"explode"}}`} {
		_, ok := parseEntry([]byte(bad))
		assert.False(t, ok, bad)
	}
}

// following starts sidecoach log --follow as a process of its own.
func following(t *testing.T, args ...string) (cmd *exec.Cmd, next func() string) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	// see TestMain
	cmd = &exec.Cmd{Path: exe, Args: append([]string{"sidecoach", "log", "--follow"}, args...), Stderr: os.Stderr}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	return cmd, func() string {
		if !lines.Scan() {
			return "the end"
		}
		return lines.Text()
	}
}

// Following goes on over a journal that is begun anew, and Ctrl-C ends it with the totals and without an error.
func TestFollow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no way to send an interrupt")
	}
	for _, args := range [][]string{nil, {"--json"}} {
		state := t.TempDir()
		s, err := filestore.New(state, filestore.Options{JournalSize: 1})
		require.NoError(t, err)
		add := func(session string, n int) {
			_, err := fmt.Fprintf(s.Journal(), `{"time":"2026-03-01T12:00:00Z","session":%q,"host":"h",`+
				`"decision":{"id":"%08d","action":"continue","reason":"progress"}}`, session, n)
			require.NoError(t, err)
		}
		cmd, next := following(t, append(args, "--state", state, "--session", "s")...)
		for i := range 3 {
			add("another", 0)
			add("s", i)
			for line := next(); !strings.Contains(line, fmt.Sprintf("%08d", i)); line = next() {
				require.NotEqual(t, "the end", line)
			}
		}
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		totals := ""
		for line := next(); line != "the end"; line = next() {
			totals += line
		}
		require.NoError(t, cmd.Wait(), "an interrupt is how it ends")
		assert.Regexp(t, `3 decisions in 1 session|"decisions":3,"sessions":1,`, totals)
	}
}
