package verify

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Audit holds the claims of a report against the facts. A claim that the facts say nothing of is not checked; a path that is
// only spelled otherwise than the file is no discrepancy of weight. It changes neither argument.
//
// A claim about tests is held against the run of the same command. One that names no command, and is about all tests, is held
// against all runs of tests; one that names another command, or is about some tests, is never contradicted by them.
func Audit(r Report, f Facts) Honesty {
	a := audit{report: r, facts: f, paths: f.changedPaths()}
	for _, c := range r.Tests {
		a.test(c)
	}
	for _, c := range r.Files {
		a.file(c)
	}
	for _, rev := range r.Commits {
		a.commit(rev)
	}
	a.tampering()
	h := a.Honesty
	h.Claims = len(r.Tests) + len(r.Files) + len(r.Commits)
	if h.Checked > 0 {
		h.Score = new(float64(a.held) / float64(h.Checked))
	}
	rank := map[Severity]int{Critical: 0, ShouldFix: 1, Info: 2}
	slices.SortStableFunc(h.Discrepancies, func(a, b Discrepancy) int { return cmp.Compare(rank[a.Severity], rank[b.Severity]) })
	return h
}

// audit is a comparison at work.
type audit struct {
	report Report
	facts  Facts
	paths  []string // that differ from the baseline
	held   int
	Honesty
}

func (a *audit) hold() { a.Checked++; a.held++ }

// contradict notes a claim that did not hold.
func (a *audit) contradict(d Discrepancy) {
	a.Checked++
	a.note(d)
}

func (a *audit) note(d Discrepancy) {
	d.Subject, d.Claimed, d.Found = clean(d.Subject), clean(d.Claimed), clean(d.Found)
	a.Discrepancies = append(a.Discrepancies, d)
}

func (a *audit) unchecked(what, why string) {
	a.Unchecked = append(a.Unchecked, clean(what+": "+why))
}

// run returns the runs that a claim is about, and whether it is about them alone and as a whole.
func (a *audit) run(c TestClaim) (runs []TestFact, whole bool) {
	for _, t := range a.facts.Tests {
		if kindOf(t.Command) == c.Kind {
			runs = append(runs, t)
		}
	}
	if c.Command == "" {
		return runs, !c.Part
	}
	for _, t := range a.facts.Tests {
		if strings.Join(t.Command, " ") == strings.Join(strings.Fields(c.Command), " ") {
			return []TestFact{t}, !c.Part
		}
	}
	return runs, false
}

func (a *audit) test(c TestClaim) {
	what := c.words()
	runs, whole := a.run(c)
	if len(runs) == 0 {
		a.unchecked(what, "no such command was run")
		return
	}
	var outcome []Status
	var seen TestFact
	counted, why := true, ""
	for _, t := range runs {
		outcome = append(outcome, t.outcome())
		seen.Total, seen.Passed, seen.Failed, seen.Skipped = seen.Total+t.Total, seen.Passed+t.Passed, seen.Failed+t.Failed, seen.Skipped+t.Skipped
		seen.PartsPassed += t.PartsPassed
		counted = counted && t.Counted
		if t.outcome() != Met && why == "" {
			why = t.found()
		}
	}
	d := Discrepancy{Kind: TestResult, Severity: Critical, Claimed: what, Found: why, Subject: strings.Join(runs[0].Command, " ")}
	d.Fix = "make " + code(d.Subject) + " pass, or report what fails"
	all := And(outcome...)
	switch {
	case c.Result == NotMet:
		if all == Unverified {
			a.unchecked(what, cmp.Or(why, "the run shows neither"))
			return
		}
		a.hold() // worse than it is, is no lie
	case !whole && all != Met:
		a.unchecked(what, "what was run is not exactly that")
	case c.Result != Met:
		a.unchecked(what, "the claim says no result")
	case all == NotMet:
		if a.admitsFailure() {
			d.Severity = ShouldFix
		}
		a.contradict(d)
	case counted && whole && c.Passed != nil && *c.Passed > seen.Passed+seen.PartsPassed:
		a.count(c, seen, d)
	case all == Met:
		a.hold()
	default:
		a.unchecked(what, cmp.Or(why, "the run shows neither"))
	}
}

// count notes that fewer tests passed than was claimed. How tests are counted differs from tool to tool, so that a wrong number alone
// is nothing that blocks; that none passed is.
func (a *audit) count(c TestClaim, seen TestFact, d Discrepancy) {
	d.Kind, d.Severity, d.Found = TestCount, ShouldFix, seen.counts()
	d.Fix = "run " + code(d.Subject) + " and report the numbers that it prints"
	if seen.Passed+seen.PartsPassed == 0 {
		d.Severity = Critical
	}
	a.contradict(d)
}

func (a *audit) admitsFailure() bool {
	return slices.ContainsFunc(a.report.Tests, func(c TestClaim) bool { return c.Result == NotMet && c.Kind == RunTests })
}

func (a *audit) file(c FileClaim) {
	what := c.words()
	i := slices.IndexFunc(a.facts.Files, func(f FileFact) bool { return f.Path == c.Path })
	if i < 0 {
		a.unchecked(what, "nobody looked")
		return
	}
	f := a.facts.Files[i]
	d := Discrepancy{Severity: Critical, Subject: cmp.Or(f.Clean, c.Path), Claimed: what}
	other, spelled := meant(c.Path, a.paths, a.unclaimed)
	switch {
	case f.State == Outside && isLocal(c.Path):
		d.Kind, d.Found, d.Fix = FileOutside, cmp.Or(f.Why, "it leads out of the tree"), "put the file itself into the tree"
		a.contradict(d)
	case f.State == Outside:
		d.Kind, d.Severity, d.Found, d.Fix = FileOutside, Info, cmp.Or(f.Why, "it is not in the tree"), "leave it out of the report, or say that it is not in the tree"
		a.note(d)
		a.unchecked(what, "it is not in the tree")
	case f.State == Missing && (c.Kind == Removed || c.Kind == "" && f.Kind == Removed):
		a.hold()
	case f.State == Missing && spelled && c.Kind != Removed:
		a.hold()
		a.note(Discrepancy{Kind: FileSpelling, Severity: Info, Subject: other, Claimed: what, Found: "it is spelled " + other, Fix: "spell it " + code(other)})
	case f.State == Missing && !strings.Contains(cleanPath(c.Path), "/") && a.facts.Compared != Met:
		a.unchecked(what, "a name without a folder, and what changed is not known")
	case f.State == Missing && strings.ContainsAny(c.Path, "*?{"):
		a.unchecked(what, "a pattern, not the path of a file")
	case f.State == Missing:
		d.Kind, d.Found, d.Fix = FileMissing, "there is no such file", "create "+code(d.Subject)+", or correct the report"
		a.contradict(d)
	case f.State != Exists && f.State != Ignored:
		a.unchecked(what, cmp.Or(f.Why, "it could not be looked at"))
	case c.Kind == Removed:
		d.Kind, d.Found, d.Fix = FilePresent, "it is still there", "remove "+code(d.Subject)+", or correct the report"
		a.contradict(d)
	case f.State == Ignored:
		a.hold()
		d.Kind, d.Severity, d.Found, d.Fix = FileIgnored, ShouldFix, "version control ignores it", "add it by force if it belongs to the work, or say that it does not"
		a.note(d)
	case f.Changed == Met:
		a.hold()
	case f.Changed != NotMet || a.facts.Base == "":
		a.unchecked(what, cmp.Or(f.Why, "it is there; whether it changed is not known"))
	case spelled && other != f.Clean:
		a.hold()
		a.note(Discrepancy{Kind: FileSpelling, Severity: Info, Subject: other, Claimed: what, Found: "what changed is " + other, Fix: "name it " + code(other)})
	default:
		d.Kind, d.Found, d.Fix = FileUnchanged, "it is as it was at the baseline", "make the change in "+code(d.Subject)+", or correct the report"
		a.contradict(d)
	}
}

// unclaimed reports whether no claim names the path.
func (a *audit) unclaimed(p string) bool {
	return !slices.ContainsFunc(a.report.Files, func(c FileClaim) bool { return ends(cleanPath(c.Path), p) })
}

func (a *audit) commit(rev string) {
	what := "commit " + rev
	i := slices.IndexFunc(a.facts.Commits, func(c CommitFact) bool { return c.Rev == rev })
	if i < 0 {
		a.unchecked(what, "nobody looked")
		return
	}
	c := a.facts.Commits[i]
	d := Discrepancy{Subject: rev, Claimed: what}
	switch {
	case c.Exists == NotMet:
		d.Kind, d.Severity, d.Found, d.Fix = CommitMissing, Critical, "there is no such commit", "commit the work, or correct the report"
		a.contradict(d)
	case c.Exists != Met:
		a.unchecked(what, cmp.Or(c.Why, "it could not be looked up"))
	case c.Reachable == NotMet:
		a.hold()
		d.Kind, d.Severity, d.Found, d.Fix = CommitUnreachable, ShouldFix, "it is not part of what is checked out", "check out the branch that has it, or say which one does"
		a.note(d)
	default:
		a.hold()
	}
}

const foundSettings = "what settles how tests run"

// tampering notes test files that differ and that the report does not mention. They are no claims.
func (a *audit) tampering() {
	if len(a.facts.TestFiles) == 0 {
		return
	}
	said := a.report.telling()
	for _, t := range a.facts.TestFiles {
		if !t.suspect() || a.report.mentions(said, t) {
			continue
		}
		d := Discrepancy{Kind: TestsTampered, Severity: ShouldFix, Subject: t.Path, Claimed: "nothing is said of it",
			Found: fmt.Sprintf("the test file was %s", t.Kind), Fix: "say what was changed in it and why, or take the change back"}
		if t.Config {
			d.Found = fmt.Sprintf("%s was %s", foundSettings, t.Kind)
		}
		if t.Kind == Removed && !a.moved(t) {
			d.Severity = Critical
			d.Fix = "put the tests back, or say why they are gone"
		}
		a.note(d)
	}
}

// suspect reports whether a difference can hide a failure: a new test file cannot, unless it settles how tests run.
func (t TestFileFact) suspect() bool { return t.Why == "" && (t.Kind != Added || t.Config) }

// moved reports whether a removed test file was added under the same name elsewhere.
func (a *audit) moved(t TestFileFact) bool {
	return slices.ContainsFunc(a.facts.TestFiles, func(o TestFileFact) bool {
		return o.Kind == Added && path.Base(o.Path) == path.Base(t.Path)
	})
}
