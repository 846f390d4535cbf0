package verify

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const minIssue = 11 // characters of an issue that can say something

// Lint returns what makes feedback useless to the agent that gets it, a sentence each. Known are the requirements of
// the task. Lint finds
//
//   - feedback without an item,
//   - an issue that is vague ("the code has issues", "something is off here") or shorter than 11 characters,
//   - an item that names no place: not a file, a test, a requirement by its ID or its words, or anything in code
//     quotes,
//   - an item that is there twice.
func Lint(d Decision, known ...Requirement) []string {
	var list []string
	if d.Verdict != Approve && len(d.Items) == 0 {
		list = append(list, "it gives feedback without an item: say what is wrong, where, and what to do")
	}
	seen := map[string]int{}
	for i, it := range d.Items {
		problem := func(format string, args ...any) {
			list = append(list, fmt.Sprintf("item %d: ", i+1)+fmt.Sprintf(format, args...))
		}
		issue := strings.TrimSpace(it.Issue)
		switch {
		case utf8.RuneCountInString(issue) < minIssue:
			problem("the issue is too short to say something: name what is wrong")
		case vague(issue):
			problem("the issue is vague: name what is wrong, where, and how it shows")
		}
		said := it.Issue + " " + it.Suggestion
		if strings.TrimSpace(it.File) == "" && !lex().Names.Match(said) && !namesOne(said, d, known) {
			problem("it names neither a file nor a test nor a requirement: say where")
		}
		key := it.File + "\x00" + fold(strings.Trim(issue, ".!"))
		if first, ok := seen[key]; ok {
			problem("it says the same as item %d: leave it out", first+1)
		} else {
			seen[key] = i
		}
	}
	return list
}

// vague reports whether an issue has only empty words.
func vague(issue string) bool {
	list := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(issue, "’", "'")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("'`_-.", r)
	})
	return !slices.ContainsFunc(list, func(w string) bool {
		w = strings.Trim(w, "'.-")
		return w != "" && !slices.Contains(lex().Vague, w)
	})
}

// namesOne reports whether a text names a missing test or a requirement.
func namesOne(said string, d Decision, known []Requirement) bool {
	list := slices.Clone(d.Tests.Missing)
	for _, q := range known {
		list = append(list, q.ID, q.Text)
	}
	said = fold(said)
	return slices.ContainsFunc(list, func(s string) bool { s = fold(s); return s != "" && strings.Contains(said, s) })
}
