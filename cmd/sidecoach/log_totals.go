package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// totals sum up a journal.
type totals struct {
	Decisions  int            `json:"decisions"` // replays, which repeat one, not counted
	Sessions   int            `json:"sessions"`
	Continued  map[string]int `json:"continued"`  // by reason
	Stopped    map[string]int `json:"stopped"`    // by reason
	Suppressed map[string]int `json:"suppressed"` // by reason
	Continues  outcomes       `json:"continues"`
	Judge      judgeTotals    `json:"judge"`
	Fallbacks  int            `json:"fallbacks"` // verdicts that were to be another classifier's
	Degraded   int            `json:"degraded"`  // decisions that something could not be used for
	Replayed   int            `json:"replayed"`
	Shadowed   int            `json:"shadowed"` // would have been continued
	Notices    int            `json:"notices"`
	Unreadable int            `json:"unreadable"` // lines, of whatever session

	chains map[[2]string]*chain
}

// outcomes is what became of continuations: the turn ended with a completion that was accepted, or with anything else.
type outcomes struct {
	Accepted    int `json:"accepted"`
	NotAccepted int `json:"not_accepted"`
	Open        int `json:"open"`
}

type judgeTotals struct {
	Verdicts         int `json:"verdicts"`
	Attempts         int `json:"attempts"`
	PromptTokens     int `json:"prompt_tokens"`
	CachedTokens     int `json:"cached_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// chain is the continuations of a session's turn of which nothing has come yet.
type chain struct {
	turn string
	open int
}

func newTotals() totals {
	return totals{Continued: map[string]int{}, Stopped: map[string]int{}, Suppressed: map[string]int{}, chains: map[[2]string]*chain{}}
}

func (t *totals) empty() bool { return t.Decisions+t.Replayed+t.Notices == 0 }

// add counts an entry. They come in the order of the decisions of a session.
func (t *totals) add(e entry) {
	if e.Notice != "" {
		t.Notices++
		return
	}
	d := e.Decision
	if d.Replayed {
		t.Replayed++
		return
	}
	t.Decisions++
	if len(d.Degraded) > 0 {
		t.Degraded++
	}
	if d.Result.Fallback != "" {
		t.Fallbacks++
	}
	if u := d.Result.Usage; u != nil {
		t.Judge.Verdicts++
		t.Judge.Attempts += max(0, u.Attempts)
		t.Judge.PromptTokens += max(0, u.PromptTokens)
		t.Judge.CachedTokens += max(0, u.CachedTokens)
		t.Judge.CompletionTokens += max(0, u.CompletionTokens)
	}
	session := [2]string{e.Host, e.Session}
	c := t.chains[session]
	if c == nil {
		c = &chain{turn: e.Turn}
		t.chains[session] = c
		t.Sessions++
	}
	switch {
	case e.Shadow && d.Action == autocontinue.Continue:
		t.Shadowed++ // it was let stop
	case d.Action == autocontinue.Continue:
		t.Continued[string(d.Reason)]++
		t.continued(c, e)
	case d.Action == autocontinue.Suppress:
		t.Suppressed[string(d.Reason)]++
	default:
		t.Stopped[string(d.Reason)]++
		t.stopped(c, e)
	}
}

// continued opens a continuation. One of another turn, or the first of a turn by its number, ends the chain before it: the human
// spoke.
func (t *totals) continued(c *chain, e entry) {
	if e.Turn != c.turn || e.Decision.Continues == 1 {
		t.close(c, false)
	}
	c.turn = e.Turn
	c.open++
}

// stopped ends the chain of e's turn. An output that comes after the human spoke belongs to a turn that is over, and says
// nothing of the one that is open now, unless that is its own by name.
func (t *totals) stopped(c *chain, e entry) {
	if e.Decision.Reason == autocontinue.ReasonSuperseded && e.Turn != c.turn {
		return
	}
	t.close(c, e.Turn == c.turn && e.Decision.Reason == autocontinue.ReasonCompletion)
	c.turn = e.Turn
}

func (t *totals) close(c *chain, accepted bool) {
	if accepted {
		t.Continues.Accepted += c.open
	} else {
		t.Continues.NotAccepted += c.open
	}
	c.open = 0
}

// outcomes returns what became of the continuations so far.
func (t *totals) outcomes() outcomes {
	o := t.Continues
	for _, c := range t.chains {
		o.Open += c.open
	}
	return o
}

func (t *totals) json() (string, error) {
	sum := *t
	sum.Continues = t.outcomes()
	b, err := json.Marshal(map[string]totals{"totals": sum})
	if err != nil {
		return "", fmt.Errorf("cannot write the totals as JSON: %w", err)
	}
	return harmless(string(b)) + "\n", nil
}

// table is the totals for a person.
func (t *totals) table(to terminal, dir string) string {
	p := page{terminal: to}
	if t.empty() {
		p.printf("nothing was journaled yet in %s\n", visible(dir))
		return p.String()
	}
	p.printf("\n%s\n", p.paint(bold, fmt.Sprintf("%s in %s", plural(t.Decisions, "decision"), plural(t.Sessions, "session"))))
	p.row("continued", reasonsInWords(t.Continued))
	p.row("stopped", reasonsInWords(t.Stopped))
	p.row("dropped", reasonsInWords(t.Suppressed))
	if t.Shadowed > 0 {
		p.row("shadow", plural(t.Shadowed, "time")+" let stop where it would have been continued")
	}
	if len(t.Continued) > 0 {
		o := t.outcomes()
		p.row("continues", fmt.Sprintf("%d led to an accepted completion, %d did not, %d open", o.Accepted, o.NotAccepted, o.Open))
	}
	if j := t.Judge; j.Verdicts > 0 {
		p.row("judge", fmt.Sprintf("%s in %s, %s tokens in, %s of them cached, %s out", plural(j.Verdicts, "verdict"), plural(j.Attempts, "call"),
			thousands(j.PromptTokens), thousands(j.CachedTokens), thousands(j.CompletionTokens)))
	}
	for _, n := range []struct {
		label string
		n     int
		what  string
		means string
	}{
		{"fallback", t.Fallbacks, "verdict", " of the heuristic, where another classifier had none"},
		{"degraded", t.Degraded, "decision", " without a plan, a judge or a verifier that could not be used"},
		{"replayed", t.Replayed, "decision", " asked for again, and not counted above"},
		{"notices", t.Notices, "time", " something went wrong beside a decision"},
	} {
		if n.n > 0 {
			p.row(n.label, plural(n.n, n.what)+n.means)
		}
	}
	return p.String()
}

// reasonsInWords is "3: rejected completion 2, progress 1", the most frequent first.
func reasonsInWords(by map[string]int) string {
	if len(by) == 0 {
		return ""
	}
	var reasons []string
	sum := 0
	for reason, n := range by {
		reasons = append(reasons, reason)
		sum += n
	}
	slices.SortFunc(reasons, func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) })
	for i, reason := range reasons {
		reasons[i] = fmt.Sprintf("%s %s", visible(words(reason)), thousands(by[reason]))
	}
	return fmt.Sprintf("%s: %s", thousands(sum), strings.Join(reasons, ", "))
}
