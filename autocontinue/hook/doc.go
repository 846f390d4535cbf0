// Package hook answers the events of agents that call a program when they pause: it reads what the host sends, looks into
// the host's transcript, has the loop decide, and words the answer in the host's form.
//
// Start with [Run]. One call answers one event:
//
//	answer, err := hook.Run(ctx, hook.Claude, payload, hook.Config{
//		Sessions: sessions, // keeps what is remembered
//		Loop: func(ctx context.Context, p *hook.Pause) (autocontinue.Config, error) {
//			return autocontinue.Config{Classifier: heuristic}, nil
//		},
//	})
//	os.Stdout.Write(answer) // with an error, too: then the answer lets the agent stop
//
// Package transcript reads what the agent did. Package install puts the hook into a host's settings.
//
// # Old sessions
//
// [Replay] goes through the pauses of a transcript as a hook would have met them, with the same trace and the same memory.
// So a loop decides the same. [Moment.Effect] compares the decision with what the human wrote then.
//
// # Formats
//
// The events of Claude Code 2.1, Codex 0.169, Gemini CLI 0.61 and Copilot CLI 1.0.102 were recorded in the real programs.
// Those of Cursor 1.7 to 3.8, notify and SubagentStop of Codex, and the camelCase events of Copilot CLI are as documented:
//
//   - Claude Code: code.claude.com/docs/en/hooks for Stop, SubagentStop, StopFailure and UserPromptSubmit. The human sees a
//     systemMessage, and the agent does not.
//   - Codex: codex-rs/hooks/schema/generated in github.com/openai/codex for the same events. An answer may have no other
//     keys than those there. codex-rs/hooks/src/legacy_notify.rs is for notify.
//   - Gemini CLI: docs/hooks/reference.md in github.com/google-gemini/gemini-cli for AfterAgent and BeforeAgent. The human
//     sees a systemMessage.
//   - Cursor: cursor.com/docs/hooks for stop, afterAgentResponse and beforeSubmitPrompt. The pause has no message: it comes
//     before, with afterAgentResponse, and is kept until the pause.
//   - Copilot CLI: docs.github.com/en/copilot/reference/hooks-reference for Stop and UserPromptSubmit, or agentStop and
//     userPromptSubmitted. The pause has no message: it is the transcript's.
//
// Cursor and Copilot CLI run the hooks of Claude Code's settings, too. Run does nothing about such an event: these hosts
// have hooks of their own.
//
// Run skips a key that it does not know. A value of another type than the host documents is an error: nobody can tell what
// it means.
//
// # Limits
//
// The limits of package transcript hold for what the agent did. Run waits at most 300 ms for the message that the event
// carries, and at most a second for the last message of a host whose events carry none. [Pause.Lack] says that it came too
// late.
//
// Claude Code and Copilot CLI end a turn themselves when hooks have continued the agent 8 times in a row. Cursor and Copilot
// CLI have no place for the note about the end of a loop. "claude -p" and "codex exec" do not print it. The events and
// sessions of Gemini CLI do not tell plan mode.
//
// A host runs all hooks that its settings name, those of the user and those of the project. If two of them are this one,
// they give one decision: the transcript names the message, Gemini CLI tells the time of the event, and Cursor numbers its
// prompts. If the transcript does not have the message in time, they count as two pauses. Then the agent gets two messages,
// and the loop ends sooner.
//
// # Errors
//
// An event that cannot be read is an error that wraps [ErrEvent], and holds no text of the event. Every other error is an
// [Error], which names the session. A transcript that cannot be read is not an error.
package hook
