package console

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

func TestNobodyGetsInWithoutACookie(t *testing.T) {
	d := serve(t)
	it := d.stage("r1", "secret plan")
	for _, path := range []string{"/me", "/ws", "/ws?after=0", "/item?id=" + it.ID} {
		r := d.request(http.MethodGet, path, "")
		r.Header.Set("Origin", d.server.URL)
		resp, body := answerTo(t, http.DefaultClient, r)
		assert.Equal(t, http.StatusUnauthorized, resp.StatusCode, path)
		assert.NotContains(t, body, "secret")
	}
	resp, _ := answerTo(t, http.DefaultClient, d.request(http.MethodPost, "/login", `{"token":"`+d.token("ben")+`"}`))
	_, rest, _ := strings.Cut(resp.Cookies()[0].Value, ".")
	for _, forged := range []string{
		// YW5u is ann, YmVu ben
		"x", "x.y", "...", "YW5u.99999999999.S.", "YW5u.99999999999.S.AAAA", "YW5u." + rest, "YmVu.9" + rest,
	} {
		r := d.request(http.MethodGet, "/me", "")
		r.AddCookie(&http.Cookie{Name: cookieName(r), Value: forged})
		resp, _ := answerTo(t, http.DefaultClient, r)
		assert.Equal(t, http.StatusUnauthorized, resp.StatusCode, forged)
	}
}

func TestTokenIsExchangedForACookie(t *testing.T) {
	d := serve(t)
	token := d.token("ann")
	assert.GreaterOrEqual(t, len(token), 26)
	assert.NotEqual(t, token, d.token("ann"), "each link has a token of its own")

	for _, tt := range []struct {
		name, body string
		want       int
	}{
		{"wrong", `{"token":"AAAAAAAAAAAAAAAAAAAAAAAAAA"}`, http.StatusUnauthorized},
		{"its beginning", `{"token":"` + token[:20] + `"}`, http.StatusUnauthorized},
		{"empty", `{}`, http.StatusUnauthorized},
		{"no JSON", `token=` + token, http.StatusBadRequest},
		{"too long", `{"token":"` + strings.Repeat("A", 2<<10) + `"}`, http.StatusBadRequest},
	} {
		resp, _ := answerTo(t, http.DefaultClient, d.request(http.MethodPost, "/login", tt.body))
		assert.Equal(t, tt.want, resp.StatusCode, tt.name)
		assert.Empty(t, resp.Cookies(), tt.name)
	}
	asForm := d.request(http.MethodPost, "/login", `{"token":"`+token+`"}`)
	asForm.Header.Set("Content-Type", "text/plain") // what a form of another page could send
	resp, _ := answerTo(t, http.DefaultClient, asForm)
	assert.Equal(t, http.StatusBadRequest, resp.StatusCode)

	resp, body := answerTo(t, http.DefaultClient, d.request(http.MethodPost, "/login", `{"token":"`+token+`"}`))
	require.Equal(t, http.StatusOK, resp.StatusCode)
	assert.JSONEq(t, `{"name":"ann"}`, body)
	require.Len(t, resp.Cookies(), 1)
	ck := resp.Cookies()[0]
	assert.True(t, ck.HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, ck.SameSite)
	assert.Equal(t, "/coach_audit", ck.Path)
	assert.NotContains(t, ck.Value, token)

	me := func() int {
		r := d.request(http.MethodGet, "/me", "")
		r.AddCookie(&http.Cookie{Name: cookieName(r), Value: ck.Value})
		resp, _ := answerTo(t, http.DefaultClient, r)
		return resp.StatusCode
	}
	assert.Equal(t, http.StatusOK, me())
	d.clock.add(signInTime + time.Second)
	assert.Equal(t, http.StatusUnauthorized, me(), "a cookie ends")
}

func TestTokenInTheAddressIsNoToken(t *testing.T) {
	d := serve(t)
	resp, _ := answerTo(t, http.DefaultClient, d.request(http.MethodGet, "/me?token="+d.token("ann"), ""))
	assert.Equal(t, http.StatusUnauthorized, resp.StatusCode)
}

func TestAttemptsToSignInAreBounded(t *testing.T) {
	d := serve(t)
	last := 0
	for range int(defaultLimits.burst) + 1 {
		resp, _ := answerTo(t, http.DefaultClient, d.request(http.MethodPost, "/login", `{"token":"x"}`))
		last = resp.StatusCode
	}
	assert.Equal(t, http.StatusTooManyRequests, last)
	d.enter("ann") // who guesses keeps nobody else out
}

// A stay is over with the sign-out: a copy of its cookie, and the other pages that it opened, go no further.
func TestSigningOutEndsTheCookieAndItsPages(t *testing.T) {
	d := serve(t)
	it := d.stage("r1", "hello")
	login := func(old *http.Cookie) *http.Cookie {
		r := d.request(http.MethodPost, "/login", `{"token":"`+d.token("ann")+`"}`)
		if old != nil {
			r.AddCookie(old)
		}
		resp, body := answerTo(t, http.DefaultClient, r)
		require.Equal(t, http.StatusOK, resp.StatusCode, body)
		return &http.Cookie{Name: resp.Cookies()[0].Name, Value: resp.Cookies()[0].Value}
	}
	with := func(method, path string, ck *http.Cookie) int {
		r := d.request(method, path, "")
		r.AddCookie(ck)
		resp, _ := answerTo(t, http.DefaultClient, r)
		return resp.StatusCode
	}
	page := func(ck *http.Cookie) *tab {
		ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
		defer cancel()
		conn, _, err := websocket.Dial(ctx, d.server.URL+d.console.Path()+"/ws", &websocket.DialOptions{
			HTTPHeader: http.Header{"Origin": {d.server.URL}, "Cookie": {ck.String()}},
		})
		require.NoError(t, err)
		t.Cleanup(func() { conn.CloseNow() })
		p := &tab{t: t, conn: conn}
		p.until("settings")
		return p
	}
	ended := func(p *tab) {
		p.send(fmt.Sprintf(`{"t":"decide","id":"1","item":%q,"digest":%q,"action":"approve"}`, it.ID, it.Digest))
		ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
		defer cancel()
		for {
			_, data, err := p.conn.Read(ctx)
			if err != nil {
				require.NoError(t, ctx.Err(), "the page is still served")
				break
			}
			require.NotContains(t, string(data), `"t":"reply"`)
		}
		got, _ := d.session.Item(it.ID)
		assert.Equal(t, gate.Pending, got.Status)
	}

	here, there := login(nil), login(nil)
	p, q := page(here), page(there)
	require.Equal(t, http.StatusOK, with(http.MethodPost, "/logout", here))
	assert.Equal(t, http.StatusUnauthorized, with(http.MethodGet, "/me", here))
	ended(p)
	assert.Equal(t, http.StatusOK, with(http.MethodGet, "/me", there), "another browser of the same person stays")

	again := login(there)
	assert.Equal(t, http.StatusUnauthorized, with(http.MethodGet, "/me", there), "a browser has one cookie")
	ended(q)
	assert.Equal(t, http.StatusOK, with(http.MethodGet, "/me", again))
}

func TestRequestsAreBoundedByName(t *testing.T) {
	d := serve(t, func(_ *Config, l *limits) { l.burst = 11 })
	ann, ben := d.enter("ann"), d.enter("ben")
	status := func(c *http.Client) int {
		resp, _ := answerTo(t, c, d.request(http.MethodGet, "/me", ""))
		return resp.StatusCode
	}
	for range 10 {
		require.Equal(t, http.StatusOK, status(ann))
	}
	assert.Equal(t, http.StatusTooManyRequests, status(ann))
	assert.Equal(t, http.StatusOK, status(ben), "others are not hindered")
	d.clock.add(time.Second)
	assert.Equal(t, http.StatusOK, status(ann))
}

func TestCookieOfAPageServedByTLSIsSecure(t *testing.T) {
	d := serve(t, func(c *Config, _ *limits) { c.Hosts = []string{"audit.example.org"} })
	r := httptest.NewRequest(http.MethodPost, "http://audit.example.org/coach_audit/login",
		strings.NewReader(`{"token":"`+d.token("ann")+`"}`))
	r.Header.Set("Origin", "https://audit.example.org")
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	d.console.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	assert.True(t, w.Result().Cookies()[0].Secure)
}

// restarted serves a new console with the sign-ins of another, for other people.
func restarted(t *testing.T, file string, names ...string) *fixture {
	t.Helper()
	d := serve(t, func(c *Config, _ *limits) { c.SignIns = file })
	for _, name := range names {
		d.token(name)
	}
	return d
}

// meWith returns the status of a request with a cookie.
func (d *fixture) meWith(ck *http.Cookie) int {
	d.t.Helper()
	r := d.request(http.MethodGet, "/me", "")
	r.AddCookie(&http.Cookie{Name: cookieName(r), Value: ck.Value})
	resp, _ := answerTo(d.t, http.DefaultClient, r)
	return resp.StatusCode
}

// cookieOf signs somebody in.
func (d *fixture) cookieOf(name string) *http.Cookie {
	d.t.Helper()
	resp, body := answerTo(d.t, http.DefaultClient, d.request(http.MethodPost, "/login", `{"token":"`+d.token(name)+`"}`))
	require.Equal(d.t, http.StatusOK, resp.StatusCode, body)
	return resp.Cookies()[0]
}

func TestSignInsSurviveARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sign-ins.json")
	d := restarted(t, file)
	ann, ben, cleo := d.cookieOf("ann"), d.cookieOf("ben"), d.cookieOf("cleo")
	out := d.request(http.MethodPost, "/logout", "")
	out.AddCookie(&http.Cookie{Name: cookieName(out), Value: cleo.Value})
	resp, _ := answerTo(t, http.DefaultClient, out)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(data), ann.Value, "who reads the file cannot come in")

	again := restarted(t, file, "ann", "cleo") // ben was removed
	assert.Equal(t, http.StatusOK, again.meWith(ann))
	assert.Equal(t, http.StatusUnauthorized, again.meWith(ben), "a removed auditor stays out")
	assert.Equal(t, http.StatusUnauthorized, again.meWith(cleo), "a sign-out holds")
	again.clock.add(signInTime)
	assert.Equal(t, http.StatusUnauthorized, again.meWith(ann))

	assert.Equal(t, http.StatusUnauthorized, restarted(t, "", "ann").meWith(ann), "another console")
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	_, err = New(Config{Session: d.session, SignIns: file})
	assert.ErrorContains(t, err, "remove the file")
}

func TestLinkWorksOnce(t *testing.T) {
	d := serve(t)
	body := `{"token":"` + d.token("ann") + `"}`
	for _, want := range []int{http.StatusOK, http.StatusUnauthorized, http.StatusUnauthorized} {
		resp, text := answerTo(t, http.DefaultClient, d.request(http.MethodPost, "/login", body))
		assert.Equal(t, want, resp.StatusCode)
		if want != http.StatusOK {
			assert.Contains(t, text, "A link works once")
		}
	}
}

func TestNobodyBecomesAnotherPersonSilently(t *testing.T) {
	d := serve(t)
	ann := d.enter("ann")
	token := d.token("ben")
	name := func() string {
		_, body := answerTo(t, ann, d.request(http.MethodGet, "/me", ""))
		return body
	}
	resp, body := answerTo(t, ann, d.request(http.MethodPost, "/login", `{"token":"`+token+`"}`))
	assert.Equal(t, http.StatusConflict, resp.StatusCode)
	assert.Contains(t, body, "signed in as ann. The link is for ben.")
	assert.Equal(t, `{"name":"ann"}`, name())
	resp, _ = answerTo(t, ann, d.request(http.MethodPost, "/login", `{"token":"`+token+`","switch":true}`))
	assert.Equal(t, http.StatusOK, resp.StatusCode, "the link was not used up by the question")
	assert.Equal(t, `{"name":"ben"}`, name())
}

// A client that sends its request byte by byte is not waited for.
func TestSlowRequestsAreDropped(t *testing.T) {
	d := serve(t, func(_ *Config, l *limits) { l.read = 50 * time.Millisecond })
	for _, path := range []string{"/login", "/logout", "/nothing"} {
		conn, err := net.Dial("tcp", d.server.Listener.Addr().String())
		require.NoError(t, err)
		defer conn.Close()
		host := d.server.Listener.Addr().String()
		fmt.Fprintf(conn, "POST /coach_audit%s HTTP/1.1\r\nHost: %s\r\nOrigin: http://%s\r\nContent-Type: "+
			"application/json\r\nContent-Length: 100\r\n\r\n{", path, host, host)
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(waitLimit)))
		_, err = io.ReadAll(conn) // until the server closes it
		require.NoError(t, err, path)
	}
}

func TestInviteRefusesNamesThatDeceive(t *testing.T) {
	d := serve(t)
	for _, name := range []string{"", " ann", "ann\n", "an\u202en", gate.ByPolicy, gate.ByUnaudited, byFile,
		strings.Repeat("a", 65), "\xff"} {
		_, err := d.console.Invite(name)
		assert.ErrorContains(t, err, "console: ", "%q", name)
	}
	_, err := d.console.Invite("Ann Müller")
	assert.NoError(t, err)
}

// Without Config.Hosts a console is for this machine; a name that resolves to it is not enough.
func TestForeignHostsAndOriginsAreRefused(t *testing.T) {
	c, err := New(Config{Session: serve(t).session})
	require.NoError(t, err)
	named, err := New(Config{Session: serve(t).session, Hosts: []string{"audit.example.org"}})
	require.NoError(t, err)
	for _, tt := range []struct {
		name         string
		c            *Console
		method, path string
		host, peer   string
		header       http.Header
		want         int
	}{
		{"loopback", c, "GET", "/", "127.0.0.1:8484", "127.0.0.1:9", nil, 200},
		{"localhost", c, "GET", "/", "LOCALHOST:8484", "127.0.0.1:9", nil, 200},
		{"loopback of version 6", c, "GET", "/", "[::1]:8484", "[::1]:9", nil, 200},
		{"a name made to point here", c, "GET", "/", "evil.example:8484", "127.0.0.1:9", nil, 403},
		{"a name that begins like ours", c, "GET", "/", "127.0.0.1.evil.example", "127.0.0.1:9", nil, 403},
		{"no host", c, "GET", "/", "", "127.0.0.1:9", nil, 403},
		{"from another machine", c, "GET", "/", "localhost:8484", "192.0.2.7:9", nil, 403},
		{"a host that is named", named, "GET", "/", "audit.example.org", "192.0.2.7:9", nil, 200},
		{"then loopback is not", named, "GET", "/", "127.0.0.1", "127.0.0.1:9", nil, 403},
		{"a post without an origin", c, "POST", "/login", "localhost", "127.0.0.1:9", nil, 403},
		{"a foreign origin", c, "POST", "/login", "localhost", "127.0.0.1:9", http.Header{"Origin": {"http://evil.example"}},
			403},
		{"another port", c, "POST", "/login", "localhost:1", "127.0.0.1:9", http.Header{"Origin": {"http://localhost:2"}},
			403},
		{"null", c, "POST", "/login", "localhost", "127.0.0.1:9", http.Header{"Origin": {"null"}}, 403},
		{"two origins", c, "POST", "/login", "localhost", "127.0.0.1:9",
			http.Header{"Origin": {"http://localhost", "http://localhost"}}, 403},
		{"ours", c, "POST", "/login", "localhost", "127.0.0.1:9", http.Header{"Origin": {"http://localhost"}}, 400},
		{"a socket without an origin", c, "GET", "/ws", "localhost", "127.0.0.1:9", http.Header{"Upgrade": {"WebSocket"}},
			403},
		{"a script of another site", c, "GET", "/me", "localhost", "127.0.0.1:9",
			http.Header{"Sec-Fetch-Site": {"same-site"}, "Sec-Fetch-Mode": {"no-cors"}}, 403},
		{"a link of another site", c, "GET", "/", "localhost", "127.0.0.1:9",
			http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}}, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, "http://x/coach_audit"+tt.path, nil)
			r.Host, r.RemoteAddr = tt.host, tt.peer
			if tt.header != nil {
				r.Header = tt.header
			}
			w := httptest.NewRecorder()
			tt.c.ServeHTTP(w, r)
			assert.Equal(t, tt.want, w.Code, w.Body)
		})
	}
}

func TestSocketOfAForeignOriginIsRefused(t *testing.T) {
	d := serve(t)
	c := d.enter("ann")
	for _, origin := range []string{"http://evil.example", "null", ""} {
		h := http.Header{}
		if origin != "" {
			h.Set("Origin", origin)
		}
		ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
		conn, resp, err := websocket.Dial(ctx, d.server.URL+"/coach_audit/ws",
			&websocket.DialOptions{HTTPClient: c, HTTPHeader: h})
		cancel()
		if !assert.Error(t, err, origin) {
			conn.CloseNow()
			continue
		}
		assert.Equal(t, http.StatusForbidden, resp.StatusCode, origin)
	}
}

// The page may load nothing but its own files, and nothing in it is inline.
func TestPageKeepsItsOwnPolicy(t *testing.T) {
	d := serve(t)
	resp, html := answerTo(t, http.DefaultClient, d.request(http.MethodGet, "/", ""))
	csp := resp.Header.Get("Content-Security-Policy")
	assert.Contains(t, csp, "default-src 'none'")
	assert.NotContains(t, csp, "unsafe")
	assert.Equal(t, "no-referrer", resp.Header.Get("Referrer-Policy"))
	assert.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
	for _, bad := range []string{"<style", " style=", " onclick", "javascript:", "http://", "https://"} {
		assert.NotContains(t, html, bad)
	}
	files, err := page.ReadDir("page")
	require.NoError(t, err)
	for _, f := range files {
		resp, body := answerTo(t, http.DefaultClient, d.request(http.MethodGet, "/page/"+f.Name(), ""))
		assert.Equal(t, http.StatusOK, resp.StatusCode, f.Name())
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "https://",
			".style."} {
			assert.NotContains(t, body, bad, f.Name())
		}
	}
	for _, path := range []string{"/page/doc.go", "/page/..%2fdoc.go", "/nothing"} {
		resp, _ := answerTo(t, http.DefaultClient, d.request(http.MethodGet, path, ""))
		assert.Equal(t, http.StatusNotFound, resp.StatusCode, path)
	}
	resp, _ = answerTo(t, http.DefaultClient, d.request(http.MethodGet, "", ""))
	assert.Equal(t, "/coach_audit/", resp.Request.URL.Path)
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	require.PanicsWithValue(t, "gate: this Session is nil or a zero value: make one with New or Replay",
		func() { _, _ = New(Config{Session: &gate.Session{}}) })
	s := serve(t).session
	for _, tt := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, "Config.Session is missing"},
		{Config{Session: s, Path: "audit"}, "path \"audit\""},
		{Config{Session: s, Path: "/audit/"}, "none at the end"},
		{Config{Session: s, Hosts: []string{"https://x"}}, "without scheme"},
		{Config{Session: s, Hosts: []string{"x:80"}}, "without scheme, port"},
		{Config{Session: s, SignIns: "/nowhere/at/all"}, "sign-ins in /nowhere"},
	} {
		_, err := New(tt.cfg)
		assert.ErrorContains(t, err, tt.want)
	}
}

// Browsers send a cookie to every port of a name.
func TestConsolesOfOneMachineKeepTheirPeople(t *testing.T) {
	one, two := serve(t), serve(t)
	c := one.enter("ann")
	resp, body := answerTo(t, c, two.request(http.MethodPost, "/login", `{"token":"`+two.token("ann")+`"}`))
	require.Equal(t, http.StatusOK, resp.StatusCode, body)
	for _, d := range []*fixture{one, two} {
		resp, _ := answerTo(t, c, d.request(http.MethodGet, "/me", ""))
		assert.Equal(t, http.StatusOK, resp.StatusCode)
	}
}

// A sign-in that cannot be kept changes nothing: the old cookie and the link still work.
func TestSignInThatCannotBeKeptChangesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	require.NoError(t, os.Mkdir(dir, 0o700))
	d := serve(t, func(c *Config, _ *limits) { c.SignIns = filepath.Join(dir, "sign-ins.json") })
	old := d.cookieOf("ann")
	again := d.token("ann")
	login := func() int {
		r := d.request(http.MethodPost, "/login", `{"token":"`+again+`"}`)
		r.AddCookie(&http.Cookie{Name: old.Name, Value: old.Value})
		resp, _ := answerTo(t, http.DefaultClient, r)
		return resp.StatusCode
	}
	require.NoError(t, os.RemoveAll(dir))
	assert.Equal(t, http.StatusInternalServerError, login())
	assert.Equal(t, http.StatusOK, d.meWith(old))
	require.NoError(t, os.Mkdir(dir, 0o700))
	assert.Equal(t, http.StatusOK, login())
	assert.Equal(t, http.StatusUnauthorized, d.meWith(old), "a browser has one cookie")
}
