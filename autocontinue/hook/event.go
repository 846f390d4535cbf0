package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
// argument. It skips a byte order mark and unknown keys. If a key is there twice, the last one counts. Bytes that are
// not UTF-8 become U+FFFD, as in the hosts themselves. Every error wraps [ErrEvent] and holds nothing of the payload
// except names of keys.
func (h Host) read(payload []byte) (event, error) {
	e := event{host: h, noTasks: true}
	o, err := parse(payload)
	if err == nil {
		switch {
		case !slices.Contains(Hosts(), h):
			o.err = fmt.Errorf("there is no host %q; the hosts are %v", string(h), Hosts())
		case h == Cursor:
			e.readCursor(&o)
		case h == Codex && !o.has("hook_event_name") && o.has("type"):
			e.readNotify(&o)
		case h == Copilot && !o.has("hook_event_name"):
			e.readCamelCase(&o)
		default:
			e.readSnakeCase(&o)
		}
		err = o.err
	}
	if err == nil && e.session == "" {
		err = errors.New("it names no session")
	}
	if err != nil {
		return event{}, fmt.Errorf("%w: %w", ErrEvent, err)
	}
	// Copilot CLI runs Stop for sub-agents as well, with their own ID: github.com/github/copilot-cli/issues/3894. Then
	// the transcript is not theirs.
	if owner, ok := copilotSession(e.transcript); ok && h == Copilot && owner != e.session {
		e.transcript = ""
	}
	return e, nil
}

// readSnakeCase reads an event of Claude Code, Codex, Gemini CLI or Copilot CLI.
func (e *event) readSnakeCase(o *object) {
	name := get[string](o, "hook_event_name")
	if name == "" && o.err == nil {
		o.err = errors.New(`"hook_event_name" is missing`)
	}
	e.kind, e.session, e.agent = kindOf(name), get[string](o, "session_id"), get[string](o, "agent_id")
	e.dir, e.transcript = get[string](o, "cwd"), get[string](o, "transcript_path")
	e.mode = get[string](o, "permission_mode")
	if e.host == Codex && e.agent == "" {
		e.agent = forkOf(e.session, e.transcript)
	}
	if _, ok := copilotSession(e.transcript); e.host == Claude && (ok || o.has("cursor_version")) {
		e.kind = other // Cursor and Copilot CLI have hooks of their own
	}
	switch e.kind {
	case subagentStopped:
		if e.host == Copilot {
			e.kind = other // agentStop comes as well
			return
		}
		agent := get[optional](o, "agent_type")
		e.transcript, e.internal = get[string](o, "agent_transcript_path"), agent.given && agent.text == ""
		e.readStop(o)
	case stopped:
		e.readStop(o)
	case broke:
		e.message, e.status = get[optional](o, "last_assistant_message"), get[string](o, "error")
	case prompted:
		e.prompt = get[optional](o, "prompt")
	}
}

func (e *event) readStop(o *object) {
	e.resumed = get[bool](o, "stop_hook_active")
	if e.host == Gemini {
		e.prompt, e.message = get[optional](o, "prompt"), get[optional](o, "prompt_response")
		e.time = get[string](o, "timestamp")
		if strings.TrimSpace(e.message.text) == "[no response text]" {
			e.message.text = "" // the agent printed nothing
		}
		return
	}
	e.message, e.noTasks = get[optional](o, "last_assistant_message"), !o.has("background_tasks")
	e.tasks, e.schedule = get[[]task](o, "background_tasks"), len(get[[]any](o, "session_crons"))
}

// readNotify reads the argument of the program that "notify" in Codex's config.toml names.
func (e *event) readNotify(o *object) {
	e.kind, e.session, e.dir = kindOf(get[string](o, "type")), get[string](o, "thread-id"), get[string](o, "cwd")
	e.message = get[optional](o, "last-assistant-message")
	if prompts := get[[]any](o, "input-messages"); len(prompts) > 0 {
		e.prompt.text, e.prompt.given = prompts[len(prompts)-1].(string)
	}
}

// readCamelCase reads an event of a hook that the human configured in camelCase, as "agentStop". It has no name.
func (e *event) readCamelCase(o *object) {
	e.session, e.dir = get[string](o, "sessionId"), get[string](o, "cwd")
	e.transcript = get[string](o, "transcriptPath")
	switch {
	case o.has("agentName"):
	case o.has("stopReason"):
		e.kind = stopped
	case o.has("prompt") && !o.has("transformedPrompt"):
		e.kind, e.prompt = prompted, get[optional](o, "prompt")
	}
}

// readCursor reads an event of Cursor's editor, or of its command line in interactive mode.
func (e *event) readCursor(o *object) {
	e.kind, e.session = kindOf(get[string](o, "hook_event_name")), get[string](o, "conversation_id")
	e.generation, e.transcript = get[string](o, "generation_id"), get[string](o, "transcript_path")
	if roots := get[[]string](o, "workspace_roots"); len(roots) > 0 {
		e.dir = roots[0]
		if len(e.dir) > 2 && e.dir[0] == '/' && e.dir[2] == ':' { // Windows, as in a URI: /c:/src/shop
			e.dir = e.dir[1:]
		}
	}
	switch e.kind {
	case stopped:
		e.status, e.loop, e.counts = get[string](o, "status"), get[int](o, "loop_count"), o.has("loop_count")
	case printed:
		e.message = get[optional](o, "text")
	case prompted:
		e.prompt = get[optional](o, "prompt")
	}
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

// waitsFor reports whether the task will wake the agent. Only a status that is known to be an end says that it will
// not. A sub-agent does not wait for sub-agents: the list has itself, and those beside it.
func (e event) waitsFor(t task) bool {
	switch strings.ToLower(t.status) {
	case "completed", "complete", "done", "finished", "succeeded", "success", "failed", "error", "errored",
		"killed", "cancelled", "canceled", "stopped", "exited", "aborted", "timeout", "timed_out":
		return false
	}
	return e.kind != subagentStopped || t.typ != "subagent"
}

// object is a JSON object. Its keys match by their exact case.
type object struct {
	members map[string]json.RawMessage
	err     error // about the first value of another type than documented
}

// parse reads a payload. Its errors quote nothing of it.
func parse(payload []byte) (o object, err error) {
	if len(payload) > MaxEvent {
		return o, fmt.Errorf("it is larger than %d MiB", MaxEvent>>20)
	}
	payload = bytes.TrimSpace(bytes.TrimPrefix(payload, []byte("\ufeff")))
	switch {
	case bytes.HasPrefix(payload, []byte{0xff, 0xfe}), bytes.HasPrefix(payload, []byte{0xfe, 0xff}):
		return o, errors.New("it is UTF-16, where UTF-8 is needed")
	case len(payload) == 0:
		return o, errors.New("it is empty")
	case payload[0] != '{':
		return o, errors.New("it is not a JSON object")
	}
	err = json.Unmarshal(payload, &o.members)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		err = fmt.Errorf("it is not valid JSON, at byte %d of %d", e.Offset, len(payload))
	}
	return o, err
}

func (o *object) has(key string) bool {
	_, ok := o.members[key]
	return ok
}

// get returns the value of a key, zero if there is none. A value of another type is an error: nobody can tell what it
// means.
func get[T any](o *object, key string) (value T) {
	raw, ok := o.members[key]
	if !ok || json.Unmarshal(raw, &value) == nil || o.err != nil {
		return value
	}
	noun := "a string"
	switch any(value).(type) {
	case bool:
		noun = "true or false"
	case int:
		noun = "a whole number"
	case []any, []string, []task:
		noun = "an array"
	}
	o.err = fmt.Errorf("%q is not %s", key, noun)
	return value
}

func blank(s string) bool { return plaintext.IsBlank(s) }
