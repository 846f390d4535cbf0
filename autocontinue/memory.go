package autocontinue

import (
	"context"
	"strings"
	"sync"
)

// DefaultSessions is how many sessions a [MemoryStore] keeps unless told otherwise.
const DefaultSessions = 100_000

// MemoryStore is a [Store] in memory, for one process. It is safe for concurrent use, and the zero value is ready to use.
// When it is full, the session that was neither loaded nor updated for longest is forgotten: to the loop it is a new one.
// No lock is held while the function given to Update runs.
type MemoryStore struct {
	max int

	mu       sync.Mutex
	sessions map[string]*memory
	newest   *memory // ends of the list in order of use
	oldest   *memory
	version  uint64 // of the latest write
}

type memory struct {
	session      string
	state        State
	version      uint64 // of the write that made state
	newer, older *memory
}

// NewMemoryStore returns a store for at most that many sessions. A number below 1 is [DefaultSessions].
func NewMemoryStore(sessions int) *MemoryStore { return &MemoryStore{max: sessions} }

// Load returns the session's state. Its only error is that of ctx.
func (m *MemoryStore) Load(ctx context.Context, session string) (State, error) {
	if err := ctx.Err(); err != nil {
		return State{}, err
	}
	s, _ := m.read(session)
	return s, nil
}

// Update calls fn until no other update of the session came between. Its errors are those of fn and ctx.
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
		if m.write(session, version, next) {
			return nil
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
	e := m.sessions[session]
	if e == nil {
		return State{}, 0
	}
	m.use(e)
	return e.state, e.version
}

// write replaces the session's state if it is still the one of this version.
func (m *MemoryStore) write(session string, version uint64, s State) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.sessions[session]
	if e == nil && version != 0 || e != nil && e.version != version {
		return false
	}
	if e == nil {
		e = m.add(session)
	}
	m.use(e)
	m.version++
	e.state, e.version = s, m.version
	return true
}

func (m *MemoryStore) add(session string) *memory {
	most := m.max
	if most < 1 {
		most = DefaultSessions
	}
	if len(m.sessions) >= most {
		delete(m.sessions, m.oldest.session)
		m.unlink(m.oldest)
	}
	if m.sessions == nil {
		m.sessions = make(map[string]*memory)
	}
	e := &memory{session: strings.Clone(session)} // it may be part of a large message
	m.sessions[e.session] = e
	return e
}

// use makes e the newest entry.
func (m *MemoryStore) use(e *memory) {
	if m.newest == e {
		return
	}
	m.unlink(e)
	e.older = m.newest
	if m.newest != nil {
		m.newest.newer = e
	}
	m.newest = e
	if m.oldest == nil {
		m.oldest = e
	}
}

// unlink takes e out of the list, if it is in it.
func (m *MemoryStore) unlink(e *memory) {
	if e.newer != nil {
		e.newer.older = e.older
	} else if m.newest == e {
		m.newest = e.older
	}
	if e.older != nil {
		e.older.newer = e.newer
	} else if m.oldest == e {
		m.oldest = e.newer
	}
	e.newer, e.older = nil, nil
}
