package coach

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strings"
	"sync"
	"text/template"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/plancriteria"
	"github.com/sidecoach/sidecoach/skills"
)

const (
	maxTemplate = 64 << 10 // bytes of a template file
	maxPrinted  = 64 << 10 // bytes a template may print before cleaning
)

//go:embed templates/*.txt
var embedded embed.FS

// templates holds one template a tier; plain has none.
type templates map[Tier]*tierTemplate

// tierTemplate is a template, and what prints the same faster if there is such a thing.
type tierTemplate struct {
	*template.Template
	fast printer
}

// defaults has the default template of each tier, which is parsed when it is first asked for.
var defaults = func() map[Tier]func() *tierTemplate {
	ts := make(map[Tier]func() *tierTemplate)
	for _, t := range tiers {
		if t == TierPlain {
			continue
		}
		ts[t] = sync.OnceValue(func() *tierTemplate {
			fsys, err := fs.Sub(embedded, "templates")
			if err != nil {
				panic(err)
			}
			tt, err := parseFile(fsys, t)
			if err != nil {
				panic(err)
			}
			return tt
		})
	}
	return ts
}()

func fileName(t Tier) string { return string(t) + ".txt" }

// load reads the templates of fsys.
func load(fsys fs.FS) (templates, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("coach: templates: %w", err)
	}
	names := make(map[string]Tier)
	for _, t := range tiers {
		if t != TierPlain {
			names[fileName(t)] = t
		}
	}
	ts := make(templates)
	for _, e := range entries {
		t, ok := names[e.Name()]
		if !ok {
			return nil, fmt.Errorf("coach: template %q: no tier has a template of this name", e.Name())
		}
		tt, err := parseFile(fsys, t)
		if err != nil {
			return nil, fmt.Errorf("coach: template %q: %w", e.Name(), err)
		}
		ts[t] = tt
	}
	return ts, nil
}

func parseFile(fsys fs.FS, t Tier) (*tierTemplate, error) {
	file, err := fsys.Open(fileName(t))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxTemplate+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxTemplate {
		return nil, fmt.Errorf("larger than %d bytes", maxTemplate)
	}
	parsed, err := template.New(fileName(t)).Parse(string(text))
	if err != nil {
		return nil, err
	}
	tt := &tierTemplate{Template: parsed}
	if parsed.Tree != nil {
		if fast, ok := compile(parsed.Root); ok {
			tt.fast = fast
		}
	}
	return tt, nil
}

// try tries every template.
func (ts templates) try() error {
	for _, t := range tiers {
		if tt := ts[t]; tt != nil {
			if err := tt.try(t); err != nil {
				return fmt.Errorf("coach: template %q: %w", fileName(t), err)
			}
		}
	}
	return nil
}

// try prints the template for every sample that its tier has something to say about.
func (tt *tierTemplate) try(t Tier) error {
	for _, s := range samples() {
		for s.in.Attempt = 1; s.in.Attempt <= 4; s.in.Attempt++ {
			f := collect(s.r, s.in)
			if says, _ := f.says(t, s.r, s.in); !says {
				continue
			}
			raw, err := tt.print(&f)
			if err != nil {
				return err
			}
			if finish("", raw, maxMessage) == "" {
				return fmt.Errorf("prints nothing for %s at attempt %d; every template must print something in every case", s.name, s.in.Attempt)
			}
		}
	}
	return nil
}

// print returns what the template prints, uncleaned. It never panics.
func (tt *tierTemplate) print(f *fields) (string, error) {
	if tt.fast == nil {
		var w bounded
		err := tt.Execute(&w, *f)
		return w.String(), err
	}
	var both struct { // so that one allocation does
		f fields
		w bounded
	}
	both.f = *f
	both.w.Grow(maxMessage)
	err := tt.fast(&both.w, reflect.ValueOf(&both.f).Elem())
	return both.w.String(), err
}

// bounded stops a template that prints without end.
type bounded struct{ strings.Builder }

var errTooLong = errors.New("prints too much")

func (w *bounded) Write(p []byte) (int, error) {
	if w.Len()+len(p) > maxPrinted {
		return 0, errTooLong
	}
	return w.Builder.Write(p)
}

func (w *bounded) writeString(s string) error {
	if w.Len()+len(s) > maxPrinted {
		return errTooLong
	}
	_, err := w.Builder.WriteString(s)
	return err
}

// sample is a typical case that a template is tried with.
type sample struct {
	name string
	r    classify.Result
	in   Context
}

// samples cover, together, every field with and without a value.
func samples() []sample {
	const text = "Fixed the login redirect. Should work now. The docs are still open. I will report back."
	signal := func(k classify.SignalKind, words string) classify.Signal {
		at := strings.Index(text, words)
		return classify.Signal{Kind: k, Start: at, End: at + len(words), Weight: 1}
	}
	status := classify.Result{Type: classify.Status}
	rejected := classify.Result{Type: classify.Status, WasRejectedCompletion: true}
	with := func(ss ...classify.Signal) classify.Result {
		r := rejected
		r.Signals = ss
		return r
	}
	claim, hedge := signal(classify.SignalClaim, "Fixed the login redirect"), signal(classify.SignalHedge, "Should work now")
	gap, promise := signal(classify.SignalGap, "still open"), signal(classify.SignalPromise, "will report back")
	judged := rejected
	judged.CoachingMessage = "Show the test output."

	criteria := &plancriteria.Criteria{Heading: "Success Criteria", Items: []plancriteria.Item{
		{Text: "all tests pass", Checkbox: true}, {Text: "the docs are updated", Checkbox: true, Checked: true},
	}}
	ticked := &plancriteria.Criteria{Items: []plancriteria.Item{{Text: "all tests pass", Checkbox: true, Checked: true}}}
	var long plancriteria.Criteria
	for range 30 {
		long.Items = append(long.Items, plancriteria.Item{Text: "every page loads within a second"})
	}
	skill := &skills.Skill{Name: "do-build", Trigger: "/do-build", Description: "build what the plan says", EvidenceHint: "passing tests"}
	failed := []classify.Evidence{{Kind: classify.EvidenceTests, Text: "2 failed", Failed: true}}
	absent := []classify.Evidence{{Kind: classify.EvidenceTests, Text: "no test run", Absent: true}}

	return []sample{
		{"nothing known", status, Context{}},
		{"a request", status, Context{Request: "Fix the login redirect."}},
		{"a verifier's finding", rejected, Context{Feedback: "the commit does not exist"}},
		{"a verifier's findings and a plan", rejected, Context{Feedback: "the commit does not exist\nno test ran", PlanFile: "plan.md", Criteria: criteria}},
		{"a classifier's message", judged, Context{}},
		{"a classifier's message and a plan", judged, Context{PlanFile: "plan.md", Criteria: criteria, Skill: skill}},
		{"a report without signals", rejected, Context{}},
		{"a claim", with(claim), Context{Text: text}},
		{"a claim with a hedge and a plan", with(claim, hedge), Context{Text: text, PlanFile: "plan.md", Criteria: criteria}},
		{"a hedge and a skill", with(hedge), Context{Text: text, Skill: skill}},
		{"a gap", with(gap), Context{Text: text, PlanFile: "plan.md"}},
		{"a promise", with(promise), Context{Text: text}},
		{"a failure", rejected, Context{Evidence: failed}},
		{"nothing seen", rejected, Context{Evidence: absent}},
		{"nothing seen of a claim", with(claim, hedge), Context{Text: text, Evidence: absent}},
		{"everything", with(claim, hedge, gap, promise), Context{Text: text, Evidence: failed, PlanFile: "plan.md", Criteria: criteria, Skill: skill}},
		{"a plan", status, Context{PlanFile: "plan.md", Criteria: criteria}},
		{"a plan without name", status, Context{Criteria: criteria}},
		{"a plan with many criteria", status, Context{PlanFile: "plan.md", Criteria: &long}},
		{"a plan with all criteria ticked", status, Context{PlanFile: "plan.md", Criteria: ticked}},
		{"a plan with criteria in prose", status, Context{PlanFile: "plan.md", Criteria: &plancriteria.Criteria{Text: "It works."}}},
		{"a plan that can't be read", status, Context{PlanFile: "plan.md"}},
		{"a skill", status, Context{Skill: skill}},
		{"a skill with only a description", status, Context{Skill: &skills.Skill{Name: "tidy", Description: "tidy up"}}},
		{"a skill with only a hint", status, Context{Skill: &skills.Skill{EvidenceHint: "a screenshot"}}},
	}
}
