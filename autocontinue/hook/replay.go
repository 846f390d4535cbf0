package hook

import (
	"context"
	"errors"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
)

// Moment is a pause of an old session, what was decided about it, and what the human wrote then.
type Moment struct {
	Host     Host
	Output   autocontinue.Output
	Decision autocontinue.Decision
	Line     int    // of the transcript, where the agent's message ends
	Next     string // the human's next words, at most 16 KiB; empty when there were none before the next pause or the end
}

// Replay goes through the pauses of a transcript as a hook would have met them while it grew. Start gives a fresh loop
// for the session; show gets each pause, once it is known what the human wrote next. Replay knows nothing of what only
// a payload tells: work in the background, scheduled prompts and, in Cursor, an interruption by the human.
//
// Long and the errors are those of [transcript.Transcript.Walk]; errors also come from start, the loop and show.
func Replay(
	ctx context.Context, t *transcript.Transcript, start func(session string) (*autocontinue.AutoContinue, error),
	show func(Moment) error,
) (long int, err error) {
	var (
		loop  *autocontinue.AutoContinue
		m     memory
		shown *Moment // not shown yet: the human may still speak
	)
	flush := func() error {
		if shown == nil {
			return nil
		}
		last := *shown
		shown = nil
		return show(last)
	}
	long, err = t.Walk(ctx, func(w transcript.Event) (err error) {
		e := event{host: Host(t.Format), kind: stopped, Session: w.Session, Agent: w.Agent, Dir: w.Dir}
		if t.Subagent {
			e.kind = subagentStopped
		}
		if !w.Pause && shown != nil {
			shown.Next = w.Prompt
		}
		if err := flush(); err != nil {
			return err
		}
		if loop == nil {
			if loop, err = start(e.key()); err != nil {
				return err
			}
		}
		if !w.Pause {
			e.kind = prompted // the transcript says that it is the human's
			m = m.heard(e)
			return loop.Reset(ctx, e.key())
		}
		if e.Resumed = w.Trace.Continued; w.Trace.Broke {
			e.kind, e.Resumed = broke, false // such an event does not say it
		}
		if e.host != Cursor && e.host != Copilot { // their events have no message
			e.Message = optional{w.Trace.Message, true}
		}
		out := m.output(e, w.Trace)
		d, err := loop.Handle(ctx, out)
		if err != nil {
			return err
		}
		m = m.after(e, out, d.Action == autocontinue.Continue)
		w.State.Sent(m.Transcript.Echoes)
		shown = &Moment{Host: e.host, Output: out, Decision: d, Line: w.Line}
		return nil
	})
	return long, errors.Join(err, flush())
}

// Effect compares the decision with the human's next words: it "agrees" (both continue the agent), it is "against"
// the human (it continues the agent, and the human answered a question or said no), or it "missed" (only the human
// continued the agent). Empty words do not tell. Answered says that the words answer a question of the agent.
func (m Moment) Effect() (effect string, reply transcript.Reply, answered bool) {
	result := m.Decision.Result
	reply = transcript.ReadReply(m.Next)
	text := strings.TrimRight(m.Output.Text, " \t\r\n*_`\")")
	nudged, answered := reply.Means(strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？"),
		result.Type == classify.Status && !result.WasRejectedCompletion)
	switch continues := m.Decision.Action == autocontinue.Continue; {
	case continues && nudged:
		effect = "agrees"
	case continues && answered:
		effect = "against"
	case nudged:
		effect = "missed"
	}
	return effect, reply, answered
}
