package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Sessions keeps, for each session, the state of the loop and the hook's own memory, and changes both in one step. Its
// methods have the contract of those of [autocontinue.Store]. A store that serves several hosts keeps them apart.
type Sessions interface {
	Load(ctx context.Context, session string) (Kept, error)
	Update(ctx context.Context, session string, fn func(Kept) (Kept, error)) error
}

// Kept is what is kept of a session.
type Kept struct {
	State  autocontinue.State `json:"state"`
	Memory Memory             `json:"memory"`
}

// Config says how [Run] decides. Sessions and Loop are required.
type Config struct {
	Sessions Sessions
	// Loop returns the loop that decides about a pause; Run puts the store into it. It may change p.Output.
	Loop func(ctx context.Context, p *Pause) (autocontinue.Config, error)
	// Prompted learns of each prompt of the human, and whether it is the first of the session; it may be nil.
	Prompted func(ctx context.Context, session, folder string, first bool)
	// Secrets are masked in all that is kept and decided about, as in [autocontinue.Config].
	Secrets []string
	// Notice returns what to tell the human beside a decision that lets the agent stop; nil tells nothing.
	Notice func(ctx context.Context) string
}

// Pause is a pause of an agent that [Run] decides about.
type Pause struct {
	Folder string // where the agent works, as the host names it; may be empty
	Began  string // where it worked when the human spoke first, as far as the hook heard; else Folder
	Shadow bool   // Loop sets it to let the agent stop, whatever is decided
	Lack   string // why the transcript's facts lack some, for the journal; empty if they do not
	Output autocontinue.Output
}

const (
	maxText   = 1 << 20  // bytes of a message: its end, where an agent says what it claims; of a prompt its beginning
	maxSecret = 64 << 10 // bytes
)

// Run answers one event of a host: it reads the payload, takes it into the session, decides if the agent paused, and
// returns what to write to standard output, which may be nothing. The host may run several hooks of one pause at once.
//
// With an error, the answer lets the agent stop and lets the human's prompt go on. The error wraps [ErrEvent], or is
// one of cfg.Sessions, of cfg.Loop, or of [autocontinue.AutoContinue.Handle].
func Run(ctx context.Context, h Host, payload []byte, cfg Config) (answer []byte, err error) {
	e, err := h.read(payload)
	switch {
	case err != nil:
		return h.Pass(), err
	case ctx == nil:
		return h.Pass(), errors.New("hook: the context is nil: give context.Background() if there is none")
	case cfg.Sessions == nil || classify.HoldsNil(cfg.Sessions) || cfg.Loop == nil:
		return h.Pass(), errors.New("hook: Config.Sessions or Config.Loop is nil: both are required")
	}
	said, asked := e.Message.text, e.Prompt.text // a secret that is cut does not look like one
	said = plaintext.Redact(said[max(0, len(said)-maxText-maxSecret):], cfg.Secrets...)
	asked = plaintext.Redact(asked[:min(len(asked), maxText+maxSecret)], cfg.Secrets...)
	e.Message.text = strings.ToValidUTF8(said[max(0, len(said)-maxText):], "")
	e.Prompt.text = strings.ToValidUTF8(asked[:min(len(asked), maxText)], "")
	s := &session{event: e, cfg: cfg}
	var d autocontinue.Decision
	switch e.kind {
	case other:
		return e.answer(d, ""), nil
	case prompted, printed:
		return e.answer(d, ""), s.takePrompt(ctx)
	}
	d, err = s.pause(ctx)
	if err != nil || s.shadow {
		d = autocontinue.Decision{}
	}
	notice := ""
	if cfg.Notice != nil && err == nil && d.Action == autocontinue.Deliver {
		notice = cfg.Notice(ctx)
	}
	return e.answer(d, notice), err
}

// session is one event and what is kept of its session. It is the loop's store for this event.
type session struct {
	event  event
	cfg    Config
	shadow bool

	state  *autocontinue.State // as it was read with the memory; nil once the loop has it
	memory memory              // with the transcript as this event read it
	out    autocontinue.Output
}

func (s *session) takePrompt(ctx context.Context) error {
	human, first := false, false
	err := s.cfg.Sessions.Update(ctx, s.event.key(), func(k Kept) (Kept, error) {
		if human = s.event.fromHuman(k.Memory.memory); human {
			k.State, first = k.State.Reset(), k.Memory.Turns == 0 && k.Memory.Pauses == 0
		}
		k.Memory.memory = k.Memory.heard(s.event)
		return k, nil
	})
	if err == nil && human && s.cfg.Prompted != nil {
		s.cfg.Prompted(ctx, s.event.key(), s.event.Dir, first)
	}
	return err
}

func (s *session) pause(ctx context.Context) (d autocontinue.Decision, err error) {
	if err := s.read(ctx); err != nil {
		return d, err
	}
	t, err := s.await(ctx)
	if err != nil {
		return d, err
	}
	m := s.memory
	p := Pause{Folder: s.event.Dir, Began: cmp.Or(m.Began, s.event.Dir), Output: m.output(s.event, t)}
	if s.event.Transcript != "" {
		p.Lack = t.Lack()
	}
	cfg, err := s.cfg.Loop(ctx, &p)
	if err != nil {
		return d, err
	}
	s.out, s.shadow = p.Output, p.Shadow
	cfg.Store, cfg.Secrets = s, slices.Concat(cfg.Secrets, s.cfg.Secrets)
	ac, err := autocontinue.New(cfg)
	if err != nil {
		return d, err
	}
	return ac.Handle(ctx, s.out)
}

// read reads the memory, and the state that belongs to it.
func (s *session) read(ctx context.Context) error {
	k, err := s.cfg.Sessions.Load(ctx, s.event.key())
	s.state, s.memory = &k.State, k.Memory.memory
	return err
}

// How long a message is waited for. Claude Code writes it to the transcript up to 110 ms after it has called the hook.
const (
	waitForMessage = 300 * time.Millisecond // that the event carries
	waitForLast    = time.Second            // of an event without a message
)

// await reads what is new in the transcript of a pause, and waits until it has the message of the event, as a message
// after the last prompt. For an event without a message, it waits for any message. Cursor tells what the agent
// printed in an event of its own, which another process may be at work on: then it reads the memory anew.
func (s *session) await(ctx context.Context) (t transcript.Trace, failed error) {
	e := s.event
	src := transcript.Source{
		Format: transcript.Format(e.host), Path: e.Transcript, Dir: e.Dir, Subagent: e.kind == subagentStopped,
		Secrets: s.cfg.Secrets,
	}
	wait, seen := waitForMessage, s.memory.Transcript
	done := func(t transcript.Trace) bool {
		return t.Err != nil || t.Aborted || t.Shows(e.Message.text, e.host.accumulates()) || s.memory.knows(e, t)
	}
	switch {
	case e.kind != stopped && e.kind != subagentStopped, !e.ended(),
		e.Message.given && plaintext.IsBlank(e.Message.text):
		done = nil
	case !e.Message.given:
		wait = waitForLast
		done = func(t transcript.Trace) bool {
			if e.host == Cursor {
				failed = s.read(ctx)
			}
			_, held := s.memory.printedBefore(e)
			gone := t.Aborted || t.Err != nil && e.host != Cursor
			return failed != nil || held || gone || t.Message != "" && !t.Old || s.memory.knows(e, t)
		}
	}
	t = seen.Await(ctx, src, wait, done)
	s.memory.Transcript = seen
	return t, failed
}

// Load returns the state, at first the one that belongs to the memory that the output was made with.
func (s *session) Load(ctx context.Context, _ string) (autocontinue.State, error) {
	if state := s.state; state != nil {
		s.state = nil
		return *state, ctx.Err()
	}
	k, err := s.cfg.Sessions.Load(ctx, s.event.key())
	return k.State, err
}

// Update stores a decision, and that this pause was seen.
func (s *session) Update(
	ctx context.Context, _ string, fn func(autocontinue.State) (autocontinue.State, error),
) error {
	return s.cfg.Sessions.Update(ctx, s.event.key(), func(k Kept) (Kept, error) {
		next, err := fn(k.State)
		m := &k.Memory.memory
		switch {
		case err != nil:
			return k, err
		case next.Seq == k.State.Seq: // another hook of this pause has decided
			*m = m.countID(s.out.ID)
		default:
			m.Transcript = s.memory.Transcript
			*m = m.after(s.event, s.out, next.Continues > k.State.Continues && !s.shadow)
		}
		k.State = next
		return k, nil
	})
}

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
	var loop *autocontinue.AutoContinue
	var m memory
	var shown *Moment // not shown yet: the human may still speak
	flush := func() (err error) {
		if last := shown; last != nil {
			shown = nil
			err = show(*last)
		}
		return err
	}
	long, err = t.Walk(ctx, func(w transcript.Event) (err error) {
		e := event{host: Host(t.Format), kind: stopped, Session: w.Session, Agent: w.Agent, Dir: w.Dir}
		if t.Subagent {
			e.kind = subagentStopped
		}
		if !w.Pause && shown != nil {
			shown.Next = w.Prompt
		}
		if err = flush(); err == nil && loop == nil {
			loop, err = start(e.key())
		}
		if err != nil {
			return err
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

const (
	maxRequest = 64 << 10  // bytes of the human's words
	maxPrinted = 128 << 10 // bytes of a message's end, which is kept until its pause
	maxSame    = 4         // hooks of one pause: of the user, the project, the machine and a plugin
)

// Memory is what [Run] remembers of a session beside the state of the loop: JSON that only this package reads. It holds
// the human's last words and the agent's last message, with secrets masked. The zero value remembers nothing.
type Memory struct{ memory }

// Waits reports whether the agent stopped and the human has not spoken since.
func (m Memory) Waits() bool { return m.Rested }

type memory struct {
	Began  string `json:"began,omitempty"`  // the folder of the human's first prompt
	Turns  int    `json:"turns,omitempty"`  // prompts of the human
	Pauses int    `json:"pauses,omitempty"` // that were taken in
	ID     string `json:"id,omitempty"`     // of the last output
	Same   int    `json:"same,omitempty"`   // how often it came in a row

	Rested bool `json:"rested,omitempty"` // the agent stopped at the last pause

	// Of a host whose pauses have no message.
	Printed   string `json:"printed,omitempty"`    // what the agent printed last
	PrintedIn string `json:"printed_in,omitempty"` // the host's ID of the prompt that it was about

	Transcript transcript.State `json:"transcript,omitzero"` // what the transcript said, as far as it was read
}

// heard returns the memory after an event that is not a pause. What the agent printed is kept until its pause comes.
func (m memory) heard(e event) memory {
	m.Printed, m.PrintedIn = "", ""
	switch text := e.Message.text; {
	case e.fromHuman(m):
		m.Turns++
		m.Began, m.Rested = cmp.Or(m.Began, e.Dir), false
		m.Transcript.Sent(false)
	case e.kind == printed:
		m.Printed, m.PrintedIn = strings.ToValidUTF8(text[max(0, len(text)-maxPrinted):], ""), e.Generation
	}
	if e.kind == prompted {
		m.Transcript.Expect()
	}
	return m
}

// after returns the memory after a pause, which is out, and about which a decision was made.
func (m memory) after(e event, out autocontinue.Output, continued bool) memory {
	if e.kind != stopped && e.kind != subagentStopped {
		return m
	}
	m.Pauses++
	m.Rested, m.Printed, m.PrintedIn = !continued, "", ""
	m.Transcript.Sent(continued && e.host.echoes())
	return m.countID(out.ID)
}

func (m memory) countID(id string) memory {
	switch id {
	case "":
	case m.ID:
		m.Same++
	default:
		m.ID, m.Same = id, 1
	}
	return m
}

// printedBefore returns what the agent printed last after the prompt that a pause is about.
func (m memory) printedBefore(e event) (string, bool) {
	return m.Printed, m.Printed != "" && m.PrintedIn == e.Generation
}

// id returns the ID of a pause, which all hooks of it know. It is empty if nothing names the pause.
func (m memory) id(e event, t transcript.Trace) string {
	id := m.candidate(e, t)
	again := id == m.ID
	tooOften := again && m.Same >= maxSame                                // no pause has so many hooks
	if tooOften || t.Old && !again && strings.HasPrefix(id, "message:") { // or it is the message of another pause
		return ""
	}
	return id
}

// knows reports whether another hook of the same pause was here before: then nothing new comes.
func (m memory) knows(e event, t transcript.Trace) bool {
	id := m.candidate(e, t)
	return id != "" && id == m.ID
}

// candidate returns the ID that a pause has if the transcript's last message is its own. Cursor numbers its prompts,
// and Gemini CLI tells the time of the event. For the others it is the transcript's ID of the message, if the
// transcript shows that message. All hooks of a pause also know whether a hook continued the agent before.
func (m memory) candidate(e event, t transcript.Trace) string {
	active := ":" + strconv.FormatBool(e.active())
	t.Old = false
	switch {
	case e.Generation != "":
		return fmt.Sprintf("prompt:%s:%d:%d", e.Generation, m.Turns, e.Loop)
	case e.host == Gemini && e.Time != nil:
		return "time:" + string(e.Time) + active
	case t.MessageID == "" || e.Message.given && !t.Shows(e.Message.text, e.host.accumulates()):
		return ""
	}
	return "message:" + t.MessageID + active
}

// output returns what [autocontinue.AutoContinue.Handle] decides about. Each pause is a run of its own. Turn is empty
// when a hook continued the agent: that opens no turn. Text is the message of the event, else the one that the memory
// holds, else the transcript's; if the host's message accumulates, it is the last message, if the transcript has that.
func (m memory) output(e event, t transcript.Trace) autocontinue.Output {
	out := autocontinue.Output{
		Session: e.key(), ID: m.id(e, t), Request: t.Request, Work: t.Work, Continues: t.Continues,
	}
	prompt := e.Prompt.text
	if !plaintext.IsBlank(prompt) && !transcript.Format(e.host).IsNotice(prompt) && !m.Transcript.IsOurs(prompt) {
		out.Request = strings.ToValidUTF8(prompt[:min(len(prompt), maxRequest)], "")
	}
	if !e.active() {
		out.Turn = t.Turn
	}
	message := e.Message
	if held, ok := m.printedBefore(e); ok && !message.given {
		message = optional{held, true}
	}
	shown := message.given && e.host.accumulates() && t.Shows(message.text, true)
	if shown || !message.given && t.Message != "" && (!t.Old || m.knows(e, t)) {
		message = optional{t.Message, true}
	}
	if out.Text = message.text; e.kind == broke && plaintext.IsBlank(out.Text) {
		out.Text = e.Status
	}
	out.Failed = e.kind == broke || e.Status == "error" || e.Status == "failed"
	if !out.Failed {
		out.Hold = m.hold(e, t, message.given, out.Continues)
	}
	return out
}

// hold returns why the agent must not be continued, "" if it may.
func (m memory) hold(e event, t transcript.Trace, message bool, continues int) string {
	switch {
	case e.kind == subagentStopped && e.AgentType != nil && *e.AgentType == "":
		return "an agent of the host's own"
	case strings.EqualFold(e.Mode, "plan"), (e.host != Claude || e.Mode == "") && strings.EqualFold(t.Mode, "plan"):
		return "plan mode" // Claude Code's event says what holds now; Codex's has another mode beside that of its transcript
	case e.Status == "aborted" || e.Status == "cancelled" || t.Aborted:
		return "aborted"
	case !e.ended():
		return "an end that is not known"
	case e.Tasks == nil && t.Waits, slices.ContainsFunc(e.Tasks, e.waitsFor):
		return "background work"
	case len(e.Crons) > 0:
		return "a scheduled prompt"
	}
	switch lost := m.Pauses == 0 && e.active(); {
	case !message:
		return "there is no message of the agent to judge"
	case lost && (t.Err != nil || e.host.echoes() && continues == 0):
		return "state lost, so nobody knows how often this turn was continued"
	}
	return ""
}
