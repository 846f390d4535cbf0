package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// honestForms are more honest reports of the working tree of world, in forms that agents give to lists, counts and commits.
var honestForms = []string{
	"All done!\n\n**What changed**\n\n1. `auth/login.go` — the redirect keeps the query string\n2. `auth/session.go` — new helper\n\n**Verification**\n\n- `go test ./...` → 14 passed, 1 skipped",
	"I created a helper in `auth/session.go` (similar to what `billing/invoice.go` does) and wired it into `auth/login.go`.",
	"Implemented. Modified files:\n\n    auth/login.go\n    auth/session.go\n\nReference: README.md explains the flow.",
	"Removed the dead code from billing/invoice.go's imports in auth/login.go. Deleted auth/legacy.go.",
	"The test suite passes with 15 tests (1 skipped).",
	"Tests: 15 total, 14 passed, 1 skipped",
	"15 tests, 0 failures, 1 skipped.",
	"PASS: all 14 tests. Lint: clean. Build: ok.",
	"Changes:\n- Updated `auth/login.go` to call `session.New` (see `README.md`)\n- Added `auth/session.go`\n\nFiles changed: 3\n",
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
	`{"status":"done","files_changed":[{"path":"auth/login.go","action":"modified"},{"path":"auth/session.go","action":"created"}],"tests":{"command":"go test ./...","passed":14,"skipped":1,"total":15}}`,
	`{"summary":"Updated auth/login.go. I did not touch README.md.","files_changed":["auth/login.go (modified)","auth/session.go (new)"],"tests_passed":true}`,
	`{"files_changed":["auth/login.go - keep the query","auth/session.go: new helper"],"build":"passed"}`,
	`{"files_changed":[],"tests_passed":null,"commit":"none","notes":"Nothing to change."}`,
	`{"files_changed":["3 files"],"commit":"4f1c2ab (auth: keep the query)"}`,
	`{"files_changed":3,"files_created":1,"tests_run":15,"tests_passed":"14/15","tests_skipped":1}`,
	`{"files_created":["auth/session.go"],"files_modified":["auth/login.go","auth/login_test.go"],"files_deleted":["auth/legacy.go","auth/legacy_test.go"],"tests":"14 passed, 1 skipped"}`,
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

func TestHonestReportsOfOtherFormsAreNoLies(t *testing.T) {
	for _, text := range honestForms {
		t.Run(text, func(t *testing.T) {
			r := verify.Begin(verify.Task{ID: "T"}, nil, parse(t, text))
			for _, d := range r.Observe(world(r.Query())).Discrepancies {
				require.True(t, d.Severity == verify.Info || d.Kind == verify.TestsTampered, "%+v", d)
			}
		})
	}
}

// What stands beside a path does not hide it.
func TestEntriesThatSayMoreThanAPath(t *testing.T) {
	r := parse(t, `{"files_changed":["a.go (modified)","b.go - why, and how","c.go: new helper","d.go (+3 -1)","e.go -> f.go","none","3 files","pkg/"]}`)
	require.Equal(t, []verify.FileClaim{{Path: "a.go"}, {Path: "b.go"}, {Path: "c.go"}, {Path: "d.go"},
		{Path: "e.go", Kind: verify.Removed}, {Path: "f.go", Kind: verify.Added}}, r.Files)
}
