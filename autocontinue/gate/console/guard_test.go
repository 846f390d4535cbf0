package console

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
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
		"x", "x.y", "...", "YW5u.99999999999.S.", "YW5u.99999999999.S.AAAA", "YW5u." + rest, "YmVu.9" + rest, // YW5u is ann, YmVu ben
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
	d.clock.add(stay + time.Second)
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
	for range 60 {
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
		ctx, cancel := context.WithTimeout(t.Context(), patience)
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
		ctx, cancel := context.WithTimeout(t.Context(), patience)
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
	d := serve(t, func(_ *Config, l *limits) { l.burst = 2 })
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
	r := httptest.NewRequest(http.MethodPost, "http://audit.example.org/coach_audit/login", strings.NewReader(`{"token":"`+d.token("ann")+`"}`))
	r.Header.Set("Origin", "https://audit.example.org")
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	d.console.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	assert.True(t, w.Result().Cookies()[0].Secure)
}

func TestCookieOutlivesTheConsoleThatHasItsSecret(t *testing.T) {
	secret := []byte(strings.Repeat("s", 32))
	keep := func(c *Config, _ *limits) { c.Secret = secret }
	before, after, other := serve(t, keep), serve(t, keep), serve(t)
	resp, _ := answerTo(t, http.DefaultClient, before.request(http.MethodPost, "/login", `{"token":"`+before.token("ann")+`"}`))
	ck := resp.Cookies()[0]
	for d, want := range map[*desk]int{after: http.StatusOK, other: http.StatusUnauthorized} {
		r := d.request(http.MethodGet, "/me", "")
		r.AddCookie(&http.Cookie{Name: cookieName(r), Value: ck.Value})
		resp, _ := answerTo(t, http.DefaultClient, r)
		assert.Equal(t, want, resp.StatusCode)
	}
}

func TestInviteRefusesNamesThatDeceive(t *testing.T) {
	d := serve(t)
	for _, name := range []string{"", " ann", "ann\n", "an\u202en", gate.ByPolicy, gate.ByUnaudited, byFile, strings.Repeat("a", 65), "\xff"} {
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
		{"a foreign origin", c, "POST", "/login", "localhost", "127.0.0.1:9", http.Header{"Origin": {"http://evil.example"}}, 403},
		{"another port", c, "POST", "/login", "localhost:1", "127.0.0.1:9", http.Header{"Origin": {"http://localhost:2"}}, 403},
		{"null", c, "POST", "/login", "localhost", "127.0.0.1:9", http.Header{"Origin": {"null"}}, 403},
		{"two origins", c, "POST", "/login", "localhost", "127.0.0.1:9", http.Header{"Origin": {"http://localhost", "http://localhost"}}, 403},
		{"ours", c, "POST", "/login", "localhost", "127.0.0.1:9", http.Header{"Origin": {"http://localhost"}}, 400},
		{"a socket without an origin", c, "GET", "/ws", "localhost", "127.0.0.1:9", http.Header{"Upgrade": {"WebSocket"}}, 403},
		{"a script of another site", c, "GET", "/me", "localhost", "127.0.0.1:9", http.Header{"Sec-Fetch-Site": {"same-site"}, "Sec-Fetch-Mode": {"no-cors"}}, 403},
		{"a link of another site", c, "GET", "/", "localhost", "127.0.0.1:9", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}}, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, "http://x"+DefaultPath+tt.path, nil)
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
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		conn, resp, err := websocket.Dial(ctx, d.server.URL+"/coach_audit/ws", &websocket.DialOptions{HTTPClient: c, HTTPHeader: h})
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
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "https://", ".style."} {
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
		{Config{Session: s, Secret: []byte("short")}, "too short"},
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
	for _, d := range []*desk{one, two} {
		resp, _ := answerTo(t, c, d.request(http.MethodGet, "/me", ""))
		assert.Equal(t, http.StatusOK, resp.StatusCode)
	}
}
