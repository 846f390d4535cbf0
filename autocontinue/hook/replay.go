package hook

import (
	"context"
	"errors"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
)

// Loop decides. [autocontinue.AutoContinue] is one.
type Loop interface {
	Reset(ctx context.Context, session string) error
	Handle(ctx context.Context, out autocontinue.Output) (autocontinue.Decision, error)
}

var _ Loop = (*autocontinue.AutoContinue)(nil)

// Moment is a pause of an old session, what was decided about it, and what the human wrote then.
type Moment struct {
	Host     Host
	Output   autocontinue.Output
	Decision autocontinue.Decision
	Line     int    // of the transcript, where the agent's message ends
	Next     string // the human's next words, at most 16 KiB; empty when there were none before the next pause or the end
}

// Replay goes through the pauses of a transcript as a hook would have met them while it grew. Start gives a loop,
// without any memory, for each session; show gets each pause, once it is known what the human wrote next. What only a
// payload tells is not known: work in the background and scheduled prompts, and of Cursor that the human interrupted
// the agent.
//
// Long and the errors are those of [transcript.Transcript.Walk]; errors also come from start, loop and show.
func Replay(
	ctx context.Context, t *transcript.Transcript, start func(session string) (Loop, error), show func(Moment) error,
) (long int, err error) {
	r := replay{format: t.Format, subagent: t.Subagent, start: start, show: show}
	long, err = t.Walk(ctx, func(e transcript.Event) error { return r.event(ctx, e) })
	return long, errors.Join(err, r.flush())
}

// replay is one walk through a transcript.
type replay struct {
	format   transcript.Format
	subagent bool
	start    func(string) (Loop, error)
	show     func(Moment) error

	session string
	loop    Loop
	memory  memory
	shown   *Moment // not shown yet: the human may still speak
}

func (r *replay) event(ctx context.Context, w transcript.Event) error {
	host := Host(r.format)
	e := event{
		host: host, kind: stopped, session: w.Session, agent: w.Agent, dir: w.Dir, noTasks: true,
	}
	if r.subagent {
		e.kind = subagentStopped
	}
	if key := e.key(); r.loop == nil || key != r.session {
		if err := r.flush(); err != nil {
			return err
		}
		r.session, r.memory = key, memory{}
		var err error
		if r.loop, err = r.start(key); err == nil && r.loop == nil {
			err = errors.New("there is no loop")
		}
		if err != nil {
			return err
		}
	}
	if !w.Pause {
		if r.shown != nil {
			r.shown.Next = w.Prompt
		}
		e.kind = prompted // the transcript says that it is the human's
		r.memory = r.memory.heard(e)
		return errors.Join(r.flush(), r.loop.Reset(ctx, r.session))
	}
	if err := r.flush(); err != nil {
		return err
	}
	return r.pause(ctx, e, w)
}

func (r *replay) pause(ctx context.Context, e event, w transcript.Event) error {
	switch {
	case w.Trace.Broke && r.subagent:
		e.status = "error"
	case w.Trace.Broke:
		e.kind = broke
	}
	e.resumed = w.Trace.Continued && e.kind != broke // such an event does not say it
	switch e.host {
	case Gemini:
		e.message = some(w.Said)
	case Claude, Codex:
		e.message = some(w.Trace.Message)
	}
	out := r.memory.output(e, w.Trace)
	d, err := r.loop.Handle(ctx, out)
	if err != nil {
		return err
	}
	continued := d.Action == autocontinue.Continue
	r.memory = r.memory.after(e, out, continued)
	message := ""
	if continued && e.host.echoes() {
		message = d.Message
	}
	r.memory = r.memory.sent(message)
	w.State.Sent(message)
	r.shown = &Moment{Host: e.host, Output: out, Decision: d, Line: w.Line}
	return nil
}

// flush shows the last pause.
func (r *replay) flush() error {
	if r.shown == nil {
		return nil
	}
	m := *r.shown
	r.shown = nil
	return r.show(m)
}

// Effect says what the human's next words make of a decision.
type Effect string

// The effects. None is empty: the words do not tell.
const (
	EffectAgrees  Effect = "agrees"  // it continues the agent, and the human then did the same
	EffectAgainst Effect = "against" // it continues the agent, and the human answered a question or said no
	EffectMissed  Effect = "missed"  // it lets the agent stop, and the human then continued it
)

// Effect compares the decision with what the human wrote. Answered says that the words answer a question of the
// agent.
//
// The words alone do not tell what yes means: it is an answer where the agent asked, it continues the agent where
// that said what it would do next, and it is thanks after anything else.
func (m Moment) Effect() (effect Effect, reply transcript.Reply, answered bool) {
	reply = transcript.ReadReply(m.Next)
	asks := endsWithQuestion(m.Output.Text)
	result := m.Decision.Result
	nudged := false
	switch reply {
	case transcript.ReplyNudge:
		nudged = true
	case transcript.ReplyYesNudge:
		answered, nudged = asks, !asks
	case transcript.ReplyAssent:
		answered, nudged = asks, !asks && result.Type == classify.Status && !result.WasRejectedCompletion
	case transcript.ReplyAnswer:
		answered = true
	case transcript.ReplyOther:
		answered = asks
	}
	switch continues := m.Decision.Action == autocontinue.Continue; {
	case continues && nudged:
		effect = EffectAgrees
	case continues && answered:
		effect = EffectAgainst
	case nudged:
		effect = EffectMissed
	}
	return effect, reply, answered
}

// endsWithQuestion reports whether the last line of a text asks something.
func endsWithQuestion(text string) bool {
	text = strings.TrimRight(text, " \t\r\n*_`\")")
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
}
