package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// stallAfter is how many times the same feedback is given before a person should look.
const stallAfter = 3

func newVerifyRecord() *cobra.Command {
	o := evidence{}
	trace := ""
	exitCode := false
	cmd := &cobra.Command{
		Use:   "record --task ID --trace FILE [flags] [-- COMMAND...]",
		Short: "Record the decision of a review, as it is allowed to be",
		Long: `Record the decision about a task whose review was begun, the step
record_decision: read it as JSON from standard input, look at the files and
commits once more, and print the decision that the facts allow. An approval
that they do not carry becomes feedback, and each reason is printed; feedback
stays feedback. Feedback that says nothing ("needs improvement") is refused.

The command that verify begin ran counts as long as the tree is the same. The
trace is no part of it; a decision that was written to a file in it is, unless
git ignores the file: pipe it in, or write it elsewhere. To
run it again, give it again: a trace says what was run, and nothing that it
says is run.

Exit status: 0 a decision was recorded, 1 bad input or a failure, 64 wrong
usage. With --exit-code feedback is 10.`,
		Example: `  sidecoach verify record --task T7 --trace t7.jsonl <../decision.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.take(cmd, args); err != nil {
				return err
			}
			if err := needTask(o.task, trace); err != nil {
				return err
			}
			verdict, err := o.record(cmd, trace)
			if err == nil && exitCode && verdict != verify.Approve {
				return exit(exitFeedback)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.task, "task", "", "the task is `ID`")
	f.StringVar(&trace, "trace", "", "the `FILE` that verify begin wrote")
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "the command is killed after `TIME`")
	f.BoolVar(&o.json, "json", false, "print decision, overrides and honesty as one JSON object")
	f.BoolVar(&exitCode, "exit-code", false, "tell the verdict by the exit status as well")
	completeEvidence(cmd)
	return cmd
}

// record reads a decision, records what is allowed of it and prints that.
func (o *evidence) record(cmd *cobra.Command, name string) (verify.Verdict, error) {
	file, trace, err := openTrace(name, false)
	if err != nil {
		return "", err
	}
	defer file.close()
	history := trace.History(o.task)
	i := slices.IndexFunc(history, func(e verify.Event) bool { return e.Name == verify.ValidateStart })
	if i < 0 {
		return "", badInput("call sidecoach verify begin with the same --task and --trace first", "no review of the task %q was begun in this trace", o.task)
	}
	begun := history[len(history)-1]
	if begun.Name != verify.ValidateStart || begun.Start == nil {
		return "", badInput("call sidecoach verify begin again: what was seen then may have changed", "the last review of the task %q has its decision already", o.task)
	}
	text, err := readAll(cmd.InOrStdin(), "the decision")
	if err != nil {
		return "", err
	}
	d, err := verify.ParseDecision([]byte(text))
	if err != nil {
		return "", badInput("sidecoach verify agent shows the format", "cannot read the decision: %s", strings.TrimPrefix(err.Error(), "verify: decision: "))
	}
	if problems := refused(d); len(problems) > 0 {
		return "", badInput("say what is wrong, in which file, and what would settle it", "nothing was recorded: %s", strings.Join(problems, "; "))
	}

	started := *begun.Start
	for _, c := range o.commands() {
		if !slices.ContainsFunc(started.Task.Commands, func(old []string) bool { return slices.Equal(old, c) }) {
			started.Task.Commands = append(started.Task.Commands, c)
		}
	}
	review := started.Resume()
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	ws, err := lookFrom(".", o.timeout, name)
	if err != nil {
		return "", err
	}
	again := verify.Begin(verify.Task{Baseline: started.Task.Baseline, Commands: o.commands()}, nil, started.Report).Query()
	for _, w := range ws.list {
		f, err := w.Look(ctx, again)
		if err != nil {
			return "", interrupted(err)
		}
		review.Observe(f)
	}
	d, overrides := review.Record(d)
	now := time.Now()
	events := review.Recorded(now, d, overrides)
	if err := file.add(events...); err != nil {
		return "", err
	}
	stalled := verify.Stalled(append(history, events...), stallAfter)
	if o.json {
		return d.Verdict, writeJSON(cmd.OutOrStdout(), struct {
			Decision  verify.Decision `json:"decision"`
			Overrides []string        `json:"overrides"`
			Honesty   verify.Honesty  `json:"honesty"`
			Stalled   bool            `json:"stalled"`
		}{d, append([]string{}, overrides...), review.Honesty(), stalled})
	}
	_, err = io.WriteString(cmd.OutOrStdout(), recordedText(d, overrides, stalled))
	return d.Verdict, err
}

// refused returns why a decision is of no use to the agent that gets it. What only makes an approval impossible is not among it:
// recording turns that into feedback.
func refused(d verify.Decision) []string {
	var list []string
	for _, p := range verify.Lint(d) {
		if p.Item >= 0 || d.Verdict != verify.Approve {
			list = append(list, p.String())
		}
	}
	return list
}

// recordedText is the decision for reading, a line each for what was overridden and for what is to be done.
func recordedText(d verify.Decision, overrides []string, stalled bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", d.Verdict)
	for _, o := range overrides {
		fmt.Fprintf(&b, "  overridden: %s\n", visible(o))
	}
	for _, it := range d.Items {
		fmt.Fprintf(&b, "  %s: %s\n", it.Severity, visible(it.String()))
	}
	if stalled {
		fmt.Fprintf(&b, "  stalled: the same feedback for the %drd time; let a person look\n", stallAfter)
	}
	return b.String()
}
