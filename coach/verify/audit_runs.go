package verify

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/project"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testoutput"
)

// about returns the runs that a claim is about, and whether they show exactly what it says: the same command, all
// tests.
func (a *audit) about(c Claim) (runs []Run, exact bool) {
	words, part := strings.Fields(c.Command), []Run(nil)
	for _, r := range a.facts.Runs {
		kind := kindOf(r.Command)
		if kind == runOther {
			kind = runTests // a host lists what tests the work
		}
		switch {
		case c.Command == "" && kind == c.Run:
			runs = append(runs, r)
		case c.Command != "" && r.line() == strings.Join(words, " "):
			return []Run{r}, !c.Part
		case kind == c.Run && part == nil && narrower(words, r.Command):
			part = []Run{r}
		}
	}
	if c.Command == "" {
		return runs, !c.Part
	}
	return part, false
}

// narrower reports whether a command runs some of the tests that another one runs: it has more operands or filters,
// and no option that makes it something else.
func narrower(words, whole []string) bool {
	if len(words) == 0 || len(whole) == 0 || programOf(words) != programOf(whole) {
		return false
	}
	strip := func(list []string) (options, operands []string) {
		for _, w := range list[1:] {
			switch {
			case lex("HarmlessOptions").Has(w), strings.HasPrefix(w, "-run="):
			case strings.HasPrefix(w, "-") && w != "--" && w != "-m":
				options = append(options, w)
			default:
				operands = append(operands, w)
			}
		}
		return options, operands
	}
	mine, operands := strip(words)
	theirs, wide := strip(whole)
	if len(operands) == 0 || len(wide) == 0 || operands[0] != wide[0] {
		return len(operands) > 0 && len(wide) == 0 && slices.Equal(mine, theirs)
	}
	return !slices.ContainsFunc(mine, func(o string) bool { return !slices.Contains(theirs, o) })
}

// programOf takes python3 for python.
func programOf(command []string) string { return strings.TrimSuffix(project.Program(command), "3") }

func (a *audit) run(c Claim) finding {
	command := strings.Join(strings.Fields(c.Command), " ")
	missing := find(a.facts.Missing, func(m Run) bool { return command != "" && m.line() == command })
	if missing != nil && c.Result == Met {
		return contradicted(true, commandMissing, "%s", missing.Why)
	}
	runs, exact := a.about(c)
	if len(runs) == 0 {
		if c.Run == runBuild && command == "" && slices.ContainsFunc(a.facts.Runs, func(r Run) bool {
			return r.outcome() == Met && lex("Compiled").Has(programOf(r.Command))
		}) {
			return holds // tests that ran were compiled
		}
		return unchecked("no such command was run")
	}
	seen := a.facts.sum(runs)
	asBefore := len(seen.fresh)+len(seen.unknown) == 0
	neither := cmp.Or(seen.why, "the run shows neither")
	fails, within := seen.outcome == NotMet, seen.Counted && c.Passed != nil && *c.Passed <= seen.Passed
	admitted := func() bool { return a.report.admits(slices.Concat(seen.fresh, seen.old, seen.unknown)) }
	lacking := len(seen.Withheld) > 0 || len(a.facts.BaseRuns) > 0 && !seen.based
	// Tools count differently, so any number that the run has is right, and a smaller one may be that of a part. A larger
	// one is wrong. It is false only if the claim names this command.
	most := seen.Total + seen.Parts
	more := value(c.Passed) > seen.Passed+seen.Parts && !(value(c.Passed) <= most && c.Skipped == nil) ||
		value(c.Total) > most
	return firstOf([]rule{
		{c.Result == NotMet && seen.outcome == Unverified, unchecked("%s", neither)},
		{c.Result == NotMet, holds},                    // a report that is worse than the facts is not a lie
		{fails && asBefore && c.Part && within, holds}, // "the other 4 tests pass"
		{fails && within && admitted(), holds},         // "4 pass, and TestLen fails"
		{fails && !exact, unchecked("something fails, and what was run is not exactly that: %s", seen.why)},
		{fails && asBefore, contradicted(false, testResult, "it fails as it did before the work: %s", firstThree(seen.old))},
		{fails && a.report.admits(nil), contradicted(false, testResult, "%s", seen.why)},
		{fails && len(seen.fresh) == 0 && lacking,
			unchecked("it fails, but maybe it did before or lacks something of the environment: %s", seen.why)},
		{fails, contradicted(true, testResult, "%s", seen.why)},
		{seen.outcome != Met, unchecked("%s", neither)},
		{c.Result != Met && !c.counted(), unchecked("the claim says no result")},
		{!c.counted(), holds},
		{!seen.Counted, unchecked("the run shows no number of tests")},
		{more, contradicted(c.Command != "" && exact, testCount, "%s", seen.counts())},
	}, holds).of(runs[0].line())
}

func (a *audit) test(c Claim) finding {
	last := testoutput.LastName(c.Name)
	isIt := func(name string) bool { return testoutput.LastName(name) == last || strings.HasPrefix(name, c.Name) }
	passes, failing, complete := false, false, len(a.facts.Runs) > 0
	for _, r := range a.facts.Runs {
		passes = passes || slices.ContainsFunc(r.Passes, isIt)
		failing = failing || slices.ContainsFunc(r.Failures, isIt)
		complete = complete && (r.outcome() == Met || r.Counted && r.Failed <= len(r.Failures)) && len(r.Passes) == 0
	}
	named := cmp.Or(find(a.facts.Named, func(n NamedTest) bool { return n.Name == c.Name }), &NamedTest{})
	gone, unknown := named.Now == NotMet, named.Now != Met && named.Now != NotMet
	hollow := slices.ContainsFunc(a.facts.New, func(t TestChange) bool { return t.Hollow && isIt(t.Name) })
	return firstOf([]rule{
		{hollow, unchecked("nothing in it checks anything")},
		{c.Result == NotMet && failing || c.Result != NotMet && passes && !failing, holds},
		{c.Result == NotMet, unchecked("it was not seen to fail")},
		{failing && c.Result == Met, contradicted(true, testResult, "it fails")},
		{failing || unknown && named.Name != "" && c.Result != Met, holds}, // it exists, or something has that name
		{unknown, unchecked("no test of that name was found")},
		{gone && named.Before == Met, unchecked("the baseline had a test of that name, and it is gone")},
		{gone && strings.Contains(c.Name, " "), unchecked("no file has these words in it")},
		{gone, contradicted(true, testMissing, "no file has a test of that name")},
		{complete || c.Result != Met, holds},
	}, unchecked("it was not seen to pass"))
}

// failedBefore checks the claim that a test, or all that fails now, failed before the work.
func (a *audit) failedBefore(c Claim) finding {
	seen := a.facts.sum(a.facts.Runs)
	var before []string
	for _, r := range a.facts.BaseRuns {
		before = append(before, r.Failures...)
	}
	isIt := func(name string) bool {
		return c.Name == "" || testoutput.LastName(name) == testoutput.LastName(c.Name) || strings.HasPrefix(name, c.Name)
	}
	switch {
	case slices.ContainsFunc(before, isIt) && (c.Name != "" || len(seen.fresh)+len(seen.unknown) == 0):
		return holds
	case slices.ContainsFunc(seen.fresh, isIt) && (c.Name != "" || len(seen.old)+len(seen.unknown) == 0):
		return contradicted(true, testResult, "it passed before the work").of(firstThree(seen.fresh))
	}
	return unchecked("it was not seen to fail before the work")
}

// wanting returns what of a statement the change must show: not the subject of a new commit that it quotes, and where
// it is of results, neither tests that ran nor their files.
func (a *audit) wanting(s statement) statement {
	for _, subject := range a.facts.NewCommits {
		if subject = fold(subject); strings.Contains(fold(s.Text), subject) {
			quoted := func(word string) bool {
				return strings.Contains(subject, strings.ToLower(strings.TrimPrefix(word, exactly)))
			}
			s.Terms = slices.DeleteFunc(slices.Clone(s.Terms), quoted)
			s.Words = slices.DeleteFunc(slices.Clone(s.Words), quoted)
		}
	}
	if !s.Result {
		return s
	}
	s.Terms = slices.DeleteFunc(slices.Clone(s.Terms), func(term string) bool {
		name := strings.TrimPrefix(term, exactly)
		return testcode.IsTest(term) || slices.ContainsFunc(a.facts.Runs, func(r Run) bool {
			return slices.ContainsFunc(slices.Concat(r.Passes, r.Failures), func(of string) bool {
				return testoutput.LastName(of) == name || testoutput.ShortName(of) == name
			})
		})
	})
	return s
}

// What stands in the place of a claim about a test.
const (
	notMentioned = "nothing is said about it"
	toldSo       = "the report says so"
)

// tampering returns the tests of the baseline that are gone, do not run, or were changed. They are no claims. A test
// that went away without a word is held against the report; where the report tells it, a person must look.
func (a *audit) tampering() (list []Discrepancy) {
	for _, t := range slices.Concat(a.facts.Tests, a.facts.unreached()) {
		name, isTest := strings.ToLower(testoutput.LastName(t.Name)), testcode.IsTest(t.File)
		file := path.Base(t.File)
		if slices.ContainsFunc(a.paths, func(p string) bool { return p != t.File && path.Base(p) == file }) {
			file = t.File // another file has that name
		}
		names := func(text string) bool { // the file of a test may be a program, too
			return len(name) > 3 && testcode.HasWord(text, name) || strings.Contains(text, strings.ToLower(file)) &&
				(isTest || lex("TestsMentioned").Match(text))
		}
		told := (t.Change == "removed" && t.Now == "" || t.Change == "disabled") && slices.ContainsFunc(sentences(a.text),
			func(s string) bool { return lex("TestGoneWord").Match(s) && names(s) })
		d := Discrepancy{Kind: TestsTampered, Severity: shouldFix, Subject: t.File, Claimed: notMentioned,
			Fix: TestsTampered.fix()}
		mentioned := names(a.text)
		if mentioned {
			d.Claimed = "the report mentions it"
		}
		silent := false // it went away without a word
		switch t.Change {
		case "removed":
			d.Found = fmt.Sprintf("the test %s was removed", t.Name)
			if t.Now != "" {
				d.Found += ", or became " + t.Now
			}
			subject := a.subjectRemoved(t)
			silent = !subject && t.Now == "" && !a.says("GoneMentioned")
			if mentioned && subject {
				d.Severity, d.Fix = info, ""
			}
		case "disabled":
			d.Found = fmt.Sprintf("the test %s does not run any more: %s", t.Name, t.Why)
			silent = !a.says("SkipMentioned")
		case "unreached":
			d.Claimed, d.Found = notMentioned, "after the change of "+t.File+" "+t.Why
			if t.Name != "" {
				d.Found = fmt.Sprintf("the test %s moved to %s: %s", t.Name, t.Now, t.Why)
			}
		case "emptied":
			d.Found = fmt.Sprintf("the test %s checks less than before", t.Name)
		default:
			if a.admitsChange(t) {
				continue
			}
			d.Found = fmt.Sprintf("the test %s was changed", t.Name)
		}
		switch {
		case told && d.Severity != info:
			d.Claimed, d.Severity, d.Fix = toldSo, info, "" // a person must look at it
		case silent && !mentioned:
			d.Severity, d.Fix = critical, "put the test back, or say why it does not run"
		}
		list = append(list, d)
	}
	return list
}

// admitsChange reports whether the report says that a test, its file or tests in general were changed. It does not
// suffice to name them: "TestLogin passes now" admits nothing.
func (a *audit) admitsChange(t TestChange) bool {
	text := a.text
	for _, word := range []string{t.File, path.Base(t.File), testoutput.LastName(t.Name)} {
		if len(word) > 3 && (testcode.IsTest(t.File) || !strings.HasSuffix(t.File, word)) {
			text = strings.ReplaceAll(text, strings.ToLower(word), "test")
		}
	}
	return lex("TestsMentioned").Match(lex("NoAdmission").Replace(text, ". ")) ||
		testcode.IsTest(t.File) && slices.ContainsFunc(a.report.Claims, func(c Claim) bool {
			return c.Kind == fileClaim && !c.Part && ends(cleanPath(c.Path), t.File)
		})
}

// subjectRemoved reports whether the file or the function that a test is about was removed, too.
func (a *audit) subjectRemoved(t TestChange) bool {
	stem := func(p string) string {
		return lex("TestAffix").Replace(strings.ToLower(strings.TrimSuffix(path.Base(p), path.Ext(p))), "")
	}
	return slices.ContainsFunc(a.facts.Changes, func(c Change) bool {
		return c.Kind == Removed && c.Path != t.File && stem(c.Path) == stem(t.File)
	}) || slices.ContainsFunc(a.facts.Names, func(n NameFact) bool {
		return n.DefinedBefore > 0 && n.Defined == 0 && strings.Contains(strings.ToLower(t.Name), strings.ToLower(n.Name))
	})
}
