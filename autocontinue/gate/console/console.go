package console

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// Console is the handler. It is safe for concurrent use.
type Console struct {
	cfg      Config
	changing sync.Mutex // one change of the rules at a time
	kept     string     // what the policy file has
	unwatch  func()
	mux      *http.ServeMux
	history  string         // the name of the history in which events are numbered; each Console has another
	handlers sync.WaitGroup // open sockets

	closed  atomic.Bool
	mu      sync.Mutex
	clients map[*client]struct{}
	paces   map[string]pace
	signing sync.Mutex         // of what follows; it is held while the file is written
	links   map[string]string  // names, by the hash of a token that was not used yet
	invited map[string]bool    // names
	valid   map[string]visitor // by the hash of a cookie
}

var goodPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// New checks the configuration and returns a handler for its Path and all below. If Config.PolicyFile has other rules
// than the session, New applies them.
func New(cfg Config) (*Console, error) {
	cfg.Path, cfg.Thread = cmp.Or(cfg.Path, "/coach_audit"), cmp.Or(cfg.Thread, "main")
	cfg.limits = cmp.Or(cfg.limits, defaultLimits)
	switch {
	case cfg.Session == nil:
		return nil, errors.New("console: Config.Session is missing")
	case !goodPath.MatchString(cfg.Path):
		return nil, fmt.Errorf("console: path %q: write it like /coach_audit, with a slash before each part and none at "+
			"the end", cfg.Path)
	}
	for _, h := range cfg.Hosts {
		if h == "" || h != strings.ToLower(h) || strings.ContainsAny(h, "/ *[]") || strings.Count(h, ":") == 1 {
			return nil, fmt.Errorf("console: host %q: give a lower-case name or address without scheme, port or wildcard", h)
		}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	c := &Console{
		cfg: cfg, history: rand.Text(), clients: make(map[*client]struct{}), paces: make(map[string]pace),
		links: make(map[string]string), invited: make(map[string]bool), valid: make(map[string]visitor),
	}
	err := c.loadSignIns()
	if err == nil {
		err = c.loadRules()
	}
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	c.unwatch = cfg.Session.Watch(func(gate.Event) {
		c.each(func(cl *client) {
			select {
			case cl.news <- struct{}{}:
			default:
			}
		})
	})
	c.mux = c.routes()
	return c, nil
}

// Path returns where the host mounts the handler: at Path, and at Path with a slash.
func (c *Console) Path() string { return c.cfg.Path }

// Close ends all sockets and waits for them, which a shutdown of the server does not do. Later requests get an error.
// The session stays as it is.
func (c *Console) Close() error {
	c.unwatch()
	c.closed.Store(true)
	c.each(func(cl *client) { cl.end() })
	c.handlers.Wait()
	return nil
}

// ServeHTTP serves the page, its data and its socket.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	// A client that sends its request slowly, or does not read the answer, is dropped. A socket has its own limits.
	conn := http.NewResponseController(w)
	conn.SetReadDeadline(time.Now().Add(c.cfg.limits.read))
	conn.SetWriteDeadline(time.Now().Add(c.cfg.limits.read + 2*c.cfg.limits.write))
	if c.closed.Load() {
		answer(w, nil, problem{"closed", "the console is shutting down"})
	} else if why := c.refusal(r); why != "" {
		answer(w, nil, problem{"forbidden", why})
	} else {
		c.mux.ServeHTTP(w, r)
	}
}

func (c *Console) routes() *http.ServeMux {
	mux := http.NewServeMux()
	p := c.cfg.Path
	mux.Handle("GET "+p, http.RedirectHandler(p+"/", http.StatusMovedPermanently))
	mux.HandleFunc("GET "+p+"/{$}", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, page, "page/index.html")
	})
	mux.Handle("GET "+p+"/page/", http.StripPrefix(p+"/", http.FileServerFS(page)))
	mux.HandleFunc("POST "+p+"/login", answering(c.login))
	mux.HandleFunc("POST "+p+"/logout", answering(c.logout))
	mux.HandleFunc("GET "+p+"/me", c.signedIn(func(_ http.ResponseWriter, _ *http.Request, who visitor) (any, error) {
		return map[string]string{"name": who.Name}, nil
	}))
	mux.HandleFunc("GET "+p+"/item", c.signedIn(c.item))
	mux.HandleFunc("GET "+p+"/events", c.signedIn(c.events))
	mux.HandleFunc("GET "+p+"/ws", c.signedIn(c.socket))
	return mux
}

//go:embed page
var page embed.FS // it holds no secret

// Config is what a host gives to [New].
type Config struct {
	Session *gate.Session // what the page shows and decides; required

	// Submit takes a message that the person called by wrote in the chat. The host proposes the context of a run for it:
	// the page shows the strings "message" and "from" of a payload. Submit returns when it has the message, not when the
	// agent has answered. The page shows its error to the writer. It is called concurrently. nil makes the chat read-only.
	Submit func(ctx context.Context, by, thread, message string) error

	Path string // where the handler is mounted, without a slash at its end; empty is /coach_audit

	// Hosts are the names, without port, that the console answers to. Empty are localhost and the loopback addresses; then
	// the console answers to this machine only. A host that gives names must serve TLS.
	Hosts []string

	// SignIns is the file that keeps who is signed in, so that a restart signs nobody in or out. Its folder must exist.
	// Empty forgets everybody at the end.
	SignIns string

	// PolicyFile is the file that keeps the rules that people edit on the page, a rule a line. New applies its content, or
	// writes it if it does not exist. Its folder must exist. Empty keeps the rules in the session alone.
	PolicyFile string

	Tools []string // the host's tools, for the checkboxes; the page adds tools that a rule names exactly

	// Schema returns a JSON Schema of a subject's body, or nil. The page takes from its properties the labels (title),
	// help (description), types (type) and choices (enum) of the fields that a person edits. It checks nothing.
	Schema func(gate.Subject) json.RawMessage

	Thread string           // the conversation that the chat begins with; empty is "main"
	Now    func() time.Time // the clock; nil is time.Now

	limits limits // of a test; zero is defaultLimits
}
