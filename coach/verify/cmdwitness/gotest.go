package cmdwitness

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// goTestFlags returns where the flags of go test begin, behind "test" and -C. It is -1 for any other command.
func goTestFlags(words []string) int {
	begin := lex("GoTest").Regexp().FindString(strings.Join(words, "\x00") + "\x00")
	return cmp.Or(strings.Count(begin, "\x00"), -1)
}

// goTest runs go test and counts what it reports as JSON: test functions (tests, fuzz tests, examples), each once.
// Subtests are named among the failures, and counted in Parts.
func (w *Witness) goTest(ctx context.Context, run verify.Run, args []string) (verify.Run, error) {
	e := &events{packages: map[string]*goPackage{}, noTests: slices.ContainsFunc(args, lex("NoTests").Match)}
	res, err := w.start(ctx, &run, Command{Args: args, Keep: keepBuild, Stdout: e})
	if err != nil {
		return run, err
	}
	e.event(e.line)
	e.judge(&run, res)
	return run, ctx.Err()
}

// The bounds of what is remembered of a run.
const (
	maxEvent  = 1 << 20 // bytes of a line; go test cuts a test's own lines into pieces of 4 KiB
	maxNames  = 200_000 // tests and packages
	maxPasses = 20_000  // names of tests that passed
	maxFailed = 200     // names of tests that failed
	maxDoubts = 5       // that are named
	keepTest  = 2 << 10 // bytes of the output of a test or a package
	keepBuild = 8 << 10 // of what compilers said, from the start: the first error is the one to mend
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

var results = map[string]result{"skip": skipped, "pass": passed, "fail": failed}

// test is one named test, or a package. Where it ran more than once, the worst result stands.
type test struct {
	name   string
	result result
	open   bool // it was started and has not ended
	said   bool // it printed its result since
	holder bool // a subtest of it failed
	output []byte
}

type goPackage struct {
	test
	tests   map[string]*test
	order   []*test
	broken  bool   // it was not built, or could not be set up
	setup   bool   // an import of it is not installed
	strange string // what no run of go test reports
}

// events reads the output of go test -json, as it is written to it. Its memory does not grow with what tests print.
type events struct {
	line     []byte // the start of a line that has not ended
	packages map[string]*goPackage
	order    []*goPackage
	names    int
	build    []byte // what compilers said
	noise    []byte // the end of what is not an event
	seen     bool
	noTests  bool // the command may run no test
}

func (e *events) Write(p []byte) (int, error) {
	e.line = append(e.line, p...)
	for line, rest, ok := bytes.Cut(e.line, []byte("\n")); ok; line, rest, ok = bytes.Cut(e.line, []byte("\n")) {
		e.event(line)
		e.line = rest
	}
	if len(e.line) > maxEvent {
		e.line = e.line[:maxEvent]
		e.line[0] = '.' // it is not an event
	}
	return len(p), nil
}

func (e *events) event(line []byte) {
	var ev event
	if len(line) == 0 {
		return
	}
	if line[0] != '{' || json.Unmarshal(line, &ev) != nil || ev.Action == "" {
		e.noise = appendTail(e.noise, append(line, '\n'), keepBuild)
		return
	}
	e.seen = true
	if ev.Action == "build-output" {
		e.build = append(e.build, ev.Output[:min(len(ev.Output), keepBuild-min(keepBuild, len(e.build)))]...)
		return
	}
	endless := strings.HasPrefix(ev.Test, "Benchmark") && ev.Action != "fail" && ev.Action != "output"
	if ev.Package == "" || ev.Action == "build-fail" || endless || e.names >= maxNames {
		return // go test reports no end of a benchmark that went well
	}
	p := e.packages[ev.Package]
	if p == nil {
		p = &goPackage{test: test{name: ev.Package}, tests: map[string]*test{}}
		e.packages[ev.Package], e.order = p, append(e.order, p)
		e.names++
	}
	if ev.Test == "" {
		p.event(ev)
		return
	}
	t := p.tests[ev.Test]
	if t == nil {
		t = &test{name: ev.Test}
		p.tests[ev.Test], p.order = t, append(p.order, t)
		e.names++
	}
	p.testEvent(t, ev)
}

// appendTail appends text and keeps the end: at least keep bytes, and at most twice as many.
func appendTail(b, text []byte, keep int) []byte {
	b = append(b, text...)
	if len(b) > 2*keep {
		b = append(b[:0], b[len(b)-keep:]...)
	}
	return b
}

func (p *goPackage) event(ev event) {
	if ev.Action == "output" {
		if m := lex("GoNotBuilt").Find(ev.Output); m != nil {
			p.broken, p.setup = true, m[1] == "setup"
		}
		p.output = appendTail(p.output, []byte(ev.Output), keepTest)
	}
	p.result = max(p.result, results[ev.Action])
	p.broken = p.broken || ev.FailedBuild != ""
}

// testEvent takes an event of a test. Go takes a test for passed that was running when the program ended well: only one
// that says so has.
func (p *goPackage) testEvent(t *test, ev event) {
	switch result := results[ev.Action]; {
	case ev.Action == "run":
		t.open, t.said, t.output = true, false, nil
	case ev.Action == "output":
		t.said = t.said ||
			strings.HasPrefix(strings.TrimLeft(ev.Output, " "), "--- ") && strings.Contains(ev.Output, ": "+ev.Test+" (")
		t.output = appendTail(t.output, []byte(ev.Output), keepTest)
	case result == running:
	case result != failed && !t.open:
		p.strange = "it reports a result for a test that was not started"
	case result != failed && !t.said:
		p.strange = ev.Test + " was started and never ended"
	default:
		if t.open, t.result = false, max(t.result, result); t.result != failed {
			t.output = nil
		} else if parent := p.tests[t.name[:max(0, strings.LastIndexByte(t.name, '/'))]]; parent != nil {
			parent.holder = true
		}
	}
}

// count adds the tests of a package to a run, and reports whether one failed. A test with a failing subtest is not
// named among the failures. The doubt says why a package that ended well shows nothing.
func (p *goPackage) count(r *verify.Run, noTests bool) (fails bool, doubt string) {
	var all, functions [failed + 1]int // tests, by their results
	fail := func(name string, output []byte) {
		r.Failures = append(r.Failures, name)
		if len(r.Output) < keepShow {
			r.Output += string(output)
		}
	}
	for _, t := range p.order {
		if all[t.result]++; !strings.Contains(t.name, "/") {
			functions[t.result]++
		}
		name := fmt.Sprintf("%s (%s)", t.name, p.name)
		switch {
		case t.result == passed && len(r.Passes) < maxPasses:
			r.Passes = append(r.Passes, name)
		case t.result == failed && !t.holder:
			fail(name, t.output)
		}
		if t.open && p.strange == "" {
			p.strange = t.name + " was started and never ended"
		}
	}
	r.Passed, r.Failed, r.Skipped = r.Passed+functions[passed], r.Failed+functions[failed], r.Skipped+functions[skipped]
	r.Parts += all[passed] - functions[passed]
	switch {
	case p.result == passed:
		r.Passes = append(r.Passes, p.name)
	case p.result == failed && all[failed] == 0:
		fail(p.name, p.output)
	}
	_, doubt = firstOf([]verdict{
		{p.strange != "", verify.Unverified, p.strange},
		{p.result == running, verify.Unverified, "no result was reported"},
		{p.result == passed && len(p.tests) == 0 && !noTests && !bytes.Contains(p.output, []byte("no tests to run")),
			verify.Unverified, "it ended well without a test"},
		{all[passed] == 0 && all[skipped] > 0, verify.Unverified, "all of its tests were skipped"},
	})
	return all[failed] > 0, doubt
}

// judge says what a run amounts to, and why it is not Met.
func (e *events) judge(r *verify.Run, res Result) {
	broken, compiled, other, failures := 0, false, false, false
	var doubts []string
	for _, p := range e.order {
		fails, doubt := p.count(r, e.noTests)
		failures = failures || fails
		switch {
		case p.result == failed && p.broken:
			broken++
			compiled = compiled || !p.setup // all of its imports are there
		case p.result == failed && !fails:
			other = true
		case doubt != "":
			doubts = append(doubts, p.name+": "+doubt)
		}
	}
	if more := len(doubts) - maxDoubts; more > 0 {
		doubts = append(doubts[:maxDoubts], fmt.Sprintf("and %d more packages", more))
	}
	r.Total = r.Passed + r.Failed + r.Skipped
	r.Counted = r.Total > 0
	r.Failures = r.Failures[:min(len(r.Failures), maxFailed)]
	text := string(e.build) + string(e.noise) + res.Output
	badModule := res.Exit != 0 && strings.Contains(text, "errors parsing go.mod")
	lacks, faulty := "", broken > 0 || res.Exit != 0
	if faulty && !badModule && !(compiled && !lex("GoLacks").Match(lex("CodeLine").Replace(text, ""))) {
		lacks = strings.TrimSpace(lex("GoLacks").Regexp().FindString(text))
	}
	r.Status, r.Why = firstOf([]verdict{
		{failures, verify.NotMet, plural(r.Failed, "test", "tests") + " failed"},
		{res.Why != "", verify.Unverified, "go test did not come to its end: " + res.Why},
		{other, verify.NotMet, "a package failed without a failed test"},
		{e.names >= maxNames, verify.Unverified, "there are more tests than are counted"},
		{lacks != "", verify.Unverified, "this machine lacks something: " + lacks},
		{broken > 0, verify.NotMet, plural(broken, "package was", "packages were") + " not built"},
		{badModule, verify.NotMet, "go.mod cannot be read"},
		{res.Exit != 0, verify.Unverified, fmt.Sprintf("go test ended with exit status %d and no failed test", res.Exit)},
		{!e.seen, verify.Unverified, "go test reported nothing"},
		{len(doubts) > 0, verify.Unverified, strings.Join(doubts, "; ")},
		{r.Passed == 0, verify.Unverified, "no test ran"},
	})
	r.Output = string(e.build) + r.Output
	if r.Status != verify.Met {
		r.Output += string(e.noise) + res.Output
	}
	r.Output = strings.ToValidUTF8(r.Output[:min(len(r.Output), keepShow)], "\ufffd")
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
