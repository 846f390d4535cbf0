package console

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// Console is the handler. It is safe for concurrent use.
type Console struct {
	cfg      Config
	doors    doors
	view     *view
	rules    *rules
	unwatch  func()
	mux      *http.ServeMux
	logins   *bucket
	limits   limits
	history  string // names what the numbers of events count in
	ending   chan struct{}
	endOnce  sync.Once
	handlers sync.WaitGroup // sockets that are open

	mu      sync.Mutex
	clients map[*client]struct{}
	sockets map[string]int   // open, by name
	paces   map[string]*pace // by name
}

// limits bound what a client can ask of the server; tests make them small.
type limits struct {
	message int64         // bytes of one message of a page
	write   time.Duration // a client that takes longer to read one frame is dropped
	beat    time.Duration // between signs of life
	backlog int           // frames kept for those who come back
	sockets int           // in all; one name may have half of them
	rate    float64       // commands a second, of one name
	burst   float64
}

var defaultLimits = limits{
	message: 20 << 20, // an edit of the largest body, every byte of it escaped once
	write:   15 * time.Second,
	beat:    15 * time.Second,
	backlog: 1000,
	sockets: 256,
	rate:    20,
	burst:   60,
}

var goodPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// New checks the configuration and returns a handler for its Path and all below. The rules of Config.PolicyFile are
// applied to the session when they differ from those it has.
func New(cfg Config) (*Console, error) { return newConsole(cfg, defaultLimits) }

func newConsole(cfg Config, l limits) (*Console, error) {
	if cfg.Session == nil {
		return nil, errors.New("console: Config.Session is missing")
	}
	if cfg.Path == "" {
		cfg.Path = DefaultPath
	}
	if !goodPath.MatchString(cfg.Path) {
		return nil, fmt.Errorf("console: path %q: write it like %s, with a slash before each part and none at the end", cfg.Path, DefaultPath)
	}
	for _, h := range cfg.Hosts {
		if h == "" || h != strings.ToLower(h) || strings.ContainsAny(h, "/ *[]") || strings.Count(h, ":") == 1 {
			return nil, fmt.Errorf("console: host %q: give a lower-case name or address without scheme, port or wildcard", h)
		}
	}
	if cfg.Secret == nil {
		cfg.Secret = make([]byte, 32)
		rand.Read(cfg.Secret)
	}
	if len(cfg.Secret) < 32 {
		return nil, fmt.Errorf("console: a secret of %d bytes is too short: it needs 32", len(cfg.Secret))
	}
	if cfg.Thread == "" {
		cfg.Thread = "main"
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Message == nil {
		cfg.Message = plainMessage
	}
	rules, err := loadRules(cfg.PolicyFile, cfg.Tools, cfg.Session, cfg.Now())
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	c := &Console{
		cfg:     cfg,
		doors:   doors{secret: cfg.Secret, path: cfg.Path, now: cfg.Now},
		rules:   rules,
		limits:  l,
		logins:  newBucket(1, 40, cfg.Now()),
		ending:  make(chan struct{}),
		clients: make(map[*client]struct{}),
		sockets: make(map[string]int), paces: make(map[string]*pace),
		history: rand.Text(),
	}
	c.view = newView(cfg.Session, cfg.Message, l.backlog)
	c.unwatch = cfg.Session.Watch(func(gate.Event) { c.news() })
	c.view.advance()
	c.mux = c.routes()
	return c, nil
}

// Path returns where the handler is to be mounted: at Path and at Path with a slash.
func (c *Console) Path() string { return c.cfg.Path }

// Close ends all sockets and waits for them. A server that is shut down does not close them by itself. The handler
// answers later requests with an error; the session is left as it is.
func (c *Console) Close() error {
	c.endOnce.Do(func() {
		c.unwatch()
		c.mu.Lock()
		close(c.ending)
		c.mu.Unlock()
	})
	c.handlers.Wait()
	return nil
}

func (c *Console) closed() bool {
	select {
	case <-c.ending:
		return true
	default:
		return false
	}
}

// ServeHTTP serves the page, its data and its socket.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	if c.closed() {
		refuse(w, http.StatusServiceUnavailable, "closed", "the console is shutting down")
		return
	}
	if why := c.stranger(r); why != "" {
		refuse(w, http.StatusForbidden, "forbidden", why)
		return
	}
	c.mux.ServeHTTP(w, r)
}

func (c *Console) routes() *http.ServeMux {
	mux := http.NewServeMux()
	p := c.cfg.Path
	mux.HandleFunc("GET "+p, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, p+"/", http.StatusMovedPermanently)
	})
	mux.HandleFunc("GET "+p+"/{$}", servePage)
	mux.HandleFunc("GET "+p+"/page/{file}", servePage)
	mux.HandleFunc("POST "+p+"/login", c.login)
	mux.HandleFunc("POST "+p+"/logout", c.logout)
	mux.HandleFunc("GET "+p+"/me", c.known(c.me))
	mux.HandleFunc("GET "+p+"/item", c.known(c.item))
	mux.HandleFunc("GET "+p+"/ws", c.known(c.socket))
	return mux
}

// news tells every client that there is something to read.
func (c *Console) news() {
	c.view.advance()
	c.mu.Lock()
	defer c.mu.Unlock()
	for cl := range c.clients {
		cl.wake()
	}
}
