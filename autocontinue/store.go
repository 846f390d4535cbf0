package autocontinue

import "context"

// Store keeps one [State] a session.
type Store interface {
	Load(ctx context.Context, session string) (State, error)
	Update(ctx context.Context, session string, fn func(State) (State, error)) error
}
