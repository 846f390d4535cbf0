// Package gate decides, by rules and with people, what an agent may do. It holds the context of a run before it is
// sent, each tool call before it is executed, and the response before it is shown or stored.
//
// Start with [ParsePolicy], whose rules README.md describes, and [New]. Then call [Session.Do] for everything that the
// agent wants to do: it asks the rules, then the [Approver] that the host gives, and calls back with what was approved.
// A host that wants the steps one by one calls [Session.Propose] and [Session.Wait], does only what [Session.Redeem]
// returns, and reports a tool's result with [Session.Done]. People answer with [Session.Resolve], and [Session.Watch]
// shows them what happens. After a restart [Replay] makes the same session from its journal. The package gate/console
// is a web page for people.
//
// The package starts no goroutine and reads no clock: the host tells each operation the time, and gives Wait and Do a
// clock. A host that has only tools needs three calls:
//
//	policy, err := gate.ParsePolicy(rules)
//	session, err := gate.New(policy, gate.Options{
//		Audited: true, ToolsOnly: true, Now: time.Now, AfterFunc: time.AfterFunc,
//	})
//	item, err := session.Do(ctx, gate.Subject{
//		Kind: gate.Tool, Thread: chat, Run: run, Call: id, Tool: name, Body: arguments,
//	}, execute, approver) // item.Result or item.Reason is for the model
//
//	Propose ──► pending ──► approved ──► redeemed ──► done (a tool)
//	   │            │             │
//	   │ policy     ├─► denied    ├─► denied (by the policy, asked again)
//	   │            ├─► done      ├─► expired
//	   └─► approved ├─► expired   ├─► withdrawn (its run ended)
//	       denied   └─► withdrawn └─► pending (it passed alone, and now a person is asked)
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
// With Options.ToolsOnly a tool may be proposed for an unknown run too, which then is running. [Session.Finish],
// [Session.StopRun] and the action stop end a run in any phase. So does the third denial or expiry of the same call, or
// of the same response: the same tool, and arguments of the same value; above 64 KiB, of the same bytes. After a denied
// call or draft the run goes on: Item.Reason is for the model to read. Everything else is [ErrIllegal].
//
// # What holds
//
//   - What was approved is what runs: a decision names the digest that the person saw, and Redeem hands out those
//     bytes, once.
//   - If the policy denies, nobody can approve. It is asked when something is proposed, approved, edited and redeemed.
//   - The first decision wins. Expiry is nobody's decision.
//   - Every change is a line of the journal before it is a state, and the state is what the lines add up to.
//
// # Limits
//
// A thread, run or call ID has at most 256 bytes, a tool's name 128, a label 1 KiB, a reason 4 KiB. A body has at most
// Options.MaxBody bytes, 100 levels and about a million values. At most 10,000 items may be open at a time, and a run
// may have 10,000 items. A session keeps the items of open runs, and of the last 1,000 ended runs within 256 MiB. It
// keeps the last 10,000 events within 32 MiB. The host limits the number of open runs and the length of the journal.
//
// Names that look alike in different scripts are different names. A path can change between Redeem and its use: a tool
// that opens it through an os.Root is safe from that.
package gate
