// Package autocontinue decides what happens after a coding agent paused: show its output to the human, send it on with an
// exact message, or drop the output because that pause was already dealt with.
//
// Start with [New] and [AutoContinue.Handle]: they load the session's [State], classify the output and store what follows.
// [Known] and [Decide] are the same judgement as pure functions, for hosts that keep the state themselves, such as a durable
// workflow engine; the table of decisions is the doc comment of [Decide]. A host without turn IDs calls
// [AutoContinue.Reset] whenever the human speaks.
//
// # Limits
//
// A session's outputs are handled one after another inside one process; between processes [Store.Update] decides, and the
// loser's classification is wasted. A state remembers a bounded past, see [State]. Nothing here bounds the time a
// classifier or a verifier takes: the context does.
//
// # Errors
//
// With an error the decision is [Deliver], reason [ReasonError], and nothing was recorded: show the output, or hand the
// same output in again, not both. [ErrNoSession] is an output without a session ID, [ErrStateVersion] a stored state of
// a newer version; everything else wraps the error of the classifier, the store or the context.
package autocontinue
