package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// proxy is a bad network between the workers and the server: what it carries is late, and every connection is cut after
// a while, in the middle of whatever is said.
type proxy struct {
	url    string
	target string
	delay  time.Duration // the longest of a piece
	life   time.Duration // the longest of a connection
	cuts   atomic.Int64
	l      net.Listener
	open   sync.WaitGroup
}

func newProxy(ctx context.Context, target string) (*proxy, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	p := &proxy{
		url:    "nats://" + l.Addr().String(),
		target: u.Host,
		delay:  5 * time.Millisecond,
		life:   4 * time.Second,
		l:      l,
	}
	p.open.Go(func() {
		for {
			near, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				continue
			}
			p.open.Go(func() { p.carry(ctx, near) })
		}
	})
	return p, nil
}

func (p *proxy) carry(ctx context.Context, near net.Conn) {
	defer near.Close()
	far, err := net.DialTimeout("tcp", p.target, time.Second)
	if err != nil {
		return
	}
	defer far.Close()
	ctx, cancel := context.WithTimeout(ctx, p.life/4+rand.N(p.life))
	defer cancel()
	context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			p.cuts.Add(1)
		}
		near.Close()
		far.Close()
	})
	var both sync.WaitGroup
	both.Go(func() { p.copy(far, near); cancel() })
	both.Go(func() { p.copy(near, far); cancel() })
	both.Wait()
}

func (p *proxy) copy(to io.Writer, from io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			time.Sleep(rand.N(p.delay))
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// close ends every connection, once the context of newProxy is done.
func (p *proxy) close() {
	p.l.Close()
	p.open.Wait()
}
