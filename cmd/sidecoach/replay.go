package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// replayOptions are the flags of replay.
type replayOptions struct {
	threshold threshold
	most      mostContinues
	judging   judging
	price     price
	yes       bool
	every     bool
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
TRANSCRIPT is a file, a folder with such files at any depth, or a pattern; whose
it is shows in its content: Claude Code, Codex, Gemini CLI, Cursor, Copilot CLI,
SpecStory (Markdown) and aider (.aider.chat.history.md).

What you wrote after a pause tells whether the decision was worth it:
  agrees   it would have sent the agent on, and you then wrote what it would
           have: go on, run the tests, show the output
  against  it would have sent the agent on, and you answered a question, or
           said no
  missed   it would have let the agent stop, and you wrote such a thing
The last sentence is the answer: it pays to install it where it agrees at least
twice as often as it is against, and may pay where it agrees more often. The
reasons above it are explained by sidecoach log --help.

With --llm the outputs, shortened, go to a model: replay says first how many
calls and tokens that takes, with --price how much money, and asks. The same
output is sent once. Where the model has no answer the heuristic judges, and
that is counted.

With --json each pause, each session, each file with a fault and the total is a
JSON object on a line of its own, under one of these keys; the total is last:
  pause    file, agent, session, line (where the message ends), action, outcome,
           reason, type, was_rejected_completion, confidence, continues (of the
           turn), hold (why the host forbids going on), reply (nudge, assent,
           yes_nudge, answer, other), asked (you answered), effect (as above)
  session  file, agent, session, pauses, continued, agrees, against, missed,
           reasons (pauses by reason)
  fault    file, kind (unknown, truncated, interleaved, damaged, unreadable),
           fault (in words)
  total    files, others (in folders, no transcripts), faults, bytes, long_lines
           (above 4 MiB, left out), sessions, pauses, continued, agrees,
           against, missed, judged (outputs), fallbacks (of these by the
           heuristic because the LLM failed), reasons, llm (model, answered,
           repeated, prompt_tokens, cached_tokens, completion_tokens, cost,
           failed), verdict (pays, may_pay, does_not_pay, no_difference),
           interrupted
What is empty, or 0 in a pause, may be absent. The page of --html is that of
eval, of the pauses after which your words told what they were, at most 1000 of
them: a guess, so none of them counts as sure.

Exit status: 0 all was read, 1 a file is unknown, cut off, damaged or mixed up
with another, an interruption (what was read until then is printed, no page is
written) or a failure, 64 wrong usage.`,
		Example: `  sidecoach replay ~/.claude/projects
  sidecoach replay ~/.codex/sessions ~/.copilot/session-state --html report.html
  sidecoach replay '*.jsonl' --json | jq 'select(.pause.effect == "against")'
  sidecoach replay .aider.chat.history.md --llm --price 0.40,1.60`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return misuse("sidecoach replay ~/.claude/projects; "+usualPlaces, "no transcript is named")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			t.keyboard = t.keyboard && widthOf(cmd.ErrOrStderr()) > 0 // a question in a file is seen by nobody
			return o.run(cmd, args, t)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Var(&o.most, "max-continues", "once a turn was continued `N` times the human is next; 0 continues nothing")
	f.Var(&o.threshold, "threshold", "a status less certain than this, 0 to 1, is not continued; 0 switches the rule off")
	o.judging.register(f)
	f.Var(&o.price, "price", "with --llm, what a million tokens cost to the model and back, such as 0.40,1.60")
	f.BoolVar(&o.yes, "yes", false, "with --llm, do not ask before the agents' words are sent")
	f.BoolVar(&o.every, "all", false, "a row for each session, however many they are")
	f.BoolVar(&o.json, "json", false, "print JSON, one object a line, without the agents' words")
	f.StringVar(&o.html, "html", "", "write a page to `FILE` with the pauses after which your words told what they were")
	return cmd
}

// run does all that can fail for free first, and asks before it costs anything.
func (o *replayOptions) run(cmd *cobra.Command, args []string, t terminal) error {
	if err := o.judging.check(); err != nil {
		return err
	}
	if !o.judging.asks() {
		switch {
		case o.yes:
			return misuse("leave --yes out, or add --llm", "--yes answers a question that only --llm asks")
		case o.price != price{}:
			return misuse("leave --price out, or add --llm", "--price means nothing to the heuristic, which costs nothing")
		}
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
	name := "heuristic"
	bar := newBar(stderr)
	bar.unit = " KiB"
	if o.judging.asks() {
		name = "llm " + o.judging.llm.modelName()
		if err := o.agreed(ctx, found, &r, bar, cmd.InOrStdin(), stderr, t); err != nil {
			return err
		}
	}
	faults := faultLines{w: stderr}
	table := &replayTable{terminal: t, w: cmd.OutOrStdout(), faults: faults, every: o.every}
	var out replayPrinter = table
	if o.json {
		out = &replayJSON{w: cmd.OutOrStdout(), faults: faults}
	}
	total, err := r.all(ctx, found, out, bar)
	switch {
	case err != nil:
		return errors.Join(err, table.tellFaults())
	case total.Interrupted && page != nil:
		return badInput("run it again", "interrupted: what was read until then is above, and there is no page")
	case total.Interrupted:
		return badInput("run it again", "interrupted: what was read until then is above")
	}
	if page != nil {
		report, err := r.labelled.report(name, o.threshold.policy(), total)
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
		return unread(total, len(found.files)-(total.Others-found.others))
	case total.Files == 0:
		return badInput(usualPlaces, "there is no transcript")
	}
	return nil
}

// unread is that some of the files that were read had a fault.
func unread(total replayTotal, files int) error {
	hint, what := "the lines above say what is wrong", fmt.Sprintf("%s of %s files could not be read as a whole", thousands(total.Faults), thousands(files))
	if total.Faults == 1 {
		hint = "the line above says what is wrong"
	}
	switch {
	case files == 1 && total.Files == 0:
		what = "the file could not be read"
	case files == 1:
		what = "the file could not be read as a whole"
	case total.Faults == files:
		what = fmt.Sprintf("none of the %s files could be read as a whole", thousands(files))
	case files-total.Faults == 1:
		hint = "the other one was read; " + hint
	default:
		hint = "the others were read; " + hint
	}
	return badInput(hint, "%s", what)
}
