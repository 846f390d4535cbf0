// Package autocontinue decides what happens after a coding agent paused: show its output to the human, continue the
// agent with an exact message, or drop the output because its pause was already handled.
//
// Start with [New] and [AutoContinue.Handle]. Handle loads the session's [State], classifies the output, and stores the
// decision. The doc comment of [Decide] has the table of decisions. [Known] and [Decide] are the same judgement as pure
// functions, for hosts that keep the state themselves, such as a durable workflow engine. [AutoContinue.Judge] is the
// step between the two. A host without turn IDs calls [AutoContinue.Reset] whenever the human speaks.
//
// A continued agent runs again. Give that run a new Output.Run: a run that was continued, or that delivered a
// completion, is closed. If it reports the same text again, the text is suppressed. If it reports another text, the
// human sees it unread, and Decision.Degraded says so.
//
// # Secrets
//
// Handle and Judge first mask secrets in what the agent and the human wrote, see [plaintext.Redact]. So neither the
// classifier nor the state, the message, the note and the event has them. Config.Secrets adds the host's own.
//
// # Limits
//
// The outputs of one session are handled one after another inside one process. Between processes [Store].Update
// decides, and the loser's classification is wasted. A state remembers a bounded past, see [State]. 10,000 sessions
// take less than 64 MB in a [MemoryStore]. Only the context bounds the time of a classifier, a verifier and a store.
//
// Older and newer versions may share a store. A newer one reads what older ones wrote. An older one delivers the
// outputs of a session that a newer one has written, with [ErrStateVersion], and leaves the state as it is.
//
// # Errors
//
// With an error the decision is [Deliver], reason "error", and nothing was recorded, unless the store wrote and
// could not say so: show the output, or hand the same output in again, but not both. [ErrNoSession] is an output
// without a session ID. [ErrStateVersion] is a stored state of a newer version. [ErrConflict] and [ErrUnavailable] are
// a store that others kept busy, or that cannot be used. Others wrap that of the classifier, the store or the context.
package autocontinue
