package autocontinue

import (
	"container/list"
	"context"
	"sync"
)

// queue lets one caller a session through at a time, first come, first served. It remembers only sessions that are busy.
type queue struct {
	mu   sync.Mutex
	busy map[string]*list.List // who waits, each a chan struct{} that is closed when it is their turn; nil: nobody
}

// tryEnter enters if nobody is inside.
func (q *queue) tryEnter(session string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.take(session)
}

// take is tryEnter with mu held.
func (q *queue) take(session string) bool {
	if _, ok := q.busy[session]; ok {
		return false
	}
	if q.busy == nil {
		q.busy = make(map[string]*list.List)
	}
	q.busy[session] = nil
	return true
}

// enter waits until the caller is the only one inside, or ctx is done. Without an error the caller must leave.
func (q *queue) enter(ctx context.Context, session string) error {
	q.mu.Lock()
	if q.take(session) {
		q.mu.Unlock()
		return nil
	}
	waiting := q.busy[session]
	if waiting == nil {
		waiting = list.New()
		q.busy[session] = waiting
	}
	turn := make(chan struct{})
	e := waiting.PushBack(turn)
	q.mu.Unlock()

	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	select {
	case <-turn: // at the same moment: pass it on
		q.mu.Unlock()
		q.leave(session)
	default:
		waiting.Remove(e)
		q.mu.Unlock()
	}
	return ctx.Err()
}

// leave lets the next one in.
func (q *queue) leave(session string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.busy[session]
	if waiting == nil || waiting.Len() == 0 {
		delete(q.busy, session)
		return
	}
	close(waiting.Remove(waiting.Front()).(chan struct{}))
}
