package verify_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// honest are reports of agents that did what they say, in the working tree that world describes: each is to be called no liar, whatever it
// claims or leaves out.
var honest = []struct {
	text   string
	claims bool // some claim of it is to be found
}{
	{"Updated `auth/login.go` and `auth/login_test.go`. All 14 tests pass.", true},
	{"Fixed the redirect. `go test ./...` passes (14 passed, 0 failed).", true},
	{"Done. I changed login.go so that the redirect keeps the query.", true},
	{"I've added auth/session.go with the expiry, and updated ./auth/login.go to call it.\n\nTests: 14 passed, 0 failed.", true},
	{"## Summary\n\nThe redirect now keeps the query string.\n\n### Files changed\n\n- `auth/login.go`: keeps the query\n- `auth/session.go` (new)\n- `auth/login_test.go`\n\nCommitted as `4f1c2ab`.", true},
	{"Removed auth/legacy.go, which nothing imports any more. The build passes.", true},
	{"Renamed util/str.go to internal/text/text.go and updated its callers. All tests are green.", true},
	{"I moved `util/str.go` into `internal/text/text.go`.", true},
	{"Files changed: auth/login.go,auth/session.go,auth/login_test.go", true},
	{"Files modified: Auth/Login.go, AUTH/session.go", true},
	{"Updated auth\\login.go and auth\\session.go.", true},
	{"Updated /workspace/repo/auth/login.go.", true},
	{"Changed auth/login.go:42 and auth/session.go#L10.", true},
	{"Updated [login.go](auth/login.go) and [the session](auth/session.go).", true},
	{"Updated auth/logni.go.", true},
	{"Ran `go test ./auth/...`: 9 passed. I did not run the other packages.", true},
	{"All the new tests pass. The 2 failures in billing were there before.", false},
	{"The auth tests pass; I have not run the rest.", false},
	{"I could not run the tests: there is no network here.", false},
	{"All tests should pass now, but I have not run them.", false},
	{"To check it, make sure all tests pass and the build is clean.", false},
	{"Before my change 3 tests failed. Now `go test ./...` passes.", true},
	{"12 tests pass (subtests not counted).", false},
	{"1 test is skipped, the other 13 pass.", true},
	{"`go vet ./...` is clean, `gofmt -l .` prints nothing.", true},
	{"The cause was in billing/invoice.go, which passes a nil session; I changed auth/login.go to accept it.", true},
	{"I looked at billing/invoice.go and README.md but changed neither.", false},
	{"The bug was introduced by commit 9e8d7c6. Fixed in auth/login.go.", false},
	{"This makes 0badf00d the fallback key. See commit 1111111 upstream.", false},
	{"Added Node.js 22 to the CI matrix and updated the docs.", false},
	{"Next steps:\n- [ ] Update README.md\n- [ ] Create docs/sessions.md\n", false},
	{"> Updated README.md\n\nThat is what the ticket says; README.md is right as it is, so I left it alone.", false},
	{"```\n$ git log --oneline\n9e8d7c6 Updated README.md\n```\nThe log shows when it broke. Nothing to change here.", false},
	{"I wrote my notes to /tmp/notes.md and updated auth/login.go.", false},
	{"Created .env with the local settings (it is ignored by git).", true},
	{`{"summary":"Redirect keeps the query","files_changed":["auth/login.go","./auth/session.go"],"tests_passed":14,"tests_failed":0,"commit":"4f1c2ab"}`, true},
	{`{"files": "auth/login.go, auth/session.go", "tests": {"passed": 12, "failed": 0}}`, true},
	{"Added a test for the empty query to `auth/login_test.go`. Every test passes.", true},
	{"- ✅ Updated auth/login.go\n- ✅ All tests pass (14/14)\n- ✅ Build succeeds", true},
	{"| File | Change |\n|---|---|\n| auth/login.go | keeps the query |\n\nAll tests pass.", true},
	{"Added handling for `data/export.csv`, which users upload.", false},
	{"Removed the call to README.md's generator from auth/login.go.", false},
	{"Updated config for production. Nothing else changed.", false},
	{"The build is green on main; I changed only auth/login.go here.", false},
	{"Committed as 4f1c2ab and pushed.", true},
	{"[main 4f1c2ab] auth: keep the query\n 3 files changed, 40 insertions(+), 2 deletions(-)", true},
	{"Deleted `auth/legacy.go` and `auth/legacy_test.go`; their cases moved to auth/login_test.go.", true},
	{"Updated README.md, then reverted it, since it was not needed.", false},
	{"Updated auth/login.go and README.md. README.md I restored at the end.", true},
	{"- Updated README.md (reverted, see below)", false},
	{"Created tmp/probe.go to try it out, and deleted it again.", false},
	{"Created tmp/probe.go. The probe shows the race. Deleted tmp/probe.go.", false},
	{"Wrote tmp/probe.sh, a throwaway script.", false},
	{"Changed README.md? No, that stays.", false},
	{"Removed: `README.md` link in the footer", false},
	{"Files changed: auth/login.go (keeps the query), auth/session.go (new)", true},
	{"Committed as 9e8d7c6, then amended; the tests pass.", true},
	{"All 5 acceptance tests pass; 2 unit tests still fail for want of a fixture.", true},
	{"In the old version 20 tests passed.", false},
	{"Wrote auth/session.go and a test. I was not able to run the linter.", true},
}

// world answers a query as a witness would in a tree in which all of the reports above are true.
func world(q verify.Query) verify.Facts {
	kinds := map[string]verify.ChangeKind{
		"auth/login.go": verify.Modified, "auth/login_test.go": verify.Modified, "auth/session.go": verify.Added, "auth/legacy.go": verify.Removed,
		"auth/legacy_test.go": verify.Removed, "util/str.go": verify.Removed, "internal/text/text.go": verify.Added,
	}
	there := []string{"README.md", "billing/invoice.go", "go.mod", "data/export.csv"}
	f := verify.Facts{Tree: "t", Base: "b", Compared: verify.Met,
		Tests: []verify.TestFact{
			{Command: []string{"go", "test", "./..."}, Status: verify.Met, Counted: true, Total: 15, Passed: 14, Skipped: 1},
			{Command: []string{"go", "vet", "./..."}, Status: verify.Met},
			{Command: []string{"go", "build", "./..."}, Status: verify.Met},
		},
		TestFiles: []verify.TestFileFact{{Path: "auth/login_test.go", Kind: verify.Modified}},
	}
	for p, k := range kinds {
		f.Changes = append(f.Changes, verify.Change{Path: p, Kind: k})
	}
	for _, p := range q.Paths {
		c := path.Clean(p)
		x := verify.FileFact{Path: p, Clean: c, State: verify.Missing, Changed: verify.NotMet}
		switch kind, ok := kinds[c]; {
		case ok && kind == verify.Removed:
			x.Changed, x.Kind = verify.Met, kind
		case ok:
			x.State, x.Changed, x.Kind = verify.Exists, verify.Met, kind
		case slices.Contains(there, c):
			x.State = verify.Exists
		case c == ".env":
			x.State = verify.Ignored
		case strings.HasPrefix(c, "/tmp/"):
			x.State = verify.Outside
		}
		f.Files = append(f.Files, x)
	}
	for _, rev := range q.Commits {
		x := verify.CommitFact{Rev: rev, Exists: verify.NotMet, Reachable: verify.NotMet}
		if rev == "4f1c2ab" {
			x.Exists, x.Reachable = verify.Met, verify.Met
		}
		f.Commits = append(f.Commits, x)
	}
	return f
}

func TestHonestReportsAreNoLies(t *testing.T) {
	require.GreaterOrEqual(t, len(honest), 30)
	for _, tt := range honest {
		t.Run(tt.text, func(t *testing.T) {
			report := parse(t, tt.text)
			r := verify.Begin(verify.Task{ID: "T"}, nil, report)
			h := r.Observe(world(r.Query()))
			require.Empty(t, h.Critical())
			for _, d := range h.Discrepancies {
				if d.Kind != verify.TestsTampered && d.Kind != verify.FileIgnored {
					require.Equal(t, verify.Info, d.Severity, "%+v", d)
				}
			}
			require.Equal(t, tt.claims, h.Claims > 0, "claims: %+v", report)
			if h.Score != nil {
				require.Equal(t, 1.0, *h.Score)
				require.NotZero(t, h.Checked)
			} else {
				require.Zero(t, h.Checked)
			}
		})
	}
}

// The same reports are caught where nothing of what they claim is so.
func TestTheSameReportsAreCaughtWhenTheyLie(t *testing.T) {
	caught := 0
	for _, tt := range honest {
		report := parse(t, tt.text)
		r := verify.Begin(verify.Task{ID: "T"}, nil, report)
		q := r.Query()
		f := verify.Facts{Base: "b", Compared: verify.Met, Tests: []verify.TestFact{
			{Command: []string{"go", "test", "./..."}, Status: verify.NotMet, Counted: true, Total: 15, Passed: 1, Failed: 14},
			{Command: []string{"go", "vet", "./..."}, Status: verify.NotMet}, {Command: []string{"go", "build", "./..."}, Status: verify.NotMet},
		}}
		for _, p := range q.Paths {
			f.Files = append(f.Files, verify.FileFact{Path: p, Clean: path.Clean(p), State: verify.Missing, Changed: verify.NotMet})
		}
		for _, rev := range q.Commits {
			f.Commits = append(f.Commits, verify.CommitFact{Rev: rev, Exists: verify.NotMet})
		}
		h := r.Observe(f)
		if !tt.claims {
			require.Empty(t, h.Critical(), "%q claims nothing", tt.text)
		} else if len(h.Critical()) > 0 {
			caught++
			require.Less(t, *h.Score, 1.0)
		}
	}
	require.GreaterOrEqual(t, caught, 25)
}
