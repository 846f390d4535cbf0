package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
)

func (p *pass) rate() float64 { return float64(p.deliveries) / p.took.Seconds() }

// costs says how long the steps of a delivery took, each with its waiting for the server and for the processor.
func (p *pass) costs() string {
	var b strings.Builder
	for _, step := range []struct {
		name string
		of   func(steps) int64
	}{
		{"load", func(s steps) int64 { return s.Load }},
		{"classify", func(s steps) int64 { return s.Classify }},
		{"update", func(s steps) int64 { return s.Update }},
		{"act", func(s steps) int64 { return s.Act }},
		{"journal", func(s steps) int64 { return s.Journal }},
	} {
		var took []int64
		for _, e := range p.journal {
			if n := step.of(e.Took); n > 0 && e.Error == "" {
				took = append(took, n)
			}
		}
		if len(took) == 0 {
			continue
		}
		slices.Sort(took)
		fmt.Fprintf(&b, "  %-9s median %7.2f ms, 99 %% %7.2f ms (%d times)\n", step.name,
			float64(took[len(took)/2])/1000, float64(took[len(took)*99/100])/1000, len(took))
	}
	return b.String()
}

// report prints what happened, and returns an error when something is wrong with it.
func (p *pass) report(w io.Writer) error {
	races, replayed, failed, shown, again := 0, 0, 0, 0, 0
	for _, e := range p.journal {
		races += e.Took.Races
		count(&replayed, e.Decision.Replayed)
		count(&failed, e.Error != "" && !e.Shown)
		count(&shown, e.Shown)
		count(&again, e.Again)
	}
	continued := 0
	for _, a := range p.acts {
		if a.Action == autocontinue.Continue {
			continued++
		}
	}
	fmt.Fprintf(w,
		"%d sessions, %d deliveries, %d workers, %d killed, %d ended by themselves, %.1f s, %.0f deliveries a second\n",
		len(p.sessions), p.deliveries, p.workers, p.killed, p.ended, p.took.Seconds(), p.rate())
	for _, f := range faults {
		if n, ok := p.came[f.name]; ok {
			fmt.Fprintf(w, "%s: %d times: %s\n", f.name, n, f.help)
		}
	}
	io.WriteString(w, troubles(p.said))
	fmt.Fprintf(w,
		"%d attempts: %d replays, %d handed back with an error, %d shown to the human with an error; %d lost races\n",
		len(p.journal), replayed, failed, shown, races)
	fmt.Fprintf(w,
		"%d acts, %d of them continuations; %d more were tried again under their decision's ID, and not taken\n%s",
		len(p.acts), continued, again, p.costs())
	if err := p.verdict(); err != nil {
		return err
	}
	for _, f := range faults {
		if n, ok := p.came[f.name]; ok && n == 0 {
			return fmt.Errorf("fault %s never came before the queue was empty: more -sessions or a shorter -down", f.name)
		}
	}
	if p.mixed || p.crowd {
		fmt.Fprintln(w,
			"every output has one decision, which every worker told that had it, and every decision was acted on once")
		return nil
	}
	fmt.Fprintln(w,
		"every delivery was decided as one process without a crash decides it, and every decision acted on once")
	return nil
}

// troubles says what workers could not do.
func troubles(said map[string]int) string {
	var b strings.Builder
	if len(said) > 0 {
		b.WriteString("what workers could not do, so that they handed the output back:\n")
	}
	for _, what := range slices.Sorted(maps.Keys(said)) {
		fmt.Fprintf(&b, "  %5d times: %.200s\n", said[what], what)
	}
	return b.String()
}

func count(n *int, yes bool) {
	if yes {
		*n++
	}
}
