// Package agui shows a gated session to a client that speaks AG-UI, the Agent-User Interaction protocol
// (https://docs.ag-ui.com). Events of the session become events of the protocol. What waits for a person becomes the
// interrupts that end a run. The answers in the next run become decisions. Copy it into a host, or use it as it is.
//
// One run of the agent may take several runs of the protocol. Each begins with [Begin] and ends with success, an
// error, or the interrupts of what waits. A host serves one of them like this:
//
//	decisions, err := agui.Resume(session.Items(run), input.Resume, user) // of the session's run
//	… session.Resolve each; on any error send agui.Failed(err) and end
//	send(agui.Begin(input.ThreadID, input.RunID))
//	… for each later gate.Event of the session's run: send(agui.Map(session, input.RunID, event)...)
//	… when nothing moves and something waits: send(agui.Interrupt(session, input.ThreadID, input.RunID, run)...)
//
// A draft is sent only after it was approved and redeemed. An answer must repeat the digest of its interrupt, so that
// it cannot approve something else. The policy and the first decision still win over it.
package agui
