// Package hook answers the events of coding agents that call a program when they pause.
//
// Start with [Run]. One call answers one event: it reads the event, reads the host's transcript, asks the loop, and
// words the answer in the host's form.
//
//	answer, err := hook.Run(ctx, hook.Claude, payload, hook.Config{
//		Sessions: sessions, // keeps the state of each session
//		Loop: func(ctx context.Context, p *hook.Pause) (autocontinue.Config, error) {
//			return autocontinue.Config{Classifier: heuristic}, nil
//		},
//	})
//	os.Stdout.Write(answer) // with an error, too: then the answer lets the agent stop
//
// Package transcript reads what the agent did. Package install puts the hook into a host's settings.
//
// # Replay
//
// [Replay] decides about each pause of an old transcript as the hook would have done. [Moment.Effect] compares the
// decision with the human's next words.
//
// # Formats
//
// The events of Claude Code 2.1, Codex 0.169, Gemini CLI 0.61 and Copilot CLI 1.0.102 were recorded in the real
// programs; see testdata/recorded. All events of Cursor 1.7 to 3.8 and SubagentStop of Codex are as documented:
// code.claude.com/docs/en/hooks, codex-rs/hooks/schema/generated in github.com/openai/codex, docs/hooks/reference.md in
// github.com/google-gemini/gemini-cli, cursor.com/docs/hooks, docs.github.com/en/copilot/reference/hooks-reference.
//
// Run skips unknown keys. A value of another type than documented is an error. Cursor and Copilot CLI also run the
// hooks in Claude Code's settings; Run ignores such an event, since these hosts have hooks of their own.
//
// # Limits
//
// The limits of package transcript hold. Run waits at most 300 ms until the transcript has the message of the event,
// and at most a second for the message of a host whose events have none: Cursor tells it in another event, Copilot CLI
// in the transcript. [Pause.Lack] says that it came too late.
//
// Claude Code and Copilot CLI end a turn after 8 continuations in a row. Cursor, Copilot CLI, "claude -p" and "codex
// exec" do not show the human why a loop ended. Neither the events nor the sessions of Gemini CLI show plan mode.
//
// If this hook is in the user's and in the project's settings, the host runs both, and both give one decision. If the
// transcript lacks the message, the hook counts two pauses. Then the agent gets two messages, and the loop ends sooner.
//
// # Errors
//
// The error about an unreadable event wraps [ErrEvent], and contains no text of the event. An unreadable transcript is
// not an error.
package hook
