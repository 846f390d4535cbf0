package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// outcome returns what a run shows: a failed test is a failure whatever the command's status says, and a count of none that
// passed shows nothing.
func (t TestFact) outcome() Status {
	switch {
	case t.Status == NotMet || t.Failed > 0:
		return NotMet
	case t.Status == Met && !(t.Counted && t.Passed == 0):
		return Met
	}
	return Unverified
}

// found says what a run showed, without its output.
func (t TestFact) found() string {
	var parts []string
	if t.Counted {
		parts = append(parts, t.counts())
	}
	if len(t.Failures) > 0 {
		first := t.Failures[:min(len(t.Failures), 3)]
		parts = append(parts, strings.Join(first, ", "))
	}
	if t.Why != "" {
		parts = append(parts, strings.TrimRight(t.Why, "."))
	}
	if len(parts) == 0 {
		if t.outcome() == NotMet {
			return "it failed"
		}
		return "it shows neither success nor failure"
	}
	return strings.Join(parts, "; ")
}

// counts is "12 passed, 1 failed, 2 skipped".
func (t TestFact) counts() string {
	s := fmt.Sprintf("%d passed, %d failed", t.Passed, t.Failed)
	if t.Skipped > 0 {
		s += fmt.Sprintf(", %d skipped", t.Skipped)
	}
	return s
}

var (
	lintWords  = []string{"lint", "vet", "fmt", "clippy", "staticcheck", "ruff", "flake8", "mypy", "pylint", "prettier", "stylelint", "shellcheck"}
	buildWords = []string{"build", "compile", "tsc", "typecheck", "type-check", "assemble"}
)

// kindOf returns what a command runs: tests, unless one of its words says otherwise.
func kindOf(command []string) RunKind {
	for i, w := range command {
		if i > 0 && (strings.HasPrefix(w, "-") || strings.ContainsAny(w, "/.")) {
			continue // an option or an operand
		}
		w = w[strings.LastIndexAny(w, "/:")+1:]
		switch w = strings.ToLower(w); {
		case w == "test" || w == "tests":
			return RunTests
		case slices.Contains(lintWords, w) || strings.HasSuffix(w, "lint"):
			return RunLint
		case slices.Contains(buildWords, w) || w == "check" && i > 0 && command[0] == "cargo":
			return RunBuild
		}
	}
	return RunTests
}

// newFailures returns what fails and is not known to have failed at the baseline; where names are missing, one entry says so. A failure
// whose past nobody looked at is new.
func (f Facts) newFailures() []string {
	var list []string
	for _, t := range f.Tests {
		if t.outcome() != NotMet {
			continue
		}
		i := slices.IndexFunc(f.BaseTests, func(b TestFact) bool { return slices.Equal(b.Command, t.Command) })
		var before TestFact
		if i >= 0 {
			before = f.BaseTests[i]
		}
		found := false
		for _, name := range t.Failures {
			if !slices.Contains(before.Failures, name) {
				list = append(list, name)
				found = true
			}
		}
		unnamed := len(t.Failures) == 0 || len(t.Failures) < t.Failed
		same := before.outcome() == NotMet && t.Failed <= before.Failed && (len(t.Failures) == 0) == (len(before.Failures) == 0)
		if !found && unnamed && !same {
			list = append(list, code(strings.Join(t.Command, " "))+": "+cmp.Or(t.Why, t.found()))
		}
	}
	return list
}
