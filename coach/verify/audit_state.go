package verify

import (
	"fmt"
	"slices"
	"strings"
)

// branch checks that a branch is there.
func (a *audit) branch(c Claim) {
	if !a.compared(c) {
		return
	}
	if _, ok := a.facts.Branches[c.Name]; !ok {
		a.doubt(c, commitElse, c.Name, "there is no such branch", "make the branch, or correct the report")
		return
	}
	a.hold()
}

// commitCount checks how many commits were made.
func (a *audit) commitCount(c Claim) {
	if !a.compared(c) {
		return
	}
	if n := len(a.facts.NewCommits); n != value(c.Total) {
		a.doubt(c, commitMissing, "", fmt.Sprintf("%d commits were made since the baseline", n), "correct the number")
		return
	}
	a.hold()
}

// commitTitle checks that a new commit has the subject that the report gives.
func (a *audit) commitTitle(c Claim) {
	if !a.compared(c) {
		return
	}
	said := strings.TrimRight(fold(c.Name), ".…")
	if !slices.ContainsFunc(a.facts.NewCommits, func(s string) bool { return strings.Contains(fold(s), said) }) {
		a.doubt(c, commitMissing, "", "no commit since the baseline has that subject", "correct the report")
		return
	}
	a.hold()
}

// said checks that something in code is there. Words in backticks that stand nowhere may be something else, too.
func (a *audit) said(c Claim) {
	i := slices.IndexFunc(a.facts.Names, func(n NameFact) bool { return n.Name == c.Name })
	if i >= 0 && a.facts.Compared == Met && a.facts.Names[i].Uses == 0 && !a.facts.Names[i].Was {
		a.unchecked(c, "nothing has that name")
	}
}
