package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// store keeps sessions as JSON, as a folder does.
type store struct {
	mu    sync.Mutex
	state map[string][]byte
	fails error
}

func (s *store) load(session string) (v Kept, err error) {
	if s.fails != nil {
		return v, s.fails
	}
	if data, ok := s.state[session]; ok {
		err = json.Unmarshal(data, &v)
	}
	return v, err
}

func (s *store) Load(_ context.Context, session string) (Kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load(session)
}

func (s *store) Update(_ context.Context, session string, fn func(Kept) (Kept, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.load(session)
	if err == nil {
		v, err = fn(v)
	}
	if err == nil {
		s.state[session], err = json.Marshal(v)
	}
	return err
}

// player plays events of a host, one process each, as far as the hook can tell.
type player struct {
	t     testing.TB
	host  Host
	store *store
	cfg   Config
	last  autocontinue.Event // of the journal

	file    string // the transcript
	said    []string
	resumed int
	prompts int
	lines   int
}

func newPlayer(t testing.TB, host Host) *player {
	p := &player{t: t, host: host, store: &store{state: map[string][]byte{}}}
	heuristic, err := classify.NewHeuristic()
	require.NoError(t, err)
	p.cfg = Config{Sessions: p.store, Loop: func(context.Context, *Pause) (autocontinue.Config, error) {
		observer := autocontinue.ObserverFunc(func(_ context.Context, e autocontinue.Event) error { p.last = e; return nil })
		return autocontinue.Config{Classifier: heuristic, Observer: observer}, nil
	}}
	return p
}

// answer is what a host reads.
type answer struct {
	Decision, Reason, SystemMessage string
	Followup                        string `json:"followup_message"`
	Continue                        *bool
}

func (a answer) message() string {
	if a.Followup != "" {
		return a.Followup
	}
	return a.Reason
}

// run plays an event, which must not be an error.
func (p *player) run(event string) answer {
	p.t.Helper()
	out, err := Run(p.t.Context(), p.host, []byte(event), p.cfg)
	require.NoError(p.t, err, event)
	var a answer
	if len(out) > 0 {
		dec := json.NewDecoder(strings.NewReader(string(out)))
		dec.DisallowUnknownFields()
		require.NoError(p.t, dec.Decode(&a), string(out))
	}
	return a
}

// transcribe keeps a transcript from here on.
func (p *player) transcribe() *player {
	p.file = filepath.Join(p.t.TempDir(), "events.jsonl")
	return p
}

// line appends to the transcript.
func (p *player) line(role, text string) {
	if p.file == "" {
		return
	}
	f, err := os.OpenFile(p.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(p.t, err)
	p.lines++
	_, err = f.WriteString(transcriptLine(p.host, role, text, p.lines))
	require.NoError(p.t, errors.Join(err, f.Close()))
}

// transcriptLine is how a host writes what was said. Role is user, agent or hook.
func transcriptLine(h Host, role, text string, n int) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	text = string(data)
	switch h {
	case Claude:
		if role == "agent" {
			return fmt.Sprintf(`{"type":"assistant","uuid":"a%d","message":{"id":"m%[1]d","content":[{"type":"text",`+
				`"text":%s}]}}`+"\n", n, text)
		}
		meta := ""
		if role == "hook" {
			meta, text = `"isMeta":true,`, `"Stop hook feedback:\n`+text[1:]
		}
		return fmt.Sprintf(`{"type":"user","uuid":"u%d",%s"message":{"role":"user","content":%s}}`+"\n", n, meta, text)
	case Codex:
		kind, who := "input_text", "user"
		if role == "agent" {
			kind, who = "output_text", "assistant"
		}
		if role == "hook" {
			text = `"<hook_prompt hook_run_id=\"1\">` + strings.TrimSuffix(text[1:], `"`) + `</hook_prompt>"`
		}
		return fmt.Sprintf(`{"type":"response_item","payload":{"type":"message","id":"m%d","role":%q,"content":[{`+
			`"type":%q,"text":%s}]}}`+"\n",
			n, who, kind, text)
	case Gemini:
		kind := map[bool]string{true: "gemini", false: "user"}[role == "agent"]
		return fmt.Sprintf(`{"id":"%s%d","type":%q,"content":%s}`+"\n", kind, n, kind, text)
	case Copilot:
		if strings.Contains(text, "system_notification") {
			return fmt.Sprintf(`{"type":"system.notification","id":"n%d","data":{"content":%s}}`+"\n", n, text)
		}
		kind := map[bool]string{true: "assistant.message", false: "user.message"}[role == "agent"]
		return fmt.Sprintf(`{"type":%q,"id":"%s%d","data":{"content":%s,"toolRequests":[]}}`+"\n", kind, kind, n, text)
	}
	who := map[bool]string{true: "assistant", false: "user"}[role == "agent"]
	return fmt.Sprintf(`{"role":%q,"message":{"content":[{"type":"text","text":%s}]}}`+"\n", who, text)
}

// prompt plays a prompt to the agent.
func (p *player) prompt(text string) {
	p.prompts++
	fields := map[string]any{"prompt": text}
	switch p.host {
	case Gemini:
		fields["hook_event_name"] = "BeforeAgent"
	case Cursor:
		fields["hook_event_name"] = "beforeSubmitPrompt"
	default:
		fields["hook_event_name"] = "UserPromptSubmit"
	}
	p.run(p.event(fields))
	p.line("user", text)
}

// human plays a prompt of the human.
func (p *player) human(text string) {
	p.said, p.resumed = nil, 0
	p.prompt(text)
}

func (p *player) event(fields map[string]any) string {
	switch p.host {
	case Cursor:
		fields["conversation_id"], fields["generation_id"], fields["transcript_path"] = "s", fmt.Sprint("g", p.prompts), nil
	default:
		fields["session_id"], fields["transcript_path"] = "s", p.file
	}
	data, err := json.Marshal(fields)
	require.NoError(p.t, err)
	return string(data)
}

// stop is the event of a pause with a message.
func (p *player) stop(text string) string {
	switch p.host {
	case Gemini:
		return p.event(map[string]any{
			"hook_event_name": "AfterAgent", "prompt": "Fix it.", "prompt_response": strings.Join(p.said, "\n"),
			"stop_hook_active": p.resumed > 0, "timestamp": fmt.Sprintf("2026-11-02T10:%02d:%02d.000Z", p.prompts, p.resumed),
		})
	case Cursor:
		return p.event(map[string]any{"hook_event_name": "stop", "status": "completed", "loop_count": p.resumed})
	case Copilot:
		return p.event(map[string]any{"hook_event_name": "Stop", "stop_reason": "end_turn",
			"stop_hook_active": p.resumed > 0})
	}
	return p.event(map[string]any{"hook_event_name": "Stop", "stop_hook_active": p.resumed > 0,
		"last_assistant_message": text})
}

// pause has the agent print a text and pause. If the answer continues the agent, the host does what it does then.
func (p *player) pause(text string) answer {
	p.t.Helper()
	p.said = append(p.said, text)
	p.line("agent", text)
	if p.host == Cursor {
		p.run(p.event(map[string]any{"hook_event_name": "afterAgentResponse", "text": text}))
	}
	a := p.run(p.stop(text))
	if m := a.message(); m != "" {
		p.resumed++
		if p.host.echoes() {
			p.prompt(m)
		} else {
			p.line("hook", m)
		}
	}
	return a
}

// transcribed are the hosts whose transcript names each message.
var transcribed = []Host{Claude, Codex, Gemini, Copilot}

// An agent that makes a hollow claim again and again is coached twice, then it is the human's, who learns why.
func TestThreeHollowClaims(t *testing.T) {
	for _, host := range Hosts() {
		t.Run(string(host), func(t *testing.T) {
			p := newPlayer(t, host)
			if host == Copilot {
				p.transcribe()
			}
			for range 2 { // the second turn begins anew
				p.human("Fix the login redirect.")
				first := p.pause("Fixed the login redirect, should work now.").message()
				require.Contains(t, first, "[System Coach]")
				second := p.pause("I fixed the login redirect. It should work now.").message()
				require.Contains(t, second, "[System Coach]")
				require.NotEqual(t, first, second)
				third := p.pause("Fixed the login redirect once more. It should work.")
				require.Empty(t, third.message())
				require.Equal(t, autocontinue.Outcome("stalled"), p.last.Decision.Outcome)
				if host == Cursor || host == Copilot {
					require.Empty(t, third.SystemMessage, "the host has no place for it")
				} else {
					require.Contains(t, third.SystemMessage, "sidecoach: ")
				}
				require.Empty(t, p.pause("It is fixed.").SystemMessage, "the human knows")
			}
		})
	}
}

// A long message is judged by its end, where the claim is, whether the event or the transcript has it.
func TestLongMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	for _, host := range Hosts() {
		p := newPlayer(t, host).transcribe()
		p.human("Fix the login redirect.")
		got := p.pause(strings.Repeat("- Read the next handler of the login.\n", 9000) + "\n" + hollow)
		require.NotEmpty(t, got.message(), "%s: %s", host, p.last.Decision.Reason)
		require.NotEmpty(t, p.last.OutputID, "%s: the transcript has the message", host)
	}
}

// The cap holds, also when the host feeds our plain "continue" back as a prompt; and then the human may say the same.
func TestTheCapHolds(t *testing.T) {
	for _, host := range Hosts() {
		for _, words := range []string{"continue", "Please continue.", "And the logout?"} {
			t.Run(string(host)+" "+words, func(t *testing.T) {
				p := newPlayer(t, host)
				if host == Copilot {
					p.transcribe()
				}
				for turn := range 2 {
					p.human([]string{"Fix the login redirect.", words}[turn])
					for i := range 4 {
						got := p.pause(fmt.Sprintf("I am reading file %d-%d now. Next I will run the tests.", turn, i))
						require.Equal(t, i < 3, got.message() == "continue", "turn %d, pause %d: %s", turn, i, p.last.Decision.Reason)
					}
					require.Equal(t, autocontinue.Outcome("capped"), p.last.Decision.Outcome)
				}
			})
		}
	}
}

// A prompt that the host writes itself opens no turn.
func TestANoticeOpensNoTurn(t *testing.T) {
	for host, notice := range map[Host]string{
		Claude: "<task-notification>\n<task-id>b1</task-id>\n</task-notification>",
		Copilot: "<system_notification>\nShell command \"x\" (shellId: 0) has completed successfully." +
			"\n</system_notification>",
	} {
		p := newPlayer(t, host).transcribe()
		p.human("Fix the login redirect.")
		for range 3 {
			p.pause("Fixed the login redirect, should work now.")
		}
		require.Equal(t, autocontinue.Outcome("stalled"), p.last.Decision.Outcome)
		p.prompt(notice)
		require.Empty(t, p.pause("Fixed the logout, should work now.").message(), host)
		require.Equal(t, autocontinue.Reason("waiting"), p.last.Decision.Reason)
	}
}

// Without the state nobody knows how often the turn was continued: the transcript, or the human.
func TestLostState(t *testing.T) {
	for _, host := range Hosts() {
		p := newPlayer(t, host)
		if host == Copilot {
			p.transcribe()
		}
		p.human("Fix the login redirect.")
		require.NotEmpty(t, p.pause("Fixed the login redirect, should work now.").message())
		clear(p.store.state)
		if host == Copilot {
			p.file = filepath.Join(t.TempDir(), "gone")
			p.line("agent", "Fixed it, should work now.")
		}
		require.Empty(t, p.pause("Fixed it, should work now.").message(), host)
		require.Contains(t, p.last.Decision.Note, "state lost", host)
	}
	for _, host := range transcribed {
		p := newPlayer(t, host).transcribe()
		p.human("Fix the login redirect.")
		for i := range 4 {
			clear(p.store.state)
			message := p.pause(fmt.Sprintf("I fixed the login redirect in auth%d.go, should work now.", i)).message()
			require.Equal(t, i < 3, message != "", "%s %d: %s", host, i, p.last.Decision.Reason)
		}
	}
}

// A host runs the hooks of the user and those of the project. They give one decision, which counts once.
func TestOnePauseOfManyHooks(t *testing.T) {
	for _, host := range Hosts() {
		t.Run(string(host), func(t *testing.T) {
			p := newPlayer(t, host)
			if host != Cursor {
				p.transcribe()
			}
			p.human("Fix the login redirect.")
			for i, want := range []string{"[System Coach]", "[System Coach]", ""} {
				const text = "Fixed the login redirect, should work now."
				p.said = append(p.said, text)
				p.line("agent", text)
				if host == Cursor {
					p.run(p.event(map[string]any{"hook_event_name": "afterAgentResponse", "text": text}))
				}
				event := p.stop(text)
				first := p.run(event)
				for range 3 {
					again := p.run(event)
					require.Equal(t, first.message(), again.message(), "pause %d: %s", i, p.last.Decision.Reason)
					require.True(t, p.last.Decision.Replayed, "pause %d: %s", i, p.last.Decision.Reason)
				}
				require.Contains(t, first.message(), want)
				if m := first.message(); m != "" {
					p.resumed++
					if host.echoes() {
						p.prompt(m)
					} else {
						p.line("hook", m)
					}
				}
			}
			require.Equal(t, autocontinue.Outcome("stalled"), p.last.Decision.Outcome)
		})
	}
}

// An ID that never changes must not repeat a decision for ever.
func TestAStuckIDEnds(t *testing.T) {
	p := newPlayer(t, Cursor)
	p.human("Fix the login redirect.")
	const text = "Next I will run the tests."
	for i := range 20 {
		p.run(p.event(map[string]any{"hook_event_name": "afterAgentResponse", "text": text}))
		p.resumed = min(i, 1)
		if p.run(p.stop(text)).message() == "" {
			require.Less(t, i, 10)
			return
		}
	}
	t.Fatal("it goes round in circles")
}

// A host writes the message to its transcript a moment after it has called the hook.
func TestAMessageIsWaitedFor(t *testing.T) {
	for _, host := range transcribed {
		limit := waitForMessage
		if host == Copilot {
			limit = waitForLast
		}
		for name, tt := range map[string]struct {
			late time.Duration // the message comes so late; 0 is there at once
			took time.Duration
			lack string
		}{
			"there": {0, 0, ""},
			"late":  {105 * time.Millisecond, 110 * time.Millisecond, ""},
			"never": {time.Hour, limit, "the transcript was behind: it did not have the message in time"},
		} {
			t.Run(string(host)+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newPlayer(t, host).transcribe()
					loop := p.cfg.Loop
					lack := ""
					p.cfg.Loop = func(ctx context.Context, pause *Pause) (autocontinue.Config, error) {
						lack = pause.Lack
						return loop(ctx, pause)
					}
					p.human("Fix the login redirect.")
					for pause := range 2 { // the second time an older copy of the text is there
						const text = "Fixed the login redirect, should work now."
						p.said = append(p.said, text)
						write := func() { p.line("agent", text) }
						if tt.late == 0 {
							write()
						} else if pause == 1 || name == "never" {
							timer := time.AfterFunc(tt.late, write)
							defer timer.Stop()
						} else {
							write()
						}
						start := time.Now()
						a := p.run(p.stop(text))
						if pause == 0 && name == "late" {
							require.Zero(t, time.Since(start))
						} else {
							require.Equal(t, tt.took, time.Since(start))
							require.Equal(t, tt.lack, lack)
						}
						if name == "never" {
							return
						}
						require.NotEmpty(t, a.message())
						p.resumed++
						if host.echoes() {
							p.prompt(a.message())
						} else {
							p.line("hook", a.message())
						}
					}
				})
			})
		}
	}
}

// Cursor tells what the agent printed in an event of its own, which another process may still be at work on.
func TestCursorsMessageIsWaitedFor(t *testing.T) {
	for late, want := range map[time.Duration]time.Duration{0: 0, 95 * time.Millisecond: 100 * time.Millisecond,
		time.Hour: waitForLast} {
		synctest.Test(t, func(t *testing.T) {
			p := newPlayer(t, Cursor)
			p.human("Fix the login redirect.")
			tell := func() {
				p.run(p.event(map[string]any{"hook_event_name": "afterAgentResponse", "text": "Fixed, should work now."}))
			}
			if late == 0 {
				tell()
			} else {
				timer := time.AfterFunc(late, tell)
				defer timer.Stop()
			}
			start := time.Now()
			a := p.run(p.stop(""))
			require.Equal(t, want, time.Since(start))
			require.Equal(t, want < waitForLast, a.message() != "")
		})
	}
}

func TestShadow(t *testing.T) {
	p := newPlayer(t, Gemini)
	loop := p.cfg.Loop
	p.cfg.Loop = func(ctx context.Context, pause *Pause) (autocontinue.Config, error) {
		pause.Shadow = true
		return loop(ctx, pause)
	}
	p.human("Fix it.")
	require.Empty(t, p.pause("Next I will run the tests.").message())
	require.Equal(t, autocontinue.Continue, p.last.Decision.Action, "decided")
	p.human("continue")
	p.pause("Next I will run the linter.")
	require.Equal(t, 1, p.last.Decision.Continues, "nothing was sent, so the words were the human's")
}

// What the hook keeps of a session holds no secret, whether an event or a transcript brought it.
func TestSecretsAreNotKept(t *testing.T) {
	const own = "correct-horse-battery"
	known := "sk-proj-" + strings.Repeat("Ab3", 14)
	for _, host := range Hosts() {
		p := newPlayer(t, host).transcribe()
		p.cfg.Secrets = []string{own}
		p.human("Log in with " + own + " and " + known + ".")
		p.pause("I exported " + own + " and " + known + ". Next I will run the tests.")
		require.Equal(t, autocontinue.Reason("progress"), p.last.Decision.Reason, host)
		for _, kept := range p.store.state {
			require.NotContains(t, string(kept), own, host)
			require.NotContains(t, string(kept), known, host)
		}
	}
}

func TestPromptsAreTold(t *testing.T) {
	p := newPlayer(t, Claude)
	var told []string
	p.cfg.Prompted = func(_ context.Context, session, folder string, first bool) {
		told = append(told, fmt.Sprint(session, " in ", folder, ", first: ", first))
	}
	p.run(`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/src","prompt":"Fix it."}`)
	p.run(`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/src",` +
		`"prompt":"<task-notification>x</task-notification>"}`)
	p.run(`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/src/a","prompt":"Now test it."}`)
	require.Equal(t, []string{"s in /src, first: true", "s in /src/a, first: false"}, told)
}

func TestErrors(t *testing.T) {
	p := newPlayer(t, Claude)
	p.store.fails = errors.New("disk full")
	for event, want := range map[string]string{p.stop("Fixed."): "{}\n",
		p.event(map[string]any{"hook_event_name": "UserPromptSubmit"}): ""} {
		out, err := Run(t.Context(), Claude, []byte(event), p.cfg)
		require.ErrorIs(t, err, p.store.fails)
		assert.Equal(t, want, string(out))
	}
	_, err := Run(t.Context(), "other", nil, p.cfg)
	require.ErrorIs(t, err, ErrEvent)
	require.Equal(t, "other", Host("other").Product())
}

// The end of a huge message decides, and the beginning of a huge prompt is the request. No part of a secret is left
// where they are cut.
func TestHugeTextsAreCut(t *testing.T) {
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA\n", 200) + "-----END RSA PRIVATE KEY-----\n"
	filler := strings.Repeat("é ", 1<<19)
	said := filler + key + filler[:len(filler)*2/3-1000] + "Which one should I use?"
	asked := "Pick a database. " + filler[:len(filler)*2/3-1000] + key + filler
	var got autocontinue.Output
	heuristic, err := classify.NewHeuristic()
	require.NoError(t, err)
	cfg := Config{Sessions: &store{state: map[string][]byte{}},
		Loop: func(_ context.Context, p *Pause) (autocontinue.Config, error) {
			got = p.Output
			return autocontinue.Config{Classifier: heuristic}, nil
		}}
	for _, event := range []map[string]any{
		{"hook_event_name": "UserPromptSubmit", "prompt": asked}, {"hook_event_name": "Stop", "last_assistant_message": said},
	} {
		event["session_id"], event["cwd"] = "s", t.TempDir()
		payload, err := json.Marshal(event)
		require.NoError(t, err)
		_, err = Run(t.Context(), "claude", payload, cfg)
		require.NoError(t, err)
	}
	assert.LessOrEqual(t, len(got.Text), 1<<20)
	assert.LessOrEqual(t, len(got.Request), 1<<20)
	assert.True(t, strings.HasSuffix(got.Text, "Which one should I use?"))
	assert.NotContains(t, got.Text+got.Request, "MIIE")
}
