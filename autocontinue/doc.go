// Package autocontinue decides what happens after a coding agent paused: show its output to the human, send it on with an
// exact message, or drop the output because that pause was already dealt with.
//
// Start with [New] and [AutoContinue.Handle]: they load the session's [State], classify the output and store what follows.
// [Known] and [Decide] are the same judgement as pure functions, for hosts that keep the state themselves, such as a durable
// workflow engine, and [AutoContinue.Judge] is what comes between the two; the table of decisions is the doc comment of
// [Decide]. A host without turn IDs calls [AutoContinue.Reset] whenever the human speaks.
//
// # Cost
//
// Measured on the shipped cases, each figure with its baseline in the same run, by
//
//	go test ./autocontinue -run '^$' -bench 'Handle|MemoryStore' -count 5
//
//	                                                             most    mean   limit
//	allocations of Handle beside the classifier's (allocs/added)
//	  continued, a rejected completion, its message worded         22    17.9      30
//	  continued, progress                                          17    14.1
//	  delivered, a completion                                      12    10.1
//	  delivered, a question, a blocker, a failure                  10     8.1
//	  delivered, not certain enough                                18    14.0
//	  suppressed, a duplicate, which is not classified              4       4
//	bytes of a session in a MemoryStore (B/session), after       1 pause  3 pauses a turn
//	  1 turn                                                      593   1,089   2,048
//	  3 turns                                                     754   1,464
//	  12 turns                                                  1,170   1,743
//	two cores do, as a multiple of one (x/one-core)               2.0             1.7
//
// The pauses of the sessions are all rejected completions, whose messages are the longest; the cap ends a turn after three.
// A plan is read anew for every pause, which adds some 300 allocations for one of a page. A session at all its limits, or
// with messages of a host's own templates at their full length, takes more: 150 kB at the most.
//
// # Limits
//
// A session's outputs are handled one after another inside one process; between processes [Store.Update] decides, and the
// loser's classification is wasted. A state remembers a bounded past, see [State]. Nothing here bounds the time a
// classifier, a verifier or a store takes: the context does.
//
// Older and newer versions may share a store. A newer one reads what older ones wrote; an older one delivers the outputs of a
// session that a newer one has written, with [ErrStateVersion], and leaves the state as it is. So while processes are
// replaced one by one, a queue that hands such an output in again later finds a process that reads it; going back to the
// older version does not, until the state is removed from the store.
//
// # Errors
//
// With an error the decision is [Deliver], reason [ReasonError], and nothing was recorded, unless the store wrote and could
// not say so: show the output, or hand the same output in again, not both. [ErrNoSession] is an output without a session ID,
// [ErrStateVersion] a stored state of a newer version, [ErrConflict] and [ErrUnavailable] a store that others kept busy or that cannot be used; everything else
// wraps the error of the classifier, the store or the context.
package autocontinue
