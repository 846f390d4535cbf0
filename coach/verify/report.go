package verify

import (
	"path"
	"strings"
)

// Report is what an agent says it did: claims to test. The zero value claims nothing. [ParseReport] reads one.
type Report struct {
	Text    string      `json:"text,omitempty"`    // its words, as they came
	Files   []FileClaim `json:"files,omitempty"`   // in the order of the text, each path once
	Tests   []TestClaim `json:"tests,omitempty"`   // that tests, a build or a linter were run
	Commits []string    `json:"commits,omitempty"` // that there are commits of these names
}

// FileClaim is that a file was changed.
type FileClaim struct {
	Path string     `json:"path"`           // as written, without quotes and line numbers
	Kind ChangeKind `json:"kind,omitempty"` // empty: changed in some way
}

// TestClaim is that something was run and how it went.
type TestClaim struct {
	Kind    RunKind `json:"kind"`
	Command string  `json:"command,omitempty"` // as written; never run
	Part    bool    `json:"part,omitempty"`    // it is about some tests only: "the new tests pass"
	// Result is Met for a claim of success, NotMet for an admitted failure, Unverified when neither is said.
	Result Status `json:"result"`
	// What was counted; nil is not said.
	Total   *int `json:"total,omitempty"`
	Passed  *int `json:"passed,omitempty"`
	Failed  *int `json:"failed,omitempty"`
	Skipped *int `json:"skipped,omitempty"`
}

// RunKind is what was run.
type RunKind string

// The kinds of a run.
const (
	RunTests RunKind = "tests"
	RunBuild RunKind = "build"
	RunLint  RunKind = "lint"
)

// telling is what a report says of test files without naming them.
type telling struct {
	text          string // lower case
	gone, changed bool   // that some were removed or moved; that some were changed
}

func (r Report) telling() telling {
	t := telling{text: strings.ToLower(start(r.Text, maxProse))}
	t.gone, t.changed = testsGone.get().MatchString(t.text), testsChanged.get().MatchString(t.text)
	return t
}

// mentions reports whether the report says that a test file was changed: it names the file or, unless it was removed, says that
// tests were changed. Of a removal it must name the file or say that tests were removed or moved.
func (r Report) mentions(said telling, t TestFileFact) bool {
	for _, c := range r.Files {
		if ends(cleanPath(c.Path), t.Path) || ends(t.Path, cleanPath(c.Path)) {
			return true
		}
	}
	switch {
	case strings.Contains(said.text, strings.ToLower(path.Base(t.Path))):
		return true
	case t.Config:
		return false
	case t.Kind == Removed:
		return said.gone
	}
	return said.changed
}

var (
	testsGone = compiled(`\b(?:remov|delet|dropp?|mov|renam|merg|replac)(?:e|ed|ing)?\b[^.!?\n]{0,40}\btests?\b` +
		`|\btests?\b[^.!?\n]{0,30}\b(?:removed|deleted|dropped|moved|renamed|merged|replaced)\b`)
	testsChanged = compiled(`\b(?:add|updat|adjust|adapt|chang|extend|rewr[io]t|fix|modifi|modify|cover|refactor|edit|correct|expand|renam|mov|wrote|writ|split|clean)` +
		`[a-z]*\b[^.!?\n]{0,60}\btests?\b|\btests?\b[^.!?\n]{0,40}\b(?:added|updated|adjusted|adapted|changed|extended|rewritten|fixed|modified|renamed|moved)\b`)
)
