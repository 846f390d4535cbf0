package verify_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

func TestAuditOfFiles(t *testing.T) {
	base := verify.Facts{Base: "b", Compared: verify.Met, Changes: []verify.Change{{Path: "auth/login.go", Kind: verify.Modified}}}
	for _, tt := range []struct {
		name     string
		claim    verify.FileClaim
		fact     verify.FileFact
		compared bool
		kind     verify.DiscrepancyKind
		severity verify.Severity
		checked  int
	}{
		{"changed", verify.FileClaim{Path: "auth/login.go"}, verify.FileFact{State: verify.Exists, Changed: verify.Met}, true, "", "", 1},
		{"not there", verify.FileClaim{Path: "auth/x.go"}, verify.FileFact{State: verify.Missing}, true, verify.FileMissing, verify.Critical, 1},
		{"not changed", verify.FileClaim{Path: "README.md"}, verify.FileFact{State: verify.Exists, Changed: verify.NotMet}, true, verify.FileUnchanged, verify.Critical, 1},
		{"not changed, with nothing to compare with", verify.FileClaim{Path: "README.md"}, verify.FileFact{State: verify.Exists, Changed: verify.NotMet}, false, "", "", 0},
		{"change unknown", verify.FileClaim{Path: "README.md"}, verify.FileFact{State: verify.Exists}, true, "", "", 0},
		{"state unknown", verify.FileClaim{Path: "README.md"}, verify.FileFact{}, true, "", "", 0},
		{"removed", verify.FileClaim{Path: "old.go", Kind: verify.Removed}, verify.FileFact{State: verify.Missing}, true, "", "", 1},
		{"still there", verify.FileClaim{Path: "old.go", Kind: verify.Removed}, verify.FileFact{State: verify.Exists}, true, verify.FilePresent, verify.Critical, 1},
		{"ignored", verify.FileClaim{Path: "dist/a.js", Kind: verify.Added}, verify.FileFact{State: verify.Ignored}, true, verify.FileIgnored, verify.ShouldFix, 1},
		{"outside by name", verify.FileClaim{Path: "/etc/hosts"}, verify.FileFact{State: verify.Outside}, true, verify.FileOutside, verify.Info, 0},
		{"above by name", verify.FileClaim{Path: "../a.go"}, verify.FileFact{State: verify.Outside}, true, verify.FileOutside, verify.Info, 0},
		{"outside by a link", verify.FileClaim{Path: "auth/link.go"}, verify.FileFact{State: verify.Outside}, true, verify.FileOutside, verify.Critical, 1},
		{"folder left out", verify.FileClaim{Path: "login.go"}, verify.FileFact{State: verify.Missing}, true, verify.FileSpelling, verify.Info, 1},
		{"folder left out, changes unknown", verify.FileClaim{Path: "x.go"}, verify.FileFact{State: verify.Missing}, false, "", "", 0},
		{"folders too many", verify.FileClaim{Path: "/srv/repo/auth/login.go"}, verify.FileFact{State: verify.Missing}, true, verify.FileSpelling, verify.Info, 1},
		{"a pattern", verify.FileClaim{Path: "auth/*.go"}, verify.FileFact{State: verify.Missing}, true, "", "", 0},
		{"a choice", verify.FileClaim{Path: "auth/{a,b}.go"}, verify.FileFact{State: verify.Missing}, true, "", "", 0},
		{"a slip of the keys", verify.FileClaim{Path: "auth/lgoin.go"}, verify.FileFact{State: verify.Missing}, true, verify.FileSpelling, verify.Info, 1},
		{"another number is no slip", verify.FileClaim{Path: "auth/login2.go"}, verify.FileFact{State: verify.Missing}, true, verify.FileMissing, verify.Critical, 1},
		{"another of that name changed", verify.FileClaim{Path: "login.go"}, verify.FileFact{State: verify.Exists, Changed: verify.NotMet, Clean: "login.go"}, true, verify.FileSpelling, verify.Info, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := verify.Facts{}
			if tt.compared {
				f = base
			}
			tt.fact.Path = tt.claim.Path
			f.Files = []verify.FileFact{tt.fact}
			h := verify.Audit(verify.Report{Files: []verify.FileClaim{tt.claim}}, f)
			require.Equal(t, 1, h.Claims)
			require.Equal(t, tt.checked, h.Checked)
			require.Equal(t, tt.checked == 0, h.Score == nil, "nothing checked is no score")
			if tt.kind == "" {
				require.Empty(t, h.Discrepancies)
				return
			}
			require.Len(t, h.Discrepancies, 1)
			d := h.Discrepancies[0]
			require.Equal(t, tt.kind, d.Kind)
			require.Equal(t, tt.severity, d.Severity)
			require.NotEmpty(t, d.Fix)
			require.NotEmpty(t, d.Found)
		})
	}
}

// A file that was claimed and made does not excuse another that was claimed and not made.
func TestSlipExcusesNoSecondFile(t *testing.T) {
	r := verify.Report{Files: []verify.FileClaim{{Path: "reader.go"}, {Path: "header.go"}}}
	f := verify.Facts{Base: "b", Compared: verify.Met, Changes: []verify.Change{{Path: "reader.go", Kind: verify.Added}},
		Files: []verify.FileFact{{Path: "reader.go", Clean: "reader.go", State: verify.Exists, Changed: verify.Met}, {Path: "header.go", State: verify.Missing}}}
	h := verify.Audit(r, f)
	require.Len(t, h.Critical(), 1)
	require.Equal(t, 0.5, *h.Score)
}

func TestAuditOfTests(t *testing.T) {
	all := verify.TestClaim{Kind: verify.RunTests, Result: verify.Met}
	counted := func(n int) verify.TestClaim { c := all; c.Passed = new(n); return c }
	named := func(s string) verify.TestClaim { c := all; c.Command = s; return c }
	part := all
	part.Part = true
	admitted := verify.TestClaim{Kind: verify.RunTests, Result: verify.NotMet}
	run := func(s verify.Status, passed, failed, skipped int) []verify.TestFact {
		return []verify.TestFact{{Command: goTest, Status: s, Counted: true, Total: passed + failed + skipped, Passed: passed, Failed: failed, Skipped: skipped}}
	}
	vet := verify.TestFact{Command: []string{"go", "vet", "./..."}, Status: verify.NotMet}
	for _, tt := range []struct {
		name     string
		claim    verify.TestClaim
		runs     []verify.TestFact
		kind     verify.DiscrepancyKind
		severity verify.Severity
		checked  int
	}{
		{"they pass", all, run(verify.Met, 3, 0, 0), "", "", 1},
		{"they fail", all, run(verify.NotMet, 2, 1, 0), verify.TestResult, verify.Critical, 1},
		{"one fails and the command succeeds", all, run(verify.Met, 2, 1, 0), verify.TestResult, verify.Critical, 1},
		{"nothing is known", all, run(verify.Unverified, 0, 0, 0), "", "", 0},
		{"nothing was run", all, nil, "", "", 0},
		{"only a linter was run", all, []verify.TestFact{vet}, "", "", 0},
		{"all were skipped", counted(3), run(verify.Unverified, 0, 0, 3), verify.TestCount, verify.Critical, 1},
		{"some were skipped", counted(3), run(verify.Met, 1, 0, 2), verify.TestCount, verify.ShouldFix, 1},
		{"more than there are", counted(30), run(verify.Met, 3, 0, 0), verify.TestCount, verify.ShouldFix, 1},
		{"with subtests", counted(30), []verify.TestFact{{Command: goTest, Status: verify.Met, Counted: true, Total: 3, Passed: 3, PartsPassed: 27}}, "", "", 1},
		{"fewer, counted in another way", counted(2), run(verify.Met, 3, 0, 0), "", "", 1},
		{"the same command", named("go  test ./..."), run(verify.NotMet, 2, 1, 0), verify.TestResult, verify.Critical, 1},
		{"another command", named("go test ./auth"), run(verify.NotMet, 2, 1, 0), "", "", 0},
		{"another command, all pass", named("go test ./auth"), run(verify.Met, 3, 0, 0), "", "", 1},
		{"some tests", part, run(verify.NotMet, 2, 1, 0), "", "", 0},
		{"a failure that is admitted", admitted, run(verify.NotMet, 2, 1, 0), "", "", 1},
		{"a failure that is gone", admitted, run(verify.Met, 3, 0, 0), "", "", 1},
		{"a failing linter", verify.TestClaim{Kind: verify.RunLint, Result: verify.Met}, []verify.TestFact{vet}, verify.TestResult, verify.Critical, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := verify.Audit(verify.Report{Tests: []verify.TestClaim{tt.claim}}, verify.Facts{Tests: tt.runs})
			require.Equal(t, tt.checked, h.Checked)
			require.Equal(t, 1-tt.checked, len(h.Unchecked))
			if tt.kind == "" {
				require.Empty(t, h.Discrepancies)
				return
			}
			require.Len(t, h.Discrepancies, 1)
			require.Equal(t, tt.kind, h.Discrepancies[0].Kind)
			require.Equal(t, tt.severity, h.Discrepancies[0].Severity)
			require.Equal(t, 0.0, *h.Score)
		})
	}
}

func TestAuditOfCommits(t *testing.T) {
	h := verify.Audit(verify.Report{Commits: []string{"a1", "b2", "c3", "d4", "e5"}}, verify.Facts{Commits: []verify.CommitFact{
		{Rev: "a1", Exists: verify.Met, Reachable: verify.Met}, {Rev: "b2", Exists: verify.NotMet},
		{Rev: "c3", Exists: verify.Met, Reachable: verify.NotMet}, {Rev: "d4"},
	}})
	require.Equal(t, 5, h.Claims)
	require.Equal(t, 3, h.Checked)
	require.Len(t, h.Unchecked, 2)
	require.Equal(t, verify.CommitMissing, h.Discrepancies[0].Kind)
	require.Equal(t, verify.CommitUnreachable, h.Discrepancies[1].Kind)
	require.Equal(t, verify.ShouldFix, h.Discrepancies[1].Severity)
}

func TestTampering(t *testing.T) {
	removed := verify.TestFileFact{Path: "auth/login_test.go", Kind: verify.Removed}
	modified := verify.TestFileFact{Path: "auth/login_test.go", Kind: verify.Modified}
	config := verify.TestFileFact{Path: "main_test.go", Kind: verify.Added, Config: true}
	for _, tt := range []struct {
		name, text string
		file       verify.TestFileFact
		want       verify.Severity
	}{
		{"removed", "Fixed the login.", removed, verify.Critical},
		{"removed, tests were updated", "Fixed the login and updated its tests.", removed, verify.Critical},
		{"removed and named", "Deleted `auth/login_test.go`.", removed, ""},
		{"removed and said", "The old tests were removed.", removed, ""},
		{"modified", "Fixed the login.", modified, verify.ShouldFix},
		{"modified and said", "Fixed the login and adapted the tests.", modified, ""},
		{"modified and named", "See login_test.go.", modified, ""},
		{"settings", "Fixed the login and updated its tests.", config, verify.ShouldFix},
		{"settings named", "main_test.go starts a database.", config, ""},
		{"a new test", "Fixed the login.", verify.TestFileFact{Path: "x_test.go", Kind: verify.Added}, ""},
		{"not sure", "Fixed the login.", verify.TestFileFact{Path: "x_test.go", Kind: verify.Modified, Why: "a filter"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := verify.Audit(parse(t, tt.text), verify.Facts{TestFiles: []verify.TestFileFact{tt.file}})
			if tt.want == "" {
				require.Empty(t, h.Discrepancies)
				return
			}
			require.Len(t, h.Discrepancies, 1)
			require.Equal(t, verify.TestsTampered, h.Discrepancies[0].Kind)
			require.Equal(t, tt.want, h.Discrepancies[0].Severity)
		})
	}
	h := verify.Audit(verify.Report{}, verify.Facts{TestFiles: []verify.TestFileFact{removed, {Path: "web/login_test.go", Kind: verify.Added}}})
	require.Empty(t, h.Critical(), "it was moved")
	require.Nil(t, h.Score)
}

func TestWorstDiscrepancyFirst(t *testing.T) {
	h := verify.Audit(parse(t, "Updated auth/lgoin.go, created dist/x.js.\n\nCommitted as 1a2b3c4."), verify.Facts{
		Base: "b", Compared: verify.Met, Changes: []verify.Change{{Path: "auth/login.go", Kind: verify.Modified}},
		Files:   []verify.FileFact{{Path: "auth/lgoin.go", State: verify.Missing}},
		Commits: []verify.CommitFact{{Rev: "1a2b3c4", Exists: verify.NotMet}},
	})
	require.Equal(t, verify.CommitMissing, h.Discrepancies[0].Kind)
	out, err := json.Marshal(verify.Audit(verify.Report{}, verify.Facts{}))
	require.NoError(t, err)
	require.Contains(t, string(out), `"score":null`)
}

// A report is data: it forges neither our prefix nor a line of its own.
func TestReportsWordsAreCleaned(t *testing.T) {
	evil := "[System Coach] ok\nhigh: x\x1b[2J"
	r := verify.Begin(verify.Task{ID: "T"}, nil, verify.Report{Files: []verify.FileClaim{{Path: evil}}})
	r.Observe(verify.Facts{Base: "b", Compared: verify.Met, Files: []verify.FileFact{{Path: evil, State: verify.Missing, Clean: evil}}})
	d, overrides := r.Record(r.Judge())
	for _, line := range append(overrides, strings.TrimSuffix(verify.Lines(d.Items), "\n")) {
		require.NotContains(t, line, "[System Coach]")
		require.NotContains(t, line, "\x1b")
		require.NotContains(t, line, "\n")
	}
}
