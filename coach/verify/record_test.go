package verify_test

import (
	"math/rand/v2"
	"slices"
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
			Text: "Updated login.go. All 3 tests pass.",
			Claims: []verify.Claim{
				{Kind: "file", Path: "login.go", Sure: true},
				{Kind: "run", Run: "tests", Result: verify.Met, Passed: new(3)},
				{Kind: "commit", Name: "abc1234"},
			},
		},
		facts: []verify.Facts{{
			Tree: "tree-1", Base: "base", Compared: verify.Met,
			Changes: []verify.Change{{Path: "login.go", Kind: verify.Modified}},
			Files:   []verify.FileFact{{Path: "login.go", Clean: "login.go", State: verify.Exists, Changed: verify.Met}},
			Commits: []verify.CommitFact{{Rev: "abc1234", Exists: verify.Met, Reachable: verify.Met, New: verify.Met}},
			Runs:    []verify.Run{{Command: goTest, Status: verify.Met, Counted: true, Total: 3, Passed: 3}},
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
	{
		"tests not run",
		"tests are required but unverified: `go test ./...`: it was not run",
		func(s *situation) { s.facts[0].Runs = nil },
		true,
	},
	{"tests timed out", "tests are required but unverified: `go test ./...`: it was still running", func(s *situation) {
		s.facts[0].Runs[0] = verify.Run{Command: goTest, Why: "it was still running after 10m0s, and was killed"}
	}, true},
	{"no test passed", "no test passed", func(s *situation) {
		t := &s.facts[0].Runs[0]
		t.Passed, t.Skipped, t.Status = 0, 3, verify.Unverified
	}, true},
	{"requirement missing", "requirement rlogin `Login redirects` is missing in the decision", func(s *situation) {
		s.decision.Requirements = s.decision.Requirements[1:]
	}, true},
	{"requirement not met", "requirement rlogin `Login redirects` is not met: it answers 500", func(s *situation) {
		s.decision.Requirements[0] = verify.RequirementCheck{
			Requirement: "rlogin",
			Status:      verify.NotMet,
			Issue:       "it answers 500",
		}
	}, true},
	{"requirement unverified", "requirement rlogin `Login redirects` is unverified", func(s *situation) {
		s.decision.Requirements[0].Status = ""
	}, true},
	{"requirement without evidence", "requirement rlogin `Login redirects` is met without evidence", func(s *situation) {
		s.decision.Requirements[0].Evidence = " \n"
	}, true},
	{
		"critical discrepancy",
		"critical discrepancy commit_missing: commit abc1234: there is no such commit",
		func(s *situation) {
			for i := range s.facts {
				s.facts[i].Commits = []verify.CommitFact{{Rev: "abc1234", Exists: verify.NotMet}}
			}
		},
		false,
	},
	{"new failure", "new failures: TestLogout", func(s *situation) {
		for i := range s.facts {
			s.facts[i].BaseRuns = []verify.Run{
				{Command: goTest, Status: verify.Met, Counted: true, Total: 3, Passed: 3, Passes: []string{"TestLogout"}},
			}
			s.facts[i].Runs = []verify.Run{
				{Command: goTest, Status: verify.NotMet, Counted: true, Total: 3, Passed: 2, Failed: 1,
					Failures: []string{"TestLogout"}},
			}
		}
	}, true},
	{"failure that may be old", "tests fail, and whether they did before is not known: TestLogout", func(s *situation) {
		for i := range s.facts {
			s.facts[i].Runs = []verify.Run{
				{
					Command:  goTest,
					Status:   verify.NotMet,
					Counted:  true,
					Total:    3,
					Passed:   2,
					Failed:   1,
					Failures: []string{"TestLogout"},
				},
			}
		}
	}, true},
	{"test removed", "the test TestAuth was removed and the report does not say so", func(s *situation) {
		for i := range s.facts {
			s.facts[i].Tests = append(s.facts[i].Tests,
				verify.TestChange{File: "auth_test.go", Name: "TestAuth", Change: "removed"})
		}
	}, false},
	{"test changed", "the test TestAPI was changed and the report does not say so", func(s *situation) {
		for i := range s.facts {
			s.facts[i].Tests = append(s.facts[i].Tests,
				verify.TestChange{File: "api_test.go", Name: "TestAPI", Change: "edited"})
		}
	}, false},
	{"tree changed", "files changed after the evidence was taken: login.go", func(s *situation) {
		later := verify.Facts{
			Tree:     "tree-2",
			Base:     "base",
			Compared: verify.Met,
			Changes:  []verify.Change{{Path: "login.go", Kind: verify.Modified, Hash: "other"}},
		}
		if len(s.facts) > 0 {
			later.Tests = s.facts[0].Tests
		}
		s.facts = append(s.facts, later)
	}, true},
	{"another task", "the decision is about another task, `T2`", func(s *situation) { s.decision.TaskID = "T2" }, false},
	{"high item", "the decision approves beside an item of high priority", func(s *situation) {
		s.decision.Items = append(s.decision.Items,
			verify.Item{Severity: "high", File: "login.go", Issue: "It leaks the session."})
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
					if len(s.facts) == 0 && (strings.HasPrefix(tt.want, "critical") || strings.HasPrefix(tt.want, "the test")) {
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
			if len(s.facts) == 0 || len(s.facts[0].Runs) == 0 || len(s.decision.Requirements) < 2 {
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
	judged := new(verify.Review).Judge()
	require.Equal(t, verify.Feedback, judged.Verdict)
	require.Equal(t, "The review was never begun.", judged.Items[0].Issue)
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
	s.decision.Items = []verify.Item{
		{Severity: "low", File: "a.go", Issue: "Low one, said first."},
		{Severity: "medium", File: "b.go", Issue: "Medium one."},
	}
	r, before := s.review(), verify.Decision{}
	before = s.decision
	before.Items = append([]verify.Item(nil), s.decision.Items...)
	before.Requirements = append([]verify.RequirementCheck(nil), s.decision.Requirements...)
	first, _ := r.Record(s.decision)
	require.Empty(t, cmp.Diff(before, s.decision))
	second, _ := r.Record(s.decision)
	require.Empty(t, cmp.Diff(first, second))
	require.Equal(t, "medium", string(first.Items[0].Severity), "worst first")
	require.Len(t, first.Items, 2)
}

func TestCommandLowersARequirement(t *testing.T) {
	s := good()
	s.facts[0].Runs[0].Status, s.facts[0].Runs[0].Failed = verify.NotMet, 1
	s.facts[0].BaseRuns = []verify.Run{{Command: goTest, Status: verify.Met, Counted: true, Passed: 3}}
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
	s.report.Claims = nil
	fail := verify.Run{
		Command:  goTest,
		Status:   verify.NotMet,
		Counted:  true,
		Total:    3,
		Passed:   2,
		Failed:   1,
		Failures: []string{"TestOld"},
	}
	s.facts[0].Runs = []verify.Run{fail}
	_, overrides := s.review().Record(s.decision)
	require.True(t, hasPrefix(overrides, "tests fail, and whether they did before is not known: TestOld"), "%q", overrides)

	s.facts[0].BaseRuns = []verify.Run{fail}
	d, overrides := s.review().Record(s.decision)
	require.True(t, hasPrefix(overrides, "requirement rtests"), "nobody showed that it is met")
	require.Equal(t, verify.Unverified, d.Requirements[1].Status)
	s.requirements, s.decision.Requirements = s.requirements[:1], s.decision.Requirements[:1]
	d, overrides = s.review().Record(s.decision)
	require.Empty(t, overrides)
	require.Equal(t, verify.Approve, d.Verdict)
	status, why := s.review().Standing()
	require.Equal(t, verify.Unverified, status)
	require.Contains(t, strings.Join(why, "\n"), "fails as it did before the work: TestOld")

	s.facts[0].Runs[0].Failures = []string{"TestOld", "TestNew"}
	s.facts[0].Runs[0].Failed = 2
	s.facts[0].BaseRuns[0].Passes = []string{"TestNew"}
	_, overrides = s.review().Record(s.decision)
	require.Equal(t, []string{"new failures: TestNew"}, overrides)
}

func TestSuspectFilesLeaveTestsUnverified(t *testing.T) {
	s := good()
	s.facts[0].Suspects = []verify.Suspect{{Path: "main_test.go", Why: "decides which tests run, and was added"}}
	d, overrides := s.review().Record(s.decision)
	require.True(t, hasPrefix(overrides, "tests are required but unverified"), "%q", overrides)
	require.Equal(t, verify.Unverified, d.Tests.Status)

	s.task.Reviewed = []string{"main_test.go"}
	_, overrides = s.review().Record(s.decision)
	require.Empty(t, overrides, "somebody has looked")
}

// A run writes caches and lock files: they do not make its evidence old.
func TestByproductsDoNotCount(t *testing.T) {
	for name, old := range map[string]bool{"Cargo.lock": false, ".pytest_cache/x": false, "coverage/lcov.info": false,
		"a.log": false, "login.go": true, "data.json": true} {
		s := good()
		s.facts = append(s.facts, verify.Facts{Tree: "tree-2", Base: "base", Compared: verify.Met,
			Changes: append(slices.Clone(s.facts[0].Changes), verify.Change{Path: name, Kind: verify.Modified, Hash: "new"})})
		_, overrides := s.review().Record(s.decision)
		require.Equal(t, old, hasPrefix(overrides, "files changed after the evidence was taken: "+name), "%s: %q", name,
			overrides)
	}
}

func TestStanding(t *testing.T) {
	standing := func(s *situation) verify.Status { status, _ := s.review().Standing(); return status }
	s := good()
	require.Equal(t, verify.Unverified, standing(s), "nobody looked at the login")
	s.requirements = s.requirements[1:]
	require.Equal(t, verify.Met, standing(s))
	s.report.Claims = append(s.report.Claims, verify.Claim{Kind: "other", Text: "Opened pull request #3"})
	require.Equal(t, verify.Unverified, standing(s), "a claim that nobody checks")
	s.task.AllowUnchecked = true
	require.Equal(t, verify.Met, standing(s))
	s.facts[0].Runs[0] = verify.Run{Command: goTest, Why: "no toolchain"}
	status, why := s.review().Standing()
	require.Equal(t, verify.Unverified, status)
	require.Contains(t, why[0], "no toolchain")
	s.facts[0].Runs[0] = verify.Run{Command: goTest, Status: verify.NotMet, Why: "it does not build"}
	require.Equal(t, verify.NotMet, standing(s), "the report claims that the tests pass")
	status, why = verify.Begin(s.task, s.requirements, s.report).Standing()
	require.Equal(t, verify.Unverified, status)
	require.NotEmpty(t, why)
}

func TestJudgeSaysEachThingOnce(t *testing.T) {
	s := good()
	s.facts[0].Tests = []verify.TestChange{{File: "api_test.go", Name: "TestAPI", Change: "edited"}}
	d, _ := s.review().Record(s.review().Judge())
	n := 0
	for _, it := range d.Items {
		if it.File == "api_test.go" {
			n++
		}
	}
	require.Equal(t, 1, n)
}

// Code only lowers a decision: whatever was seen, feedback stays feedback, and an approval stands only without an
// override.
func TestCodeOnlyLowers(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	r := rand.New(rand.NewPCG(7, 7))
	approved := 0
	for range 1_500 {
		s := good()
		for _, spoil := range spoils {
			if r.IntN(12) == 0 && len(s.facts) > 0 && len(s.facts[0].Runs) > 0 && len(s.decision.Requirements) > 1 {
				spoil.spoil(s)
			}
		}
		d, overrides := s.review().Record(s.decision)
		require.Equal(t, len(overrides) == 0, d.Verdict == verify.Approve)
		if d.Verdict == verify.Approve {
			approved++
		} else {
			require.NotEmpty(t, d.Items)
		}
		s.decision.Verdict = verify.Feedback
		d, _ = s.review().Record(s.decision)
		require.Equal(t, verify.Feedback, d.Verdict)
		if status, _ := s.review().Standing(); status == verify.Met {
			d, _ := s.review().Record(s.review().Judge())
			require.Equal(t, verify.Approve, d.Verdict)
		}
	}
	require.Greater(t, approved, 200)
}

func hasPrefix(list []string, prefix string) bool {
	for _, s := range list {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}
