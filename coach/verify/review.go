package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Review is the review of one report: [Begin] opens it, Ask and Observe take facts, Record takes a decision. It is not safe
// for concurrent use. The zero value was never begun, and approves nothing.
type Review struct {
	begun        bool
	task         Task
	requirements []Requirement
	report       Report
	facts        Facts
	observed     bool
	moved        []string // files that changed between two looks
}

// Begin opens the review of a report on a task: the step validate_implementation of the contract.
func Begin(task Task, requirements []Requirement, report Report) *Review {
	task.Commands, task.Reviewed = slices.Clone(task.Commands), slices.Clone(task.Reviewed)
	report.Claims = slices.Clone(report.Claims)
	return &Review{begun: true, task: task, requirements: slices.Clone(requirements), report: report}
}

// Query returns what witnesses must look at.
func (r *Review) Query() Query {
	q := Query{Baseline: r.task.Baseline, Commands: r.task.Commands, Reviewed: r.task.Reviewed}
	add := func(list *[]string, s string) {
		if s != "" && !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	for _, c := range r.report.Claims {
		switch c.Kind {
		case FileClaim:
			add(&q.Paths, c.Path)
		case CommitClaim:
			add(&q.Commits, c.Name)
		case TestClaim:
			add(&q.Tests, c.Name)
		case RunClaim:
			if words := strings.Fields(c.Command); len(words) > 0 {
				q.Claimed = append(q.Claimed, words)
			}
		}
	}
	return q
}

// Ask asks witnesses what the review has to know, one after another, and observes their facts. A witness that fails is named
// among what is unseen. The error is the context's.
func (r *Review) Ask(ctx context.Context, witnesses ...Witness) error {
	q := r.Query()
	for _, w := range witnesses {
		f, err := w.Look(ctx, q)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			f.Unseen = append(slices.Clone(f.Unseen), "a witness could not look: "+clean(err.Error()))
		}
		r.Observe(f)
	}
	return nil
}

// Observe takes what a witness saw, beside what was observed before. Where a later look at the tree shows another content
// than an earlier one, what was seen before is too old for an approval.
func (r *Review) Observe(f Facts) {
	if f.Tree != "" && r.facts.Tree != "" && f.Tree != r.facts.Tree {
		for _, name := range differing(r.facts.Changes, f.Changes) {
			if !slices.Contains(r.moved, name) {
				r.moved = append(r.moved, name)
			}
		}
	}
	for _, run := range f.Runs { // a run that is repeated is as new as the last look
		if slices.ContainsFunc(r.facts.Runs, func(o Run) bool { return slices.Equal(o.Command, run.Command) }) {
			r.moved = nil
		}
	}
	r.observed = r.observed || f.seen()
	r.facts = r.facts.merge(f)
}

// differing returns the files whose changes differ between two looks. Byproducts of a run do not count.
func differing(before, now []Change) []string {
	var list []string
	for _, pair := range [][2][]Change{{before, now}, {now, before}} {
		for _, c := range pair[0] {
			if !slices.Contains(pair[1], c) && !slices.Contains(list, c.Path) && !Byproduct(c) {
				list = append(list, c.Path)
			}
		}
	}
	return list
}

// Facts returns what was observed. The caller does not change it.
func (r *Review) Facts() Facts { return r.facts }

// Honesty returns how the report compares with what was observed so far.
func (r *Review) Honesty() Honesty { return Audit(r.report, r.seen()) }

// Report returns the report under review.
func (r *Review) Report() Report { return r.report }

// Requirements returns what must hold.
func (r *Review) Requirements() []Requirement { return slices.Clone(r.requirements) }

// seen returns the facts as they count: a run of tests shows no success while a file that decides what it shows is suspect.
func (r *Review) seen() Facts {
	f := r.facts
	reviewed := func(name string) bool { return slices.Contains(r.task.Reviewed, name) }
	f.Tests = slices.DeleteFunc(slices.Clone(f.Tests), func(t TestChange) bool { return reviewed(t.File) })
	f.Suspects = slices.DeleteFunc(slices.Clone(f.Suspects), func(s Suspect) bool { return reviewed(s.Path) })
	f.Runs = slices.Clone(f.Runs)
	for i, run := range f.Runs {
		if kind := kindOf(run.Command); run.Status != Met || kind == RunBuild || kind == RunLint {
			continue
		}
		if len(f.Suspects) > 0 {
			f.Runs[i].Status, f.Runs[i].Why = Unverified, f.Suspects[0].Path+" "+f.Suspects[0].Why+": somebody has to look at it"
		} else if len(run.Wrote) > 0 {
			f.Runs[i].Status, f.Runs[i].Why = Unverified, list3(run.Wrote)+" changed while it ran"
		}
	}
	return f
}

// tests returns what is known of the host's commands together, and why it is not Met.
func (r *Review) tests(f Facts) (Status, string) {
	var all []Status
	why := ""
	see := func(name string, s Status, found string) {
		all = append(all, s)
		if s != Met && (why == "" || s == NotMet) {
			why = code(name) + ": " + found
		}
	}
	for _, c := range r.task.Commands {
		s, found := commandStatus(f, c)
		see(strings.Join(c, " "), s, found)
	}
	if len(r.task.Commands) == 0 {
		for _, run := range f.Runs {
			see(run.line(), run.outcome(), run.found())
		}
	}
	return And(all...), cmp.Or(why, "no tests were run")
}

// commandStatus returns what is known of one of the host's commands, and what was seen of it.
func commandStatus(f Facts, command []string) (Status, string) {
	i := slices.IndexFunc(f.Runs, func(r Run) bool { return slices.Equal(r.Command, command) })
	if i < 0 {
		return Unverified, "it was not run"
	}
	return f.Runs[i].outcome(), f.Runs[i].found()
}

// require returns what facts alone say of a requirement: Unverified unless a command that the host lists shows it.
func (r *Review) require(f Facts, q Requirement) (s Status, seen string, byFact bool) {
	command, ok := Listed(q.Command, r.task.Commands)
	if q.Command == "" || !ok {
		return Unverified, "", false
	}
	s, seen = commandStatus(f, command)
	if i := slices.IndexFunc(f.Runs, func(r Run) bool { return slices.Equal(r.Command, command) }); i >= 0 && s == NotMet {
		if fresh, old, unknown := f.failures(f.Runs[i]); len(fresh)+len(unknown) == 0 && len(old) > 0 {
			s, seen = Unverified, "it fails as it did before the work" // nobody made it worse
		}
	}
	return s, code(q.Command) + ": " + seen, true
}

// Judge returns the decision that the facts alone support, without having recorded it: [Review.Record] does.
func (r *Review) Judge() Decision {
	f := r.seen()
	d := Decision{Verdict: Approve, TaskID: r.task.ID, Rationale: "From what was observed alone."}
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
	return d
}

// Standing returns what the facts alone say of the work, and why it is not Met.
//
//   - NotMet: something was seen that does not hold. A claim is false, a requirement is not met, or a test fails that passed
//     at the baseline.
//   - Met: every claim was checked and held, everything required was seen, and nothing calls for somebody to look.
//   - Unverified: anything else.
//
// With [Task].AllowUnchecked, claims that nobody can check do not count.
func (r *Review) Standing() (Status, []string) {
	f := r.seen()
	h := Audit(r.report, f)
	if items := r.Seen(); len(items) > 0 && items[0].Severity == High {
		return NotMet, []string{items[0].Issue}
	}
	var open []string
	for _, d := range h.Discrepancies {
		if d.Severity != Info && d.Claimed != notTold {
			open = append(open, fmt.Sprintf("%s: %s", d.Claimed, d.Found))
		}
	}
	if !r.task.AllowUnchecked {
		for _, u := range h.Unchecked {
			open = append(open, "unchecked: "+u)
		}
	}
	if _, overrides := r.Record(r.Judge()); len(overrides) > 0 {
		open = append(overrides, open...)
	}
	for _, s := range f.Suspects {
		if why := s.Path + " " + s.Why; len(open) == 0 || !strings.Contains(open[0], why) {
			open = append(open, why+": somebody has to look at it")
		}
	}
	for _, run := range f.Runs {
		_, old, unknown := f.failures(run)
		if len(old) > 0 {
			open = append(open, code(run.line())+" fails as it did before the work: "+list3(old))
		}
		if len(unknown) > 0 && len(run.Withheld) > 0 {
			open = slices.Insert(open, 0, fmt.Sprintf("%s fails, and it did not get %s of the environment", code(run.line()), list3(run.Withheld)))
		}
	}
	if len(open) == 0 && len(f.Runs)+len(r.requirements)+h.Checked == 0 {
		open = []string{"nothing was looked at"}
	}
	if len(open) > 0 {
		return Unverified, open
	}
	return Met, nil
}

// Seen returns what stands against the work as it was seen, worst first: what makes Standing NotMet is High. What nobody
// could look at is not among it.
func (r *Review) Seen() []Item {
	f := r.seen()
	var items []Item
	for _, o := range r.objections(f, Decision{TaskID: r.task.ID, Requirements: r.requirementChecks(f, r.Judge().Requirements)}) {
		if o.item.Severity == High && o.item.Issue != "" && o.seen && !slices.Contains(items, o.item) {
			items = append(items, o.item)
		}
	}
	for _, x := range Audit(r.report, f).Discrepancies {
		if x.Severity == ShouldFix {
			items = append(items, x.item())
		}
	}
	return ordered(items)
}

// item is a discrepancy as feedback.
func (d Discrepancy) item() Item {
	severity := map[Severity]Priority{Critical: High, ShouldFix: Medium, Info: Low}[d.Severity]
	it := Item{Severity: severity, Suggestion: Sentence(d.Fix),
		Issue: fmt.Sprintf("The report says: %s. Seen: %s.", strings.TrimRight(d.Claimed, "."), strings.TrimRight(d.Found, "."))}
	switch d.Kind {
	case FileMissing, FileUnchanged, FilePresent, FileOutside, FileSpelling, MoreChanged:
		it.File = d.Subject
	case TestsTampered:
		it.File, it.Issue = d.Subject, Sentence(d.Found)
	}
	return it
}
