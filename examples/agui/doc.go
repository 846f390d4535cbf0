// Package agui shows a gated session to a client that speaks AG-UI, the Agent-User Interaction protocol
// (https://docs.ag-ui.com): the session's events become the protocol's, what waits for a human becomes the interrupts that a
// run ends with, and the answers that the next run brings become decisions. Copy it into a host, or use it as it is.
//
// One run of the agent in the session spans as many runs of the protocol as it takes: each begins with [Begin] and ends
// with success, an error, or the interrupts of what waits. A host serves one of them so:
//
//	decisions, err := agui.Resume(session.Items(run), input.Resume, user) // of the session's run that is asked for
//	… session.Resolve each; on any error send agui.Failed(err) and end
//	send(agui.Begin(input.ThreadID, input.RunID))
//	… for each later gate.Event of the session's run: send(agui.Map(session, input.RunID, event)...)
//	… when nothing moves and something waits: send(agui.Interrupt(session, input.ThreadID, input.RunID, run)...)
//
// A draft is not sent before it was approved and redeemed. An answer must echo the digest that its interrupt carried, so
// that it can't approve something else; the policy and the first decision still win over it.
package agui
