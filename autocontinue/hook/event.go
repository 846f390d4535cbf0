package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// ErrEvent is wrapped by the errors about an event that cannot be read.
var ErrEvent = errors.New("the event cannot be used")

// MaxEvent is how many bytes an event may have.
const MaxEvent = 64 << 20

// kind says what a host reports.
type kind int

const (
	other           kind = iota // nothing to do
	stopped                     // the agent paused and can be continued
	subagentStopped             // a sub-agent did
	broke                       // the turn broke; the message is the error, and the answer is not read
	notified                    // the agent paused, and cannot be continued any more
	prompted                    // a prompt goes to the agent
	printed                     // the agent printed something
)

// kindOf returns what an event reports, by its name in any of the hosts.
func kindOf(name string) kind {
	switch name {
	case "Stop", "AfterAgent", "stop", "agentStop":
		return stopped
	case "SubagentStop":
		return subagentStopped
	case "StopFailure":
		return broke
	case "agent-turn-complete":
		return notified
	case "UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt", "userPromptSubmitted":
		return prompted
	case "afterAgentResponse":
		return printed
	}
	return other
}

// isPause reports whether the event is about an agent that paused.
func (k kind) isPause() bool {
	return k == stopped || k == subagentStopped || k == broke || k == notified
}

// event is what a host reports, in one form for all hosts. A field that a host does not have is zero.
type event struct {
	host    Host
	kind    kind
	session string // the host's ID of the conversation; never empty

	agent      string // which agent of the session, when it is not the main one
	internal   bool   // an agent that the host runs for itself
	generation string // the host's ID of the prompt, whoever wrote it
	dir        string // where the agent works
	transcript string // the file with the conversation of the agent that the event is about
	time       string // the host's time of the event, the same for all hooks that get it

	message  optional // what the agent printed last, see [Host.accumulates]
	prompt   optional // what went to the agent
	resumed  bool     // a hook continued the agent
	loop     int      // how often a hook continued the agent, in this turn or in this session
	counts   bool     // the host gives loop
	status   string   // how the turn ended: an error's code, "aborted", "error"
	mode     string   // the permission mode: "plan"
	tasks    []task   // work that goes on without the agent
	noTasks  bool     // the host says nothing about such work
	schedule int      // how many prompts are scheduled for later
}

// read makes an event of what the host wrote to the hook's standard input or, for Codex's notify, gave as its last
// argument. It skips a byte order mark. If a key is there twice, the last one counts. Bytes that are not UTF-8 become
// U+FFFD, as in the hosts themselves. Every error wraps [ErrEvent] and holds nothing of the payload except names of
// keys.
func (h Host) read(payload []byte) (event, error) {
	e := event{host: h, noTasks: true}
	o, err := parse(payload)
	switch {
	case err != nil:
	case !slices.Contains(Hosts(), h):
		err = fmt.Errorf("there is no host %q; the hosts are %v", string(h), Hosts())
	case h == Cursor:
		err = e.readCursor(o)
	case h == Codex && !o.has("hook_event_name") && o.has("type"):
		err = e.readNotify(o)
	case h == Copilot && !o.has("hook_event_name"):
		err = e.readCamel(o)
	default:
		err = e.readSnake(o)
	}
	// Copilot CLI runs Stop for sub-agents as well, with their own ID: github.com/github/copilot-cli/issues/3894. Then
	// the transcript is not theirs.
	if owner, ok := copilotSession(e.transcript); ok && h == Copilot && owner != e.session {
		e.transcript = ""
	}
	if err == nil && e.session == "" {
		err = errors.New("it names no session")
	}
	if err != nil {
		return event{}, fmt.Errorf("%w: %w", ErrEvent, err)
	}
	return e, nil
}

// readSnake reads an event of Claude Code, Codex, Gemini CLI or Copilot CLI.
func (e *event) readSnake(o object) error {
	var p struct {
		Name       string `json:"hook_event_name"`
		Session    string `json:"session_id"`
		Agent      string `json:"agent_id"`
		Dir        string `json:"cwd"`
		Transcript string `json:"transcript_path"`
		Mode       string `json:"permission_mode"`
	}
	if err := o.fill(&p); err != nil {
		return err
	}
	if p.Name == "" {
		return errors.New(`"hook_event_name" is missing`)
	}
	e.kind, e.session, e.agent, e.dir, e.transcript, e.mode = kindOf(p.Name), p.Session, p.Agent, p.Dir, p.Transcript, p.Mode
	var err error
	switch e.kind {
	case stopped:
		err = e.readStop(o)
	case subagentStopped: // it has a transcript of its own
		var s struct {
			Type       optional `json:"agent_type"`
			Transcript string   `json:"agent_transcript_path"`
		}
		err = errors.Join(e.readStop(o), o.fill(&s))
		e.transcript, e.internal = s.Transcript, s.Type.given && s.Type.text == ""
	case broke:
		var f struct {
			Message optional `json:"last_assistant_message"`
			Status  string   `json:"error"`
		}
		err = o.fill(&f)
		e.message, e.status = f.Message, f.Status
	case prompted:
		err = e.readPrompt(o)
	}
	_, isCopilot := copilotSession(p.Transcript)
	switch {
	case e.host == Claude && (isCopilot || o.has("cursor_version")):
		e.kind = other // Cursor and Copilot CLI have hooks of their own
	case e.host == Copilot && e.kind == subagentStopped:
		e.kind = other
	case e.host == Codex && e.agent == "":
		e.agent = forkOf(p.Session, p.Transcript)
	}
	return err
}

func (e *event) readPrompt(o object) error {
	var p struct {
		Prompt optional `json:"prompt"`
	}
	err := o.fill(&p)
	e.prompt = p.Prompt
	return err
}

func (e *event) readStop(o object) error {
	var p struct {
		Message  optional `json:"last_assistant_message"`
		Active   bool     `json:"stop_hook_active"`
		Tasks    []task   `json:"background_tasks"`
		Schedule []any    `json:"session_crons"`
	}
	err := o.fill(&p)
	e.message, e.resumed, e.tasks, e.schedule = p.Message, p.Active, p.Tasks, len(p.Schedule)
	e.noTasks = !o.has("background_tasks")
	if e.host != Gemini {
		return err
	}
	var g struct {
		Message optional `json:"prompt_response"`
		Time    string   `json:"timestamp"`
	}
	err = errors.Join(err, o.fill(&g), e.readPrompt(o))
	if e.time, e.message = g.Time, g.Message; strings.TrimSpace(g.Message.text) == "[no response text]" {
		e.message = some("") // the agent printed nothing
	}
	return err
}

// readNotify reads the argument of the program that "notify" in Codex's config.toml names.
func (e *event) readNotify(o object) error {
	var p struct {
		Type    string   `json:"type"`
		Session string   `json:"thread-id"`
		Dir     string   `json:"cwd"`
		Message optional `json:"last-assistant-message"`
		Prompts []any    `json:"input-messages"`
	}
	err := o.fill(&p)
	e.kind, e.session, e.dir, e.message = kindOf(p.Type), p.Session, p.Dir, p.Message
	if n := len(p.Prompts); n > 0 {
		if text, ok := p.Prompts[n-1].(string); ok {
			e.prompt = some(text)
		}
	}
	return err
}

// readCamel reads an event of a hook that is configured in camelCase, as "agentStop". It does not say what it is.
func (e *event) readCamel(o object) error {
	var p struct {
		Session    string   `json:"sessionId"`
		Dir        string   `json:"cwd"`
		Transcript string   `json:"transcriptPath"`
		Prompt     optional `json:"prompt"`
	}
	err := o.fill(&p)
	e.session, e.dir, e.transcript = p.Session, p.Dir, p.Transcript
	switch {
	case o.has("agentName"):
	case o.has("stopReason"):
		e.kind = stopped
	case o.has("prompt") && !o.has("transformedPrompt"):
		e.kind, e.prompt = prompted, p.Prompt
	}
	return err
}

// readCursor reads an event of Cursor's editor, or of its command line in interactive mode.
func (e *event) readCursor(o object) error {
	var p struct {
		Name       string   `json:"hook_event_name"`
		Session    string   `json:"conversation_id"`
		Generation string   `json:"generation_id"`
		Transcript string   `json:"transcript_path"`
		Roots      []string `json:"workspace_roots"`
	}
	err := o.fill(&p)
	e.kind, e.session, e.generation, e.transcript = kindOf(p.Name), p.Session, p.Generation, p.Transcript
	if len(p.Roots) > 0 {
		e.dir = p.Roots[0]
		if len(e.dir) > 2 && e.dir[0] == '/' && e.dir[2] == ':' { // Windows, as in a URI: /c:/src/shop
			e.dir = e.dir[1:]
		}
	}
	var of struct {
		Status string   `json:"status"`
		Loop   int      `json:"loop_count"`
		Text   optional `json:"text"`
	}
	switch e.kind {
	case stopped, printed:
		err = errors.Join(err, o.fill(&of))
		e.status, e.loop, e.counts, e.message = of.Status, of.Loop, o.has("loop_count"), of.Text
	case prompted:
		err = errors.Join(err, e.readPrompt(o))
	}
	return err
}

// forkOf returns the ID of a Codex thread that was forked from another, "" for the session's first one. They share a
// session. The name of the transcript has the thread's own ID: rollout-2026-11-02T10-20-30-<uuid>.jsonl.
func forkOf(session, transcript string) string {
	const rollout = `(?i)(?:^|[/\\])rollout-[^/\\]*([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$`
	if m := regexp.MustCompile(rollout).FindStringSubmatch(transcript); m != nil && m[1] != session {
		return m[1]
	}
	return ""
}

// copilotSession returns the session whose events a file holds: ~/.copilot/session-state/<session>/events.jsonl.
func copilotSession(path string) (string, bool) {
	parts := strings.Split(strings.ReplaceAll(path, `\`, "/"), "/")
	n := len(parts)
	if n < 3 || parts[n-3] != "session-state" || parts[n-1] != "events.jsonl" {
		return "", false
	}
	return parts[n-2], true
}

// key is the session's name for [autocontinue.Output.Session]: the host's ID, and for a sub-agent a slash and the
// sub-agent's. So a sub-agent has a session of its own.
func (e event) key() string {
	if e.agent != "" {
		return e.session + "/" + e.agent
	}
	return e.session
}

// active reports whether a hook continued the agent before this pause.
func (e event) active() bool { return e.resumed || e.loop > 0 }

// ended reports whether the turn ended in the usual way.
func (e event) ended() bool { return e.status == "" || strings.EqualFold(e.status, "completed") }

// fromHuman reports whether the event is a prompt of the human, which opens a turn: not a message of ours that a host
// feeds back, and not a notice that the host wrote itself.
func (e event) fromHuman(m memory) bool {
	switch {
	case e.kind != prompted:
		return false
	case e.host == Gemini && m.Rested: // then Gemini CLI does not say "Please continue." to itself
		return !plaintext.IsOurs(e.prompt.text)
	}
	return !e.prompt.given || !transcript.Format(e.host).IsNotice(e.prompt.text) && !m.ours(e.prompt.text)
}

// optional is a text that a payload may leave out. Null is not the empty text.
type optional struct {
	text        string
	given, null bool
}

func some(text string) optional { return optional{text: text, given: true} }

func (t *optional) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*t = optional{null: true}
		return nil
	}
	t.given = true
	return json.Unmarshal(data, &t.text)
}

// task is a piece of background work. One that cannot be read is work all the same.
type task struct{ typ, status string }

func (t *task) UnmarshalJSON(data []byte) error {
	var v struct{ Type, Status string }
	_ = json.Unmarshal(data, &v)
	t.typ, t.status = v.Type, v.Status
	return nil
}

// running reports whether the task may still be at work. Only a status that is known to be an end says that it is not.
func (t task) running() bool {
	switch strings.ToLower(t.status) {
	case "completed", "complete", "done", "finished", "succeeded", "success", "failed", "error", "errored",
		"killed", "cancelled", "canceled", "stopped", "exited", "aborted", "timeout", "timed_out":
		return false
	}
	return true
}

// object holds the members of a JSON object by their exact names.
type object map[string]json.RawMessage

// parse reads a payload. Its errors quote nothing of it.
func parse(payload []byte) (o object, err error) {
	if len(payload) > MaxEvent {
		return nil, fmt.Errorf("it is larger than %d MiB", MaxEvent>>20)
	}
	payload = bytes.TrimSpace(bytes.TrimPrefix(payload, []byte("\ufeff")))
	switch {
	case bytes.HasPrefix(payload, []byte{0xff, 0xfe}), bytes.HasPrefix(payload, []byte{0xfe, 0xff}):
		return nil, errors.New("it is UTF-16, where UTF-8 is needed")
	case len(payload) == 0:
		return nil, errors.New("it is empty")
	case payload[0] != '{':
		return nil, errors.New("it is not a JSON object")
	}
	err = json.Unmarshal(payload, &o)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, fmt.Errorf("it is not valid JSON, at byte %d of %d", e.Offset, len(payload))
	}
	return o, err
}

// has reports whether a key is there.
func (o object) has(key string) bool {
	_, ok := o[key]
	return ok
}

// fill sets the fields of a struct from the members with the exact names in its tags. A key that is not known is
// skipped. A value of another type than the host documents is an error: nobody can tell what it means.
func (o object) fill(v any) error {
	s := reflect.ValueOf(v).Elem()
	for i := range s.NumField() {
		key := s.Type().Field(i).Tag.Get("json")
		raw, ok := o[key]
		if !ok {
			continue
		}
		if err := json.Unmarshal(raw, s.Field(i).Addr().Interface()); err != nil {
			return fmt.Errorf("%q is not %s", key, nounOf(s.Field(i).Type()))
		}
	}
	return nil
}

func nounOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Slice:
		return "an array"
	}
	return "a string"
}

func blank(s string) bool { return plaintext.IsBlank(s) }
