package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

// factsOf writes work in a few words: what is edited, what was in the session, and the checks: "none/code go test:passed".
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
// "fail SCRIPT => OUTPUT", "deny SCRIPT", "call TOOL INPUT", "open SCRIPT" for a call without a result, "long", "summary".
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
			lines = append(lines, `{"type":"user","uuid":"s","isCompactSummary":true,"message":{"role":"user","content":"This session is being continued"}}`)
		}
	}
	return lines
}

func TestWork(t *testing.T) {
	const passed, failed = "ok  \tshop\t0.1s", "--- FAIL: TestA (0.00s)\nFAIL\tshop\t0.1s"
	for name, tt := range map[string]struct {
		steps []string
		want  string
	}{
		"nothing":                 {[]string{"ask Explain it.", "read a.go", "say It adds."}, "none/none"},
		"looked around":           {[]string{"ask Explain it.", "run rg add . | head => a.go", "run git log => x", "say It adds."}, "none/none"},
		"edited code":             {[]string{"ask Fix it.", "edit a.go"}, "code/code"},
		"edited documents":        {[]string{"ask Fix it.", "edit README.md", "run echo x >> docs/a.txt => "}, "docs/docs"},
		"configuration is code":   {[]string{"ask Fix it.", "edit package.json"}, "code/code"},
		"code beside documents":   {[]string{"ask Fix it.", "edit a.go", "edit README.md"}, "code/code"},
		"fixtures are code":       {[]string{"ask Fix it.", "edit testdata/want.txt"}, "code/code"},
		"edited elsewhere":        {[]string{"ask Fix it.", "edit /home/ada/.zshrc", "edit /tmp/a.go"}, "none/?"},
		"tested":                  {[]string{"ask Fix it.", "edit a.go", "run go test ./... => " + passed}, "none/code test:passed"},
		"tested, then edited":     {[]string{"ask Fix it.", "run go test ./... => " + passed, "edit a.go"}, "code/code"},
		"tested, then docs":       {[]string{"ask Fix it.", "edit a.go", "run go test ./... => " + passed, "edit README.md"}, "docs/code test:passed"},
		"tested, then formatted":  {[]string{"ask Fix it.", "edit a.go", "run go test ./... => " + passed, "run gofmt -w . => "}, "code/code"},
		"test failed":             {[]string{"ask Fix it.", "edit a.go", "fail go test ./... => " + failed}, "code/code test:failed"},
		"failed and then fixed":   {[]string{"ask Fix it.", "fail go test => " + failed, "edit a.go", "run go test => " + passed}, "none/code test:passed"},
		"failed and ran again":    {[]string{"ask Fix it.", "edit a.go", "fail go test ./... => " + failed, "run go test ./... => " + passed}, "none/code test:passed"},
		"failed, then narrower":   {[]string{"ask Fix it.", "edit a.go", "fail go test ./... => " + failed, "run go test ./a => " + passed}, "code/code test:failed"},
		"built, then failed":      {[]string{"ask Fix it.", "edit a.go", "run go build ./... => ", "fail go test ./... => " + failed}, "none/code build:passed test:failed"},
		"only read back":          {[]string{"ask Fix it.", "edit a.html", "run wc -l a.html => 90", "run rg x a.html => ", "run git diff => x"}, "code/code"},
		"ran the program":         {[]string{"ask Fix it.", "edit a.py", "run python3 a.py => 3"}, "none/code run:passed"},
		"parsed":                  {[]string{"ask Fix it.", "edit a.json", "run python3 -m json.tool a.json => {}"}, "none/code lint:passed"},
		"requested":               {[]string{"ask Fix it.", "edit a.js", "run curl -si localhost:3000 => HTTP/1.1 200 OK"}, "none/code run:passed"},
		"request refused":         {[]string{"ask Fix it.", "edit a.js", "run curl -si localhost:3000 => HTTP/1.1 500 No"}, "code/code run:failed"},
		"ran an installer":        {[]string{"ask Fix it.", "edit install.sh", "run HOME=/tmp/h sh install.sh => x"}, "none/code run:passed"},
		"ran another installer":   {[]string{"ask Fix it.", "edit a.go", "run sh install.sh => x"}, "code/code"},
		"committed":               {[]string{"ask Fix it.", "edit a.go", "run git commit -am x => [main 1234567] x", "run git push => x"}, "code/code commit:passed push:passed"},
		"no such program":         {[]string{"ask Fix it.", "edit a.go", "run pytest => Exit code 127\npytest: not found"}, "code/code"},
		"no tests":                {[]string{"ask Fix it.", "edit a.go", "run go test => ?   \tshop\t[no test files]"}, "code/code"},
		"denied":                  {[]string{"ask Fix it.", "edit a.go", "deny go test ./..."}, "code/code"},
		"edit denied":             {[]string{"ask Fix it.", "deny sed -i s/a/b/ a.go"}, "none/none"},
		"edit failed":             {[]string{"ask Fix it.", "run mv a b => Exit code 1\nmv: not permitted"}, "none/none"},
		"edit before a failure":   {[]string{"ask Fix it.", "fail sed -i s/a/b/ a.go && go test => " + failed}, "code/code test:failed"},
		"in a chain":              {[]string{"ask Fix it.", "edit a.go", "fail go vet && go test => " + failed}, "code/code test:failed"},
		"interrupted":             {[]string{"ask Fix it.", "edit a.go", "run go test => Exit code 137\n"}, "?/code test:?"},
		"hidden, shown":           {[]string{"ask Fix it.", "edit a.go", "run go test ./... | tail -3 => " + passed}, "none/code test:passed"},
		"hidden, shown failing":   {[]string{"ask Fix it.", "edit a.go", "run go test ./... | tail -3 => " + failed}, "code/code test:failed"},
		"hidden":                  {[]string{"ask Fix it.", "edit a.go", "run go test ./... | tail -3 => bye"}, "?/code test:?"},
		"thrown away":             {[]string{"ask Fix it.", "edit a.go", "run npm test || true => bye"}, "?/code test:?"},
		"hidden, then edited":     {[]string{"ask Fix it.", "run go test | tail => bye", "edit a.go"}, "code/code"},
		"no result":               {[]string{"ask Fix it.", "edit a.go", "open go test ./..."}, "?/code test:?"},
		"no result of an edit":    {[]string{"ask Fix it.", "open sed -i s/a/b/ a.go"}, "code/code"},
		"an unknown tool":         {[]string{"ask Fix it.", "edit a.go", "call mcp__x__do {}"}, "?/code"},
		"unknown, then tested":    {[]string{"ask Fix it.", "call mcp__x__do {}", "run go test => " + passed}, "none/? test:passed"},
		"a sub-agent":             {[]string{"ask Fix it.", "call Task {}"}, "?/?"},
		"a sub-agent explores":    {[]string{"ask Fix it.", `call Task {"subagent_type":"Explore"}`}, "none/none"},
		"a reading tool":          {[]string{"ask Fix it.", "call mcp__x__search_code {}", "call TodoWrite {}", "call WebFetch {}"}, "none/none"},
		"a tool elsewhere":        {[]string{"ask Fix it.", "call mcp__linear__create_issue {}"}, "none/?"},
		"looked in a browser":     {[]string{"ask Fix it.", "edit a.html", "call mcp__playwright__browser_navigate {}"}, "none/code run:passed"},
		"a test tool":             {[]string{"ask Fix it.", "edit a.go", "call mcp__ide__run_tests {}"}, "none/code test:passed"},
		"not a script":            {[]string{"ask Fix it.", "run go test './... => x"}, "?/?"},
		"linked and looked":       {[]string{"ask Fix it.", "run ln -sfn ../shared shared => ", "run ls -l shared => x"}, "none/code"},
		"linked":                  {[]string{"ask Fix it.", "run ln -sfn ../shared shared => "}, "code/code"},
		"moved code and looked":   {[]string{"ask Fix it.", "run git mv a.go b.go => ", "run ls => b.go"}, "code/code"},
		"edited, linked, looked":  {[]string{"ask Fix it.", "edit a.go", "run ln -s a b => ", "run ls => b"}, "code/code"},
		"installed":               {[]string{"ask Install it.", "run npm install => added 1"}, "none/?"},
		"another branch":          {[]string{"ask Update.", "run go test => " + passed, "run git pull => Updating 1..2"}, "?/?"},
		"already up to date":      {[]string{"ask Update.", "run git pull => Already up to date."}, "none/none"},
		"what came before":        {[]string{"summary", "ask Fix it.", "say Fixed."}, "none/?"},
		"a compaction":            {[]string{"ask Fix it.", "edit a.go", "summary", "say Fixed."}, "code/code"},
		"a line that is too long": {[]string{"ask Fix it.", "edit a.go", "run go test => " + passed, "long"}, "?/code"},
		// Turns.
		"go on":           {[]string{"ask Fix it.", "edit a.go", "say I edited it.", "ask continue", "say Fixed."}, "code/code"},
		"yes":             {[]string{"ask Fix it.", "edit a.go", "say Shall I test?", "ask yes", "say Fixed."}, "code/code"},
		"another request": {[]string{"ask Fix it.", "edit a.go", "say Fixed.", "ask What is a monad?", "say A monoid."}, "none/code"},
		"tested before":   {[]string{"ask Test it.", "run go test => " + passed, "say Good.", "ask Sure that they pass?", "say Yes."}, "none/none test:passed"},
		"continued":       {[]string{"ask Fix it.", "edit a.go", "say Fixed.", "ask [System Coach] Test it.", "say Tested."}, "code/code"},
	} {
		t.Run(name, func(t *testing.T) {
			src := transcriptOf(t, Claude, play(tt.steps...)...)
			require.Equal(t, tt.want, factsOf(new(State).Look(t.Context(), src).Work))
		})
	}
}

// The files behind an edit are named, the last edited last, those of the project by their names in it.
func TestFiles(t *testing.T) {
	steps := []string{"ask Fix it.", "edit /home/ada/shop/a.go", "run sed -i s/a/b/ web/b.ts => ", "edit a.go", "edit /srv/c.go"}
	work := new(State).Look(t.Context(), transcriptOf(t, Claude, play(steps...)...)).Work
	require.Equal(t, []string{"web/b.ts", "a.go"}, work.Files)
	for i := range 2 * maxFiles {
		steps = append(steps, fmt.Sprintf("edit f%d.go", i))
	}
	work = new(State).Look(t.Context(), transcriptOf(t, Claude, play(steps...)...)).Work
	require.Len(t, work.Files, maxFiles)
	require.Equal(t, "f39.go", work.Files[maxFiles-1])
	steps = append(steps, "run go vet => ")
	require.Empty(t, new(State).Look(t.Context(), transcriptOf(t, Claude, play(steps...)...)).Work.Files)
}

// A status that is printed is as good as one that is the result's. Output of compilers and linters tells without one.
func TestOutcomes(t *testing.T) {
	const passed, failed, unknown = classify.OutcomePassed, classify.OutcomeFailed, classify.OutcomeUnknown
	for _, tt := range []struct {
		script, output string
		want           classify.CheckOutcome
	}{
		{`go test ./... > /tmp/o 2>&1; echo "exit: $?"`, "exit: 0", passed},
		{`go test ./... > /tmp/o 2>&1; echo "exit: $?"`, "exit: 1", failed},
		{`go test ./... > /tmp/o 2>&1; echo "exit: $?"`, "exit: 137", unknown},
		{`go test ./... > /tmp/o 2>&1; echo "exit: $?"`, "exit: no", unknown},
		{`go test ./... > /tmp/o 2>&1; echo "exit: $?"`, "exit: 0\n--- FAIL: TestA", failed},
		{"npm test >o.log 2>&1\necho $?\ntail -3 o.log", "0\nbye", passed},
		{"npm test >o.log 2>&1; echo -n rc=$?, in $PWD", "rc=0, in /home/ada", passed},
		{"npm test >o.log 2>&1; echo -- $? --", "-- 0 --", passed},
		{"npm test >o.log 2>&1; echo $?; true", "1", failed},
		{"npm test | tail; echo EXIT=${PIPESTATUS[0]}", "bye\nEXIT=0", passed},
		{"npm test | tail; echo \"EXIT=${PIPESTATUS[0]}\"", "bye\nEXIT=2", failed},
		{"bash -c 'npm test >o.log; echo rc=$?'", "rc=0", passed},
		{"set -o pipefail; npm test | tail; echo rc=$?", "rc=0", passed},
		{"npm test >o.log && echo OK || echo FAILED", "OK\n", passed},
		{"npm test >o.log && echo OK || echo FAILED", "FAILED\n", failed},
		{"npm test && echo all green || echo broken", "2 tests failed\nall green\nbroken", failed},
		{"npm test >o.log && echo OK || echo FAILED; ls", "OK", passed},
		// What tells another's status, or none.
		{"npm test >o.log && echo OK || echo OK", "OK", unknown},
		{"npm test >o.log && echo $X || echo $Y", "OK", unknown},
		{"npm test >o.log && echo OK || echo FAILED", "OK\nbye", unknown},
		{"npm test >o.log && echo OK || true", "", unknown},
		{"npm test | tail && echo OK || echo FAILED", "OK", unknown},
		{"npm test | tail; echo rc=$?", "rc=0", unknown},
		{"cat a | npm test | tail; echo rc=${PIPESTATUS[0]}", "rc=0", unknown},
		{"npm test >o.log; ls; echo rc=$?", "rc=0", unknown},
		{"npm test >o.log; echo rc=0", "rc=0", unknown},
		{"npm test >o.log; echo $HOME $?", "/home/ada 0", unknown},
		{"npm test >o.log; echo $?", "0\n1", unknown},
		{"npm test & echo $?", "0", unknown},
		{"! npm test >o.log; echo $?", "0", unknown},
		{"if true; then npm test; echo $?; fi", "0", passed},
		{"npm test;", "", passed},
		// Compilers, linters and programs, behind a pipe.
		{"npx tsc --noEmit 2>&1 | head -20", "", passed},
		{"npx tsc --noEmit 2>&1 | head -20", "a.ts(1,2): error TS2304: Cannot find name 'x'.", failed},
		{"npx tsc --noEmit | wc -l", "0", passed},
		{"npx tsc --noEmit | wc -l", "12", failed},
		{"npx tsc | grep -c error || true", "0", failed},
		{"npx tsc --noEmit | grep error; true", "", passed},
		{"npm run build 2>&1 | tail -5", "✓ built in 2.31s", passed},
		{"npm run build 2>&1 | tail -5", "Failed to compile.", failed},
		{"npm run build 2>&1 | tail -5", "bye", unknown},
		{"npm run lint | tail", "✖ 3 problems (2 errors, 1 warning)", failed},
		{"npm run lint | tail", "✖ 1 problem (0 errors, 1 warning)", failed},
		{"go vet ./... | head", "", passed},
		{"cargo check 2>&1 | tail -3", "    Finished `dev` profile [unoptimized] target(s) in 0.1s", passed},
		{"for f in *.js; do node --check $f; done", "", passed},
		{"for f in *.js; do node --check $f; done", "SyntaxError: Unexpected token", failed},
		{"python3 a.py | head", "42", passed},
		{"python3 a.py | head", "Traceback (most recent call last):\n  File", failed},
		{"python3 a.py | head", "", unknown},
		{"git commit -qam x; git log -1", "commit 1", unknown},
		{"git commit -am x; ls", "[main 12345678] x\n 1 file changed", passed},
		{"git commit -am x; ls", "nothing to commit, working tree clean", failed},
	} {
		t.Run(tt.script+" => "+tt.output, func(t *testing.T) {
			r := result{output: tt.output}
			r.status(0)
			list := scriptEffects(project{}, "/home/ada/shop", tt.script)
			for _, e := range list {
				if e.Check != "" {
					got, counts := e.outcome(r)
					require.True(t, counts)
					require.Equal(t, tt.want, got)
					return
				}
			}
			require.Fail(t, "there is no check")
		})
	}
}

// What runs in the background counts as what the agent later saw of it, until the next edit.
func TestBackground(t *testing.T) {
	start := claudeCalls("b", "Bash", `{"command":"go test ./...","run_in_background":true}`) + "\n" +
		`{"type":"user","uuid":"r","message":{"content":[{"type":"tool_result","tool_use_id":"b","content":"running"}]},"toolUseResult":{"backgroundTaskId":"b1"}}`
	notified := func(status string) string {
		return claudeAsks("<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n<summary>Command completed" + status + "</summary>\n</task-notification>")
	}
	polled := claudeCalls("p", "TaskOutput", `{"task_id":"b1"}`) + "\n" +
		claudeReturns("p", "<status>completed</status>\n<exit_code>1</exit_code>\n<output>--- FAIL: TestA</output>", false)
	for name, tt := range map[string]struct {
		lines []string
		want  string
		waits bool
	}{
		"runs":               {[]string{start}, "?/code test:?", true},
		"ended":              {[]string{start, notified(" (exit code 0)")}, "none/code test:passed", false},
		"failed":             {[]string{start, notified(" (exit code 2)")}, "?/code test:failed", false},
		"ended somehow":      {[]string{start, notified("")}, "?/code test:?", false},
		"polled":             {[]string{start, polled}, "?/code test:failed", false},
		"edited meanwhile":   {[]string{start, claudeEdits("f", "b.go"), notified(" (exit code 0)")}, "code/code", false},
		"another task ended": {[]string{start, strings.ReplaceAll(notified(" (exit code 0)"), "b1", "b2")}, "?/code test:?", true},
	} {
		t.Run(name, func(t *testing.T) {
			src := transcriptOf(t, Claude, append([]string{claudeAsks("Fix it."), claudeEdits("e", "a.go")}, tt.lines...)...)
			tr := new(State).Look(t.Context(), src)
			require.Equal(t, tt.want, factsOf(tr.Work))
			require.Equal(t, tt.waits, tr.Waits)
		})
	}
}
