package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/classify"
)

// replayOptions are the flags of replay.
type replayOptions struct {
	threshold threshold
	most      mostContinues
	judging   judging
	yes       bool
	json      bool
	html      string
}

func newReplay(t terminal) *cobra.Command {
	o := replayOptions{threshold: classify.DefaultThreshold, most: autocontinue.DefaultMaxContinues}
	cmd := &cobra.Command{
		Use:   "replay TRANSCRIPT… [flags]",
		Short: "What would have been decided in old sessions",
		Long: `replay goes through the transcripts of old sessions and decides at each pause of
the agent, as the stop hook would have, with what was remembered until then. A
TRANSCRIPT is a file, a folder with such files, or a pattern; whose it is shows
in its content: Claude Code, Codex, Gemini CLI, Cursor, Copilot CLI, SpecStory
(Markdown) and aider (.aider.chat.history.md).

What the human wrote after a pause tells whether the decision was worth it:
  agrees   it would have sent the agent on, and the human then wrote what it
           would have: go on, run the tests, show the output
  against  it would have sent the agent on, and the human answered a question
  missed   it would have let the agent stop, and the human wrote such a thing

With --json each pause, each session, each file with a fault and the total is a
JSON object on a line of its own. The page of --html is that of eval, of the
pauses that the human's words label, at most 1000 of them: a guess, so none of
them counts as sure.

Exit status: 0 all was read, 1 a file is unknown, cut off, damaged or mixed up
with another, or a failure, 64 wrong usage.`,
		Example: `  sidecoach replay ~/.claude/projects
  sidecoach replay ~/.codex/sessions ~/.copilot/session-state --html report.html
  sidecoach replay 'logs/*.jsonl' --json | jq 'select(.pause.reply == "answer")'
  sidecoach replay .aider.chat.history.md --llm`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return misuse("sidecoach replay ~/.claude/projects", "no transcript is named")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args, t) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Var(&o.most, "max-continues", "once a turn was continued `N` times the human is next; 0 continues nothing")
	f.Var(&o.threshold, "threshold", "a status less certain than this, 0 to 1, is not continued; 0 switches the rule off")
	o.judging.register(f)
	f.BoolVar(&o.yes, "yes", false, "with --llm, do not ask before the agents' words are sent")
	f.BoolVar(&o.json, "json", false, "print JSON, one object a line, without the agents' words")
	f.StringVar(&o.html, "html", "", "write a page to `FILE` with the pauses that the human's words label")
	return cmd
}

// run does all that can fail for free first, and asks before it costs anything.
func (o *replayOptions) run(cmd *cobra.Command, args []string, t terminal) error {
	if err := o.judging.check(); err != nil {
		return err
	}
	if o.yes && !o.judging.useLLM {
		return misuse("leave --yes out, or add --llm", "--yes answers a question that only --llm asks")
	}
	stderr := cmd.ErrOrStderr()
	found, err := findTranscripts(args)
	if err != nil {
		return err
	}
	r := replay{policy: autocontinue.Policy{MaxContinues: o.most.policy(), MinConfidence: o.threshold.policy()}}
	if r.classifier, err = classify.NewHeuristic(); err != nil {
		return err
	}
	var page *atomicFile
	if o.html != "" {
		if err := replaceable(o.html, found.names()); err != nil {
			return err
		}
		if page, err = createAtomic(o.html); err != nil {
			return err
		}
		defer page.discard()
		r.labelled = &labelled{}
	}
	ctx, release := interruptible(cmd.Context())
	defer release()
	interrupted := func(err error) error {
		if err != nil && ctx.Err() != nil && cmd.Context().Err() == nil {
			return badInput("run it again", "interrupted: what was printed is not all")
		}
		return err
	}
	name := "heuristic"
	if o.judging.useLLM {
		judge, err := o.judging.patient()
		if err != nil {
			return err
		}
		if err := o.agreed(ctx, found, r, cmd.InOrStdin(), stderr, t); err != nil {
			return interrupted(err)
		}
		r.classifier, name = judge, "llm "+o.judging.llm.modelName()
	}
	var out replayPrinter = &replayTable{terminal: t, w: cmd.OutOrStdout()}
	if o.json {
		out = &replayJSON{w: cmd.OutOrStdout()}
	}
	total, err := r.all(ctx, found, out, stderr)
	if err != nil {
		return interrupted(err)
	}
	if page != nil {
		report, err := r.labelled.report(name, o.threshold.policy())
		if err != nil {
			return err
		}
		if err := page.commit(report); err != nil {
			return err
		}
	}
	return o.verdict(total, found)
}

// verdict is what is wrong after all was read.
func (o *replayOptions) verdict(total replayTotal, found oldSessions) error {
	switch {
	case total.Fallbacks > 0 && total.Fallbacks == total.Asked:
		return badInput("the heuristic alone decided; look at the server, the key and the model", "the LLM failed on every output it was asked about")
	case total.Faults > 0:
		return badInput("the others were read; the lines above say what is wrong", "%s of %s could not be read as a whole", plural(total.Faults, "file"), plural(len(found.files), "file"))
	case total.Files == 0:
		return badInput("name files or folders such as ~/.claude/projects, ~/.codex/sessions, ~/.gemini/tmp, ~/.copilot/session-state or .specstory/history", "there is no transcript")
	}
	return nil
}

// replay decides about old sessions.
type replay struct {
	policy     autocontinue.Policy
	classifier classify.Classifier
	labelled   *labelled // nil where nobody wants them
}

// replayPrinter shows what comes of it, while it comes.
type replayPrinter interface {
	pause(replayPause) error
	session(replaySession) error
	fault(replayFault) error
	total(replayTotal) error
}

// all goes through the transcripts. What is wrong with one of them is told, and the others are read.
func (r *replay) all(ctx context.Context, found oldSessions, out replayPrinter, stderr io.Writer) (replayTotal, error) {
	total := replayTotal{Others: found.others}
	bar := newBar(stderr)
	bar.unit = " KiB"
	defer bar.clear()
	done := int64(0)
	for _, file := range found.files {
		sum, err := r.file(ctx, file, out, func(at int64) { bar.show(int((done+at)>>10), max(int(found.size>>10), 1)) })
		done += file.size
		total.add(sum)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return total, err
		case errors.Is(err, hook.ErrFormat) && file.among && !strings.HasSuffix(file.name, ".jsonl"):
			total.Others++
			continue
		default:
			fault, ok := faultOf(file.name, err)
			if !ok {
				return total, err
			}
			total.Faults++
			bar.clear()
			complain(stderr, "sidecoach: "+fault.File+": "+fault.Fault)
			if err := out.fault(fault); err != nil {
				return total, err
			}
		}
	}
	bar.clear()
	return total, out.total(total)
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
	asked := &tally{Classifier: r.classifier}
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
		if r.labelled != nil {
			r.labelled.add(p, m)
		}
		if err := out.pause(p); err != nil {
			return failed{err}
		}
		return nil
	})
	sum.Bytes, sum.LongLines, sum.Asked, sum.Fallbacks = account.Bytes, account.Long, asked.calls, asked.fallbacks
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

// tally counts what a classifier is asked.
type tally struct {
	classify.Classifier
	calls, fallbacks, size int
}

func (t *tally) Classify(ctx context.Context, in classify.Input) (classify.Result, error) {
	t.calls++
	t.size += len(in.Text) + len(in.Request)
	r, err := t.Classifier.Classify(ctx, in)
	if r.Fallback != "" {
		t.fallbacks++
	}
	return r, err
}

func (f failed) Unwrap() error { return f.error }
