package verify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

// Severity is how much a discrepancy matters.
type Severity string

// The severities.
const (
	Critical  Severity = "critical"   // the claim is false: it blocks
	ShouldFix Severity = "should_fix" // the claim cannot stand as it is: it prevents an approval by facts alone
	Info      Severity = "info"       // worth knowing
)

// DiscrepancyKind is what a discrepancy is about.
type DiscrepancyKind string

// The kinds of discrepancy.
const (
	TestResult     DiscrepancyKind = "test_result"     // success was claimed, failure was seen; also of a build or a linter
	TestCount      DiscrepancyKind = "test_count"      // other numbers were seen
	TestMissing    DiscrepancyKind = "test_missing"    // there is no such test
	TestsTampered  DiscrepancyKind = "tests_tampered"  // a test of the baseline is gone, does not run, or was changed
	CommandMissing DiscrepancyKind = "command_missing" // the project has no such command
	FileMissing    DiscrepancyKind = "file_missing"    // there is no such file
	FileUnchanged  DiscrepancyKind = "file_unchanged"  // it is as it was at the baseline
	FilePresent    DiscrepancyKind = "file_present"    // it was claimed to be removed
	FileOutside    DiscrepancyKind = "file_outside"    // it is not in the tree
	FileSpelling   DiscrepancyKind = "file_spelling"   // it has another name
	CommitMissing  DiscrepancyKind = "commit_missing"  // there is no such commit
	CommitOld      DiscrepancyKind = "commit_old"      // it is older than the work
	CommitElse     DiscrepancyKind = "commit_elsewhere"
	NotCommitted   DiscrepancyKind = "not_committed"   // the work is not in a commit
	NothingChanged DiscrepancyKind = "nothing_changed" // the tree is as it was at the baseline
	MoreChanged    DiscrepancyKind = "more_changed"    // other files were changed, too
)

// Discrepancy is a difference between what a report claims and what was seen.
type Discrepancy struct {
	Kind     DiscrepancyKind `json:"kind"`
	Severity Severity        `json:"severity"`
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

// MarshalJSON writes an empty list of discrepancies as such.
func (h Honesty) MarshalJSON() ([]byte, error) {
	type plain Honesty
	h.Discrepancies = some(h.Discrepancies)
	return json.Marshal(plain(h))
}

// Audit holds the claims of a report against the facts. A claim is called false only when the facts contradict it as it was
// meant. A claim that the facts say nothing about is not checked. Audit changes neither argument.
func Audit(r Report, f Facts) Honesty {
	a := audit{report: r, facts: f, said: strings.ToLower(start(r.Text, maxProse))}
	for _, c := range f.Changes {
		a.paths = append(a.paths, c.Path)
	}
	for _, c := range r.Claims {
		if c.Kind == ChangeClaim && slices.ContainsFunc(r.Claims, func(o Claim) bool { return o.Kind == FileClaim && o.Sure }) {
			continue // it says so in other words
		}
		if c.Kind != FileClaim || !c.Part {
			a.Claims++
		}
		switch c.Kind {
		case FileClaim:
			a.file(c)
		case RunClaim:
			a.run(c)
		case TestClaim:
			a.test(c)
		case CommitClaim:
			a.commit(c)
		case ChangeClaim:
			a.change(c)
		case ScopeClaim:
			a.scope(c)
		default:
			a.other(c)
		}
	}
	a.tampering()
	h := a.Honesty
	if h.Checked > 0 {
		score := float64(a.held) / float64(h.Checked)
		h.Score = &score
	}
	rank := []Severity{Critical, ShouldFix, Info}
	slices.SortStableFunc(h.Discrepancies, func(a, b Discrepancy) int {
		return cmp.Compare(slices.Index(rank, a.Severity), slices.Index(rank, b.Severity))
	})
	return h
}

// audit is a comparison at work.
type audit struct {
	report Report
	facts  Facts
	said   string   // the report in lower case
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

func (a *audit) unchecked(c Claim, format string, args ...any) {
	s := clean(c.words() + ": " + fmt.Sprintf(format, args...))
	if !slices.Contains(a.Unchecked, s) {
		a.Unchecked = append(a.Unchecked, s)
	}
}

func (a *audit) file(c Claim) {
	i := slices.IndexFunc(a.facts.Files, func(f FileFact) bool { return f.Path == c.Path })
	if i < 0 {
		a.unchecked(c, "nobody looked")
		return
	}
	f := a.facts.Files[i]
	d := Discrepancy{Severity: Critical, Subject: cmp.Or(f.Clean, c.Path), Claimed: c.words()}
	if !c.Sure {
		d.Severity = ShouldFix // the words may mean another file
	}
	other, spelled := meant(c.Path, a.paths, a.unclaimed)
	switch {
	case f.State == Outside && isLocal(c.Path):
		d.Kind, d.Found, d.Fix = FileOutside, cmp.Or(f.Why, "it leads out of the tree"), "put the file itself into the tree"
		a.contradict(d)
	case f.State == Outside:
		a.unchecked(c, "it is not in the tree")
	case f.State == Missing && (c.Change == Removed || (c.Change == "" || !c.Sure) && f.Known):
		a.hold()
	case f.State == Missing && spelled && c.Change != Removed:
		a.hold()
		a.note(Discrepancy{Kind: FileSpelling, Severity: Info, Subject: other, Claimed: c.words(), Found: "its name is " + other, Fix: "write " + code(other)})
	case f.State == Missing && !strings.Contains(cleanPath(c.Path), "/") && a.facts.Compared != Met:
		a.unchecked(c, "a name without a folder, and what changed is not known")
	case f.State == Missing && strings.ContainsAny(c.Path, "*?{"):
		if slices.ContainsFunc(a.paths, func(p string) bool { ok, _ := path.Match(path.Base(cleanPath(c.Path)), path.Base(p)); return ok }) {
			a.hold()
			return
		}
		a.unchecked(c, "a pattern, not the path of a file")
	case f.State == Missing && c.Part && !absent.Match(a.said):
		a.unchecked(c, "there is no such file")
	case c.Part && f.State == Missing:
	case c.Part && (f.State == Exists || f.State == Ignored):
		// It is only named.
	case f.State == Missing:
		if !f.Known {
			d.Severity = Critical // something is claimed to be in a file that never was
		}
		d.Kind, d.Found, d.Fix = FileMissing, "there is no such file", "create "+code(d.Subject)+", or correct the report"
		a.contradict(d)
	case f.State != Exists && f.State != Ignored:
		a.unchecked(c, "%s", cmp.Or(f.Why, "it could not be looked at"))
	case c.Change == Removed:
		d.Kind, d.Found, d.Fix = FilePresent, "it is still there", "remove "+code(d.Subject)+", or correct the report"
		a.contradict(d)
	case f.State == Ignored:
		a.hold() // it is there, and git keeps nothing to compare it with
	case f.Changed == Met:
		a.hold()
	case f.Changed != NotMet:
		a.unchecked(c, "%s", cmp.Or(f.Why, "it is there; whether it changed is not known"))
	case spelled && other != f.Clean:
		a.hold()
		a.note(Discrepancy{Kind: FileSpelling, Severity: Info, Subject: other, Claimed: c.words(), Found: "the changed file is " + other, Fix: "name it " + code(other)})
	case !c.Sure:
		a.unchecked(c, "it is as it was at the baseline, and the words may mean another file")
	default:
		d.Kind, d.Found, d.Fix = FileUnchanged, "it is as it was at the baseline", "make the change in "+code(d.Subject)+", or correct the report"
		a.contradict(d)
	}
}

// unclaimed reports whether no claim names the path.
func (a *audit) unclaimed(p string) bool {
	return !slices.ContainsFunc(a.report.Claims, func(c Claim) bool { return c.Kind == FileClaim && ends(cleanPath(c.Path), p) })
}

func (a *audit) commit(c Claim) {
	d := Discrepancy{Severity: Critical, Subject: c.Name, Claimed: c.words()}
	if c.Name != "" {
		i := slices.IndexFunc(a.facts.Commits, func(f CommitFact) bool { return f.Rev == c.Name })
		if i < 0 {
			a.unchecked(c, "nobody looked")
			return
		}
		f := a.facts.Commits[i]
		switch {
		case f.Exists == NotMet:
			d.Kind, d.Found, d.Fix = CommitMissing, "there is no such commit", "commit the work, or correct the report"
			a.contradict(d)
			return
		case f.Exists != Met:
			a.unchecked(c, "%s", cmp.Or(f.Why, "it could not be looked up"))
			return
		case f.Reachable == NotMet:
			d.Kind, d.Found, d.Fix = CommitElse, "it is not part of what is checked out", "check out the branch that has it, or say which one does"
			if f.Branch != "" {
				d.Found += "; the branch " + f.Branch + " has it"
			}
			if f.Branch != "" && strings.Contains(a.said, strings.ToLower(f.Branch)) || strings.Contains(a.said, "worktree") || rewritten.Match(a.said) {
				d.Severity = ShouldFix
			}
			a.contradict(d)
			return
		case f.New == NotMet && rewritten.Match(a.said):
			a.unchecked(c, "it was made before the work began, or was rewritten")
			return
		case f.New == NotMet:
			d.Kind, d.Found, d.Fix = CommitOld, "it was made before the work began", "commit the work, or correct the report"
			a.contradict(d)
			return
		case f.New != Met:
			a.unchecked(c, "it is there; whether it was made in this work is not known")
			return
		}
	} else if a.facts.Committed == NotMet {
		d.Kind, d.Found, d.Fix = NotCommitted, "no commit was made since the baseline", "commit the work, or correct the report"
		a.contradict(d)
		return
	} else if a.facts.Committed != Met {
		a.unchecked(c, "whether there are new commits is not known")
		return
	}
	for _, claim := range a.report.of(FileClaim) {
		i := slices.IndexFunc(a.facts.Files, func(f FileFact) bool { return f.Path == claim.Path })
		if i >= 0 && a.facts.Files[i].Committed == NotMet && a.facts.Files[i].Changed == Met && a.facts.Files[i].State != Ignored {
			d.Kind, d.Subject = NotCommitted, a.facts.Files[i].Clean
			d.Found, d.Fix = "the change of "+a.facts.Files[i].Clean+" is in no commit", "commit it, or correct the report"
			if !claim.Sure || strings.Contains(a.said, "uncommitted") || strings.Contains(a.said, "not committed") {
				d.Severity = ShouldFix
			}
			a.contradict(d)
			return
		}
	}
	a.hold()
}

var (
	rewritten = lazy.New(`\b(?:amend|rebas|squash|cherry-pick)\w*`)
	absent    = lazy.New(`\b(?:no such file|(?:does|did) not exist|doesn['’]t exist|not found|no longer exists?)\b`)
	pushed    = lazy.New(`(?i)\bpushed\b`)
	// What a report says when it tells what is so, rather than what it did.
	standing = lazy.New(`(?i)\b(?:already|existing|exists|currently|no changes?|nothing to|revert(?:ed)?|unchanged|not changed|as before|reviewed|review|analy[sz]ed|investigat\w*|looked (?:at|into)|explain\w*)\b`)
	// What changes nothing in the tree.
	outwards = lazy.New(`(?i)\b(?:deploy\w*|restart\w*|(?:re)?install\w*|provision\w*|migrated|posted|sent|uploaded|published|closed|opened|downloaded)\b`)
)

func (a *audit) other(c Claim) {
	if pushed.Match(c.Text) {
		switch {
		case a.facts.Remote == NotMet:
			a.contradict(Discrepancy{Kind: NotCommitted, Severity: Critical, Claimed: c.words(), Found: "the repository has no remote to push to", Fix: "correct the report"})
			return
		case a.facts.Pushed == Met:
			a.hold()
			return
		case a.facts.Pushed == NotMet:
			a.unchecked(c, "no branch of a remote that is known here has it")
			return
		}
	}
	a.unchecked(c, "nothing looks at that here")
}

// change looks at the claim that something was changed, when nothing was.
func (a *audit) change(c Claim) {
	switch {
	case a.facts.Compared != Met:
		a.unchecked(c, "what changed is not known")
	case a.facts.Committed == Met || slices.ContainsFunc(a.facts.Changes, func(c Change) bool { return c.Why == "" && !Byproduct(c) }):
		a.hold()
	case slices.ContainsFunc(a.facts.Files, func(f FileFact) bool { return f.State == Ignored }):
		a.hold()
	case standing.Match(a.said) || outwards.Match(a.said):
		a.unchecked(c, "nothing in the tree changed since the baseline")
	case a.facts.Earlier:
		a.unchecked(c, "nothing in the tree changed since the last prompt, only before it")
	default:
		a.contradict(Discrepancy{Kind: NothingChanged, Severity: Critical, Claimed: c.words(), Found: "nothing changed since the baseline",
			Fix: "do the work, or say that nothing was changed"})
	}
}

// scope looks at the claim that nothing else was changed, or nothing at all.
func (a *audit) scope(c Claim) {
	if a.facts.Compared != Met {
		a.unchecked(c, "what changed is not known")
		return
	}
	for _, ch := range a.facts.Changes {
		claimed := !a.unclaimed(ch.Path) || strings.Contains(a.said, strings.ToLower(path.Base(ch.Path)))
		if ch.Why != "" || c.Change != Removed && claimed || Byproduct(ch) {
			continue
		}
		a.contradict(Discrepancy{Kind: MoreChanged, Severity: ShouldFix, Subject: ch.Path, Claimed: c.words(),
			Found: ch.Path + " was " + string(ch.Kind), Fix: "name all files that were changed"})
		return
	}
	a.hold()
}

// Byproduct reports whether a change looks like one that building or testing makes: a lock file, a cache, a coverage
// profile.
func Byproduct(c Change) bool { return byproduct.Match(c.Path) }

var byproduct = lazy.New(`(?i)(?:^|/)(?:[\w.-]*\.lock|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|\.coverage[\w.]*|coverage[\w.-]*|` +
	`[\w.-]*cache[\w.-]*|[\w.-]*\.(?:log|out|prof|profraw|pyc|class|o|tmp|xml|tsbuildinfo|snap)|\.DS_Store|junit[\w.-]*)(?:/.*)?$`)
