package verify

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/project"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

type severity string // how much a discrepancy matters

const (
	critical  severity = "critical"   // the claim is false: it blocks
	shouldFix severity = "should_fix" // the claim cannot stand as it is: it prevents an approval by facts alone
	info      severity = "info"       // worth knowing
)

type discrepancyKind string // what a discrepancy is about

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

// fix says what to do about it. Its subject is %s.
func (k discrepancyKind) fix() string { return strings.Join(lex("fix "+string(k)).Words, " ") }

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
	Discrepancies []Discrepancy `json:"discrepancies"`       // worst first, then in the order of the report; never nil
	Unchecked     []string      `json:"unchecked,omitempty"` // which claims could not be checked and why, a sentence each
	ByWords       []string      `json:"by_words,omitempty"`  // statements of which only the words were found in the change
}

// compare compares the claims of a report with the facts. A claim is called false only when the facts contradict it as
// it was meant. A claim that the facts say nothing about is not checked. It changes neither argument.
func compare(r Report, f Facts) Honesty {
	a := &audit{report: r, facts: f, text: strings.ToLower(start(r.Text, maxProse)), said: map[string]bool{}}
	a.words = masked(a.text)
	for _, c := range f.Changes {
		a.paths = append(a.paths, c.Path)
	}
	h := Honesty{Discrepancies: []Discrepancy{}}
	note := func(list *[]string, s string) {
		if s = clean(s); len(*list) < maxNoted && !slices.Contains(*list, s) { // two parts of a sentence may lack the same
			*list = append(*list, s)
		}
	}
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
			if found.Found != "" {
				note(&h.Unchecked, c.words()+": "+found.Found)
			}
			if c.Kind == fileClaim && c.Part {
				continue // it was only named
			}
		}
		h.Claims++
		if found.Kind != "" {
			found.Claimed = c.words()
			found.Subject = cmp.Or(found.Subject, value(a.fileFact(c.Path)).Clean, c.Path, c.Name, c.Command)
			found.Fix = strings.ReplaceAll(found.Kind.fix(), "%s", code(found.Subject))
			h.Discrepancies = append(h.Discrepancies, found.Discrepancy)
		}
	}
	for _, s := range r.Statements {
		h.Claims++
		missing := f.lack(a.wanting(s))
		for _, term := range slices.Backward(s.Terms) {
			if n := a.nameFact(strings.TrimPrefix(term, exactly)); n != nil && n.Stub && !a.says("Admitted") {
				missing = "the body of " + code(n.Name) + " is a stub"
			}
		}
		if missing != "" {
			note(&h.Unchecked, `"`+s.Text+`": `+missing)
			continue
		}
		held++
		h.Checked++
		if !s.onlyNames() {
			note(&h.ByWords, s.Text)
		}
	}
	idle := f.Compared == Met && len(h.Discrepancies) == 0 && a.change(Claim{}).status != Met
	if r.Change != "" && len(h.Unchecked) == 0 && (idle || h.Checked == 0) {
		h.Claims++
		note(&h.Unchecked, `"`+r.Change+`": nothing checks that here`)
	}
	h.Discrepancies = append(h.Discrepancies, a.tampering()...)
	for i := range h.Discrepancies {
		d := &h.Discrepancies[i]
		d.Subject, d.Claimed, d.Found = clean(d.Subject), clean(d.Claimed), clean(d.Found)
	}
	if h.Checked > 0 {
		h.Score = new(float64(held) / float64(h.Checked))
	}
	rank := []severity{critical, shouldFix, info}
	slices.SortStableFunc(h.Discrepancies, func(a, b Discrepancy) int {
		return cmp.Compare(slices.Index(rank, a.Severity), slices.Index(rank, b.Severity))
	})
	return h
}

type audit struct {
	report Report
	facts  Facts
	text   string   // the report in lower case
	words  string   // the same without code and paths
	paths  []string // that differ from the baseline
	said   map[string]bool
}

// says reports whether a pattern occurs in the report. It looks once, however many claims ask.
func (a *audit) says(pattern string) bool {
	if _, known := a.said[pattern]; !known {
		a.said[pattern] = lex(pattern).Match(a.text)
	}
	return a.said[pattern]
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

// contradicted is the finding about a claim that the facts contradict. Words that may mean something else are not
// called false.
func contradicted(surely bool, kind discrepancyKind, format string, args ...any) finding {
	d := Discrepancy{Kind: kind, Severity: shouldFix, Found: fmt.Sprintf(format, args...)}
	if surely {
		d.Severity = critical
	}
	return finding{NotMet, d}
}

// holdsIf is the finding about a claim that holds under a condition. Without it, something else was found.
func holdsIf(condition bool, kind discrepancyKind, format string, args ...any) finding {
	if condition {
		return holds
	}
	return contradicted(false, kind, format, args...)
}

// of returns the finding with its subject, if this is not what the claim names.
func (f finding) of(subject string) finding {
	f.Subject = subject
	return f
}

type rule struct {
	applies bool
	finding
}

// firstOf returns the finding of the first rule that applies, or else the last argument.
func firstOf(rules []rule, otherwise finding) finding {
	if r := find(rules, func(r rule) bool { return r.applies }); r != nil {
		return r.finding
	}
	return otherwise
}

func (a *audit) check(c Claim) finding {
	f, clean := a.facts, c.Kind == cleanClaim
	checks := map[claimKind]func(Claim) finding{fileClaim: a.file, runClaim: a.run, testClaim: a.test,
		commitClaim: a.commit, otherClaim: a.other, beforeClaim: a.failedBefore}
	if f.Compared == Met {
		maps.Copy(checks, map[claimKind]func(Claim) finding{scopeClaim: a.scope, nameClaim: a.name,
			testsClaim: a.newTests, backClaim: a.restored, changeClaim: a.change})
	}
	if check := checks[c.Kind]; check != nil {
		return check(c)
	}
	has, known := f.Branches[c.Name]
	n, manifest := len(f.NewCommits), find(a.paths, project.Manifest)
	return firstOf([]rule{
		{clean && f.Clean != Met && f.Clean != NotMet, unchecked("what is committed is not known")},
		{clean, holdsIf(f.Clean == Met, notCommitted, "%s is not committed", firstThree(f.Uncommitted))},
		{f.Compared != Met, unchecked(unknownChange)},
		{c.Kind == branchClaim,
			holdsIf(has || known && !c.Sure, commitElse, "no branch of that name has what is checked out")},
		{c.Kind == countClaim,
			holdsIf(n == value(c.Total), commitMissing, "%d commits were made since the baseline", n)},
		{c.Kind == openClaim && f.Committed != NotMet, unchecked("a commit was made since the baseline")},
		{c.Kind == sameClaim && manifest != nil, unchecked("%s changed", value(manifest))},
		{c.Kind == openClaim || c.Kind == sameClaim, holds},
	}, unchecked("nothing checks that here"))
}

// find returns the first element of a list that is meant, nil without one.
func find[T any](list []T, is func(T) bool) *T {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return &list[i]
	}
	return nil
}

// fileFact returns what is known of a claimed path, nil if no witness looked.
func (a *audit) fileFact(path string) *FileFact {
	return find(a.facts.Files, func(f FileFact) bool { return f.Path == path })
}

func (a *audit) nameFact(name string) *NameFact {
	return find(a.facts.Names, func(n NameFact) bool { return n.Name == name })
}

func (a *audit) file(c Claim) finding {
	f := value(a.fileFact(c.Path))
	if f.State == Missing {
		return a.missingFile(c, f)
	}
	other, slight := meant(c.Path, a.paths), f.Slight != "" && !lex("Formatting").Match(a.words)
	return firstOf([]rule{
		{f.Path == "", unchecked("nobody looked")},
		{f.State == Outside && !isLocal(c.Path), unchecked("it is not in the tree")},
		{f.State == Outside, contradicted(c.Sure, fileOutside, "%s", cmp.Or(f.Why, "it leads out of the tree"))},
		{f.State != Exists && f.State != Ignored, unchecked("%s", cmp.Or(f.Why, "it could not be looked at"))},
		{c.Part, finding{}},
		{c.Change == Removed, contradicted(c.Sure, filePresent, "it is still there")},
		{slight && !(f.Comments && lex("Commenting").Match(a.words)), unchecked("%s", f.Slight)},
		{f.State == Ignored && lex("InGit").Match(c.Text) && !a.says("IgnoredMentioned"),
			contradicted(false, notCommitted, "it is ignored, and in no commit")},
		{f.State == Ignored || f.Changed == Met, holds}, // git keeps nothing to compare an ignored file with
		{f.Changed != NotMet, unchecked("%s", cmp.Or(f.Why, "it is there; whether it changed is not known"))},
		{other != "" && other != f.Clean, holds},
		{!c.Sure, unchecked("it is as it was at the baseline, and the words may mean another file")},
	}, contradicted(true, fileUnchanged, "it is as it was at the baseline"))
}

func (a *audit) missingFile(c Claim, f FileFact) finding {
	name, pattern := path.Base(cleanPath(c.Path)), strings.ContainsAny(c.Path, "*?{")
	fits := func(p string) bool { ok, _ := path.Match(name, path.Base(p)); return ok }
	return firstOf([]rule{
		{c.Change == Removed || (c.Change == "" || !c.Sure) && f.Known || meant(c.Path, a.paths) != "", holds},
		{!strings.Contains(cleanPath(c.Path), "/") && a.facts.Compared != Met,
			unchecked("a name without a folder, and what changed is not known")},
		{pattern && slices.ContainsFunc(a.paths, fits), holds},
		{pattern, unchecked("a pattern, not the path of a file")},
		{c.Part && a.says("Absent"), finding{}}, // the report says that the file is not there
		{c.Part, unchecked("there is no such file")},
	}, contradicted(c.Sure || !f.Known, fileMissing, "there is no such file"))
}

func (a *audit) commit(c Claim) finding {
	switch {
	case c.Name != "":
		if f := a.namedCommit(c.Name); f.status != Met {
			return f
		}
	case a.facts.Committed == NotMet:
		return contradicted(true, notCommitted, "no commit was made since the baseline")
	case a.facts.Committed != Met:
		return unchecked("whether there are new commits is not known")
	}
	for _, claim := range a.report.Claims {
		f := a.fileFact(claim.Path)
		switch {
		case claim.Kind != fileClaim || f == nil:
		case f.State == Ignored && !a.says("IgnoredMentioned"):
			return contradicted(false, notCommitted, "%s is ignored, and in no commit", f.Clean).of(f.Clean)
		case f.State != Ignored && f.Committed == NotMet && f.Changed == Met:
			admitted := strings.Contains(a.text, "uncommitted") || strings.Contains(a.text, "not committed")
			return contradicted(claim.Sure && !admitted, notCommitted, "the change of %s is in no commit", f.Clean).of(f.Clean)
		}
	}
	return holds
}

// namedCommit checks that a commit is there, checked out and new.
func (a *audit) namedCommit(name string) finding {
	f, rewritten := find(a.facts.Commits, func(f CommitFact) bool { return f.Rev == name }), a.says("Rewritten")
	if f == nil {
		return unchecked("nobody looked")
	}
	elsewhere := "it is not part of what is checked out"
	if f.Branch != "" {
		elsewhere += "; the branch " + f.Branch + " has it"
	}
	told := f.Branch != "" && strings.Contains(a.text, strings.ToLower(f.Branch)) || strings.Contains(a.text, "worktree")
	return firstOf([]rule{
		{f.Exists == NotMet, contradicted(true, commitMissing, "there is no such commit")},
		{f.Exists != Met, unchecked("%s", cmp.Or(f.Why, "it could not be looked up"))},
		{f.Reachable == NotMet, contradicted(!told && !rewritten, commitElse, "%s", elsewhere)},
		{f.New == NotMet, contradicted(!rewritten, commitOld, "it was made before the work began")},
		{f.New != Met, unchecked("it is there; whether it was made in this work is not known")},
	}, holds)
}

// other checks a claim of work that was pushed. Nothing checks any other.
func (a *audit) other(c Claim) finding {
	pushed := lex("Pushed").Match(c.Text)
	return firstOf([]rule{
		{pushed && a.facts.Remote == NotMet, contradicted(true, notCommitted, "the repository has no remote to push to")},
		{pushed && a.facts.Pushed == Met, holds},
		{pushed && a.facts.Pushed == NotMet, unchecked("no branch of a remote that is known here has it")},
	}, unchecked("nothing checks that here"))
}

func (a *audit) name(c Claim) finding {
	n := a.nameFact(c.Name)
	if n == nil {
		return finding{}
	}
	files := slices.DeleteFunc(slices.Clone(n.Files), func(p string) bool { return c.Path != "" && !within(p, c.Path) })
	used := n.Uses > 0 && (c.Path == "" || len(files) > 0)
	file := a.fileFact(c.Path)
	return firstOf([]rule{
		{c.Change == Added && n.Uses == 0,
			contradicted(c.Sure && !n.Was && n.DefinedBefore == 0, nameMissing, "nothing has that name")},
		{c.Change == Added && !used && len(n.Files) > 0 && file != nil && file.State == Exists,
			contradicted(false, nameMissing, "%s does not have it", c.Path)},
		{c.Change == Removed && n.DefinedBefore > 0 && n.Defined >= n.DefinedBefore,
			contradicted(false, namePresent, "it is still defined")},
		{c.Change == Removed && c.Sure && n.DefinedBefore == 0 && used, unchecked("%s still has it", firstThree(files))},
	}, holds)
}

// within reports whether a file is the claimed path, or in it.
func within(file, claimed string) bool {
	claimed = cleanPath(claimed)
	return ends(claimed, file) || strings.Contains("/"+strings.ToLower(file), "/"+strings.ToLower(claimed)+"/")
}

func (a *audit) newTests(c Claim) finding {
	rows := func(t TestChange) bool { return t.Rows }
	hollow := find(a.facts.New, func(t TestChange) bool { return t.Hollow })
	n, touched := len(a.facts.New), len(a.facts.Tests)+len(a.facts.Moved) > 0
	enough := n >= max(1, value(c.Total)) || slices.ContainsFunc(slices.Concat(a.facts.New, a.facts.Tests), rows)
	return firstOf([]rule{
		{hollow != nil, unchecked("nothing in the new test %s checks anything", value(hollow).Name)},
		{enough || c.Part && c.Total == nil && touched, holds}, // "and its tests"
		{c.Part, unchecked("the work has %d new tests", n)},
	}, contradicted(false, testMissing, "the work has %d new tests", n))
}

func (a *audit) restored(c Claim) finding {
	f := a.fileFact(c.Path)
	if f == nil || slices.ContainsFunc(a.report.Claims, func(o Claim) bool {
		return o.Kind == fileClaim && !(o.Part && c.Sure) && cleanPath(o.Path) == cleanPath(c.Path)
	}) {
		return finding{} // a part of it was kept
	}
	return holdsIf(!slices.Contains(a.paths, f.Clean), fileChanged, "it differs from the baseline")
}

func (a *audit) change(Claim) finding {
	changed := slices.ContainsFunc(a.facts.Changes, func(c Change) bool { return c.Why == "" && !project.Byproduct(c.Path) })
	ignored := slices.ContainsFunc(a.facts.Files, func(f FileFact) bool { return f.State == Ignored })
	return firstOf([]rule{
		{changed || ignored || a.facts.Committed == Met, holds},
		{a.says("Standing") || a.says("Outwards"),
			unchecked("nothing in the tree changed since the baseline")},
		{a.facts.Earlier, unchecked("nothing in the tree changed since the last prompt, only before it")},
	}, contradicted(true, nothingChanged, "nothing changed since the baseline"))
}

// scope checks the claim that nothing else was changed, or nothing at all.
func (a *audit) scope(c Claim) finding {
	n := len(a.paths)
	switch {
	case c.Part && len(a.facts.Tests) > 0: // it is about the tests alone
		t := a.facts.Tests[0]
		return contradicted(false, TestsTampered, "the test %s was %s", t.Name, t.Change).of(t.File)
	case c.Part:
		return holds
	case c.Total != nil:
		return holdsIf(n == *c.Total || c.Sure && n > *c.Total, moreChanged, "%d files differ from the baseline", n)
	case c.Change == Modified && a.facts.Programs: // what programs do
		return unchecked("a program does something else than before")
	case c.Change == Modified:
		return holds
	}
	for _, ch := range a.facts.Changes {
		inCode := testcode.IsCode(ch.Path) && !testcode.IsTest(ch.Path)
		switch {
		case ch.Why != "", project.Byproduct(ch.Path), c.Change == "" && a.namesFile(ch.Path),
			c.Change == Added && ch.Kind != Added, c.Change == Removed && c.Sure && !inCode:
		case c.Change == "" && !c.Sure && !slices.ContainsFunc(a.paths, a.namesFile):
			return unchecked("the report names no changed file")
		default:
			return contradicted(false, moreChanged, "%s was %s", ch.Path, ch.Kind).of(ch.Path)
		}
	}
	return holds
}

func (a *audit) namesFile(name string) bool {
	return strings.Contains(a.text, strings.ToLower(path.Base(name))) || slices.ContainsFunc(a.report.Claims,
		func(c Claim) bool { return c.Kind == fileClaim && ends(cleanPath(c.Path), name) })
}
