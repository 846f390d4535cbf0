package main

import (
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/classify"
)

// replayPause is what would have been decided at a pause.
type replayPause struct {
	File       string               `json:"file"`
	Agent      string               `json:"agent"`
	Session    string               `json:"session"`
	Line       int                  `json:"line"` // of the file, where the message ends
	Action     autocontinue.Action  `json:"action"`
	Outcome    autocontinue.Outcome `json:"outcome"`
	Reason     autocontinue.Reason  `json:"reason"`
	Type       classify.OutputType  `json:"type,omitempty"`
	Rejected   bool                 `json:"was_rejected_completion,omitempty"`
	Confidence float64              `json:"confidence,omitempty"`
	Continues  int                  `json:"continues"`
	Hold       string               `json:"hold,omitempty"`
	Reply      hook.Reply           `json:"reply,omitempty"`  // what the human's next words were
	Asked      bool                 `json:"asked,omitempty"`  // the human answered a question
	Effect     string               `json:"effect,omitempty"` // agrees, against, missed
}

// The effects of a decision.
const (
	agrees  = "agrees"
	against = "against"
	missed  = "missed"
)

func pauseOf(file string, m hook.Moment) replayPause {
	d := m.Decision
	p := replayPause{
		File: file, Agent: string(m.Event.Host), Session: m.Event.SessionKey(), Line: m.Line,
		Action: d.Action, Outcome: d.Outcome, Reason: d.Reason, Type: d.Result.Type, Rejected: d.Result.WasRejectedCompletion,
		Confidence: d.Result.Confidence, Continues: d.Continues, Hold: m.Output.Hold, Reply: hook.ReadReply(m.Next),
	}
	nudged := false
	p.Asked, nudged = meant(p, endsWithQuestion(m.Output.Text))
	switch goesOn := d.Action == autocontinue.Continue; {
	case goesOn && nudged:
		p.Effect = agrees
	case goesOn && p.Asked:
		p.Effect = against
	case nudged:
		p.Effect = missed
	}
	return p
}

// labelled reports whether the human's words label the output.
func (p replayPause) labelled() bool {
	return p.Type.Valid() && (p.Asked || p.Effect == agrees || p.Effect == missed)
}

// meant tells whether the human answered a question or sent the agent on. What the words are is not enough: yes is an answer
// where the agent asked, sends it on where it said what it would do next, and is thanks after anything else.
func meant(p replayPause, asks bool) (answered, nudged bool) {
	switch p.Reply {
	case hook.ReplyNudge:
		return false, true
	case hook.ReplyYesNudge:
		return asks, !asks
	case hook.ReplyAssent:
		return asks, !asks && p.Type == classify.Status && !p.Rejected
	case hook.ReplyAnswer:
		return true, false
	case hook.ReplyOther:
		return asks, false
	}
	return false, false
}

// endsWithQuestion reports whether the last line of a text asks something.
func endsWithQuestion(text string) bool {
	text = strings.TrimRight(text, " \t\r\n*_`\")")
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
}

// replaySession is what comes of a session.
type replaySession struct {
	File    string                      `json:"file"`
	Agent   string                      `json:"agent"`
	Session string                      `json:"session"`
	Pauses  int                         `json:"pauses"`
	GoesOn  int                         `json:"continued"`
	Agrees  int                         `json:"agrees"`
	Against int                         `json:"against"`
	Missed  int                         `json:"missed"`
	Reasons map[autocontinue.Reason]int `json:"reasons"`
	acts    reasonsByAction
}

// reasonsByAction counts pauses by what was decided, and why.
type reasonsByAction map[autocontinue.Action]map[string]int

// add counts pauses of one kind; the zero value is made into a map.
func (r *reasonsByAction) add(action autocontinue.Action, reason string, n int) {
	if *r == nil {
		*r = make(reasonsByAction)
	}
	if (*r)[action] == nil {
		(*r)[action] = make(map[string]int)
	}
	(*r)[action][reason] += n
}

func (r *reasonsByAction) addAll(o reasonsByAction) {
	for action, by := range o {
		for reason, n := range by {
			r.add(action, reason, n)
		}
	}
}

func (s *replaySession) count(p replayPause) {
	s.Pauses++
	s.Reasons[p.Reason]++
	s.acts.add(p.Action, string(p.Reason), 1)
	if p.Action == autocontinue.Continue {
		s.GoesOn++
	}
	switch p.Effect {
	case agrees:
		s.Agrees++
	case against:
		s.Against++
	case missed:
		s.Missed++
	}
}

// replayFault is what is wrong with a file.
type replayFault struct {
	File  string `json:"file"`
	Kind  string `json:"kind"` // unknown, truncated, interleaved, damaged, unreadable
	Fault string `json:"fault"`
}

// replayTotal is what comes of all.
type replayTotal struct {
	Files     int                         `json:"files"`
	Others    int                         `json:"others"` // files in folders that are no transcripts
	Faults    int                         `json:"faults"`
	Bytes     int64                       `json:"bytes"`
	LongLines int                         `json:"long_lines"` // left out, longer than 4 MiB
	Sessions  int                         `json:"sessions"`
	Pauses    int                         `json:"pauses"`
	GoesOn    int                         `json:"continued"`
	Agrees    int                         `json:"agrees"`
	Against   int                         `json:"against"`
	Missed    int                         `json:"missed"`
	Asked     int                         `json:"judged"`    // outputs that were put to the classifier
	Fallbacks int                         `json:"fallbacks"` // of these, those that the heuristic judged because the LLM failed
	Reasons   map[autocontinue.Reason]int `json:"reasons"`
	LLM       *replayLLM                  `json:"llm,omitempty"`
	Verdict   worth                       `json:"verdict"`
	Labelled  int                         `json:"-"` // pauses that the human's words label
	acts      reasonsByAction

	Interrupted bool `json:"interrupted,omitempty"` // there was more to read
}

func (t *replayTotal) sessions(s replaySession) {
	t.Sessions++
	t.Pauses += s.Pauses
	t.GoesOn += s.GoesOn
	t.Agrees += s.Agrees
	t.Against += s.Against
	t.Missed += s.Missed
	t.reasons(s.Reasons)
	t.acts.addAll(s.acts)
}

func (t *replayTotal) reasons(list map[autocontinue.Reason]int) {
	if t.Reasons == nil {
		t.Reasons = make(map[autocontinue.Reason]int)
	}
	for reason, n := range list {
		t.Reasons[reason] += n
	}
}

func (t *replayTotal) add(o replayTotal) {
	t.Files += o.Files
	t.Bytes += o.Bytes
	t.LongLines += o.LongLines
	t.Sessions += o.Sessions
	t.Pauses += o.Pauses
	t.GoesOn += o.GoesOn
	t.Agrees += o.Agrees
	t.Against += o.Against
	t.Missed += o.Missed
	t.Asked += o.Asked
	t.Fallbacks += o.Fallbacks
	t.Labelled += o.Labelled
	if o.LLM != nil {
		if t.LLM == nil {
			t.LLM = &replayLLM{}
		}
		t.LLM.add(*o.LLM)
	}
	t.reasons(o.Reasons)
	t.acts.addAll(o.acts)
}
