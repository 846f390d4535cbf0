package autocontinue

import (
	"context"
	"errors"
)

// What a [Store] says, beside its own words, when it could not do an update; use errors.Is. In both cases
// [AutoContinue.Handle] delivers to the human. A host with a queue hands the same output in again later instead.
var (
	// ErrConflict: others changed the session for as long as the store tries. Nothing was written.
	ErrConflict = errors.New("autocontinue: others are changing the session")

	// ErrUnavailable: the storage did not answer, or is full. If the answer of an update was lost, the update may have
	// been written: the same output, handed in again with its ID, then gets the decision that was stored.
	ErrUnavailable = errors.New("autocontinue: the store is unavailable")
)

// Store keeps one [State] for each session. Package storetest checks an implementation.
//
// A session's name is any non-empty string, of any bytes and length. Names that differ in a byte are different
// sessions.
//
// An implementation must be safe for concurrent use. It may keep a State and hand it out as it is; other processes
// store it as JSON. A state that cannot be read is an error, never an empty one. A store must not forget a session that
// is in use: that would start the count of its turn again.
type Store interface {
	// Load returns the session's state, the zero State for an unknown session. It sees what an Update wrote that has
	// returned nil. When ctx is done, it returns an error that wraps ctx.Err().
	Load(ctx context.Context, session string) (State, error)

	// Update replaces the session's state by what fn returns for it, atomically: of two updates of a session, one sees
	// what the other wrote, from whatever process they come. Fn gets the zero State for an unknown session. It is pure
	// and may be called more than once; only the result of its last call counts. If fn returns an error, nothing is
	// written and Update returns an error that wraps it. When it returns nil, the state is written.
	//
	// When ctx is done, Update returns an error that wraps ctx.Err(); fn need not have been called. After Update has
	// returned, nothing may be written, with one exception: a request on its way to another machine may still be
	// written, if the state is the one that fn was given.
	//
	// A store that loses races gives up after a bounded number of them, with an error that wraps [ErrConflict]. Storage
	// that cannot be used is an error that wraps [ErrUnavailable], from Load as well.
	Update(ctx context.Context, session string, fn func(State) (State, error)) error
}
