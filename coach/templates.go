package coach

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"
	"text/template/parse"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/plancriteria"
)

const (
	maxTemplate = 64 << 10 // bytes of a template file
	maxPrinted  = 64 << 10 // bytes that a template may print before cleaning
	fallback    = "en"
)

//go:embed templates/*.txt
var templateFiles embed.FS

// builtin holds the default templates by language: one for each tier but plain, and those that they use. A language is
// parsed when it is first used.
var builtin = sync.OnceValue(func() map[string]func() *template.Template {
	all := make(map[string]func() *template.Template)
	files, _ := fs.Glob(templateFiles, "templates/*.txt")
	for _, file := range files {
		all[strings.TrimSuffix(path.Base(file), ".txt")] = sync.OnceValue(func() *template.Template {
			return template.Must(template.ParseFS(templateFiles, file))
		})
	}
	return all
})

// language returns the language of the message: that of the output, with Traditional Chinese as "zh-hant".
func language(r classify.Result, in Context) string {
	text := in.Text[max(0, len(in.Text)-maxRead):]
	count := func(script string) int { return len(expression(script).FindAllString(text, -1)) }
	if r.Language == "zh" && count("traditional") > count("simplified") {
		return "zh-hant"
	}
	return r.Language
}

// templates returns the templates in a language, or in English.
func (c *Coach) templates(language string) *template.Template {
	if builtin()[language] == nil {
		language = fallback
	}
	if c != nil {
		if own, ok := c.own[language]; ok {
			return own
		}
	}
	return builtin()[language]()
}

// loadTemplates reads a host's files, by language.
func loadTemplates(fsys fs.FS) (map[string]*template.Template, error) {
	if fsys == nil {
		return nil, nil
	}
	if classify.HoldsNil(fsys) {
		return nil, fmt.Errorf("coach: Config.Templates is a nil %T", fsys)
	}
	files, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("coach: templates: %w", err)
	}
	set := make(map[string]*template.Template)
	for _, file := range files {
		language, _ := strings.CutSuffix(file.Name(), ".txt")
		if builtin()[language] == nil || file.Name() != language+".txt" {
			names := slices.Sorted(maps.Keys(builtin()))
			return nil, fmt.Errorf("coach: template %q: the file name is not a language; use one of %s, and .txt",
				file.Name(), strings.Join(names, ", "))
		}
		if set[language], err = loadLanguage(fsys, file.Name(), builtin()[language]()); err != nil {
			return nil, fmt.Errorf("coach: template %q: %w", file.Name(), err)
		}
	}
	return set, nil
}

// loadLanguage puts the templates that a host's file defines in the place of the default ones, and tries them.
func loadLanguage(fsys fs.FS, name string, defaults *template.Template) (*template.Template, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	if len(text) > maxTemplate {
		return nil, fmt.Errorf("larger than %d bytes", maxTemplate)
	}
	own, err := template.New(name).Parse(string(text))
	if err != nil {
		return nil, err
	}
	if own.Tree != nil && !parse.IsEmptyTree(own.Root) {
		return nil, errors.New(`text outside of {{define "…"}}`)
	}
	merged := template.Must(defaults.Clone())
	for _, t := range own.Templates() {
		if t.Name() == name {
			continue
		}
		if merged.Lookup(t.Name()) == nil {
			return nil, fmt.Errorf("no message uses a template %q", t.Name())
		}
		if parse.IsEmptyTree(t.Root) {
			return nil, fmt.Errorf(`the template %q is empty; to print nothing there, use {{""}}`, t.Name())
		}
		template.Must(merged.AddParseTree(t.Name(), t.Tree))
	}
	return merged, try(merged)
}

// try prints all tiers for typical cases.
func try(set *template.Template) error {
	for _, f := range typicalCases() {
		for _, t := range tiers[:len(tiers)-1] {
			text, err := printed(set, t, f)
			if err == nil && strings.TrimSpace(text) == "" {
				err = errors.New("it prints nothing")
			}
			if err != nil {
				return fmt.Errorf("%s at attempt %d, finding %q: %w", t, f.Attempt, f.Finding, err)
			}
		}
	}
	return nil
}

// printed returns what the template of a tier prints, up to an error.
func printed(set *template.Template, t Tier, f *fields) (string, error) {
	var w boundedWriter
	err := set.ExecuteTemplate(&w, string(t), f)
	return w.String(), err
}

// boundedWriter keeps what is written to it, up to maxPrinted bytes.
type boundedWriter struct{ strings.Builder }

func (w *boundedWriter) Write(p []byte) (int, error) {
	if w.Len()+len(p) > maxPrinted {
		return 0, fmt.Errorf("it prints more than %d bytes", maxPrinted)
	}
	return w.Builder.Write(p)
}

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
		f.Skill = cmp.Or(datum(s.Trigger, maxSkill), datum(s.Name, maxSkill))
		f.Description, f.Hint = datum(s.Description, maxHint), datum(s.EvidenceHint, maxHint)
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
// without a full stop at its end, and cut. It is empty if the guard refuses it.
func datum(s string, max int) string {
	if s = strings.TrimRight(quotable(s, max), ".;, "); s != "" && unsafe(s) != "" {
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
