package main

import (
	"cmp"
	"context"
	"errors"
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

func (c *replayCounts) count(p replayPause) {
	if c.Reasons == nil {
		c.Reasons = make(map[autocontinue.Reason]int)
		c.byAction = map[autocontinue.Action]map[string]int{
			autocontinue.Continue: {}, autocontinue.Deliver: {}, autocontinue.Suppress: {},
		}
	}
	c.Pauses++
	c.Reasons[p.Reason]++
	c.byAction[p.Action][string(p.Reason)]++
	if p.Action == autocontinue.Continue {
		c.Continued++
	}
	switch p.Effect {
	case hook.EffectAgrees:
		c.Agrees++
	case hook.EffectAgainst:
		c.Against++
	case hook.EffectMissed:
		c.Missed++
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

// replay decides about past sessions.
type replay struct {
	policy     autocontinue.Policy
	classifier classify.Classifier
	labelled   *labelled       // nil where nobody wants them
	show       func(any) error // shows a replayPause, replaySession, replayFault or replayTotal
	bar        *bar
	model      string // of the LLM; "" without one

	sum    replayTotal
	now    *replaySession
	unseen error // of showing, which ends everything
}

// all goes through the transcripts. It reports what is wrong with one of them, and reads the others. When ctx ends,
// the total is of what was read until then.
func (r *replay) all(ctx context.Context, found *sessionFiles) (replayTotal, error) {
	r.sum = replayTotal{Others: found.others}
	for i, file := range found.files {
		if ctx.Err() != nil {
			break
		}
		r.bar.show(i, len(found.files))
		err := r.file(ctx, file)
		switch {
		case r.unseen != nil:
			r.bar.clear()
			return r.sum, r.unseen
		case err == nil || ctx.Err() != nil:
		case file.among && errors.Is(err, transcript.ErrFormat):
			r.sum.Others++
		default:
			r.sum.Faults++
			r.bar.clear()
			r.tell(replayFault{file.name, strings.TrimPrefix(err.Error(), "transcript: ")})
		}
	}
	r.sum.Interrupted, r.sum.Verdict = ctx.Err() != nil, worthOf(r.sum.Agrees, r.sum.Against)
	r.bar.clear()
	r.tell(r.sum)
	return r.sum, r.unseen
}

// tell shows a value, and remembers when that failed.
func (r *replay) tell(v any) error {
	r.unseen = cmp.Or(r.unseen, r.show(v))
	return r.unseen
}

// file goes through one transcript.
func (r *replay) file(ctx context.Context, file sessionFile) error {
	f, _, err := transcript.OpenFile(file.name)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := transcript.Open(f, file.size, file.name)
	if err != nil {
		return err
	}
	r.sum.Files++
	start := func(session string) (hook.Loop, error) {
		if err := r.end(); err != nil {
			return nil, err
		}
		r.sum.Sessions++
		r.now = &replaySession{File: file.name, Agent: string(t.Format), Session: session}
		return autocontinue.New(autocontinue.Config{Classifier: r, Policy: r.policy})
	}
	long, err := hook.Replay(ctx, t, start, func(m hook.Moment) error {
		p := pauseOf(file.name, m)
		r.now.count(p)
		r.sum.count(p)
		if p.Type.Valid() && (p.Asked || p.Effect == hook.EffectAgrees || p.Effect == hook.EffectMissed) {
			r.sum.labels++
			r.labelled.add(p, m)
		}
		return r.tell(p)
	})
	r.sum.Bytes += file.size
	r.sum.LongLines += long
	return errors.Join(err, r.end())
}

// end ends a session.
func (r *replay) end() error {
	s := r.now
	if r.now = nil; s == nil {
		return nil
	}
	return r.tell(*s)
}
