package autocontinue

import (
	"container/list"
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

// MemoryStore is a [Store] in memory, for one process. It is safe for concurrent use, and the zero value is ready to use.
// No lock is held while the function given to Update runs.
//
// A full store forgets the session that was unused for longest, if that is a day or more. Otherwise it refuses a new
// session with an error that wraps [ErrUnavailable]: to forget a live session would start its count again.
type MemoryStore struct {
	max int

	mu       sync.Mutex
	sessions map[string]*list.Element
	used     list.List // of *memory, the one used last in front
	version  uint64    // of the latest write
}

type memory struct {
	session string
	state   State
	version uint64 // of the write that made state
	used    time.Time
}

// NewMemoryStore returns a store for at most that many sessions. A number below 1 is 100,000.
func NewMemoryStore(sessions int) *MemoryStore { return &MemoryStore{max: sessions} }

// Load returns the session's state. Its only error is that of ctx.
func (m *MemoryStore) Load(ctx context.Context, session string) (State, error) {
	if err := ctx.Err(); err != nil {
		return State{}, err
	}
	s, _ := m.read(session)
	return s, nil
}

// Update calls fn until no other update of the session came between. Its errors are those of fn and ctx, and
// [ErrUnavailable] when the store is full.
func (m *MemoryStore) Update(ctx context.Context, session string, fn func(State) (State, error)) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, version := m.read(session)
		next, err := fn(s)
		if err != nil {
			return err
		}
		if written, err := m.write(session, version, next); written || err != nil {
			return err
		}
	}
}

// Len returns how many sessions are kept.
func (m *MemoryStore) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.sessions)
}

// read returns the session's state and its version, 0 for an unknown session.
func (m *MemoryStore) read(session string) (State, uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.use(session)
	if e == nil {
		return State{}, 0
	}
	return e.state, e.version
}

// write replaces the session's state if it still has this version.
func (m *MemoryStore) write(session string, version uint64, s State) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.use(session)
	if e == nil && version != 0 || e != nil && e.version != version {
		return false, nil
	}
	if e == nil {
		var err error
		if e, err = m.add(session); err != nil {
			return false, err
		}
	}
	m.version++
	e.state, e.version = s, m.version
	return true, nil
}

// use returns the session's entry, which was used now; nil for an unknown session.
func (m *MemoryStore) use(session string) *memory {
	e := m.sessions[session]
	if e == nil {
		return nil
	}
	m.used.MoveToFront(e)
	found := e.Value.(*memory)
	found.used = time.Now()
	return found
}

func (m *MemoryStore) add(session string) (*memory, error) {
	most := m.max
	if most < 1 {
		most = defaultSessions
	}
	if len(m.sessions) >= most {
		oldest := m.used.Back()
		old := oldest.Value.(*memory)
		if time.Since(old.used) < minSessionAge {
			return nil, fmt.Errorf("%w: it is full, with %d sessions of the last day; give NewMemoryStore a larger number",
				ErrUnavailable, most)
		}
		m.used.Remove(oldest)
		delete(m.sessions, old.session)
	}
	if m.sessions == nil {
		m.sessions = make(map[string]*list.Element)
	}
	e := &memory{session: strings.Clone(session), used: time.Now()} // the string may be part of a large message
	m.sessions[e.session] = m.used.PushFront(e)
	return e, nil
}
