package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// reasons restates when an approval becomes feedback, each by the words that its override begins with, from what was put into a situation
// rather than from what a review makes of it. It holds for situations that draw builds.
func reasons(s *situation) []string {
	var f verify.Facts
	seen := false
	for _, x := range s.facts {
		f = f.Merge(x)
		for _, c := range x.Files {
			seen = seen || c.State != ""
		}
		for _, c := range x.Commits {
			seen = seen || c.Exists == verify.Met || c.Exists == verify.NotMet
		}
		for _, c := range x.Tests {
			seen = seen || c.Counted || c.Status == verify.Met || c.Status == verify.NotMet
		}
		seen = seen || x.Compared == verify.Met
	}
	var list []string
	add := func(when bool, reason string) {
		if when && !slices.Contains(list, reason) {
			list = append(list, reason)
		}
	}
	d := s.decision
	add(s.unbegun, "the review was never begun")
	add(d.TaskID != "" && d.TaskID != s.task.ID, "the decision is about another task")
	for _, it := range d.Items {
		add(it.Severity != verify.Medium && it.Severity != verify.Low, "the decision approves beside an item of high priority")
	}
	add(!seen, "nothing was observed")

	settings := false
	for _, t := range f.TestFiles {
		looked := slices.Contains(s.task.Reviewed, t.Path)
		settings = settings || t.Config && !looked
		said := strings.Contains(s.report.Text, t.Path)
		switch {
		case looked || said || t.Kind == verify.Added && !t.Config:
		case t.Kind == verify.Removed:
			add(true, "critical discrepancy tests_tampered")
		case t.Config:
			add(true, fmt.Sprintf("`%s`, which settles how tests run, was %s and the report does not mention it", t.Path, t.Kind))
		default:
			add(true, fmt.Sprintf("test file `%s` was %s and the report does not mention it", t.Path, t.Kind))
		}
	}
	tests, ran := verify.Unverified, verify.TestFact{}
	for _, t := range f.Tests {
		ran, tests = t, t.Status
		switch {
		case t.Failed > 0:
			tests = verify.NotMet
		case t.Status == verify.Met && (settings || t.Counted && t.Passed == 0):
			tests = verify.Unverified
		}
	}
	claimed := slices.ContainsFunc(s.report.Tests, func(c verify.TestClaim) bool { return c.Result == verify.Met })
	required := len(s.task.Commands) > 0 || slices.ContainsFunc(s.requirements, func(q verify.Requirement) bool { return q.Command != "" })
	known := tests == verify.Met || tests == verify.NotMet
	add(required && !known, "tests are required but unverified")
	add(claimed && !required && !known, "tests are claimed but unverified")
	add(tests == verify.NotMet && len(f.BaseTests) == 0, "new failures")
	add(ran.Counted && ran.Passed == 0, "no test passed")
	add(claimed && tests == verify.NotMet, "critical discrepancy test_result")
	add(claimed && tests != verify.NotMet && ran.Counted && ran.Passed == 0, "critical discrepancy test_count")
	for _, q := range s.requirements {
		least, evidence, said := verify.Met, true, false
		for _, c := range d.Requirements {
			if c.ID != q.ID && c.Requirement != q.ID && c.Requirement != q.Text {
				continue
			}
			said = true
			least = verify.And(least, c.Status)
			if c.Status == verify.Met && strings.TrimSpace(c.Evidence) == "" {
				evidence = false
			}
		}
		if !said {
			least = verify.Unverified
		}
		shown := q.Command != "" && len(s.task.Commands) > 0
		lowered := shown && verify.And(least, tests) != least
		if shown {
			least = verify.And(least, tests)
		}
		name := fmt.Sprintf("requirement %s `%s` ", q.ID, strings.ReplaceAll(q.Text, "`", "'"))
		switch {
		case least == verify.NotMet:
			add(true, name+"is not met")
		case !said && !lowered:
			add(true, name+"is missing in the decision")
		case least != verify.Met:
			add(true, name+"is unverified")
		case !evidence:
			add(true, name+"is met without evidence")
		}
	}
	for _, c := range d.Requirements { // what a decision adds counts as well
		if slices.ContainsFunc(s.requirements, func(q verify.Requirement) bool { return c.ID == q.ID || c.Requirement == q.ID }) {
			continue
		}
		name := fmt.Sprintf("requirement %s `%s` ", c.ID, c.Requirement)
		add(c.Status == verify.NotMet, name+"is not met")
		add(c.Status != verify.NotMet && c.Status != verify.Met, name+"is unverified")
		add(c.Status == verify.Met && strings.TrimSpace(c.Evidence) == "", name+"is met without evidence")
	}
	for _, c := range f.Files {
		if s.unbegun {
			break // nothing was claimed
		}
		add(c.State == verify.Missing && f.Compared == verify.Met, "critical discrepancy file_missing")
		add(c.State == verify.Exists && c.Changed == verify.NotMet && f.Base != "", "critical discrepancy file_unchanged")
	}
	for _, c := range f.Commits {
		add(c.Exists == verify.NotMet && !s.unbegun, "critical discrepancy commit_missing")
	}
	old := false
	for _, x := range s.facts {
		old = old || x.Tree != f.Tree && len(x.Files)+len(x.Commits)+len(x.Tests) > 0
	}
	add(old, "the tree changed after the evidence was taken")
	return list
}

// draw spoils a good situation in a few places, at random.
func draw(r *rand.Rand) *situation {
	s := good()
	f := &s.facts[0]
	one := func(n int) bool { return r.IntN(n) == 0 }
	statuses := []verify.Status{verify.Met, verify.NotMet, verify.Unverified, "", "MET", "yes"}
	if one(8) {
		s.decision.TaskID = []string{"", "T2", "t1"}[r.IntN(3)]
	}
	if one(6) {
		s.decision.Items = append(s.decision.Items, verify.Item{Severity: []verify.Priority{verify.High, verify.Medium, verify.Low, "", "blocker"}[r.IntN(5)],
			File: "login.go", Issue: "It leaks the session."})
	}
	if one(5) && len(s.requirements) > 0 {
		s.requirements = s.requirements[:r.IntN(2)]
	}
	if one(5) {
		s.task.Commands = nil
	}
	if one(5) {
		s.report.Tests = nil
	}
	for i := range s.decision.Requirements {
		c := &s.decision.Requirements[i]
		if one(5) {
			c.Status = statuses[r.IntN(len(statuses))]
		}
		if one(10) {
			c.Evidence = " \t"
		}
	}
	if one(8) {
		s.decision.Requirements = s.decision.Requirements[r.IntN(2):1]
	}
	if one(8) {
		s.decision.Requirements = append(s.decision.Requirements, verify.RequirementCheck{ID: "rlogin", Status: statuses[r.IntN(len(statuses))], Evidence: "seen"})
	}
	t := &f.Tests[0]
	switch r.IntN(12) {
	case 0:
		f.Tests = nil
	case 1:
		t.Passed, t.Skipped, t.Status = 0, 3, statuses[r.IntN(3)]
	case 2:
		t.Passed, t.Failed, t.Failures, t.Status = 2, 1, []string{"TestLogout"}, verify.NotMet
		if one(2) {
			f.BaseTests = []verify.TestFact{*t}
		}
	case 3:
		*t = verify.TestFact{Command: goTest, Status: statuses[r.IntN(len(statuses))], Tree: t.Tree}
	}
	if one(6) {
		f.Files[0].State, f.Files[0].Changed = []verify.FileState{verify.Exists, verify.Missing, ""}[r.IntN(3)], statuses[r.IntN(3)]
		if f.Files[0].State == verify.Missing {
			f.Files[0].Changed = verify.NotMet
		}
		if f.Files[0].Changed != verify.Met {
			f.Changes = nil
		}
	}
	if one(8) {
		f.Commits[0].Exists = statuses[r.IntN(3)]
	}
	if one(6) {
		x := verify.TestFileFact{Path: "api_test.go", Kind: []verify.ChangeKind{verify.Added, verify.Modified, verify.Removed}[r.IntN(3)], Config: one(3)}
		f.TestFiles = append(f.TestFiles, x)
		if one(3) {
			s.report.Text += " Also api_test.go."
		}
		if one(4) {
			s.task.Reviewed = []string{"api_test.go"}
		}
	}
	if one(8) {
		f.Compared, f.Base = verify.Unverified, ""
	}
	if one(12) {
		s.facts = append(s.facts, verify.Facts{Tree: "tree-2"})
	}
	if one(20) {
		s.facts = nil
	}
	if one(20) && len(s.facts) > 0 {
		s.facts = []verify.Facts{{Tree: "tree-1", Tests: []verify.TestFact{{Command: goTest, Why: "no toolchain"}}, Files: []verify.FileFact{{Path: "login.go", Why: "no permission"}}}}
	}
	if one(20) {
		s.unbegun = true
		s.task, s.requirements, s.report = verify.Task{}, nil, verify.Report{}
	}
	return s
}

func TestRecordAgainstItsRules(t *testing.T) {
	reached := map[string]int{}
	approved := 0
	for seed := range uint64(8_000) {
		s := draw(rand.New(rand.NewPCG(7, seed)))
		want := reasons(s)
		d, got := s.review().Record(s.decision)
		require.Len(t, got, len(slices.Compact(slices.Sorted(slices.Values(got)))), "seed %d: said twice: %q", seed, got)
		left := slices.Clone(got)
		for _, w := range want {
			i := slices.IndexFunc(left, func(g string) bool { return strings.HasPrefix(g, w) })
			require.GreaterOrEqual(t, i, 0, "seed %d: no override %q among %q", seed, w, got)
			left = slices.Delete(left, i, i+1)
			reached[w]++
		}
		require.Empty(t, left, "seed %d: wanted %q", seed, want)
		require.Equal(t, len(want) == 0, d.Verdict == verify.Approve, "seed %d", seed)
		if d.Verdict == verify.Approve {
			approved++
		} else {
			require.NotEmpty(t, d.Items, "seed %d: feedback without a word of what to do: %q", seed, got)
		}
		s.decision.Verdict = []verify.Verdict{verify.Feedback, "", "Approve", "approved"}[seed%4]
		d, _ = s.review().Record(s.decision)
		require.Equal(t, verify.Feedback, d.Verdict, "seed %d", seed)
	}
	require.Greater(t, approved, 1000)
	for _, reason := range []string{"the review was never begun", "the decision is about another task", "the decision approves beside", "nothing was observed",
		"tests are required but unverified", "tests are claimed but unverified", "new failures", "no test passed", "requirement rlogin `Login redirects` is not met",
		"requirement rlogin `Login redirects` is missing", "requirement rlogin `Login redirects` is unverified", "requirement rlogin `Login redirects` is met without",
		"critical discrepancy test_result", "critical discrepancy tests_tampered", "critical discrepancy file_missing", "critical discrepancy file_unchanged",
		"critical discrepancy commit_missing", "`api_test.go`, which settles", "test file `api_test.go`", "the tree changed"} {
		n := 0
		for w, times := range reached {
			if strings.HasPrefix(w, reason) {
				n += times
			}
		}
		require.NotZero(t, n, "never reached: %s", reason)
	}
}
