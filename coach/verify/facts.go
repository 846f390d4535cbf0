package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testoutput"
)

// Witness looks at one side of a piece of work. It reports what it saw, and runs nothing but the commands of the
// query. A thing that it could not see is Unverified, with the reason. Its error says that it could not look at all.
// It must be safe for concurrent use.
type Witness interface {
	Look(ctx context.Context, q Query) (Facts, error)
}

// Query is what a [Witness] is asked. It answers its own part and leaves the rest. The parts from the agent's report
// are data to look for, and are never run.
type Query struct {
	Baseline string   // the revision at which the work began, as the host names it; empty: its snapshot
	Paths    []string // claimed paths, in any spelling
	Commits  []string // claimed commits
	Tests    []string // names of tests that the report names
	Before   bool     // whether tests failed on the baseline is asked
	Names    []string // names in code, such as functions, that the report says were made, changed or removed
	Branches []string // that the report names
	// Shown has words and numbers that the change must show: one behind "=" as a whole word, "=5 minutes" in any unit. A
	// number behind "<" is one that the files that changed must have had.
	Shown    []string
	Claimed  [][]string // commands that the report names, in words
	Commands [][]string // commands that the host wants to be run, in words
}

// Facts is what witnesses saw. The zero value: nobody looked.
type Facts struct {
	Tree     string       `json:"tree,omitempty"` // equal for equal content of the working tree; empty: unknown
	Base     string       `json:"base,omitempty"` // what the tree was compared with, a commit or a snapshot; empty: nothing
	Compared Status       `json:"compared"`       // Met when Changes lists all that differs from Base
	Changes  []Change     `json:"changes,omitempty"`
	Files    []FileFact   `json:"files,omitempty"`
	Commits  []CommitFact `json:"commits,omitempty"`
	// Branches has what the query named and the repository has, by name: whether the branch has what is checked out.
	Branches   map[string]bool `json:"branches,omitempty"`
	NewCommits []string        `json:"new_commits,omitempty"` // the subjects of those that were made since Base
	Earlier    bool            `json:"earlier,omitempty"`     // the tree had changed before Base, in the same session
	// Committed is Met when commits were made since Base, Remote when the repository has a remote, Pushed when a branch of
	// the remote has the commit that is checked out.
	Committed Status `json:"committed"`
	Remote    Status `json:"remote"`
	Pushed    Status `json:"pushed"`
	// Clean is Met when all of the tree is committed. Else Uncommitted has files that are not.
	Clean       Status   `json:"clean"`
	Uncommitted []string `json:"uncommitted,omitempty"`

	Runs     []Run        `json:"tests,omitempty"`
	BaseRuns []Run        `json:"base_tests,omitempty"` // the same commands on Base, after a failure
	Tests    []TestChange `json:"test_changes,omitempty"`
	Moved    []TestChange `json:"moved_tests,omitempty"` // to another file, Now: a runner may not look there
	Gone     []string     `json:"gone,omitempty"`        // files without which tests may not be found
	New      []TestChange `json:"new_tests,omitempty"`   // that run and were not on the baseline
	Named    []NamedTest  `json:"named_tests,omitempty"`
	Names    []NameFact   `json:"names,omitempty"`
	// Shown has those words of the query that the change of programs and settings shows, Written those that the change of
	// documents shows, and Dropped those of a removed line that no new line of its file has.
	Shown    []string  `json:"shown,omitempty"`
	Written  []string  `json:"written,omitempty"`
	Dropped  []string  `json:"dropped,omitempty"`
	Programs bool      `json:"programs,omitempty"` // a program that is not a test does something else than before
	Suspects []Suspect `json:"suspects,omitempty"`
	Missing  []Run     `json:"missing_commands,omitempty"` // that the report names and the project does not have
	// Unseen says what a witness could not look at and why, a sentence each, for people.
	Unseen []string `json:"unseen,omitempty"`
}

// ChangeKind is how a file differs from the baseline. A renamed file is one removed and one added.
type ChangeKind string

// The kinds of change.
const (
	Added    ChangeKind = "added"
	Modified ChangeKind = "modified"
	Removed  ChangeKind = "removed"
)

// Change is a file that differs from the baseline.
type Change struct {
	Path string     `json:"path"` // in slashes, from the top of the tree
	Kind ChangeKind `json:"kind"`
	Hash string     `json:"hash,omitempty"` // of its content now
	Why  string     `json:"why,omitempty"`  // why it is not certain that it differs; empty: it is
}

// FileState is where a claimed path leads.
type FileState string

// The states of a file. The zero value is unknown.
const (
	Exists  FileState = "exists"
	Missing FileState = "missing"
	Ignored FileState = "ignored" // it exists, and version control ignores it
	Outside FileState = "outside" // it leads out of the tree, as written or by a symbolic link
)

// FileFact is what is known of a claimed path.
type FileFact struct {
	Path      string     `json:"path"`            // as it was asked
	Clean     string     `json:"clean,omitempty"` // in slashes, from the top of the tree, as it is spelled there
	State     FileState  `json:"state,omitempty"`
	Changed   Status     `json:"changed"` // it differs from the baseline
	Kind      ChangeKind `json:"kind,omitempty"`
	Known     bool       `json:"known,omitempty"`    // the baseline has it
	Committed Status     `json:"committed"`          // its change is in a commit
	Slight    string     `json:"slight,omitempty"`   // why its change is hardly one: it is empty, or only blanks changed
	Comments  bool       `json:"comments,omitempty"` // only its comments changed
	Why       string     `json:"why,omitempty"`
}

// CommitFact is what is known of a claimed commit.
type CommitFact struct {
	Rev       string `json:"rev"` // as it was asked
	Exists    Status `json:"exists"`
	Reachable Status `json:"reachable"`        // from what is checked out
	New       Status `json:"new"`              // it was made after the baseline
	Branch    string `json:"branch,omitempty"` // one that has it, where it is not reachable
	Why       string `json:"why,omitempty"`
}

// Run is one run of a command that the host listed.
type Run struct {
	Command []string `json:"command"`
	// Status is Met when tests ran and all of them passed; where nothing can be counted, when the command succeeded. It is
	// NotMet when the command ran and failed. Anything else is Unverified.
	Status Status `json:"status"`
	Exit   int    `json:"exit"` // the exit status; -1 if it did not start, or did not end by itself
	// Counted says whether single tests were seen. Without it, only Failures has a meaning.
	Counted  bool          `json:"counted,omitempty"`
	Total    int           `json:"total"`
	Passed   int           `json:"passed"`
	Failed   int           `json:"failed"`
	Skipped  int           `json:"skipped"`
	Parts    int           `json:"parts_passed,omitempty"` // subtests, which some tools count, too
	Failures []string      `json:"failures,omitempty"`     // names of failing tests, perhaps not all
	Passes   []string      `json:"passes,omitempty"`       // names of tests and packages that passed, where they are known
	Output   string        `json:"output,omitempty"`       // the end of what it printed
	Why      string        `json:"why,omitempty"`          // of NotMet or Unverified, for people
	Took     time.Duration `json:"took_ns,omitempty"`

	Withheld []string `json:"withheld,omitempty"` // variables of the environment that it did not get
	Wrote    []string `json:"wrote,omitempty"`    // programs and tests that changed while it ran
}

// TestChange is a test of the baseline that does not run any more, or not as before. It may also be a new test.
type TestChange = testcode.Finding

// NameFact is what is known of a name in code.
type NameFact struct {
	Name          string   `json:"name"`
	Uses          int      `json:"uses"` // lines of the tree that have it, without prose and comments
	Defined       int      `json:"defined"`
	DefinedBefore int      `json:"defined_before"`
	Was           bool     `json:"was,omitempty"`   // the baseline has it, or prose of the tree
	Stub          bool     `json:"stub,omitempty"`  // it is declared, and does nothing yet
	Files         []string `json:"files,omitempty"` // of the tree that have it in a line that counts
}

// NamedTest is a test that the report names.
type NamedTest struct {
	Name   string `json:"name"`
	Now    Status `json:"now"`    // a file of the tree declares it
	Before Status `json:"before"` // a file of the baseline declared it
}

// Suspect is a file that can decide what a run of tests shows, and changed: a person must look at it.
type Suspect struct {
	Path string `json:"path"`
	Why  string `json:"why"` // what it decides, and how it changed
}

// outcome returns what a run shows. A failed test is a failure whatever the exit status says. A run without a passed
// test shows nothing.
func (r Run) outcome() Status {
	switch {
	case r.Status == NotMet || r.Failed > 0:
		return NotMet
	case r.Status == Met && !(r.Counted && r.Passed == 0):
		return Met
	}
	return Unverified
}

// found says what a run showed, without its output.
func (r Run) found() string {
	var parts []string
	if r.Counted {
		parts = append(parts, r.counts())
	}
	if len(r.Failures) > 0 {
		parts = append(parts, firstThree(r.Failures))
	}
	if r.Why != "" && !(r.Counted && r.Failed > 0) {
		parts = append(parts, strings.TrimRight(r.Why, "."))
	}
	if len(parts) > 0 {
		return strings.Join(parts, "; ")
	}
	return map[Status]string{
		Met: "it succeeded", NotMet: "it failed", Unverified: "it shows neither success nor failure",
	}[r.outcome()]
}

// counts is "12 passed, 1 failed, 2 skipped".
func (r Run) counts() string {
	s := fmt.Sprintf("%d passed, %d failed", r.Passed, r.Failed)
	if r.Skipped > 0 {
		s += fmt.Sprintf(", %d skipped", r.Skipped)
	}
	return s
}

func (r Run) line() string { return strings.Join(r.Command, " ") }

// runOf returns the run of a command, nil without one.
func runOf(runs []Run, command []string) *Run {
	return find(runs, func(r Run) bool { return slices.Equal(r.Command, command) })
}

// Failures sorts the failures of a run by the run on the baseline: fresh passed there, old failed there too, and of
// the rest nothing is known. A failure without a test name stands for the command.
func (f Facts) Failures(r Run) (fresh, old, unknown []string) {
	if r.outcome() != NotMet {
		return nil, nil, nil
	}
	base, names, whole := cmp.Or(runOf(f.BaseRuns, r.Command), &Run{}), r.Failures, len(r.Failures) == 0
	if whole {
		names = []string{code(r.line()) + " (" + r.found() + ")"}
	}
	for _, name := range names {
		switch {
		case slices.Contains(base.Failures, name), whole && base.outcome() == NotMet && len(base.Failures) == 0:
			old = append(old, name)
		case slices.Contains(base.Passes, name), whole && base.outcome() == Met:
			fresh = append(fresh, name)
		default:
			unknown = append(unknown, name)
		}
	}
	return fresh, old, unknown
}

// summary is what several runs show together.
type summary struct {
	Run        // the sums; Counted says that all of them were counted
	outcome    Status
	why        string // the first reason for another outcome than Met
	based      bool   // the baseline shows something of one of them
	fresh, old []string
	unknown    []string
}

func (f Facts) sum(runs []Run) summary {
	s := summary{Run: Run{Counted: true}}
	var all []Status
	for _, r := range runs {
		all = append(all, r.outcome())
		s.Total, s.Passed, s.Failed = s.Total+r.Total, s.Passed+r.Passed, s.Failed+r.Failed
		s.Skipped, s.Parts = s.Skipped+r.Skipped, s.Parts+r.Parts
		s.Counted = s.Counted && r.Counted
		if r.outcome() != Met && s.why == "" {
			s.why = r.found()
		}
		fresh, old, unknown := f.Failures(r)
		s.fresh, s.old, s.unknown = append(s.fresh, fresh...), append(s.old, old...), append(s.unknown, unknown...)
		s.Withheld = append(s.Withheld, r.Withheld...)
		base := runOf(f.BaseRuns, r.Command)
		s.based = s.based || base != nil && base.outcome() != Unverified
	}
	s.outcome = And(all...)
	return s
}

// unreached returns the tests that ran on the baseline and do not run any more, though nothing in their code says so:
// their files moved or went away, or something skips them. Where the runner names no tests, numbers decide.
func (f Facts) unreached() (list []TestChange) {
	gone, files := 0, slices.Clone(f.Gone) // that may be why
	for _, t := range slices.Concat(f.Moved, f.Tests) {
		files = append(files, t.File)
		if t.Change == "removed" || t.Change == "disabled" {
			gone++
		}
	}
	files = append(files, value(find(f.Changes, func(c Change) bool { return testcode.IsTest(c.Path) })).Path)
	for _, r := range f.Runs {
		kind, base := kindOf(r.Command), runOf(f.BaseRuns, r.Command)
		if r.outcome() != Met || kind == runBuild || kind == runLint || base == nil {
			continue
		}
		lost := func(t TestChange, format string, args ...any) {
			t.Change, t.Why = "unreached", fmt.Sprintf(format, args...)
			list = append(list, t)
		}
		ran := func(r Run, name string) bool {
			return slices.ContainsFunc(slices.Concat(r.Passes, r.Failures), func(n string) bool {
				return testoutput.ShortName(n) == testoutput.ShortName(name)
			})
		}
		before := len(list)
		named, counted := len(base.Passes) > 0 && len(r.Passes) > 0, r.Counted && base.Counted
		for _, t := range f.Moved {
			switch {
			case !counted:
				lost(t, "whether %s still runs it is not known", code(r.line()))
			case named && !ran(r, t.Name) && ran(*base, t.Name):
				lost(t, "%s does not run it any more", code(r.line()))
			}
		}
		fewer := base.Passed + base.Failed + len(f.New) - gone - r.Passed
		if len(list) == before && counted && fewer > 0 && files[0] != "" {
			lost(TestChange{File: files[0]}, "%s runs %d tests fewer than it should", code(r.line()), fewer)
		}
	}
	return list
}

func (f Facts) seen() bool {
	return f.Compared == Met || len(f.Changes)+len(f.Tests) > 0 ||
		slices.ContainsFunc(f.Files, func(x FileFact) bool { return x.State != "" }) ||
		slices.ContainsFunc(f.Commits, func(c CommitFact) bool { return c.Exists == Met || c.Exists == NotMet }) ||
		slices.ContainsFunc(f.Runs, func(r Run) bool { return r.Counted || r.outcome() != Unverified })
}

// merge returns what f and g say together. Of two facts about one thing, the later one (of g) counts. A comparison with
// a baseline replaces another one as a whole.
func (f Facts) merge(g Facts) Facts {
	both := f
	if g.Base != "" || g.Compared == Met || len(g.Changes)+len(g.Tests)+len(g.Suspects) > 0 {
		both = g
	}
	both.Tree = cmp.Or(g.Tree, f.Tree)
	both.Files = later(f.Files, g.Files, func(x FileFact) string { return x.Path })
	both.Commits = later(f.Commits, g.Commits, func(c CommitFact) string { return c.Rev })
	both.Named = later(f.Named, g.Named, func(t NamedTest) string { return t.Name })
	both.Names = later(f.Names, g.Names, func(n NameFact) string { return n.Name })
	both.Runs, both.BaseRuns = later(f.Runs, g.Runs, Run.line), later(f.BaseRuns, g.BaseRuns, Run.line)
	both.Missing = slices.Concat(f.Missing, g.Missing)
	both.Unseen = slices.Concat(f.Unseen, g.Unseen)
	return both
}

// later returns two lists as one. Of elements with the same name, the later ones count.
func later[T any](old, new []T, name func(T) string) []T {
	old = slices.DeleteFunc(slices.Clone(old), func(x T) bool {
		return slices.ContainsFunc(new, func(y T) bool { return name(x) == name(y) })
	})
	return append(old, new...)
}

// Status is what is known of something that was asked. The zero value, and any other text, is Unverified.
type Status string

// The three values.
const (
	Met        Status = "met"        // it was looked at, and holds
	NotMet     Status = "not_met"    // it was looked at, and does not hold
	Unverified Status = "unverified" // it was not looked at, or could not be seen
)

// String returns one of the three values.
func (s Status) String() string { return string(And(s)) }

// MarshalText writes one of the three values.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote. Anything else is Unverified, without an error: its meaning is unknown.
func (s *Status) UnmarshalText(text []byte) error {
	*s = And(Status(text))
	return nil
}

// And returns NotMet if any is, else Unverified if any is or if there is none, else Met.
func And(all ...Status) Status {
	switch {
	case slices.Contains(all, NotMet):
		return NotMet
	case len(all) == 0 || slices.ContainsFunc(all, func(s Status) bool { return s != Met }):
		return Unverified
	}
	return Met
}
