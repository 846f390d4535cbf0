package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/coach/verify"
)

func newVerifyBegin() *cobra.Command {
	o := evidence{}
	trace := ""
	cmd := &cobra.Command{
		Use:   "begin --task ID --trace FILE [flags] [-- COMMAND...]",
		Short: "Begin a review: print what to look at",
		Long: `Begin the review of a task, the step validate_implementation: look at what
sidecoach verify looks at, add that to the trace, and print what an agent that
verifies starts from: the requirements with their IDs, the files to review,
the tests to run, notes and concerns. The decision then goes to verify record.`,
		Example: `  sidecoach verify begin --task T7 --plan plan.md --report report.md \
    --baseline main --trace t7.jsonl -- go test ./...`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.take(cmd, args); err != nil {
				return err
			}
			if err := needTask(o.task, trace); err != nil {
				return err
			}
			if o.plan == "" && o.report == "" {
				return misuse("add --plan plan.md, --report report.md or both", "there is nothing to review")
			}
			file, _, err := openTrace(trace, true)
			if err != nil {
				return err
			}
			defer file.close()
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			v, err := o.look(ctx, cmd.InOrStdin(), trace)
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
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&o.task, "task", "", "the task is `ID`")
	cmd.Flags().StringVar(&trace, "trace", "", "add to `FILE`, JSON Lines, what was done")
	o.register(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print it as one JSON object")
	completeEvidence(cmd)
	return cmd
}

func needTask(task, trace string) error {
	if strings.TrimSpace(task) == "" {
		return misuse("add --task ID", "no task is named")
	}
	if trace == "" {
		return misuse("add --trace FILE, the same for begin and record", "no trace is named")
	}
	return nil
}

// reviewContext is what an agent that verifies starts from.
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
	c := reviewContext{Task: v.decision.TaskID, Plan: v.plan, Requirements: append([]verify.RequirementCheck{}, v.decision.Requirements...),
		Files: []string{}, Tests: []string{}, Notes: []string{}, Concerns: []string{}}
	for _, f := range v.facts.Changes {
		c.Files = append(c.Files, fmt.Sprintf("%s (%s)", f.Path, f.Kind))
	}
	for _, command := range commands {
		c.Tests = append(c.Tests, commandLine(command))
	}
	for _, q := range v.review.Requirements() {
		if _, ok := verify.Listed(q.Command, commands); q.Command != "" && !ok {
			c.Notes = append(c.Notes, fmt.Sprintf("%s names a command that was not given here, so it was not run", q.ID))
		}
	}
	for _, t := range v.facts.Tests {
		note := fmt.Sprintf("%s: %s", commandLine(t.Command), words(t.Status.String()))
		if t.Counted {
			note += fmt.Sprintf(", %d passed, %d failed, %d skipped", t.Passed, t.Failed, t.Skipped)
		}
		if t.Why != "" {
			note += ": " + t.Why
		}
		c.Notes = append(c.Notes, note)
	}
	c.Notes = append(c.Notes, v.honesty.Unchecked...)
	c.Notes = append(c.Notes, v.facts.Unseen...)
	for _, d := range v.honesty.Discrepancies {
		c.Concerns = append(c.Concerns, fmt.Sprintf("%s, %s: %s; seen: %s", words(string(d.Severity)), words(string(d.Kind)), subjectOf(d), d.Found))
	}
	return c
}

// text is the context for reading. Each entry is on one line, which no entry can leave.
func (c reviewContext) text() string {
	var b strings.Builder
	section := func(title string, entries []string) {
		fmt.Fprintf(&b, "\n%s:\n", title)
		for _, e := range entries {
			fmt.Fprintf(&b, "- %s\n", visible(strings.Join(strings.Fields(e), " ")))
		}
		if len(entries) == 0 {
			b.WriteString("- none\n")
		}
	}
	fmt.Fprintf(&b, "Task %s", visible(strings.Join(strings.Fields(c.Task), " ")))
	if c.Plan != "" {
		fmt.Fprintf(&b, ", the plan %s", visible(c.Plan))
	}
	b.WriteString("\n")
	var requirements []string
	for _, r := range c.Requirements {
		requirements = append(requirements, fmt.Sprintf("%s %s (%s)", r.ID, r.Requirement, words(r.Status.String())))
	}
	section("Requirements", requirements)
	section("Files to review", c.Files)
	section("Tests to run", c.Tests)
	section("Notes", c.Notes)
	section("Concerns", c.Concerns)
	return b.String()
}
