package gate

import "errors"

// What a host tells apart, with [errors.Is]. Each comes wrapped in a sentence that says what to do.
var (
	ErrUnknown = errors.New("no such item or run")                         // Resolve, Redeem, Done, Finish, StopRun
	ErrStale   = errors.New("the digest is not that of the item")          // Resolve: what was seen is not what is there
	ErrDecided = errors.New("already decided otherwise")                   // Resolve, Done: another answer was first
	ErrExpired = errors.New("the item has expired")                        // Resolve, Redeem
	ErrPolicy  = errors.New("the policy denies it")                        // Resolve (approve, edit), Redeem
	ErrPending = errors.New("the item is not approved")                    // Redeem: nobody has answered
	ErrDenied  = errors.New("the item was denied")                         // Redeem
	ErrSpent   = errors.New("the item was redeemed before")                // Redeem
	ErrReused  = errors.New("the ID was used for another subject")         // Propose: a call ID or run ID with other contents
	ErrIllegal = errors.New("not possible in this phase or for this kind") // any
	ErrBody    = errors.New("bad body")                                    // Propose, Resolve, Done: see [BodyError]
	ErrSchema  = errors.New("the schema refuses it")                       // Propose, Resolve (edit)
	ErrInput   = errors.New("bad input")                                   // any: a field is missing, too long or not text
	ErrFull    = errors.New("too many open items")                         // Propose
	ErrJournal = errors.New("the journal failed")                          // any change: nothing was changed
	ErrCorrupt = errors.New("the journal is damaged")                      // Replay: see [JournalError]
)

var errTodo = errors.New("not implemented yet")
