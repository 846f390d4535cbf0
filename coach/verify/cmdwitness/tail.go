package cmdwitness

import (
	"strings"
	"sync"
)

// tail is a writer that keeps the last bytes written to it. It never fails, and is safe for concurrent use.
type tail struct {
	max   int
	mu    sync.Mutex
	kept  []byte // at most twice max
	total int64
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	t.total += int64(n)
	p = p[max(0, len(p)-t.max):]
	if len(t.kept)+len(p) > 2*t.max {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-max(0, t.max-len(p)):]...)
	}
	t.kept = append(t.kept, p...)
	return n, nil
}

// cut reports whether more was written than is kept.
func (t *tail) cut() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total > int64(t.max)
}

// String returns what is kept, as valid UTF-8. If something came before it, it begins at the start of a line where
// there is one.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := string(t.kept[max(0, len(t.kept)-t.max):])
	if t.total > int64(len(s)) {
		if _, rest, ok := strings.Cut(s, "\n"); ok && rest != "" {
			s = rest
		}
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
