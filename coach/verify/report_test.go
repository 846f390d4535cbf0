package verify_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

func parse(t *testing.T, text string) verify.Report {
	t.Helper()
	r, err := verify.ParseReport([]byte(text))
	require.NoError(t, err)
	return r
}

func TestClaimedFiles(t *testing.T) {
	file := func(p string, k verify.ChangeKind) verify.FileClaim { return verify.FileClaim{Path: p, Kind: k} }
	for _, tt := range []struct {
		name, text string
		want       []verify.FileClaim
	}{
		{"a list with commas", "Updated `a.go`, b_test.go and ./cmd/x/c.go.", []verify.FileClaim{file("a.go", ""), file("b_test.go", ""), file("./cmd/x/c.go", "")}},
		{"no blank after the comma", "Files changed: a.go,b.go,c.go", []verify.FileClaim{file("a.go", ""), file("b.go", ""), file("c.go", "")}},
		{"a list of bullets", "## Files changed\n\n- `src/a.ts` – new field\n- src/b.ts (new)\n* **`src/c.ts`** (deleted)\n1. [d.ts](src/d.ts): less\n\nThat is all.",
			[]verify.FileClaim{file("src/a.ts", ""), file("src/b.ts", verify.Added), file("src/c.ts", verify.Removed), file("src/d.ts", "")}},
		{"headings by kind", "Created:\n- a.go\n\nDeleted files:\n- b.go\n", []verify.FileClaim{file("a.go", verify.Added), file("b.go", verify.Removed)}},
		{"line numbers", "Changed internal/auth.go:42 and `web/x.js#L10-L12`.", []verify.FileClaim{file("internal/auth.go", ""), file("web/x.js", "")}},
		{"a first person", "I've added `db/001_init.sql`. I also removed old.py.", []verify.FileClaim{file("db/001_init.sql", verify.Added), file("old.py", verify.Removed)}},
		{"a move", "Renamed a.go to b/a.go.", []verify.FileClaim{file("a.go", verify.Removed), file("b/a.go", verify.Added)}},
		{"two verbs", "Created a.go and updated b.go", []verify.FileClaim{file("a.go", verify.Added), file("b.go", "")}},
		{"two verbs and a comma", "Updated `a.go` and b.go, created c.go, then deleted d.go.", []verify.FileClaim{file("a.go", ""), file("b.go", ""), file("c.go", verify.Added), file("d.go", verify.Removed)}},
		{"backslashes", `Updated src\auth\login.cs`, []verify.FileClaim{file(`src\auth\login.cs`, "")}},
		{"a name with a blank", "Updated `docs/user guide.md`.", []verify.FileClaim{file("docs/user guide.md", "")}},

		{"nothing about changes", "The bug is in auth.go, called from main.go.", nil},
		{"done in a file", "Fixed the redirect in auth.go.", nil},
		{"to be done", "I will update auth.go. Next: create b.go", nil},
		{"negated", "I have not changed auth.go. I didn't touch b.go.", nil},
		{"no files", "Added Node.js support and updated `auth.Login` and net/http handling.", nil},
		{"taken off a list", "Removed old.js from the bundle.", nil},
		{"put on a list", "Added a.go to the list.", nil},
		{"an endpoint", "Added `/api/data.json` endpoint.", nil},
		{"a plan", "- [ ] Updated auth.go\n> Created b.go", nil},
		{"a fence", "```\nCreated a.go\n```", nil},
		{"left alone", "Files changed:\n- a.go (unchanged)\n", nil},
		{"somebody else", "The upstream commit changed auth.go.", nil},
		{"files that were read", "Files reviewed:\n- a.go\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Empty(t, cmp.Diff(tt.want, parse(t, tt.text).Files))
		})
	}
}

func TestClaimedTests(t *testing.T) {
	claim := func(res verify.Status, edit ...func(*verify.TestClaim)) []verify.TestClaim {
		c := verify.TestClaim{Kind: verify.RunTests, Result: res}
		for _, e := range edit {
			e(&c)
		}
		return []verify.TestClaim{c}
	}
	passed := func(n int) func(*verify.TestClaim) { return func(c *verify.TestClaim) { c.Passed = new(n) } }
	failed := func(n int) func(*verify.TestClaim) { return func(c *verify.TestClaim) { c.Failed = new(n) } }
	skipped := func(n int) func(*verify.TestClaim) { return func(c *verify.TestClaim) { c.Skipped = new(n) } }
	total := func(n int) func(*verify.TestClaim) { return func(c *verify.TestClaim) { c.Total = new(n) } }
	command := func(s string) func(*verify.TestClaim) { return func(c *verify.TestClaim) { c.Command = s } }
	kind := func(k verify.RunKind) func(*verify.TestClaim) { return func(c *verify.TestClaim) { c.Kind = k } }
	part := func(c *verify.TestClaim) { c.Part = true }
	for _, tt := range []struct {
		text string
		want []verify.TestClaim
	}{
		{"All tests pass.", claim(verify.Met)},
		{"All 42 tests are now passing!", claim(verify.Met, passed(42))},
		{"The full test suite passes.", claim(verify.Met)},
		{"Tests: 12 passed, 0 failed", claim(verify.Met, passed(12), failed(0))},
		{"12 passed, 1 failed, 2 skipped", claim(verify.NotMet, passed(12), failed(1), skipped(2))},
		{"18/18 tests pass", claim(verify.Met, passed(18), total(18))},
		{"17 of 18 tests passed", nil},
		{"`go test ./...` passes", claim(verify.Met, command("go test ./..."))},
		{"Ran `npm test`: 31 passed, 0 failed", claim(verify.Met, command("npm test"), passed(31), failed(0))},
		{"`go vet ./...` is clean", claim(verify.Met, command("go vet ./..."), kind(verify.RunLint))},
		{"`go build ./...` exits 0.", claim(verify.Met, command("go build ./..."), kind(verify.RunBuild))},
		{"`cargo test` failed", claim(verify.NotMet, command("cargo test"))},
		{"The build passes.", claim(verify.Met, kind(verify.RunBuild))},
		{"All the new tests pass.", nil},
		{"All 3 tests pass in the auth package.", claim(verify.Met, passed(3), part)},
		{"All tests pass except TestOld.", claim(verify.Met, part)},
		{"Tests should pass now.", nil},
		{"Make sure all tests pass.", nil},
		{"Not all tests pass.", nil},
		{"If the tests pass, merge it.", nil},
		{"Before the change 3 tests failed.", nil},
		{"All tests pass on CI.", nil},
		{"I could not run the tests.", nil},
		{"2 packages failed to build", nil},
		{"It passed review.", nil},
	} {
		t.Run(tt.text, func(t *testing.T) {
			require.Empty(t, cmp.Diff(tt.want, parse(t, tt.text).Tests))
		})
	}
}

func TestClaimedCommits(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"Committed as `1a2b3c4`.", []string{"1a2b3c4"}},
		{"Commit: 1a2b3c4d", []string{"1a2b3c4d"}},
		{"[main 1a2b3c4] fix the login", []string{"1a2b3c4"}},
		{"I committed the work in 1a2b3c4 and pushed it.", []string{"1a2b3c4"}},
		{"This reverts commit 1a2b3c4.", nil},
		{"The bug was introduced by commit 1a2b3c4.", nil},
		{"It works since commit 1a2b3c4.", nil},
		{"Committed 1234567 rows.", nil},
		{"commit deadbee", nil},
		{"See https://example.org/commit/1a2b3c4d", nil},
		{"The cache key is 1a2b3c4.", nil},
	} {
		t.Run(tt.text, func(t *testing.T) { require.Equal(t, tt.want, parse(t, tt.text).Commits) })
	}
}

func TestReportInJSON(t *testing.T) {
	r := parse(t, "```json\n"+`{
		"summary": "Fixed the login. Committed as 1a2b3c4.",
		"files_changed": "a.go, b.go,c.go", "filesCreated": ["d.go"], "deleted_files": ["e.go"],
		"files": [{"path": "f.go", "action": "created"}, {"file": "data,v2.csv"}],
		"commits": [{"hash": "abcdef1", "message": "x"}],
		"tests": {"command": "go test ./...", "passed": "12", "failed": 0, "skipped": null, "total": 12},
		"build_passed": true, "unknown": {"x": 1}}`+"\n```")
	require.Empty(t, cmp.Diff([]verify.FileClaim{
		{Path: "e.go", Kind: verify.Removed}, {Path: "f.go", Kind: verify.Added}, {Path: "data,v2.csv"},
		{Path: "d.go", Kind: verify.Added}, {Path: "a.go"}, {Path: "b.go"}, {Path: "c.go"},
	}, r.Files, cmp.Transformer("sorted", func(l []verify.FileClaim) map[string]verify.ChangeKind {
		m := map[string]verify.ChangeKind{}
		for _, c := range l {
			m[c.Path] = c.Kind
		}
		return m
	})))
	require.ElementsMatch(t, []string{"abcdef1", "1a2b3c4"}, r.Commits)
	require.Empty(t, cmp.Diff([]verify.TestClaim{
		{Kind: verify.RunBuild, Result: verify.Met},
		{Kind: verify.RunTests, Command: "go test ./...", Result: verify.Met, Total: new(12), Passed: new(12), Failed: new(0)},
	}, r.Tests))

	r = parse(t, `{"tests_passed": true}`)
	require.Equal(t, []verify.TestClaim{{Kind: verify.RunTests, Result: verify.Met}}, r.Tests)
	r = parse(t, `{"tests": "9 passed, 2 failed"}`)
	require.Equal(t, []verify.TestClaim{{Kind: verify.RunTests, Result: verify.NotMet, Passed: new(9), Failed: new(2)}}, r.Tests)
	require.Empty(t, parse(t, `{"tests": ["TestA"], "tests_failed": []}`).Tests[0].Result)
}

func TestReportsThatCannotBeRead(t *testing.T) {
	for _, tt := range []struct {
		text string
		want error
	}{
		{`{"files": ["a.go"`, verify.ErrNotAReport},
		{`{"files": [a.go]}`, verify.ErrNotAReport},
		{"\xff", verify.ErrNotUTF8},
		{strings.Repeat("a", verify.MaxSize+1), verify.ErrTooLarge},
	} {
		r, err := verify.ParseReport([]byte(tt.text))
		require.ErrorIs(t, err, tt.want)
		require.Zero(t, r)
	}
	require.Empty(t, parse(t, "").Files)
}

// Whatever a report says, its claims are in it.
func FuzzParseReport(f *testing.F) {
	f.Add("Updated a.go, b.go. All 3 tests pass. Committed as 1a2b3c4.")
	f.Add("## Files changed\n- `a b.go` (new)\n- c.go → d.go\n")
	f.Add(`{"files":"a.go,b.go","tests_passed":3,"commit":"1a2b3c4"}`)
	f.Fuzz(func(t *testing.T, s string) {
		r, err := verify.ParseReport([]byte(s))
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(r.Files), 500)
		if strings.Contains(s, "{") {
			return // JSON escapes
		}
		for _, c := range r.Files {
			require.Contains(t, s, c.Path)
		}
		for _, c := range r.Commits {
			require.Contains(t, s, c)
		}
		for _, c := range r.Tests {
			require.Contains(t, s, c.Command)
		}
		crlf, err := verify.ParseReport([]byte(strings.ReplaceAll(strings.ReplaceAll(s, "\r", ""), "\n", "\r\n")))
		require.NoError(t, err)
		lf, err := verify.ParseReport([]byte(strings.ReplaceAll(s, "\r", "")))
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(lf.Files, crlf.Files))
		require.Empty(t, cmp.Diff(lf.Tests, crlf.Tests))
	})
}
