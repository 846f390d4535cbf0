package llm

import (
	"container/list"
	"sync"
)

// cache keeps the verdicts that were asked for last. The zero value keeps none.
type cache struct {
	size int
	mu   sync.Mutex
	by   map[key]*list.Element // of entry
	used list.List             // the latest first
}

type entry struct {
	key     key
	verdict Verdict
	model   string
}

func (c *cache) get(k key) (entry, bool) {
	if c.size == 0 {
		return entry{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.by[k]
	if !ok {
		return entry{}, false
	}
	c.used.MoveToFront(at)
	return at.Value.(entry), true
}

func (c *cache) put(e entry) {
	if c.size == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.by[e.key]; ok {
		return
	}
	if c.by == nil {
		c.by = make(map[key]*list.Element)
	}
	c.by[e.key] = c.used.PushFront(e)
	if c.used.Len() > c.size {
		oldest := c.used.Back()
		delete(c.by, c.used.Remove(oldest).(entry).key)
	}
}
