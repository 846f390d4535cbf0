package autocontinue

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// What a [MemoryStore] keeps.
const (
	defaultSessions = 100_000
	minSessionAge   = 24 * time.Hour // since its last use, before a session may be forgotten
)

// MemoryStore is a [Store] in memory, for one process. It is safe for concurrent use, and the zero value is ready to
// use. The function given to Update must not use the store.
//
// A full store forgets the session that was unused for longest, if that is a day or more. Otherwise it refuses a new
// session with an error that wraps [ErrUnavailable]: to forget a live session would start its count again.
type MemoryStore struct {
	max      int
	mu       sync.Mutex
	sessions map[string]*memory
}

type memory struct {
	state State
	used  time.Time
}

// NewMemoryStore returns a store for at most that many sessions. A number below 1 is 100,000.
func NewMemoryStore(sessions int) *MemoryStore { return &MemoryStore{max: sessions} }

// Load returns the session's state. Its only error is that of ctx.
func (m *MemoryStore) Load(ctx context.Context, session string) (State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.use(session), ctx.Err()
}

// Update replaces the session's state by what fn returns. Its errors are those of fn and ctx, and [ErrUnavailable] when
// the store is full.
func (m *MemoryStore) Update(ctx context.Context, session string, fn func(State) (State, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	next, err := fn(m.use(session))
	if err != nil {
		return err
	}
	if m.sessions[session] == nil {
		if err := m.makeRoom(); err != nil {
			return err
		}
		m.sessions[strings.Clone(session)] = &memory{used: time.Now()} // the string may be part of a large message
	}
	m.sessions[session].state = next
	return nil
}

// use returns the session's state, which is used now.
func (m *MemoryStore) use(session string) State {
	e := m.sessions[session]
	if e == nil {
		return State{}
	}
	e.used = time.Now()
	return e.state
}

// makeRoom makes room for one more session.
func (m *MemoryStore) makeRoom() error {
	if m.sessions == nil {
		m.sessions = make(map[string]*memory)
	}
	most := m.max
	if most < 1 {
		most = defaultSessions
	}
	if len(m.sessions) < most {
		return nil
	}
	oldest := ""
	for session, e := range m.sessions {
		if oldest == "" || e.used.Before(m.sessions[oldest].used) {
			oldest = session
		}
	}
	if time.Since(m.sessions[oldest].used) < minSessionAge {
		return fmt.Errorf("%w: it is full, with %d sessions of the last day; give NewMemoryStore a larger number",
			ErrUnavailable, most)
	}
	delete(m.sessions, oldest)
	return nil
}
