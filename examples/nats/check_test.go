package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// forge returns what workers without a fault leave.
func forge(t *testing.T) *pass {
	t.Helper()
	p := &pass{sessions: make(map[string][]autocontinue.Output), newer: map[string]bool{"session 0": true}}
	for i := range 4 {
		name := fmt.Sprint("session ", i)
		p.sessions[name] = session(7, name, 20, 20)
		decisions, err := alone(p.sessions[name])
		require.NoError(t, err)
		if p.newer[name] {
			decisions = refused(p.sessions[name])
		}
		acted := make(map[string]bool)
		for at, d := range decisions {
			out := p.sessions[name][at]
			e := entry{Session: name, At: at, Decision: d}
			if p.newer[name] {
				e.Error, e.Shown = autocontinue.ErrStateVersion.Error(), true
			}
			p.journal = append(p.journal, e)
			if d.Action != autocontinue.Suppress && !acted[d.ID] {
				acted[d.ID] = true
				p.acts = append(p.acts, act{
					Session: name, Turn: out.Turn, Run: out.Run, Output: out.ID, Decision: d.ID, Action: d.Action, Message: d.Message,
				})
			}
		}
	}
	return p
}

// The checker finds what each kind of broken worker would leave, and nothing in what is only late or tried again.
func TestVerdict(t *testing.T) {
	first := func(p *pass, is func(e entry) bool) entry {
		i := slices.IndexFunc(p.journal, is)
		require.GreaterOrEqual(t, i, 0)
		return p.journal[i]
	}
	continued := func(e entry) bool { return e.Decision.Action == autocontinue.Continue }
	delivered := func(e entry) bool { return e.Decision.Action == autocontinue.Deliver && e.Error == "" }
	actOf := func(p *pass, e entry) *act {
		return &p.acts[slices.IndexFunc(p.acts, func(a act) bool { return a.Decision == e.Decision.ID })]
	}
	for _, c := range []struct {
		name   string
		want   string // empty: nothing is wrong
		change func(p *pass)
	}{
		{"no fault", "", func(*pass) {}},
		{"an attempt again", "", func(p *pass) {
			e := first(p, continued)
			e.Decision.Replayed = true
			p.journal = append(p.journal, e)
		}},
		{"an attempt of one that came back when the turn was over", "", func(p *pass) {
			e := first(p, continued)
			e.Decision.Action, e.Decision.Reason, e.Decision.Message = autocontinue.Deliver, "superseded", ""
			p.journal = append(p.journal, e)
		}},
		{"an attempt of one that came back when the run was closed", "", func(p *pass) {
			e := first(p, continued)
			e.Decision.Action, e.Decision.Reason, e.Decision.Message = autocontinue.Suppress, "run_closed", ""
			p.journal = append(p.journal, e)
		}},
		{"a failed attempt", "", func(p *pass) {
			e := first(p, continued)
			e.Error, e.Decision = "the store is full", autocontinue.Decision{Reason: "error"}
			p.journal = append(p.journal, e)
		}},
		{"acts of the program's first versions", "", func(p *pass) {
			for i := range p.acts {
				p.acts[i].Output = ""
			}
		}},

		{"a lost delivery", "was lost", func(p *pass) { p.journal = p.journal[1:] }},
		{"a lost session", "was lost", func(p *pass) {
			p.journal = slices.DeleteFunc(p.journal, func(e entry) bool { return e.Session == "session 1" })
		}},
		{"only a failed attempt", "was lost", func(p *pass) {
			i := slices.IndexFunc(p.journal, continued)
			p.journal[i].Error, p.journal[i].Decision = "the store is full", autocontinue.Decision{Reason: "error"}
		}},
		{"only an outdated attempt", "was lost", func(p *pass) {
			i := slices.IndexFunc(p.journal, continued)
			d := &p.journal[i].Decision
			d.Action, d.Reason, d.Message = autocontinue.Deliver, "superseded", ""
		}},
		{"continued with an error", "with the error", func(p *pass) {
			e := first(p, continued)
			e.Error = "the store is full"
			p.journal = append(p.journal, e)
		}},
		{"a delivery that was never made", "never made", func(p *pass) {
			p.journal = append(p.journal, entry{Session: "session 1", At: 1000})
		}},
		{"acted twice under an ID", "was acted on twice", func(p *pass) { p.acts = append(p.acts, p.acts[0]) }},
		{"acted twice under a fresh ID", "under two decisions", func(p *pass) {
			a := p.acts[0]
			a.Decision = "fresh"
			p.acts = append(p.acts, a)
		}},
		{"acted without a decision", "nothing decided it", func(p *pass) {
			p.acts = append(p.acts, act{Decision: "invented"})
		}},
		{"not acted", "never acted on", func(p *pass) { p.acts = p.acts[1:] }},
		{"continued a run twice", "continued 2 times", func(p *pass) {
			a := *actOf(p, first(p, continued))
			a.Decision, a.Output = "fresh", "another"
			p.acts = append(p.acts, a)
		}},
		{"continued beyond the cap", "at most 3", func(p *pass) {
			a := *actOf(p, first(p, continued))
			for i := range 3 {
				a.Decision, a.Output, a.Run = fmt.Sprint("fresh", i), fmt.Sprint("another", i), fmt.Sprint("another", i)
				p.acts = append(p.acts, a)
			}
		}},
		{"continued what was to be delivered", "what was done is continue", func(p *pass) {
			actOf(p, first(p, delivered)).Action = autocontinue.Continue
		}},
		{"sent another message", "what was done is", func(p *pass) { actOf(p, first(p, continued)).Message += "!" }},
		{"sent it to another session", "what was done is", func(p *pass) {
			actOf(p, first(p, continued)).Session = "session 3"
		}},
		{"decided otherwise", "but one process decides", func(p *pass) {
			e := first(p, delivered)
			e.Decision.Action, e.Decision.Reason = autocontinue.Continue, "progress"
			p.journal = append(p.journal, e)
		}},
		{"decided under a fresh ID", "but one process decides", func(p *pass) {
			e := first(p, continued)
			e.Decision.ID = "fresh"
			p.journal = append(p.journal, e)
		}},
		{"continued a newer version's session", "but one process decides", func(p *pass) {
			e := first(p, func(e entry) bool { return e.Session == "session 0" })
			e.Decision.Action, e.Decision.Reason, e.Error, e.Shown = autocontinue.Continue, "progress", "", false
			p.journal = append(p.journal, e)
		}},
		{"another version judges otherwise", "", func(p *pass) {
			p.mixed = true
			judgeOtherwise(p, first(p, delivered), 1000)
		}},
		{"another version judges otherwise what was decided", "of the same output", func(p *pass) {
			p.mixed = true
			judgeOtherwise(p, first(p, delivered), 1)
		}},
		{"versions that decide the same delivery otherwise", "but one process decides", func(p *pass) {
			p.mixed = true
			e := first(p, delivered)
			e.Decision.Action, e.Decision.Message = autocontinue.Continue, "go on"
			p.journal = append(p.journal, e)
		}},
		{"another version, other acts", "what was done is", func(p *pass) {
			p.mixed = true
			actOf(p, first(p, continued)).Message += "!"
		}},
		{"another version, a fresh ID", "was lost", func(p *pass) {
			p.mixed = true
			i := slices.IndexFunc(p.journal, continued)
			p.journal[i].Decision.ID = "fresh"
		}},
		{"a crowd, and who was told late acted first", "", func(p *pass) {
			p.crowd = true
			e := first(p, continued)
			a := actOf(p, e)
			a.Action, a.Message = autocontinue.Deliver, ""
			e.Decision.Action, e.Decision.Reason, e.Decision.Message = autocontinue.Deliver, "superseded", ""
			p.journal = append([]entry{e}, p.journal...)
		}},
		{"a crowd, and nobody was told so", "what was done is", func(p *pass) {
			p.crowd = true
			a := actOf(p, first(p, continued))
			a.Action, a.Message = autocontinue.Deliver, ""
		}},
		{"a crowd, and who acted died before it said so", "", func(p *pass) {
			p.crowd = true
			id := first(p, continued).Decision.ID
			for i := range p.journal {
				if d := &p.journal[i].Decision; d.ID == id {
					d.Action, d.Reason, d.Message = autocontinue.Suppress, "run_closed", ""
				}
			}
		}},
		{"a crowd, and an act of no output", "nothing decided it", func(p *pass) {
			p.crowd = true
			p.acts = append(p.acts, act{Session: "session 1", Output: "invented", Decision: "invented",
				Action: autocontinue.Continue})
		}},
		{"a crowd that decides an output twice", "but one process decides", func(p *pass) {
			p.crowd = true
			e := first(p, continued)
			e.Decision.Message += "!"
			p.journal = append(p.journal, e)
		}},
		{"overwrote a newer version's session", "overwritten", func(p *pass) { p.overwritten = 1 }},
	} {
		p := forge(t)
		c.change(p)
		err := p.verdict()
		if c.want == "" {
			assert.NoError(t, err, c.name)
		} else {
			assert.ErrorContains(t, err, c.want, c.name)
		}
	}
}

func TestVerdictNamesAFew(t *testing.T) {
	p := forge(t)
	p.acts = nil
	assert.ErrorContains(t, p.verdict(), "more")
	assert.LessOrEqual(t, len(p.verdict().Error()), 4000)
}

// judgeOtherwise changes the decision of e into a delivery of another reason and message, in what was done and in the
// first so many lines of the journal.
func judgeOtherwise(p *pass, e entry, lines int) {
	for i := range p.journal {
		if d := &p.journal[i].Decision; d.ID == e.Decision.ID && d.Action == e.Decision.Action && lines > 0 {
			d.Message = "another version's"
			lines--
		}
	}
	for i := range p.acts {
		if p.acts[i].Decision == e.Decision.ID {
			p.acts[i].Message = "another version's"
		}
	}
}
