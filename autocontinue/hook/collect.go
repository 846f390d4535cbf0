package hook

import (
	"slices"
	"strconv"
	"strings"
)

const (
	maxRequest = 64 << 10 // bytes kept of the human's words
	maxCalls   = 4096     // outcomes kept that wait for their call
	maxHeld    = 8 << 20  // bytes of what they printed
	maxParts   = 1000     // lines of the last message
	maxRuns    = 64       // test runs kept
)

// collector makes a trace of the entries of a transcript, which it is given from the last to the first.
type collector struct {
	ours func(string) bool
	at   project
	tr   Trace
	done bool

	spoken bool     // something of the conversation was seen, so that a message before it is not the last
	parts  []string // of the last message, the last one first
	group  string   // of the last message
	called string   // group of the calls after the last message
	output bool     // what comes now is a command whose output was seen: it did not concern the agent
	event  bool     // calls of the program before this were seen

	outcomes map[string]outcome
	held     int                // bytes of their output
	polled   map[string]outcome // what became of background work

	before bool // what comes now happened before the human's last words
	edited bool // a file was changed after what comes now
	edits  bool // a file was changed in this turn
	opaque bool // something in this turn cannot be seen
	runs   []testRun
	doubt  string // why a run of this turn does not count
	past   bool   // before this turn tests passed, and no file was changed since
}

func (c *collector) add(e entry) {
	switch e.kind {
	case mode:
		if !c.before && c.tr.Mode == "" {
			c.tr.Mode = e.text
		}
		return
	case local:
		c.output = true
		return
	case message:
		c.message(e)
		return
	case call:
		switch {
		case len(c.parts) == 0 && e.group != "":
			c.called = e.group
		case e.group == "" || e.group != c.group:
			c.spoken = true
		}
		c.call(e.tool)
		return
	case command:
		if !c.output {
			c.human(e)
		}
		c.output = false
	case human:
		c.human(e)
	case feedback:
		if !c.before && fromUs(e.text) {
			c.tr.Continues++
		}
	case abort:
		c.tr.Aborted = c.tr.Aborted || !c.spoken && len(c.parts) == 0
	case result:
		c.keep(e.done)
	}
	c.spoken = true
}

// keep remembers an outcome until its call comes. The line that it stands on is gone by then.
func (c *collector) keep(o outcome) {
	if c.edited || len(c.outcomes) >= maxCalls || o.id == "" {
		return
	}
	if c.outcomes == nil {
		c.outcomes = make(map[string]outcome)
	}
	n := len(o.raw) + len(o.said)
	if c.held+n > maxHeld {
		o.raw, o.said, n = nil, "", 0
	}
	o.raw = slices.Clone(o.raw)
	c.held += n
	c.outcomes[o.id] = o
}

// human ends the turn. What comes before is read only to find out whether tests that passed then still stand.
func (c *collector) human(e entry) {
	if c.before {
		return
	}
	if c.ours(e.text) {
		c.tr.Continues++
		return
	}
	c.before, c.tr.Whole = true, true
	c.tr.Request, c.tr.Turn = clip(e.text, maxRequest), e.turn
	c.done = c.edits || c.opaque || len(c.runs) > 0
}

// message takes the last message together, which may stand on several lines. Calls may come after its text, but they are of
// the same answer then.
func (c *collector) message(e entry) {
	if c.spoken || c.before {
		c.spoken = true
		return
	}
	switch {
	case len(c.parts) == 0 && c.called != "" && c.called != e.group:
		c.spoken = true // the last answer has no text
		return
	case len(c.parts) == 0:
		c.tr.MessageID, c.group = e.id, e.group
	case e.group == "" || e.group != c.group || len(c.parts) == maxParts:
		c.spoken = true
		return
	}
	c.parts = append(c.parts, e.text)
}

func (c *collector) call(t tool) {
	if c.edited {
		return // what ran before an edit says nothing
	}
	o, answered := c.outcomes[t.id]
	if answered {
		c.held -= len(o.raw) + len(o.said)
		delete(c.outcomes, t.id)
	}
	if o.running != "" {
		if later, ok := c.polled[o.running]; ok {
			later.id = o.id
			o = later
		}
	}
	if t.poll != "" && answered && o.running == "" {
		if c.polled == nil {
			c.polled = make(map[string]outcome)
		}
		if _, ok := c.polled[t.poll]; !ok && len(c.polled) < maxCalls {
			c.polled[t.poll] = o
		}
	}
	hidden := t.opaque || t.program && !c.event
	c.event = t.event || c.event && !t.program
	if hidden && !c.before {
		c.opaque = true
	}
	if t.named != "" {
		c.run(parsedCommand{name: t.named, tests: true}, o, answered)
	}
	if t.script != "" {
		steps := c.at.parseScript(t.script)
		for i := len(steps) - 1; i >= 0 && !c.edited; i-- {
			switch s := steps[i]; {
			case s.edits:
				c.edit(o)
			case s.tests:
				c.run(s, o, answered)
			}
		}
	}
	if c.at.touched(t.edits...) {
		c.edit(o)
	}
}

// edit makes all runs before it stale, unless it came to nothing.
func (c *collector) edit(o outcome) {
	if o.stopped != "" || o.failed && !o.known {
		return
	}
	c.edited = true
	if c.before {
		c.done = true
		return
	}
	c.edits = true
}

// run takes a run of tests into account.
func (c *collector) run(p parsedCommand, o outcome, answered bool) {
	if len(c.runs) >= maxRuns {
		return
	}
	verdict, why := judgeRun(p, o, answered)
	if c.before {
		c.past = verdict == ranPassed
		c.done = true
		return
	}
	switch verdict {
	case ranPassed, ranFailed:
		r := testRun{words: p.words, name: p.name, failed: verdict == ranFailed}
		c.runs = append(c.runs, r)
	default:
		if c.doubt == "" {
			c.doubt = why
		}
	}
}

// trace returns what was found. Whole says that the transcript was read to its beginning.
func (c *collector) trace(whole bool) Trace {
	tr := c.tr
	slices.Reverse(c.parts)
	tr.Message = strings.Join(c.parts, "\n")
	if tr.Message == "" {
		tr.MessageID = ""
	}
	tr.Whole = tr.Whole || whole
	switch {
	case len(c.runs) > 0:
		tr.Tests, tr.Why = standing(c.runs)
	case c.opaque || c.past:
	case c.edits || tr.Whole && (whole || c.done):
		tr.Tests, tr.Why = TestsNone, "no test run since the last edit"
		if !c.edits {
			tr.Why = "no test run"
		}
		if c.doubt != "" {
			tr.Why = c.doubt
		}
	}
	return tr
}

// offsetID names a message by where its line begins, for transcripts whose messages have no ID.
func offsetID(at int64) string { return "offset:" + strconv.FormatInt(at, 10) }
