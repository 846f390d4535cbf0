package verify

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Problem is something that makes a decision of little use to the agent that gets it.
type Problem struct {
	Item int    `json:"item"` // index in Decision.Items; -1 is the decision as a whole
	What string `json:"what"` // what is wrong and what to do, a sentence
}

func (p Problem) String() string {
	if p.Item < 0 {
		return p.What
	}
	return fmt.Sprintf("item %d: %s", p.Item+1, p.What)
}

const minIssue = 11 // characters of an issue that can say something

// vague matches an issue that is nothing but a judgement.
var vague = compiled(`(?i)^(?:(?:overall|in general|generally|there (?:are|is)|i think|it seems|basically)[, ]+)*` +
	`(?:(?:the|this|your|some|all|of|that|it|its|code|implementation|work|solution|tests?|change|changes|file|files|function|logic|quality|structure|design)\b[ ,]*)*` +
	`(?:(?:still|just|really|quite|somewhat|a bit|very|clearly|could|should|must|may|might|be|is|are|has|have|had|needs?|requires?|looks?|seems?|feels?|does|do|not|doesn't|don't|isn't|aren't|some|several|many|a few|more|further|to|there)\b[ ,]*)*` +
	`(?:issues?|problems?|bugs?|errors?|improvements?|improved?|work|better|cleaner|cleaned up|right|correct|good|great|wrong|off|bad|broken|incomplete|messy|fixed|fixing|reviewed?|refactored|refactoring|attention|enough|good enough|up to standards?|look right|look good|look correct|seem right|work right|work properly|work correctly)[ .!]*$`)

var testNamed = compiled("\\b(?:Test[A-Z_]\\w*|test_\\w+|Benchmark[A-Z]\\w*|Fuzz[A-Z]\\w*|Example\\w*)\\b|`[^`]+`|\\br[0-9a-f]{8}\\b")

// Lint returns what is wrong with a decision before anything is done with it: no rationale needed, but feedback that can be acted
// on. It finds
//
//   - feedback without any item, and approval beside a requirement that is not met or an item of high priority,
//   - an issue that is vague: "the code has issues", "needs improvement", "doesn't look right",
//   - an issue of fewer than 11 characters,
//   - an item without a file that names neither a test, nor a requirement by its ID, nor anything in code quotes,
//   - an item that is there twice.
//
// The problems are in the order of the items, those of the whole first.
func Lint(d Decision) []Problem {
	var list []Problem
	whole := func(format string, args ...any) {
		list = append(list, Problem{-1, fmt.Sprintf(format, args...)})
	}
	if d.Verdict == Approve {
		for _, c := range d.Requirements {
			if c.Status == NotMet {
				whole("it approves although %s is not met: give feedback instead", code(firstOf(c.ID, c.Requirement)))
			}
		}
		for _, it := range d.Items {
			if it.Severity.rank() == 0 {
				whole("it approves beside an item of high priority: give feedback instead, or lower the item")
				break
			}
		}
	} else if len(d.Items) == 0 {
		whole("it gives feedback without an item: say what is wrong, where, and what to do")
	}
	seen := map[string]int{}
	for i, it := range d.Items {
		add := func(format string, args ...any) { list = append(list, Problem{i, fmt.Sprintf(format, args...)}) }
		issue := strings.TrimSpace(it.Issue)
		switch {
		case utf8.RuneCountInString(issue) < minIssue:
			add("the issue is too short to say something: name what is wrong")
		case isVague(vague.get(), issue):
			add("the issue is vague: name what is wrong, where, and how it shows")
		}
		if strings.TrimSpace(it.File) == "" && !testNamed.get().MatchString(it.Issue+" "+it.Suggestion) && !namesMissing(it, d.Tests.Missing) {
			add("it names no file and no missing test: say where")
		}
		key := it.File + "\x00" + fold(strings.Trim(issue, ".!"))
		if first, ok := seen[key]; ok {
			add("it says the same as item %d: leave it out", first+1)
		} else {
			seen[key] = i
		}
	}
	return list
}

// isVague leaves out of account what stands in brackets or quotes around a judgement, but not what it names.
func isVague(re *regexp.Regexp, issue string) bool {
	return !strings.ContainsAny(issue, "`\"") && re.MatchString(strings.ReplaceAll(issue, "’", "'"))
}

func namesMissing(it Item, missing []string) bool {
	for _, m := range missing {
		if m = strings.TrimSpace(m); m != "" && strings.Contains(fold(it.Issue+" "+it.Suggestion), fold(m)) {
			return true
		}
	}
	return false
}
