package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
	"github.com/sidecoach/sidecoach/plancriteria"
)

// evidence are the flags that make a review: what is claimed, what is required, and what to look at.
type evidence struct {
	plan, report   string
	config         verifier.Verifier
	json, exitCode bool
}

func (o *evidence) register(f *pflag.FlagSet) {
	bind(f, "plan", &o.plan, "report", &o.report, "baseline", &o.config.Baseline, "reviewed", &o.config.Reviewed)
	o.registerRun(f)
}

func (o *evidence) registerRun(f *pflag.FlagSet) {
	o.config.Timeout = cmdwitness.DefaultTimeout
	env := &o.config.Environment
	bind(f, "env", &env.Pass, "clean-env", &env.Clean, "timeout", &o.config.Timeout)
}

// take reads the command behind "--" and checks the flags.
func (o *evidence) take(cmd *cobra.Command, args []string) error {
	usage := cmd.CommandPath() + " [flags] -- go test ./..."
	if dash := cmd.ArgsLenAtDash(); dash < 0 && len(args) > 0 || dash > 0 {
		return misuse(usage, "unknown argument %q: put a command to run after --", args[0])
	}
	if len(args) > 0 && args[0] == "" {
		return misuse(usage, "the command is empty: is its variable set?")
	}
	if o.config.Timeout <= 0 {
		return misuse("give a time such as 10m or 90s", "--timeout cannot be %v", o.config.Timeout)
	}
	if o.config.Dir = "."; len(args) > 0 {
		o.config.Commands = [][]string{args}
	}
	return notEmpty(cmd, "plan", "report", "baseline")
}

func newVerify(t terminal) *cobra.Command {
	o := evidence{}
	yes := false
	cmd := &cobra.Command{
		Use: "verify [flags] [-- COMMAND...]",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.take(cmd, args); err != nil {
				return err
			}
			unseen, err := o.choose(cmd, t, yes)
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			v, err := o.look(ctx, "", cmd.InOrStdin())
			if err != nil {
				return err
			}
			if unseen != "" {
				v.Facts.Unseen = append(v.Facts.Unseen, unseen)
			}
			if err := o.print(cmd.OutOrStdout(), t, "verification", v); err != nil {
				return err
			}
			if status := standings[v.standing].exit; o.exitCode && status != 0 {
				return exit(status)
			}
			return nil
		},
	}
	o.register(cmd.Flags())
	bind(cmd.Flags(), "allow-unchecked", &o.config.AllowUnchecked, "yes", &yes, "json", &o.json, "exit-code", &o.exitCode)
	cmd.AddCommand(newVerifyBegin(t), newVerifyRecord(t), newVerifyAgent())
	return cmd
}

// choose finds the command of the project where none is given, and asks whether to run it. It returns what is not seen
// without it.
func (o *evidence) choose(cmd *cobra.Command, t terminal, yes bool) (unseen string, err error) {
	if len(o.config.Commands) > 0 {
		return "", nil
	}
	root := cmdwitness.Root(".")
	command, by := cmdwitness.Find(root)
	line := strings.Join(command, " ")
	unseen = "no test command was found: add -- COMMAND"
	if command != nil {
		unseen = fmt.Sprintf("no tests were run: add --yes to run %s, which %s names, or -- COMMAND", line, by)
		if yes || t.keyboard && o.report != "-" {
			complain(cmd.ErrOrStderr(), fmt.Sprintf("%s says how this project is tested: %s", by, line))
			if !yes {
				yes, err = ask(cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr(), "Run it in "+visible(root)+"?")
			}
			if err != nil {
				return "", interrupted(err)
			}
		}
	}
	switch {
	case yes && command != nil:
		o.config.Commands, o.config.Dir = [][]string{command}, root
		return "", nil
	case o.plan == "" && o.report == "":
		return "", misuse("add --report report.md, --plan plan.md or -- COMMAND", "nothing to verify in %s: %s", root, unseen)
	}
	return unseen, nil
}

func newVerifyAgent() *cobra.Command {
	return withoutArguments("agent", func(cmd *cobra.Command) error {
		_, err := io.WriteString(cmd.OutOrStdout(), verify.Agent())
		return err
	})
}

func (o *evidence) verifier() *verifier.Verifier {
	if dir, err := stateDir(""); err == nil {
		o.config.Cache = filepath.Join(dir, "verify")
	}
	return &o.config
}

func (o *evidence) look(ctx context.Context, task string, stdin io.Reader) (*verification, error) {
	v := &verification{}
	var requirements []verify.Requirement
	var report verify.Report
	var err error
	if o.plan != "" {
		if requirements, v.Plan, err = o.requirements(ctx); err != nil {
			return nil, err
		}
	}
	if o.report != "" {
		if report, err = readReport(o.report, stdin); err != nil {
			return nil, err
		}
	}
	if v.review, err = o.verifier().Review(ctx, verify.Task{ID: task}, requirements, report); err != nil {
		return nil, interrupted(err)
	}
	if v.Facts = v.review.Facts(); o.config.Baseline != "" && v.Facts.Base == "" {
		return nil, badBaseline("cannot compare with the baseline %q: %s", o.config.Baseline,
			strings.Join(v.Facts.Unseen, "; "))
	}
	v.Honesty = v.review.Honesty()
	standing, why := v.review.Standing()
	decision, overrides := v.review.Record(v.review.Judge())
	v.standing, v.Verdict, v.Decision = standing, standings[standing].verdict, decision
	// As JSON, these are lists, never null.
	v.Why, v.Overrides = append([]string{}, why...), append([]string{}, overrides...)
	v.Concerns = append([]string{}, v.review.Report().Concerns...)
	for _, runs := range []*[]verify.Run{&v.Facts.Runs, &v.Facts.BaseRuns} {
		*runs = slices.Clone(*runs)
		for i := range *runs {
			run := &(*runs)[i]
			run.Passes = nil                                             // thousands of names
			secrets := plaintext.Secrets(strings.Join(run.Command, " ")) // a word alone may not look like one
			run.Command = slices.Clone(run.Command)
			for j, word := range run.Command {
				run.Command[j] = plaintext.Redact(word, secrets...)
			}
		}
	}
	return v, nil
}

func badBaseline(format string, args ...any) error {
	return badInput("name a commit, a branch or a tag of the git repository that this folder is in", format, args...)
}

func interrupted(err error) error {
	return badInput("run it again; --timeout bounds how long a command may take", "nothing was verified: %v", err)
}

// requirements reads the plan as it was at the baseline, or as it is now, and says which.
func (o *evidence) requirements(ctx context.Context) ([]verify.Requirement, string, error) {
	tree, name, err := openPlan(".", o.plan)
	if err != nil {
		return nil, "", err
	}
	defer tree.Close()
	when := "as it was at " + o.config.Baseline
	text, err := oldPlan(ctx, o.config.Baseline, name)
	if errors.Is(err, fs.ErrNotExist) {
		when = "as it is now"
		text, err = fs.ReadFile(tree.FS(), name)
	} else if err != nil {
		return nil, "", badBaseline("cannot read the plan as it was at %q: %s", o.config.Baseline, err)
	}
	var c plancriteria.Criteria
	if err == nil {
		c, err = plancriteria.Extract(text)
	}
	if err != nil {
		return nil, "", badInput(`give the plan a section "Success Criteria" with a list`,
			"no criteria in the plan %q, %s: %s", name, when, strings.TrimPrefix(err.Error(), "plancriteria: "))
	}
	return verify.Requirements(c), when, nil
}

// oldPlan returns the plan at the baseline. Without a baseline, or where it is newer, there is none.
func oldPlan(ctx context.Context, baseline, name string) ([]byte, error) {
	if baseline == "" {
		return nil, fs.ErrNotExist
	}
	git := &gitwitness.Witness{Dir: "."}
	defer git.Close()
	return git.File(ctx, baseline, name, plancriteria.MaxSize)
}

func readReport(name string, stdin io.Reader) (verify.Report, error) {
	text, err := readOutput([]string{name}, stdin, false)
	if err != nil {
		return verify.Report{}, err
	}
	report, err := verify.ParseReport([]byte(masked(text))) // as the hook does
	if err != nil {
		return verify.Report{}, badInput("give the agent's report as prose, or as one JSON object",
			"cannot read the report %q: %s", name, strings.TrimPrefix(err.Error(), "verify: report: "))
	}
	return report, nil
}

type verification struct {
	review   *verify.Review
	standing verify.Status

	Verdict   string          `json:"verdict"`
	Why       []string        `json:"why"`
	Plan      string          `json:"plan,omitempty"` // which one was read
	Decision  verify.Decision `json:"decision"`
	Overrides []string        `json:"overrides"`
	Honesty   verify.Honesty  `json:"honesty"`
	Concerns  []string        `json:"concerns"`
	Facts     verify.Facts    `json:"facts"`
}

func (v *verification) Headline() string { return paint(standings[v.standing].color, v.Verdict) }

// standings are the standings in the words of a decision, with the exit statuses of --exit-code.
var standings = map[verify.Status]struct {
	verdict string
	color   style
	exit    int
}{
	verify.Met:        {string(verify.Approve), green, 0},
	verify.NotMet:     {string(verify.Feedback), red, 10},
	verify.Unverified: {string(verify.Unverified), yellow, 12},
}

// print writes a result as JSON, or as the text of that name in views.txt.
func (o *evidence) print(w io.Writer, t terminal, name string, result any) error {
	if o.json {
		return writeJSON(w, result)
	}
	return t.tell(w, view(name, result))
}
