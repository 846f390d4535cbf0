package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

const logTime = "2006-01-02 15:04:05"

// entryText is one entry for a person: when, the decision's ID, the decision, then what there is to say about it. The
// row "result" is what the totals count. A line for the session stands above it, where before is another one.
func entryText(e entry, result string, before *string) string {
	session := paint(bold, visible(cmp.Or(e.Session, "no session")))
	if e.Host != "" {
		session += paint(dim, " ("+visible(e.Host)+")")
	}
	text := ""
	if session != *before {
		if *before != "" {
			text = " \n"
		}
		text, *before = text+session+"\n", session
	}
	head := paint(yellow, "notice")
	if e.Notice == "" {
		head = paint(dim, fmt.Sprintf("%-8.8s", visible(e.Decision.ID))) + "  " + headline(e.Decision)
		if e.Decision.Replayed {
			head += paint(dim, " · replayed")
		}
		if e.Shadow {
			head += paint(dim, " · shadow: not continued")
		}
	}
	return text + "  " + paint(dim, e.Time.Local().Format(logTime)) + "  " + head + "\n" + view("entry", struct {
		entry
		Result string
	}{e, result})
}

type totals struct {
	Decisions  int            `json:"decisions"` // replays, which repeat one, not counted
	Sessions   int            `json:"sessions"`
	Continued  map[string]int `json:"continued"` // how often for each reason
	Stopped    map[string]int `json:"stopped"`
	Suppressed map[string]int `json:"suppressed"`
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

func counts(of map[string]int) string {
	mostFrequent := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b))
	})
	sum, reasons := 0, make([]string, len(mostFrequent))
	for i, reason := range mostFrequent {
		reasons[i] = visible(words(reason)) + " " + thousands(of[reason])
		sum += of[reason]
	}
	return thousands(sum) + ": " + strings.Join(reasons, ", ")
}

// outcomes says what the continuations led to: the turn ended with an accepted completion, or with anything else.
type outcomes struct {
	Accepted    int `json:"accepted"`
	NotAccepted int `json:"not_accepted"`
	Open        int `json:"open"`
}

// judgeTotals are the verdicts of an LLM, and what they cost together.
type judgeTotals struct {
	Verdicts int `json:"verdicts"`
	classify.Usage
}

// chain is the continuations of a session's current turn that have no result yet. The link between them is
// [autocontinue.Decision].Continues, which counts within the turn: the hosts' names of turns change when a hook
// continues.
type chain struct {
	open int
	last int // Continues of the last one
}

func newTotals() totals {
	return totals{Continued: map[string]int{}, Stopped: map[string]int{}, Suppressed: map[string]int{},
		chains: map[[2]string]*chain{}}
}

// add counts an entry and says what it shows about the continuations before it; "" is nothing. The entries of a session
// come in the order of their decisions.
func (t *totals) add(e entry) (result string) {
	d := e.Decision
	switch {
	case e.Notice != "":
		t.Notices++
		return ""
	case d.Replayed:
		t.Replayed++
		return ""
	}
	t.Decisions++
	if len(d.Degraded) > 0 {
		t.Degraded++
	}
	if d.Result.Fallback != "" {
		t.Fallbacks++
	}
	t.Judge.add(d.Result.Usage)
	session := [2]string{e.Host, e.Session}
	c := t.chains[session]
	if c == nil {
		c = &chain{}
		t.chains[session] = c
		t.Sessions++
	}
	if e.Shadow && d.Action == autocontinue.Continue {
		t.Shadowed++ // not continued
		return ""
	}
	switch d.Action {
	case autocontinue.Suppress:
		t.Suppressed[string(d.Reason)]++
	case autocontinue.Continue:
		t.Continued[string(d.Reason)]++
		if d.Continues <= c.last {
			result = t.close(c, false, true)
		}
		c.open, c.last = c.open+1, d.Continues
		t.Continues.Open++
	case autocontinue.Deliver:
		t.Stopped[string(d.Reason)]++
		before := d.Continues < c.last
		if d.Reason == autocontinue.ReasonSuperseded && !before {
			return "" // it belongs to an older turn, and says nothing about the current one
		}
		result = t.close(c, d.Reason == autocontinue.ReasonCompletion && !before, before)
	}
	return result
}

// close ends the chain of a turn: the current one, or the one before. It says what that shows.
func (t *totals) close(c *chain, accepted, before bool) string {
	n, text := c.open, " not accepted"
	*c = chain{}
	t.Continues.Open -= n
	switch {
	case n == 0:
		return ""
	case accepted:
		t.Continues.Accepted += n
		text = " accepted"
	default:
		t.Continues.NotAccepted += n
	}
	if before {
		text = " of the turn before" + text
	}
	return plural(n, "continue") + text
}

func (j *judgeTotals) add(u *classify.Usage) {
	if u == nil {
		return
	}
	j.Verdicts++
	j.Attempts += u.Attempts
	j.PromptTokens += u.PromptTokens
	j.CachedTokens += u.CachedTokens
	j.CompletionTokens += u.CompletionTokens
	j.CostUSD += u.CostUSD
	j.Latency += u.Latency
}
