package cmdwitness

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

var (
	goProgram = lazy.New(`^go(?:[0-9][0-9.a-z]*)?(?:\.exe)?$`)
	// noTests matches flags with which a package may end well without a test.
	noTests = lazy.New(`^--?(?:test\.)?(?:bench|fuzz|list|c|n)(?:=|$)`)
)

// goTestFlags returns where the flags of go test begin, behind "test" and -C. It is -1 for any other command.
func goTestFlags(words []string) int {
	if !goProgram.Match(filepath.Base(words[0])) {
		return -1
	}
	test := -1
	for i := 1; i < len(words); i++ {
		switch flag := strings.TrimLeft(words[i], "-"); {
		case words[i] == "test" && test < 0:
			test = i + 1
		case flag != words[i] && strings.HasPrefix(flag, "C="):
		case flag != words[i] && flag == "C" && i+1 < len(words):
			i++
		default:
			return test
		}
		if test > 0 {
			test = i + 1
		}
	}
	return test
}

// goTest runs go test and counts what it reports as JSON: test functions (tests, fuzz tests, examples), each once.
// Subtests are named among the failures, and counted in Parts.
func (w *Witness) goTest(ctx context.Context, run verify.Run, args []string) (verify.Run, error) {
	e := newEvents()
	res, err := w.start(ctx, &run, Command{Args: args, Keep: keepBuild, Stdout: e})
	if err != nil || run.Why != "" {
		return run, err
	}
	e.end()
	e.noTests = slices.ContainsFunc(args, noTests.Match)
	e.tally(&run)
	run.Status, run.Why = e.judge(res, run)
	run.Output = e.shown(run, res)
	return run, ctx.Err()
}

// The bounds of what is remembered of a run.
const (
	maxEvent = 1 << 20 // bytes of a line; go test cuts a test's own lines into pieces of 4 KiB
	maxNames = 200_000 // tests and packages
	maxShown = 50      // failures that are named
	keepTest = 2 << 10 // bytes of the output of a test or a package
	keepRun  = 16 << 10
	// keepBuild is of what compilers said, from the start: the first error is the one to mend.
	keepBuild = 8 << 10
)

// event is a line of go test -json; go doc test2json describes it.
type event struct{ Action, Package, Test, Output, FailedBuild string }

// result is how a test or a package ended.
type result uint8

const (
	running result = iota
	skipped
	passed
	failed
)

// test is one named test. Where it ran more than once, the worst result stands.
type test struct {
	result result
	open   bool   // it was started and has not ended
	said   bool   // it printed its result since
	output []byte // the end of it
}

// pkg is one package under test.
type pkg struct {
	name     string
	result   result
	tests    map[string]*test
	failed   []string // the tests that failed, in order
	failures []string // those of them without a failing subtest
	broken   bool     // it was not built, or could not be set up
	setup    bool     // an import of it is not installed
	cached   bool
	strange  string // what no run of go test reports
	output   []byte
}

// events reads the output of go test -json, as it is written to it. Its memory does not grow with what tests print.
type events struct {
	line     []byte // the start of a line that has not ended
	packages map[string]*pkg
	names    int
	over     bool   // there are more names than are counted
	build    []byte // what compilers said
	noise    []byte // the end of what is not an event
	seen     int
	noTests  bool // the command may run no test

	sorted []*pkg   // set by tally
	doubts []string // why packages that ended well show nothing, set by tally
}

func newEvents() *events { return &events{packages: map[string]*pkg{}} }

func (e *events) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		part := p
		if i >= 0 {
			part = p[:i]
		}
		e.line = append(e.line, part[:max(0, min(len(part), maxEvent-len(e.line)))]...)
		if i < 0 {
			return n, nil
		}
		e.end()
		p = p[i+1:]
	}
}

// end takes the line.
func (e *events) end() {
	line := bytes.TrimSuffix(e.line, []byte("\r"))
	e.line = e.line[:0]
	var ev event
	if len(line) == 0 {
		return
	}
	if line[0] != '{' || json.Unmarshal(line, &ev) != nil || ev.Action == "" {
		e.noise = appendTail(e.noise, string(line)+"\n", keepBuild)
		return
	}
	e.seen++
	switch {
	case ev.Action == "build-output":
		e.build = append(e.build, ev.Output[:min(len(ev.Output), keepBuild-min(keepBuild, len(e.build)))]...)
	case ev.Action == "build-fail" || ev.Package == "":
	default:
		p := e.packages[ev.Package]
		if p == nil {
			if e.names++; e.names > maxNames {
				e.over = true
				return
			}
			p = &pkg{name: ev.Package, tests: map[string]*test{}}
			e.packages[ev.Package] = p
		}
		if ev.Test == "" {
			p.event(ev)
		} else {
			e.ofTest(p, ev)
		}
	}
}

// appendTail appends text and keeps the end.
func appendTail(b []byte, text string, keep int) []byte {
	b = append(b, text...)
	if len(b) > 2*keep {
		b = append(b[:0], b[len(b)-keep:]...)
	}
	return b
}

func (p *pkg) event(ev event) {
	switch ev.Action {
	case "output":
		p.cached = p.cached || strings.HasPrefix(ev.Output, "ok  \t") && strings.HasSuffix(ev.Output, "\t(cached)\n")
		if strings.HasPrefix(ev.Output, "FAIL\t") &&
			(strings.HasSuffix(ev.Output, "[build failed]\n") || strings.HasSuffix(ev.Output, "[setup failed]\n")) {
			p.broken, p.setup = true, strings.HasSuffix(ev.Output, "[setup failed]\n")
		}
		p.output = appendTail(p.output, ev.Output, keepTest)
	case "pass":
		p.result = max(p.result, passed)
	case "skip":
		p.result = max(p.result, skipped)
	case "fail":
		p.result = failed
		p.broken = p.broken || ev.FailedBuild != ""
	}
}

func (e *events) ofTest(p *pkg, ev event) {
	if strings.HasPrefix(ev.Test, "Benchmark") && ev.Action != "fail" && ev.Action != "output" {
		return // go test reports no end of a benchmark that went well
	}
	t := p.tests[ev.Test]
	if t == nil {
		if e.names++; e.names > maxNames {
			e.over = true
			return
		}
		t = new(test)
		p.tests[ev.Test] = t
	}
	switch ev.Action {
	case "run":
		t.open, t.said, t.output = true, false, nil
	case "output":
		t.said = t.said ||
			strings.HasPrefix(strings.TrimLeft(ev.Output, " "), "--- ") && strings.Contains(ev.Output, ": "+ev.Test+" (")
		t.output = appendTail(t.output, ev.Output, keepTest)
	case "pass", "skip", "fail":
		// Go takes a test for passed that was running when the program ended well: only one that says so has.
		if ev.Action != "fail" && !t.open {
			p.strange = cmp.Or(p.strange, "it reports a result for a test that was not started")
			return
		}
		if ev.Action != "fail" && !t.said {
			p.strange = cmp.Or(p.strange, ev.Test+" was started and never ended")
			return
		}
		t.open = false
		if ev.Action == "fail" && t.result != failed {
			p.failed = append(p.failed, ev.Test)
		} else {
			t.output = nil
		}
		t.result = max(t.result, map[string]result{"pass": passed, "skip": skipped, "fail": failed}[ev.Action])
	}
}

// tally counts what was reported, and notes why packages that ended well show nothing.
func (e *events) tally(r *verify.Run) {
	e.sorted = slices.SortedFunc(maps.Values(e.packages), func(a, b *pkg) int { return strings.Compare(a.name, b.name) })
	for _, p := range e.sorted {
		counts, unfinished := map[result]int{}, ""
		for _, name := range slices.Sorted(maps.Keys(p.tests)) {
			t, sub := p.tests[name], strings.Contains(name, "/")
			counts[t.result]++
			if t.open {
				unfinished = cmp.Or(unfinished, name)
			}
			switch {
			case t.result == passed && sub:
				r.Parts++
			case t.result == passed:
				r.Passed++
			case t.result == failed && !sub:
				r.Failed++
			case t.result == skipped && !sub:
				r.Skipped++
			}
			if t.result == passed && len(r.Passes) < 20_000 {
				r.Passes = append(r.Passes, fmt.Sprintf("%s (%s)", name, p.name))
			}
		}
		// A test whose subtest has failed is not named itself.
		p.failures = slices.DeleteFunc(slices.Clone(p.failed), func(name string) bool {
			return slices.ContainsFunc(p.failed, func(other string) bool { return strings.HasPrefix(other, name+"/") })
		})
		for _, name := range p.failures {
			r.Failures = append(r.Failures, fmt.Sprintf("%s (%s)", name, p.name))
		}
		switch {
		case p.result == passed:
			r.Passes = append(r.Passes, p.name)
		case p.result == failed && len(p.failures) == 0:
			r.Failures = append(r.Failures, p.name)
		}
		switch {
		case p.cached:
			e.doubt(p, "the result is an old one (cached)")
		case p.strange != "":
			e.doubt(p, p.strange)
		case unfinished != "":
			e.doubt(p, unfinished+" was started and never ended")
		case p.result == running:
			e.doubt(p, "no result was reported")
		case p.result == passed && len(p.tests) == 0 && !e.noTests && !bytes.Contains(p.output, []byte("no tests to run")):
			e.doubt(p, "it ended well without a test")
		case counts[passed] == 0 && counts[skipped] > 0:
			e.doubt(p, "all of its tests were skipped")
		}
	}
	r.Total = r.Passed + r.Failed + r.Skipped
	r.Counted = r.Total > 0
	r.Failures = r.Failures[:min(len(r.Failures), 200)]
}

func (e *events) doubt(p *pkg, why string) { e.doubts = append(e.doubts, p.name+": "+why) }

// shown returns what a person needs to see of a run: what compilers said, what failing tests printed, then the end of
// the rest.
func (e *events) shown(r verify.Run, res Result) string {
	var b strings.Builder
	add := func(text string) {
		text = strings.TrimRight(text, "\n")
		if room := keepRun - b.Len() - 1; text != "" && room > 0 {
			b.WriteString(text[:min(len(text), room)] + "\n")
		}
	}
	add(string(e.build))
	n := 0
	for _, p := range e.sorted {
		for _, name := range p.failures {
			if n++; n <= maxShown {
				add(string(p.tests[name].output))
			}
		}
		if p.result == failed && len(p.failures) == 0 {
			add(string(p.output))
		}
	}
	if r.Status != verify.Met {
		add(string(e.noise))
		add(res.Output)
	}
	return strings.ToValidUTF8(b.String(), "\ufffd")
}
