package main

import (
	"bytes"
	"crypto/rand"
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
	"github.com/sidecoach/sidecoach/coach/verify"
)

// stallAfter is how many times the same feedback is given before a person should look.
const stallAfter = 3

func newVerifyBegin() *cobra.Command {
	o := evidence{}
	trace := ""
	cmd := &cobra.Command{
		Use:   "begin --task ID --trace FILE [flags] [-- COMMAND...]",
		Short: "Begin a review: print what to look at",
		Long: `begin opens the review of a task, the step validate_implementation. It looks
at what sidecoach verify looks at and adds that to the trace. It prints where an
agent that verifies starts: the requirements with their IDs, the files to
review, the tests to run, notes and concerns. Then give the decision to verify
record.

The trace is signed with a key in the state folder of this user. An edited trace
is an error.`,
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
			file, err := openTrace(trace, true)
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

// reviewContext is where an agent that verifies starts.
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
		c.Tests = append(c.Tests, strings.Join(command, " "))
	}
	for _, q := range v.review.Requirements() {
		if _, ok := verify.Listed(q.Command, commands); q.Command != "" && !ok {
			c.Notes = append(c.Notes, fmt.Sprintf("%s names a command that was not given here, so it was not run", q.ID))
		}
	}
	for _, r := range v.facts.Runs {
		c.Notes = append(c.Notes, runInWords(r))
	}
	c.Notes = append(append(c.Notes, v.honesty.Unchecked...), v.facts.Unseen...)
	for _, d := range v.honesty.Discrepancies {
		c.Concerns = append(c.Concerns, fmt.Sprintf("%s, %s", words(string(d.Severity)), discrepancyInWords(d)))
	}
	for _, s := range v.facts.Suspects {
		c.Concerns = append(c.Concerns, s.Path+" "+s.Why)
	}
	for _, s := range v.review.Report().Concerns {
		c.Concerns = append(c.Concerns, "the report says: "+s)
	}
	return c
}

// text is the context for people. Each entry is on one line, which no entry can leave.
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

func newVerifyRecord() *cobra.Command {
	o := evidence{}
	trace := ""
	exitCode := false
	cmd := &cobra.Command{
		Use:   "record --task ID --trace FILE [flags] [-- COMMAND...]",
		Short: "Record the decision of a review, as the facts allow it",
		Long: `record takes the decision about a task whose review was begun, the step
record_decision. It reads the decision as JSON from standard input, looks at the
files and commits once more, and prints the decision that the facts allow. An
approval that the facts contradict becomes feedback, and each reason is printed.
Feedback stays feedback. Feedback that says nothing ("needs improvement") is
refused.

The run of verify begin counts as long as no file changed. The trace does not
count, nor do caches and lock files. A decision that was written to a file of
the tree does: pipe it in, or write it elsewhere. To run the command again, give
it again. Nothing that a trace says is run, and an edited trace is an error.

Exit status: 0 a decision was recorded, 1 bad input or a failure, 64 wrong
usage. With --exit-code, feedback is 10.`,
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
	o.registerRun(f)
	f.BoolVar(&o.json, "json", false, "print decision, overrides and honesty as one JSON object")
	f.BoolVar(&exitCode, "exit-code", false, "show the verdict by the exit status as well")
	completeEvidence(cmd)
	return cmd
}

// record reads a decision, records what is allowed of it and prints that.
func (o *evidence) record(cmd *cobra.Command, name string) (verify.Verdict, error) {
	file, err := openTrace(name, false)
	if err != nil {
		return "", err
	}
	defer file.close()
	history := file.trace.History(o.task)
	if !slices.ContainsFunc(history, func(e verify.Event) bool { return e.Name == verify.ValidateStart }) {
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
	started := *begun.Start
	if problems := verify.Lint(d, started.Requirements...); len(problems) > 0 {
		return "", badInput("say what is wrong, in which file, and what would settle it", "nothing was recorded: %s", strings.Join(problems, "; "))
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
	looking, err := o.verifier(name)
	if err != nil {
		return "", err
	}
	if err := looking.Observe(ctx, review); err != nil {
		return "", interrupted(err)
	}
	d, overrides := review.Record(d)
	events := review.Recorded(time.Now(), d, overrides)
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
	return d.Verdict, err
}

// traceFile is a signed trace on disk, to which events are added. The key, and the last signature of each trace, are in the
// state folder: lines that are missing at the end of a trace are missed.
type traceFile struct {
	name  string
	f     *os.File
	trace verify.Trace
	key   []byte
	last  string // the last signature
	size  int64  // of the whole lines
	head  string // the file that remembers the last signature
	made  bool   // the trace was not there before
}

// openTrace reads a trace. It makes one where that is wanted and there is none. The caller closes it.
func openTrace(name string, make bool) (*traceFile, error) {
	mode := os.O_RDWR
	if make {
		mode |= os.O_CREATE
	}
	info, err := os.Stat(name)
	t := &traceFile{name: name, made: errors.Is(err, fs.ErrNotExist)}
	if err == nil && !info.Mode().IsRegular() {
		return nil, badInput("give --trace the name of a file", "the trace %q is not a regular file", name)
	}
	abs, err := filepath.Abs(name)
	if err == nil && !t.made {
		abs, err = filepath.EvalSymlinks(abs)
	} else if dir, derr := filepath.EvalSymlinks(filepath.Dir(abs)); derr == nil {
		abs = filepath.Join(dir, filepath.Base(abs))
	}
	if err != nil {
		return nil, badInput("check its name", "cannot open the trace %q: %v", name, cause(err))
	}
	if t.key, t.head, err = traceKey(abs); err != nil {
		return nil, err
	}
	t.f, err = os.OpenFile(name, mode, 0o600)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !make:
		return nil, badInput("call sidecoach verify begin with the same --trace first", "no such trace: %q", name)
	case err != nil:
		return nil, badInput("check its name and permissions", "cannot open the trace %q: %v", name, cause(err))
	}
	t.trace, t.last, t.size, err = verify.ReadTrace(t.f, t.key)
	if heads, herr := os.ReadFile(t.head); err == nil && herr == nil && !slices.Contains(strings.Fields(string(heads)), t.last) && !t.made {
		err = verify.ErrTraceEdited
	}
	if err != nil {
		t.close()
		return nil, badInput("name a file that sidecoach verify wrote here, or a new one", "cannot read the trace %q: %s", name, strings.TrimPrefix(cause(err).Error(), "verify: trace, "))
	}
	return t, nil
}

// traceKey returns the key that signs traces, and the file that remembers the last signature of one.
func traceKey(trace string) (key []byte, head string, err error) {
	dir, err := stateDir()
	if err != nil {
		return nil, "", err
	}
	dir = filepath.Join(dir, "verify")
	name := filepath.Join(dir, "key")
	if key, err = os.ReadFile(name); err != nil || len(key) < 32 {
		key = []byte(rand.Text() + rand.Text())
		if err = os.MkdirAll(dir, 0o700); err == nil {
			err = filestore.WriteFile(name, key, 0o600)
		}
		if err != nil {
			return nil, "", badInput("check its permissions", "cannot write the key of traces in %q: %v", dir, cause(err))
		}
	}
	sum := sha256.Sum256([]byte(trace))
	return key, filepath.Join(dir, fmt.Sprintf("trace-%x", sum[:12])), nil
}

// add writes events behind the last whole line. What a process that died left after it is overwritten.
func (t *traceFile) add(events ...verify.Event) error {
	lines, last, err := verify.Trace(events).Append(t.key, t.last)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return t.remember(t.last, last) }, // either may be the last one, should this process die
		func() error { return t.f.Truncate(t.size) },
		func() error {
			_, err := io.Copy(io.NewOffsetWriter(t.f, t.size), bytes.NewReader(lines))
			return err
		},
		t.f.Sync,
		func() error { return t.remember(last) },
	} {
		if err := step(); err != nil {
			return badInput("check the disk", "cannot write to the trace %q: %v", t.name, cause(err))
		}
	}
	t.size, t.last = t.size+int64(len(lines)), last
	return nil
}

// remember writes the signatures that may be the last of the trace.
func (t *traceFile) remember(last ...string) error {
	return filestore.WriteFile(t.head, []byte(strings.Join(last, " ")+"\n"), 0o600)
}

// close closes the file, and removes one that was made and is empty.
func (t *traceFile) close() {
	if t.f == nil {
		return
	}
	t.f.Close()
	if t.made && t.size == 0 {
		_ = os.Remove(t.name)
	}
}
