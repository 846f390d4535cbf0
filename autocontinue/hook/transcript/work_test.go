package transcript

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

// factsOf writes work in a few words: what is edited, what was in the session, and the checks: "none/code go
// test:passed".
func factsOf(w classify.Work) string {
	or := func(e classify.Edited) string { return map[bool]string{true: "?", false: string(e)}[e == ""] }
	parts := []string{or(w.Edited) + "/" + or(w.Session)}
	for _, c := range w.Checks {
		outcome := map[bool]string{true: "?", false: string(c.Outcome)}[c.Outcome == ""]
		parts = append(parts, string(c.Kind)+":"+outcome)
	}
	return strings.Join(parts, " ")
}

// play makes lines of Claude Code of steps: "ask TEXT", "say TEXT", "edit FILE", "read FILE", "run SCRIPT => OUTPUT",
// "fail SCRIPT => OUTPUT", "deny SCRIPT", "call TOOL INPUT", "open SCRIPT" for a call without a result, "long",
// "summary".
func play(steps ...string) []string {
	var lines []string
	for i, step := range steps {
		id := fmt.Sprint("t", i)
		what, rest, _ := strings.Cut(step, " ")
		script, output, _ := strings.Cut(rest, " => ")
		switch what {
		case "ask":
			lines = append(lines, claudeAsks(rest))
		case "say":
			lines = append(lines, claudeSays(id, rest))
		case "edit":
			lines = append(lines, claudeEdits(id, rest))
		case "read":
			lines = append(lines, claudeCalls(id, "Read", fmt.Sprintf(`{"file_path":%q}`, rest)), claudeReturns(id, "x", false))
		case "run":
			lines = append(lines, claudeRuns(id, script, output))
		case "fail":
			lines = append(lines, claudeRuns(id, script, "Exit code 1\n"+output))
		case "deny":
			lines = append(lines, claudeCalls(id, "Bash", fmt.Sprintf(`{"command":%q}`, rest)),
				claudeReturns(id, "The user doesn't want to proceed with this tool use.", true))
		case "call":
			tool, input, _ := strings.Cut(rest, " ")
			lines = append(lines, claudeCalls(id, tool, input), claudeReturns(id, "ok", false))
		case "open":
			lines = append(lines, claudeCalls(id, "Bash", fmt.Sprintf(`{"command":%q}`, rest)))
		case "long":
			lines = append(lines, `{"x":"`+strings.Repeat("y", maxLine)+`"}`)
		case "summary":
			lines = append(
				lines,
				`{"type":"user","uuid":"s","isCompactSummary":true,"message":{"role":"user","content":"This session is `+
					`being continued"}}`,
			)
		}
	}
	return lines
}

// example is an example of a text file of testdata: a name, lines, and after "= " what is wanted.
type example struct {
	name  string
	lines []string
	want  string
}

var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\x1b`, "\x1b")

// examplesOf reads a file of examples. The lines below a name begin with a tab.
func examplesOf(t *testing.T, name string) (list []example) {
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		below, ok := strings.CutPrefix(line, "\t")
		switch {
		case strings.HasPrefix(line, "#"):
		case !ok:
			list = append(list, example{name: line})
		case below == "=" || strings.HasPrefix(below, "= "):
			list[len(list)-1].want = strings.TrimPrefix(below[1:], " ")
		default:
			last := &list[len(list)-1]
			last.lines = append(last.lines, unescape.Replace(below))
		}
	}
	require.NotEmpty(t, list)
	return list
}

// Each session of work.txt comes to these facts.
func TestWork(t *testing.T) {
	for _, x := range examplesOf(t, "work.txt") {
		t.Run(x.name, func(t *testing.T) {
			src := transcriptOf(t, claude, play(x.lines...)...)
			require.Equal(t, x.want, factsOf(new(State).look(t.Context(), src).Work))

			pieces, stored := transcriptOf(t, claude), []byte("{}")
			require.NoError(t, os.Truncate(pieces.Path, 0))
			var got Trace
			for _, line := range play(x.lines...) { // and line by line, with the state stored between
				var s State
				write(t, pieces, line)
				require.NoError(t, json.Unmarshal(stored, &s))
				got = s.look(t.Context(), pieces)
				stored, _ = json.Marshal(s)
			}
			require.Equal(t, x.want, factsOf(got.Work))
		})
	}
}

// The files behind an edit are named, the last edited last, those of the project by their names in it.
func TestFiles(t *testing.T) {
	steps := []string{
		"ask Fix it.",
		"edit /home/ada/shop/a.go",
		"run sed -i s/a/b/ web/b.ts => ",
		"edit a.go",
		"edit /srv/c.go",
	}
	work := new(State).look(t.Context(), transcriptOf(t, claude, play(steps...)...)).Work
	require.Equal(t, []string{"web/b.ts", "a.go"}, work.Files)
	for i := range 2 * maxFiles {
		steps = append(steps, fmt.Sprintf("edit f%d.go", i))
	}
	work = new(State).look(t.Context(), transcriptOf(t, claude, play(steps...)...)).Work
	require.Len(t, work.Files, maxFiles)
	require.Equal(t, "f39.go", work.Files[maxFiles-1])
	steps = append(steps, "run go vet => ")
	require.Empty(t, new(State).look(t.Context(), transcriptOf(t, claude, play(steps...)...)).Work.Files)
}

// The exit status of each script of outcomes.txt is 0. What it prints tells how the check ended.
func TestOutcomes(t *testing.T) {
	for _, x := range examplesOf(t, "outcomes.txt") {
		t.Run(x.name, func(t *testing.T) {
			script := unescape.Replace(x.name)
			r := result{output: strings.Join(x.lines, "\n")}
			r.status(0)
			list := scriptEffects(project(""), "/home/ada/shop", script)
			first := slices.IndexFunc(list, func(e effect) bool { return e.Check != "" })
			require.GreaterOrEqual(t, first, 0, "there is no check")
			got, counts := list[first].outcome(r)
			require.True(t, counts)
			require.Equal(t, strings.TrimPrefix(x.want, "unknown"), string(got))
		})
	}
}

// What runs in the background counts as what the agent later saw of it, until the next edit.
func TestBackground(t *testing.T) {
	start := claudeCalls("b", "Bash", `{"command":"go test ./...","run_in_background":true}`) + "\n" +
		`{"type":"user","uuid":"r","message":{"content":[{"type":"tool_result","tool_use_id":"b","content":"running"}` +
		`]},"toolUseResult":{"backgroundTaskId":"b1"}}`
	notified := func(status string) string {
		return claudeAsks(
			"<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n<summary>Command completed" + status +
				"</summary>\n</task-notification>",
		)
	}
	polled := claudeCalls("p", "TaskOutput", `{"task_id":"b1"}`) + "\n" +
		claudeReturns("p", "<status>completed</status>\n<exit_code>1</exit_code>\n<output>--- FAIL: TestA</output>", false)
	for name, tt := range map[string]struct {
		lines []string
		want  string
		waits bool
	}{
		"runs":             {[]string{start}, "?/code test:?", true},
		"ended":            {[]string{start, notified(" (exit code 0)")}, "none/code test:passed", false},
		"failed":           {[]string{start, notified(" (exit code 2)")}, "?/code test:failed", false},
		"ended somehow":    {[]string{start, notified("")}, "?/code test:?", false},
		"polled":           {[]string{start, polled}, "?/code test:failed", false},
		"edited meanwhile": {[]string{start, claudeEdits("f", "b.go"), notified(" (exit code 0)")}, "code/code", false},
		"another task ended": {[]string{start, strings.ReplaceAll(notified(" (exit code 0)"), "b1", "b2")}, "?/code test:?",
			true},
	} {
		t.Run(name, func(t *testing.T) {
			src := transcriptOf(t, claude, append([]string{claudeAsks("Fix it."), claudeEdits("e", "a.go")}, tt.lines...)...)
			tr := new(State).look(t.Context(), src)
			require.Equal(t, tt.want, factsOf(tr.Work))
			require.Equal(t, tt.waits, tr.Waits)
		})
	}
}
