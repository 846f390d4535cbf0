package coach

import (
	"cmp"
	"slices"
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
	maxCriterion    = 55
	maxPlan         = 50
	maxSkill        = 30
	maxHint         = 70
	maxClaim        = 70  // a sentence of the agent that claims something
	maxGap          = 110 // a sentence of the agent that admits something
	maxCommand      = 58  // one command, or two together
	maxFile         = 30
	maxQuoted       = 60 // data in Skip.Why
)

// fields is what a template can print. templates/en.txt describes them.
type fields struct {
	Attempt int

	Finding, Ask, Kind    string
	Command, Second, File string
	Quote, Claimed        string

	Feedback, Others, Message string
	Goal                      bool

	Plan, Criterion, Criteria, Section string
	More, Open, Ticked                 int

	Skill, Description, Hint string
}

// collect reads the fields, and says which tiers cannot be used and why.
func collect(r classify.Result, in Context) (*fields, map[Tier]string) {
	said := plaintext.MaskedLine(r.CoachingMessage, maxMessageOfLLM)
	f := &fields{
		Attempt: max(in.Attempt, 1),
		Goal:    in.Goal,
		Message: plaintext.Line(plaintext.TrimPrefix(said), maxMessageOfLLM),
		Plan:    datum(in.PlanFile, maxPlan),
	}
	refused := make(map[Tier]string)
	if f.Message != "" {
		if r.Type != classify.Status {
			refused[tierLLM] = "the result is not a status"
		} else if why := objection(plaintext.Line(r.CoachingMessage, maxGuarded), in); why != "" {
			refused[tierLLM] = why
		}
	}
	if f.feedback(in.Feedback, in.Human); f.Feedback == "" && !plaintext.IsBlank(in.Feedback) {
		refused[tierVerify] = "the guard refuses the findings"
	}
	f.criteria(in.Criteria)
	if s := in.Skill; s != nil {
		f.skill(*s)
	}
	if r.WasRejectedCompletion {
		f.rejection(r, in)
	}
	return f, refused
}

// saying returns which tiers have something to say.
func (f *fields) saying(r classify.Result, in Context) map[Tier]bool {
	return map[Tier]bool{
		tierStage:        in.Stage && in.Skill != nil,
		tierVerify:       f.Feedback != "",
		tierLLM:          f.Message != "",
		tierRejection:    r.WasRejectedCompletion,
		tierPlanCriteria: f.Open > 0 || f.Ticked > 0 || f.Section != "",
		tierPlanPointer:  f.Plan != "",
		tierSkill:        f.Hint != "" || f.Description != "",
		tierRepeat:       f.Attempt > 1,
	}
}

// datum returns data of the plan, the verifier or the host as it stands in a message: on one line, with single quotes,
// without a full stop of its own, and cut. It is empty if the guard refuses it.
func datum(s string, max int) string {
	if s = strings.TrimRight(quotable(s, max), ".;, "); unsafe(s) != "" {
		return ""
	}
	return s
}

// quotable returns s on one line of at most max characters, to stand in double quotes. Secrets are masked before it is
// cut: a part of one does not look like a secret.
func quotable(s string, max int) string { return singleQuotes.Replace(plaintext.MaskedLine(s, max)) }

var singleQuotes = strings.NewReplacer(`"`, "'", "“", "'", "”", "'", "„", "'", "‟", "'", "＂", "'")

// feedback takes the first finding, and the others as far as they fit. A finding is left out if the guard refuses what
// is in it beside the human's words.
func (f *fields) feedback(s string, human []string) {
	var others []string
	left := maxOthers
	for line := range strings.Lines(s) {
		line = strings.TrimRight(expression("listMarker").ReplaceAllString(quotable(line, maxFeedback), ""), ".;, ")
		rest := expression("testPackage").ReplaceAllString(line, "$1")
		for _, words := range human {
			rest = strings.ReplaceAll(rest, quotable(words, maxFeedback), "…")
		}
		if line == "" || unsafe(rest) != "" {
			continue
		}
		if f.Feedback == "" {
			f.Feedback = line
			continue
		}
		if left -= utf8.RuneCountInString(line) + 2; left < 0 {
			if len(others) > 0 {
				others = append(others, "…")
			}
			break
		}
		others = append(others, line)
	}
	f.Others = strings.Join(others, "; ")
}

// criteria takes the open criteria of the plan, or the ticked ones if none is open.
func (f *fields) criteria(c *plancriteria.Criteria) {
	if c == nil {
		return
	}
	leaves := slices.DeleteFunc(c.Leaves(), func(it plancriteria.Item) bool { return plaintext.IsBlank(it.Text) })
	open := slices.DeleteFunc(slices.Clone(leaves), func(it plancriteria.Item) bool { return it.Checked })
	f.Open, f.Ticked = len(open), len(leaves)-len(open)
	shown := open
	if f.Open == 0 {
		shown = leaves
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
	f.Skill = cmp.Or(datum(s.Trigger, maxSkill), datum(s.Name, maxSkill))
	f.Description, f.Hint = datum(s.Description, maxHint), datum(s.EvidenceHint, maxHint)
}

// typicalCases returns a case for each finding and two attempts, once with each field and once with as few as there can
// be.
func typicalCases() []*fields {
	var cases []*fields
	for _, finding := range findings {
		for attempt := 1; attempt <= 2; attempt++ {
			bare := fields{Attempt: attempt, Finding: finding, Ask: "command", Command: "go test", Quote: "Tests pass.",
				Feedback: "no commit", Message: "Show it.", Section: "It works.", Plan: "plan.md", Hint: "a test"}
			full := bare
			full.Kind, full.Second, full.File, full.Others = classify.ClaimTests, "go vet", "a.go", "no test"
			full.Criterion, full.Criteria, full.Open, full.More, full.Ticked = "it builds", `"it builds"`, 2, 1, 1
			full.Skill, full.Description, full.Goal = "/do-build", "build it", true
			ticked := full
			ticked.Open, ticked.Criterion = 0, ""
			cases = append(cases, &bare, &full, &ticked)
		}
	}
	return cases
}
