package cmdwitness

import (
	"strings"
	"sync"
)

// Tail is a writer that keeps the last bytes written to it, and counts the rest. It never fails, and is safe for concurrent
// use. Its memory is that of what it keeps, whatever is written. The zero value keeps nothing.
type Tail struct {
	max int

	mu    sync.Mutex
	ring  []byte // grows to max, then wraps
	next  int    // where the next byte goes once ring is full
	total int64
}

// NewTail returns a Tail that keeps max bytes; below 0 is 0.
func NewTail(max int) *Tail { return &Tail{max: max} }

// Write takes p.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	t.total += int64(n)
	if t.max <= 0 {
		return n, nil
	}
	if len(p) > t.max {
		p = p[len(p)-t.max:]
	}
	if room := t.max - len(t.ring); room > 0 {
		room = min(room, len(p))
		t.ring = append(t.ring, p[:room]...)
		p = p[room:]
	}
	for len(p) > 0 {
		c := copy(t.ring[t.next:], p)
		t.next = (t.next + c) % t.max
		p = p[c:]
	}
	return n, nil
}

// Total returns how many bytes were written.
func (t *Tail) Total() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// String returns what is kept, as valid UTF-8. If something came before it, it begins at the start of a line where there is one.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	b.Write(t.ring[t.next:])
	b.Write(t.ring[:t.next])
	s := b.String()
	if t.total > int64(len(s)) {
		if _, rest, ok := strings.Cut(s, "\n"); ok && rest != "" {
			s = rest
		}
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
