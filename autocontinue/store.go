package autocontinue

import (
	"context"
	"errors"
)

// What a [Store] says beside its own words when it could not do an update, for errors.Is. In either case [AutoContinue.Handle]
// delivers to the human; a host with a queue hands the same output in again later instead.
var (
	// ErrConflict: others were changing the session for as long as the store tries. Nothing was written.
	ErrConflict = errors.New("autocontinue: others are changing the session")

	// ErrUnavailable: the storage did not answer, or does not take more. An update may have been written all the same when its
	// answer was lost: then the same output, handed in again with its ID, gets the decision that was stored.
	ErrUnavailable = errors.New("autocontinue: the store is unavailable")
)

// Store keeps one [State] for each session. Package storetest checks an implementation.
//
// A session's name is any non-empty string: any bytes, any length; names that differ in a byte are different sessions.
//
// An implementation must be safe for concurrent use. A State may be kept and handed out as it is; other processes store
// it as JSON. A state that cannot be read is an error, never an empty one.
type Store interface {
	// Load returns the session's state: the zero State for a session it knows nothing of. What an Update that has returned
	// nil wrote is seen. When ctx is done, it returns an error that wraps ctx.Err().
	Load(ctx context.Context, session string) (State, error)

	// Update replaces the session's state by what fn returns for it, atomically: of two updates of a session one sees what
	// the other wrote, whatever process they come from. Fn gets the zero State for an unknown session. It is pure and may
	// be called more than once; only the result of its last call counts. When fn returns an error, nothing is written and
	// Update returns an error that wraps it. When ctx is done, Update returns an error that wraps ctx.Err(); fn need not
	// have been called, and nothing may be written after Update has returned, but what is on its way to another machine and
	// cannot be called back: that may still be written if the state is the one that fn was given. When it returns nil, the
	// state is written.
	//
	// A store that loses races gives up after a bounded number of them, with an error that wraps [ErrConflict]. Storage
	// that cannot be used is an error that wraps [ErrUnavailable], from Load as well.
	Update(ctx context.Context, session string, fn func(State) (State, error)) error
}
