package gowitness

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// doubt judges a run that ended well: it has passed if a named test did, every test that the sources declare and the command did
// not leave out was reported, no other was, and no package was skipped as a whole.
func (r *runner) doubt(ctx context.Context, e *events, o *Outcome) {
	if e.seen == 0 {
		o.Why = "go test reported nothing"
		return
	}
	var reasons []string
	say := func(p *pkg, format string, args ...any) {
		reasons = append(reasons, p.name+": "+fmt.Sprintf(format, args...))
	}
	var names []string
	for _, p := range e.sorted() {
		names = append(names, p.name)
	}
	sources, err := r.sources(ctx, names)
	for _, p := range e.sorted() {
		functions, subtests := p.counts()
		s, read := sources[p.name]
		if s.main != "" {
			o.Mains = append(o.Mains, p.name)
		}
		switch missing := p.missing(s, r.command.choice); {
		case p.cached:
			say(p, "the result is an old one (cached)")
		case p.strange != "":
			say(p, "%s", p.strange)
		case p.unfinished() != "":
			say(p, "%s was started and never ended", p.unfinished())
		case p.result == running:
			say(p, "no result was reported")
		case err == nil && !read:
			say(p, "go list does not know it")
		case read && p.unknown(s) != "":
			say(p, "a result is reported for %s, which its test files do not declare", p.unknown(s))
		case len(missing) > 0 && !r.command.none:
			say(p, "%s declared and did not run: %s", plural(len(missing), "test is", "tests are"), few(missing))
		case functions.passed+subtests.passed == 0 && functions.skipped+subtests.skipped > 0:
			say(p, "all of its tests were skipped")
		}
	}
	switch {
	case len(reasons) > 0:
		o.Why = strings.Join(reasons[:min(5, len(reasons))], "; ")
		if n := len(reasons) - 5; n > 0 {
			o.Why += fmt.Sprintf("; and %d more packages", n)
		}
	case err != nil:
		o.Why = "which tests there are could not be read: " + err.Error()
	case o.Passed == 0:
		o.Why = "no test ran"
	default:
		o.Verdict = Passed
	}
}

// missing returns the tests that are meant to run and were not reported.
func (p *pkg) missing(s source, c choice) []string {
	var list []string
	for name := range s.meant {
		if p.tests[name] == nil && c.takes(name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// unknown returns a test that was reported and is nowhere declared, or "".
func (p *pkg) unknown(s source) string {
	var first string
	for name := range p.tests {
		function, _, _ := strings.Cut(name, "/")
		if strings.HasPrefix(function, "Benchmark") {
			continue // it is no test, and -cpu changes its name
		}
		if !s.known[function] && (first == "" || function < first) {
			first = function
		}
	}
	return first
}

func few(names []string) string {
	if n := len(names) - 3; n > 0 {
		return strings.Join(names[:3], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}
