package gate

import "errors"

// The errors that a host can tell apart with [errors.Is]. Each comes wrapped in a sentence that says what was wrong. No
// error has text of the agent, except for errors of Options.Schema and Options.Journal. Unless it says otherwise, nothing
// was changed.
var (
	// ErrInput: a subject, a decision, a body or a policy is not acceptable. It wraps an error of Options.Schema.
	ErrInput = errors.New("bad input")
	// ErrReused: a call ID or run ID came again with other contents.
	ErrReused = errors.New("the ID was used before for something else")
	// ErrIllegal: the run's phase, or the item's kind, does not allow this step.
	ErrIllegal = errors.New("illegal transition")
	// ErrFull: Options.MaxPending items are open, or the run has Options.RunItems items.
	ErrFull = errors.New("too many open items")
	// ErrUnknown: the session has no such item or run, or no longer.
	ErrUnknown = errors.New("unknown")

	// ErrStale: the digest of the decision is not the item's. The person saw something else: show the item again.
	ErrStale = errors.New("stale digest")
	// ErrDecided: another answer was first. The item comes with the error and says which.
	ErrDecided = errors.New("already decided")
	// ErrExpired: the item expired, now or before; that is in the journal.
	ErrExpired = errors.New("expired")

	// ErrPending: nobody has approved the item yet. An [Approver] that does not want to answer returns it, too.
	ErrPending = errors.New("not approved yet")
	// ErrDenied: a person or the policy denied it, its run ended, or a person gave the result in its place. The item says
	// which. If the policy denies an edit, the item is still pending.
	ErrDenied = errors.New("denied")
	// ErrSpent: the item was redeemed before. The first caller has the grant.
	ErrSpent = errors.New("already redeemed")

	// ErrJournal: Options.Journal failed. It wraps the journal's error.
	ErrJournal = errors.New("the journal failed")
	// ErrCorrupt: a journal cannot be replayed. The error names the line.
	ErrCorrupt = errors.New("damaged journal")
)
