package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
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
	prompted                    // a prompt goes to the agent
	printed                     // the agent printed something
)

// kinds are what events report, by their names in all hosts.
var kinds = map[string]kind{
	"Stop": stopped, "AfterAgent": stopped, "stop": stopped, "SubagentStop": subagentStopped, "StopFailure": broke,
	"UserPromptSubmit": prompted, "BeforeAgent": prompted, "beforeSubmitPrompt": prompted, "afterAgentResponse": printed,
}

// event is what a host reports, in one form for all hosts. A field that a host does not have is zero.
type event struct {
	host Host
	kind kind

	Name       string          `json:"hook_event_name"`
	Session    string          `json:"session_id"`      // the host's ID of the conversation; never empty
	Agent      string          `json:"agent_id"`        // which agent of the session, when it is not the main one
	AgentType  *string         `json:"agent_type"`      // empty for an agent that the host runs for itself
	Generation string          `json:"generation_id"`   // the host's ID of the prompt, whoever wrote it
	Dir        string          `json:"cwd"`             // where the agent works
	Transcript string          `json:"transcript_path"` // the file with the conversation of that agent
	Time       json.RawMessage `json:"timestamp"`       // of Gemini CLI: the same for all hooks that get the event

	Message optional `json:"last_assistant_message"` // what the agent printed last, see [Host.accumulates]
	Prompt  optional `json:"prompt"`                 // what went to the agent
	Resumed bool     `json:"stop_hook_active"`       // a hook continued the agent
	Loop    int      `json:"loop_count"`             // how often a hook continued the agent, in this turn or session
	Status  string   `json:"status"`                 // how the turn ended: "aborted", "error"
	Error   string   `json:"error"`                  // the code of what broke the turn
	Mode    string   `json:"permission_mode"`        // "plan"
	Tasks   []any    `json:"background_tasks"`       // work that goes on without the agent; nil if the host does not say
	Crons   []any    `json:"session_crons"`          // prompts that are scheduled for later

	// These stand in place of others in one host, or for sub-agents.
	Conversation    string   `json:"conversation_id"`
	Roots           []string `json:"workspace_roots"`
	Text            optional `json:"text"`
	Response        optional `json:"prompt_response"`
	AgentTranscript string   `json:"agent_transcript_path"`
	CursorVersion   any      `json:"cursor_version"`
}

// read makes an event of what the host wrote to the hook's standard input. Every error wraps [ErrEvent] and holds
// nothing of the payload except names of keys.
func (h Host) read(payload []byte) (event, error) {
	e := event{host: h}
	var members map[string]json.RawMessage
	err := json.Unmarshal(bytes.TrimPrefix(payload, []byte("\ufeff")), &members)
	maps.DeleteFunc(members, func(key string, _ json.RawMessage) bool {
		return key != strings.ToLower(key) // package json would take it for the one in lower case
	})
	if err == nil {
		exact, _ := json.Marshal(members) // they are JSON
		err = json.Unmarshal(exact, &e)
	}
	e.kind = kinds[e.Name]
	e.adapt()
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	wrong, isType := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !slices.Contains(Hosts(), h):
		err = fmt.Errorf("there is no host %q; the hosts are %v", string(h), Hosts())
	case len(payload) > MaxEvent:
		err = fmt.Errorf("it is larger than %d MiB", MaxEvent>>20)
	case len(bytes.TrimSpace(payload)) == 0:
		err = errors.New("it is empty")
	case isSyntax:
		err = fmt.Errorf("it is not valid JSON, at byte %d of %d", syntax.Offset, len(payload))
	case isType && wrong.Field == "":
		err = errors.New("it is not a JSON object")
	case isType && (kinds[e.Name] != other || e.Name == ""): // nobody can tell what the value means
		err = fmt.Errorf("%q has another type than documented", wrong.Field)
	case e.Name == "":
		err = errors.New(`"hook_event_name" is missing`)
	case e.Session == "":
		err = errors.New("it names no session")
	default:
		return e, nil
	}
	return event{}, fmt.Errorf("%w: %w", ErrEvent, err)
}

// adapt fills the common fields.
func (e *event) adapt() {
	e.Status = strings.ToLower(e.Status)
	ofCopilot := copilotEvents.FindStringSubmatch(e.Transcript)
	switch e.host {
	case Claude:
		if ofCopilot != nil || e.CursorVersion != nil {
			e.kind = other // Cursor and Copilot CLI have hooks of their own
		}
	case Codex:
		// A thread that was forked from another shares its session. The name of the transcript has the thread's own ID.
		if m := codexThread.FindStringSubmatch(e.Transcript); m != nil && m[1] != e.Session && e.Agent == "" {
			e.Agent = m[1]
		}
	case Gemini:
		e.Message = e.Response
		if strings.TrimSpace(e.Message.text) == "[no response text]" {
			e.Message.text = "" // the agent printed nothing
		}
	case Cursor:
		e.Session, e.Message = e.Conversation, e.Text
		if len(e.Roots) > 0 {
			e.Dir = e.Roots[0]
			if len(e.Dir) > 2 && e.Dir[0] == '/' && e.Dir[2] == ':' { // Windows, as in a URI: /c:/src/shop
				e.Dir = e.Dir[1:]
			}
		}
	case Copilot:
		// It runs Stop for sub-agents, too, with the transcript of another: github.com/github/copilot-cli/issues/3894.
		if ofCopilot != nil && ofCopilot[1] != e.Session {
			e.Transcript = ""
		}
	}
	if e.kind == subagentStopped {
		e.Transcript = e.AgentTranscript
	}
	if e.kind == broke {
		e.Status = e.Error
	}
}

// codexThread is the name of a Codex transcript: rollout-2026-11-02T10-20-30-<uuid>.jsonl.
var codexThread = regexp.MustCompile(
	`(?i)(?:^|[/\\])rollout-[^/\\]*([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$`)

// copilotEvents is the name of the file with a session's events: ~/.copilot/session-state/<session>/events.jsonl.
var copilotEvents = regexp.MustCompile(`(?:^|[/\\])session-state[/\\]([^/\\]+)[/\\]events\.jsonl$`)

// key is the session's name for [autocontinue.Output.Session]. A sub-agent has a session of its own.
func (e event) key() string {
	if e.Agent != "" {
		return e.Session + "/" + e.Agent
	}
	return e.Session
}

// active reports whether a hook continued the agent before this pause.
func (e event) active() bool { return e.Resumed || e.Loop > 0 }

// ended reports whether the turn ended in the usual way.
func (e event) ended() bool { return e.Status == "" || e.Status == "completed" }

// fromHuman reports whether the event is a prompt of the human, which opens a turn: not a message of ours that a host
// feeds back, and not a notice that the host wrote itself.
func (e event) fromHuman(m memory) bool {
	switch {
	case e.kind != prompted:
		return false
	case e.host == Gemini && m.Rested: // then Gemini CLI does not say "Please continue." to itself
		return !plaintext.IsOurs(e.Prompt.text)
	}
	return !e.Prompt.given || !transcript.Format(e.host).IsNotice(e.Prompt.text) && !m.Transcript.IsOurs(e.Prompt.text)
}

// optional is a text that a payload may leave out.
type optional struct {
	text  string
	given bool
}

func (t *optional) UnmarshalJSON(data []byte) error {
	t.given = string(data) != "null"
	return json.Unmarshal(data, &t.text)
}

// waitsFor reports whether a task in the background will wake the agent. Only a status that is known to be an end says
// that it will not. A sub-agent does not wait for sub-agents: the list has itself, and those beside it.
func (e event) waitsFor(task any) bool {
	const ends = " completed complete done finished succeeded success failed error errored killed cancelled canceled " +
		"stopped exited aborted timeout timed_out "
	t, _ := task.(map[string]any)
	status, _ := t["status"].(string)
	ended := status != "" && strings.Contains(ends, " "+strings.ToLower(status)+" ")
	return !ended && (e.kind != subagentStopped || t["type"] != "subagent")
}

// Host names a program that runs agents and calls hooks.
type Host string

// The hosts.
const (
	Claude  Host = "claude"  // Claude Code
	Codex   Host = "codex"   // Codex CLI
	Gemini  Host = "gemini"  // Gemini CLI
	Cursor  Host = "cursor"  // Cursor
	Copilot Host = "copilot" // GitHub Copilot CLI
)

// traits are what differs between the hosts.
var traits = map[Host]struct {
	product     string
	most        int
	accumulates bool // its message is all that the agent printed since the human spoke
	echoes      bool // a message that a hook sends to the agent comes back to the hook as a prompt
}{
	Claude:  {product: "Claude Code", most: 8},
	Codex:   {product: "Codex"},
	Gemini:  {product: "Gemini CLI", accumulates: true, echoes: true},
	Cursor:  {product: "Cursor", echoes: true},
	Copilot: {product: "Copilot CLI", most: 8, echoes: true},
}

// Hosts returns the hosts, fresh, in their order.
func Hosts() []Host { return []Host{Claude, Codex, Gemini, Cursor, Copilot} }

// Product returns what people call the host: "Claude Code".
func (h Host) Product() string { return cmp.Or(traits[h].product, string(h)) }

// MostContinues returns how often in a row the host lets a hook continue the agent, 0 for as often as it likes.
func (h Host) MostContinues() int { return traits[h].most }

func (h Host) accumulates() bool { return traits[h].accumulates }
func (h Host) echoes() bool      { return traits[h].echoes }

// reply is what a hook writes to standard output. Codex refuses keys that it does not know, so an empty field is left
// out. No host gets "continue" at a pause, where it has another meaning.
type reply struct {
	Decision string `json:"decision,omitempty"`         // "block" continues the agent; Gemini CLI: "deny", else "allow"
	Reason   string `json:"reason,omitempty"`           // goes to the agent
	Note     string `json:"systemMessage,omitempty"`    // is shown to the human, and not to the agent
	Message  string `json:"followup_message,omitempty"` // Cursor: goes to the agent as the human's next message
	Continue bool   `json:"continue,omitempty"`         // Cursor: the human's prompt may go ahead
}

// reply returns what continues the agent with a message, or lets it stop with a note if there is none.
func (h Host) reply(message, note string) reply {
	switch {
	case h == Cursor:
		return reply{Message: message}
	case h == Gemini && message != "":
		return reply{Decision: "deny", Reason: message}
	case h == Gemini:
		return reply{Decision: "allow", Note: note}
	case message != "":
		return reply{Decision: "block", Reason: message}
	case h == Copilot: // it would show no note
		return reply{}
	}
	return reply{Note: note}
}

// Pass returns the answer with which the host goes on, whatever the event was: for an event that nobody could read. A
// host may stop the human's prompt when it gets no answer, or one of another form.
func (h Host) Pass() []byte {
	if h == Cursor {
		return encode(reply{Continue: true})
	}
	return encode(h.reply("", ""))
}

// answer returns what to write to standard output: one line of JSON, or nothing. Note and notice are for the human.
func (e event) answer(d autocontinue.Decision, notice string) []byte {
	switch {
	case e.kind != stopped && e.kind != subagentStopped && e.host != Cursor:
		return nil // the host reads none, or would show it to the agent
	case e.kind != stopped && e.kind != subagentStopped:
		return encode(reply{Continue: e.kind == prompted})
	case d.Action == autocontinue.Continue && !plaintext.IsBlank(d.Message):
		return encode(e.host.reply(d.Message, ""))
	}
	return encode(e.host.reply("", strings.Trim(e.note(d)+"\n"+notice, "\n")))
}

// note returns what the human reads about the end of a loop, "" if there was none or the agent's own words say it.
// With two hooks of one pause, the first tells it.
func (e event) note(d autocontinue.Decision) string {
	checked := d.Verified != "" || d.Goal != "" && d.Reason == "completion" // and what was not
	looped := d.Continues > 0 || e.active() || d.Goal != ""
	ends := []autocontinue.Reason{"repeat", "cap", "crash_guard", "low_confidence", "superseded", "hold"}
	if d.Note == "" || d.Replayed || !checked && !(looped && slices.Contains(ends, d.Reason)) {
		return ""
	}
	return "sidecoach: " + d.Note
}

func encode(r reply) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		panic(err) // texts
	}
	return []byte(b.String())
}
