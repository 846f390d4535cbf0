package classifytest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
)

// recordVariable is documented at [Replay].
const recordVariable = "SIDECOACH_RECORD"

const (
	byHand = "written by hand" // the origin of an answer that no model gave
	draft  = "draft"           // the origin of an answer that nobody has written yet
)

type mode string

const (
	replaying  mode = ""
	missing    mode = "1"
	everything mode = "all"
	handmade   mode = "hand"
)

// cassettes is a cache of recorded answers. It is safe for concurrent use.
type cassettes struct {
	t       testing.TB
	dir     string
	mode    mode
	command string // runs the test, without the variable

	mu       sync.Mutex
	files    map[string]*file // by key
	reported map[string]bool
}

// file is a cassette in its file. A fresh one was written by this process.
type file struct {
	llm.Recording
	name        string
	used, fresh bool
}

// Replay returns a cache that answers from the cassettes in dir: [llm.Config].Cache of the client that a classifier is
// given. It fails t for a request that has none, and says what differs from the cassette of the same case and which
// command records it. The environment variable SIDECOACH_RECORD says what else to do with such a request:
//
//	(empty)  fail the test
//	1        ask the model, with the key and the base URL that the test is configured with
//	all      ask the model anew for everything
//	hand     ask nobody: keep the answer of the same case if it was written by hand, else write a draft to fill in
//
// Each file of dir is an [llm.Recording]. It has the model, the settings and both messages, and neither the key nor any
// header. A folder belongs to one test. When the test passes, and the command line did not narrow it to some of its
// subtests (by -run or -skip), cassettes that it did not ask for fail it. If it was recording, they are deleted.
func Replay(t testing.TB, dir string) llm.Cache {
	t.Helper()
	root, _, _ := strings.Cut(t.Name(), "/")
	c := &cassettes{t: t, dir: dir, mode: mode(os.Getenv(recordVariable)),
		command: "go test -count=1 -run '^" + root + "$'", files: map[string]*file{}, reported: map[string]bool{}}
	if !slices.Contains([]mode{replaying, missing, everything, handmade}, c.mode) {
		t.Fatalf("classifytest: %s is %.20q: it can be 1, all or hand", recordVariable, c.mode)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatalf("classifytest: %v", err)
	}
	for _, path := range names {
		var r llm.Recording
		switch err := r.Read(path); {
		case err != nil:
			t.Fatalf("classifytest: %v", err)
		case r.Origin == "":
			t.Fatalf("classifytest: %s: its origin does not say what made the answer", path)
		}
		c.files[r.Key] = &file{Recording: r, name: filepath.Base(path)}
	}
	t.Cleanup(c.finish)
	return c
}

// Load returns the recorded answer to a request.
func (c *cassettes) Load(ctx context.Context, r llm.Request) (llm.Answer, error) {
	key, sc := r.Key(), scopeOf(ctx)
	c.mu.Lock()
	f := c.files[key]
	if f != nil && (f.fresh || c.mode != everything) {
		f.used = true
		c.mu.Unlock()
		if f.Origin == draft {
			c.complain(sc, key, c.todo(f))
		}
		return llm.Answer{Object: f.Answer, Usage: classify.Usage{Model: f.Model}}, nil
	}
	c.mu.Unlock()
	switch c.mode {
	case replaying:
		text := "classifytest: no cassette for this request" + c.explain(sc, r)
		c.complain(sc, key, text)
		return llm.Answer{}, errors.New(text)
	case handmade:
		return c.byHand(sc, r)
	}
	return llm.Answer{}, fs.ErrNotExist
}

// Store writes an answer that a model gave.
func (c *cassettes) Store(ctx context.Context, r llm.Request, a llm.Answer) error {
	_, err := c.keep(llm.Recording{Request: r, Answer: a.Object, Model: a.Usage.Model}, scopeOf(ctx))
	return err
}

// keep writes a cassette and answers with it from now on.
func (c *cassettes) keep(r llm.Recording, sc *scope) (*file, error) {
	if sc != nil {
		r.Case = sc.name
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	name, err := r.Write(c.dir)
	if err != nil {
		return nil, fmt.Errorf("classifytest: %w", err)
	}
	f := &file{Recording: r, name: name, used: true, fresh: true}
	c.files[r.Key] = f
	return f, nil
}

// byHand keeps the answer that was written by hand for the same case, or writes a draft of one.
func (c *cassettes) byHand(sc *scope, r llm.Request) (llm.Answer, error) {
	recording := llm.Recording{Origin: draft, Request: r, Answer: json.RawMessage(Verdict{Type: classify.Question}.JSON())}
	if old := c.ofCase(sc); old != nil && strings.HasPrefix(old.Origin, byHand) {
		recording.Origin, recording.Answer, recording.Model = old.Origin, old.Answer, old.Model
	}
	f, err := c.keep(recording, sc)
	if err != nil {
		return llm.Answer{}, err
	}
	if f.Origin == draft {
		c.complain(sc, f.Key, c.todo(f))
	}
	return llm.Answer{Object: f.Answer}, nil
}

// todo says what is to be done about a draft.
func (c *cassettes) todo(f *file) string {
	return fmt.Sprintf("classifytest: %s is a draft: write its answer, and as its origin %q", filepath.Join(c.dir, f.name),
		byHand)
}

// ofCase returns the cassette of a case that this process did not write, or nil.
func (c *cassettes) ofCase(sc *scope) *file {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.files {
		if sc != nil && f.Case == sc.name && !f.fresh {
			return f
		}
	}
	return nil
}

// complain reports through Run's subtest, which knows the case, or else once through the test.
func (c *cassettes) complain(sc *scope, key, text string) {
	c.mu.Lock()
	again := c.reported[key]
	c.reported[key] = true
	c.mu.Unlock()
	if sc != nil {
		sc.add(text)
	} else if !again {
		c.t.Errorf("%s", text)
	}
}

// explain says what differs from the cassette of the same case, and how to record the request.
func (c *cassettes) explain(sc *scope, now llm.Request) string {
	var b strings.Builder
	if sc != nil {
		fmt.Fprintf(&b, ", case %q", sc.name)
	}
	if old := c.ofCase(sc); old != nil {
		fmt.Fprintf(&b, "\nits cassette is %s (%s). The requests differ first here:%s", filepath.Join(c.dir, old.name),
			old.Origin, difference(old.Request, now))
	}
	fmt.Fprintf(&b, "\nto record it from the model that the test names, with its key:\n\t%s=1 %s", recordVariable,
		c.command)
	fmt.Fprintf(&b, "\nto write the answer by hand, or to keep one that was:\n\t%s=hand %s", recordVariable, c.command)
	return b.String()
}

// difference shows the first line in which two requests differ.
func difference(old, now llm.Request) string {
	lines := func(r llm.Request) []string {
		b, _ := json.MarshalIndent(r, "", " ") // it was marshalled before, for its key
		return append(strings.Split(string(b), "\n"), "")
	}
	a, b := lines(old), lines(now)
	n := 0
	for n < min(len(a), len(b))-1 && a[n] == b[n] {
		n++
	}
	return "\n\t- " + quote(strings.TrimSpace(a[n]), 100) + "\n\t+ " + quote(strings.TrimSpace(b[n]), 100)
}

// finish looks for cassettes that are not needed any more.
func (c *cassettes) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var unused []string
	fresh := 0
	for _, f := range c.files {
		if f.fresh {
			fresh++
		}
		if !f.used {
			unused = append(unused, filepath.Join(c.dir, f.name))
		}
	}
	slices.Sort(unused)
	switch {
	case len(unused) == 0 || c.t.Failed() || c.t.Skipped() || narrowed():
	case c.mode == replaying:
		c.t.Errorf("classifytest: cassettes that nothing asked for, perhaps of an older prompt:\n\t%s\n"+
			"to delete them:\n\trm %s",
			strings.Join(unused, "\n\t"), strings.Join(unused, " "))
	case c.mode == everything && fresh == 0:
		c.t.Errorf("classifytest: nothing was recorded, so no cassette is deleted; look at the endpoint and record again")
	default:
		for _, path := range unused {
			if err := os.Remove(path); err != nil {
				c.t.Errorf("classifytest: %v", err)
			}
		}
		c.t.Logf("classifytest: deleted cassettes that nothing asked for:\n\t%s", strings.Join(unused, "\n\t"))
	}
}

// narrowed reports whether the command line leaves out subtests of the tests that run.
func narrowed() bool {
	for _, name := range []string{"test.run", "test.skip"} {
		f := flag.Lookup(name)
		if f != nil && (strings.Contains(f.Value.String(), "/") || name == "test.skip" && f.Value.String() != "") {
			return true
		}
	}
	return false
}
