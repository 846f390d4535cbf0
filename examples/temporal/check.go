package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/examples/temporal/session"
)

const (
	maxFaults    = 10     // that are named
	maxHistory   = 51_200 // events of a run that the server allows
	maxHistoryMB = 50
)

// verdict compares what histories and outbox say with what must hold and, for the reported sessions, with what one
// process that never dies decides.
func (p *pass) verdict() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }

	done := make(map[string]session.Effect)
	for _, d := range p.effects {
		key := d.Session + "\x00" + d.Key
		if _, twice := done[key]; twice {
			fault("%s: %s was done twice", d.Session, d.Key)
		}
		done[key] = d
	}
	planned := 0
	for _, s := range p.scenarios {
		for _, why := range s.broken {
			fault("%s: its code does not fit its history: %s", s.name, why)
		}
		for i, n := range s.events {
			if n >= maxHistory || s.bytes[i] >= maxHistoryMB<<20 {
				fault("%s: run %d has %d events and %d bytes", s.name, i+1, n, s.bytes[i])
			}
		}
		seen := make(map[string]bool)
		for _, d := range s.effects {
			if seen[d.Key] {
				fault("%s: %s was to be done twice", s.name, d.Key)
			}
			seen[d.Key] = true
			if got, ok := done[s.name+"\x00"+d.Key]; !ok {
				fault("%s: %s was never done", s.name, d.Key)
			} else if got != d {
				fault("%s: %s was done otherwise than decided", s.name, d.Key)
			}
		}
		planned += len(seen)
		c := s.counts
		if c.Outputs != c.Replayed+c.Suppressed+c.Delivered+c.Continued {
			fault("%s: %d outputs, but %d replayed, %d suppressed, %d delivered, %d continued", s.name, c.Outputs,
				c.Replayed, c.Suppressed, c.Delivered, c.Continued)
		}
		if c.Undone > 0 {
			fault("%s: %d were refused", s.name, c.Undone)
		}
		if queue, foreign := p.queues[s.name]; foreign {
			faults = append(faults, s.likeOne(queue)...)
		} else {
			faults = append(faults, s.sound(p.words)...)
		}
	}
	if planned != len(p.effects) {
		fault("%d things were to be done, and %d were", planned, len(p.effects))
	}
	if n := len(faults); n > maxFaults {
		faults = append(faults[:maxFaults], fmt.Errorf("and %d more", n-maxFaults))
	}
	return errors.Join(faults...)
}

// likeOne compares a reported session with one process that handles its reports in order.
func (s scenario) likeOne(queue []autocontinue.Output) (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if n := s.signals[session.SignalOutput]; n != len(queue) || s.counts.Outputs != n {
		fault("%s: %d reports, %d in the history, %d handled", s.name, len(queue), n, s.counts.Outputs)
	}
	want, err := alone(queue)
	if err != nil {
		return append(faults, err)
	}
	if len(want) != len(s.effects) {
		fault("%s: %d decisions to act on, but one process has %d", s.name, len(s.effects), len(want))
		return faults
	}
	runs, turns := make(map[string]int), make(map[string]int)
	for i, d := range s.effects {
		if d != want[i] {
			fault("%s: %s %s %s for %s, but one process decides %s %s %s for %s", s.name, d.Action, d.Reason, d.Key, d.Run,
				want[i].Action, want[i].Reason, want[i].Key, want[i].Run)
		}
		if d.Action == autocontinue.Continue {
			runs[d.Run]++
			turns[d.Turn]++
			if runs[d.Run] > 1 {
				fault("%s, %s: continued %d times", s.name, d.Run, runs[d.Run])
			}
			if turns[d.Turn] > autocontinue.DefaultMaxContinues {
				fault("%s, %s: %d continuations", s.name, d.Turn, turns[d.Turn])
			}
		}
	}
	return faults
}

// alone is what is to be done when one process handles the reports.
func alone(queue []autocontinue.Output) ([]session.Effect, error) {
	h, err := classify.NewHeuristic()
	if err != nil {
		return nil, err
	}
	ac, err := autocontinue.New(autocontinue.Config{Classifier: h})
	if err != nil {
		return nil, err
	}
	var list []session.Effect
	handled := make(map[string]bool)
	for _, out := range queue {
		if handled[out.ID] {
			continue // a process that never dies needs no second delivery
		}
		handled[out.ID] = true
		d, err := ac.Handle(context.Background(), out)
		if err != nil {
			return nil, err
		}
		if d.Action == autocontinue.Suppress {
			continue
		}
		effect := session.Effect{
			Key: d.ID, Session: out.Session, Turn: out.Turn, Run: out.Run, Action: d.Action, Reason: d.Reason, Text: out.Text,
			Note: d.Note,
		}
		if d.Action == autocontinue.Continue {
			effect.Text = d.Message
		}
		list = append(list, effect)
	}
	return list, nil
}

// sound checks a session that ran its agent while the human interrupted: what was said when is not known, what must
// hold is.
func (s scenario) sound(words int) (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if s.counts.Words != words {
		fault("%s: %d words, and %d were heard", s.name, words, s.counts.Words)
	}
	if s.counts.Agents != len(s.prompts) {
		fault("%s: %d runs of the agent, and %d prompts", s.name, s.counts.Agents, len(s.prompts))
	}
	if s.counts.Outputs != s.replies {
		fault("%s: the agent paused %d times, and %d outputs were handled", s.name, s.replies, s.counts.Outputs)
	}
	runs, decisions, turns, human := make(map[string]bool), make(map[string]bool), make(map[string]int), make(
		map[string]bool,
	)
	for _, p := range s.prompts {
		if runs[p.Run] {
			fault("%s: %s was begun twice", s.name, p.Run)
		}
		runs[p.Run] = true
		switch {
		case p.From == "human" && human[p.Turn]:
			fault("%s: %s was sent twice", s.name, p.Turn)
		case p.From == "human":
			human[p.Turn] = true
		case decisions[p.Decision] || p.Decision == "":
			fault("%s, %s: decision %q was acted on twice", s.name, p.Run, p.Decision)
		default:
			if turns[p.Turn]++; turns[p.Turn] > autocontinue.DefaultMaxContinues {
				fault("%s, %s: %d continuations", s.name, p.Turn, turns[p.Turn])
			}
			decisions[p.Decision] = true
		}
	}
	if len(decisions) > s.counts.Continued {
		fault("%s: %d continuations decided, %d sent", s.name, s.counts.Continued, len(decisions))
	}
	return faults
}

// report prints what happened, and returns an error when something is wrong with it.
func (p *pass) report(w io.Writer) error {
	var runs, events, most, again, outputs, prompts, superseded, signals, unended int
	var bytes, mostBytes int64
	var reportedEvents, reportedOutputs int
	for _, s := range p.scenarios {
		runs += len(s.events)
		for i, n := range s.events {
			events, most = events+n, max(most, n)
			bytes, mostBytes = bytes+s.bytes[i], max(mostBytes, s.bytes[i])
			if _, ok := p.queues[s.name]; ok {
				reportedEvents += n
			}
		}
		if q, ok := p.queues[s.name]; ok {
			reportedOutputs += len(q)
		}
		again, unended = again+s.again, unended+s.unended
		outputs += s.counts.Outputs
		prompts += len(s.prompts)
		superseded += s.counts.Reasons[string("superseded")]
		for _, n := range s.signals {
			signals += n
		}
	}
	fmt.Fprintf(
		w,
		"%d sessions, %d workers, %d killed, %.1f s: %d signals, %d runs of agents, %d outputs handled (%.0f a second)\n",
		len(p.scenarios),
		p.workers,
		p.killed,
		p.took.Seconds(),
		signals,
		prompts,
		outputs,
		float64(outputs)/p.took.Seconds(),
	)
	fmt.Fprintf(w, "%d things done, %d tasks begun again because a worker died, %d outputs superseded by the human\n",
		len(p.effects), again, superseded)
	fmt.Fprintf(
		w,
		"%d runs of workflows, %d events, %.1f MB; the longest has %d events, the largest %.2f MB; %d times an end "+
			"waited for a signal\n",
		runs,
		events,
		float64(bytes)/(1<<20),
		most,
		float64(mostBytes)/(1<<20),
		unended,
	)
	if reportedOutputs > 0 {
		fmt.Fprintf(w, "%.1f events a reported output, duplicates included\n",
			float64(reportedEvents)/float64(reportedOutputs))
	}
	if err := p.verdict(); err != nil {
		return err
	}
	fmt.Fprintln(
		w,
		"every report was decided as one process without a crash decides it, every decision acted on once, every cap held",
	)
	return nil
}

// longest is the length of the longest history.
func (p *pass) longest() int {
	most := 0
	for _, s := range p.scenarios {
		most = max(most, slices.Max(s.events))
	}
	return most
}
