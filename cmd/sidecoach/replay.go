package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
)

// replayOptions are the flags of replay.
type replayOptions struct {
	threshold threshold
	most      mostContinues
	judging   judging
	yes       bool
	every     bool
	json      bool
	html      string
}

func newReplay(t terminal) *cobra.Command {
	o := replayOptions{threshold: classify.DefaultThreshold, most: autocontinue.DefaultMaxContinues}
	cmd := &cobra.Command{
		Use:   "replay TRANSCRIPT… [flags]",
		Short: "Show what would have been decided in past sessions",
		Long: `replay reads transcripts of past sessions and decides at each pause of the
agent, as the stop hook would have done. A TRANSCRIPT is a file, a folder with
files at any depth, or a pattern. replay recognizes the agent by the content:
Claude Code, Codex, Gemini CLI, Cursor and Copilot CLI.

What you wrote after a pause shows whether the decision would have helped:
  agrees   it continues the agent, and you then did the same: go on, run the
           tests, show the output
  against  it continues the agent, and you answered a question, or said no
  missed   it lets the agent stop, and you then continued it
The last sentence sums this up: sidecoach pays here when it agrees at least
twice as often as it is against, and may pay when it agrees more often. The
help of sidecoach log explains the reasons.

With --llm the outputs are sent to a model, shortened. replay first says how
many calls and tokens that takes, and asks. The same output is sent once. Where
the model has no answer the heuristic decides, and replay counts that.

With --json each pause, each session, each file with a fault and the total is a
JSON object on a line of its own, under one of these keys; the total is last:
  pause    file, agent, session, line (where the message ends), action, outcome,
           reason, type, was_rejected_completion, confidence, continues (of the
           turn), hold (why the host forbids to continue), reply (nudge, assent,
           yes_nudge, answer, other), asked (you answered), effect (see above),
           work (what the agent did)
  session  file, agent, session, pauses, continued, agrees, against, missed,
           reasons (pauses by reason)
  fault    file, kind (unknown, truncated, interleaved, damaged, unreadable),
           fault (in words)
  total    files, others (in folders, not transcripts), faults, bytes,
           long_lines (above 4 MiB, left out), sessions, pauses, continued,
           agrees, against, missed, reasons, judged (outputs), fallbacks (judged
           by the heuristic because the LLM failed), llm (model, answered,
           repeated, prompt_tokens, cached_tokens, completion_tokens, failed),
           verdict (pays, may_pay, does_not_pay, no_difference), interrupted
A key may be absent when its value is empty, or 0 in a pause. The page of --html
is that of eval. It shows the pauses that your words label, at most 1000: a
guess, so none of them counts as sure.

Exit status: 0 everything was read, 1 a file is unknown, cut off, damaged or
mixed up with another, replay was interrupted (it prints what it has read, and
writes no page) or failed, 64 wrong usage.`,
		Example: `  sidecoach replay ~/.claude/projects
  sidecoach replay ~/.codex/sessions ~/.copilot/session-state --html report.html
  sidecoach replay '*.jsonl' --json | jq 'select(.pause.effect == "against")'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return misuse("sidecoach replay ~/.claude/projects; "+transcript.Locations, "no transcript is named")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			t.keyboard = t.keyboard && widthOf(cmd.ErrOrStderr()) > 0 // nobody sees a question in a file
			return o.run(cmd, args, t)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Var(&o.most, "max-continues", "after `N` continues of a turn the human is next; 0 continues nothing")
	f.Var(&o.threshold, "threshold", "do not continue a status less certain than this, 0 to 1; 0 switches the rule off")
	o.judging.register(f)
	f.BoolVar(&o.yes, "yes", false, "with --llm, do not ask before the agents' words are sent")
	f.BoolVar(&o.every, "all", false, "print a row for each session, however many they are")
	f.BoolVar(&o.json, "json", false, "print JSON, one object a line, without the agents' words")
	f.StringVar(&o.html, "html", "", "write a page to `FILE` with the pauses that your words label")
	return cmd
}

// run does everything that can fail for free first, and asks before it costs anything.
func (o *replayOptions) run(cmd *cobra.Command, args []string, t terminal) error {
	if err := o.judging.check(); err != nil {
		return err
	}
	if o.yes && !o.judging.asks() {
		return misuse("leave --yes out, or add --llm", "--yes answers a question that only --llm asks")
	}
	stderr := cmd.ErrOrStderr()
	found, err := findTranscripts(args)
	if err != nil {
		return err
	}
	r := &replay{
		policy: autocontinue.Policy{MaxContinues: o.most.policy(), MinConfidence: o.threshold.policy()},
		bar:    newBar(stderr),
	}
	r.bar.unit = " KiB"
	if r.classifier, err = classify.NewHeuristic(); err != nil {
		return err
	}
	var page *atomicFile
	if o.html != "" {
		if err := replaceable(o.html, found.names()); err != nil {
			return err
		}
		if page, err = createAtomic(o.html, 0o600); err != nil {
			return err
		}
		defer page.discard()
		r.labelled = &labelled{}
	}
	ctx, release := interruptible(cmd.Context())
	defer release()
	name := "heuristic"
	if o.judging.asks() {
		name = "llm " + o.judging.llm.modelName()
		if err := o.askFirst(ctx, found, r, cmd.InOrStdin(), stderr, t); err != nil {
			return err
		}
	}
	table := &replayTable{terminal: t, w: cmd.OutOrStdout(), errs: stderr, every: o.every}
	r.show = table.show
	if o.json {
		r.show = replayJSON(cmd.OutOrStdout(), stderr)
	}
	total, err := r.all(ctx, found)
	switch {
	case err != nil:
		table.showFaults()
		return err
	case total.Interrupted && page != nil:
		return badInput("run it again", "interrupted: what was read until then is above, and there is no page")
	case total.Interrupted:
		return badInput("run it again", "interrupted: what was read until then is above")
	}
	if page != nil {
		write, err := r.labelled.write(name, o.threshold.policy(), total)
		if err == nil {
			err = page.commit(write)
		}
		if err != nil {
			return err
		}
	}
	return failureOf(total, len(found.files)-total.Others)
}

// failureOf says what is wrong after everything was read.
func failureOf(total replayTotal, files int) error {
	switch {
	case total.Fallbacks > 0 && total.Fallbacks == total.Judged:
		return badInput(
			"look at the server, the key and the model",
			"the LLM failed on every output; the heuristic alone decided",
		)
	case total.Faults > 0 && files == 1:
		return badInput("the line above says what is wrong", "the file could not be read as a whole")
	case total.Faults > 0:
		return badInput("the lines above say what is wrong; the other files were read",
			"%s of %s files could not be read as a whole", thousands(total.Faults), thousands(files))
	case total.Files == 0:
		return badInput(transcript.Locations, "there is no transcript")
	}
	return nil
}

// sentences say what comes of everything. The last one is the verdict, where there is something to judge.
func (t replayTotal) sentences() []string {
	read := fmt.Sprintf(
		"%s, %s, %s: ",
		plural(t.Files, "transcript"),
		plural(t.Sessions, "session"),
		plural(t.Pauses, "pause"),
	)
	if t.Pauses == 0 {
		return []string{strings.TrimSuffix(read, ": ") + ": there is nothing to judge."}
	}
	said := []string{fmt.Sprintf("%sat %s it would have continued the agent.", read, thousands(t.Continued))}
	if n := t.Continued - t.Agrees - t.Against; n > 0 {
		said = append(said, fmt.Sprintf("At %s of these you wrote something else, or nothing.", thousands(n)))
	}
	verdict := map[worth]string{
		pays: "It pays here", mayPay: "It may pay here", paysNot: "It does not pay here",
		noMatter: "It makes no difference here",
	}[t.Verdict]
	spared := `you wrote no message such as "continue" or "run the tests"`
	if wrote := t.Agrees + t.Missed; wrote > 0 {
		spared = fmt.Sprintf(
			`it would have spared you %s of %s such as "continue" or "run the tests"`,
			thousands(t.Agrees),
			plural(wrote, "message"),
		)
	}
	past := "it would not have passed over a question that you answered"
	if t.Against > 0 {
		past = fmt.Sprintf("it would have continued at %s where you answered or said no", plural(t.Against, "pause"))
	}
	sentence := fmt.Sprintf("%s: %s, and %s.", verdict, spared, past)
	if t.Agrees+t.Against < telling {
		sentence += " That is too little to be sure."
	}
	return append(said, sentence)
}

// worth says whether the hook would have helped, by what the human wrote.
type worth string

const (
	pays     worth = "pays"
	mayPay   worth = "may_pay"
	paysNot  worth = "does_not_pay"
	noMatter worth = "no_difference"

	telling = 5 // pauses that say more than chance
)

// worthOf compares the messages that it would have spared the human with the questions that it would have passed
// over. A question costs more than a message, so it pays from two messages a question on.
func worthOf(agrees, against int) worth {
	switch {
	case agrees == 0 && against == 0:
		return noMatter
	case against >= agrees:
		return paysNot
	case agrees >= 2*against:
		return pays
	}
	return mayPay
}
