// Package gate decides, with a human and by rules, what an agent may do: it holds the context of a run before it is sent,
// each tool call before it is executed, and the response before it is shown or stored.
//
// Start with [ParsePolicy] and [New]. A host hands in what it is about to do with [Session.Propose] and does it only with
// the [Grant] of [Session.Redeem]; a human answers with [Session.Resolve], and [Session.Watch] tells the host; a tool's
// result comes back with [Session.Done]. After a restart [Replay] has the same session from its journal. The package knows
// nothing of agents, files, networks or pages, starts no goroutine and reads no clock: every operation is told the time.
//
//	Propose ──► pending ──► approved ──► redeemed ──► done (a tool)
//	   │            │             │
//	   │ policy     ├─► denied    ├─► denied (by the policy, asked again)
//	   │            ├─► answered  ├─► expired
//	   └─► approved ├─► expired   ├─► withdrawn (its run ended)
//	       denied   └─► withdrawn └─► pending (it passed alone, and now a human is to be asked)
//
// # A run
//
//	phase              what may be proposed     how it goes on
//	(none)             a context                staged
//	staged             nothing                  redeemed: running; denied or expired: denied
//	running            tools, or a response     tool_proposed, response_proposed
//	tool_proposed      tools                    all redeemed: tool_executing; all refused: running
//	tool_executing     tools                    all done: running
//	response_proposed  nothing                  redeemed: finished; denied or expired: running
//	finished, denied   nothing                  the end
//
// [Session.Finish], [Session.StopRun], the action stop and Options.DenyLimit end a run in any phase. A denied call, or a
// denied draft, leaves the run running: Item.Reason is for the model to read. Everything else is [ErrIllegal].
//
// # What holds
//
//   - What was approved is what runs: a decision names the digest that the human saw, and Redeem hands out those bytes, once.
//   - A policy's deny beats the human. It is asked when something is proposed, approved, edited and redeemed.
//   - The first decision wins. Expiry is nobody's.
//   - Every change is a line of the journal before it is a state, and every state is what the lines add up to.
//
// # Limits
//
// A thread, run or call ID has at most 256 bytes, a tool's name 128 and of ASCII letters, digits and _ - . : / only, a label
// 1 KiB, a reason 4 KiB. A body is at most Options.MaxBody bytes long and 100 levels deep, has at most 10,000 keys in one
// object and about a million values. A session keeps the items of runs that go on and of the last that ended, within
// Options.KeepRuns and KeepBytes, of older ones the run ID alone, and the last events; it holds one journal, whose length is
// for the host to bound. How many bytes the runs that go on hold is for the host to bound too, by Options.MaxBody, RunItems
// and how many it starts.
//
// Names are compared as they are: the look-alikes of other scripts are other names, in bodies too. [Visible] shows what a
// human would not see, not what they would mistake.
//
// # Errors
//
// The Err variables say what a host tells apart; they come wrapped. No error holds text of the agent, but for what
// Options.Schema and Options.Journal return.
package gate
