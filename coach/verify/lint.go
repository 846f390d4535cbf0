package verify

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

const minIssue = 11 // characters of an issue that can say something

// empty are words that say nothing about a piece of work: an issue with no other words is vague.
var empty = strings.Fields(`a about am acceptable add address adequate adjust all also although an and another any
		anything appear appears approach are as aspects at attention bad badly basically be been better bit broken bug
		bugs but by can care certain change changed changes check clean cleaned cleaner cleanup clear clearly code
		complete completely concern concerned concerns consider convincing correct correctly could did different do does
		doesn't don't done double-check edge effort elegant enough error errors everything fail fails feel feels few file
		files final find fine finish finished fishy fix fixed fixing for found from function functionality functions
		further general generally get good great had handle happy has have having here how however i ideal implementation
		implemented improve improved improvement improvements in incomplete incorrect incorrectly into is isn't issue
		issues it it's its itself just kind kindly large least less like little logic look looked looking looks lot lots
		love made major make many may maybe messy might minor missing mistake mistakes more most much multiple must need
		needed needs nice no not nothing number of off on one ok okay or other out over overall part parts perfect perhaps
		place places please point possible possibly potential potentially pretty problem problematic problems proper
		properly quality question questionable questions quite ready really refactor refactored refactoring remaining
		report require requires resolve resolved review reviewed revisit rework right room satisfactory satisfied see seem
		seems several shape should since so solid solution some somehow something somewhat somewhere sort standard
		standards still strange structure stuff such suspicious sure than that the their them then there there's these
		they thing things think this those to too touch tidy tidied unclear under unfinished up use very want was way we
		weird well were what where which while whole wise with without work worked working works would wrong yet you your
		various again against before day days design end expected fact feedback fully indeed kinds lack lacking lacks let
		line look longer needn't never now only opinion own really said same say side start test tests testing time toward
		try unhappy unsure until us we're weak who why will worse`)

// names matches what tells the agent where to look: a test, a requirement, anything in code.
var names = lazy.New("\\b(?:Test[A-Z_]\\w*|test_\\w+|Benchmark[A-Z]\\w*|Fuzz[A-Z]\\w*|Example[A-Z]\\w*)\\b|`[^`]+`|" +
	"\\br[0-9a-f]{8}\\b|(?i)\\b(?:requirement|criterion|acceptance criteri\\w+)\\b")

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
		if strings.TrimSpace(it.File) == "" && !names.Match(said) && !namesOne(said, d, known) {
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
		return w != "" && !slices.Contains(empty, w)
	})
}

// namesOne reports whether a text names a missing test or a requirement.
func namesOne(said string, d Decision, known []Requirement) bool {
	list := slices.Clone(d.Tests.Missing)
	for _, c := range d.Requirements {
		list = append(list, c.ID, c.Requirement)
	}
	for _, q := range known {
		list = append(list, q.ID, q.Text)
	}
	said = fold(said)
	return slices.ContainsFunc(list, func(s string) bool { s = fold(s); return s != "" && strings.Contains(said, s) })
}
