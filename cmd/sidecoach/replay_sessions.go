package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
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
		File: masked(file), Agent: string(m.Host), Session: masked(m.Output.Session), Line: m.Line,
		Action: d.Action, Outcome: d.Outcome, Reason: d.Reason, Type: d.Result.Type, Rejected: d.Result.WasRejectedCompletion,
		Confidence: d.Result.Confidence, Continues: d.Continues, Hold: masked(m.Output.Hold), Work: m.Output.Work,
	}
	p.Effect, p.Reply, p.Asked = m.Effect()
	return p
}

type replayCounts struct {
	Pauses    int            `json:"pauses"`
	Continued int            `json:"continued"`
	Agrees    int            `json:"agrees"`
	Against   int            `json:"against"`
	Missed    int            `json:"missed"`
	Reasons   map[string]int `json:"reasons"`

	byAction reasonCounts
}

func (c *replayCounts) count(p replayPause) {
	if c.Reasons == nil {
		c.Reasons, c.byAction = map[string]int{}, newReasonCounts()
	}
	c.Pauses++
	c.Reasons[string(p.Reason)]++
	c.byAction.add(p.Action, p.Reason)
	if p.Action == autocontinue.Continue {
		c.Continued++
	}
	switch p.Effect {
	case "agrees":
		c.Agrees++
	case "against":
		c.Against++
	case "missed":
		c.Missed++
	}
}

type replaySession struct {
	File    string `json:"file"`
	Agent   string `json:"agent"`
	Session string `json:"session"`
	replayCounts
}

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
	Judged      int        `json:"judged"`        // outputs that were put to the classifier
	Fallbacks   int        `json:"fallbacks"`     // of these, judged by the heuristic because the LLM failed
	LLM         *replayLLM `json:"llm,omitempty"` // nil without --llm
	Verdict     string     `json:"verdict"`
	Interrupted bool       `json:"interrupted,omitempty"` // there was more to read
	labels      int        // pauses that the human's words label
}

type replayLLM struct {
	Model            string `json:"model"`
	Answered         int    `json:"answered"` // outputs
	Repeated         int    `json:"repeated"` // of these, answered before and not sent again
	PromptTokens     int    `json:"prompt_tokens"`
	CachedTokens     int    `json:"cached_tokens"` // part of PromptTokens, as the server says
	CompletionTokens int    `json:"completion_tokens"`
	Failed           string `json:"failed,omitempty"` // why the heuristic judged the first of them
}

// replay decides about past sessions.
type replay struct {
	policy     autocontinue.Policy
	classifier classify.Classifier
	labelled   labelled
	show       func(kind string, v any) error // shows a pause, a session, a fault or the total
	bar        *bar

	sum     replayTotal
	session *replaySession
	faults  []replayFault
	failed  error // of showing, which ends everything
}

// all goes through the transcripts. It reports what is wrong with one of them, and reads the others. When ctx ends,
// the total is of what was read until then.
func (r *replay) all(ctx context.Context, files []sessionFile) (replayTotal, error) {
	defer r.bar.clear()
	for i, file := range files {
		if ctx.Err() != nil {
			break
		}
		r.bar.show(i, len(files))
		err := r.file(ctx, file)
		switch {
		case r.failed != nil:
			return r.sum, r.failed
		case err == nil || ctx.Err() != nil:
		case file.among && (errors.Is(err, transcript.ErrFormat) || errors.Is(err, fs.ErrNotExist)): // a link to nowhere
			r.sum.Others++
		default:
			r.sum.Faults++
			r.faults = append(r.faults, replayFault{masked(file.name), masked(strings.TrimPrefix(err.Error(), "transcript: "))})
			r.tell("fault", r.faults[len(r.faults)-1])
		}
	}
	r.sum.Interrupted, r.sum.Verdict = ctx.Err() != nil, worth(r.sum.Agrees, r.sum.Against)
	r.bar.clear()
	return r.sum, r.tell("total", r.sum)
}

// tell shows a value, and remembers when that failed.
func (r *replay) tell(kind string, v any) error {
	r.failed = cmp.Or(r.failed, r.show(kind, v))
	return r.failed
}

func (r *replay) file(ctx context.Context, file sessionFile) error {
	f, size, err := transcript.OpenFile(file.name)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := transcript.Open(f, size, file.name)
	if err != nil {
		return err
	}
	r.sum.Files++
	start := func(session string) (*autocontinue.AutoContinue, error) {
		if err := r.end(); err != nil {
			return nil, err
		}
		r.sum.Sessions++
		r.session = &replaySession{File: masked(file.name), Agent: string(t.Format), Session: masked(session)}
		return autocontinue.New(autocontinue.Config{Classifier: r, Policy: r.policy})
	}
	long, err := hook.Replay(ctx, t, start, func(m hook.Moment) error {
		p := pauseOf(file.name, m)
		r.session.count(p)
		r.sum.count(p)
		if p.Type.Valid() && (p.Asked || p.Effect == "agrees" || p.Effect == "missed") {
			r.sum.labels++
			r.labelled.add(p, m)
		}
		return r.tell("pause", p)
	})
	r.sum.Bytes += size
	r.sum.LongLines += long
	return errors.Join(err, r.end())
}

func (r *replay) end() error {
	s := r.session
	if r.session = nil; s == nil {
		return nil
	}
	return r.tell("session", *s)
}

// Classify asks the classifier, and counts what its answers cost. The end of ctx is an error, also where a fallback
// answered.
func (r *replay) Classify(ctx context.Context, in classify.Input) (classify.Result, error) {
	result, err := r.classifier.Classify(ctx, in)
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	l := r.sum.LLM
	if l == nil || result.Usage != nil || result.Fallback != "" { // facts settle some outputs without the LLM
		r.sum.Judged++
	}
	if l != nil && result.Fallback != "" {
		r.sum.Fallbacks++
		l.Failed = cmp.Or(l.Failed, strings.TrimPrefix(result.Fallback, "llm: "))
	}
	if u := result.Usage; l != nil && u != nil {
		l.Answered++
		if u.Attempts == 0 {
			l.Repeated++
		}
		l.PromptTokens += u.PromptTokens
		l.CachedTokens += u.CachedTokens
		l.CompletionTokens += u.CompletionTokens
	}
	return result, err
}

// memoryCache keeps the answers of this process.
type memoryCache struct{ answers sync.Map }

func (m *memoryCache) Load(_ context.Context, r llm.Request) (llm.Answer, error) {
	if object, ok := m.answers.Load(r.Key()); ok {
		return llm.Answer{Object: object.(json.RawMessage), Usage: classify.Usage{Model: r.Model}}, nil
	}
	return llm.Answer{}, fs.ErrNotExist
}

func (m *memoryCache) Store(_ context.Context, r llm.Request, a llm.Answer) error {
	m.answers.Store(r.Key(), a.Object)
	return nil
}
