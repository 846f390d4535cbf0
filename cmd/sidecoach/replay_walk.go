package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/classify"
)

// replay decides about old sessions.
type replay struct {
	policy     autocontinue.Policy
	classifier classify.Classifier
	labelled   *labelled // nil where nobody wants them
	asking     func()    // called before each output that an LLM may be asked about; nil without an LLM
	model      string    // of the LLM
	price      *price    // of its tokens; nil where it is not known
}

// replayPrinter shows what comes of it, while it comes.
type replayPrinter interface {
	pause(replayPause) error
	session(replaySession) error
	fault(replayFault) error
	total(replayTotal) error
}

// all goes through the transcripts. What is wrong with one of them is told, and the others are read. When ctx ends the total is
// of what was read until then, and no error.
func (r *replay) all(ctx context.Context, found oldSessions, out replayPrinter, bar *bar) (replayTotal, error) {
	total := replayTotal{Others: found.others}
	defer bar.clear()
	done := int64(0)
	for _, file := range found.files {
		if ctx.Err() != nil {
			break
		}
		sum, err := r.file(ctx, file, out, func(at int64) {
			if r.asking == nil { // the calls are what takes time then
				bar.show(int((done+at)>>10), max(int(found.size>>10), 1))
			}
		})
		done += file.size
		total.add(sum)
		if err == nil || ctx.Err() != nil {
			continue
		}
		if file.among && none(file.name, err) {
			total.Others++
			continue
		}
		fault, ok := faultOf(file.name, err)
		if !ok {
			return total, err
		}
		total.Faults++
		bar.clear()
		if err := out.fault(fault); err != nil {
			return total, err
		}
	}
	total.Interrupted, total.Verdict = ctx.Err() != nil, worthOf(total.Agrees, total.Against)
	if l := total.LLM; l != nil {
		l.Model = r.model
		if r.price != nil {
			cost := r.price.of(l.PromptTokens, l.CompletionTokens)
			l.Cost = &cost
		}
	}
	bar.clear()
	return total, out.total(total)
}

// none reports whether a file in a folder is no transcript, which is no fault. One of a kind that is not read is.
func none(name string, err error) bool {
	format, ok := errors.AsType[*hook.FormatError](err)
	return ok && (format.Holds == hook.HoldsNone || format.Holds == hook.HoldsUnknown && !strings.HasSuffix(name, ".jsonl"))
}

// failed is an error that ends everything, not one of a transcript.
type failed struct{ error }

// file goes through one transcript.
func (r *replay) file(ctx context.Context, file oldSession, out replayPrinter, progress func(int64)) (sum replayTotal, err error) {
	f, err := file.open()
	if err != nil {
		return sum, err
	}
	defer f.Close()
	t, err := hook.OpenTranscript(&watched{f: f, progress: progress}, file.size, file.name)
	if err != nil {
		return sum, err
	}
	sum.Files = 1
	var now *replaySession
	end := func() error {
		if now == nil {
			return nil
		}
		s := *now
		now = nil
		sum.sessions(s)
		return out.session(s)
	}
	asked := &tally{Classifier: r.classifier, asking: r.asking}
	start := func(session string) (hook.Loop, error) {
		if err := end(); err != nil {
			return nil, failed{err}
		}
		now = &replaySession{File: file.name, Agent: string(t.Format), Session: session, Reasons: make(map[autocontinue.Reason]int)}
		return autocontinue.New(autocontinue.Config{Classifier: asked, Policy: r.policy})
	}
	account, err := t.Replay(ctx, start, func(m hook.Moment) error {
		p := pauseOf(file.name, m)
		now.count(p)
		if p.labelled() {
			sum.Labelled++
		}
		if r.labelled != nil {
			r.labelled.add(p, m)
		}
		if err := out.pause(p); err != nil {
			return failed{err}
		}
		return nil
	})
	sum.Bytes, sum.LongLines = account.Bytes, account.Long
	asked.into(&sum)
	if unsaid := end(); unsaid != nil && err == nil {
		err = failed{unsaid}
	}
	return sum, err
}

// faultOf says what is wrong with a transcript. An error of something else is none.
func faultOf(name string, err error) (replayFault, bool) {
	if _, ok := errors.AsType[failed](err); ok {
		return replayFault{}, false
	}
	f := replayFault{File: name, Fault: strings.ReplaceAll(err.Error(), "hook: ", "")}
	for kind, is := range map[string]error{"unknown": hook.ErrFormat, "truncated": hook.ErrTruncated, "interleaved": hook.ErrInterleaved, "damaged": hook.ErrDamaged} {
		if errors.Is(err, is) {
			f.Kind = kind
		}
	}
	if f.Kind == "" {
		f.Kind = "unreadable"
	}
	return f, true
}

// watched tells how far a file was read.
type watched struct {
	f        *os.File
	progress func(int64)
	far      int64
}

func (w *watched) ReadAt(p []byte, at int64) (int, error) {
	n, err := w.f.ReadAt(p, at)
	if far := at + int64(n); far > w.far {
		w.far = far
		w.progress(far)
	}
	return n, err
}

func (f failed) Unwrap() error { return f.error }
