package verify

import (
	"slices"
	"time"
)

// Facts is what witnesses saw. The zero value: nobody looked. It says nothing of what is not in it.
type Facts struct {
	// Tree identifies the content of the working tree that was looked at: equal for equal content, whoever computes it in
	// the same way. Empty: unknown.
	Tree string `json:"tree,omitempty"`
	// Base is the full name of the commit that the tree was compared with. Empty: it was not compared.
	Base string `json:"base,omitempty"`
	// Compared is Met when Changes and TestFiles are all that differs from Base, Unverified when they are not.
	Compared  Status         `json:"compared"`
	Changes   []Change       `json:"changes,omitempty"`
	Files     []FileFact     `json:"files,omitempty"`
	Commits   []CommitFact   `json:"commits,omitempty"`
	Tests     []TestFact     `json:"tests,omitempty"`
	BaseTests []TestFact     `json:"base_tests,omitempty"` // the same commands on Base, for what failed before
	TestFiles []TestFileFact `json:"test_files,omitempty"`
	// Unseen is what a witness could not look at and why, a sentence each, for people.
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
	Why  string     `json:"why,omitempty"` // why it is not sure that it differs; empty: it is
}

// FileState is where a claimed path leads.
type FileState string

// The states of a file. The zero value is unknown.
const (
	Exists  FileState = "exists"
	Missing FileState = "missing" // nothing is there, nor was at the baseline if Change is not Removed
	Ignored FileState = "ignored" // it is there, and ignored by version control
	Outside FileState = "outside" // it leads out of the tree, as written or by a symbolic link
)

// FileFact is what is known of a claimed path.
type FileFact struct {
	Path    string     `json:"path"`            // as it was asked
	Clean   string     `json:"clean,omitempty"` // in slashes, from the top of the tree, as it is spelled there
	State   FileState  `json:"state,omitempty"`
	Changed Status     `json:"changed"` // differs from the baseline: content, mode, being there or not
	Kind    ChangeKind `json:"kind,omitempty"`
	Tracked Status     `json:"tracked"`       // is in version control
	Why     string     `json:"why,omitempty"` // of what is Unverified or Outside, for people
}

// CommitFact is what is known of a claimed commit.
type CommitFact struct {
	Rev       string `json:"rev"`            // as it was asked
	Name      string `json:"name,omitempty"` // its full name, if it exists
	Exists    Status `json:"exists"`
	Reachable Status `json:"reachable"` // from what is checked out
	Why       string `json:"why,omitempty"`
}

// TestFact is one run of a command that the host listed.
type TestFact struct {
	Command []string `json:"command"` // in words, as the query has it
	// Status is Met when tests were seen to run and all that ran passed, and for a command that reports no tests when it
	// succeeded; NotMet when it ran and failed. Anything else is Unverified.
	Status Status `json:"status"`
	// Counted says whether single tests were seen; without it the numbers mean nothing.
	Counted bool `json:"counted,omitempty"`
	Total   int  `json:"total"` // Passed, Failed and Skipped together
	Passed  int  `json:"passed"`
	Failed  int  `json:"failed"`
	Skipped int  `json:"skipped"`
	// PartsPassed is how many parts of tests (subtests) passed beside them, where these are told apart: some tools count both.
	PartsPassed int `json:"parts_passed,omitempty"`
	// Failures names failing tests, in an order of the witness; it may stop short of all.
	Failures []string      `json:"failures,omitempty"`
	Output   string        `json:"output,omitempty"` // the end of what it printed, bounded
	Why      string        `json:"why,omitempty"`    // of NotMet or Unverified, a sentence for people, not the command's words
	Took     time.Duration `json:"took_ns,omitempty"`
	Tree     string        `json:"tree,omitempty"` // like Facts.Tree, before the run; empty: unknown
}

// TestFileFact is a test file, or a file that settles which tests run and how, that differs from the baseline.
type TestFileFact struct {
	Path   string     `json:"path"`
	Kind   ChangeKind `json:"kind"`
	Config bool       `json:"config,omitempty"` // a TestMain, the settings of a test runner
	Why    string     `json:"why,omitempty"`    // why it is not sure that it differs; empty: it is
}

// seen reports whether anything was: a witness that could not look has seen nothing.
func (f Facts) seen() bool {
	return f.Compared == Met || len(f.Changes)+len(f.TestFiles) > 0 ||
		slices.ContainsFunc(f.Files, func(c FileFact) bool { return c.State != "" }) ||
		slices.ContainsFunc(f.Commits, func(c CommitFact) bool { return c.Exists == Met || c.Exists == NotMet }) ||
		slices.ContainsFunc(f.Tests, func(t TestFact) bool { return t.Counted || t.outcome() != Unverified })
}

// Merge returns what f and g say together. Of two facts about the same file, commit or command the later one, g's, counts, unless
// it is Unverified and the other is not; with different trees the later tree counts, and facts keep their own.
// It changes neither and shares no slice with them.
func (f Facts) Merge(g Facts) Facts {
	m := Facts{Tree: f.Tree, Base: f.Base, Compared: f.Compared}
	m.Changes, m.TestFiles = slices.Clone(f.Changes), slices.Clone(f.TestFiles)
	if g.Tree != "" {
		m.Tree = g.Tree
	}
	if g.Base != "" || g.Compared == Met || len(g.Changes)+len(g.TestFiles) > 0 { // a comparison is one whole
		m.Base, m.Compared = g.Base, g.Compared
		m.Changes, m.TestFiles = slices.Clone(g.Changes), slices.Clone(g.TestFiles)
	}
	m.Files = merge(f.Files, g.Files, func(a, b FileFact) bool { return a.Path == b.Path },
		func(x FileFact) bool { return x.State != "" })
	m.Commits = merge(f.Commits, g.Commits, func(a, b CommitFact) bool { return a.Rev == b.Rev },
		func(x CommitFact) bool { return x.Exists.String() != string(Unverified) })
	m.Tests = mergeTests(f.Tests, g.Tests)
	m.BaseTests = mergeTests(f.BaseTests, g.BaseTests)
	m.Unseen = append(slices.Clone(f.Unseen), g.Unseen...)
	return m
}

func mergeTests(old, new []TestFact) []TestFact {
	return merge(old, new, func(a, b TestFact) bool { return slices.Equal(a.Command, b.Command) },
		func(x TestFact) bool { return x.Status.String() != string(Unverified) })
}

// merge appends to old what is new, which replaces what is the same unless it alone is not known.
func merge[T any](old, new []T, same func(a, b T) bool, known func(T) bool) []T {
	all := slices.Clone(old)
	for _, x := range new {
		i := slices.IndexFunc(all, func(y T) bool { return same(x, y) })
		switch {
		case i < 0:
			all = append(all, x)
		case known(x) || !known(all[i]):
			all[i] = x
		}
	}
	return all
}
