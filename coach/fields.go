package coach

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/plancriteria"
	"github.com/sidecoach/sidecoach/skills"
)

// Sizes of fields in characters. With them each message of the default templates keeps its limit.
const (
	maxMessageOfLLM = 600 - len(plaintext.Prefix) - 1
	maxGuarded      = 4000 // of a classifier's message, looked at
	maxFeedback     = 220
	maxOthers       = 150
	maxList         = 110 // of criteria
	maxCriterion    = 60
	maxPlan         = 50
	maxSkill        = 30
	maxHint         = 70
	maxSentence     = 70 // a quote of the agent
	maxCommand      = 50 // one command, or two together
	maxFile         = 30
	maxQuoted       = 60 // data in Skip.Why
)

// fields is what a template can print. The package documentation describes them.
type fields struct {
	Attempt int

	Finding, Ask, Kind           string
	Command, Second, File, Quote string

	Feedback, Others, Message string

	Plan, Criterion, Criteria, Section string
	More, Open, Ticked                 int

	Skill, Description, Hint string
}

// collect reads the fields, and says which tiers cannot be used and why.
func collect(r classify.Result, in Context) (*fields, map[Tier]string) {
	f := &fields{
		Attempt: max(in.Attempt, 1),
		Message: plaintext.Line(plaintext.TrimPrefix(plaintext.Line(r.CoachingMessage, maxMessageOfLLM)), maxMessageOfLLM),
		Plan:    datum(in.PlanFile, maxPlan),
	}
	refused := make(map[Tier]string)
	if f.Message != "" {
		if r.Type != classify.Status {
			refused[TierLLM] = "the result is not a status"
		} else if why := objection(plaintext.Line(r.CoachingMessage, maxGuarded), in); why != "" {
			refused[TierLLM] = why
		}
	}
	f.feedback(in.Feedback)
	f.criteria(in.Criteria)
	if s := in.Skill; s != nil {
		f.skill(*s)
	}
	if r.WasRejectedCompletion {
		f.rejection(r, in)
	}
	return f, refused
}

// has reports whether tier t has something to say.
func (f *fields) has(t Tier, r classify.Result) bool {
	switch t {
	case TierVerify:
		return f.Feedback != ""
	case TierLLM:
		return f.Message != ""
	case TierRejection:
		return r.WasRejectedCompletion
	case TierPlanCriteria:
		return f.Open > 0 || f.Ticked > 0 || f.Section != ""
	case TierPlanPointer:
		return f.Plan != ""
	case TierSkill:
		return f.Hint != "" || f.Description != ""
	case TierRepeat:
		return f.Attempt > 1
	}
	return false
}

// datum returns data of the plan, the verifier or the host as it stands in a message: on one line, with single quotes,
// without a full stop of its own, and cut. It is empty if the guard refuses it.
func datum(s string, max int) string {
	s = strings.TrimRight(quotable(s, max), ".;, ")
	if unsafe(s) != "" {
		return ""
	}
	return s
}

// quotable returns s on one line of at most max characters, to stand in double quotes.
func quotable(s string, max int) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '"', '“', '”', '„', '‟', '＂':
			return '\''
		}
		return r
	}, plaintext.Line(s, max))
}

// feedback takes the first finding, and the others as far as they fit. A finding that the guard refuses is left out.
func (f *fields) feedback(s string) {
	var others []string
	left := maxOthers
	for line := range strings.Lines(s) {
		line = datum(trimListMarker(plaintext.Line(line, maxFeedback)), maxFeedback)
		switch {
		case line == "":
		case f.Feedback == "":
			f.Feedback = line
		case utf8.RuneCountInString(line)+2 > left:
			f.Others = strings.Join(append(others, "…"), "; ")
			return
		default:
			left -= utf8.RuneCountInString(line) + 2
			others = append(others, line)
		}
	}
	f.Others = strings.Join(others, "; ")
}

// trimListMarker returns a line without what a list item begins with: "- ", "• ", "3. ", "12) ".
func trimListMarker(line string) string {
	marker, rest, _ := strings.Cut(line, " ")
	number := strings.TrimRight(marker, ".)")
	switch {
	case marker == "-", marker == "*", marker == "+", marker == "•",
		len(number) == len(marker)-1 && number != "" && len(number) < 3 && strings.Trim(number, "0123456789") == "":
		return rest
	}
	return line
}

// criteria takes the open criteria of the plan, or the ticked ones if none is open.
func (f *fields) criteria(c *plancriteria.Criteria) {
	if c == nil {
		return
	}
	var open, ticked []plancriteria.Item
	for _, it := range c.Leaves() {
		switch {
		case plaintext.IsBlank(it.Text):
		case it.Checked:
			ticked = append(ticked, it)
		default:
			open = append(open, it)
		}
	}
	f.Open, f.Ticked = len(open), len(ticked)
	shown := open
	if f.Open == 0 {
		shown = ticked
	}
	if len(shown) == 0 {
		f.Section = datum(c.Text, maxList)
		return
	}
	var quotes []string
	for left := maxList; len(quotes) < len(shown) && left > 0; {
		text := datum(shown[len(quotes)].Text, maxCriterion)
		if left -= utf8.RuneCountInString(text) + len(`""; `); text == "" || left < 0 {
			break
		}
		quotes = append(quotes, `"`+text+`"`)
	}
	if f.Open > 0 {
		f.Criterion = datum(open[0].Text, maxCriterion)
	}
	f.Criteria = strings.Join(quotes, "; ")
	f.More = len(shown) - len(quotes)
}

func (f *fields) skill(s skills.Skill) {
	f.Skill = datum(s.Trigger, maxSkill)
	if f.Skill == "" {
		f.Skill = datum(s.Name, maxSkill)
	}
	f.Description, f.Hint = datum(s.Description, maxHint), datum(s.EvidenceHint, maxHint)
}

// typicalCases yields one case for each finding, ask and attempt that can be, with every other field as long as it
// gets, and cases with those fields empty that may be.
func typicalCases() iter.Seq[*fields] {
	long := func(n int) string { return strings.Repeat("x", n) }
	return func(yield func(*fields) bool) {
		for _, finding := range findings {
			for i, ask := range asks {
				if (finding == "unable") != (ask == "possible") ||
					(finding == "unchanged" || finding == "gap") != (ask == "finish") || finding == "claim" && i >= ownAsks {
					continue
				}
				for attempt := 1; attempt <= 2; attempt++ {
					bare := fields{Attempt: attempt, Finding: finding, Ask: ask, Kind: "test", Command: long(maxCommand - 8),
						Quote: long(maxSentence), Feedback: long(maxFeedback), Message: "Message.", Section: long(maxList),
						Plan: "plan", Hint: long(maxHint), Criterion: long(maxCriterion)}
					full := bare
					full.Second, full.File, full.Others = long(8), long(maxFile), long(maxOthers)
					full.Plan, full.Criteria, full.Open, full.More = long(maxPlan), long(maxList), 99, 99
					full.Ticked, full.Skill, full.Description = 99, long(maxSkill), long(maxHint)
					ticked := full
					ticked.Open, ticked.Criterion = 0, ""
					if !yield(&bare) || !yield(&full) || !yield(&ticked) {
						return
					}
				}
			}
		}
	}
}
