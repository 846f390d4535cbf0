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
	if ctx == nil {
		return State{}, errNil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.sessions[session]
	if e == nil {
		return State{}, ctx.Err()
	}
	e.used = time.Now()
	return e.state, ctx.Err()
}

// Update replaces the session's state by what fn returns. Its errors are those of fn and ctx, and [ErrUnavailable] when
// the store is full.
func (m *MemoryStore) Update(ctx context.Context, session string, fn func(State) (State, error)) error {
	if ctx == nil || fn == nil {
		return errNil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	e := m.sessions[session]
	if e == nil {
		e = &memory{}
	}
	next, err := fn(e.state)
	if err == nil && e.used.IsZero() {
		err = m.add(session, e)
	}
	if err == nil {
		e.state, e.used = next, time.Now()
	}
	return err
}

// add adds a session. A full store first forgets one.
func (m *MemoryStore) add(session string, e *memory) error {
	if m.sessions == nil {
		m.sessions = make(map[string]*memory)
	}
	most := m.max
	if most < 1 {
		most = defaultSessions
	}
	if len(m.sessions) >= most {
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
	}
	m.sessions[strings.Clone(session)] = e // the string may be part of a large message
	return nil
}
