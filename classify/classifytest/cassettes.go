package classifytest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// RecordVariable is the environment variable that says what [Replay] and [Record] do with a request that has no cassette:
//
//	(empty)  Replay fails, Record asks the endpoint
//	1        ask the endpoint for what is missing, with the key and the base URL that the test is configured with, and anew
//	         for what it refused (a status from 300 on)
//	all      ask the endpoint anew for everything
//	hand     ask nobody: keep the answer of the same case where it was written by hand, else write a draft to fill in
const RecordVariable = "SIDECOACH_RECORD"

// ByHand is the origin of an answer that was not recorded from an endpoint.
const ByHand = "written by hand"

// ErrNoCassette is what a request without a cassette fails with. The error is a [context.Canceled] as well: it says nothing
// about an endpoint.
var ErrNoCassette = errors.New("classifytest: no cassette for this request")

// maxAnswer is how large a recorded answer may be.
const maxAnswer = 4 << 20

// Cassettes answers HTTP requests with recorded answers: it is the transport of the client that a classifier is given. One
// file of its directory holds one call, found by the hash of method, path and body; host, query and headers do not count, and
// of the path only what follows the base URL's: /chat/completions, or /openai/deployments/NAME/chat/completions and the like.
// It is safe for concurrent use. A directory belongs to one test, and one test process records into it at a time.
//
// No value of an authorization, api-key or cookie header is written, nor any other request header, nor the path of the base
// URL; where an answer or a request repeats such a value, a password of the URL, a key in its query, or a part of its path that
// looks like one (16 characters or more with a figure among them), "[redacted]" takes its place. It is looked for as it is,
// spelled with the escapes of JSON, percent-encoded, and in base64.
//
// When the test ends well, and the command line did not narrow it to some of its subtests (by -run or -skip), cassettes that
// it did not ask for fail it; if it was recording, they are deleted.
type Cassettes struct {
	// Origin is written into new cassettes; set it before the first request. Empty is the answer's model and today's date.
	Origin string

	t       testing.TB
	dir     string
	mode    mode
	next    http.RoundTripper
	command string // that runs the test, without RecordVariable

	mu     sync.Mutex
	tapes  map[string]*tape // by key
	missed map[string]bool
	unkept int // calls that were to be recorded and got no answer to keep
}

// tape is a cassette in its file.
type tape struct {
	cassette
	name        string
	used, fresh bool // fresh: written by this process
}

// refused reports whether an endpoint gave no answer, for what may be the fault of that day: a wrong base URL, no credit.
func (k *tape) refused() bool { return k.Response.Status >= 300 && !isByHand(k.cassette) }

type mode string

const (
	replaying  mode = ""
	missing    mode = "1"
	everything mode = "all"
	handmade   mode = "hand"
)

// Replay answers from the cassettes in dir, and fails t for a request that has none: it says which cassette is nearest, what
// differs, and the command that records it. With [RecordVariable] set it records, over [http.DefaultTransport].
func Replay(t testing.TB, dir string) *Cassettes {
	t.Helper()
	return open(t, dir, http.DefaultTransport, replaying)
}

// Record asks next for what has no cassette in dir yet, or one of a refusal, and writes one. Answers that say nothing about the prompt are passed
// on and not written: 401, 403, 407, 408, 409, 425, 429 and 5xx.
func Record(t testing.TB, dir string, next http.RoundTripper) *Cassettes {
	t.Helper()
	return open(t, dir, next, missing)
}

func open(t testing.TB, dir string, next http.RoundTripper, m mode) *Cassettes {
	t.Helper()
	switch v := mode(os.Getenv(RecordVariable)); v {
	case replaying:
	case missing, everything, handmade:
		m = v
	default:
		t.Fatalf("classifytest: %s is %.20q: it can be 1, all or hand", RecordVariable, v)
	}
	c := &Cassettes{t: t, dir: dir, mode: m, next: next, command: command(t), tapes: map[string]*tape{}, missed: map[string]bool{}}
	if next == nil {
		c.next = http.DefaultTransport
	}
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.finish)
	return c
}

// Recording reports whether requests may go to the endpoint: then a real key is needed.
func (c *Cassettes) Recording() bool { return c.mode == missing || c.mode == everything }

func (c *Cassettes) load() error {
	files, err := os.ReadDir(c.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("classifytest: cassettes: %w", err)
	}
	for _, f := range files {
		if f.IsDir() || !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		k, err := readCassette(filepath.Join(c.dir, f.Name()))
		if err != nil {
			return err
		}
		if other := c.tapes[k.Key]; other != nil {
			return fmt.Errorf("classifytest: cassettes in %s: %s and %s have the same request", c.dir, other.name, f.Name())
		}
		c.tapes[k.Key] = &tape{cassette: k, name: f.Name()}
	}
	return nil
}

// command returns how to run the test that called Replay or Record.
func command(t testing.TB) string {
	root, _, _ := strings.Cut(t.Name(), "/")
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)]) // from the caller of Replay or Record
	var pkg string
	for {
		f, more := frames.Next() // path/of/package_test.TestName.func1
		slash := strings.LastIndex(f.Function, "/") + 1
		last, name, _ := strings.Cut(f.Function[slash:], ".")
		if pkg == "" || name == root || strings.HasPrefix(name, root+".") {
			pkg = f.Function[:slash] + last
		}
		if !more {
			break
		}
	}
	path, err := url.PathUnescape(strings.TrimSuffix(pkg, "_test"))
	if err != nil || path == "" || path == "main" {
		path = "."
	}
	return fmt.Sprintf("go test -count=1 -run '^%s$' %s", root, path)
}

// RoundTrip answers one request.
func (c *Cassettes) RoundTrip(req *http.Request) (*http.Response, error) {
	var raw []byte
	if req.Body != nil {
		var err error
		raw, err = io.ReadAll(io.LimitReader(req.Body, maxRequest))
		req.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("classifytest: cassettes: read request: %w", err)
		}
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	secrets := secretsOf(req)
	body, err := parseBody(scrub(raw, secrets))
	if err != nil {
		return nil, fmt.Errorf("classifytest: cassettes: %w", err)
	}
	_, path := splitPath(req.URL.Path)
	asked := cassette{Request: cassetteRequest{req.Method, path, body}, Key: requestKey(req.Method, path, body)}
	sc, _ := req.Context().Value(scopeKey{}).(*scope)
	if sc != nil {
		asked.Case = sc.name
	}

	if k, ok := c.replay(asked.Key); ok {
		if k.Origin == draft {
			c.complain(sc, k.Key, todo(filepath.Join(c.dir, k.name)))
		}
		return k.Response.http(req), nil
	}
	switch c.mode {
	case replaying:
		return nil, c.miss(sc, asked)
	case handmade:
		r, err := c.byHand(sc, asked)
		if err != nil {
			return nil, err
		}
		return r.http(req), nil
	}
	return c.record(req, raw, asked, secrets)
}

// replay returns the cassette to answer with. It is not changed any more.
func (c *Cassettes) replay(key string) (*tape, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.tapes[key]
	if k == nil || !k.fresh && (c.mode == everything || c.mode == missing && k.refused()) {
		return nil, false
	}
	k.used = true
	return k, true
}

func (c *Cassettes) record(req *http.Request, raw []byte, asked cassette, secrets []string) (_ *http.Response, err error) {
	recorded := false
	defer func() {
		if !recorded {
			c.mu.Lock()
			c.unkept++
			c.mu.Unlock()
		}
	}()
	out := req.Clone(req.Context())
	out.Body, out.GetBody = http.NoBody, nil
	if len(raw) > 0 {
		out.Body = io.NopCloser(bytes.NewReader(raw))
	}
	out.Header.Del("Accept-Encoding") // the transport unpacks only what it asked for itself
	resp, err := c.next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	resp.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("classifytest: cassettes: read answer: %w", err)
	}
	if len(body) > maxAnswer {
		return nil, errors.New("classifytest: cassettes: the answer is too large to be recorded")
	}
	switch s := resp.StatusCode; s {
	case 401, 403, 407, 408, 409, 425, 429:
	default:
		if s >= 500 {
			break
		}
		clean := scrub(body, secrets)
		asked.Origin = cmp.Or(c.Origin, origin(clean))
		asked.Response = newResponse(s, resp.Header, clean)
		for name, v := range asked.Response.Header {
			asked.Response.Header[name] = string(scrub([]byte(v), secrets))
		}
		if err := c.keep(asked); err != nil {
			return nil, err
		}
		recorded = true
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Request = req
	return resp, nil
}

// origin says which model gave an answer, and when.
func origin(answer []byte) string {
	var a struct{ Model string }
	_ = json.Unmarshal(answer, &a) // an error has no model
	return fmt.Sprintf("recorded from %s on %s", cmp.Or(a.Model, "an endpoint that names no model"), time.Now().UTC().Format(time.DateOnly))
}

// keep writes a cassette and answers with it from now on.
func (c *Cassettes) keep(k cassette) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := k.file()
	if old := c.tapes[k.Key]; old != nil {
		name, k.Note = old.name, old.Note
	}
	if err := k.write(c.dir, name); err != nil {
		return err
	}
	c.tapes[k.Key] = &tape{cassette: k, name: name, used: true, fresh: true}
	return nil
}

// Unused returns the files that no request has asked for so far, sorted.
func (c *Cassettes) Unused() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, k := range c.tapes {
		if !k.used {
			names = append(names, filepath.Join(c.dir, k.name))
		}
	}
	slices.Sort(names)
	return names
}

// finish looks for cassettes that are not needed any more.
func (c *Cassettes) finish() {
	unused := c.Unused()
	if len(unused) == 0 || c.t.Failed() || c.t.Skipped() || narrowed() {
		return
	}
	if c.mode == replaying {
		c.t.Errorf("classifytest: cassettes that nothing asked for, perhaps of an older prompt:\n\t%s\nto delete them:\n\trm %s",
			strings.Join(unused, "\n\t"), strings.Join(unused, " "))
		return
	}
	if c.failedToRecord() {
		c.t.Errorf("classifytest: some calls were not recorded, so no cassette is deleted; look at the endpoint and record again")
		return
	}
	for _, path := range unused {
		if err := os.Remove(path); err != nil {
			c.t.Errorf("classifytest: cassettes: %v", err)
		}
	}
	c.t.Logf("classifytest: deleted cassettes that nothing asked for:\n\t%s", strings.Join(unused, "\n\t"))
}

// failedToRecord reports whether a call that was to be recorded got no answer to keep, or none was made at all.
func (c *Cassettes) failedToRecord() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh := 0
	for _, k := range c.tapes {
		if k.fresh {
			fresh++
		}
	}
	return c.unkept > 0 || c.mode == everything && fresh == 0
}

// narrowed reports whether the command line leaves out subtests of the tests that run.
func narrowed() bool {
	for _, name := range []string{"test.run", "test.skip"} {
		if f := flag.Lookup(name); f != nil && (strings.Contains(f.Value.String(), "/") || name == "test.skip" && f.Value.String() != "") {
			return true
		}
	}
	return false
}
