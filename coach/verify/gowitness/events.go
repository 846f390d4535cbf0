package gowitness

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
)

// The bounds of what is remembered of a run.
const (
	maxEvent    = 1 << 20 // bytes of a line; go test cuts a test's own lines into pieces of 4 KiB
	maxNames    = 200_000 // tests
	maxPackages = 20_000
	keepTest    = 2 << 10 // bytes of the output of a test, while it runs and when it has failed
	keepPackage = 4 << 10 // of the output of a package that belongs to no test
	keepBuild   = 8 << 10 // of what compilers said, from the start: the first error is the one to mend
)

// event is a line of go test -json; go doc test2json describes it.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of what was built
	Test        string
	Output      string
	FailedBuild string
}

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
	open   bool // it was started and has not ended
	said   bool // it printed its result since
	output *cmdwitness.Tail
	kept   string // of a test that failed
}

// pkg is one package under test.
type pkg struct {
	name    string
	result  result
	tests   map[string]*test
	order   []string // the tests that failed
	cached  bool
	broken  bool   // it was not built, or could not be set up
	setup   bool   // what it imports could not be had
	strange string // what no run of go test reports
	output  *cmdwitness.Tail
}

// events reads the output of go test -json, as it is written to it. Its memory does not grow with what tests print.
type events struct {
	lines    *cmdwitness.Lines
	packages map[string]*pkg
	names    int    // of tests
	over     string // which bound was passed
	build    []byte // what compilers said, from the start
	noise    *cmdwitness.Tail
	seen     int // events
}

func newEvents() *events {
	e := &events{packages: make(map[string]*pkg), noise: cmdwitness.NewTail(keepBuild)}
	e.lines = cmdwitness.NewLines(maxEvent, e.line)
	return e
}

func (e *events) Write(p []byte) (int, error) { return e.lines.Write(p) }

// close ends the output.
func (e *events) close() { _ = e.lines.Close() }

func (e *events) line(line []byte, cut bool) {
	var ev event
	if cut || len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &ev) != nil || ev.Action == "" {
		_, _ = e.noise.Write(append(line, '\n'))
		return
	}
	e.seen++
	switch ev.Action {
	case "build-output":
		e.built(ev.Output)
		return
	case "build-fail":
		return // the package that needs it fails
	}
	if ev.Package == "" {
		return
	}
	p := e.packages[ev.Package]
	if p == nil {
		if len(e.packages) == maxPackages {
			e.over = "there are more packages than are counted"
			return
		}
		p = &pkg{name: ev.Package, tests: make(map[string]*test), output: cmdwitness.NewTail(keepPackage)}
		e.packages[ev.Package] = p
	}
	if ev.Test == "" {
		e.ofPackage(p, ev)
		return
	}
	e.ofTest(p, ev)
}

func (e *events) built(text string) {
	if room := keepBuild - len(e.build); room > 0 {
		e.build = append(e.build, text[:min(room, len(text))]...)
	}
}

func (e *events) ofPackage(p *pkg, ev event) {
	switch ev.Action {
	case "output":
		p.cached = p.cached || strings.HasPrefix(ev.Output, "ok  \t") && strings.HasSuffix(ev.Output, "\t(cached)\n")
		if strings.HasPrefix(ev.Output, "FAIL\t") && (strings.HasSuffix(ev.Output, "[build failed]\n") || strings.HasSuffix(ev.Output, "[setup failed]\n")) {
			p.broken = true
			p.setup = strings.HasSuffix(ev.Output, "[setup failed]\n")
		}
		_, _ = p.output.Write([]byte(ev.Output))
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
		if e.names == maxNames {
			e.over = "there are more tests than are counted"
			return
		}
		e.names++
		t = new(test)
		p.tests[ev.Test] = t
	}
	switch ev.Action {
	case "run":
		t.open, t.said, t.output = true, false, nil
	case "output":
		t.said = t.said || strings.HasPrefix(strings.TrimLeft(ev.Output, " "), "--- ") && strings.Contains(ev.Output, ": "+ev.Test+" (")
		if t.output == nil {
			t.output = cmdwitness.NewTail(keepTest)
		}
		_, _ = t.output.Write([]byte(ev.Output))
	case "pass", "skip", "fail":
		if ev.Action != "fail" {
			// Go takes a test for passed that was running when the program ended well: only one that says so has.
			switch {
			case !t.open:
				p.strange = cmp.Or(p.strange, "it reports a result for a test that was not started")
				return
			case !t.said:
				p.strange = cmp.Or(p.strange, ev.Test+" was started and never ended")
				return
			}
		}
		t.open = false
		if ev.Action == "fail" && t.result != failed {
			p.order = append(p.order, ev.Test)
			if t.output != nil && len(p.order) <= cmdwitness.MaxFailures {
				t.kept = t.output.String()
			}
		}
		t.output = nil
		t.result = max(t.result, map[string]result{"pass": passed, "skip": skipped, "fail": failed}[ev.Action])
	}
}

// sorted returns the packages by name.
func (e *events) sorted() []*pkg {
	list := make([]*pkg, 0, len(e.packages))
	for _, p := range e.packages {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *pkg) int { return strings.Compare(a.name, b.name) })
	return list
}

// count is how many tests ended how.
type count struct{ passed, failed, skipped int }

func (c *count) add(r result) {
	switch r {
	case passed:
		c.passed++
	case failed:
		c.failed++
	case skipped:
		c.skipped++
	}
}

// counts returns how many functions, and how many subtests, of the package ended how.
func (p *pkg) counts() (functions, subtests count) {
	for name, t := range p.tests {
		if strings.Contains(name, "/") {
			subtests.add(t.result)
		} else {
			functions.add(t.result)
		}
	}
	return functions, subtests
}

// unfinished returns a test that was started and never ended, or "".
func (p *pkg) unfinished() string {
	var first string
	for name, t := range p.tests {
		if t.open && (first == "" || name < first) {
			first = name
		}
	}
	return first
}

// failures returns the tests that failed, without those of which a subtest has failed.
func (p *pkg) failures() []string {
	under := make(map[string]bool) // the tests above those that failed
	for _, name := range p.order {
		for i, r := range name {
			if r == '/' {
				under[name[:i]] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(p.order), func(name string) bool { return under[name] })
}
