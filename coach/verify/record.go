package verify

import (
	"fmt"
	"slices"
	"strings"
)

// objection is why an approval does not stand.
type objection struct {
	reason string // one line: the override
	item   Item   // what to do about it, high if it was seen in the work; without an issue another item says it already
}

// Record returns the decision as the facts allow it: the step record_decision of the contract. It also returns the
// overrides, the reasons why an approval became feedback, one line each. It changes neither d nor what was observed.
//
// Approve becomes Feedback when
//
//   - the review was not opened by Begin, the decision names another task, or it has an item of High priority,
//   - nothing was observed,
//   - tests are claimed by the report or required by the host, and what was seen of them is Unverified,
//   - tests were counted and none passed,
//   - a requirement is missing in the decision, not met, unverified, or met without evidence,
//   - a claim of the report is false,
//   - a test fails, and is not known to have failed at the baseline,
//   - a test is gone, disabled or changed, and the report does not mention it,
//   - files changed after the evidence was taken.
//
// Feedback never becomes Approve, and any other verdict is Feedback. If a command of the host shows a requirement,
// the lower status of the decision and the run counts. The tests are those that were observed, the contracts are
// computed, and each override that no item says adds an item. The items are ordered worst first.
func (r *Review) Record(d Decision) (Decision, []string) {
	f := r.seen()
	d.Requirements = r.requirementChecks(f, d.Requirements)
	d.Tests = r.testsCheck(f, d.Tests)
	d.Contracts = contracts{Validated: r.begun, Recorded: true, Independent: r.observed}
	d.Items = slices.Clone(d.Items)
	if d.TaskID == "" {
		d.TaskID = r.task.ID
	}
	var overrides []string
	if d.Verdict == Approve {
		for _, o := range r.objections(f, d) {
			overrides = append(overrides, o.reason)
			if o.item.Issue != "" && !slices.Contains(d.Items, o.item) {
				d.Items = append(d.Items, o.item)
			}
		}
	}
	if len(overrides) > 0 || d.Verdict != Approve {
		d.Verdict = Feedback
	}
	d.Items = ordered(d.Items)
	return d, overrides
}

// objections returns the objections to approving d, whose requirements and tests are already those of the facts.
func (r *Review) objections(f Facts, d Decision) []objection {
	var all []objection
	object := func(it Item, format string, args ...any) {
		reason := fmt.Sprintf(format, args...)
		if it.Severity != "" && it.Issue == "" {
			it.Issue = Sentence(reason)
		}
		all = append(all, objection{reason, it})
	}
	if !r.begun {
		object(unbegun, "the review was never begun")
	}
	if d.TaskID != r.task.ID {
		object(Item{Severity: medium, Suggestion: "Decide about this task."}, "the decision is about another task, %s",
			code(d.TaskID))
	}
	if slices.ContainsFunc(d.Items, func(it Item) bool { return it.Severity.rank() == 0 }) {
		object(Item{}, "the decision approves beside an item of high priority")
	}
	r.objectToTests(f, object)
	if !r.observed {
		object(Item{Severity: medium, Suggestion: "Let a witness look at the files, the commits and the tests."},
			"nothing was observed")
	}
	for _, c := range d.Requirements {
		c.object(object)
	}
	for _, x := range compare(r.report, f).Discrepancies {
		switch {
		case x.Kind == TestsTampered && (x.Severity == critical || x.Claimed == notMentioned):
			object(x.item(), "%s and the report does not say so", x.Found)
		case x.Severity == critical:
			object(x.item(), "critical discrepancy %s: %s: %s", x.Kind, x.Claimed, x.Found)
		}
	}
	if len(r.moved) > 0 {
		object(Item{Severity: medium, Suggestion: "Look again, and decide about what is there now."},
			"files changed after the evidence was taken: %s", firstThree(r.moved))
	}
	return all
}

var unbegun = Item{Severity: medium, Issue: "The review was never begun.", Suggestion: "Begin the review before deciding."}

type objector func(it Item, format string, args ...any)

func (r *Review) objectToTests(f Facts, object objector) {
	claimed := slices.ContainsFunc(r.report.Claims,
		func(c Claim) bool { return c.Kind == runClaim && c.Run == runTests && c.Result != NotMet })
	required := len(r.task.Commands) > 0 ||
		slices.ContainsFunc(r.requirements, func(q Requirement) bool { return q.Command != "" })
	status, why := r.tests(f)
	if (claimed || required) && status != Met && status != NotMet {
		what := map[bool]string{true: "required", false: "claimed"}[required]
		object(Item{Severity: medium, Suggestion: "Run them and show what they print."}, "tests are %s but unverified: %s",
			what, why)
	}
	seen := f.sum(f.Runs)
	fails := func(names []string, it Item, format string) {
		switch {
		case len(names) == 0:
		case r.report.admits(names):
			object(Item{Severity: medium, Suggestion: "Make them pass, without taking tests away."},
				"tests fail, as the report says: %s", firstThree(names))
		default:
			object(it, format, firstThree(names))
		}
	}
	fails(seen.fresh, Item{Severity: high, Suggestion: "Make them pass, without taking tests away."}, "new failures: %s")
	fails(seen.unknown, Item{Severity: medium, Suggestion: "Make them pass, or show that they failed before."},
		"tests fail, and whether they did before is not known: %s")
	if len(f.Runs) > 0 && seen.Counted && seen.Passed == 0 && len(seen.fresh) == 0 && status != NotMet {
		object(Item{Severity: high, Suggestion: "Make the tests run: none may be skipped or left out."},
			"no test passed: %s", why)
	}
}

// object objects to a requirement that is not shown to be met.
func (c RequirementCheck) object(object objector) {
	what := code(c.Requirement)
	why := ""
	if c.Issue != "" {
		why = ": " + clean(c.Issue)
	}
	it := Item{Severity: medium, Suggestion: "Show with a command, its output or the code that it holds."}
	switch {
	case c.Status == NotMet:
		it.Severity, it.Suggestion = high, "Meet it, or say what stands in the way."
		object(it, "requirement %s %s is not met%s", c.ID, what, why)
	case c.Status != Met && c.Issue == leftOut:
		object(it, "requirement %s %s is missing in the decision", c.ID, what)
	case c.Status != Met:
		object(it, "requirement %s %s is unverified%s", c.ID, what, why)
	case strings.TrimSpace(c.Evidence) == "":
		object(it, "requirement %s %s is met without evidence", c.ID, what)
	}
}

const leftOut = "the decision says nothing about it" // the issue of a requirement

// requirementChecks returns a check for each requirement, in their order. Checks of anything else follow.
func (r *Review) requirementChecks(f Facts, given []RequirementCheck) []RequirementCheck {
	var all []RequirementCheck
	used := make([]bool, len(given))
	for _, q := range r.requirements {
		c := RequirementCheck{ID: q.ID, Requirement: q.Text, Status: Unverified, Issue: leftOut}
		found := false
		for i, s := range given {
			if used[i] || !s.about(q) {
				continue
			}
			used[i] = true
			if !found || And(s.Status, c.Status) != c.Status {
				c.Status, c.Evidence, c.Issue = And(s.Status), s.Evidence, s.Issue
			}
			found = true
		}
		if fact, ok := r.require(f, q); ok && And(fact.Status, c.Status) != c.Status {
			c.Status, c.Issue = fact.Status, fact.Issue
		}
		all = append(all, c)
	}
	for i, s := range given {
		if !used[i] {
			s.Status = And(s.Status)
			all = append(all, s)
		}
	}
	return all
}

// about reports whether a check is about the requirement q: by its ID or its words.
func (c RequirementCheck) about(q Requirement) bool {
	if c.ID != "" {
		return strings.EqualFold(strings.TrimSpace(c.ID), q.ID)
	}
	name, id := fold(c.Requirement), strings.ToLower(q.ID)
	if name == id || name == fold(q.Text) {
		return true
	}
	rest, ok := strings.CutPrefix(name, id)
	return ok && rest != "" && strings.ContainsRune(" :.)", rune(rest[0]))
}

// testsCheck returns what was observed of the tests, with the missing tests of a decision.
func (r *Review) testsCheck(f Facts, given testsCheck) testsCheck {
	c := testsCheck{Missing: slices.Clone(given.Missing)}
	c.Status, _ = r.tests(f)
	seen := f.sum(f.Runs)
	c.Total, c.Passed, c.Failed = seen.Total, seen.Passed, seen.Failed
	for _, run := range f.Runs {
		c.Failures = append(c.Failures, run.Failures...)
	}
	return c
}
