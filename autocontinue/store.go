package autocontinue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// What a [Store] says, beside its own words, when it could not do an update. [AutoContinue.Handle] then delivers to the
// human; a host with a queue hands the same output in again later instead.
var (
	// ErrConflict: others changed the session for as long as the store tries. Nothing was written.
	ErrConflict = errors.New("autocontinue: others are changing the session")

	// ErrUnavailable: the storage did not answer, or is full. If the answer of an update was lost, the update may have
	// been written: the same output, handed in again with its ID, then gets the decision that was stored.
	ErrUnavailable = errors.New("autocontinue: the store is unavailable")
)

// Store keeps one [State] for each session. Package storetest checks an implementation.
//
// A session's name is any non-empty string, of any bytes and length. Names that differ in a byte are two sessions.
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
	sessions map[string]memory
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
	e, known := m.sessions[session]
	if known {
		m.sessions[session] = memory{e.state, time.Now()}
	}
	return e.state, ctx.Err()
}

// Update replaces the state by what fn returns. Its errors are those of fn and ctx, and [ErrUnavailable] if it is full.
func (m *MemoryStore) Update(ctx context.Context, session string, fn func(State) (State, error)) error {
	if ctx == nil || fn == nil {
		return errNil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	e, known := m.sessions[session]
	next, err := fn(e.state)
	if err == nil && !known {
		err = m.makeRoom()
	}
	if err == nil {
		m.sessions[strings.Clone(session)] = memory{next, time.Now()} // the string may be part of a large message
	}
	return err
}

// makeRoom forgets a session if the store is full.
func (m *MemoryStore) makeRoom() error {
	if m.sessions == nil {
		m.sessions = make(map[string]memory)
	}
	most := cmp.Or(max(m.max, 0), defaultSessions)
	if len(m.sessions) >= most {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(m.sessions)), func(a, b string) int {
			return m.sessions[a].used.Compare(m.sessions[b].used)
		})
		if time.Since(m.sessions[oldest].used) < minSessionAge {
			return fmt.Errorf("%w: it is full, with %d sessions of the last day; give NewMemoryStore a larger number",
				ErrUnavailable, most)
		}
		delete(m.sessions, oldest)
	}
	return nil
}
