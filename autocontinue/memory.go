package autocontinue

import "context"

// MemoryStore is a [Store] in memory.
type MemoryStore struct{}

// NewMemoryStore returns a store for at most sessions sessions; 0 is the default of 100,000.
func NewMemoryStore(sessions int) *MemoryStore { return &MemoryStore{} }

// Load implements [Store].
func (m *MemoryStore) Load(ctx context.Context, session string) (State, error) { return State{}, nil }

// Update implements [Store].
func (m *MemoryStore) Update(ctx context.Context, session string, fn func(State) (State, error)) error {
	_, err := fn(State{})
	return err
}
