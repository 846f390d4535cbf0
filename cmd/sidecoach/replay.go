package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

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
		Use: "replay TRANSCRIPT… [flags]",
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

// run does everything that can fail for free first, and asks before it sends anything.
func (o *replayOptions) run(cmd *cobra.Command, args []string, t terminal) error {
	if err := o.judging.check(); err != nil {
		return err
	}
	if o.yes && !o.judging.asks() {
		return misuse("leave --yes out, or add --llm", "--yes answers a question that only --llm asks")
	}
	out, stderr := cmd.OutOrStdout(), cmd.ErrOrStderr()
	found, err := findTranscripts(args)
	if err != nil {
		return err
	}
	r := &replay{
		policy: autocontinue.Policy{MaxContinues: o.most.policy(), MinConfidence: o.threshold.policy()},
		bar:    newBar(stderr),
	}
	if r.classifier, err = classify.NewHeuristic(); err != nil {
		return err
	}
	var page *atomicFile
	noPage := ""
	if o.html != "" {
		if err := replaceable(o.html, slices.Collect(maps.Keys(found.seen))); err != nil {
			return err
		}
		if page, err = createAtomic(o.html, 0o600); err != nil {
			return err
		}
		defer page.discard()
		r.labelled, noPage = &labelled{}, ", and there is no page"
	}
	ctx, release := interruptible(cmd.Context())
	defer release()
	if o.judging.asks() {
		if err = o.useLLM(r); err == nil && !o.yes {
			err = o.askFirst(ctx, len(found.files), cmd.InOrStdin(), stderr, t)
		}
		if err != nil {
			return err
		}
	}
	table := &replayTable{terminal: t, w: out, errs: stderr, every: o.every}
	r.show = table.show
	if o.json {
		r.show = replayJSON(out, stderr)
	}
	total, err := r.all(ctx, found)
	switch {
	case err != nil:
		table.showFaults()
		return err
	case total.Interrupted:
		return badInput("run it again", "interrupted: what was read until then is above%s", noPage)
	}
	if page != nil {
		if err := r.labelled.write(page, cmp.Or(r.model, "heuristic"), o.threshold.policy(), total); err != nil {
			return err
		}
	}
	return failureOf(total, len(found.files)-total.Others)
}

// failureOf says what is wrong after everything was read.
func failureOf(total replayTotal, files int) error {
	switch {
	case total.Fallbacks > 0 && total.Fallbacks == total.Judged:
		return badInput("look at the server, the key and the model",
			"the LLM failed on every output; the heuristic alone decided")
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
	read := fmt.Sprintf("%s, %s, %s: ",
		plural(t.Files, "transcript"), plural(t.Sessions, "session"), plural(t.Pauses, "pause"))
	if t.Pauses == 0 {
		return []string{read + "there is nothing to judge."}
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
		spared = fmt.Sprintf(`it would have spared you %s of %s such as "continue" or "run the tests"`,
			thousands(t.Agrees), plural(wrote, "message"))
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
