package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// session plays a session of a host against a loop, as a program does that is started for each event.
type session struct {
	t     *testing.T
	host  Host
	loop  *autocontinue.AutoContinue
	mem   Memory
	texts []string // printed in this turn
	sent  int
	turn  int
	loops int // how often the agent was sent on in this session
}

func newSession(t *testing.T, host Host) *session {
	s := &session{t: t, host: host}
	s.lose()
	return s
}

// lose forgets what is stored.
func (s *session) lose() {
	heuristic, err := classify.NewHeuristic()
	require.NoError(s.t, err)
	s.loop, err = autocontinue.New(autocontinue.Config{Classifier: heuristic})
	require.NoError(s.t, err)
	s.mem = Memory{}
}

func (s *session) payload(v map[string]any) []byte {
	data, err := json.Marshal(v)
	require.NoError(s.t, err)
	return data
}

// prompt plays a prompt and reports whether it was the human's.
func (s *session) prompt(text string) bool {
	s.t.Helper()
	v := map[string]any{"session_id": "s1", "prompt": text}
	switch s.host {
	case Gemini:
		v["hook_event_name"] = "BeforeAgent"
	case Cursor:
		v["hook_event_name"], v["conversation_id"] = "beforeSubmitPrompt", "s1"
	default:
		v["hook_event_name"] = "UserPromptSubmit"
	}
	e, err := s.host.Read(s.payload(v))
	require.NoError(s.t, err)
	require.NotContains(s.t, string(e.Answer(autocontinue.Decision{Action: autocontinue.Continue, Message: "x"})), "x")
	own := !e.FromHuman(s.mem)
	s.mem = s.mem.Heard(e)
	if own {
		return false
	}
	require.NoError(s.t, s.loop.Reset(context.Background(), e.SessionKey()))
	s.texts, s.sent = nil, 0
	s.turn++
	return true
}

// event is the host's report of a pause.
func (s *session) event(text string) Event {
	s.t.Helper()
	v := map[string]any{"session_id": "s1", "stop_hook_active": s.sent > 0}
	switch s.host {
	case Gemini:
		v["hook_event_name"] = "AfterAgent"
		v["prompt"] = "Fix the login redirect."
		v["prompt_response"] = strings.Join(append(s.texts, text), "\n")
		v["timestamp"] = fmt.Sprintf("2026-11-02T10:%02d:%02d.000Z", s.turn, len(s.texts))
	case Codex:
		v["hook_event_name"] = "Stop"
		v["last_assistant_message"] = text
		v["turn_id"] = fmt.Sprint("t", s.turn)
	case Cursor: // it tells the text before
		v = map[string]any{"conversation_id": "s1", "generation_id": fmt.Sprint("g", s.turn, s.loops), "hook_event_name": "afterAgentResponse", "text": text}
		e, err := s.host.Read(s.payload(v))
		require.NoError(s.t, err)
		require.Equal(s.t, "{}\n", string(e.Answer(autocontinue.Decision{Action: autocontinue.Continue, Message: "x"})))
		require.False(s.t, e.FromHuman(s.mem))
		s.mem = s.mem.Heard(e)
		v["hook_event_name"], v["status"], v["loop_count"] = "stop", "completed", s.loops
	case Copilot: // its text is in the transcript
		v["hook_event_name"] = "Stop"
	default:
		v["hook_event_name"] = "Stop"
		v["last_assistant_message"] = text
	}
	e, err := s.host.Read(s.payload(v))
	require.NoError(s.t, err)
	return e
}

// pause plays a pause with a text, and returns what was decided.
func (s *session) pause(text string, trace transcript.Trace) autocontinue.Decision {
	s.t.Helper()
	e := s.event(text)
	if s.host == Copilot && trace.Message == "" {
		trace.Message = text
	}
	out := e.Output(trace, s.mem)
	d, err := s.loop.Handle(context.Background(), out)
	require.NoError(s.t, err)
	s.mem = s.mem.After(e, out, d)
	s.texts = append(s.texts, text)
	if d.Action == autocontinue.Continue {
		s.sent++
		s.loops++
	}
	data, err := json.Marshal(s.mem)
	require.NoError(s.t, err)
	require.Less(s.t, len(data), 600)
	require.NotContains(s.t, string(data), "redirect")
	var back Memory
	require.NoError(s.t, json.Unmarshal(data, &back))
	require.Equal(s.t, s.mem, back)
	return d
}

func TestThreeHollowClaims(t *testing.T) {
	for _, host := range Hosts() {
		t.Run(string(host), func(t *testing.T) {
			s := newSession(t, host)
			require.True(t, s.prompt("Fix the login redirect."))
			first := s.pause("Fixed the login redirect, should work now.", transcript.Trace{})
			require.Equal(t, autocontinue.ReasonRejectedCompletion, first.Reason)
			if host.Echoes() {
				require.False(t, s.prompt(first.Message), "our coaching comes back")
			}
			second := s.pause("I fixed the login redirect. It should work now.", transcript.Trace{})
			require.Equal(t, autocontinue.ReasonRejectedCompletion, second.Reason)
			require.Equal(t, 2, second.Attempt)
			require.NotEqual(t, first.Message, second.Message)
			third := s.pause("The login redirect is fixed and should work.", transcript.Trace{})
			require.Equal(t, autocontinue.Deliver, third.Action)
			require.Equal(t, autocontinue.OutcomeStalled, third.Outcome)

			require.True(t, s.prompt("And the logout?"), "a new turn")
			require.Equal(t, autocontinue.ReasonRejectedCompletion, s.pause("Fixed the logout redirect, should work now.", transcript.Trace{}).Reason)
		})
	}
}

func TestPlainCoachingComesBack(t *testing.T) {
	for _, host := range []Host{Gemini, Cursor, Copilot} {
		s := newSession(t, host)
		require.True(t, s.prompt("Fix the login redirect."))
		d := s.pause("I am reading auth.go now. Next I will run the tests.", transcript.Trace{})
		require.Equal(t, autocontinue.ReasonProgress, d.Reason)
		require.Equal(t, "continue", d.Message)
		require.False(t, s.prompt("continue"), "%s feeds it back", host)
		require.Equal(t, []string{sum("continue")}, s.mem.Sent)
	}

	gemini := newSession(t, Gemini)
	require.True(t, gemini.prompt("Fix the login redirect."))
	require.Equal(t, autocontinue.Continue, gemini.pause("I am reading auth.go now. Next I will run the tests.", transcript.Trace{}).Action)
	require.False(t, gemini.prompt("Please continue."), "Gemini's own, in the middle of a turn")

	claude := newSession(t, Claude)
	require.True(t, claude.prompt("Fix the login redirect."))
	require.Equal(t, "continue", claude.pause("I am reading auth.go now. Next I will run the tests.", transcript.Trace{}).Message)
	require.True(t, claude.prompt("continue"), "Claude Code does not: the human wrote that")
}

// At the end of a loop people say what we say, and what Gemini says to itself. That opens a turn all the same.
func TestTheHumanSaysContinue(t *testing.T) {
	for _, tt := range []struct {
		host  Host
		words string
	}{{Gemini, "continue"}, {Gemini, "Please continue."}, {Gemini, ""}, {Cursor, "continue"}, {Copilot, "continue"}} {
		t.Run(string(tt.host)+" "+tt.words, func(t *testing.T) {
			s := newSession(t, tt.host)
			require.True(t, s.prompt("Fix the login redirect."))
			for i := range 4 {
				d := s.pause(fmt.Sprintf("I am reading file number %d of the module now. Next I will run the tests.", i), transcript.Trace{})
				if i < 3 {
					require.False(t, s.prompt(d.Message))
				} else {
					require.Equal(t, autocontinue.OutcomeCapped, d.Outcome)
				}
			}
			require.True(t, s.prompt(tt.words))
			d := s.pause("I am reading the last file of the module now. Next I will run the tests.", transcript.Trace{})
			require.Equal(t, autocontinue.Continue, d.Action, d.Reason)
			require.False(t, s.prompt(d.Message))
		})
	}
}

func TestTheCapHolds(t *testing.T) {
	for _, host := range Hosts() {
		t.Run(string(host), func(t *testing.T) {
			s := newSession(t, host)
			require.True(t, s.prompt("Fix the login redirect."))
			for i := range 4 {
				d := s.pause(fmt.Sprintf("I am reading file number %d of the module now. Next I will run the tests.", i), transcript.Trace{})
				if i < 3 {
					require.Equal(t, autocontinue.Continue, d.Action, "%d: %s", i, d.Note)
				} else {
					require.Equal(t, autocontinue.OutcomeCapped, d.Outcome)
				}
			}
		})
	}
}

func TestLostState(t *testing.T) {
	for _, host := range Hosts() {
		t.Run(string(host), func(t *testing.T) {
			s := newSession(t, host)
			require.True(t, s.prompt("Fix the login redirect."))
			require.Equal(t, autocontinue.Continue, s.pause("Fixed the login redirect, should work now.", transcript.Trace{}).Action)
			s.lose()
			d := s.pause("Fixed it, should work now.", transcript.Trace{})
			require.Equal(t, autocontinue.ReasonHold, d.Reason)
			require.Contains(t, d.Note, "state lost")

			s.lose() // but there is a transcript, which counts
			d = s.pause("Fixed it, should work now.", transcript.Trace{Read: true, Continues: 2, Continued: true})
			require.Equal(t, autocontinue.Continue, d.Action)
			require.Equal(t, 3, d.Continues)
			s.lose()
			require.Equal(t, autocontinue.OutcomeCapped, s.pause("Fixed it, it should work.", transcript.Trace{Read: true, Continues: 3}).Outcome)
		})
	}
}

// Two hooks of one pause, as for the user and for the project, give one decision.
func TestOnePauseReportedTwice(t *testing.T) {
	for _, host := range Hosts() {
		t.Run(string(host), func(t *testing.T) {
			s := newSession(t, host)
			require.True(t, s.prompt("Fix the login redirect."))
			const text = "Fixed the login redirect, should work now."
			trace := transcript.Trace{Read: true, Message: text, MessageID: "m1"}
			e := s.event(text)
			out := e.Output(trace, s.mem)
			if host == Cursor { // its own ID is told even where there is no transcript
				require.Regexp(t, "^prompt:", out.ID)
			} else {
				require.Equal(t, "m1", out.ID)
			}
			first, err := s.loop.Handle(t.Context(), out)
			require.NoError(t, err)
			after := s.mem.After(e, out, first)

			again := e.Output(trace, after) // the other process comes later
			require.Equal(t, out, again)
			second, err := s.loop.Handle(t.Context(), again)
			require.NoError(t, err)
			require.True(t, second.Replayed)
			require.Equal(t, first.ID, second.ID)
			require.Equal(t, e.Answer(first), e.Answer(second))
		})
	}
}

// However many processes report a turn's first pause, it is one. They may all have read the memory before the first has written it,
// or one after the other.
func TestOnePauseReportedByMany(t *testing.T) {
	const text = "Fixed the login redirect, should work now."
	for _, host := range Hosts() {
		s := newSession(t, host)
		require.True(t, s.prompt("Fix the login redirect."))
		e := s.event(text)
		decisions := make(map[string]bool)
		for range 64 {
			out := e.Output(transcript.Trace{Read: true, Message: text, MessageID: "m1"}, s.mem)
			d, err := s.loop.Handle(t.Context(), out)
			require.NoError(t, err)
			s.mem = s.mem.After(e, out, d)
			decisions[d.ID] = true
		}
		require.Len(t, decisions, 1, host)
	}
}

// Without a transcript the host's time of the event names the pause, where it tells one.
func TestOnePauseReportedTwiceWithoutATranscript(t *testing.T) {
	const text = "Fixed the login redirect, should work now."
	for _, host := range []Host{Claude, Codex, Gemini, Cursor} {
		s := newSession(t, host)
		require.True(t, s.prompt("Fix the login redirect."))
		e := s.event(text)
		var seen []autocontinue.Decision
		for range 2 { // the second process comes when the first has ended
			out := e.Output(transcript.Trace{}, s.mem)
			d, err := s.loop.Handle(t.Context(), out)
			require.NoError(t, err)
			s.mem = s.mem.After(e, out, d)
			seen = append(seen, d)
		}
		require.Equal(t, autocontinue.Continue, seen[0].Action)
		named := host == Gemini || host == Cursor
		require.Equal(t, named, seen[1].Replayed, "%s: a limit of the others, which the package names", host)
		if named {
			require.Equal(t, seen[0].ID, seen[1].ID)
			require.Equal(t, e.Answer(seen[0]), e.Answer(seen[1]))
			s.texts = append(s.texts, text)
			s.sent, s.loops = s.sent+1, s.loops+1
			require.False(t, s.pause(text, transcript.Trace{}).Replayed, "the same words at a later time are another pause")
		}
	}
	// A host whose time stands still gets no loop out of that, nor a decision of the turn before.
	s := newSession(t, Gemini)
	still := func(text string, active bool) autocontinue.Decision {
		e := Event{Host: Gemini, Kind: Stop, Session: "s1", Message: Value(text), Time: Value("2026-11-02T10:00:00.000Z"), StopActive: Value(active)}
		out := e.Output(transcript.Trace{}, s.mem)
		out.Text = text // as if the message did not grow
		d, err := s.loop.Handle(t.Context(), out)
		require.NoError(t, err)
		s.mem = s.mem.After(e, out, d)
		return d
	}
	for range 2 {
		require.True(t, s.prompt("Fix the login redirect."))
		var seen []autocontinue.Outcome
		for i := range 3 {
			seen = append(seen, still(text, i > 0).Outcome)
		}
		require.Equal(t, []autocontinue.Outcome{autocontinue.OutcomeContinuing, autocontinue.OutcomeContinuing, autocontinue.OutcomeStalled}, seen)
	}
	// Nor does one whose prompts and count do.
	s = newSession(t, Cursor)
	require.True(t, s.prompt("Fix the login redirect."))
	var seen []autocontinue.Outcome
	for range 3 {
		s.loops = 0
		d := s.pause(text, transcript.Trace{})
		require.False(t, d.Replayed)
		if seen = append(seen, d.Outcome); d.Message != "" {
			require.False(t, s.prompt(d.Message))
		}
	}
	require.Equal(t, []autocontinue.Outcome{autocontinue.OutcomeContinuing, autocontinue.OutcomeContinuing, autocontinue.OutcomeStalled}, seen)

	s = newSession(t, Gemini)
	still(text, false)
	require.NotEmpty(t, s.mem.Timed.Last)
	require.Empty(t, Event{Host: Gemini, Kind: Stop, Time: Value("2026-11-02T09:59:59.999Z")}.Output(transcript.Trace{}, s.mem).ID, "a clock that goes back names nothing")
	for at, want := range map[string]string{
		"2026-11-02T10:20:30.500Z":      "time:2026-11-02T10:20:30.500000000Z",
		"2026-11-02T11:20:30.500+01:00": "time:2026-11-02T10:20:30.500000000Z",
		"2026-11-02T10:20:30Z":          "", // two pauses may come in one second
		"now":                           "",
		"":                              "",
	} {
		require.Equal(t, want, Event{Host: Gemini, Kind: Stop, Time: Value(at)}.Output(transcript.Trace{}, Memory{}).ID, at)
	}
}

// A transcript that never grows must not make a decision that is repeated for ever.
func TestAStaleTranscriptIsNoIdentity(t *testing.T) {
	s := newSession(t, Claude)
	require.True(t, s.prompt("Fix the login redirect."))
	const text = "Fixed the login redirect, should work now."
	trace := transcript.Trace{Read: true, Message: text, MessageID: "m1"}
	last := autocontinue.Decision{}
	n := 0
	for range 20 {
		if last = s.pause(text, trace); last.Action != autocontinue.Continue {
			break
		}
		n++
	}
	require.Equal(t, autocontinue.OutcomeStalled, last.Outcome)
	require.LessOrEqual(t, n, maxSame+1)

	silent := newSession(t, Copilot) // a host that does not say whether a hook sent the agent on
	ids := make(map[string]bool)
	for range 20 {
		e := Event{Host: Copilot, Kind: Stop, Session: "s1", Message: Value(text)}
		out := e.Output(trace, silent.mem)
		d, err := silent.loop.Handle(t.Context(), out)
		require.NoError(t, err)
		silent.mem = silent.mem.After(e, out, d)
		ids[d.ID] = true
		last = d
	}
	require.Greater(t, len(ids), 20-maxSame)
	require.Equal(t, autocontinue.Deliver, last.Action)
}

// A claim that is made again while the transcript still ends with the first one is no report of the first pause: the host
// says that a hook sent the agent on.
func TestARepeatedClaimWhileTheTranscriptLags(t *testing.T) {
	for _, host := range Hosts() {
		t.Run(string(host), func(t *testing.T) {
			s := newSession(t, host)
			require.True(t, s.prompt("Fix the login redirect."))
			const text = "Fixed the login redirect, should work now."
			trace := transcript.Trace{Read: true, Message: text, MessageID: "m1"}
			var seen []autocontinue.Outcome
			for range 3 {
				d := s.pause(text, trace)
				require.False(t, d.Replayed)
				seen = append(seen, d.Outcome)
			}
			require.Equal(t, []autocontinue.Outcome{autocontinue.OutcomeContinuing, autocontinue.OutcomeContinuing, autocontinue.OutcomeStalled}, seen)
		})
	}
}

// The same pause through a hook and through the library gives the same decision.
func TestHookAndLibraryAgree(t *testing.T) {
	for _, text := range []string{
		"Fixed the login redirect, should work now.", "Should I drop the table?", "All done: 42 passed, 0 failed.", "API Error: 500", "I can't go on without the password.", "",
	} {
		for _, host := range Hosts() {
			s := newSession(t, host)
			require.True(t, s.prompt("Fix the login redirect."))
			e, trace := s.event(text), transcript.Trace{Request: "Fix the login redirect."}
			if e.Message.Is == Absent {
				if text == "" {
					continue // it has no way to tell that the agent said nothing
				}
				trace.Message = text
			}
			hooked, err := s.loop.Handle(t.Context(), e.Output(trace, s.mem))
			require.NoError(t, err)

			library := newSession(t, host)
			require.NoError(t, library.loop.Reset(t.Context(), e.SessionKey()))
			direct, err := library.loop.Handle(t.Context(), autocontinue.Output{Session: e.SessionKey(), Turn: e.Turn.Value, ID: e.Output(transcript.Trace{}, Memory{}).ID, Text: text, Request: "Fix the login redirect."})
			require.NoError(t, err)
			require.Equal(t, direct, hooked, "%s: %s", host, text)
		}
	}
}

func TestHumanFirst(t *testing.T) {
	const hollow = "Fixed the login redirect, should work now."
	for name, tt := range map[string]struct {
		change func(*Event, *transcript.Trace)
		reason autocontinue.Reason
	}{
		"plan mode":     {func(e *Event, _ *transcript.Trace) { e.Mode = Value("plan") }, autocontinue.ReasonHold},
		"background":    {func(e *Event, _ *transcript.Trace) { e.Background = Value([]Task{{Status: "pending"}}) }, autocontinue.ReasonHold},
		"scheduled":     {func(e *Event, _ *transcript.Trace) { e.Wakeups = Value(1) }, autocontinue.ReasonHold},
		"aborted":       {func(_ *Event, tr *transcript.Trace) { tr.Aborted = true }, autocontinue.ReasonHold},
		"status":        {func(e *Event, _ *transcript.Trace) { e.Status = Value("aborted") }, autocontinue.ReasonHold},
		"null message":  {func(e *Event, _ *transcript.Trace) { e.Message = Field[string]{Is: Null} }, autocontinue.ReasonHold},
		"no message":    {func(e *Event, _ *transcript.Trace) { e.Message = Field[string]{} }, autocontinue.ReasonHold},
		"notify":        {func(e *Event, _ *transcript.Trace) { e.Kind = Notify }, autocontinue.ReasonHold},
		"internal":      {func(e *Event, _ *transcript.Trace) { e.Kind, e.AgentType = SubagentStop, Value("") }, autocontinue.ReasonHold},
		"failed":        {func(e *Event, _ *transcript.Trace) { e.Status = Value("error") }, autocontinue.ReasonCrashGuard},
		"stop failure":  {func(e *Event, _ *transcript.Trace) { e.Kind = StopFailure }, autocontinue.ReasonCrashGuard},
		"none of these": {func(*Event, *transcript.Trace) {}, autocontinue.ReasonRejectedCompletion},
		"host's count":  {func(e *Event, _ *transcript.Trace) { e.Loop = Value(3) }, autocontinue.ReasonCap},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, Claude)
			e, tr := s.event(hollow), transcript.Trace{}
			tt.change(&e, &tr)
			d, err := s.loop.Handle(t.Context(), e.Output(tr, Memory{Pauses: 1}))
			require.NoError(t, err)
			require.Equal(t, tt.reason, d.Reason)
		})
	}
}

// What a transcript shows of the work outweighs what the agent says of it, both ways.
func TestTranscriptsOutweighProse(t *testing.T) {
	decide := func(t *testing.T, text string, edited classify.Edited, checks ...classify.Check) autocontinue.Decision {
		s := newSession(t, Claude)
		return s.pause(text, transcript.Trace{
			Read: true, Message: text, MessageID: "m1", Work: classify.Work{Edited: edited, Session: classify.EditedCode, Checks: checks},
		})
	}
	test := func(o classify.CheckOutcome) classify.Check {
		return classify.Check{Command: "pytest", Kind: classify.CheckTest, Outcome: o}
	}
	const claim = "All 42 tests pass and the login redirect is fixed:\n\n```\n42 passed in 3.21s\n```\n"
	require.Equal(t, autocontinue.ReasonCompletion, decide(t, claim, classify.EditedUnknown).Reason, "nothing else is known")
	require.Equal(t, autocontinue.ReasonCompletion, decide(t, claim, classify.EditedNone, test(classify.OutcomePassed)).Reason)

	none := decide(t, claim, classify.EditedCode)
	require.Equal(t, autocontinue.ReasonRejectedCompletion, none.Reason)
	require.GreaterOrEqual(t, none.Result.Confidence, 0.9)
	require.NotContains(t, none.Message, "failed", "nobody saw a test fail")
	require.True(t, strings.HasPrefix(none.Message, plaintext.Prefix))

	failed := decide(t, claim, classify.EditedCode, test(classify.OutcomeFailed))
	require.Equal(t, autocontinue.ReasonRejectedCompletion, failed.Reason)

	const hollow = "Fixed the login redirect, should work now."
	require.Equal(t, autocontinue.ReasonCompletion, decide(t, hollow, classify.EditedNone, test(classify.OutcomePassed)).Reason)
}

func TestMemoryOfAnotherKindOfEvent(t *testing.T) {
	m := Memory{Pauses: 2, Sent: []string{"x"}}
	for _, kind := range []Kind{StopFailure, Notify, Prompt, Other} { // no pause that was judged
		require.Equal(t, m, m.After(Event{Host: Claude, Kind: kind}, autocontinue.Output{}, autocontinue.Decision{}))
	}
	heard := m.Heard(Event{Host: Claude, Kind: Prompt, Prompt: Value("Fix it.")})
	require.Equal(t, Memory{Pauses: 2, Transcript: heard.Transcript}, heard)
	require.Equal(t, m, m.Heard(Event{Host: Claude, Kind: Stop}))
}

// A background task that ends wakes the agent up with a prompt of the host's own. That is no new turn, whether the transcript
// can be read or not.
func TestANoticeOpensNoTurn(t *testing.T) {
	s := newSession(t, Claude)
	prompt := func(text, id string) {
		e, err := Claude.Read(s.payload(map[string]any{"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": text, "prompt_id": id}))
		require.NoError(t, err)
		if e.FromHuman(s.mem) {
			require.NoError(t, s.loop.Reset(t.Context(), e.SessionKey()))
		}
		s.mem = s.mem.Heard(e)
	}
	stop := func(text, id string) autocontinue.Decision {
		e := s.event(text)
		e.Turn, e.StopActive = Value(id), Value(false)
		out := e.Output(transcript.Trace{}, s.mem)
		d, err := s.loop.Handle(t.Context(), out)
		require.NoError(t, err)
		s.mem = s.mem.After(e, out, d)
		return d
	}
	prompt("Fix the login redirect.", "p1")
	require.Equal(t, autocontinue.ReasonQuestion, stop("Should I change the test, too?", "p1").Reason)
	prompt("<task-notification>\n<task-id>b1</task-id>\n</task-notification>", "p2")
	require.Equal(t, autocontinue.ReasonWaiting, stop("Fixed the login redirect, should work now.", "p2").Reason)
	prompt("Yes.", "p3")
	require.Equal(t, autocontinue.ReasonRejectedCompletion, stop("Fixed the login redirect, should work now.", "p3").Reason)
}

// What follows the text that was judged last is the transcript's message, whether the host puts white space between them or not.
func TestTheRestOfAMessageIsTheTranscripts(t *testing.T) {
	const first, second = "I changed auth.go.", "All tests pass."
	m := Memory{Pauses: 1, Len: len(first), Sum: sum(first)}
	for _, between := range []string{"", "\n", "\n\n"} {
		e := Event{Host: Gemini, Kind: Stop, Session: "s", Message: Value(first + between + second), StopActive: Value(true)}
		out := e.Output(transcript.Trace{
			Read: true, Message: second, MessageID: "m2", Work: classify.Work{Edited: classify.EditedNone, Session: classify.EditedNone},
		}, m)
		require.Equal(t, "m2", out.ID, "%q", between)
		require.Len(t, out.Evidence, 1, "%q", between)
	}
}

// FuzzMemory: whatever was stored, the text to judge is the end of the message, and what is stored next is bounded.
func FuzzMemory(f *testing.F) {
	f.Add("Fixed.\nDone.", 6, 3, "2026", "2026", "continue")
	f.Fuzz(func(t *testing.T, text string, length, from int, at, now, sent string) {
		m := Memory{Pauses: 1, At: at, From: from, Len: length}
		if length >= 0 && length <= len(text) {
			m.Sum = sum(text[:length])
		}
		e := Event{Host: Gemini, Kind: Stop, Session: "s", Message: Value(text), Time: Value(now)}
		out := e.Output(transcript.Trace{}, m)
		require.True(t, strings.HasSuffix(text, out.Text))
		for range 3 * maxSent {
			m = m.After(e, out, autocontinue.Decision{Action: autocontinue.Continue, Message: sent})
			out = e.Output(transcript.Trace{}, m)
			require.True(t, strings.HasSuffix(text, out.Text))
		}
		require.LessOrEqual(t, len(m.Sent), maxSent)
		require.Equal(t, len(text), m.Len)
	})
}

// A host that counts over the whole session how often a hook sent the agent on does not use a turn up with those before.
func TestACountOfTheWholeSession(t *testing.T) {
	s := newSession(t, Cursor)
	for turn := range 4 {
		require.True(t, s.prompt("Fix the login redirect."))
		for i := range 4 {
			d := s.pause(fmt.Sprintf("I am reading file number %d%d of the module now. Next I will run the tests.", turn, i), transcript.Trace{})
			require.Equal(t, i < 3, d.Action == autocontinue.Continue, "%d %d: %s", turn, i, d.Note)
		}
	}
	require.Equal(t, 12, s.loops)
}

// What was printed is held for its own pause alone, and not for longer than that takes.
func TestWhatIsHeld(t *testing.T) {
	said := func(text, generation string) Event {
		return Event{Host: Cursor, Kind: Said, Session: "s", Message: Value(text), Generation: Value(generation)}
	}
	stop := Event{Host: Cursor, Kind: Stop, Session: "s", Status: Value("completed"), Generation: Value("g1")}
	m := Memory{}.Heard(said("Reading the code.", "g1")).Heard(said("Which one?", "g1"))
	out := stop.Output(transcript.Trace{Read: true, Message: "Reading the code."}, m)
	require.Equal(t, "Which one?", out.Text, "the transcript lags")
	require.Empty(t, out.ID)

	require.Equal(t, holdNoMessage, stop.Output(transcript.Trace{}, m.After(stop, out, autocontinue.Decision{})).Hold)
	require.Equal(t, holdNoMessage, stop.Output(transcript.Trace{}, m.Heard(Event{Host: Cursor, Kind: Prompt, Prompt: Value("Go on.")})).Hold)
	require.Equal(t, holdNoMessage, stop.Output(transcript.Trace{}, Memory{}.Heard(said("Which one?", "g0"))).Hold)
	long := m.Heard(said(strings.Repeat("x", maxSaid+1), "g1"))
	require.Equal(t, holdNoMessage, stop.Output(transcript.Trace{}, long).Hold, "half a message says something else than a whole one")
	require.Equal(t, "From the file.", stop.Output(transcript.Trace{Read: true, Message: "From the file."}, long).Text)
}
