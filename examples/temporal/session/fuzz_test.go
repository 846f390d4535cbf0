package session

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// FuzzSession plays a session of anything: each byte is something that happens. Whatever it is, the session ends, every
// output is handled, no effect is begun twice, no run continued twice, no turn more often than it may, and no turn that
// the human has ended.
func FuzzSession(f *testing.F) {
	for _, seed := range []string{"", "wooowooo", "agent: waaaw", "woooooooowc", "odododod", "wnwnwo", "Axwyyn",
		"woOoOoOcow"} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, script []byte, agent bool) {
		script = script[:min(len(script), 60)]
		texts := []string{claim, progress, shown, question, "", "[System Coach] go on", "API Error: 529 overloaded"}
		var prompts []Prompt
		a := &scripted{say: func(p Prompt) Reply {
			prompts = append(prompts, p)
			n := len(prompts)
			r := Reply{Text: texts[(n+len(script))%len(texts)], Failed: n%11 == 0}
			if n%5 == 0 {
				r.Calls = []Call{
					{ID: fmt.Sprint("c", n), Tool: []string{"read", "deploy", "drop", ""}[n/5%4], Args: json.RawMessage(`{}`)},
				}
			}
			return r
		}}
		policy := rules(
			t,
			`[{"gate": "context", "then": "allow"}, {"gate": "context", "when": [{"at": "/from", "equals": "coach"}], "then":
				"ask"},
			{"tool": "read", "then": "allow"}, {"tool": "deploy", "then": "ask"}]`,
		)
		box := &outbox{}
		w := newWorld(t, Config{Agent: agent, Gate: policy, ApprovalTTL: 7 * time.Second}, Activities{
			Agent: a, Outbox: box, Tools: map[string]Tool{"read": func(_ context.Context,
				args json.RawMessage) (json.RawMessage, error) {
				return args, nil
			}},
		})
		ended := make(map[string]int) // how many effects there were when the human ended the turn
		turn, sent := "", 0
		turns := make(map[int]string) // of each report
		for i, b := range script {
			w.at(time.Duration(i+1)*time.Second, func() {
				switch b % 7 {
				case 0: // the human speaks
					ended[turn] = len(box.said())
					turn = fmt.Sprint("t", i)
					w.SignalWorkflow(SignalWord, Word{ID: turn, Text: "do " + turn})
				case 1: // and answers
					v := w.view()
					d := gate.Decision{Item: "x", Action: gate.Approve, By: "ada"}
					if len(v.Asked) > 0 {
						d.Item, d.Digest = v.Asked[0].ID, v.Asked[0].Digest
						d.Action = []gate.Action{gate.Approve, gate.Deny, gate.Stop}[int(b/7)%3]
					}
					w.SignalWorkflow(SignalAnswer, d)
				case 2:
					w.SetContinueAsNewSuggested(true)
				default: // a pause is reported: a new one, or one again
					n := i
					if b%7 == 6 {
						n = max(0, i-int(b/7)%8)
					}
					of, known := turns[n]
					if !known {
						of, turns[n] = turn, turn
					}
					sent++
					w.SignalWorkflow(SignalOutput, autocontinue.Output{
						Turn: of, Run: fmt.Sprint("r", n/2), ID: fmt.Sprint("o", n), Text: texts[(n+len(script))%len(texts)],
					})
				}
			})
		}
		w.end(time.Minute + 5*time.Second)
		next, c := w.run(Session{Name: "s", Config: w.config})
		for runs := 1; next != nil; runs++ {
			require.Less(t, runs, 3, "it goes on for ever")
			last := newWorld(t, w.config, Activities{Agent: a, Outbox: box})
			last.SetStartTime(w.Now())
			last.end(time.Minute)
			carried := *next
			// What the first run did not see is not this one's to count.
			sent = carried.Counts.Outputs + len(carried.Outputs) - carried.Counts.Agents
			next, c = last.run(carried)
		}
		assert.Equal(t, c.Outputs, c.Replayed+c.Suppressed+c.Delivered+c.Continued)
		if !agent {
			assert.Equal(t, max(sent, 0), c.Outputs)
		}
		assert.Len(t, box.tries, len(box.effects), "begun twice")
		continues, runs := make(map[string]int), make(map[string]int)
		for i, d := range box.effects {
			if d.Action == autocontinue.Continue {
				continues[d.Turn]++
				runs[d.Run]++
				if at, over := ended[d.Turn]; over && d.Turn != "" {
					assert.Less(t, i, at, "%s was continued after the human had spoken", d.Turn)
				}
			}
		}
		coached := make(map[string]bool)
		for _, p := range prompts {
			if p.From == "coach" && len(p.Answers) == 0 {
				continues[p.Turn]++
				assert.False(t, coached[p.Decision], "decision %s was sent twice", p.Decision)
				coached[p.Decision] = true
			}
		}
		for turn, n := range continues {
			assert.LessOrEqual(t, n, autocontinue.DefaultMaxContinues, turn)
		}
		for run, n := range runs {
			assert.Equal(t, 1, n, run)
		}
	})
}

// scripted is an agent that is asked for one reply at a time.
type scripted struct{ say func(Prompt) Reply }

func (s *scripted) Run(_ context.Context, p Prompt) (Reply, error) { return s.say(p), nil }
