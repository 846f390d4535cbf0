package hook

import "strings"

// script reads one host's transcripts line by line. An implementation may remember what later lines said about earlier ones.
type script interface {
	// entries calls emit for what a line says, in the line's order, and reports whether it is a line of this host.
	// At is where in the file the line begins.
	entries(line []byte, at int64, emit func(entry)) bool
}

// entryKind says what happened.
type entryKind uint8

const (
	human    entryKind = iota + 1 // the human spoke
	command                       // the human gave the host a command, which may concern the agent or not
	local                         // output of such a command: it did not
	feedback                      // a hook sent the agent on
	notice                        // the host spoke to the agent
	message                       // the agent printed something
	call                          // the agent called a tool
	result                        // the tool's result
	abort                         // the human interrupted the agent
	mode                          // the agent works in another permission mode from here on, or in the one that text says
)

// entry is one thing that happened in a conversation, in one form for all hosts.
type entry struct {
	kind  entryKind
	id    string // of a message
	group string // of a message and a call: one answer of the model has one group
	turn  string // of the human's: the host's ID of the prompt
	text  string
	aside bool // of the human's: it is not what the agent was asked for
	broke bool // of a message: the host wrote it in the agent's name, because the turn broke
	tool  tool
	done  outcome
}

// tool is a call of a tool.
type tool struct {
	id     string   // links it with its outcome
	script string   // what a shell was told
	edits  []string // files it changes; "" stands for some file of the project
	poll   string   // it asks for what became of a command that went on in the background
	opaque bool     // what it does cannot be seen: it calls an agent, or runs a program of its own
	named  string   // it is no shell, but by its name it runs tests

	program bool // it runs a program of the model's, whose calls are events
	event   bool // it is such a call
}

// outcome is what became of a call.
type outcome struct {
	id      string // of the call
	exit    int    // exit status, when known
	known   bool   // the exit status is known
	failed  bool   // the host calls it a failure
	stopped string // it came to nothing: "interrupted", "denied"
	running string // it goes on in the background, and has this name

	raw  []byte // what it printed: a JSON string, or an array of blocks with a text
	said string // the same, decoded, where the host's reader had to look into it
}

// Why a call came to nothing.
const (
	interrupted = "interrupted"
	denied      = "denied"
)

// status gives an outcome its exit status.
func (o *outcome) status(n int) { o.exit, o.known, o.failed = n, true, n != 0 }

// output returns what a call printed.
func (o outcome) output() string {
	if o.said != "" || o.raw == nil {
		return o.said
	}
	return blocks(o.raw)
}

// blocks decodes a text: a JSON string, or an array of strings and of objects with a "text".
func blocks(raw []byte) string {
	if s, ok := text(raw); ok {
		return s
	}
	var parts []string
	for el := range elements(raw) {
		if s, ok := text(el); ok {
			parts = append(parts, s)
		} else if s, ok := text(member(el, "text")); ok {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n")
}
