package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
	"github.com/sidecoach/sidecoach/plancriteria"
)

// reviewFlags are the flags that make a review: what is claimed, what is required, and what to look at.
type reviewFlags struct {
	terminal
	plan, report, task, trace string
	config                    verifier.Verifier
	yes, json, exitCode       bool
	unseen                    []string // what is not looked at, because the flags do not say how
}

func newVerify(t terminal) *cobra.Command {
	cmd := newReviewing(t, "verify [flags] [-- COMMAND...]", "verification", (*reviewFlags).check)
	const rest = " --task ID --trace FILE [flags] [-- COMMAND...]"
	agent := func(cmd *cobra.Command, _ []string) error {
		_, err := io.WriteString(cmd.OutOrStdout(), verify.Agent())
		return err
	}
	cmd.AddCommand(newReviewing(t, "begin"+rest, "review", (*reviewFlags).begin),
		newReviewing(t, "record"+rest, "recorded", (*reviewFlags).record), command("agent", cobra.NoArgs, agent))
	return cmd
}

// newReviewing returns a command that looks at the facts. What run returns is printed as that text of views.txt, or as
// JSON, and --exit-code tells the status.
func newReviewing(
	t terminal, use, text string, run func(*reviewFlags, *cobra.Command) (result any, status int, err error),
) *cobra.Command {
	o := &reviewFlags{terminal: t, config: verifier.Verifier{Dir: ".", Timeout: cmdwitness.DefaultTimeout}}
	cmd := command(use, nil, func(cmd *cobra.Command, args []string) error {
		if err := o.take(cmd, args); err != nil {
			return err
		}
		result, status, err := run(o, cmd)
		switch {
		case err != nil:
		case o.json:
			err = writeJSON(cmd.OutOrStdout(), result)
		default:
			err = o.tell(cmd.OutOrStdout(), view(text, result))
		}
		if err == nil && o.exitCode {
			err = exit(status)
		}
		return err
	})
	review := []any{"task", &o.task, "trace", &o.trace}
	claims := []any{"plan", &o.plan, "report", &o.report, "baseline", &o.config.Baseline, "reviewed", &o.config.Reviewed}
	runs := []any{"env", &o.config.Environment.Pass, "clean-env", &o.config.Environment.Clean, "timeout", &o.config.Timeout}
	lone := []any{"allow-unchecked", &o.config.AllowUnchecked, "yes", &o.yes}
	asJSON, asStatus := []any{"json", &o.json}, []any{"exit-code", &o.exitCode}
	bind(cmd.Flags(), map[string][]any{
		"verify": slices.Concat(claims, runs, lone, asJSON, asStatus),
		"begin":  slices.Concat(review, claims, runs, asJSON),
		"record": slices.Concat(review, runs, asJSON, asStatus),
	}[cmd.Name()]...)
	return cmd
}

// take reads the command behind "--" and checks the flags.
func (o *reviewFlags) take(cmd *cobra.Command, args []string) error {
	usage := cmd.CommandPath() + " [flags] -- go test ./..."
	dash := cmd.ArgsLenAtDash()
	switch {
	case dash < 0 && len(args) > 0 || dash > 0:
		return misuse(usage, "unknown argument %q: put a command to run after --", args[0])
	case len(args) > 0 && args[0] == "":
		return misuse(usage, "the command is empty: is its variable set?")
	case o.config.Timeout <= 0:
		return misuse("give a time such as 10m or 90s", "--timeout cannot be %v", o.config.Timeout)
	case len(args) > 0:
		o.config.Commands = [][]string{args}
	}
	if dir, err := stateDir(""); err == nil {
		o.config.Cache = filepath.Join(dir, "verify")
	}
	return notEmpty(cmd, "plan", "report", "baseline")
}

func (o *reviewFlags) check(cmd *cobra.Command) (any, int, error) {
	if err := o.choose(cmd); err != nil {
		return nil, 0, err
	}
	v, err := o.look(cmd)
	if err != nil {
		return nil, 0, err
	}
	return v, exits[v.standing], nil
}

// choose finds the command of the project where none is given, and asks whether to run it.
func (o *reviewFlags) choose(cmd *cobra.Command) error {
	if len(o.config.Commands) > 0 {
		return nil
	}
	root := cmdwitness.Root(".")
	command, by := cmdwitness.Find(root)
	line := strings.Join(command, " ")
	unseen := "no test command was found: add -- COMMAND"
	if command != nil {
		unseen = fmt.Sprintf("no tests were run: add --yes to run %s, which %s names, or -- COMMAND", line, by)
		if o.yes || o.keyboard && o.report != "-" {
			complain(cmd.ErrOrStderr(), fmt.Sprintf("%s says how this project is tested: %s", by, line))
			o.yes = o.yes || ask(cmd, "Run it in "+visible(root)+"?")
		}
	}
	switch {
	case o.yes && command != nil:
		o.config.Commands, o.config.Dir = [][]string{command}, root
	case o.plan == "" && o.report == "":
		return misuse("add --report report.md, --plan plan.md or -- COMMAND", "nothing to verify in %s: %s", root, unseen)
	default:
		o.unseen = []string{unseen}
	}
	return nil
}

func (o *reviewFlags) look(cmd *cobra.Command) (*verification, error) {
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	requirements, plan, err := o.requirements(ctx)
	if err != nil {
		return nil, err
	}
	var report verify.Report
	if o.report != "" {
		text, err := readOutput([]string{o.report}, cmd.InOrStdin(), false)
		if err != nil {
			return nil, err
		}
		if report, err = verify.ParseReport([]byte(masked(text))); err != nil { // masked as the hook does
			return nil, badInput("give the agent's report as prose, or as one JSON object", "cannot read the report %q: %s",
				o.report, strings.TrimPrefix(err.Error(), "verify: report: "))
		}
	}
	review, err := o.config.Review(ctx, verify.Task{ID: o.task}, requirements, report)
	if err != nil {
		return nil, interrupted(err)
	}
	facts := review.Facts()
	if o.config.Baseline != "" && facts.Base == "" {
		return nil, badBaseline("cannot compare with the baseline %q: %s", o.config.Baseline, strings.Join(facts.Unseen, "; "))
	}
	facts.Unseen = slices.Concat(facts.Unseen, o.unseen)
	standing, why := review.Standing()
	decision, overrides := review.Record(review.Judge())
	v := &verification{review: review, standing: standing, Verdict: verdicts[standing], Plan: plan, Decision: decision,
		Honesty: review.Honesty(), Facts: facts, // as JSON, the others are lists, never null
		Why: append([]string{}, why...), Overrides: append([]string{}, overrides...),
		Concerns: append([]string{}, review.Report().Concerns...)}
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

// requirements reads the plan, if there is one, as it was at the baseline, or as it is now, and says which.
func (o *reviewFlags) requirements(ctx context.Context) ([]verify.Requirement, string, error) {
	tree, name, err := openPlan(".", o.plan)
	if err != nil || tree == nil {
		return nil, "", err
	}
	err = fs.ErrNotExist
	when, text := "as it was at "+o.config.Baseline, []byte(nil)
	if o.config.Baseline != "" {
		git := &gitwitness.Witness{Dir: "."}
		defer git.Close()
		text, err = git.File(ctx, o.config.Baseline, name, plancriteria.MaxSize)
	}
	if errors.Is(err, fs.ErrNotExist) { // there is no baseline, or the plan is newer
		when = "as it is now"
		text, err = fs.ReadFile(tree, name)
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

// verdicts are the standings in the words of a decision, and exits their statuses with --exit-code.
var (
	verdicts = map[verify.Status]string{verify.Met: string(verify.Approve), verify.NotMet: string(verify.Feedback),
		verify.Unverified: string(verify.Unverified)}
	exits = map[verify.Status]int{verify.NotMet: exitContinue, verify.Unverified: exitUnverified}
)

func (o *reviewFlags) begin(cmd *cobra.Command) (any, int, error) {
	file, err := o.open(true)
	if err != nil {
		return nil, 0, err
	}
	v, err := o.look(cmd)
	if err != nil {
		return nil, 0, err
	}
	return v, exitDone, file.add(v.review.Started(time.Now()))
}

// stallAfter is how many times the same feedback is given before a person should look.
const stallAfter = 3

type recorded struct { // as JSON, overrides are a list, never null
	Decision  verify.Decision `json:"decision"`
	Overrides []string        `json:"overrides"`
	Honesty   verify.Honesty  `json:"honesty"`
	Stalled   bool            `json:"stalled"`
}

func (o *reviewFlags) record(cmd *cobra.Command) (any, int, error) {
	file, err := o.open(false)
	if err != nil {
		return nil, 0, err
	}
	history := file.trace.History(o.task)
	if len(history) == 0 || history[len(history)-1].Start == nil {
		return nil, 0, badInput("call sidecoach verify begin with the same --task and --trace: what was seen then may have "+
			"changed", "the task %q has no review without a decision in this trace", o.task)
	}
	text, err := readAll(cmd.InOrStdin(), "the decision")
	if err != nil {
		return nil, 0, err
	}
	d, err := verify.ParseDecision([]byte(text))
	if err != nil {
		return nil, 0, badInput("sidecoach verify agent shows the format", "cannot read the decision: %s",
			strings.TrimPrefix(err.Error(), "verify: decision: "))
	}
	started := *history[len(history)-1].Start
	if problems := verify.Lint(d, started.Requirements...); len(problems) > 0 {
		return nil, 0, badInput("say what is wrong, in which file, and what would settle it", "nothing was recorded: %s",
			strings.Join(problems, "; "))
	}
	for _, c := range o.config.Commands {
		if !slices.ContainsFunc(started.Task.Commands, func(old []string) bool { return slices.Equal(old, c) }) {
			started.Task.Commands = append(started.Task.Commands, c)
		}
	}
	o.config.Baseline, o.config.Reviewed = started.Task.Baseline, started.Task.Reviewed
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	review := started.Resume()
	if err := o.config.Observe(ctx, review); err != nil {
		return nil, 0, interrupted(err)
	}
	d, overrides := review.Record(d)
	events := review.Recorded(time.Now(), d, overrides)
	status := exitContinue
	if d.Verdict == verify.Approve {
		status = exitDone
	}
	return recorded{d, append([]string{}, overrides...), review.Honesty(),
		verify.Stalled(append(history, events...), stallAfter)}, status, file.add(events...)
}

// traceFile is the trace of reviews, on disk. For each trace that was written, the state folder has a file with the
// checksum in its name. A trace without such a file was edited.
type traceFile struct {
	name  string
	text  []byte
	trace verify.Trace
	state string // the folder of the checksums
}

// open opens the trace that begin and record share.
func (o *reviewFlags) open(create bool) (*traceFile, error) {
	switch {
	case strings.TrimSpace(o.task) == "" || o.trace == "":
		return nil, misuse("add --task ID and --trace FILE, the same for begin and record", "no task or no trace is named")
	case create && o.plan == "" && o.report == "":
		return nil, misuse("add --plan plan.md, --report report.md or both", "there is nothing to review")
	}
	state, err := stateDir("")
	if err != nil {
		return nil, err
	}
	o.config.Own = []string{o.trace}
	t := &traceFile{name: o.trace, state: filepath.Join(state, "verify")}
	t.text, err = readRegular(o.trace)
	if create && errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		t.trace, err = verify.ReadTrace(t.text)
	}
	if err == nil && !exists(t.checksum()) {
		err = errors.New("it was edited")
	}
	if err != nil {
		return nil, badInput("name a file that sidecoach verify begin wrote", "cannot read the trace %q: %s", o.trace,
			strings.TrimPrefix(cause(err).Error(), "verify: trace, "))
	}
	return t, nil
}

func (t *traceFile) checksum() string {
	return filepath.Join(t.state, fmt.Sprintf("trace-%x", sha256.Sum256(t.text)))
}

// add appends events. The new checksum is written first and the old one removed last: a crash leaves a valid trace.
func (t *traceFile) add(events ...verify.Event) error {
	lines, err := verify.Trace(events).Lines()
	if err != nil {
		return err
	}
	old := t.checksum()
	t.text = slices.Concat(t.text, lines)
	if err = os.MkdirAll(t.state, 0o700); err == nil {
		err = filestore.WriteFile(t.checksum(), nil, 0o600)
	}
	if err == nil {
		err = filestore.WriteFile(t.name, t.text, 0o600)
	}
	if err == nil {
		_ = os.Remove(old)
	}
	return cannot("write", t.name, err)
}
