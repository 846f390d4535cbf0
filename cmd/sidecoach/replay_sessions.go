package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
)

// replayPause is what would have been decided at a pause.
type replayPause struct {
	File       string               `json:"file"`
	Agent      string               `json:"agent"`
	Session    string               `json:"session"`
	Line       int                  `json:"line"` // of the file, where the message ends
	Action     autocontinue.Action  `json:"action"`
	Outcome    autocontinue.Outcome `json:"outcome"`
	Reason     autocontinue.Reason  `json:"reason"`
	Type       classify.OutputType  `json:"type,omitempty"`
	Rejected   bool                 `json:"was_rejected_completion,omitempty"`
	Confidence float64              `json:"confidence,omitempty"`
	Continues  int                  `json:"continues"`
	Hold       string               `json:"hold,omitempty"`
	Reply      transcript.Reply     `json:"reply,omitempty"` // what the human's next words were
	Asked      bool                 `json:"asked,omitempty"` // the human answered a question
	Effect     hook.Effect          `json:"effect,omitempty"`
	Work       classify.Work        `json:"work,omitzero"`
}

func pauseOf(file string, m hook.Moment) replayPause {
	d := m.Decision
	p := replayPause{
		File: file, Agent: string(m.Host), Session: m.Output.Session, Line: m.Line,
		Action: d.Action, Outcome: d.Outcome, Reason: d.Reason, Type: d.Result.Type, Rejected: d.Result.WasRejectedCompletion,
		Confidence: d.Result.Confidence, Continues: d.Continues, Hold: m.Output.Hold, Work: m.Output.Work,
	}
	p.Effect, p.Reply, p.Asked = m.Effect()
	return p
}

// labelled reports whether the human's words label the output.
func (p replayPause) labelled() bool {
	return p.Type.Valid() && (p.Asked || p.Effect == hook.EffectAgrees || p.Effect == hook.EffectMissed)
}

// replayCounts are what sessions and the total count.
type replayCounts struct {
	Pauses    int                         `json:"pauses"`
	Continued int                         `json:"continued"`
	Agrees    int                         `json:"agrees"`
	Against   int                         `json:"against"`
	Missed    int                         `json:"missed"`
	Reasons   map[autocontinue.Reason]int `json:"reasons"`

	byAction map[autocontinue.Action]map[string]int
}

func (c *replayCounts) pause(p replayPause) {
	one := replayCounts{
		Pauses:   1,
		Reasons:  map[autocontinue.Reason]int{p.Reason: 1},
		byAction: map[autocontinue.Action]map[string]int{p.Action: {string(p.Reason): 1}},
	}
	if p.Action == autocontinue.Continue {
		one.Continued = 1
	}
	switch p.Effect {
	case hook.EffectAgrees:
		one.Agrees = 1
	case hook.EffectAgainst:
		one.Against = 1
	case hook.EffectMissed:
		one.Missed = 1
	}
	c.add(one)
}

func (c *replayCounts) add(o replayCounts) {
	c.Pauses += o.Pauses
	c.Continued += o.Continued
	c.Agrees += o.Agrees
	c.Against += o.Against
	c.Missed += o.Missed
	if c.Reasons == nil {
		c.Reasons, c.byAction = make(map[autocontinue.Reason]int), make(map[autocontinue.Action]map[string]int)
	}
	for reason, n := range o.Reasons {
		c.Reasons[reason] += n
	}
	for action, reasons := range o.byAction {
		if c.byAction[action] == nil {
			c.byAction[action] = make(map[string]int)
		}
		for reason, n := range reasons {
			c.byAction[action][reason] += n
		}
	}
}

// replaySession is what comes of a session.
type replaySession struct {
	File    string `json:"file"`
	Agent   string `json:"agent"`
	Session string `json:"session"`
	replayCounts
}

// replayFault is what is wrong with a file.
type replayFault struct {
	File  string `json:"file"`
	Kind  string `json:"kind"` // unknown, truncated, interleaved, damaged, unreadable
	Fault string `json:"fault"`
}

// replayTotal is what comes of everything.
type replayTotal struct {
	Files     int   `json:"files"`
	Others    int   `json:"others"` // files in folders that are not transcripts
	Faults    int   `json:"faults"`
	Bytes     int64 `json:"bytes"`
	LongLines int   `json:"long_lines"` // left out, longer than 4 MiB
	Sessions  int   `json:"sessions"`
	replayCounts
	Judged      int        `json:"judged"`    // outputs that were put to the classifier
	Fallbacks   int        `json:"fallbacks"` // of these, judged by the heuristic because the LLM failed
	LLM         *replayLLM `json:"llm,omitempty"`
	Verdict     worth      `json:"verdict"`
	Interrupted bool       `json:"interrupted,omitempty"` // there was more to read
	labels      int        // pauses that the human's words label
}

// replayPrinter shows what comes of it, while it comes.
type replayPrinter interface {
	pause(replayPause) error
	session(replaySession) error
	fault(replayFault) error
	total(replayTotal) error
}

// replay decides about past sessions.
type replay struct {
	policy     autocontinue.Policy
	classifier classify.Classifier
	labelled   *labelled // nil where nobody wants them
	out        replayPrinter
	bar        *bar
	model      string // of the LLM; "" without one

	sum  replayTotal
	done int64 // bytes of the files that were read
	now  *replaySession
}

// all goes through the transcripts. It reports what is wrong with one of them, and reads the others. When ctx ends, the total
// is of what was read until then.
func (r *replay) all(ctx context.Context, found *sessionFiles) (replayTotal, error) {
	r.sum, r.done = replayTotal{Others: found.others}, 0
	defer r.bar.clear()
	for _, file := range found.files {
		if ctx.Err() != nil {
			break
		}
		err := r.file(ctx, file, max(found.size>>10, 1))
		r.done += file.size
		switch {
		case err == nil || ctx.Err() != nil:
		case file.among && errors.Is(err, transcript.ErrFormat):
			r.sum.Others++
		default:
			fault, ok := faultOf(file.name, err)
			if !ok {
				return r.sum, err
			}
			r.sum.Faults++
			r.bar.clear()
			if err := r.out.fault(fault); err != nil {
				return r.sum, err
			}
		}
	}
	r.sum.Interrupted, r.sum.Verdict = ctx.Err() != nil, worthOf(r.sum.Agrees, r.sum.Against)
	r.bar.clear()
	return r.sum, r.out.total(r.sum)
}

// printError is an error of printing: it ends everything.
type printError struct{ error }

func (e printError) Unwrap() error { return e.error }

// file goes through one transcript.
func (r *replay) file(ctx context.Context, file sessionFile, all int64) error {
	f, err := file.open()
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := transcript.Open(watched{f, func(at int64) {
		if r.model == "" { // the calls take the time then
			r.bar.show(int((r.done+at)>>10), int(all))
		}
	}}, file.size, file.name)
	if err != nil {
		return err
	}
	r.sum.Files++
	asked := &tally{Classifier: r.classifier, into: &r.sum, model: r.model}
	start := func(session string) (hook.Loop, error) {
		if err := r.end(); err != nil {
			return nil, err
		}
		r.now = &replaySession{File: file.name, Agent: string(t.Format), Session: session}
		return autocontinue.New(autocontinue.Config{Classifier: asked, Policy: r.policy})
	}
	account, err := hook.Replay(ctx, t, start, func(m hook.Moment) error { return r.pause(file.name, m) })
	r.sum.Bytes += account.Bytes
	r.sum.LongLines += account.Long
	return errors.Join(err, r.end())
}

func (r *replay) pause(file string, m hook.Moment) error {
	p := pauseOf(file, m)
	r.now.pause(p)
	if p.labelled() {
		r.sum.labels++
		r.labelled.add(p, m)
	}
	if err := r.out.pause(p); err != nil {
		return printError{err}
	}
	return nil
}

// end ends a session.
func (r *replay) end() error {
	s := r.now
	if r.now = nil; s == nil {
		return nil
	}
	r.sum.Sessions++
	r.sum.add(s.replayCounts)
	if err := r.out.session(*s); err != nil {
		return printError{err}
	}
	return nil
}

// faultOf says what is wrong with a transcript. It reports false for an error of something else.
func faultOf(name string, err error) (replayFault, bool) {
	if _, ok := errors.AsType[printError](err); ok {
		return replayFault{}, false
	}
	f := replayFault{File: name, Fault: err.Error(), Kind: "unreadable"}
	f.Fault = strings.TrimPrefix(f.Fault, "transcript: ")
	for kind, is := range map[string]error{
		"unknown": transcript.ErrFormat, "truncated": transcript.ErrTruncated,
		"interleaved": transcript.ErrInterleaved, "damaged": transcript.ErrDamaged,
	} {
		if errors.Is(err, is) {
			f.Kind = kind
		}
	}
	return f, true
}

// watched tells how far a file was read.
type watched struct {
	*os.File
	progress func(int64)
}

func (w watched) ReadAt(p []byte, at int64) (int, error) {
	n, err := w.File.ReadAt(p, at)
	w.progress(at + int64(n))
	return n, err
}
