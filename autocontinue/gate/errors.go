package gate

import "errors"

// What a host tells apart, with [errors.Is]. Each comes wrapped in a sentence that says what was wrong; none holds text of the
// agent. Unless it says otherwise, nothing was changed.
var (
	// ErrInput: a field of a subject, a decision or a call is missing, too long, or not text.
	ErrInput = errors.New("bad input")
	// ErrBody: a body, a stand-in or a result is not the one JSON value it must be. Mostly a [*BodyError].
	ErrBody = errors.New("bad body")
	// ErrSchema: Options.Schema refused a proposal, or an edit. It wraps the schema's error.
	ErrSchema = errors.New("the schema refuses it")
	// ErrReused: a call ID or run ID came again with other contents. Nothing of the new proposal was kept.
	ErrReused = errors.New("the ID was used before for something else")
	// ErrIllegal: the run's phase, or the item's kind, has no such step.
	ErrIllegal = errors.New("illegal transition")
	// ErrFull: Options.MaxPending items are open, or the run has Options.RunItems of them.
	ErrFull = errors.New("too many open items")
	// ErrUnknown: the session has no such item or run, or no longer.
	ErrUnknown = errors.New("unknown")

	// ErrStale: the decision's digest is not the item's. The human saw something else: show the item again.
	ErrStale = errors.New("stale digest")
	// ErrDecided: another answer was first. The item comes with the error and says which.
	ErrDecided = errors.New("already decided")
	// ErrPolicy: the policy denies it, whatever a human says. The item is denied, journaled, and comes with the error;
	// after a refused edit it is still pending.
	ErrPolicy = errors.New("denied by the policy")
	// ErrExpired: the item expired, now or before; that is journaled.
	ErrExpired = errors.New("expired")

	// ErrPending: Redeem of an item that nobody has approved.
	ErrPending = errors.New("not approved yet")
	// ErrDenied: Redeem of an item that was denied, or whose run ended.
	ErrDenied = errors.New("denied")
	// ErrAnswered: Redeem of a tool call whose result a human gave; it is in Item.Result.
	ErrAnswered = errors.New("answered in place of the tool")
	// ErrSpent: Redeem of an item that was redeemed before. The first caller has the grant.
	ErrSpent = errors.New("already redeemed")

	// ErrJournal: Options.Journal failed. It wraps the journal's error.
	ErrJournal = errors.New("the journal failed")
	// ErrCorrupt: a journal cannot be replayed. Always a [*JournalError], unless reading itself failed.
	ErrCorrupt = errors.New("damaged journal")
)
