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
	backlog int           // frames kept for those who come back
	sockets int           // in all; one name may have half of them
	rate    float64       // commands a second, of one name
	burst   float64
}

var defaultLimits = limits{
	message: 20 << 20, // an edit of the largest body, with every byte escaped once
	read:    15 * time.Second,
	write:   15 * time.Second,
	beat:    15 * time.Second,
	backlog: 1000,
	sockets: 256,
	rate:    20,
	burst:   60,
}

// pace is how often one name may ask.
type pace struct{ logins, requests, commands *bucket }

// bucket lets a number of things through at once and then so many a second.
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
func (c *Console) pace(name string) *pace {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.paces[name]
	if p == nil {
		now := c.cfg.Now()
		p = &pace{
			logins: newBucket(1, 40, now), requests: newBucket(c.limits.rate, 5*c.limits.burst, now),
			commands: newBucket(c.limits.rate, c.limits.burst, now),
		}
		c.paces[name] = p
	}
	return p
}
