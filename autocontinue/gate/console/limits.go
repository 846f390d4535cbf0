package console

import (
	"sync"
	"time"
)

// limits bound what a client can ask of the server.
type limits struct {
	message int64         // bytes of one message of a page
	read    time.Duration // to read one request
	write   time.Duration // to write one frame
	beat    time.Duration // between signs of life
	sockets int           // in all; one name may have half of them
	rate    float64       // requests and commands a second, of one name
	burst   float64
}

var defaultLimits = limits{
	message: 20 << 20, // an edit of the largest body, with every byte escaped once
	read:    15 * time.Second,
	write:   15 * time.Second,
	beat:    15 * time.Second,
	sockets: 256,
	rate:    20,
	burst:   200,
}

// bucket lets a number of things through at once, and then so many a second.
type bucket struct {
	rate, size float64

	mu   sync.Mutex
	left float64
	at   time.Time
}

func newBucket(rate, size float64, now time.Time) *bucket {
	return &bucket{rate: rate, size: size, left: size, at: now}
}

func (b *bucket) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := now.Sub(b.at); d > 0 {
		b.left = min(b.size, b.left+d.Seconds()*b.rate)
		b.at = now
	}
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// pace bounds how often a name may ask, over all of its pages. There are no more names than were invited.
func (c *Console) pace(name string) *bucket {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paces[name] == nil {
		c.paces[name] = newBucket(c.limits.rate, c.limits.burst, c.cfg.Now())
	}
	return c.paces[name]
}
