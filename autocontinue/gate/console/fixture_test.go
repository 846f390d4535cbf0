package console

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

const waitLimit = 20 * time.Second // for what must come; it measures nothing

const someRules = `[{"tool":"profile_get","then":"allow"},{"tool":"*_delete","then":"ask"},{"tool":"wipe",` +
	`"then":"deny"}]`

// clock is turned by hand.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// fixture is a console that is served, and its session.
type fixture struct {
	t       *testing.T
	session *gate.Session
	console *Console
	server  *httptest.Server
	clock   *clock
}

func serve(t *testing.T, with ...func(*Config, *limits)) *fixture {
	t.Helper()
	d := &fixture{t: t, clock: &clock{t: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}}
	policy, err := gate.ParsePolicy([]byte(someRules))
	require.NoError(t, err)
	d.session, err = gate.New(policy, gate.Options{Audited: true, TTL: time.Hour})
	require.NoError(t, err)
	cfg, l := Config{Session: d.session, Now: d.clock.now, Tools: []string{"weight_delete"}}, defaultLimits
	for _, f := range with {
		f(&cfg, &l)
	}
	cfg.limits = l
	d.console, err = New(cfg)
	require.NoError(t, err)
	d.server = httptest.NewUnstartedServer(d.console)
	d.server.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		require.NoError(t, conn.(*net.TCPConn).SetWriteBuffer(64<<10)) // it holds megabytes otherwise
		return ctx
	}
	d.server.Start()
	t.Cleanup(func() {
		require.NoError(t, d.console.Close())
		d.server.Close()
	})
	return d
}

// stage proposes the context of a run.
func (d *fixture) stage(run, message string) gate.Item {
	d.t.Helper()
	body, err := json.Marshal(map[string]string{"message": message})
	require.NoError(d.t, err)
	return d.propose(gate.Subject{Kind: gate.Context, Thread: "main", Run: run, Label: "Message", Body: body})
}

func (d *fixture) propose(sub gate.Subject) gate.Item {
	d.t.Helper()
	it, err := d.session.Propose(d.clock.now(), sub)
	require.NoError(d.t, err)
	return it
}

// running brings a run to where it may call tools and answer.
func (d *fixture) running(run string) {
	d.t.Helper()
	it := d.stage(run, "go")
	_, err := d.session.Resolve(d.clock.now(),
		gate.Decision{Item: it.ID, Digest: it.Digest, Action: gate.Approve, By: "host"})
	require.NoError(d.t, err)
	_, err = d.session.Redeem(d.clock.now(), it.ID)
	require.NoError(d.t, err)
}

// request builds one as a page of this server sends it.
func (d *fixture) request(method, path, body string) *http.Request {
	d.t.Helper()
	r, err := http.NewRequest(method, d.server.URL+d.console.Path()+path, strings.NewReader(body))
	require.NoError(d.t, err)
	if method != http.MethodGet {
		r.Header.Set("Origin", d.server.URL)
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// answerTo sends a request and returns the status and the body.
func answerTo(t *testing.T, c *http.Client, r *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := c.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(resp.Body)
	require.NoError(t, err)
	return resp, b.String()
}

func (d *fixture) token(name string) string {
	d.t.Helper()
	link, err := d.console.Invite(name)
	require.NoError(d.t, err)
	_, token, ok := strings.Cut(link, "#token=")
	require.True(d.t, ok)
	return token
}

// enter returns a client that is signed in.
func (d *fixture) enter(name string) *http.Client {
	d.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(d.t, err)
	c := &http.Client{Jar: jar}
	resp, body := answerTo(d.t, c, d.request(http.MethodPost, "/login", `{"token":"`+d.token(name)+`"}`))
	require.Equal(d.t, http.StatusOK, resp.StatusCode, body)
	return c
}

// tab is a page that is open.
type tab struct {
	t    *testing.T
	conn *websocket.Conn
	seq  uint64 // of the last event
	seen []frame
}

// open opens a socket behind the event with the number.
func (d *fixture) open(c *http.Client, after string) *tab {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, d.server.URL+d.console.Path()+"/ws"+after, &websocket.DialOptions{
		HTTPClient: c, HTTPHeader: http.Header{"Origin": {d.server.URL}},
	})
	require.NoError(d.t, err)
	conn.SetReadLimit(-1)
	d.t.Cleanup(func() { conn.CloseNow() })
	return &tab{t: d.t, conn: conn}
}

// next returns the next frame that is no sign of life.
func (p *tab) next() frame {
	p.t.Helper()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		_, data, err := p.conn.Read(ctx)
		cancel()
		require.NoError(p.t, err)
		var f frame
		require.NoError(p.t, json.Unmarshal(data, &f))
		if f.T == "beat" {
			continue
		}
		if f.T == "events" || f.T == "snapshot" {
			p.seq = f.Seq
		}
		p.seen = append(p.seen, f)
		return f
	}
}

// until reads frames up to one of the kind.
func (p *tab) until(kind string) frame {
	p.t.Helper()
	for {
		if f := p.next(); f.T == kind {
			return f
		}
	}
}

// ask sends a command and returns what is wrong with it.
func (p *tab) ask(cmd map[string]any) *problem {
	p.t.Helper()
	cmd["id"] = "1"
	data, err := json.Marshal(cmd)
	require.NoError(p.t, err)
	p.send(string(data))
	return p.until("reply").Error
}

func (p *tab) send(text string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	require.NoError(p.t, p.conn.Write(ctx, websocket.MessageText, []byte(text)))
}

func decision(it gate.Item, action string) map[string]any {
	return map[string]any{"t": "decide", "item": it.ID, "digest": it.Digest, "action": action}
}
