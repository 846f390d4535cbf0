package verify_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// situation is a review on its way to a decision. What good returns is approved.
type situation struct {
	task         verify.Task
	requirements []verify.Requirement
	report       verify.Report
	facts        []verify.Facts
	unbegun      bool
	decision     verify.Decision
}

var goTest = []string{"go", "test", "./..."}

func good() *situation {
	return &situation{
		task: verify.Task{ID: "T1", Baseline: "main", Commands: [][]string{goTest}},
		requirements: []verify.Requirement{
			{ID: "rlogin", Text: "Login redirects"},
			{ID: "rtests", Text: "Tests pass: `go test ./...`", Command: "go test ./..."},
		},
		report: verify.Report{
			Text:    "Updated login.go. All 3 tests pass.",
			Files:   []verify.FileClaim{{Path: "login.go"}},
			Tests:   []verify.TestClaim{{Kind: verify.RunTests, Result: verify.Met, Passed: new(3)}},
			Commits: []string{"abc1234"},
		},
		facts: []verify.Facts{{
			Tree: "tree-1", Base: "base", Compared: verify.Met,
			Changes: []verify.Change{{Path: "login.go", Kind: verify.Modified}},
			Files:   []verify.FileFact{{Path: "login.go", Clean: "login.go", State: verify.Exists, Changed: verify.Met, Tracked: verify.Met}},
			Commits: []verify.CommitFact{{Rev: "abc1234", Exists: verify.Met, Reachable: verify.Met}},
			Tests:   []verify.TestFact{{Command: goTest, Status: verify.Met, Counted: true, Total: 3, Passed: 3, Tree: "tree-1"}},
		}},
		decision: verify.Decision{
			Verdict: verify.Approve, TaskID: "T1",
			Requirements: []verify.RequirementCheck{
				{Requirement: "rlogin", Status: verify.Met, Evidence: "login.go:12 redirects"},
				{Requirement: "rtests", Status: verify.Met, Evidence: "3 passed"},
			},
		},
	}
}

func (s *situation) review() *verify.Review {
	r := new(verify.Review)
	if !s.unbegun {
		r = verify.Begin(s.task, s.requirements, s.report)
	}
	for _, f := range s.facts {
		r.Observe(f)
	}
	return r
}

// spoils are all that makes of an approval feedback, each with what its override says.
var spoils = []struct {
	name  string
	want  string
	spoil func(*situation)
	alone bool // it hides the others
}{
	{"nothing observed", "nothing was observed", func(s *situation) { s.facts = nil }, true},
	{"tests not run", "tests are required but unverified: `go test ./...`: it was not run", func(s *situation) { s.facts[0].Tests = nil }, true},
	{"tests timed out", "tests are required but unverified: `go test ./...`: it was still running", func(s *situation) {
		s.facts[0].Tests[0] = verify.TestFact{Command: goTest, Why: "it was still running after 10m0s, and was killed"}
	}, true},
	{"no test passed", "no test passed", func(s *situation) {
		t := &s.facts[0].Tests[0]
		t.Passed, t.Skipped, t.Status = 0, 3, verify.Unverified
	}, true},
	{"requirement missing", "requirement rlogin `Login redirects` is missing in the decision", func(s *situation) {
		s.decision.Requirements = s.decision.Requirements[1:]
	}, true},
	{"requirement not met", "requirement rlogin `Login redirects` is not met: it answers 500", func(s *situation) {
		s.decision.Requirements[0] = verify.RequirementCheck{Requirement: "rlogin", Status: verify.NotMet, Issue: "it answers 500"}
	}, true},
	{"requirement unverified", "requirement rlogin `Login redirects` is unverified", func(s *situation) {
		s.decision.Requirements[0].Status = ""
	}, true},
	{"requirement without evidence", "requirement rlogin `Login redirects` is met without evidence", func(s *situation) {
		s.decision.Requirements[0].Evidence = " \n"
	}, true},
	{"critical discrepancy", "critical discrepancy commit_missing: commit abc1234: there is no such commit", func(s *situation) {
		s.report.Commits = []string{"abc1234"}
		for i := range s.facts {
			s.facts[i].Commits = []verify.CommitFact{{Rev: "abc1234", Exists: verify.NotMet}}
		}
	}, false},
	{"new failure", "new failures: TestLogout", func(s *situation) {
		for i := range s.facts {
			s.facts[i].Tests = []verify.TestFact{{Command: goTest, Status: verify.NotMet, Counted: true, Total: 3, Passed: 2, Failed: 1,
				Failures: []string{"TestLogout"}, Tree: "tree-1"}}
		}
	}, true},
	{"test file removed", "critical discrepancy tests_tampered: nothing is said of it: the test file was removed", func(s *situation) {
		for i := range s.facts {
			s.facts[i].TestFiles = append(s.facts[i].TestFiles, verify.TestFileFact{Path: "auth_test.go", Kind: verify.Removed})
		}
	}, false},
	{"test file changed", "test file `api_test.go` was modified and the report does not mention it", func(s *situation) {
		for i := range s.facts {
			s.facts[i].TestFiles = append(s.facts[i].TestFiles, verify.TestFileFact{Path: "api_test.go", Kind: verify.Modified})
		}
	}, false},
	{"tree changed", "the tree changed after the evidence was taken: comparison, file `login.go`, run `go test ./...`", func(s *situation) {
		s.facts = append(s.facts, verify.Facts{Tree: "tree-2"})
	}, true},
	{"another task", "the decision is about another task, `T2`", func(s *situation) { s.decision.TaskID = "T2" }, false},
	{"high item", "the decision approves beside an item of high priority", func(s *situation) {
		s.decision.Items = append(s.decision.Items, verify.Item{Severity: verify.High, File: "login.go", Issue: "It leaks the session."})
	}, false},
}

func TestApprovalThatFactsCarry(t *testing.T) {
	s := good()
	d, overrides := s.review().Record(s.decision)
	require.Empty(t, overrides)
	require.Equal(t, verify.Approve, d.Verdict)
	require.Equal(t, verify.Contracts{Validated: true, Recorded: true, Independent: true}, d.Contracts)
	require.Equal(t, verify.TestsCheck{Status: verify.Met, Total: 3, Passed: 3}, d.Tests)
}

func TestOverrides(t *testing.T) {
	for _, tt := range spoils {
		t.Run(tt.name, func(t *testing.T) {
			s := good()
			tt.spoil(s)
			d, overrides := s.review().Record(s.decision)
			require.Equal(t, verify.Feedback, d.Verdict)
			require.Condition(t, func() bool { return hasPrefix(overrides, tt.want) }, "overrides: %q", overrides)
			require.NotEmpty(t, d.Items, "feedback without a word of what to do")
			for _, o := range overrides {
				require.NotContains(t, o, "\n")
			}
		})
	}
}

// What is wrong twice is said twice: none of the reasons hides another, and no two together cancel out.
func TestOverridesInPairs(t *testing.T) {
	for i, a := range spoils {
		for j, b := range spoils {
			if i == j || a.alone && b.alone {
				continue
			}
			t.Run(a.name+" and "+b.name, func(t *testing.T) {
				s := good()
				a.spoil(s)
				b.spoil(s)
				d, overrides := s.review().Record(s.decision)
				require.Equal(t, verify.Feedback, d.Verdict)
				for _, tt := range []struct {
					name, want string
				}{{a.name, a.want}, {b.name, b.want}} {
					if len(s.facts) == 0 && (strings.HasPrefix(tt.want, "critical") || strings.HasPrefix(tt.want, "test file")) {
						continue // nobody looked
					}
					require.Condition(t, func() bool { return hasPrefix(overrides, tt.want) }, "%s: overrides: %q", tt.name, overrides)
				}
			})
		}
	}
}

func TestPairsOfAllKindsAreFeedback(t *testing.T) {
	for _, a := range spoils {
		for _, b := range spoils {
			s := good()
			b.spoil(s)
			if len(s.facts) == 0 || len(s.facts[0].Tests) == 0 || len(s.decision.Requirements) < 2 {
				continue // nothing is left to spoil
			}
			a.spoil(s)
			d, overrides := s.review().Record(s.decision)
			require.Equal(t, verify.Feedback, d.Verdict, "%s and %s", a.name, b.name)
			require.NotEmpty(t, overrides)
		}
	}
}

func TestFeedbackIsNeverRaised(t *testing.T) {
	for _, verdict := range []verify.Verdict{verify.Feedback, "", "approved", "APPROVE ", "IMPLEMENTATION_APPROVED"} {
		s := good()
		s.decision.Verdict = verdict
		d, _ := s.review().Record(s.decision)
		require.Equal(t, verify.Feedback, d.Verdict, "%q", verdict)
	}
}

func TestReviewThatWasNeverBegun(t *testing.T) {
	s := good()
	s.unbegun = true
	s.decision.TaskID = ""
	d, overrides := s.review().Record(s.decision)
	require.Equal(t, verify.Feedback, d.Verdict)
	require.True(t, hasPrefix(overrides, "the review was never begun"))
	require.False(t, d.Contracts.Validated)
}

func TestContractsAreComputed(t *testing.T) {
	d, err := verify.ParseDecision([]byte(`{"decision":"approve","task_id":"T1","contracts_honored":
		{"validate_implementation_called":true,"record_decision_called":true,"independent_verification":true}}`))
	require.NoError(t, err)
	require.Zero(t, d.Contracts)
	d, _ = verify.Begin(verify.Task{ID: "T1"}, nil, verify.Report{}).Record(d)
	require.Equal(t, verify.Contracts{Validated: true, Recorded: true}, d.Contracts)
}

func TestRecordChangesNothingItIsGiven(t *testing.T) {
	s := good()
	s.decision.Items = []verify.Item{{Severity: verify.Low, File: "a.go", Issue: "Low one, said first."}, {Severity: verify.Medium, File: "b.go", Issue: "Medium one."}}
	r, before := s.review(), verify.Decision{}
	before = s.decision
	before.Items = append([]verify.Item(nil), s.decision.Items...)
	before.Requirements = append([]verify.RequirementCheck(nil), s.decision.Requirements...)
	first, _ := r.Record(s.decision)
	require.Empty(t, cmp.Diff(before, s.decision))
	second, _ := r.Record(s.decision)
	require.Empty(t, cmp.Diff(first, second))
	require.Equal(t, verify.Medium, first.Items[0].Severity, "worst first")
	require.Len(t, first.Items, 2)
}

func TestCommandLowersARequirement(t *testing.T) {
	s := good()
	s.facts[0].Tests[0].Status, s.facts[0].Tests[0].Failed = verify.NotMet, 1
	d, overrides := s.review().Record(s.decision)
	require.Equal(t, verify.NotMet, d.Requirements[1].Status)
	require.True(t, hasPrefix(overrides, "requirement rtests `Tests pass: 'go test ./...'` is not met"), "%q", overrides)
}

func TestSameRequirementTwiceCountsTheLower(t *testing.T) {
	for _, order := range [][]verify.Status{{verify.Met, verify.NotMet}, {verify.NotMet, verify.Met}} {
		s := good()
		s.decision.Requirements = append(s.decision.Requirements[1:],
			verify.RequirementCheck{Requirement: "Login  redirects", Status: order[0], Evidence: "seen"},
			verify.RequirementCheck{ID: "RLOGIN", Requirement: "x", Status: order[1], Evidence: "seen"})
		d, _ := s.review().Record(s.decision)
		require.Equal(t, verify.NotMet, d.Requirements[0].Status)
		require.Len(t, d.Requirements, 2)
	}
}

func TestFailureThatWasThereBefore(t *testing.T) {
	s := good()
	s.report.Tests = nil
	s.requirements, s.decision.Requirements = s.requirements[:1], s.decision.Requirements[:1]
	fail := verify.TestFact{Command: goTest, Status: verify.NotMet, Counted: true, Total: 3, Passed: 2, Failed: 1, Failures: []string{"TestOld"}, Tree: "tree-1"}
	s.facts[0].Tests = []verify.TestFact{fail}
	_, overrides := s.review().Record(s.decision)
	require.Equal(t, []string{"new failures: TestOld"}, overrides)

	fail.Tree = "base"
	s.facts[0].BaseTests = []verify.TestFact{fail}
	d, overrides := s.review().Record(s.decision)
	require.Empty(t, overrides)
	require.Equal(t, verify.Approve, d.Verdict)

	s.facts[0].Tests[0].Failures = []string{"TestOld", "TestNew"}
	s.facts[0].Tests[0].Failed = 2
	_, overrides = s.review().Record(s.decision)
	require.Equal(t, []string{"new failures: TestNew"}, overrides)
}

func TestChangedTestSettingsLeaveTestsUnverified(t *testing.T) {
	s := good()
	s.report.Text += " Changed main_test.go."
	s.report.Files = append(s.report.Files, verify.FileClaim{Path: "main_test.go"})
	s.facts[0].TestFiles = []verify.TestFileFact{{Path: "main_test.go", Kind: verify.Added, Config: true}}
	d, overrides := s.review().Record(s.decision)
	require.True(t, hasPrefix(overrides, "tests are required but unverified"), "%q", overrides)
	require.Equal(t, verify.Unverified, d.Tests.Status)

	s.task.Reviewed = []string{"main_test.go"}
	_, overrides = s.review().Record(s.decision)
	require.Empty(t, overrides, "somebody has looked")
}

func TestOverrideForTestSettings(t *testing.T) {
	s := good()
	s.facts[0].TestFiles = []verify.TestFileFact{{Path: "go.work", Kind: verify.Modified, Config: true}}
	_, overrides := s.review().Record(s.decision)
	require.Contains(t, overrides, "`go.work`, which settles how tests run, was modified and the report does not mention it")
}

func TestStanding(t *testing.T) {
	s := good()
	require.Equal(t, verify.Unverified, s.review().Standing(), "nobody looked at the login")
	s.requirements = s.requirements[1:]
	require.Equal(t, verify.Met, s.review().Standing())
	s.facts[0].Tests[0] = verify.TestFact{Command: goTest, Why: "no toolchain"}
	require.Equal(t, verify.Unverified, s.review().Standing())
	s.facts[0].Tests[0] = verify.TestFact{Command: goTest, Status: verify.NotMet, Why: "it does not build"}
	require.Equal(t, verify.NotMet, s.review().Standing())
	require.Equal(t, verify.Unverified, verify.Begin(s.task, s.requirements, s.report).Standing(), "nobody looked at all")
}

func TestJudgeSaysEachThingOnce(t *testing.T) {
	s := good()
	s.facts[0].TestFiles = []verify.TestFileFact{{Path: "api_test.go", Kind: verify.Modified}}
	d, _ := s.review().Record(s.review().Judge())
	n := 0
	for _, it := range d.Items {
		if it.File == "api_test.go" {
			n++
		}
	}
	require.Equal(t, 1, n)
}

func hasPrefix(list []string, prefix string) bool {
	for _, s := range list {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}
