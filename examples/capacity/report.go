package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// report is what was measured, as Markdown.
type report struct {
	speed   speed
	session session
	usage   usage
	answer  int // tokens
	price   price
}

// days are how many pauses.
var days = []int{10_000, 1_000_000, 100_000_000}

// cost is what a day of that many pauses takes.
type cost struct {
	cores           float64 // busy the whole day
	calls           float64
	in, cached, out float64 // tokens; cached are those of in that are always the same
}

// ways are the ways to judge a pause.
var ways = []string{"heuristic", "cascade", "LLM for each"}

// day returns what that many pauses a day cost in one of the ways. The heuristic is run in each of them: it is the
// cascade's first step and the LLM's fallback, and finds the signals.
func (r report) day(pauses int, way string) cost {
	n := float64(pauses)
	c := cost{cores: n * r.speed.handle.cpu.Seconds() / (24 * 3600)}
	var what asked
	switch way {
	case "cascade":
		what = r.usage.cascade
	case "LLM for each":
		what = r.usage.each
	}
	each := n / float64(r.usage.cases) // times that a case comes
	c.calls = each * float64(what.calls)
	c.cached = c.calls * float64(r.usage.fixed)
	c.in, c.out = c.cached+each*float64(what.variable), c.calls*float64(r.answer)
	return c
}

// money is the day's cost when the provider caches what is always the same.
func (p price) money(c cost) float64 {
	return ((c.in-c.cached)*p.in + c.cached*p.cached + c.out*p.out) / 1e6
}

func (r report) String() string {
	var b strings.Builder
	s := r.speed
	fmt.Fprintf(&b, "%d cases, the one in the middle has %s.\n\n", s.cases, bytesOf(s.bytes))
	fmt.Fprintln(&b, "| on one core | CPU a pause | pauses a second | times classifying | 99 % below, on the clock |")
	fmt.Fprintln(&b, "|---|---|---|---|---|")
	for _, row := range []struct {
		name string
		rate rate
	}{
		{"classify: the heuristic", s.classify}, {"decide, state in memory", s.handle},
		{"decide, state in files (`NoSync`)", s.nosyncs}, {"decide, state in files", s.synced},
	} {
		fmt.Fprintf(&b, "| %s | %.3f ms | %s | %.1f | %.1f ms |\n", row.name, row.rate.cpu.Seconds()*1000,
			round(row.rate.second()), row.rate.cpu.Seconds()/s.classify.cpu.Seconds(), row.rate.wall.Seconds()*1000)
	}
	fmt.Fprintf(
		&b,
		"\nA session of %d turns with %d pauses each takes %s in a store as JSON (at most %s of these), %s in memory.\n\n",
		r.session.turns,
		r.session.pauses,
		bytesOf(r.session.json),
		bytesOf(r.session.most),
		bytesOf(r.session.memory),
	)
	fmt.Fprintf(&b, "%s\n\n", r.asked())

	fmt.Fprint(&b, "| pauses a day | judged by | cores | LLM calls | tokens in | always the same | tokens back |")
	if r.price.set {
		fmt.Fprint(&b, " money |")
	}
	fmt.Fprint(&b, "\n|---|---|---|---|---|---|---|")
	if r.price.set {
		fmt.Fprint(&b, "---|")
	}
	fmt.Fprintln(&b)
	for _, n := range days {
		for _, way := range ways {
			c := r.day(n, way)
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |", round(float64(n)), way, cores(c.cores),
				round(c.calls), round(c.in), round(c.cached), round(c.out))
			if r.price.set {
				fmt.Fprintf(&b, " %s |", amount(r.price.money(c)))
			}
			fmt.Fprintln(&b)
		}
	}
	fmt.Fprintln(
		&b,
		"\nCores are those that are busy all day long; at a peak of five times the average it takes five times as many.",
	)
	return b.String()
}

// asked says what the LLM is asked.
func (r report) asked() string {
	u := r.usage
	return fmt.Sprintf(
		"The cascade asks the LLM about %d of %d (certain %g). A call sends %d tokens that are always the same, and "+
			"on average %d more; an answer is taken to have %d.",
		u.cascade.calls,
		u.cases,
		u.certain,
		u.fixed,
		average(u.each.variable, u.each.calls),
		r.answer,
	)
}

func average(sum, n int) int {
	if n == 0 {
		return 0
	}
	return (sum + n/2) / n
}

func cores(n float64) string {
	if n < 0.01 {
		return "below 0.01"
	}
	return fmt.Sprintf("%.2f", n)
}

func amount(m float64) string {
	if m < 100 {
		return fmt.Sprintf("%.2f", m)
	}
	return round(m)
}

// round writes a number with three digits that count.
func round(n float64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1e9, " billion"}, {1e6, " million"}} {
		if n >= unit.of*0.9995 { // that is rounded up to it
			return digits(n/unit.of) + unit.name
		}
	}
	s := digits(n)
	if len(s) > 3 && !strings.Contains(s, ".") {
		s = s[:len(s)-3] + "," + s[len(s)-3:]
	}
	return s
}

// digits writes a number with three digits that count, and no zeros after the point.
func digits(n float64) string {
	places := 0
	if n > 0 {
		places = 2 - int(math.Floor(math.Log10(n)))
	}
	scale := math.Pow10(places)
	return strconv.FormatFloat(math.Round(n*scale)/scale, 'f', -1, 64)
}

func bytesOf(n int) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f kB", float64(n)/1000)
}
