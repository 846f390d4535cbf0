// Package session is one conversation with one agent as a durable workflow of Temporal.
//
// Start with [Register], which gives a worker what it runs, and [Workflow]. What the loop decides is decided in
// workflow code: [autocontinue.Known] and [autocontinue.Decide] read no clock and draw no lots, so that a worker that
// takes the session over comes to the same decisions from its history. Everything that can fail is an activity:
//
//	RunAgent   runs the agent, beats its heart, and kills it when the human speaks or the session is cancelled
//	Judge      the heuristic, as a local activity
//	AskModel   the model; its retries are the engine's, and when they are used up the heuristic judges
//	Act        does what was decided, once for each Decision.ID
//	RunTool    does what an approval let pass, at most once
//
// The human speaks by the signal [SignalWord], answers approvals by [SignalAnswer] and ends the session by [SignalEnd];
// whoever else hears of a pause reports it by [SignalOutput]. The query [QueryState] is a [View].
//
// # What holds
//
//   - An output that is reported twice gets the decision that it has, and nothing is done again: a session remembers the IDs
//     of the last 1,000 outputs. One that is reported late is superseded if its turn is one of the last 64 and over.
//   - What the human says ends the turn: the agent is killed, and what it had printed by then is shown as superseded.
//   - An approval that nobody gives in Config.ApprovalTTL is denied.
//   - A run of the workflow ends before its history grows too long, and the next one begins with all that it knew, the
//     signals that were not handled included.
//
// # Limits
//
// While an agent or a tool runs, the workflow cannot continue as new: from Config.Events on it lets reports wait, which
// adds few events each, until the agent has paused. [Temporal's limits] hold: 51,200 events or 50 MB a run, 2 MB a
// payload. Of an output, and of a word, 256 KiB of JSON are kept; an ID of more than 512 bytes is replaced by its
// beginning and a hash. A signal that is not JSON of its type is dropped by the SDK, which logs and counts it.
//
// A library that judges otherwise is a changed workflow; see the README on how to change it.
//
// [Temporal's limits]: https://docs.temporal.io/workflow-execution/limits
package session
