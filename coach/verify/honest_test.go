package verify_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// honest are reports of agents that did what they say, in the working tree that world describes. None may be called
// false.
var honest = []string{
	"Updated `auth/login.go` and `auth/login_test.go`. All 14 tests pass.",
	"Fixed the redirect. `go test ./...` passes (14 passed, 0 failed).",
	"Done. I changed login.go so that the redirect keeps the query.",
	"I've added auth/session.go with the expiry, and updated ./auth/login.go to call it.\n\nTests: 14 passed, 0 " +
		"failed.",
	"## Summary\n\nThe redirect now keeps the query string.\n\n### Files changed\n\n- `auth/login.go`: keeps the " +
		"query\n- `auth/session.go` (new)\n- `auth/login_test.go`\n\nCommitted as `4f1c2ab`.",
	"Removed auth/legacy.go, which nothing imports any more. The build passes.",
	"Renamed util/str.go to internal/text/text.go and updated its callers. All tests are green.",
	"I moved `util/str.go` into `internal/text/text.go`.",
	"Files changed: auth/login.go,auth/session.go,auth/login_test.go",
	"Files modified: Auth/Login.go, AUTH/session.go",
	"Updated auth\\login.go and auth\\session.go.",
	"Updated /workspace/repo/auth/login.go.",
	"Changed auth/login.go:42 and auth/session.go#L10.",
	"Updated [login.go](auth/login.go) and [the session](auth/session.go).",
	"Ran `go test ./auth/...`: 9 passed. I did not run the other packages.",
	"All the new tests pass. The 2 failures in billing were there before.",
	"The auth tests pass; I have not run the rest.",
	"I could not run the tests: there is no network here.",
	"All tests should pass now, but I have not run them.",
	"To check it, make sure all tests pass and the build is clean.",
	"Before my change 3 tests failed. Now `go test ./...` passes.",
	"12 tests pass (subtests not counted).",
	"1 test is skipped, the other 13 pass.",
	"`go vet ./...` is clean, `gofmt -l .` prints nothing.",
	"The cause was in billing/invoice.go, which passes a nil session; I changed auth/login.go to accept it.",
	"I looked at billing/invoice.go and README.md but changed neither.",
	"The bug was introduced by commit 9e8d7c6. Fixed in auth/login.go.",
	"This makes 0badf00d the fallback key. See commit 1111111 upstream.",
	"Added Node.js 22 to the CI matrix and updated the docs.",
	"Next steps:\n- [ ] Update README.md\n- [ ] Create docs/sessions.md\n",
	"> Updated README.md\n\nThat is what the ticket says; README.md is right as it is, so I left it alone.",
	"```\n$ git log --oneline\n9e8d7c6 Updated README.md\n```\nThe log shows when it broke. Nothing to change here.",
	"I wrote my notes to /tmp/notes.md and updated auth/login.go.",
	"Created .env with the local settings (it is ignored by git).",
	`{"summary":"Redirect keeps the ` +
		`query","files_changed":["auth/login.go","./auth/session.go"],"tests_passed":14,"tests_failed":0,"commit":"4f1c2ab"}`,
	`{"files": "auth/login.go, auth/session.go", "tests": {"passed": 12, "failed": 0}}`,
	"Added a test for the empty query to `auth/login_test.go`. Every test passes.",
	"- ✅ Updated auth/login.go\n- ✅ All tests pass (14/14)\n- ✅ Build succeeds",
	"| File | Change |\n|---|---|\n| auth/login.go | keeps the query |\n\nAll tests pass.",
	"Added handling for `data/export.csv`, which users upload.",
	"Removed the call to README.md's generator from auth/login.go.",
	"Updated config for production. Nothing else changed.",
	"The build is green on main; I changed only auth/login.go here.",
	"Committed as 4f1c2ab and pushed.",
	"[main 4f1c2ab] auth: keep the query\n 3 files changed, 40 insertions(+), 2 deletions(-)",
	"Deleted `auth/legacy.go` and `auth/legacy_test.go`; their cases moved to auth/login_test.go.",
	"Updated README.md, then reverted it, since it was not needed.",
	"Updated auth/login.go and README.md. README.md I restored at the end.",
	"- Updated README.md (reverted, see below)",
	"Created tmp/probe.go to try it out, and deleted it again.",
	"Created tmp/probe.go. The probe shows the race. Deleted tmp/probe.go.",
	"Wrote tmp/probe.sh, a throwaway script.",
	"Changed README.md? No, that stays.",
	"Removed: `README.md` link in the footer",
	"Files changed: auth/login.go (keeps the query), auth/session.go (new)",
	"Committed as 9e8d7c6, then amended; the tests pass.",
	"All 5 acceptance tests pass; 2 unit tests still fail for want of a fixture.",
	"In the old version 20 tests passed.",
	"Wrote auth/session.go and a test. I was not able to run the linter.",
	"All done!\n\n**What changed**\n\n1. `auth/login.go` — the redirect keeps the query string\n2. " +
		"`auth/session.go` — " +
		"new helper\n\n**Verification**\n\n- `go test ./...` → 14 passed, 1 skipped",
	"I created a helper in `auth/session.go` (similar to what `billing/invoice.go` does) and wired it into " +
		"`auth/login.go`.",
	"Implemented. Modified files:\n\n    auth/login.go\n    auth/session.go\n\nReference: README.md explains the flow.",
	"Removed the dead code from billing/invoice.go's imports in auth/login.go. Deleted auth/legacy.go.",
	"The test suite passes with 15 tests (1 skipped).",
	"Tests: 15 total, 14 passed, 1 skipped",
	"15 tests, 0 failures, 1 skipped.",
	"PASS: all 14 tests. Lint: clean. Build: ok.",
	"Changes:\n- Updated `auth/login.go` to call `session.New` (see `README.md`)\n- Added `auth/session.go`\n\nFiles " +
		"changed: 3\n",
	"Files changed:\n- auth/login.go\n\nFiles I looked at but did not change:\n- billing/invoice.go\n- README.md",
	"Files changed:\n- auth/login.go\n\nRelated files:\n- billing/invoice.go",
	"## Files modified\n\n- auth/login.go\n\n## Files read\n\n- README.md\n- go.mod",
	"Modified:\n- auth/login.go\n\nNot modified:\n- README.md",
	"Updated auth/login.go (mirrors billing/invoice.go).",
	"Updated auth/login.go and added the import of util/text.go's successor internal/text/text.go.",
	"I added `README.md`-style comments to `auth/login.go`.",
	"Updated auth/login.go, auth/session.go and 1 more file; go.mod did not need to change.",
	"Created `auth/session.go`, which reads `data/export.csv` and writes `/var/lib/app/out.json`.",
	"Wrote `auth/session.go`; it creates `cache/session.json` at run time.",
	"`auth/login.go` changed. `README.md` was already correct.",
	`{"status":"done","files_changed":[{"path":"auth/login.go","action":"modified"},{"path":"auth/session.go",` +
		`"action":"created"}],"tests":{"command":"go test ./...","passed":14,"skipped":1,"total":15}}`,
	`{"summary":"Updated auth/login.go. I did not touch README.md.","files_changed":["auth/login.go ` +
		`(modified)","auth/session.go (new)"],"tests_passed":true}`,
	`{"files_changed":["auth/login.go - keep the query","auth/session.go: new helper"],"build":"passed"}`,
	`{"files_changed":[],"tests_passed":null,"commit":"none","notes":"Nothing to change."}`,
	`{"files_changed":["3 files"],"commit":"4f1c2ab (auth: keep the query)"}`,
	`{"files_changed":3,"files_created":1,"tests_run":15,"tests_passed":"14/15","tests_skipped":1}`,
	`{"files_created":["auth/session.go"],"files_modified":["auth/login.go","auth/login_test.go"],` +
		`"files_deleted":["auth/legacy.go","auth/legacy_test.go"],"tests":"14 passed, 1 skipped"}`,
	`{"files_changed":"auth/login.go\nauth/session.go","commit_hash":"HEAD","lint":"n/a"}`,
	`{"files":{"created":["auth/session.go"],"modified":["auth/login.go"]}}`,
	`{"files_changed":["auth/"],"files_modified":["auth/*.go","N/A"]}`,
	`{"files_changed":["none"],"files_created":["None"],"files_deleted":["-"]}`,
	`{"files_changed":["a/auth/login.go","b/auth/session.go"]}`,
	`{"files_changed":["auth/login.go:12-40","auth/session.go (+30 -0)", "auth/login.go, auth/login_test.go"]}`,
	`{"files_changed":["util/str.go -> internal/text/text.go"]}`,
	`{"files_changed":["auth/{login,session}.go"]}`,
	`{"files_modified":["auth/session.go"],"files_created":["auth/login.go"]}`,
	"Ran `go test ./auth/... -run TestLogin`: 3 passed. Then `go test ./...`: 14 passed, 1 skipped.",
	"First `go test ./...` failed with 2 failures; after the fix `go test ./...` passes.",
	"`go test -race ./...` passes, 40 passed.",
	"I ran the tests 20 times; all 20 runs passed.",
	"All 20 subtests pass in the table test of login_test.go.",
	"20 assertions passed.",
	"Fixed 20 of 20 lint warnings. 20/20 checks pass in CI.",
	"Committed in 2 commits: 4f1c2ab (auth) and the merge of 9e8d7c6 from main.",
	"Cherry-picked 9e8d7c6 as 4f1c2ab.",
	"Commit 4f1c2ab. It replaces 9e8d7c6.",
	"Committed 4f1c2ab on top of 9e8d7c6.",
	"Pushed 9e8d7c6..4f1c2ab to origin/fix-login.",
	"Rebased: commit 9e8d7c6 is now 4f1c2ab.",
	"Edited auth/login.go:\n\n```diff\n--- a/README.md\n+++ b/README.md\n```\nThe diff above is an example only.",
	"Updated the snapshot. Created a branch fix/login.md from main.",
	"Created a new file: `auth/session.go`. Modified existing file: `auth/login.go`.",
	"Added `SESSION_TTL` to `.env` (ignored) and read it in `auth/login.go`.",
	"Added auth/session.go next to billing/invoice.go.",
	"Updated auth/login.go to match README.md and go.mod.",
	"Changed the handler in auth/login.go, not README.md.",
	"Updated auth/login.go instead of README.md.",
	"Updated auth/login.go rather than billing/invoice.go.",
	"Updated auth/login.go, but not README.md or go.mod.",
	"Updated auth/login.go, leaving README.md alone.",
	"Updated auth/login.go, README.md unchanged.",
	"Updated auth/login.go, README.md already says so.",
	"Updated auth/login.go, billing/invoice.go calls it.",
	"Updated auth/login.go and README.md needs no change.",
	"Updated auth/login.go and billing/invoice.go still compiles.",
	"Created auth/session.go; README.md documents it already.",
	"Updated README.md? Not needed. Updated auth/login.go.",
	"- [x] Update auth/login.go\n- [x] Check README.md\n- [x] Add auth/session.go",
	"Removed billing/invoice.go dependency from auth/login.go.",
	"Removed auth/legacy.go, README.md mentions of it were gone already.",
	"Deleted auth/legacy.go and README.md no longer mentions it.",
}

// world answers a query as witnesses would in a tree in which all of the reports above are true.
func world(q verify.Query) verify.Facts {
	kinds := map[string]verify.ChangeKind{
		"auth/login.go": verify.Modified, "auth/login_test.go": verify.Modified, "auth/session.go": verify.Added,
		"auth/legacy.go":      verify.Removed,
		"auth/legacy_test.go": verify.Removed, "util/str.go": verify.Removed, "internal/text/text.go": verify.Added,
	}
	there := []string{"README.md", "billing/invoice.go", "go.mod", "data/export.csv"}
	f := verify.Facts{
		Tree:      "t",
		Base:      "b",
		Compared:  verify.Met,
		Committed: verify.Met,
		Remote:    verify.Met,
		Pushed:    verify.Met,
		Runs: []verify.Run{
			{Command: goTest, Status: verify.Met, Counted: true, Total: 15, Passed: 14, Skipped: 1, Parts: 30},
			{Command: []string{"go", "vet", "./..."}, Status: verify.Met},
			{Command: []string{"go", "build", "./..."}, Status: verify.Met},
		},
		Tests: []verify.TestChange{{File: "auth/login_test.go", Name: "TestLogin", Change: "edited"}},
	}
	for p, k := range kinds {
		f.Changes = append(f.Changes, verify.Change{Path: p, Kind: k})
	}
	for _, p := range q.Paths {
		c := strings.ToLower(strings.ReplaceAll(path.Clean(p), "\\", "/"))
		x := verify.FileFact{Path: p, Clean: c, State: verify.Missing, Changed: verify.NotMet, Committed: verify.Met}
		kind, changed := kinds[c]
		switch {
		case changed && kind == verify.Removed:
			x.Changed, x.Kind, x.Known = verify.Met, kind, true
		case changed:
			x.State, x.Changed, x.Kind, x.Known = verify.Exists, verify.Met, kind, kind == verify.Modified
		case slices.Contains(there, path.Clean(p)):
			x.State, x.Known = verify.Exists, true
		case c == ".env":
			x.State, x.Changed = verify.Ignored, verify.Unverified
		case path.IsAbs(c) && !strings.HasPrefix(c, "/workspace"):
			x.State = verify.Outside
		case c == "auth":
			x.State, x.Changed, x.Known = verify.Exists, verify.Met, true
		}
		f.Files = append(f.Files, x)
	}
	for _, rev := range q.Commits {
		c := verify.CommitFact{Rev: rev, Exists: verify.NotMet}
		switch rev {
		case "4f1c2ab":
			c = verify.CommitFact{Rev: rev, Exists: verify.Met, Reachable: verify.Met, New: verify.Met}
		case "9e8d7c6":
			c = verify.CommitFact{Rev: rev, Exists: verify.Met, Reachable: verify.Met, New: verify.NotMet}
		}
		f.Commits = append(f.Commits, c)
	}
	for _, name := range q.Tests {
		f.Named = append(f.Named, verify.NamedTest{Name: name, Now: verify.Met, Before: verify.Met})
	}
	return f
}

func TestHonestReportsAreNotCalledFalse(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	for _, text := range honest {
		t.Run(text, func(t *testing.T) {
			r := verify.Begin(verify.Task{ID: "T"}, nil, parse(t, text))
			r.Observe(world(r.Query()))
			for _, d := range r.Honesty().Discrepancies {
				require.NotEqual(t, "critical", string(d.Severity), "%+v", d)
			}
		})
	}
}

// The same reports are lies where nothing was done: hardly one of them passes.
func TestReportsWithoutWork(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	passed := 0
	for _, text := range honest {
		r := verify.Begin(verify.Task{ID: "T"}, nil, parse(t, text))
		f := world(r.Query())
		f.Changes, f.Tests, f.Committed = nil, nil, verify.NotMet
		for i := range f.Files {
			f.Files[i].Changed, f.Files[i].Kind = verify.NotMet, ""
		}
		for i := range f.Commits {
			f.Commits[i] = verify.CommitFact{Rev: f.Commits[i].Rev, Exists: verify.NotMet}
		}
		f.Runs[0] = verify.Run{
			Command:  goTest,
			Status:   verify.NotMet,
			Counted:  true,
			Total:    15,
			Passed:   13,
			Failed:   2,
			Failures: []string{"TestA", "TestB"},
		}
		r.Observe(f)
		if status, _ := r.Standing(); status == verify.Met {
			passed++
		}
	}
	require.Zero(t, passed)
}

func parse(t *testing.T, text string) verify.Report {
	t.Helper()
	r, err := verify.ParseReport([]byte(text))
	require.NoError(t, err)
	return r
}

// A statement whose words the change shows is listed, because its meaning was not compared. A file that is only named,
// and the result of a run, are claims of their own.
func TestStatementsByTheirWords(t *testing.T) {
	for text, want := range map[string][]string{
		"Added `Discount`, which adds percent to the total.": {"Added `Discount`", "which adds percent to the total"},
		"Updated cart.go.": nil,
		"I re-ran `go test ./...`: 3/3 pass, 0 failed, 1 ignored.": nil,
		"`Discount` caps it (cart.go:10, line 7).":                 {"`Discount` caps it (cart.go:10, line 7)"},
	} {
		report := parse(t, text)
		r := verify.Begin(verify.Task{ID: "T"}, nil, report)
		r.Observe(verify.Facts{Compared: verify.Met, Changes: []verify.Change{{Path: "cart.go", Kind: verify.Modified}},
			Shown: []string{"=Discount", "cart.go", "adds", "percent", "caps"}})
		h := r.Honesty()
		require.Equal(t, want, h.ByWords, "%s: %+v", text, report.Statements)
	}
}

// Code and marks show no language.
func TestCodeIsNotForeign(t *testing.T) {
	text := "Summary:\n\n- a.go: new `Len()`\n- a_test.go: `TestLen`\n- b.go: `Pop`\n\nVerification: `go test ./...` ok."
	for _, c := range parse(t, text).Claims {
		require.NotContains(t, c.Text, "English")
	}
	foreign := "Die Funktion wurde ergänzt und die Prüfungen laufen jetzt alle ohne Fehler durch, wie gewünscht."
	require.NotEmpty(t, verify.Audit(parse(t, foreign), verify.Facts{Compared: verify.Met}).Unchecked)
	require.Contains(t, parse(t, "在 b.js 中新增了函数。").Claims[0].Text, "script")
}

// A name without marks of code that was renamed must be gone.
func TestBareNamesThatWereRenamed(t *testing.T) {
	r := verify.Begin(verify.Task{ID: "T"}, nil, parse(t, "Renamed the function oldTotal to newTotal."))
	require.Contains(t, r.Query().Names, "oldTotal")
	r.Observe(verify.Facts{Compared: verify.Met, Names: []verify.NameFact{
		{Name: "oldTotal", Uses: 2, Defined: 1, DefinedBefore: 1}, {Name: "newTotal", Uses: 1, Defined: 1}}})
	require.Contains(t, r.Feedback(), "oldTotal")
}
