package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Review is the review of one report: [Begin] opens it, Observe takes facts, Record takes a decision. It is not safe for
// concurrent use. The zero value was never begun, and approves nothing.
type Review struct {
	begun        bool
	task         Task
	requirements []Requirement
	report       Report
	facts        Facts
	observed     bool
	trees        map[string]string // of what was seen, by its key: the tree it was seen in
}

// Begin opens the review of a report on a task: the step validate_implementation of the contract. It keeps no slice of its
// arguments.
func Begin(task Task, requirements []Requirement, report Report) *Review {
	task.Commands, task.Reviewed = slices.Clone(task.Commands), slices.Clone(task.Reviewed)
	for i, c := range task.Commands {
		task.Commands[i] = slices.Clone(c)
	}
	report.Files, report.Tests, report.Commits = slices.Clone(report.Files), slices.Clone(report.Tests), slices.Clone(report.Commits)
	return &Review{begun: true, task: task, requirements: slices.Clone(requirements), report: report, trees: map[string]string{}}
}

// Query returns what witnesses are to look at.
func (r *Review) Query() Query {
	q := Query{Baseline: r.task.Baseline, Commits: slices.Clone(r.report.Commits)}
	for _, c := range r.report.Files {
		q.Paths = append(q.Paths, c.Path)
	}
	for _, c := range r.task.Commands {
		q.Commands = append(q.Commands, slices.Clone(c))
	}
	return q
}

// Observe takes what a witness saw, beside what was observed before (see [Facts.Merge]), and returns how the report compares with all
// of it. The last tree that is observed is the one that a decision is about: observe it again just before Record, and facts
// from another tree are too old.
func (r *Review) Observe(f Facts) Honesty {
	if r.trees == nil {
		r.trees = map[string]string{}
	}
	for _, c := range f.Files {
		if what := "file " + code(c.Path); c.State != "" || r.trees[what] == "" {
			r.trees[what] = f.Tree
		}
	}
	if f.Base != "" || f.Compared == Met {
		r.trees["comparison"] = f.Tree
	}
	for _, t := range f.Tests {
		if what := "run " + code(strings.Join(t.Command, " ")); t.Status == Met || t.Status == NotMet || r.trees[what] == "" {
			r.trees[what] = cmp.Or(t.Tree, f.Tree)
		}
	}
	r.observed = r.observed || f.seen()
	r.facts = r.facts.Merge(f)
	return Audit(r.report, r.seen())
}

// Seen returns what stands against the work as it was seen, worst first: what makes Standing NotMet and, after that, what should be
// put right. What nobody could look at is not among it.
func (r *Review) Seen() []Item {
	f := r.seen()
	var items []Item
	for _, o := range r.objections(f, Decision{TaskID: r.task.ID, Requirements: r.requirementChecks(f, r.Judge().Requirements)}) {
		if o.item.Severity == High && o.item.Issue != "" && !slices.Contains(items, o.item) {
			items = append(items, o.item)
		}
	}
	for _, x := range Audit(r.report, f).Discrepancies {
		if x.Severity == ShouldFix {
			items = append(items, x.item())
		}
	}
	return Ordered(items)
}

// Facts returns what was observed.
func (r *Review) Facts() Facts { return r.facts.Merge(Facts{}) }

// Honesty returns how the report compares with what was observed so far.
func (r *Review) Honesty() Honesty { return Audit(r.report, r.seen()) }

// Requirements returns what must hold.
func (r *Review) Requirements() []Requirement { return slices.Clone(r.requirements) }

// seen returns the facts as they count: a run whose settings the agent could have changed shows no success until somebody has looked
// at the change, and files that were looked at are no longer suspect.
func (r *Review) seen() Facts {
	f := r.facts.Merge(Facts{})
	f.TestFiles = slices.DeleteFunc(f.TestFiles, func(t TestFileFact) bool { return slices.Contains(r.task.Reviewed, t.Path) })
	i := slices.IndexFunc(f.TestFiles, func(t TestFileFact) bool { return t.Config })
	if i < 0 {
		return f
	}
	for j, t := range f.Tests {
		if t.Status == Met && kindOf(t.Command) == RunTests {
			f.Tests[j].Status = Unverified
			f.Tests[j].Why = f.TestFiles[i].Path + " settles how tests run and was changed: somebody has to look at it"
		}
	}
	return f
}

// stale returns what was observed in another tree than the last one.
func (r *Review) stale() []string {
	var old []string
	for what, tree := range r.trees {
		if tree != "" && r.facts.Tree != "" && tree != r.facts.Tree {
			old = append(old, what)
		}
	}
	slices.Sort(old)
	return old
}

// tests returns what is known of the host's commands together, and why it is not Met.
func (r *Review) tests(f Facts) (Status, string) {
	var all []Status
	why := ""
	for _, c := range r.task.Commands {
		s, w := commandStatus(f, c)
		all = append(all, s)
		if s != Met && (why == "" || s == NotMet) {
			why = code(strings.Join(c, " ")) + ": " + w
		}
	}
	if len(r.task.Commands) == 0 {
		for _, t := range f.Tests {
			all = append(all, t.outcome())
			if t.outcome() != Met && why == "" {
				why = code(strings.Join(t.Command, " ")) + ": " + t.found()
			}
		}
	}
	return And(all...), cmp.Or(why, "no tests were run")
}

// commandStatus returns what is known of one of the host's commands, and what was seen of it.
func commandStatus(f Facts, command []string) (Status, string) {
	i := slices.IndexFunc(f.Tests, func(t TestFact) bool { return slices.Equal(t.Command, command) })
	if i < 0 {
		return Unverified, "it was not run"
	}
	return f.Tests[i].outcome(), f.Tests[i].found()
}

// require returns what facts alone say of a requirement: Unverified unless a command that the host lists shows it.
func (r *Review) require(f Facts, q Requirement) (s Status, seen string, byFact bool) {
	if q.Command == "" {
		return Unverified, "", false
	}
	command, ok := Listed(q.Command, r.task.Commands)
	if !ok {
		return Unverified, "", false
	}
	s, seen = commandStatus(f, command)
	return s, code(q.Command) + ": " + seen, true
}

// Judge returns the decision that the facts alone support, without having recorded it: [Review.Record] does. A requirement that
// no command of the host shows is Unverified in it, so that only a task whose requirements all have such a command is
// approved without a coach.
func (r *Review) Judge() Decision {
	f := r.seen()
	d := Decision{Verdict: Approve, TaskID: r.task.ID}
	for _, q := range r.requirements {
		s, seen, byFact := r.require(f, q)
		c := RequirementCheck{ID: q.ID, Requirement: q.Text, Status: s}
		switch {
		case s == Met:
			c.Evidence = seen
		case byFact:
			c.Issue = seen
		default:
			c.Issue = "no command that the host lists shows it: somebody has to look"
		}
		d.Requirements = append(d.Requirements, c)
	}
	for _, x := range Audit(r.report, f).Discrepancies {
		if x.Severity == ShouldFix {
			d.Items = append(d.Items, x.item())
		}
	}
	d.Rationale = "From what was observed alone."
	return d
}

// Standing returns what the facts alone say of the work: NotMet when something was seen that does not hold (a critical
// discrepancy, a requirement, a new failure), Met when a claim, a run or a requirement was looked at and [Review.Judge] would be
// approved, and otherwise Unverified.
func (r *Review) Standing() Status {
	f := r.seen()
	if len(Audit(r.report, f).Critical()) > 0 || len(f.newFailures()) > 0 {
		return NotMet
	}
	for _, q := range r.requirements {
		if s, _, _ := r.require(f, q); s == NotMet {
			return NotMet
		}
	}
	if len(f.Tests)+len(r.requirements)+Audit(r.report, f).Checked == 0 {
		return Unverified
	}
	if d, _ := r.Record(r.Judge()); d.Verdict == Approve {
		return Met
	}
	return Unverified
}

// item is a discrepancy as feedback.
func (d Discrepancy) item() Item {
	it := Item{Severity: Medium, Issue: fmt.Sprintf("The report says: %s. Seen: %s.", strings.TrimRight(d.Claimed, "."), strings.TrimRight(d.Found, ".")), Suggestion: sentence(d.Fix)}
	if d.Severity == Critical {
		it.Severity = High
	}
	if d.Severity == Info {
		it.Severity = Low
	}
	switch d.Kind {
	case FileMissing, FileUnchanged, FilePresent, FileIgnored, FileOutside, FileSpelling, TestsTampered:
		it.File = d.Subject
	}
	if d.Kind == TestsTampered {
		it.Issue = fmt.Sprintf("The report does not mention it: %s.", d.Found)
	}
	return it
}

// sentence begins with a capital letter, unless with code, and ends with a full stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.TrimRight(s[1:], ".") + "."
}
