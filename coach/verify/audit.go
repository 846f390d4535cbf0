package verify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/project"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

// Severity is how much a discrepancy matters.
type severity string

// The severities.
const (
	critical  severity = "critical"   // the claim is false: it blocks
	shouldFix severity = "should_fix" // the claim cannot stand as it is: it prevents an approval by facts alone
	info      severity = "info"       // worth knowing
)

// DiscrepancyKind is what a discrepancy is about.
type discrepancyKind string

// The kinds of discrepancy.
const (
	testResult     discrepancyKind = "test_result"     // success was claimed, failure was seen
	testCount      discrepancyKind = "test_count"      // other numbers were seen
	testMissing    discrepancyKind = "test_missing"    // there is no such test
	TestsTampered  discrepancyKind = "tests_tampered"  // a test of the baseline is gone, does not run, or was changed
	commandMissing discrepancyKind = "command_missing" // the project has no such command
	fileMissing    discrepancyKind = "file_missing"    // there is no such file
	fileUnchanged  discrepancyKind = "file_unchanged"  // it is as it was at the baseline
	filePresent    discrepancyKind = "file_present"    // it was claimed to be removed
	fileOutside    discrepancyKind = "file_outside"    // it is not in the tree
	fileSpelling   discrepancyKind = "file_spelling"   // it has another name
	commitMissing  discrepancyKind = "commit_missing"  // there is no such commit
	commitOld      discrepancyKind = "commit_old"      // it is older than the work
	commitElse     discrepancyKind = "commit_elsewhere"
	notCommitted   discrepancyKind = "not_committed"   // the work is not in a commit
	nothingChanged discrepancyKind = "nothing_changed" // the tree is as it was at the baseline
	moreChanged    discrepancyKind = "more_changed"    // other files were changed, too
	fileChanged    discrepancyKind = "file_changed"    // it is not as it was
	nameMissing    discrepancyKind = "name_missing"    // no code has the name
	namePresent    discrepancyKind = "name_present"    // it was claimed to be removed
)

// Discrepancy is a difference between what a report claims and what was seen.
type Discrepancy struct {
	Kind     discrepancyKind `json:"kind"`
	Severity severity        `json:"severity"`
	Subject  string          `json:"subject,omitempty"` // the path, test, commit or command
	Claimed  string          `json:"claimed"`
	Found    string          `json:"found"`
	Fix      string          `json:"fix"` // what to do about it
}

// Honesty is how a report compares with the facts.
type Honesty struct {
	// Score is the part of the checked claims that held, 0 to 1; nil when none could be checked.
	Score         *float64      `json:"score"`
	Claims        int           `json:"claims"`
	Checked       int           `json:"checked"`
	Discrepancies []Discrepancy `json:"discrepancies"`       // worst first, then in the order of the report
	Unchecked     []string      `json:"unchecked,omitempty"` // which claims could not be checked and why, a sentence each
}

// MarshalJSON writes an empty list of discrepancies as [], never as null.
func (h Honesty) MarshalJSON() ([]byte, error) {
	type plain Honesty
	h.Discrepancies = some(h.Discrepancies)
	return json.Marshal(plain(h))
}

// compare compares the claims of a report with the facts. A claim is called false only when the facts contradict it as
// it was meant. A claim that the facts say nothing about is not checked. It changes neither argument.
func compare(r Report, f Facts) Honesty {
	a := audit{report: r, facts: f, text: strings.ToLower(start(r.Text, maxProse))}
	a.words = masked(a.text)
	for _, c := range f.Changes {
		a.paths = append(a.paths, c.Path)
	}
	checks := map[claimKind]func(Claim){fileClaim: a.file, runClaim: a.run, testClaim: a.test, commitClaim: a.commit,
		changeClaim: a.change, scopeClaim: a.scope, nameClaim: a.name, testsClaim: a.newTests, backClaim: a.restored,
		branchClaim: a.branch, countClaim: a.commitCount, titleClaim: a.commitTitle, saidClaim: a.said,
		debugClaim: a.debug, cleanClaim: a.clean, sameClaim: a.sameDependencies}
	surely := slices.ContainsFunc(r.Claims, func(o Claim) bool { return o.Kind == fileClaim && o.Sure })
	for _, c := range r.Claims {
		if c.Kind == changeClaim && surely {
			continue // it says the same in other words
		}
		before := a.Checked
		if check := checks[c.Kind]; check != nil {
			check(c)
		} else {
			a.other(c)
		}
		if c.Kind != saidClaim && (c.Kind != fileClaim || !c.Part) || a.Checked > before {
			a.Claims++
		}
	}
	a.tampering()
	h := a.Honesty
	if h.Checked > 0 {
		score := float64(a.held) / float64(h.Checked)
		h.Score = &score
	}
	rank := []severity{critical, shouldFix, info}
	slices.SortStableFunc(h.Discrepancies, func(a, b Discrepancy) int {
		return cmp.Compare(slices.Index(rank, a.Severity), slices.Index(rank, b.Severity))
	})
	return h
}

// audit is a comparison at work.
type audit struct {
	report Report
	facts  Facts
	text   string   // the report in lower case
	words  string   // the same without code and paths
	paths  []string // that differ from the baseline
	held   int
	Honesty
}

func (a *audit) hold() { a.Checked++; a.held++ }

// contradict notes a claim that did not hold.
func (a *audit) contradict(d Discrepancy, kind discrepancyKind, found, fix string) {
	a.Checked++
	d.Kind, d.Found, d.Fix = kind, found, fix
	a.note(d)
}

func (a *audit) note(d Discrepancy) {
	d.Subject, d.Claimed, d.Found = clean(d.Subject), clean(d.Claimed), clean(d.Found)
	a.Discrepancies = append(a.Discrepancies, d)
}

func (a *audit) unchecked(c Claim, format string, args ...any) {
	s := clean(c.words() + ": " + fmt.Sprintf(format, args...))
	if !slices.Contains(a.Unchecked, s) {
		a.Unchecked = append(a.Unchecked, s)
	}
}

// fileFact returns what is known of a claimed path, nil if no witness looked.
func (a *audit) fileFact(path string) *FileFact {
	if i := slices.IndexFunc(a.facts.Files, func(f FileFact) bool { return f.Path == path }); i >= 0 {
		return &a.facts.Files[i]
	}
	return nil
}

func (a *audit) file(c Claim) {
	f := a.fileFact(c.Path)
	if f == nil {
		a.unchecked(c, "nobody looked")
		return
	}
	switch {
	case f.State == Missing:
		a.missingFile(c, *f)
	case f.State == Outside && !isLocal(c.Path):
		a.unchecked(c, "it is not in the tree")
	case f.State == Outside:
		a.contradict(c.about(*f), fileOutside, cmp.Or(f.Why, "it leads out of the tree"), "put the file itself into the tree")
	case f.State == Exists, f.State == Ignored:
		if !c.Part {
			a.presentFile(c, *f)
		}
	default:
		a.unchecked(c, "%s", cmp.Or(f.Why, "it could not be looked at"))
	}
}

// about begins a discrepancy about a file.
func (c Claim) about(f FileFact) Discrepancy {
	d := Discrepancy{Severity: critical, Subject: cmp.Or(f.Clean, c.Path), Claimed: c.words()}
	if !c.Sure {
		d.Severity = shouldFix // the words may mean another file
	}
	return d
}

func (a *audit) missingFile(c Claim, f FileFact) {
	other, spelled := meant(c.Path, a.paths)
	name := path.Base(cleanPath(c.Path))
	switch {
	case c.Change == Removed || (c.Change == "" || !c.Sure) && f.Known:
		a.hold()
	case spelled:
		a.spelled(c, other, "its name is "+other, "write "+code(other))
	case !strings.Contains(cleanPath(c.Path), "/") && a.facts.Compared != Met:
		a.unchecked(c, "a name without a folder, and what changed is not known")
	case strings.ContainsAny(c.Path, "*?{"):
		if slices.ContainsFunc(a.paths, func(p string) bool { ok, _ := path.Match(name, path.Base(p)); return ok }) {
			a.hold()
			return
		}
		a.unchecked(c, "a pattern, not the path of a file")
	case c.Part && lex().Absent.Match(a.text):
		// The report says that the file is not there.
	case c.Part:
		a.unchecked(c, "there is no such file")
	default:
		d := c.about(f)
		if !f.Known {
			d.Severity = critical // the file never existed
		}
		a.contradict(d, fileMissing, "there is no such file", "create "+code(d.Subject)+", or correct the report")
	}
}

func (a *audit) presentFile(c Claim, f FileFact) {
	other, spelled := meant(c.Path, a.paths)
	d := c.about(f)
	switch {
	case c.Change == Removed:
		a.contradict(d, filePresent, "it is still there", "remove "+code(d.Subject)+", or correct the report")
	case f.Slight != "" && !(f.Comments && lex().Commenting.Match(a.words)) && !lex().Formatting.Match(a.words):
		a.unchecked(c, "%s", f.Slight)
	case f.State == Ignored && lex().InGit.Match(c.Text) && !lex().IgnoredMentioned.Match(a.text):
		a.doubt(c, notCommitted, f.Clean, "it is ignored, and in no commit", commitFix)
	case f.State == Ignored, f.Changed == Met:
		a.hold() // git keeps nothing to compare an ignored file with
	case f.Changed != NotMet:
		a.unchecked(c, "%s", cmp.Or(f.Why, "it is there; whether it changed is not known"))
	case spelled && other != f.Clean:
		a.spelled(c, other, "the changed file is "+other, "name it "+code(other))
	case !c.Sure:
		a.unchecked(c, "it is as it was at the baseline, and the words may mean another file")
	default:
		a.contradict(d, fileUnchanged, "it is as it was at the baseline",
			"make the change in "+code(d.Subject)+", or correct the report")
	}
}

// spelled notes a claim that holds of a file with another name.
func (a *audit) spelled(c Claim, name, found, fix string) {
	a.hold()
	a.note(Discrepancy{Kind: fileSpelling, Severity: info, Subject: name, Claimed: c.words(), Found: found, Fix: fix})
}

// unclaimed reports whether no claim names the path.
func (a *audit) unclaimed(p string) bool {
	return !slices.ContainsFunc(a.report.Claims,
		func(c Claim) bool { return c.Kind == fileClaim && ends(cleanPath(c.Path), p) })
}

const commitFix = "commit the work, or correct the report"

func (a *audit) commit(c Claim) {
	d := Discrepancy{Severity: critical, Subject: c.Name, Claimed: c.words()}
	switch {
	case c.Name != "":
		if !a.namedCommit(c, d) {
			return
		}
	case a.facts.Committed == NotMet:
		a.contradict(d, notCommitted, "no commit was made since the baseline", commitFix)
		return
	case a.facts.Committed != Met:
		a.unchecked(c, "whether there are new commits is not known")
		return
	}
	for _, claim := range a.report.Claims {
		f := a.fileFact(claim.Path)
		if claim.Kind == fileClaim && f != nil && f.State == Ignored && !lex().IgnoredMentioned.Match(a.text) {
			d.Subject, d.Severity = f.Clean, shouldFix
			a.contradict(d, notCommitted, f.Clean+" is ignored, and in no commit", commitFix)
			return
		}
		if claim.Kind != fileClaim || f == nil || f.Committed != NotMet || f.Changed != Met || f.State == Ignored {
			continue
		}
		d.Subject = f.Clean
		if !claim.Sure || strings.Contains(a.text, "uncommitted") || strings.Contains(a.text, "not committed") {
			d.Severity = shouldFix
		}
		a.contradict(d, notCommitted, "the change of "+f.Clean+" is in no commit", commitFix)
		return
	}
	a.hold()
}

// namedCommit reports whether a commit is there, checked out and new. It notes what is wrong with any other.
func (a *audit) namedCommit(c Claim, d Discrepancy) bool {
	i := slices.IndexFunc(a.facts.Commits, func(f CommitFact) bool { return f.Rev == c.Name })
	if i < 0 {
		a.unchecked(c, "nobody looked")
		return false
	}
	f := a.facts.Commits[i]
	switch {
	case f.Exists == NotMet:
		a.contradict(d, commitMissing, "there is no such commit", commitFix)
	case f.Exists != Met:
		a.unchecked(c, "%s", cmp.Or(f.Why, "it could not be looked up"))
	case f.Reachable == NotMet:
		found := "it is not part of what is checked out"
		if f.Branch != "" {
			found += "; the branch " + f.Branch + " has it"
		}
		if f.Branch != "" && strings.Contains(a.text, strings.ToLower(f.Branch)) || strings.Contains(a.text, "worktree") ||
			lex().Rewritten.Match(a.text) {
			d.Severity = shouldFix
		}
		a.contradict(d, commitElse, found, "check out the branch that has it, or say which one does")
	case f.New == NotMet && lex().Rewritten.Match(a.text):
		a.unchecked(c, "it was made before the work began, or was rewritten")
	case f.New == NotMet:
		a.contradict(d, commitOld, "it was made before the work began", commitFix)
	case f.New != Met:
		a.unchecked(c, "it is there; whether it was made in this work is not known")
	default:
		return true
	}
	return false
}

func (a *audit) other(c Claim) {
	if lex().Pushed.Match(c.Text) {
		switch {
		case a.facts.Remote == NotMet:
			a.contradict(Discrepancy{Severity: critical, Claimed: c.words()}, notCommitted,
				"the repository has no remote to push to", "correct the report")
			return
		case a.facts.Pushed == Met:
			a.hold()
			return
		case a.facts.Pushed == NotMet:
			a.unchecked(c, "no branch of a remote that is known here has it")
			return
		}
	}
	a.unchecked(c, "nothing checks that here")
}

// doubt notes a claim that the facts contradict, though it may be meant in another way.
func (a *audit) doubt(c Claim, kind discrepancyKind, subject, found, fix string) {
	a.contradict(Discrepancy{Severity: shouldFix, Subject: subject, Claimed: c.words()}, kind, found, fix)
}

// compared reports whether it is known what changed.
func (a *audit) compared(c Claim) bool {
	if a.facts.Compared != Met {
		a.unchecked(c, "what changed is not known")
	}
	return a.facts.Compared == Met
}

// name checks that a name in code was made, changed or removed.
func (a *audit) name(c Claim) {
	i := slices.IndexFunc(a.facts.Names, func(n NameFact) bool { return n.Name == c.Name })
	if i < 0 || !a.compared(c) {
		return
	}
	n := a.facts.Names[i]
	listed := slices.ContainsFunc(n.Files, func(p string) bool { return slices.Contains(lex().Manifests, path.Base(p)) })
	switch {
	case c.Change == Added && c.Sure && n.Uses == 0 && !n.Was && n.DefinedBefore == 0:
		a.contradict(Discrepancy{Severity: critical, Subject: c.Name, Claimed: c.words()}, nameMissing,
			"nothing has that name", "write it, or correct the report")
	case c.Change == Added && n.Uses == 0:
		a.doubt(c, nameMissing, c.Name, "nothing has that name", "write it, or correct the report")
	case c.Change == Added && c.Path != "" && len(n.Files) > 0 && a.exists(c.Path) &&
		!slices.ContainsFunc(n.Files, func(p string) bool { return within(p, c.Path) }):
		a.doubt(c, nameMissing, c.Name, c.Path+" does not have it", "write it there, or correct the report")
	case c.Change == noneLeft && n.Uses > 0:
		a.doubt(c, namePresent, c.Name, firstThree(n.Files)+" still has it", "replace it there, or correct the report")
	case c.Part && c.Change == Removed && listed:
		a.doubt(c, namePresent, c.Name, firstThree(n.Files)+" still has it", "remove it, or correct the report")
	case c.Change == Removed && n.DefinedBefore > 0 && n.Defined >= n.DefinedBefore:
		a.doubt(c, namePresent, c.Name, "it is still defined", "remove it, or correct the report")
	case c.Sure && c.Change == Modified && n.Uses > 0 && !n.Touched:
		a.unchecked(c, "no changed file has it")
	case c.Change == Modified && n.Uses > 0 && !a.facts.Programs && !n.Touched:
		a.doubt(c, nothingChanged, c.Name, "no program does anything else than before", "do the work, or correct the report")
	default:
		a.hold()
	}
}

// exists reports whether a claimed path was seen to be there.
func (a *audit) exists(path string) bool {
	f := a.fileFact(path)
	return f != nil && f.State == Exists
}

// within reports whether a file is the claimed path, or in it.
func within(file, claimed string) bool {
	claimed = cleanPath(claimed)
	return ends(claimed, file) || strings.Contains("/"+strings.ToLower(file), "/"+strings.ToLower(claimed)+"/")
}

// newTests checks that tests were written.
func (a *audit) newTests(c Claim) {
	if !a.compared(c) {
		return
	}
	rows := func(t TestChange) bool { return t.Rows }
	edited := slices.ContainsFunc(a.facts.Tests, func(t TestChange) bool { return t.Change == string(testcode.Edited) })
	hollow := slices.IndexFunc(a.facts.New, func(t NewTest) bool { return t.Hollow })
	n, want := len(a.facts.New), max(1, value(c.Total))
	switch {
	case hollow >= 0:
		a.unchecked(c, "nothing in the new test %s checks anything", a.facts.New[hollow].Name)
	case n >= want, slices.ContainsFunc(a.facts.New, func(t NewTest) bool { return t.Rows }),
		slices.ContainsFunc(a.facts.Tests, rows):
		a.hold()
	case edited:
		a.unchecked(c, "the work has %d new tests, and changed others", n)
	default:
		a.doubt(c, testMissing, "", fmt.Sprintf("the work has %d new tests", n), "write the tests, or correct the report")
	}
}

// restored checks that a file is as it was.
func (a *audit) restored(c Claim) {
	f := a.fileFact(c.Path)
	if f == nil || !a.compared(c) {
		return
	}
	if slices.ContainsFunc(a.report.Claims, func(o Claim) bool {
		return o.Kind == fileClaim && !(o.Part && c.Sure) && cleanPath(o.Path) == cleanPath(c.Path)
	}) {
		return // a part of it was kept
	}
	if slices.Contains(a.paths, f.Clean) {
		a.doubt(c, fileChanged, f.Clean, "it differs from the baseline", "restore "+code(f.Clean)+", or correct the report")
		return
	}
	a.hold()
}

// debug checks that lines for debugging were removed.
func (a *audit) debug(c Claim) {
	if !a.compared(c) {
		return
	}
	if len(a.facts.Debug) > 0 {
		a.doubt(c, namePresent, "", "there is still "+firstThree(a.facts.Debug), "remove it, or correct the report")
		return
	}
	a.hold()
}

// clean checks that everything is committed.
func (a *audit) clean(c Claim) {
	switch a.facts.Clean {
	case Met:
		a.hold()
	case NotMet:
		a.doubt(c, notCommitted, a.facts.Uncommitted[0], firstThree(a.facts.Uncommitted)+" is not committed", commitFix)
	default:
		a.unchecked(c, "what is committed is not known")
	}
}

// sameDependencies checks that there is no new dependency: no file that lists them changed.
func (a *audit) sameDependencies(c Claim) {
	if !a.compared(c) {
		return
	}
	isManifest := func(p string) bool { return slices.Contains(lex().Manifests, path.Base(p)) }
	if i := slices.IndexFunc(a.paths, isManifest); i >= 0 {
		a.unchecked(c, "%s changed", a.paths[i])
		return
	}
	a.hold()
}

// change checks the claim that something was changed.
func (a *audit) change(c Claim) {
	switch {
	case a.facts.Compared != Met:
		a.unchecked(c, "what changed is not known")
	case a.facts.Committed == Met,
		slices.ContainsFunc(a.facts.Changes, func(c Change) bool { return c.Why == "" && !project.Byproduct(c.Path) }),
		slices.ContainsFunc(a.facts.Files, func(f FileFact) bool { return f.State == Ignored }):
		a.hold()
	case lex().Standing.Match(a.text) || lex().Outwards.Match(a.text):
		a.unchecked(c, "nothing in the tree changed since the baseline")
	case a.facts.Earlier:
		a.unchecked(c, "nothing in the tree changed since the last prompt, only before it")
	default:
		a.contradict(Discrepancy{Severity: critical, Claimed: c.words()}, nothingChanged,
			"nothing changed since the baseline", "do the work, or say that nothing was changed")
	}
}

// scope checks the claim that nothing else was changed, or nothing at all.
func (a *audit) scope(c Claim) {
	if !a.compared(c) {
		return
	}
	if c.Part { // it is about the tests alone
		if len(a.facts.Tests) > 0 {
			t := a.facts.Tests[0]
			a.contradict(Discrepancy{Severity: shouldFix, Subject: t.File, Claimed: c.words()}, TestsTampered,
				fmt.Sprintf("the test %s was %s", t.Name, t.Change), "say what was done to it and why, or take the change back")
			return
		}
		a.hold()
		return
	}
	if c.Total != nil {
		if n := len(a.paths); n != *c.Total {
			a.doubt(c, moreChanged, "", fmt.Sprintf("%d files differ from the baseline", n), "correct the number")
			return
		}
		a.hold()
		return
	}
	for _, ch := range a.facts.Changes {
		inCode := testcode.IsCode(ch.Path) && !testcode.IsTest(ch.Path)
		if c.Change == Added && ch.Kind != Added || c.Change == Removed && c.Sure && !inCode {
			continue
		}
		claimed := !a.unclaimed(ch.Path) || strings.Contains(a.text, strings.ToLower(path.Base(ch.Path)))
		if ch.Why != "" || c.Change == "" && claimed || project.Byproduct(ch.Path) {
			continue
		}
		a.contradict(Discrepancy{Severity: shouldFix, Subject: ch.Path, Claimed: c.words()}, moreChanged,
			ch.Path+" was "+string(ch.Kind), "name all files that were changed")
		return
	}
	a.hold()
}
