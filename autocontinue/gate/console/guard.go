package console

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
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
	if len(origin) == 1 && !sameOrigin(origin[0], r) {
		return "a page of another origin may not ask this"
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin", "none":
	default:
		// A link elsewhere may open the page, which shows nothing by itself.
		if changes || r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			return "a page of another site may not ask this"
		}
	}
	return ""
}

func sameOrigin(origin string, r *http.Request) bool {
	return strings.EqualFold(origin, "https://"+r.Host) || r.TLS == nil && strings.EqualFold(origin, "http://"+r.Host)
}

func loopback(name string) bool { return name == "localhost" || net.ParseIP(name).IsLoopback() }

// answering writes what a handler returns: an error that the page can show, or data unless it is nil.
func answering(next func(http.ResponseWriter, *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if data, err := next(w, r); err != nil {
			refuse(w, problemOf(err))
		} else if data != nil {
			answer(w, http.StatusOK, data)
		}
	}
}

func refuse(w http.ResponseWriter, p problem) {
	status := map[string]int{
		"input": http.StatusBadRequest, "unknown": http.StatusUnauthorized, "forbidden": http.StatusForbidden,
		"missing": http.StatusNotFound, "other": http.StatusConflict, "rate": http.StatusTooManyRequests,
		"closed": http.StatusServiceUnavailable,
	}[p.Code]
	answer(w, cmp.Or(status, http.StatusInternalServerError), map[string]any{"error": p})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	w.Write(encode(v))
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
