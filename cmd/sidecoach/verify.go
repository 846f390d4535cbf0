package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
)

const (
	exitFeedback   = 10 // with --exit-code
	exitUnverified = 12 // with --exit-code
)

// evidence are the flags by which a review is made: what is claimed, what is required, and what to look at.
type evidence struct {
	task     string
	plan     string
	report   string
	baseline string
	reviewed []string
	timeout  time.Duration
	json     bool
	command  []string // behind "--"
}

func (o *evidence) register(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.plan, "plan", "", "Markdown `FILE` with the success criteria, in the working tree")
	f.StringVar(&o.report, "report", "", "`FILE` with what the agent reports, JSON or prose; - is standard input")
	f.StringVar(&o.baseline, "baseline", "", "the revision `REV` that the work began at")
	f.StringArrayVar(&o.reviewed, "reviewed", nil, "a person has looked at the change of the test file `PATH`; repeatable")
	f.DurationVar(&o.timeout, "timeout", cmdwitness.DefaultTimeout, "the command is killed after `TIME`")
}

// take reads the command behind "--" and says what is wrong with the flags alone.
func (o *evidence) take(cmd *cobra.Command, args []string) error {
	if dash := cmd.ArgsLenAtDash(); dash < 0 && len(args) > 0 || dash > 0 {
		return misuse(cmd.CommandPath()+" [flags] -- go test ./...", "unknown argument %q: a command to run stands behind --", args[0])
	}
	o.command = args
	if len(args) > 0 && args[0] == "" {
		return misuse(cmd.CommandPath()+" [flags] -- go test ./...", "the command is empty: is its variable set?")
	}
	if o.timeout <= 0 {
		return misuse("give a time such as 10m or 90s", "--timeout cannot be %v", o.timeout)
	}
	for _, name := range []string{"plan", "report", "baseline"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() == "" {
			return misuse("give it a value or leave it out", "--%s is empty: is its variable set?", name)
		}
	}
	return nil
}

func newVerify(t terminal) *cobra.Command {
	o := evidence{}
	exitCode := false
	cmd := &cobra.Command{
		Use:   "verify [flags] [-- COMMAND...]",
		Short: "Hold what an agent reports against what is really there",
		Long: `Hold a report of work against facts: do the files it names exist, and did they
change since --baseline; are its commits there; which test files were changed
or removed; and what does COMMAND, which is run here without a shell, show? Of
go test every test is counted: ok alone shows nothing. Another command counts
by its exit status, or by a report: TAP that it prints, or JUnit XML that it
writes to the file that {report} among its arguments stands for.

The verdict is approve when all that is claimed and required was seen to hold,
feedback when something was seen not to hold, and else unverified. A criterion
of the plan is looked at if it ends with a command in code, as in

  - [ ] Tests pass: ` + "`go test ./...`" + `

and that command is COMMAND, word by word: nothing that a plan or a report
says is ever run. Any other criterion needs somebody to look: verify begin and
verify record are for an agent that does. With --baseline the plan is taken as
it was then. A branch that has moved on is no such point: name a commit.

COMMAND runs code that the agent wrote, with the rights of this program but
without most of its environment. Code that controls a test process can forge
its results: a changed TestMain or test configuration makes a run unverified,
until --reviewed says that a person looked.

Exit status: 0 a verdict was printed, 1 bad input or a failure, 64 wrong
usage. With --exit-code feedback is 10 and unverified 12.`,
		Example: `  sidecoach verify --report report.md --baseline v1.4 -- go test ./...
  sidecoach verify --plan docs/plan.md --json -- npx vitest run --reporter=tap`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.take(cmd, args); err != nil {
				return err
			}
			if o.plan == "" && o.report == "" && len(o.command) == 0 {
				return misuse("add --report report.md, --plan plan.md or -- go test ./...", "there is nothing to verify")
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			v, err := o.look(ctx, cmd.InOrStdin())
			if err != nil {
				return err
			}
			if err := v.print(cmd.OutOrStdout(), t, o.json); err != nil {
				return err
			}
			if exitCode {
				return exitForStanding(v.standing)
			}
			return nil
		},
	}
	o.register(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print verdict, decision, discrepancies and facts as one JSON object")
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "tell the verdict by the exit status as well")
	completeEvidence(cmd)
	cmd.AddCommand(newVerifyBegin(), newVerifyRecord(), newVerifyAgent())
	return cmd
}

// completeEvidence says which flags take what.
func completeEvidence(cmd *cobra.Command) {
	none := cobra.FixedCompletions([]string{}, cobra.ShellCompDirectiveNoFileComp)
	for _, name := range []string{"task", "baseline", "timeout"} {
		if cmd.Flags().Lookup(name) != nil {
			if err := cmd.RegisterFlagCompletionFunc(name, none); err != nil {
				panic(err) // the flag is declared
			}
		}
	}
	if cmd.Flags().Lookup("plan") != nil {
		if err := cmd.MarkFlagFilename("plan", "md", "markdown"); err != nil {
			panic(err)
		}
	}
}

func exitForStanding(s verify.Status) error {
	switch s {
	case verify.Met:
		return nil
	case verify.NotMet:
		return exit(exitFeedback)
	}
	return exit(exitUnverified)
}

func newVerifyAgent() *cobra.Command {
	return &cobra.Command{
		Use:   "agent",
		Short: "Print the instructions of an agent that verifies",
		Long: `Print the instructions for an agent that checks the work of another: Markdown
with front matter, for example for .claude/agents/` + verify.AgentName + `.`,
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misuse("sidecoach verify agent >.claude/agents/"+verify.AgentName, "verify agent takes no argument")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write([]byte(verify.Agent()))
			return err
		},
	}
}

// commands returns the command as a list of the host's commands.
func (o *evidence) commands() [][]string {
	if len(o.command) == 0 {
		return nil
	}
	return [][]string{slices.Clone(o.command)}
}

func commandLine(words []string) string { return strings.Join(words, " ") }
