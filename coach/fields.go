package coach

import (
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
)

// Sizes of fields in characters. Together with the default templates' words they stay below maxMessage.
const (
	maxLLM         = 600
	maxGuarded     = 4000 // of a classifier's message that are looked at
	maxList        = 500  // of criteria
	maxFeedback    = 300
	maxOthers      = 250
	maxPlan        = 120
	maxCriterion   = 100
	maxHint        = 160
	maxDescription = 120
	maxQuote       = 60
)

// fields is what a template can print; the package documentation describes them.
type fields struct {
	Attempt int
	Again   string
	Unmet   string
	Request string

	Feedback, Others, Worst string

	Message string

	Claim, Hedge, Gap, Promise string
	Failed, Absent             string
	Lacks, Proof               string

	Plan, Heading, Criterion, Criteria string
	More, Open, Ticked                 int
	Section                            string

	Skill, Description, Hint string
}

func collect(r classify.Result, in Context) fields {
	f := fields{
		Attempt: max(in.Attempt, 1),
		Message: finish("", r.CoachingMessage, maxLLM),
		Plan:    quotable(in.PlanFile, maxPlan),
	}
	switch f.Attempt {
	case 1:
	case 2:
		f.Again = "for the second time"
	case 3:
		f.Again = "for the third time"
	default:
		f.Again = "once more"
	}
	if !IsOurs(in.Request) {
		f.Request = phrase(quotable(in.Request, maxQuote), maxQuote)
	}
	f.feedback(in.Feedback)
	f.criteria(in.Criteria)
	if s := in.Skill; s != nil {
		f.Skill = quotable(s.Trigger, maxQuote)
		if f.Skill == "" {
			f.Skill = quotable(s.Name, maxQuote)
		}
		f.Description = phrase(s.Description, maxDescription)
		f.Hint = phrase(s.EvidenceHint, maxHint)
	}
	if r.WasRejectedCompletion {
		f.rejection(r, in)
	}
	f.Unmet = f.unmet()
	return f
}

// unmet names what to show next, the most specific thing known.
func (f *fields) unmet() string {
	switch {
	case f.Worst != "":
		return `what settles "` + f.Worst + `"`
	case f.Criterion != "":
		return `proof that "` + f.Criterion + `" holds`
	case f.Hint != "":
		return f.Hint
	case f.Proof != "":
		return f.Proof
	case f.Ticked > 0:
		return "proof that the ticked criteria hold"
	case f.Plan != "":
		return `which criterion of "` + f.Plan + `" holds now`
	case f.Request != "":
		return `the result of the next step toward "` + f.Request + `"`
	}
	return "the result of the next step"
}

// says reports whether tier t has something to say, and why it can't be used nevertheless.
func (f *fields) says(t Tier, r classify.Result, in Context) (says bool, why string) {
	switch t {
	case TierVerify:
		return f.Feedback != "", ""
	case TierLLM:
		if f.Message == "" {
			return false, ""
		}
		if r.Type != classify.Status {
			return true, "the result is no status"
		}
		return true, objection(Clean(r.CoachingMessage, maxGuarded), in)
	case TierRejection:
		return r.WasRejectedCompletion, ""
	case TierPlanCriteria:
		return f.Criteria != "" || f.Section != "", ""
	case TierPlanPointer:
		return f.Plan != "", ""
	case TierSkill:
		return f.Hint != "" || f.Description != "", ""
	case TierRepeat:
		return f.Attempt > 1, ""
	}
	return t == TierPlain, ""
}

// cutMarker returns a line, cleaned, without what a list item begins with: "- ", "• ", "3. ", "12) ".
func cutMarker(line string) string {
	mark, rest, ok := strings.Cut(line, " ")
	if !ok {
		return line
	}
	switch mark {
	case "-", "*", "+", "•":
		return rest
	}
	number := strings.TrimRight(mark, ".)")
	if len(number)+1 == len(mark) && 1 <= len(number) && len(number) <= 2 && strings.Trim(number, "0123456789") == "" {
		return rest
	}
	return line
}

// feedback takes the worst finding from the first line and the others from the rest.
func (f *fields) feedback(s string) {
	var others []string
	for line := range strings.Lines(s) {
		line = cutMarker(Clean(line, maxFeedback))
		if line == "" {
			continue
		}
		if f.Feedback == "" {
			f.Feedback, f.Worst = sentence(line), phrase(quotable(line, maxCriterion), maxCriterion)
			continue
		}
		others = append(others, strings.TrimRight(line, ".;, "))
		if len(others) > 20 {
			break
		}
	}
	var more int
	f.Others, more = list(others, "; ", maxOthers)
	if more > 0 {
		f.Others += "; and more"
	}
	f.Others = sentence(f.Others)
}

// list joins the first of items as far as they fit into max characters, and counts the others. The first always fits:
// it is cut where it must be.
func list(items []string, sep string, max int) (joined string, more int) {
	var b strings.Builder
	left := max
	for i, it := range items {
		n := utf8.RuneCountInString(it)
		if i > 0 {
			n += len(sep)
		}
		if n > left && i > 0 {
			return b.String(), len(items) - i
		}
		left -= n
		if i > 0 {
			b.WriteString(sep)
		} else {
			it = Clean(it, max)
		}
		b.WriteString(it)
	}
	return b.String(), 0
}

// sentence returns s with a full stop unless it has its own.
func sentence(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// phrase cleans s for use inside a sentence: without a full stop of its own.
func phrase(s string, max int) string {
	return strings.TrimRight(Clean(s, max), ".;, ")
}
