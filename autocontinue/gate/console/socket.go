package console

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/coder/websocket"
)

// client is one open page.
type client struct {
	visitor
	conn    *websocket.Conn
	news    chan struct{} // something is new; holds one, so that telling never waits
	gone    chan struct{} // the visitor has signed out; holds one
	replies chan []byte
}

// signal puts something into a channel that holds one, unless it is full.
func signal(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// join counts a page in, unless too many are open.
func (c *Console) join(cl *client) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing.Err() != nil || len(c.clients) >= c.limits.sockets {
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

// socket serves one page until it leaves, is too slow, or its cookie ends.
func (c *Console) socket(w http.ResponseWriter, r *http.Request, who visitor) (any, error) {
	seq, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
	if of := r.URL.Query().Get("of"); of != "" && of != c.history {
		seq = 0 // the number was counted in another one
	}
	cl := &client{
		visitor: who, news: make(chan struct{}, 1), gone: make(chan struct{}, 1), replies: make(chan []byte, 8),
	}
	if !c.join(cl) {
		return nil, problem{"closed", "too many pages are open; close some of them"}
	}
	defer c.leave(cl)
	if _, ok := c.visitor(r); !ok { // signed out meanwhile
		signal(cl.gone)
	}
	var err error
	if cl.conn, err = websocket.Accept(w, r, nil); err != nil { // it compares Origin and Host once more
		return nil, nil // it has answered
	}
	defer cl.conn.CloseNow()
	cl.conn.SetReadLimit(c.limits.message)

	// Not the request's context: that of a hijacked connection says nothing more.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		c.listen(ctx, cl)
	}()
	c.talk(ctx, cl, seq)
	cancel()
	cl.conn.CloseNow()
	<-done
	return nil, nil
}

// listen takes the commands of a page, one after another.
func (c *Console) listen(ctx context.Context, cl *client) {
	for {
		kind, data, err := cl.conn.Read(ctx)
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			cl.conn.Close(websocket.StatusUnsupportedData, "send text")
			return
		}
		if _, ok := c.signIns.lookup(cl.hash, c.cfg.Now()); !ok {
			return
		}
		select {
		case cl.replies <- encode(c.command(ctx, cl.Name, data)):
		case <-ctx.Done():
			return
		}
	}
}

// talk sends what is new until something ends it.
func (c *Console) talk(ctx context.Context, cl *client, seq uint64) {
	send := func(data []byte) error {
		ctx, cancel := context.WithTimeout(ctx, c.limits.write)
		defer cancel()
		return cl.conn.Write(ctx, websocket.MessageText, data)
	}
	hello := frame{
		T: "hello", Name: cl.Name, Thread: c.cfg.Thread, Of: c.history, Chat: c.cfg.Submit != nil, Now: c.cfg.Now().UTC(),
	}
	if send(encode(hello)) != nil {
		return
	}
	version, afresh := "", seq == 0
	catchUp := func() error {
		frames, last := c.after(seq, afresh)
		for _, f := range frames {
			if err := send(f); err != nil {
				return err
			}
		}
		seq, afresh = last, false
		if now := c.rules.version(); now != version {
			version = now
			set := c.rules.settings()
			return send(encode(frame{T: "settings", Settings: &set}))
		}
		return nil
	}
	if catchUp() != nil {
		return
	}
	beat := time.NewTicker(c.limits.beat)
	defer beat.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-c.closing.Done():
			cl.conn.Close(websocket.StatusGoingAway, "the console is shutting down")
			return
		case <-cl.gone:
			cl.conn.Close(websocket.StatusPolicyViolation, "signed out")
			return
		case <-cl.news:
			err = catchUp()
		case data := <-cl.replies:
			// What a command brought about is seen before its reply.
			if err = catchUp(); err == nil {
				err = send(data)
			}
		case <-beat.C:
			now := c.cfg.Now()
			if !now.Before(cl.Until) {
				cl.conn.Close(websocket.StatusPolicyViolation, "sign in again")
				return
			}
			err = errors.Join(catchUp(), send(encode(frame{T: "beat", Now: now.UTC()})))
		}
		if err != nil {
			return
		}
	}
}
