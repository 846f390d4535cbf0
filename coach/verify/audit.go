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
	ByWords       []string      `json:"by_words,omitempty"`  // statements of which only the words were found in the change
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
	a := &audit{report: r, facts: f, text: strings.ToLower(start(r.Text, maxProse))}
	a.words = masked(a.text)
	for _, c := range f.Changes {
		a.paths = append(a.paths, c.Path)
	}
	var h Honesty
	held := 0
	surely := slices.ContainsFunc(r.Claims, func(o Claim) bool { return o.Kind == fileClaim && o.Sure })
	for _, c := range r.Claims {
		if c.Kind == changeClaim && surely {
			continue // it says the same in other words
		}
		found := a.check(c)
		switch found.status {
		case Met:
			held++
			h.Checked++
		case NotMet:
			h.Checked++
		default:
			s := clean(c.words() + ": " + found.Found)
			if found.Found != "" && !slices.Contains(h.Unchecked, s) {
				h.Unchecked = append(h.Unchecked, s)
			}
			if c.Kind == saidClaim || c.Kind == stillClaim || c.Kind == inFileClaim || c.Kind == fileClaim && c.Part {
				continue // it was only named
			}
		}
		h.Claims++
		if found.Kind != "" {
			found.Claimed = c.words()
			h.Discrepancies = append(h.Discrepancies, found.Discrepancy)
		}
	}
	for _, s := range r.Statements {
		h.Claims++
		switch missing := f.lack(s); {
		case missing == "":
			held++
			h.Checked++
			if text := clean(s.Text); len(h.ByWords) < maxUnchecked && !s.onlyNames() && !slices.Contains(h.ByWords, text) {
				h.ByWords = append(h.ByWords, text)
			}
		case len(h.Unchecked) < maxUnchecked:
			h.Unchecked = append(h.Unchecked, clean(`"`+s.Text+`": `+missing))
		}
	}
	idle := f.Compared == Met && len(h.Discrepancies) == 0 && a.change(Claim{}).status != Met
	if r.Change != "" && len(h.Unchecked) == 0 && (idle || h.Checked == 0) {
		h.Claims++
		h.Unchecked = append(h.Unchecked, clean(`"`+r.Change+`": nothing checks that here`))
	}
	h.Discrepancies = append(h.Discrepancies, a.tampering()...)
	for i := range h.Discrepancies {
		d := &h.Discrepancies[i]
		d.Subject, d.Claimed, d.Found = clean(d.Subject), clean(d.Claimed), clean(d.Found)
	}
	if h.Checked > 0 {
		score := float64(held) / float64(h.Checked)
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
}

// finding is what the facts say of a claim: it holds, it does not, or it was not checked. Found says why it was not.
// A finding with a kind is a discrepancy.
type finding struct {
	status Status
	Discrepancy
}

var holds = finding{status: Met}

// unchecked is the finding about a claim that the facts do not decide.
func unchecked(format string, args ...any) finding {
	return finding{Unverified, Discrepancy{Found: fmt.Sprintf(format, args...)}}
}

// contradicted is the finding about a claim that the facts contradict. It is critical if nothing else can be meant.
func contradicted(how severity, kind discrepancyKind, subject, found, fix string) finding {
	return finding{NotMet, Discrepancy{Kind: kind, Severity: how, Subject: subject, Found: found, Fix: fix}}
}

// criticalIf is the severity of a contradiction: words that may mean something else are not called false.
func criticalIf(sure bool) severity {
	if sure {
		return critical
	}
	return shouldFix
}

// checks are how each kind of claim is compared with the facts.
var checks = map[claimKind]struct {
	ofChanges bool // it needs to know what changed
	compare   func(*audit, Claim) finding
}{
	fileClaim: {false, (*audit).file}, runClaim: {false, (*audit).run}, testClaim: {false, (*audit).test},
	commitClaim: {false, (*audit).commit}, cleanClaim: {false, (*audit).clean}, openClaim: {true, (*audit).open},
	saidClaim:   {false, (*audit).said},
	changeClaim: {true, (*audit).change}, scopeClaim: {true, (*audit).scope}, nameClaim: {true, (*audit).name},
	testsClaim: {true, (*audit).newTests}, backClaim: {true, (*audit).restored}, branchClaim: {true, (*audit).branch},
	modeClaim:  {false, (*audit).mode},
	countClaim: {true, (*audit).commitCount}, titleClaim: {true, (*audit).commitTitle},
	leftClaim: {true, (*audit).left}, stillClaim: {false, (*audit).still}, inFileClaim: {false, (*audit).inFile},
	debugClaim: {true, (*audit).debug}, sameClaim: {true, (*audit).sameDependencies},
}

// check compares a claim with the facts.
func (a *audit) check(c Claim) finding {
	how, known := checks[c.Kind]
	if !known {
		return a.other(c)
	}
	if how.ofChanges && a.facts.Compared != Met {
		return unchecked("what changed is not known")
	}
	return how.compare(a, c)
}

// fileFact returns what is known of a claimed path, nil if no witness looked.
func (a *audit) fileFact(path string) *FileFact {
	if i := slices.IndexFunc(a.facts.Files, func(f FileFact) bool { return f.Path == path }); i >= 0 {
		return &a.facts.Files[i]
	}
	return nil
}

func (a *audit) nameFact(name string) (NameFact, bool) {
	if i := slices.IndexFunc(a.facts.Names, func(n NameFact) bool { return n.Name == name }); i >= 0 {
		return a.facts.Names[i], true
	}
	return NameFact{}, false
}

func (a *audit) file(c Claim) finding {
	f := a.fileFact(c.Path)
	switch {
	case f == nil:
		return unchecked("nobody looked")
	case f.State == Missing:
		return a.missingFile(c, *f)
	case f.State == Outside && !isLocal(c.Path):
		return unchecked("it is not in the tree")
	case f.State == Outside:
		return contradicted(criticalIf(c.Sure), fileOutside, cmp.Or(f.Clean, c.Path), cmp.Or(f.Why, "it leads out of the tree"),
			"put the file itself into the tree")
	case f.State != Exists && f.State != Ignored:
		return unchecked("%s", cmp.Or(f.Why, "it could not be looked at"))
	case c.Part:
		return finding{}
	}
	return a.presentFile(c, *f)
}

func (a *audit) missingFile(c Claim, f FileFact) finding {
	other, spelled := meant(c.Path, a.paths)
	name := path.Base(cleanPath(c.Path))
	subject := cmp.Or(f.Clean, c.Path)
	switch {
	case c.Change == Removed || (c.Change == "" || !c.Sure) && f.Known:
		return holds
	case spelled:
		return otherName(other, "its name is "+other, "write "+code(other))
	case !strings.Contains(cleanPath(c.Path), "/") && a.facts.Compared != Met:
		return unchecked("a name without a folder, and what changed is not known")
	case strings.ContainsAny(c.Path, "*?{"):
		if slices.ContainsFunc(a.paths, func(p string) bool { ok, _ := path.Match(name, path.Base(p)); return ok }) {
			return holds
		}
		return unchecked("a pattern, not the path of a file")
	case c.Part && lex().Absent.Match(a.text):
		return finding{} // the report says that the file is not there
	case c.Part:
		return unchecked("there is no such file")
	}
	return contradicted(criticalIf(c.Sure || !f.Known), fileMissing, subject, "there is no such file",
		"create "+code(subject)+", or correct the report")
}

func (a *audit) presentFile(c Claim, f FileFact) finding {
	other, spelled := meant(c.Path, a.paths)
	subject := cmp.Or(f.Clean, c.Path)
	switch {
	case c.Change == Removed:
		return contradicted(criticalIf(c.Sure), filePresent, subject, "it is still there",
			"remove "+code(subject)+", or correct the report")
	case f.Slight != "" && !(f.Comments && lex().Commenting.Match(a.words)) && !lex().Formatting.Match(a.words):
		return unchecked("%s", f.Slight)
	case f.State == Ignored && lex().InGit.Match(c.Text) && !lex().IgnoredMentioned.Match(a.text):
		return contradicted(shouldFix, notCommitted, f.Clean, "it is ignored, and in no commit", commitFix)
	case f.State == Ignored, f.Changed == Met:
		return holds // git keeps nothing to compare an ignored file with
	case f.Changed != NotMet:
		return unchecked("%s", cmp.Or(f.Why, "it is there; whether it changed is not known"))
	case spelled && other != f.Clean:
		return otherName(other, "the changed file is "+other, "name it "+code(other))
	case !c.Sure:
		return unchecked("it is as it was at the baseline, and the words may mean another file")
	}
	return contradicted(critical, fileUnchanged, subject, "it is as it was at the baseline",
		"make the change in "+code(subject)+", or correct the report")
}

// otherName is the finding about a claim that holds of a file with another name.
func otherName(name, found, fix string) finding {
	return finding{Met, Discrepancy{Kind: fileSpelling, Severity: info, Subject: name, Found: found, Fix: fix}}
}

const commitFix = "commit the work, or correct the report"

func (a *audit) commit(c Claim) finding {
	switch {
	case c.Name != "":
		if f := a.namedCommit(c.Name); f.status != Met {
			return f
		}
	case a.facts.Committed == NotMet:
		return contradicted(critical, notCommitted, "", "no commit was made since the baseline", commitFix)
	case a.facts.Committed != Met:
		return unchecked("whether there are new commits is not known")
	}
	for _, claim := range a.report.Claims {
		f := a.fileFact(claim.Path)
		switch {
		case claim.Kind != fileClaim || f == nil:
		case f.State == Ignored:
			if !lex().IgnoredMentioned.Match(a.text) {
				return contradicted(shouldFix, notCommitted, f.Clean, f.Clean+" is ignored, and in no commit", commitFix)
			}
		case f.Committed == NotMet && f.Changed == Met:
			admitted := strings.Contains(a.text, "uncommitted") || strings.Contains(a.text, "not committed")
			return contradicted(criticalIf(claim.Sure && !admitted), notCommitted, f.Clean,
				"the change of "+f.Clean+" is in no commit", commitFix)
		}
	}
	return holds
}

// namedCommit checks that a commit is there, checked out and new.
func (a *audit) namedCommit(name string) finding {
	i := slices.IndexFunc(a.facts.Commits, func(f CommitFact) bool { return f.Rev == name })
	if i < 0 {
		return unchecked("nobody looked")
	}
	f, rewritten := a.facts.Commits[i], lex().Rewritten.Match(a.text)
	switch {
	case f.Exists == NotMet:
		return contradicted(critical, commitMissing, name, "there is no such commit", commitFix)
	case f.Exists != Met:
		return unchecked("%s", cmp.Or(f.Why, "it could not be looked up"))
	case f.Reachable == NotMet:
		found := "it is not part of what is checked out"
		if f.Branch != "" {
			found += "; the branch " + f.Branch + " has it"
		}
		told := f.Branch != "" && strings.Contains(a.text, strings.ToLower(f.Branch)) || strings.Contains(a.text, "worktree")
		return contradicted(criticalIf(!told && !rewritten), commitElse, name, found,
			"check out the branch that has it, or say which one does")
	case f.New == NotMet && rewritten:
		return unchecked("it was made before the work began, or was rewritten")
	case f.New == NotMet:
		return contradicted(critical, commitOld, name, "it was made before the work began", commitFix)
	case f.New != Met:
		return unchecked("it is there; whether it was made in this work is not known")
	}
	return holds
}

// branch checks that a branch is there.
func (a *audit) branch(c Claim) finding {
	switch has, ok := a.facts.Branches[c.Name]; {
	case !ok:
		return contradicted(shouldFix, commitElse, c.Name, "there is no such branch", "make the branch, or correct the report")
	case c.Sure && !has:
		return contradicted(shouldFix, commitElse, c.Name, "that branch does not have what is checked out",
			"bring the work there, or correct the report")
	}
	return holds
}

// open checks that nothing is committed.
func (a *audit) open(Claim) finding {
	if a.facts.Committed != NotMet {
		return unchecked("a commit was made since the baseline")
	}
	return holds
}

// commitCount checks how many commits were made.
func (a *audit) commitCount(c Claim) finding {
	if n := len(a.facts.NewCommits); n != value(c.Total) {
		return contradicted(shouldFix, commitMissing, "", fmt.Sprintf("%d commits were made since the baseline", n),
			"correct the number")
	}
	return holds
}

// commitTitle checks that a new commit has the subject that the report gives.
func (a *audit) commitTitle(c Claim) finding {
	said := strings.TrimRight(fold(c.Name), ".…")
	if !slices.ContainsFunc(a.facts.NewCommits, func(s string) bool { return strings.Contains(fold(s), said) }) {
		return contradicted(shouldFix, commitMissing, "", "no commit since the baseline has that subject", "correct the report")
	}
	return holds
}

// other checks a claim of work that was pushed. Nothing checks any other.
func (a *audit) other(c Claim) finding {
	pushed := lex().Pushed.Match(c.Text)
	switch {
	case pushed && a.facts.Remote == NotMet:
		return contradicted(critical, notCommitted, "", "the repository has no remote to push to", "correct the report")
	case pushed && a.facts.Pushed == Met:
		return holds
	case pushed && a.facts.Pushed == NotMet:
		return unchecked("no branch of a remote that is known here has it")
	}
	return unchecked("nothing checks that here")
}

// name checks that a name in code was made, changed or removed.
func (a *audit) name(c Claim) finding {
	n, ok := a.nameFact(c.Name)
	if !ok {
		return finding{}
	}
	const write = "write it, or correct the report"
	listed := slices.ContainsFunc(n.Files, project.Manifest)
	file := a.fileFact(c.Path)
	switch {
	case n.Stub && (c.Change == Added || c.Change == Modified) && !lex().Admitted.Match(a.text):
		return a.stub(c)
	case c.Change == Added && n.Uses == 0:
		return contradicted(criticalIf(c.Sure && !n.Was && n.DefinedBefore == 0), nameMissing, c.Name,
			"nothing has that name", write)
	case c.Change == Added && c.Path != "" && len(n.Files) > 0 && file != nil && file.State == Exists &&
		!slices.ContainsFunc(n.Files, func(p string) bool { return within(p, c.Path) }):
		return contradicted(shouldFix, nameMissing, c.Name, c.Path+" does not have it", "write it there, or correct the report")
	case c.Change == noneLeft && n.Uses > 0:
		return contradicted(shouldFix, namePresent, c.Name, firstThree(n.Files)+" still has it",
			"replace it there, or correct the report")
	case c.Part && c.Change == Removed && listed:
		return contradicted(shouldFix, namePresent, c.Name, firstThree(n.Files)+" still has it",
			"remove it, or correct the report")
	case c.Change == Removed && n.DefinedBefore > 0 && n.Defined >= n.DefinedBefore:
		return contradicted(shouldFix, namePresent, c.Name, "it is still defined", "remove it, or correct the report")
	case c.Sure && c.Change == Modified && n.Uses > 0 && !n.Touched:
		return unchecked("no changed file has it")
	case c.Change == Modified && n.Uses > 0 && !a.facts.Programs && !n.Touched:
		return contradicted(shouldFix, nothingChanged, c.Name, "no program does anything else than before",
			"do the work, or correct the report")
	}
	return holds
}

// said checks that something in code is there. Words in backticks that stand nowhere may be something else, too.
func (a *audit) said(c Claim) finding {
	n, ok := a.nameFact(c.Name)
	switch {
	case ok && n.Stub && !lex().Admitted.Match(a.text):
		return a.stub(c)
	case ok && a.facts.Compared == Met && n.Uses == 0 && !n.Was:
		return unchecked("nothing has that name")
	}
	return finding{}
}

// within reports whether a file is the claimed path, or in it.
func within(file, claimed string) bool {
	claimed = cleanPath(claimed)
	return ends(claimed, file) || strings.Contains("/"+strings.ToLower(file), "/"+strings.ToLower(claimed)+"/")
}

// newTests checks that tests were written.
func (a *audit) newTests(c Claim) finding {
	rows := func(t TestChange) bool { return t.Rows }
	edited := slices.ContainsFunc(a.facts.Tests, func(t TestChange) bool { return t.Change == string(testcode.Edited) })
	hollow := slices.IndexFunc(a.facts.New, func(t TestChange) bool { return t.Hollow })
	n, want := len(a.facts.New), max(1, value(c.Total))
	switch {
	case hollow >= 0:
		return unchecked("nothing in the new test %s checks anything", a.facts.New[hollow].Name)
	case n >= want, slices.ContainsFunc(a.facts.New, func(t TestChange) bool { return t.Rows }),
		slices.ContainsFunc(a.facts.Tests, rows):
		return holds
	case edited:
		return unchecked("the work has %d new tests, and changed others", n)
	}
	return contradicted(shouldFix, testMissing, "", fmt.Sprintf("the work has %d new tests", n),
		"write the tests, or correct the report")
}

// restored checks that a file is as it was.
func (a *audit) restored(c Claim) finding {
	f := a.fileFact(c.Path)
	if f == nil || slices.ContainsFunc(a.report.Claims, func(o Claim) bool {
		return o.Kind == fileClaim && !(o.Part && c.Sure) && cleanPath(o.Path) == cleanPath(c.Path)
	}) {
		return finding{} // a part of it was kept
	}
	if slices.Contains(a.paths, f.Clean) {
		return contradicted(shouldFix, fileChanged, f.Clean, "it differs from the baseline",
			"restore "+code(f.Clean)+", or correct the report")
	}
	return holds
}

// debug checks that lines for debugging were removed.
func (a *audit) debug(Claim) finding {
	if len(a.facts.Debug) > 0 {
		return contradicted(shouldFix, namePresent, "", "there is still "+firstThree(a.facts.Debug),
			"remove it, or correct the report")
	}
	return holds
}

// clean checks that everything is committed.
func (a *audit) clean(Claim) finding {
	switch a.facts.Clean {
	case Met:
		return holds
	case NotMet:
		return contradicted(shouldFix, notCommitted, a.facts.Uncommitted[0],
			firstThree(a.facts.Uncommitted)+" is not committed", commitFix)
	}
	return unchecked("what is committed is not known")
}

// sameDependencies checks that there is no new dependency: no file that lists them changed.
func (a *audit) sameDependencies(Claim) finding {
	if i := slices.IndexFunc(a.paths, project.Manifest); i >= 0 {
		return unchecked("%s changed", a.paths[i])
	}
	return holds
}

// change checks the claim that something was changed.
func (a *audit) change(Claim) finding {
	switch {
	case a.facts.Committed == Met,
		slices.ContainsFunc(a.facts.Changes, func(c Change) bool { return c.Why == "" && !project.Byproduct(c.Path) }),
		slices.ContainsFunc(a.facts.Files, func(f FileFact) bool { return f.State == Ignored }):
		return holds
	case lex().Standing.Match(a.text) || lex().Outwards.Match(a.text):
		return unchecked("nothing in the tree changed since the baseline")
	case a.facts.Earlier:
		return unchecked("nothing in the tree changed since the last prompt, only before it")
	}
	return contradicted(critical, nothingChanged, "", "nothing changed since the baseline",
		"do the work, or say that nothing was changed")
}

// scope checks the claim that nothing else was changed, or nothing at all.
func (a *audit) scope(c Claim) finding {
	switch n := len(a.paths); {
	case c.Part && len(a.facts.Tests) > 0: // it is about the tests alone
		t := a.facts.Tests[0]
		return contradicted(shouldFix, TestsTampered, t.File, fmt.Sprintf("the test %s was %s", t.Name, t.Change),
			"say what was done to it and why, or take the change back")
	case c.Total != nil && c.Sure:
		return a.fewerFiles(c)
	case c.Total != nil && n != *c.Total:
		return contradicted(shouldFix, moreChanged, "", fmt.Sprintf("%d files differ from the baseline", n),
			"correct the number")
	case c.Part, c.Total != nil:
		return holds
	}
	for _, ch := range a.facts.Changes {
		inCode := testcode.IsCode(ch.Path) && !testcode.IsTest(ch.Path)
		claimed := strings.Contains(a.text, strings.ToLower(path.Base(ch.Path))) || slices.ContainsFunc(a.report.Claims,
			func(c Claim) bool { return c.Kind == fileClaim && ends(cleanPath(c.Path), ch.Path) })
		switch {
		case ch.Why != "", project.Byproduct(ch.Path), c.Change == "" && claimed,
			c.Change == Added && ch.Kind != Added, c.Change == Removed && c.Sure && !inCode:
		default:
			return contradicted(shouldFix, moreChanged, ch.Path, ch.Path+" was "+string(ch.Kind),
				"name all files that were changed")
		}
	}
	return holds
}
