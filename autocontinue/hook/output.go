package hook

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
)

// What an Output is held for.
const (
	holdPlan       = "plan mode"
	holdBackground = "background work"
	holdWakeup     = "a scheduled prompt"
	holdAborted    = "aborted"
	holdStatus     = "an end that is not known"
	holdNoMessage  = "there is no message of the agent to judge"
	holdInternal   = "an agent of the host's own"
	holdNotify     = "a notice that cannot be answered"
	holdStateLost  = "state lost, so nobody knows how often this turn was continued"
)

// Output returns what [autocontinue.AutoContinue.Handle] is asked about the pause. T is what [Event.Look] found, and m what is
// remembered of the session.
//
//   - Session is [Event.SessionKey], and Run is empty: each pause is a run of its own.
//   - Turn is the host's ID of the human's prompt, by the transcript where it has one. It is empty where the host has none, for
//     a prompt that the host wrote itself, and where a hook sent the agent on: these open no turn.
//   - ID is what the host tells all hooks of a pause, unless m says that it named another one. Of Cursor that is its ID of the
//     prompt, which is a new one for each, with its count. Of the others it is [Trace.MessageID] where the transcript's message
//     is the event's, white space aside, else the host's time of the event, where it has one to a fraction of a second. It is
//     never made of the text, and empty where there is none of these.
//   - Text is the message: the event's, else the one that m holds, else the transcript's; of a host that accumulates, what
//     follows the text that was judged last.
//   - Request is the event's prompt where it has one that is the human's, else the transcript's.
//   - Continues is the larger of what the transcript counts and what the host does.
//   - Work is what the transcript shows. Evidence is absent evidence of tests, where the agent has edited and checked
//     nothing in the whole session and the text claims tests; else it is empty.
//   - Failed is set for a turn that broke. Hold is set in plan mode, for an aborted turn and one that ended in a way that is
//     not known, while background work runs or a
//     prompt is scheduled, where there is no message (null is not the empty message), for agents of the host's own, and
//     where a hook sent the agent on but neither memory nor transcript knows of it.
func (e Event) Output(t transcript.Trace, m Memory) autocontinue.Output {
	prompted := e.prompted()
	e = e.inTurn(m)
	out := autocontinue.Output{Session: e.SessionKey(), Request: e.request(t, m), Continues: max(t.Continues, e.Loop.Value, 0)}
	active := e.active()
	if !active && e.Turn.Value != "" {
		switch {
		case t.Turn != "":
			out.Turn = t.Turn
		case sum(e.Turn.Value) != m.Notice:
			out.Turn = e.Turn.Value
		}
	}
	msg, ok := e.Message.Get()
	if said, held := m.said(e); e.Message.Is == Absent && held {
		msg, ok = said, true
	} else if e.Message.Is == Absent && t.Message != "" {
		msg, ok = t.Message, true // the host gives none
	}
	from := 0
	if e.Host.Accumulates() {
		from, _ = m.from(e)
	}
	out.Text = msg[min(from, len(msg)):]
	if from > 0 {
		out.Text = strings.TrimPrefix(out.Text, "\n")
	}
	current := e.same(msg, t.Message) || from > 0 && e.same(out.Text, t.Message)
	if id := prompted; id != "" {
		if m.Timed.known(id, e) {
			out.ID = id
		}
	} else if current && m.Named.known(sum(t.MessageID), e) {
		out.ID = t.MessageID
	} else if id := e.moment(); id != "" && id >= m.Timed.Last && m.Timed.known(id, e) {
		out.ID = id
	}
	if t.Read {
		out.Work, out.Evidence = t.Work, evidence(t.Work, out.Text)
	}

	switch status := strings.ToLower(e.Status.Value); {
	case e.Kind == StopFailure:
		out.Failed = true
		if blank(out.Text) {
			out.Text = e.Status.Value
		}
	case e.Kind == Notify:
		out.Hold = holdNotify
	case status == "error" || status == "failed":
		out.Failed = true
	case e.AgentType.Is == Given && e.AgentType.Value == "" && e.Kind == SubagentStop:
		out.Hold = holdInternal
	case strings.EqualFold(e.Mode.Value, "plan"), e.Mode.Is != Given && strings.EqualFold(t.Mode, "plan"):
		out.Hold = holdPlan
	case status == "aborted" || status == "cancelled" || t.Aborted:
		out.Hold = holdAborted
	case status != "" && status != "completed":
		out.Hold = holdStatus
	case e.working(), e.Background.Is == Absent && t.Waits:
		out.Hold = holdBackground
	case e.Wakeups.Value > 0:
		out.Hold = holdWakeup
	case !ok:
		out.Hold = holdNoMessage
	case active && m.Pauses == 0 && (!t.Read || e.Host.Echoes() && out.Continues == 0):
		out.Hold = holdStateLost
	}
	return out
}

// request returns the human's words of the turn.
func (e Event) request(t transcript.Trace, m Memory) string {
	if prompt, ok := e.Prompt.Get(); ok && !blank(prompt) && !transcript.Format(e.Host).IsNotice(prompt) && !e.ours(prompt, m) {
		return strings.ToValidUTF8(prompt[:min(len(prompt), maxRequest)], "")
	}
	return t.Request
}

// ours reports whether what went to the agent is a message of ours. Where the memory of what was sent is lost, though a hook
// sent the agent on, our one message without a prefix is: else the turn would seem to be the human's, again and again.
func (e Event) ours(s string, m Memory) bool {
	echoes := e.Host.Echoes()
	e = e.inTurn(m)
	return m.ours(s, echoes) || echoes && e.active() && m.Pauses == 0 && strings.TrimSpace(s) == "continue"
}

// active reports whether a hook sent the agent on before this pause.
func (e Event) active() bool { return e.StopActive.Value || e.Loop.Value > 0 }

const maxRequest = 64 << 10 // bytes of the human's words

// Of an ID that is the host's own of the pause.
const (
	momentPrefix   = "time:"
	promptedPrefix = "prompt:"
)

// prompted returns the ID that the host's IDs of the prompt and its count of the session make, "" where it has not got both.
func (e Event) prompted() string {
	prompt, count := e.Generation.Value, e.Loop
	if prompt == "" || count.Is != Given {
		return ""
	}
	return promptedPrefix + sum(prompt) + ":" + strconv.Itoa(count.Value)
}

// moment returns the ID that the host's time of the event makes, "" where that is no name. A later one is greater.
func (e Event) moment() string {
	at, err := time.Parse(time.RFC3339Nano, e.Time.Value)
	if err != nil || !strings.Contains(e.Time.Value, ".") {
		return ""
	}
	return momentPrefix + at.UTC().Format("2006-01-02T15:04:05.000000000Z")
}

func (e Event) working() bool {
	for _, task := range e.Background.Value {
		if task.Running() {
			return true
		}
	}
	return false
}

// same reports whether the event's message is the transcript's, which is only the last of it where the host accumulates.
func (e Event) same(msg, last string) bool {
	a, b := strings.Join(strings.Fields(msg), " "), strings.Join(strings.Fields(last), " ")
	if b == "" {
		return false
	}
	return a == b || e.Host.Accumulates() && strings.HasSuffix(a, " "+b)
}

// evidence returns that no tests ran, for a text that claims some though the agent has edited and checked nothing in the whole
// session. Everything else that the transcript shows is Work.
func evidence(w classify.Work, text string) []classify.Evidence {
	if w.Session != classify.EditedNone || w.Edited != classify.EditedNone || len(w.Checks) > 0 || !claimsTests(text) {
		return nil
	}
	return []classify.Evidence{{Kind: classify.EvidenceTests, Text: "no test run", Absent: true}}
}

// claimsTests reports whether a text says that tests passed, or shows how many.
func claimsTests(text string) bool {
	h, err := classify.NewHeuristic()
	if err != nil {
		return false // the built-in tables are never wrong
	}
	r, err := h.Classify(context.Background(), classify.Input{Text: text})
	if err != nil {
		return false
	}
	for _, s := range r.Signals {
		if s.Kind == classify.SignalClaim && s.Name == "tests" || s.Kind == classify.SignalEvidence && s.Name == string(classify.EvidenceTests) {
			return true
		}
	}
	return false
}
