package console

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// client is one open page.
type client struct {
	visitor
	conn *websocket.Conn
	news chan struct{} // something is new; holds one, so that telling never waits
	end  func()        // ends the page

	mu     sync.Mutex // what follows is what the page knows
	seq    uint64     // of the last event
	afresh bool       // it knows nothing
	knows  settled
}

// settled is what the settings of a page are made of.
type settled struct {
	policy         gate.Policy
	audited, shown bool
}

// signal says that something is new.
func (cl *client) signal() {
	select {
	case cl.news <- struct{}{}:
	default:
	}
}

// socket serves one page until it leaves, is too slow, or its cookie ends.
func (c *Console) socket(w http.ResponseWriter, r *http.Request, who visitor) (any, error) {
	// Not the request's context: that of a hijacked connection says nothing more.
	ctx, end := context.WithCancel(context.WithoutCancel(r.Context()))
	defer end()
	cl := &client{visitor: who, news: make(chan struct{}, 1), end: end}
	if of := r.URL.Query().Get("of"); of == "" || of == c.history { // otherwise the number was counted in another one
		cl.seq, _ = strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
	}
	cl.afresh = cl.seq == 0
	if !c.join(cl) {
		return nil, problem{"closed", "too many pages are open; close some of them"}
	}
	defer c.leave(cl)
	if _, ok := c.visitor(r); !ok { // signed out meanwhile
		end()
	}
	var err error
	if cl.conn, err = websocket.Accept(w, r, nil); err != nil { // it compares Origin and Host once more
		return nil, nil // it has answered
	}
	defer cl.conn.CloseNow()
	cl.conn.SetReadLimit(c.cfg.limits.message)
	c.send(ctx, cl, encode(frame{
		T: "hello", Name: cl.Name, Thread: c.cfg.Thread, Of: c.history, Chat: c.cfg.Submit != nil, Now: c.cfg.Now().UTC(),
	}))
	var listening sync.WaitGroup
	listening.Go(func() { c.listen(ctx, cl) })
	c.talk(ctx, cl)
	end()
	listening.Wait()
	return nil, nil
}

// join counts a page in, unless too many are open.
func (c *Console) join(cl *client) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	own := 0
	for other := range c.clients {
		if other.Name == cl.Name {
			own++
		}
	}
	if c.closed || len(c.clients) >= c.cfg.limits.sockets || own >= max(1, c.cfg.limits.sockets/2) {
		return false
	}
	c.clients[cl] = struct{}{}
	c.handlers.Add(1)
	return true
}

func (c *Console) leave(cl *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.clients, cl)
	c.handlers.Done()
}

// each calls f for every open page.
func (c *Console) each(f func(*client)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for cl := range c.clients {
		f(cl)
	}
}

// listen takes the commands of a page, one after another.
func (c *Console) listen(ctx context.Context, cl *client) {
	defer cl.end()
	for {
		_, data, err := cl.conn.Read(ctx)
		if err != nil {
			return
		}
		if _, ok := c.signIns.lookup(cl.hash, c.cfg.Now()); !ok {
			return
		}
		// What a command brought about is seen before its reply.
		if c.catchUp(ctx, cl, encode(c.command(ctx, cl.Name, data))) != nil {
			return
		}
	}
}

// talk sends what is new until something ends it.
func (c *Console) talk(ctx context.Context, cl *client) {
	beat := time.NewTicker(c.cfg.limits.beat)
	defer beat.Stop()
	for err := c.catchUp(ctx, cl); err == nil; {
		select {
		case <-ctx.Done():
			return
		case <-cl.news:
			err = c.catchUp(ctx, cl)
		case <-beat.C:
			now := c.cfg.Now()
			if !now.Before(cl.Until) {
				return
			}
			err = c.catchUp(ctx, cl, encode(frame{T: "beat", Now: now.UTC()}))
		}
	}
}

// catchUp sends what a page does not know yet, and then more frames.
func (c *Console) catchUp(ctx context.Context, cl *client, more ...[]byte) error {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	var frames [][]byte
	if f := c.after(cl.seq, cl.afresh); f.T == "snapshot" || len(f.Events) > 0 {
		frames, cl.seq, cl.afresh = append(frames, encode(f)), f.Seq, false
	}
	if now := (settled{c.cfg.Session.Policy(), c.cfg.Session.Audited(), true}); now != cl.knows {
		cl.knows = now
		set := c.rules.settings()
		frames = append(frames, encode(frame{T: "settings", Settings: &set}))
	}
	for _, f := range append(frames, more...) {
		if err := c.send(ctx, cl, f); err != nil {
			return err
		}
	}
	return nil
}

func (c *Console) send(ctx context.Context, cl *client, frame []byte) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.limits.write)
	defer cancel()
	return cl.conn.Write(ctx, websocket.MessageText, frame)
}
