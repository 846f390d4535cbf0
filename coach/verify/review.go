package verify

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/project"
	"github.com/sidecoach/sidecoach/plancriteria"
)

// Review is the review of one report: [Begin] opens it, Observe takes facts, Record takes a decision. It is not safe
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
	q := Query{Baseline: r.task.Baseline, Commands: r.task.Commands}
	add := func(list *[]string, s string) {
		if list != nil && s != "" && !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	lists := map[claimKind]*[]string{nameClaim: &q.Names, branchClaim: &q.Branches, commitClaim: &q.Commits,
		testClaim: &q.Tests}
	for _, c := range r.report.Claims {
		add(&q.Paths, c.Path)
		q.Before = q.Before || c.Kind == beforeClaim
		add(lists[c.Kind], c.Name)
		if words := strings.Fields(c.Command); len(words) > 0 {
			q.Claimed = append(q.Claimed, words)
		}
	}
	for _, s := range r.report.Statements {
		for _, word := range slices.Concat(s.Terms, s.Words) {
			add(&q.Shown, word)
			if name := strings.TrimPrefix(word, exactly); name != word {
				add(&q.Names, codeName(name))
			}
		}
	}
	return q
}

// Observe adds what a witness saw. If the tree changed between two looks, the older runs are too old for an approval.
func (r *Review) Observe(f Facts) {
	if f.Tree != "" && r.facts.Tree != "" && f.Tree != r.facts.Tree {
		for _, c := range slices.Concat(r.facts.Changes, f.Changes) {
			same := slices.Contains(r.facts.Changes, c) && slices.Contains(f.Changes, c)
			if !same && !slices.Contains(r.moved, c.Path) && !project.Byproduct(c.Path) { // a run writes byproducts
				r.moved = append(r.moved, c.Path)
			}
		}
	}
	if slices.ContainsFunc(f.Runs, func(run Run) bool { return runOf(r.facts.Runs, run.Command) != nil }) {
		r.moved = nil // a repeated run is as new as the last look
	}
	r.observed = r.observed || f.seen()
	r.facts = r.facts.merge(f)
}

// Facts returns what was observed. The caller does not change it.
func (r *Review) Facts() Facts { return r.facts }

// Honesty returns how the report compares with what was observed so far.
func (r *Review) Honesty() Honesty { return compare(r.report, r.seen()) }

// Expects reports whether a run passed, or failed only as it did on the baseline or as the report says.
func (r *Review) Expects(run Run) bool {
	fresh, old, unknown := r.facts.Failures(run)
	worse := slices.Concat(fresh, unknown)
	return run.Status == Met || len(worse) > 0 && r.report.admits(worse) || len(worse) == 0 && len(old) > 0
}

// Report returns the report under review.
func (r *Review) Report() Report { return r.report }

// Requirements returns what must hold.
func (r *Review) Requirements() []Requirement { return slices.Clone(r.requirements) }

// seen returns the facts as they count: while a file that decides what tests show is suspect, their run shows no
// success.
func (r *Review) seen() Facts {
	f := r.facts
	reviewed := func(name string) bool { return slices.Contains(r.task.Reviewed, name) }
	f.Tests = slices.DeleteFunc(slices.Clone(f.Tests), func(t TestChange) bool { return reviewed(t.File) })
	f.Suspects = slices.DeleteFunc(slices.Clone(f.Suspects), func(s Suspect) bool { return reviewed(s.Path) })
	f.Runs = slices.Clone(f.Runs)
	for i, run := range f.Runs {
		kind := kindOf(run.Command)
		switch {
		case run.Status != Met || kind == runBuild || kind == runLint:
		case len(f.Suspects) > 0:
			f.Runs[i].Status, f.Runs[i].Why = Unverified, f.Suspects[0].Path+" "+f.Suspects[0].Why+": a person must look at it"
		case len(run.Wrote) > 0:
			f.Runs[i].Status, f.Runs[i].Why = Unverified, firstThree(run.Wrote)+" changed while it ran"
		}
	}
	return f
}

// tests returns what is known of the host's commands together, and why it is not Met.
func (r *Review) tests(f Facts) (Status, string) {
	commands := r.task.Commands
	if len(commands) == 0 {
		for _, run := range f.Runs {
			commands = append(commands, run.Command)
		}
	}
	var all []Status
	why := ""
	for _, c := range commands {
		s, found := commandStatus(f, c)
		all = append(all, s)
		if s != Met && (why == "" || s == NotMet) {
			why = code(strings.Join(c, " ")) + ": " + found
		}
	}
	return And(all...), cmp.Or(why, "no tests were run")
}

// commandStatus returns what is known of one of the host's commands, and what was seen of it.
func commandStatus(f Facts, command []string) (Status, string) {
	run := runOf(f.Runs, command)
	if run == nil {
		return Unverified, "it was not run"
	}
	return run.outcome(), run.found()
}

// require returns what facts alone say of a requirement, and whether they say anything: a command that the host lists
// must show it.
func (r *Review) require(f Facts, q Requirement) (c RequirementCheck, byFact bool) {
	c = RequirementCheck{ID: q.ID, Requirement: q.Text, Status: Unverified,
		Issue: "no command that the host lists shows it: a person must look"}
	command, ok := Listed(q.Command, r.task.Commands)
	if !ok {
		return c, false
	}
	s, found := commandStatus(f, command)
	if run := runOf(f.Runs, command); s == NotMet {
		if fresh, old, unknown := f.Failures(*run); len(fresh)+len(unknown) == 0 && len(old) > 0 {
			s, found = Unverified, "it fails as it did before the work" // nobody made it worse
		}
	}
	c.Status, c.Issue = s, code(q.Command)+": "+found
	if s == Met {
		c.Evidence, c.Issue = c.Issue, ""
	}
	return c, true
}

// Judge returns the decision that the facts alone support. It does not record it: [Review.Record] does. A review that
// was never begun gets feedback.
func (r *Review) Judge() Decision {
	f := r.seen()
	d := Decision{Verdict: Approve, TaskID: r.task.ID, Rationale: "From what was observed alone."}
	for _, q := range r.requirements {
		c, _ := r.require(f, q)
		d.Requirements = append(d.Requirements, c)
	}
	for _, x := range compare(r.report, f).Discrepancies {
		if x.Severity == shouldFix { // it does not block
			d.Items = append(d.Items, x.item())
		}
	}
	if !r.begun {
		d.Verdict, d.Items = Feedback, append(d.Items, unbegun)
	}
	return d
}

// Standing returns what the facts alone say of the work, and why it is not Met.
//
//   - NotMet: something was seen that does not hold. A claim is false, a requirement is not met, or a test fails
//     that passed at the baseline and the report does not admit it.
//   - Met: every claim was checked and holds, everything required was seen, and no change needs a person to look.
//   - Unverified: anything else.
//
// With [Task].AllowUnchecked, claims that nobody can check do not count.
func (r *Review) Standing() (Status, []string) {
	f := r.seen()
	h := compare(r.report, f)
	if items := r.against(); len(items) > 0 && items[0].Severity == high {
		return NotMet, []string{items[0].Issue}
	}
	_, open := r.Record(r.Judge())
	for _, d := range h.Discrepancies {
		if d.Claimed == toldSo || d.Severity != info && d.Claimed != notMentioned {
			open = append(open, fmt.Sprintf("%s: %s", d.Claimed, d.Found))
		}
	}
	if !r.task.AllowUnchecked {
		for _, u := range h.Unchecked {
			open = append(open, "unchecked: "+u)
		}
	}
	for _, s := range f.Suspects {
		if why := s.Path + " " + s.Why; len(open) == 0 || !strings.Contains(open[0], why) {
			open = append(open, why+": a person must look at it")
		}
	}
	for _, run := range f.Runs {
		_, old, unknown := f.Failures(run)
		if len(old) > 0 {
			open = append(open, code(run.line())+" fails as it did before the work: "+firstThree(old))
		}
		if len(unknown) > 0 && len(run.Withheld) > 0 {
			open = slices.Insert(open, 0, fmt.Sprintf("%s fails, and it did not get %s of the environment",
				code(run.line()), firstThree(run.Withheld)))
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

// Feedback returns the facts against the work for the agent, one a line, worst first. Things that nobody could look at
// are not among them.
func (r *Review) Feedback() string {
	var b strings.Builder
	for _, it := range r.against() {
		b.WriteString(it.String() + "\n")
	}
	return b.String()
}

// against returns the facts against the work, worst first. Items that make Standing NotMet are High.
func (r *Review) against() []Item {
	f, d := r.seen(), r.Judge()
	items := slices.DeleteFunc(d.Items, func(it Item) bool { return it == unbegun })
	d.Items, d.Requirements = nil, r.requirementChecks(f, d.Requirements)
	for _, o := range r.objections(f, d) {
		if o.item.Severity == high && !slices.Contains(items, o.item) {
			items = append(items, o.item)
		}
	}
	return ordered(items)
}

func (d Discrepancy) item() Item {
	severity := map[severity]priority{critical: high, shouldFix: medium, info: low}[d.Severity]
	it := Item{Severity: severity, Suggestion: Sentence(d.Fix),
		Issue: fmt.Sprintf("The report says: %s. Seen: %s.", strings.TrimRight(d.Claimed, "."),
			strings.TrimRight(d.Found, "."))}
	switch d.Kind {
	case fileMissing, fileUnchanged, filePresent, fileOutside, moreChanged:
		it.File = d.Subject
	case TestsTampered:
		it.File, it.Issue = d.Subject, Sentence(d.Found)
	}
	return it
}

// Task is what was to be done.
type Task struct {
	ID       string `json:"task_id"`
	Text     string `json:"text,omitempty"`     // what was asked, in the host's words
	Baseline string `json:"baseline,omitempty"` // the revision at which the work began; empty: the host's snapshot
	// Commands is what the host wants to be run, each in words. All of them must succeed. Nothing else is ever run.
	Commands [][]string `json:"commands,omitempty"`
	// Reviewed names files whose changes a trusted person has looked at, by their paths from the top of the tree.
	Reviewed []string `json:"reviewed,omitempty"`
	// AllowUnchecked lets claims that nobody can check pass.
	AllowUnchecked bool `json:"allow_unchecked,omitempty"`
}

// Requirement is one thing that must hold for the task to be done.
type Requirement struct {
	ID   string `json:"id"` // the same for the same words
	Text string `json:"requirement"`
	// Command shows whether it holds, as the requirement names it. It is compared with Task.Commands and never run itself.
	Command string `json:"command,omitempty"`
}

// Requirements returns the criteria of a plan as requirements, ticked ones included: a tick is a claim. An item that
// groups others with checkboxes, and has none itself, is left out. A section without items is one requirement.
// Command is the code span at the end of an item, after a colon: "- [ ] Tests pass: `go test ./...`".
func Requirements(c plancriteria.Criteria) []Requirement {
	var texts []string
	for _, it := range c.Leaves() {
		texts = append(texts, it.Text)
	}
	if section := strings.Join(strings.Fields(c.Text), " "); len(c.Items) == 0 && section != "" {
		texts = append(texts, section)
	}
	var list []Requirement
	for _, text := range texts {
		sum := sha256.Sum256([]byte(fold(text)))
		r := Requirement{ID: fmt.Sprintf("r%x", sum[:4]), Text: text}
		if m := lex("EndCommand").Find(text); m != nil {
			r.Command = strings.TrimSpace(m[1])
		}
		for n, id := 2, r.ID; slices.ContainsFunc(list, func(q Requirement) bool { return q.ID == r.ID }); n++ {
			r.ID = fmt.Sprintf("%s-%d", id, n)
		}
		list = append(list, r)
	}
	return list
}

// Listed returns which of the commands a line is, word by word. A line that needs a shell matches no command.
func Listed(line string, commands [][]string) ([]string, bool) {
	if strings.ContainsAny(line, "\"'\\$`;&|<>()\n\r") {
		return nil, false
	}
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	c := find(commands, func(c []string) bool { return len(words) > 0 && slices.Equal(words, c) })
	return slices.Clone(value(c)), c != nil
}
