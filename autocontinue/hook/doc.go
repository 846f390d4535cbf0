// Package hook speaks with agents that call a program when they pause: it reads the event a host sends, looks into the
// host's transcript, and words the answer in the host's form.
//
// Start with a [Host]. Its Read makes an [Event] of a payload. [Event.Await] reads what is new in the transcript and waits
// for the message of the event, which gives a [transcript.Trace]. [Event.Output] makes of both what
// [autocontinue.AutoContinue.Handle] is asked about. [Event.Answer] is what the host wants to read. [Memory] is what the
// caller keeps between two events of a session, as JSON beside its state:
//
//	e, err := hook.Claude.Read(payload)
//	if e.FromHuman(m) {
//		err = ac.Reset(ctx, e.SessionKey())
//	}
//	m = m.Heard(e) // and store it
//	if e.Kind.IsPause() {
//		tr, m, err := e.Await(ctx, m, nil)
//		out := e.Output(tr, m)
//		d, err := ac.Handle(ctx, out) // with an error, d lets the agent stop
//		m = m.After(e, out, d)        // and store it, too
//		os.Stdout.Write(e.Answer(d))
//	}
//
// # Old sessions
//
// [Replay] goes through the pauses of a transcript as a hook would have met them, with the same trace and the same memory, so
// a loop decides the same. [Moment.Effect] compares the decision with what the human wrote then.
//
// # Formats
//
// The events and answers are those of November 2026, read in the hosts' own documentation and sources. Package transcript
// says which transcripts are read.
//
//   - Claude Code 2.1: code.claude.com/docs/en/hooks for the events Stop, SubagentStop, StopFailure and UserPromptSubmit.
//     The human sees a systemMessage, and the agent does not.
//   - Codex 0.15x to 0.16x: codex-rs/hooks/schema/generated in github.com/openai/codex for the same events. An answer may
//     have no other keys than those there. codex-rs/hooks/src/legacy_notify.rs is for notify.
//   - Gemini CLI 0.2x to 0.6x: docs/hooks/reference.md in github.com/google-gemini/gemini-cli for AfterAgent and
//     BeforeAgent. The human sees a systemMessage, with some versions only in the debug console (F12).
//   - Cursor 1.7 to 3.8: cursor.com/docs/hooks for stop, afterAgentResponse and beforeSubmitPrompt. The pause has no
//     message: it comes before, with afterAgentResponse, and is kept in the memory. Each event gets an answer. Cursor may
//     stop a prompt that gets none, or one of another form.
//   - Copilot CLI 1.0.4x to 1.0.10x: docs.github.com/en/copilot/reference/hooks-reference for Stop and UserPromptSubmit,
//     or agentStop and userPromptSubmitted. The pause has no message: it is the transcript's.
//
// Cursor and Copilot CLI run the hooks of Claude Code's settings, too. An event that comes that way is [Other]: where they are to
// be answered, they have a hook of their own.
//
// A key that is not known is skipped, wherever it stands. A key that is known and has a value of another type than the
// host documents is an error: what it means cannot be told, and the agent is let stop.
//
// # Limits
//
// Those of package transcript hold for what the agent did. A hook waits at most 300 ms for the message that the event
// carries, and at most a second for the last message of a host whose events carry none.
//
// Claude Code and Copilot CLI end a turn themselves when hooks have sent the agent on 8 times in a row, however much more the
// loop would allow.
//
// A host runs all hooks that it is told of, those of the user's settings and those of the project's. Where two of them are
// this one, they give one decision if the transcript has the message by then, and with Gemini CLI, which tells the time of
// the event, and Cursor, which numbers its prompts, always. Else nothing tells one pause reported twice from two pauses with the same words, and the latter is how
// a loop is seen to stall: so they count as two. The agent then gets two messages, and the loop ends sooner, never later.
//
// # Errors
//
// [Host.Read] wraps [ErrPayload] for what is not an event of the host. An error never holds text of the payload. A transcript
// that cannot be read is not an error: the trace says why, and the rest of the package does without.
package hook
