package console

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// contentPolicy lets the page load its own files and talk to its own server, and nothing else. With trusted types, no
// script can turn text into markup, not even ours.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
}

// refusal says why the console does not answer a request, whoever sent it; empty if it does.
func (c *Console) refusal(r *http.Request) string {
	name := strings.ToLower((&url.URL{Host: r.Host}).Hostname())
	if len(c.cfg.Hosts) == 0 {
		if !loopback(name) {
			// An attacker's name can point at 127.0.0.1: then the attacker's page would be of the same origin.
			return "this console answers to localhost and 127.0.0.1 only; to serve it elsewhere, set Config.Hosts"
		}
		if peer, _, err := net.SplitHostPort(r.RemoteAddr); err != nil || !loopback(peer) {
			return "this console answers to this machine only; to serve others, set Config.Hosts"
		}
	} else if !slices.Contains(c.cfg.Hosts, name) {
		return "this console does not answer to that host name"
	}
	origin := r.Header.Values("Origin")
	changes := r.Method != http.MethodGet && r.Method != http.MethodHead ||
		strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	if changes && len(origin) != 1 || len(origin) > 1 {
		return "a request that changes something must name its origin"
	}
	if len(origin) == 1 && !strings.EqualFold(origin[0], "https://"+r.Host) &&
		!(r.TLS == nil && strings.EqualFold(origin[0], "http://"+r.Host)) {
		return "a page of another origin may not ask this"
	}
	// A link elsewhere may open the page, which shows nothing by itself.
	opens := !changes && r.Header.Get("Sec-Fetch-Mode") == "navigate"
	if own := []string{"", "same-origin", "none"}; !opens && !slices.Contains(own, r.Header.Get("Sec-Fetch-Site")) {
		return "a page of another site may not ask this"
	}
	return ""
}

func loopback(name string) bool { return name == "localhost" || net.ParseIP(name).IsLoopback() }

// answering writes what a handler returns: an error that the page can show, or data unless it is nil.
func answering(next func(http.ResponseWriter, *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		data, err := next(w, r)
		answer(w, data, err)
	}
}

func answer(w http.ResponseWriter, data any, err error) {
	status := http.StatusOK
	if err != nil {
		p := problemOf(err)
		data = map[string]any{"error": p}
		status = cmp.Or(map[string]int{
			"input": http.StatusBadRequest, "unknown": http.StatusUnauthorized, "forbidden": http.StatusForbidden,
			"missing": http.StatusNotFound, "other": http.StatusConflict, "rate": http.StatusTooManyRequests,
			"closed": http.StatusServiceUnavailable,
		}[p.Code], http.StatusInternalServerError)
	}
	if data != nil {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		w.Write(encode(data))
	}
}

// limits bound what a client can ask of the server.
type limits struct {
	message           int64
	read, write, beat time.Duration
	sockets           int
	rate, burst       float64
}

var defaultLimits = limits{
	message: 20 << 20,         // bytes of one message of a page: an edit of the largest body, with every byte escaped once
	read:    15 * time.Second, // one request
	write:   15 * time.Second, // one frame
	beat:    15 * time.Second, // between signs of life
	sockets: 256,              // in all; one name may have half of them
	rate:    20,               // requests and commands a second, of one name
	burst:   200,
}

// pace is how much a name may still ask at a time.
type pace struct {
	left float64
	at   time.Time
}

// mayAsk bounds how often a name may ask, over all of its pages. There are no more names than were invited.
func (c *Console) mayAsk(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, p := c.cfg.Now(), c.paces[name]
	if since := now.Sub(p.at).Seconds(); since > 0 { // also if the name never asked
		p = pace{min(c.cfg.limits.burst, p.left+since*c.cfg.limits.rate), now}
	}
	if p.left < 1 {
		return false
	}
	p.left--
	c.paces[name] = p
	return true
}

const (
	signInTime = 12 * time.Hour
	maxName    = 64
)

// visitor is who has a cookie.
type visitor struct {
	Name  string    `json:"name"`
	Until time.Time `json:"until"`
	hash  string    // of the cookie
}

func hashOf(secret string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(secret))) }

func (c *Console) loadSignIns() error {
	data, err := os.ReadFile(c.cfg.SignIns)
	if err == nil {
		err = json.Unmarshal(data, &c.valid)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) { // also without a name
		err = c.saveSignIns(c.valid) // a file that cannot be written shows now
	}
	if err != nil {
		return fmt.Errorf("sign-ins in %s: %w; remove the file to sign everybody out", c.cfg.SignIns, err)
	}
	return nil
}

// saveSignIns keeps the cookies that hold; if it cannot, nothing changes. c is locked, or nobody else knows it yet.
func (c *Console) saveSignIns(valid map[string]visitor) error {
	now := c.cfg.Now()
	maps.DeleteFunc(valid, func(_ string, v visitor) bool { return !now.Before(v.Until) })
	data, err := json.Marshal(valid)
	if err == nil {
		err = replaceFile(c.cfg.SignIns, data)
	}
	if err == nil {
		c.valid = valid
	}
	return err
}

// Invite returns the address, beginning with the console's path, of a link that signs one browser in under a name:
// the name in that person's decisions, at most 64 bytes. It works once, as long as the Console lives. Put the scheme
// and host of the server before it, and hand it to that person alone. Invite everybody before the console serves: who
// signed in before a restart still is, if the new Console invites the name again.
func (c *Console) Invite(name string) (string, error) {
	switch {
	case name == "" || name != strings.TrimSpace(name) || len(name) > maxName:
		return "", fmt.Errorf("console: name %q: it must have 1 to %d bytes, and no space at its ends", name, maxName)
	case plaintext.Visible(name) != name || strings.ContainsFunc(name, plaintext.IsInvisible):
		return "", fmt.Errorf("console: name %q: it has characters that cannot be seen", name)
	case slices.Contains([]string{gate.ByPolicy, gate.ByUnaudited, byFile}, strings.ToLower(name)):
		return "", fmt.Errorf("console: name %q: it stands for decisions that no person made", name)
	}
	token := rand.Text()
	c.signing.Lock()
	defer c.signing.Unlock()
	c.links[hashOf(token)], c.invited[name] = name, true
	return c.cfg.Path + "/#token=" + token, nil
}

// cookieName has the port in it. Browsers do not tell cookies apart by it: two consoles on one machine would sign each
// other's people out.
func cookieName(r *http.Request) string {
	if port := (&url.URL{Host: r.Host}).Port(); port != "" {
		return "sidecoach_console_" + port
	}
	return "sidecoach_console"
}

// visitor returns who sent a request.
func (c *Console) visitor(r *http.Request) (visitor, bool) {
	for _, ck := range r.CookiesNamed(cookieName(r)) {
		if v, ok := c.lookup(hashOf(ck.Value)); ok {
			return v, true
		}
	}
	return visitor{}, false
}

func (c *Console) lookup(hash string) (visitor, bool) {
	c.signing.Lock()
	defer c.signing.Unlock()
	v, ok := c.valid[hash]
	v.hash = hash
	return v, ok && c.cfg.Now().Before(v.Until) && c.invited[v.Name]
}

// signIn uses up a token and returns a new cookie, in place of the one that the browser has.
func (c *Console) signIn(token string, had visitor) (cookie string, err error) {
	c.signing.Lock()
	defer c.signing.Unlock()
	name, ok := c.links[hashOf(token)]
	if !ok {
		return "", problem{"unknown", "This link does not sign anybody in. A link works once: ask the host for a new one."}
	}
	cookie = rand.Text()
	valid := maps.Clone(c.valid)
	delete(valid, had.hash)
	valid[hashOf(cookie)] = visitor{Name: name, Until: c.cfg.Now().Add(signInTime)}
	if err = c.saveSignIns(valid); err == nil {
		delete(c.links, hashOf(token))
	}
	return cookie, err
}

// signOut ends a cookie, also every copy of it, even if that cannot be kept.
func (c *Console) signOut(v visitor) error {
	c.signing.Lock()
	defer c.signing.Unlock()
	delete(c.valid, v.hash)
	return c.saveSignIns(c.valid)
}

// signedIn lets those in who have a cookie, but not too often.
func (c *Console) signedIn(next func(http.ResponseWriter, *http.Request, visitor) (any, error)) http.HandlerFunc {
	return answering(func(w http.ResponseWriter, r *http.Request) (any, error) {
		who, ok := c.visitor(r)
		switch {
		case !ok:
			return nil, problem{"unknown", "sign in with a link of the host"}
		case !c.mayAsk(who.Name):
			return nil, problem{"rate", "too many requests; wait a second"}
		}
		return next(w, r, who)
	})
}

func (c *Console) login(w http.ResponseWriter, r *http.Request) (any, error) {
	var in struct {
		Token  string `json:"token"`
		Switch bool   `json:"switch"` // sign in as another person than now
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&in)
	if err != nil || r.Header.Get("Content-Type") != "application/json" {
		return nil, problem{"input", `send {"token":"…"} as application/json`}
	}
	// Wrong tokens, which have no name, are bounded for all together. So nobody can keep others out by guessing.
	c.signing.Lock()
	name := c.links[hashOf(in.Token)]
	c.signing.Unlock()
	had, isIn := c.visitor(r)
	switch {
	case !c.mayAsk(name):
		return nil, problem{"rate", "too many attempts to sign in; wait a few seconds"}
	case name != "" && isIn && had.Name != name && !in.Switch:
		return nil, problem{"other", fmt.Sprintf("This browser is signed in as %s. The link is for %s.", had.Name, name)}
	}
	cookie, err := c.signIn(in.Token, had)
	if err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	c.closePages(had)
	c.setCookie(w, r, cookie, int(signInTime/time.Second))
	return map[string]string{"name": name}, nil
}

func (c *Console) setCookie(w http.ResponseWriter, r *http.Request, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: value, Path: c.cfg.Path, MaxAge: seconds,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), "https:"), // a proxy may have ended the TLS
	})
}

func (c *Console) logout(w http.ResponseWriter, r *http.Request) (any, error) {
	if who, ok := c.visitor(r); ok {
		err := c.signOut(who)
		c.closePages(who)
		if err != nil {
			return nil, fmt.Errorf("sign out: %w", err)
		}
	}
	c.setCookie(w, r, "", -1)
	return struct{}{}, nil
}

// closePages ends every page that a cookie opened.
func (c *Console) closePages(who visitor) {
	c.each(func(cl *client) {
		if cl.hash == who.hash {
			cl.end()
		}
	})
}
