package verify

import (
	"fmt"
	"slices"
	"strings"
)

// objection is why an approval does not stand.
type objection struct {
	reason string // one line: the override
	item   Item   // what to do about it; without an issue another item says it already
}

// Record returns the decision as it is allowed to be, the step record_decision of the contract, and the overrides: why an approval was
// turned into feedback, one line each, none when it was not. It changes neither d nor what was observed.
//
// Approve becomes Feedback when
//
//   - the review was not opened by Begin, the decision names another task, or has an item of High priority,
//   - nothing was observed,
//   - tests are claimed by the report or required (the host lists commands, a requirement names one), and what was seen of
//     them is Unverified,
//   - tests were counted and none passed,
//   - a requirement is missing in the decision, not met, unverified, or met without evidence,
//   - the report has a critical discrepancy,
//   - something fails that is not known to have failed at the baseline,
//   - test files, or what settles how tests run, were changed or removed and the report does not mention it,
//   - facts were taken from another tree than the last that was observed.
//
// Feedback never becomes Approve, and any other verdict is Feedback. Of a requirement that a command of the host shows, the status
// is the lower of the decision's and the run's; of one that the decision has twice, the lower of both. The tests are
// what was observed, the contracts are computed, and each override that no item says adds an item. The items are ordered worst
// first, none is dropped.
func (r *Review) Record(d Decision) (Decision, []string) {
	f := r.seen()
	asked := d
	d.Requirements = r.requirementChecks(f, asked.Requirements)
	d.Tests = r.testsCheck(f, asked.Tests)
	d.Contracts = Contracts{Validated: r.begun, Recorded: true, Independent: r.observed}
	d.Items = slices.Clone(asked.Items)
	if d.TaskID == "" {
		d.TaskID = r.task.ID
	}
	var overrides []string
	switch d.Verdict {
	case Approve:
		for _, o := range r.objections(f, d) {
			overrides = append(overrides, o.reason)
			if o.item.Issue != "" && !slices.Contains(d.Items, o.item) {
				d.Items = append(d.Items, o.item)
			}
		}
		if len(overrides) > 0 {
			d.Verdict = Feedback
		}
	case Feedback:
	default:
		overrides = []string{"the decision is neither approve nor feedback"}
		d.Verdict = Feedback
	}
	d.Items = Ordered(d.Items)
	return d, overrides
}

// objections returns what stands against approving d, whose requirements and tests are already those of the facts.
func (r *Review) objections(f Facts, d Decision) []objection {
	var list []objection
	object := func(it Item, format string, args ...any) {
		reason := fmt.Sprintf(format, args...)
		if it.Severity != "" && it.Issue == "" {
			it.Issue = sentence(reason)
		}
		list = append(list, objection{reason, it})
	}
	if !r.begun {
		object(Item{Severity: High, Suggestion: "Begin the review before deciding."}, "the review was never begun")
	}
	if d.TaskID != r.task.ID {
		object(Item{Severity: High, Suggestion: "Decide about this task."}, "the decision is about another task, %s", code(d.TaskID))
	}
	if slices.ContainsFunc(d.Items, func(it Item) bool { return it.Severity.rank() == 0 }) {
		object(Item{}, "the decision approves beside an item of high priority")
	}
	r.objectToTests(f, object)
	if !r.observed {
		object(Item{Severity: Medium, Suggestion: "Let a witness look at the files, the commits and the tests."}, "nothing was observed")
	}
	for _, c := range d.Requirements {
		r.objectToRequirement(c, object)
	}
	for _, x := range Audit(r.report, f).Discrepancies {
		if x.Severity == Critical {
			object(x.item(), "critical discrepancy %s: %s: %s", x.Kind, x.Claimed, x.Found)
		} else if x.Kind == TestsTampered {
			what, change, _ := strings.Cut(x.Found, " was ")
			if what == foundSettings {
				what = code(x.Subject) + ", which settles how tests run,"
			} else {
				what = "test file " + code(x.Subject)
			}
			object(x.item(), "%s was %s and the report does not mention it", what, change)
		}
	}
	if old := r.stale(); len(old) > 0 {
		object(Item{Severity: Medium, Suggestion: "Look again, and decide about what is there now."},
			"the tree changed after the evidence was taken: %s", list3(old))
	}
	return list
}

func (r *Review) objectToTests(f Facts, object func(Item, string, ...any)) {
	claimed := slices.ContainsFunc(r.report.Tests, func(c TestClaim) bool { return c.Kind == RunTests && c.Result != NotMet })
	named := slices.ContainsFunc(r.requirements, func(q Requirement) bool { return q.Command != "" })
	required := len(r.task.Commands) > 0 || named
	status, why := r.tests(f)
	if (claimed || required) && status != Met && status != NotMet {
		what := "claimed"
		if required {
			what = "required"
		}
		it := Item{Severity: Medium, Suggestion: "Run them and show what they print."}
		if i := slices.IndexFunc(f.TestFiles, func(t TestFileFact) bool { return t.Config }); i >= 0 {
			it.File, it.Suggestion = f.TestFiles[i].Path, "Say what was changed in it and why, for somebody to look at."
		}
		object(it, "tests are %s but unverified: %s", what, why)
	}
	fails := f.newFailures()
	if len(fails) > 0 {
		object(Item{Severity: High, Suggestion: "Make them pass, without taking tests away."}, "new failures: %s", list3(fails))
	}
	counted, passed := false, 0
	for _, t := range f.Tests {
		counted = counted || t.Counted
		passed += t.Passed
	}
	if counted && passed == 0 {
		it := Item{Severity: High, Suggestion: "Make the tests run: none may be skipped or left out."}
		if len(fails) > 0 {
			it = Item{} // they are what there is to do
		}
		object(it, "no test passed: %s", why)
	}
}

func (r *Review) objectToRequirement(c RequirementCheck, object func(Item, string, ...any)) {
	what := code(c.Requirement)
	why := ""
	if c.Issue != "" {
		why = ": " + clean(c.Issue)
	}
	it := Item{Severity: Medium, Suggestion: "Show with a command, its output or the code that it holds."}
	switch {
	case c.Status == NotMet:
		it.Severity, it.Suggestion = High, "Meet it, or say what stands in the way."
		object(it, "requirement %s %s is not met%s", c.ID, what, why)
	case c.Status != Met && c.Issue == unsaid:
		object(it, "requirement %s %s is missing in the decision", c.ID, what)
	case c.Status != Met:
		object(it, "requirement %s %s is unverified%s", c.ID, what, why)
	case strings.TrimSpace(c.Evidence) == "":
		object(it, "requirement %s %s is met without evidence", c.ID, what)
	}
}

// unsaid is the issue of a requirement that a decision leaves out.
const unsaid = "the decision says nothing of it"

// requirementChecks returns a check for each requirement, in their order, and then those that are of none.
func (r *Review) requirementChecks(f Facts, said []RequirementCheck) []RequirementCheck {
	var list []RequirementCheck
	used := make([]bool, len(said))
	for _, q := range r.requirements {
		c := RequirementCheck{ID: q.ID, Requirement: q.Text, Status: Unverified, Issue: unsaid}
		found := false
		for i, s := range said {
			if used[i] || !s.about(q) {
				continue
			}
			used[i] = true
			if !found || And(s.Status, c.Status) != c.Status {
				c.Status, c.Evidence, c.Issue = And(s.Status), s.Evidence, s.Issue
			}
			found = true
		}
		if s, seen, byFact := r.require(f, q); byFact && And(s, c.Status) != c.Status {
			c.Status, c.Issue = s, seen
		}
		list = append(list, c)
	}
	for i, s := range said {
		if !used[i] {
			s.Status = And(s.Status)
			list = append(list, s)
		}
	}
	return list
}

// about reports whether a check is of the requirement q: by its ID or its words.
func (c RequirementCheck) about(q Requirement) bool {
	if c.ID != "" {
		return strings.EqualFold(strings.TrimSpace(c.ID), q.ID)
	}
	said := fold(c.Requirement)
	id := strings.ToLower(q.ID)
	if said == id || said == fold(q.Text) {
		return true
	}
	rest, ok := strings.CutPrefix(said, id)
	return ok && rest != "" && strings.ContainsRune(" :.)", rune(rest[0]))
}

// testsCheck returns what was observed of the tests, beside the tests that a decision misses.
func (r *Review) testsCheck(f Facts, said TestsCheck) TestsCheck {
	c := TestsCheck{Missing: slices.Clone(said.Missing)}
	c.Status, _ = r.tests(f)
	for _, t := range f.Tests {
		if t.Counted {
			c.Total, c.Passed, c.Failed = c.Total+t.Total, c.Passed+t.Passed, c.Failed+t.Failed
		}
		c.Failures = append(c.Failures, t.Failures...)
	}
	return c
}

// list3 is the first three of list, and how many more there are.
func list3(list []string) string {
	s := clean(strings.Join(list[:min(len(list), 3)], ", "))
	if more := len(list) - 3; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}
