package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

func TestPageBeginsWithASnapshotAndFollows(t *testing.T) {
	d := serve(t)
	first := d.stage("r1", "hello")
	p := d.open(d.enter("ann"), "?after=0")
	hello := p.next()
	assert.Equal(t, "ann", hello.Name)
	assert.False(t, hello.Chat, "there is no Submit")
	snap := p.next()
	require.Equal(t, "snapshot", snap.T)
	require.Len(t, snap.Items, 1)
	assert.Equal(t, first.ID, snap.Items[0].ID)
	assert.Equal(t, "hello", snap.Items[0].Text)
	assert.Equal(t, uint64(1), snap.Seq)
	set := p.next()
	require.Equal(t, "settings", set.T)
	assert.True(t, set.Settings.Audited)

	second := d.stage("r2", "again")
	f := p.next()
	require.Equal(t, "events", f.T)
	require.Len(t, f.Events, 1)
	assert.Equal(t, "RUN_STAGED", f.Events[0].Type)
	assert.Equal(t, second.ID, f.Items[0].ID)
	assert.Equal(t, uint64(2), f.Seq)
}

func TestLostPageResumesWithNothingLostOrDoubled(t *testing.T) {
	d := serve(t)
	c := d.enter("ann")
	d.stage("r0", "x")
	p := d.open(c, "")
	p.until("settings")
	p.conn.CloseNow()
	for i := range 5 {
		d.stage(fmt.Sprint("r", i+1), "x")
	}
	q := d.open(c, fmt.Sprint("?after=", p.seq))
	require.Equal(t, "hello", q.next().T)
	f := q.next()
	require.Equal(t, "events", f.T)
	require.Len(t, f.Events, 5)
	for i, e := range f.Events {
		require.Equal(t, p.seq+uint64(i)+1, e.Seq)
	}
	require.Equal(t, "settings", q.next().T)
	d.stage("last", "x")
	require.Equal(t, p.seq+6, q.next().Seq)

	of := q.seen[0].Of
	require.NotEmpty(t, of)
	same := d.open(c, fmt.Sprint("?after=", q.seq, "&of=", of))
	same.until("hello")
	assert.Equal(t, "settings", same.next().T, "nothing is new")
	other := d.open(c, fmt.Sprint("?after=", q.seq, "&of=another")) // of a host that has forgotten everything
	other.until("hello")
	assert.Equal(t, "snapshot", other.next().T)
	ahead := d.open(c, "?after=999") // of a journal that is not this one
	ahead.next()
	require.Equal(t, "snapshot", ahead.next().T)
}

func TestPageThatWasAwayTooLongBeginsAnew(t *testing.T) {
	d := serve(t)
	for i := range maxMissed + 8 {
		d.stage(fmt.Sprint("r", i), "x")
	}
	p := d.open(d.enter("ann"), "?after=7")
	p.next()
	f := p.next()
	require.Equal(t, "snapshot", f.T)
	assert.Len(t, f.Items, maxMissed+8)
	assert.Equal(t, uint64(maxMissed+8), f.Seq)
	q := d.open(d.enter("ben"), "?after=8")
	q.next()
	f = q.next()
	require.Len(t, f.Events, maxMissed)
	assert.Equal(t, uint64(9), f.Events[0].Seq)
}

// A page that doesn't read is dropped; meanwhile the session and the others go on.
func TestSlowPageIsDroppedAndHindersNobody(t *testing.T) {
	d := serve(t, func(_ *Config, l *limits) { l.write = 4 * time.Second })
	client := d.enter("slow")
	client.Transport = &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			err = conn.(*net.TCPConn).SetReadBuffer(4096) // it takes megabytes otherwise
		}
		return conn, err
	}}
	slow := d.open(client, "")
	slow.next() // and nothing more
	quick := d.open(d.enter("ann"), "")
	quick.until("settings")
	long := strings.Repeat("word ", 3000)
	var reading sync.WaitGroup
	reading.Go(func() {
		for quick.seq < 200 {
			quick.next()
		}
	})
	for i := range 200 { // more than the buffers of a connection take
		d.stage(fmt.Sprint("r", i), long)
	}
	reading.Wait()
	require.Eventually(t, func() bool {
		d.console.mu.Lock()
		defer d.console.mu.Unlock()
		return len(d.console.clients) == 1
	}, waitLimit, time.Millisecond)
}

func TestTwentyAuditorsSeeTheSame(t *testing.T) {
	d := serve(t)
	for i := range 1000 {
		d.stage(fmt.Sprint("r", i), "x")
	}
	var pages []*tab
	for i := range 20 {
		p := d.open(d.enter(fmt.Sprint("auditor", i)), "")
		p.until("settings")
		require.Len(t, p.seen[1].Items, 1000)
		pages = append(pages, p)
	}
	pending := d.session.Pending()
	var all sync.WaitGroup
	problems := make([]*problem, len(pages))
	for i, p := range pages {
		all.Go(func() {
			action := []string{"approve", "deny"}[i%2]
			problems[i] = p.ask(decision(pending[0], action))
		})
	}
	all.Wait()
	it, _ := d.session.Item(pending[0].ID)
	for i, p := range problems {
		if []gate.Action{gate.Approve, gate.Deny}[i%2] == it.Action {
			assert.Nil(t, p, "the same answer again is fine")
		} else if assert.NotNil(t, p) {
			assert.Equal(t, "decided", p.Code)
		}
	}
	head, _, _ := d.session.Head()
	for _, p := range pages {
		for p.seq < head {
			p.next()
		}
		last := p.seen[len(p.seen)-1]
		for _, f := range p.seen {
			if f.T == "events" {
				last = f
			}
		}
		require.Equal(t, it.By, last.Items[0].By)
		require.Equal(t, it.Status, last.Items[0].Status)
	}
}

func TestCommandsAreBounded(t *testing.T) {
	d := serve(t, func(_ *Config, l *limits) { l.message, l.burst = 4<<10, 7 })
	p, more := d.open(d.enter("ann"), ""), d.open(d.enter("ann"), "") // four requests
	p.until("settings")
	more.until("settings")
	for range 3 {
		assert.Equal(t, "illegal", p.ask(map[string]any{"t": "stop", "run": "none"}).Code)
	}
	assert.Equal(t, "rate", p.ask(map[string]any{"t": "stop", "run": "none"}).Code)
	assert.Equal(t, "rate", more.ask(map[string]any{"t": "stop", "run": "none"}).Code, "more pages are not more commands")
	d.clock.add(time.Second)
	assert.Equal(t, "illegal", p.ask(map[string]any{"t": "stop", "run": "none"}).Code)

	p.send(`{"t":"submit","id":"1","message":"` + strings.Repeat("x", 8<<10) + `"}`)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	_, _, err := p.conn.Read(ctx)
	require.Error(t, err, "a message that is too long ends the connection")
}

func TestPagesAreCounted(t *testing.T) {
	d := serve(t, func(_ *Config, l *limits) { l.sockets = 2 })
	ann := d.enter("ann")
	d.open(ann, "").next()
	r := d.request("GET", "/ws", "")
	r.Header.Set("Origin", d.server.URL)
	resp, body := answerTo(t, ann, r)
	assert.Equal(t, 503, resp.StatusCode, "one name may have half")
	assert.Contains(t, body, "too many pages")
	d.open(d.enter("ben"), "").next()
}

func TestPageEndsWithItsCookieAndWithTheConsole(t *testing.T) {
	d := serve(t, func(_ *Config, l *limits) { l.beat = time.Millisecond })
	p := d.open(d.enter("ann"), "")
	p.until("settings")
	d.clock.add(signInTime)
	gone := func(p *tab) {
		for {
			ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
			_, _, err := p.conn.Read(ctx)
			cancel()
			if err != nil {
				require.NoError(t, t.Context().Err())
				return
			}
		}
	}
	gone(p)
	q := d.open(d.enter("ben"), "")
	q.until("settings")
	ended := make(chan error, 1)
	go func() { ended <- d.console.Close() }()
	gone(q)
	require.NoError(t, <-ended)
	resp, _ := answerTo(t, d.server.Client(), d.request("GET", "/", ""))
	assert.Equal(t, 503, resp.StatusCode)
}

func TestFramesHoldNoBodies(t *testing.T) {
	d := serve(t)
	d.running("r1")
	secret := strings.Repeat("s3cret ", 1000)
	body, _ := json.Marshal(map[string]string{"text": secret})
	d.propose(gate.Subject{Kind: gate.Response, Thread: "main", Run: "r1", Body: body})
	p := d.open(d.enter("ann"), "")
	for range 3 {
		data, err := json.Marshal(p.next())
		require.NoError(t, err)
		assert.NotContains(t, string(data), "s3cret", "a draft is not in the chat before it is approved")
	}
}
