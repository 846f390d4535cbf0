package console

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

const (
	stay    = 12 * time.Hour // how long a cookie lets somebody in
	maxName = 64
)

// doors knows who may come in.
type doors struct {
	secret []byte
	path   string
	now    func() time.Time

	mu      sync.Mutex
	invited []invitation
	left    map[string]time.Time // stays that were signed out, until when their cookies would have held
}

type invitation struct {
	hash [sha256.Size]byte // of the token, which is not kept
	name string
}

// Invite returns the address, beginning with the console's path, that lets its bearer in under the name: what the person's
// decisions are signed with, at most 64 bytes. It works as long as the Console lives. Put the scheme and host of the
// server before it and hand it to that person alone; it is not shown again.
func (c *Console) Invite(name string) (string, error) {
	switch {
	case name == "" || name != strings.TrimSpace(name):
		return "", fmt.Errorf("console: name %q: it must not be empty, nor begin or end with a space", name)
	case len(name) > maxName:
		return "", fmt.Errorf("console: a name of %d bytes is too long: at most %d", len(name), maxName)
	case !utf8.ValidString(name) || gate.Visible(name) != name || strings.ContainsAny(name, "\n\r\t"):
		return "", fmt.Errorf("console: name %q: it has characters that can't be seen", name)
	case name == gate.ByPolicy || name == gate.ByUnaudited || name == byFile:
		return "", fmt.Errorf("console: name %q: it stands for decisions that no human made", name)
	}
	token := rand.Text()
	c.doors.mu.Lock()
	defer c.doors.mu.Unlock()
	c.doors.invited = append(c.doors.invited, invitation{sha256.Sum256([]byte(token)), name})
	return c.cfg.Path + "/#token=" + token, nil
}

// bearer returns the name a token was made for. It takes as long for a wrong token as for a right one.
func (d *doors) bearer(token string) (string, bool) {
	hash := sha256.Sum256([]byte(token))
	d.mu.Lock()
	defer d.mu.Unlock()
	name, found := "", false
	for _, i := range d.invited {
		if subtle.ConstantTimeCompare(hash[:], i.hash[:]) == 1 {
			name, found = i.name, true
		}
	}
	return name, found
}

// cookieName has the port in it, which browsers don't tell cookies apart by: two consoles on one machine would sign each
// other's people out.
func cookieName(r *http.Request) string {
	port := (&url.URL{Host: r.Host}).Port()
	if port == "" {
		return "sidecoach_console"
	}
	return "sidecoach_console_" + port
}

// cookie says that the name may come in until the stay is over. Each has an ID, so that it can be ended alone.
func (d *doors) cookie(r *http.Request, name string) *http.Cookie {
	until := d.now().Add(stay)
	said := base64.RawURLEncoding.EncodeToString([]byte(name)) + "." + strconv.FormatInt(until.Unix(), 10) + "." + rand.Text()
	return &http.Cookie{
		Name: cookieName(r), Value: said + "." + d.sign(said), Path: d.path, MaxAge: int(stay / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
}

func (d *doors) sign(said string) string {
	mac := hmac.New(sha256.New, d.secret)
	io.WriteString(mac, "sidecoach console cookie\n"+d.path+"\n"+said)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// caller returns who sent a request, by its cookie.
func (d *doors) caller(r *http.Request) (visitor, bool) {
	for _, ck := range r.CookiesNamed(cookieName(r)) {
		i := strings.LastIndexByte(ck.Value, '.')
		if i < 0 || subtle.ConstantTimeCompare([]byte(d.sign(ck.Value[:i])), []byte(ck.Value[i+1:])) != 1 {
			continue
		}
		said := strings.Split(ck.Value[:i], ".")
		if len(said) != 3 {
			continue
		}
		raw, err := base64.RawURLEncoding.DecodeString(said[0])
		sec, err2 := strconv.ParseInt(said[1], 10, 64)
		v := visitor{name: string(raw), until: time.Unix(sec, 0), stay: said[2]}
		if err == nil && err2 == nil && d.now().Before(v.until) && !d.over(v) {
			return v, true
		}
	}
	return visitor{}, false
}

// end makes a cookie worthless, also a copy of it.
func (d *doors) end(v visitor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left == nil {
		d.left = make(map[string]time.Time)
	}
	now := d.now()
	maps.DeleteFunc(d.left, func(_ string, until time.Time) bool { return !now.Before(until) })
	d.left[v.stay] = v.until
}

func (d *doors) over(v visitor) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, left := d.left[v.stay]
	return left
}

type visitor struct {
	name  string
	until time.Time
	stay  string // ID of the cookie
}

// known lets those in who have a cookie, not too often.
func (c *Console) known(next func(http.ResponseWriter, *http.Request, visitor)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, ok := c.doors.caller(r)
		if !ok {
			refuse(w, http.StatusUnauthorized, "unknown", "sign in with the link that the host printed")
			return
		}
		if !c.pace(who.name).requests.take(c.cfg.Now()) {
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusTooManyRequests, "rate", "too many requests; wait a second")
			return
		}
		next(w, r, who)
	}
}

// pace bounds how often a name may ask, over however many pages. There are no more names than were signed in.
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

func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	var in struct{ Token string }
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&in)
	if err != nil || r.Header.Get("Content-Type") != "application/json" {
		refuse(w, http.StatusBadRequest, "input", `send {"token":"…"} as application/json`)
		return
	}
	// Wrong tokens are bounded for all together, right ones by their name: who guesses keeps nobody else out.
	name, ok := c.doors.bearer(in.Token)
	tries := c.logins
	if ok {
		tries = c.pace(name).logins
	}
	if !tries.take(c.cfg.Now()) {
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusTooManyRequests, "rate", "too many attempts to sign in; wait a few seconds")
		return
	}
	if !ok {
		refuse(w, http.StatusUnauthorized, "unknown", "this token lets nobody in; use the link that the host printed when it started last")
		return
	}
	c.endStay(r) // its pages come back with the new cookie
	ck := c.doors.cookie(r, name)
	ck.Secure = r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), "https:") // a proxy may have ended the TLS
	http.SetCookie(w, ck)
	answer(w, http.StatusOK, map[string]string{"name": name})
}

func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	c.endStay(r)
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Path: c.cfg.Path, MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	answer(w, http.StatusOK, struct{}{})
}

// endStay lets a cookie, and every page that it opened, go no further.
func (c *Console) endStay(r *http.Request) {
	who, ok := c.doors.caller(r)
	if !ok {
		return
	}
	c.doors.end(who)
	c.mu.Lock()
	defer c.mu.Unlock()
	for cl := range c.clients {
		if cl.stay == who.stay {
			cl.leave()
		}
	}
}

func (c *Console) me(w http.ResponseWriter, _ *http.Request, v visitor) {
	answer(w, http.StatusOK, map[string]string{"name": v.name})
}
