package hook

import (
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Kind says what a host reports.
type Kind string

// The kinds of events.
const (
	Stop         Kind = "stop"          // the agent pauses and can be sent on
	SubagentStop Kind = "subagent_stop" // a sub-agent does
	StopFailure  Kind = "stop_failure"  // the turn broke; Message is the error, and the answer is not read
	Notify       Kind = "notify"        // the agent has paused, and cannot be sent on any more
	Prompt       Kind = "prompt"        // a prompt goes to the agent; see [Event.FromHuman]
	Said         Kind = "said"          // the agent printed something, which is Message; see [Memory.Heard]
	Other        Kind = "other"         // anything else: nothing to do
)

// IsPause reports whether the event is about an agent that paused, so that [Event.Output] has something to say.
func (k Kind) IsPause() bool {
	return k == Stop || k == SubagentStop || k == StopFailure || k == Notify
}

// Event is what a host reports, in one form for all hosts. A field that a host does not have is absent.
type Event struct {
	Host    Host   `json:"host"`
	Name    string `json:"name"` // the host's own name of the event: "AfterAgent"
	Kind    Kind   `json:"kind"`
	Session string `json:"session"` // the host's ID of the conversation; never empty

	Agent      Field[string] `json:"agent,omitzero"`      // which agent of the session, when it is not the main one
	AgentType  Field[string] `json:"agent_type,omitzero"` // the kind of sub-agent
	Turn       Field[string] `json:"turn,omitzero"`       // the host's ID of the prompt that is worked on
	Generation Field[string] `json:"generation,omitzero"` // the host's ID of the prompt, whoever wrote it
	WorkDir    Field[string] `json:"work_dir,omitzero"`
	Transcript Field[string] `json:"transcript,omitzero"` // the file with the conversation of the agent that the event is about
	Time       Field[string] `json:"time,omitzero"`       // the host's time of the event, the same for all hooks that get it

	Message    Field[string] `json:"message,omitzero"` // what the agent printed last; all of the turn so far where [Host.Accumulates]
	Prompt     Field[string] `json:"prompt,omitzero"`  // what went to the agent
	StopActive Field[bool]   `json:"stop_active,omitzero"`
	Loop       Field[int]    `json:"loop,omitzero"`   // how often a hook sent the agent on, in this turn or in this session
	Status     Field[string] `json:"status,omitzero"` // how the turn ended: an error's code, "aborted", "error"
	Mode       Field[string] `json:"mode,omitzero"`   // the permission mode: "plan"

	Background Field[[]Task] `json:"background,omitzero"` // work that goes on without the agent
	Wakeups    Field[int]    `json:"wakeups,omitzero"`    // how many prompts are scheduled for later
}

// Task is a piece of background work.
type Task struct {
	ID     string `json:"id,omitempty"`
	Type   string `json:"type,omitempty"` // "shell", "subagent"
	Status string `json:"status,omitempty"`
}

// Running reports whether the task may still be at work: a status that is not known to be an end says so.
func (t Task) Running() bool {
	switch strings.ToLower(t.Status) {
	case "completed", "complete", "done", "finished", "succeeded", "success", "failed", "error", "errored",
		"killed", "cancelled", "canceled", "stopped", "exited", "aborted", "timeout", "timed_out":
		return false
	}
	return true
}

// SessionKey is the session's name for [autocontinue.Output.Session]: the host's ID, and for a sub-agent a slash and the
// sub-agent's, so that it is a session of its own. A store that serves several hosts keeps them apart itself.
func (e Event) SessionKey() string {
	if agent, ok := e.Agent.Get(); ok && agent != "" {
		return e.Session + "/" + agent
	}
	return e.Session
}

// FromHuman reports whether the event is a prompt of the human's, which opens a turn: not our own coaching that a host feeds
// back, nor a notice that the host wrote itself. Of a host that feeds back, what comes after a pause at which the agent was let
// stop is the human's, whatever the words: "continue" is what people say, too.
func (e Event) FromHuman(m Memory) bool {
	if e.Kind != Prompt {
		return false
	}
	prompt, ok := e.Prompt.Get()
	if !ok {
		return true // somebody spoke, whatever they said
	}
	if m.Rests && e.Host.Echoes() {
		return !plaintext.IsOurs(prompt)
	}
	return !transcript.Format(e.Host).IsNotice(prompt) && !m.ours(prompt, e.Host.Echoes())
}
