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

// reviewFlags are the flags of begin and record.
type reviewFlags struct {
	evidence
	trace string
}

func (o *reviewFlags) command(use, trace string, run func(*cobra.Command) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, RunE: func(cmd *cobra.Command, args []string) error {
		switch err := o.take(cmd, args); {
		case err != nil:
			return err
		case strings.TrimSpace(o.task) == "":
			return misuse("add --task ID", "no task is named")
		case o.trace == "":
			return misuse("add --trace FILE, the same for begin and record", "no trace is named")
		}
		return run(cmd)
	}}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&o.task, "task", "", "the task is `ID`")
	cmd.Flags().StringVar(&o.trace, "trace", "", trace)
	return cmd
}

func newVerifyBegin() *cobra.Command {
	o := &reviewFlags{}
	cmd := o.command("begin --task ID --trace FILE [flags] [-- COMMAND...]", "add to `FILE`, JSON Lines, what was done",
		o.begin)
	o.register(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print it as one JSON object")
	return cmd
}

func (o *reviewFlags) begin(cmd *cobra.Command) error {
	if o.plan == "" && o.report == "" {
		return misuse("add --plan plan.md, --report report.md or both", "there is nothing to review")
	}
	file, err := openTrace(o.trace, true)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	v, err := o.look(ctx, cmd.InOrStdin(), o.trace)
	if err != nil {
		return err
	}
	if err := file.add(v.review.Started(time.Now())); err != nil {
		return err
	}
	c := contextOf(v, o.commands())
	if o.json {
		return writeJSON(cmd.OutOrStdout(), c)
	}
	_, err = io.WriteString(cmd.OutOrStdout(), c.text())
	return err
}

// reviewContext is what a reviewing agent needs.
type reviewContext struct {
	Task         string                    `json:"task_id"`
	Plan         string                    `json:"plan,omitempty"`
	Requirements []verify.RequirementCheck `json:"requirements"`
	Files        []string                  `json:"files_to_review"`
	Tests        []string                  `json:"tests_to_run"`
	Notes        []string                  `json:"notes"`
	Concerns     []string                  `json:"concerns"`
}

func contextOf(v *verification, commands [][]string) reviewContext {
	c := reviewContext{
		Task:         v.Decision.TaskID,
		Plan:         v.Plan,
		Requirements: slices.Concat([]verify.RequirementCheck{}, v.Decision.Requirements),
		Files:        []string{},
		Tests:        []string{},
		Notes:        []string{},
		Concerns:     []string{},
	}
	for _, f := range v.Facts.Changes {
		c.Files = append(c.Files, fmt.Sprintf("%s (%s)", f.Path, f.Kind))
	}
	for _, command := range commands {
		c.Tests = append(c.Tests, strings.Join(command, " "))
	}
	for _, q := range v.review.Requirements() {
		if _, ok := verify.Listed(q.Command, commands); q.Command != "" && !ok {
			c.Notes = append(c.Notes, q.ID+" names a command that was not given here, so it was not run")
		}
	}
	for _, r := range v.Facts.Runs {
		c.Notes = append(c.Notes, runInWords(r))
	}
	c.Notes = slices.Concat(c.Notes, v.Honesty.Unchecked, v.Facts.Unseen)
	for _, d := range v.Honesty.Discrepancies {
		c.Concerns = append(c.Concerns, fmt.Sprintf("%s, %s", words(string(d.Severity)), discrepancyInWords(d)))
	}
	for _, s := range v.Facts.Suspects {
		c.Concerns = append(c.Concerns, s.Path+" "+s.Why)
	}
	for _, s := range v.Concerns {
		c.Concerns = append(c.Concerns, "the report says: "+s)
	}
	return c
}

// text is the context for people. Each entry stays on one line.
func (c reviewContext) text() string {
	oneLine := func(s string) string { return visible(strings.Join(strings.Fields(s), " ")) }
	var b strings.Builder
	fmt.Fprintf(&b, "Task %s", oneLine(c.Task))
	if c.Plan != "" {
		fmt.Fprintf(&b, ", the plan %s", visible(c.Plan))
	}
	b.WriteString("\n")
	var requirements []string
	for _, r := range c.Requirements {
		requirements = append(requirements, fmt.Sprintf("%s %s (%s)", r.ID, r.Requirement, words(r.Status.String())))
	}
	for _, section := range []struct {
		title   string
		entries []string
	}{{"Requirements", requirements}, {"Files to review", c.Files}, {"Tests to run", c.Tests}, {"Notes", c.Notes},
		{"Concerns", c.Concerns}} {
		fmt.Fprintf(&b, "\n%s:\n", section.title)
		for _, e := range section.entries {
			b.WriteString("- " + oneLine(e) + "\n")
		}
		if len(section.entries) == 0 {
			b.WriteString("- none\n")
		}
	}
	return b.String()
}

func newVerifyRecord() *cobra.Command {
	o := &reviewFlags{}
	cmd := o.command("record --task ID --trace FILE [flags] [-- COMMAND...]",
		"the `FILE` that verify begin wrote", o.record)
	o.registerRun(cmd.Flags())
	o.registerOutput(cmd.Flags(), "decision, overrides and honesty")
	return cmd
}

// record reads a decision, records what the facts allow and prints that.
func (o *reviewFlags) record(cmd *cobra.Command) error {
	file, err := openTrace(o.trace, false)
	if err != nil {
		return err
	}
	history := file.trace.History(o.task)
	if !slices.ContainsFunc(history, func(e verify.Event) bool { return e.Name == verify.ValidateStart }) {
		return badInput("call sidecoach verify begin with the same --task and --trace first",
			"no review of the task %q was begun in this trace", o.task)
	}
	begun := history[len(history)-1]
	if begun.Start == nil {
		return badInput("call sidecoach verify begin again: what was seen then may have changed",
			"the last review of the task %q has its decision already", o.task)
	}
	text, err := readAll(cmd.InOrStdin(), "the decision")
	if err != nil {
		return err
	}
	d, err := verify.ParseDecision([]byte(text))
	if err != nil {
		return badInput("sidecoach verify agent shows the format", "cannot read the decision: %s",
			strings.TrimPrefix(err.Error(), "verify: decision: "))
	}
	started := *begun.Start
	if problems := verify.Lint(d, started.Requirements...); len(problems) > 0 {
		return badInput("say what is wrong, in which file, and what would settle it", "nothing was recorded: %s",
			strings.Join(problems, "; "))
	}
	for _, c := range o.commands() {
		if !slices.ContainsFunc(started.Task.Commands, func(old []string) bool { return slices.Equal(old, c) }) {
			started.Task.Commands = append(started.Task.Commands, c)
		}
	}
	o.baseline, o.reviewed = started.Task.Baseline, started.Task.Reviewed
	review := started.Resume()
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	looking, err := o.verifier(o.trace)
	if err != nil {
		return err
	}
	if err := looking.Observe(ctx, review); err != nil {
		return interrupted(err)
	}
	d, overrides := review.Record(d)
	events := review.Recorded(time.Now(), d, overrides)
	if err := file.add(events...); err != nil {
		return err
	}
	stalled := verify.Stalled(append(history, events...), stallAfter)
	if o.json {
		err = writeJSON(cmd.OutOrStdout(), struct {
			Decision  verify.Decision `json:"decision"`
			Overrides []string        `json:"overrides"`
			Honesty   verify.Honesty  `json:"honesty"`
			Stalled   bool            `json:"stalled"`
		}{d, append([]string{}, overrides...), review.Honesty(), stalled})
	} else {
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n", d.Verdict)
		for _, o := range overrides {
			fmt.Fprintf(&b, "  overridden: %s\n", visible(o))
		}
		for _, it := range d.Items {
			fmt.Fprintf(&b, "  %s: %s\n", it.Severity, visible(it.String()))
		}
		for _, u := range review.Honesty().Unchecked {
			fmt.Fprintf(&b, "  unchecked: %s\n", visible(u))
		}
		if stalled {
			fmt.Fprintf(&b, "  stalled: the same feedback for the %drd time; let a person look\n", stallAfter)
		}
		_, err = io.WriteString(cmd.OutOrStdout(), b.String())
	}
	if err == nil && o.exitCode && d.Verdict != verify.Approve {
		return standings[verify.NotMet].exit
	}
	return err
}
