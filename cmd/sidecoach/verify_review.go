package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
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

type reviewFlags struct {
	evidence
	task, trace string
}

// command returns a command that opens the trace, looks and adds to it.
func (o *reviewFlags) command(use string, run func(context.Context, *cobra.Command, *traceFile) error) *cobra.Command {
	cmd := &cobra.Command{Use: use}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		isNew := cmd.Name() == "begin"
		switch err := o.take(cmd, args); {
		case err != nil:
			return err
		case strings.TrimSpace(o.task) == "":
			return misuse("add --task ID", "no task is named")
		case o.trace == "":
			return misuse("add --trace FILE, the same for begin and record", "no trace is named")
		case isNew && o.plan == "" && o.report == "":
			return misuse("add --plan plan.md, --report report.md or both", "there is nothing to review")
		}
		file, err := openTrace(o.trace, isNew)
		if err != nil {
			return err
		}
		o.config.Own = []string{o.trace}
		ctx, stop := interruptible(cmd.Context())
		defer stop()
		return run(ctx, cmd, file)
	}
	bind(cmd.Flags(), "task", &o.task, "trace", &o.trace)
	return cmd
}

func newVerifyBegin() *cobra.Command {
	o := &reviewFlags{}
	cmd := o.command("begin --task ID --trace FILE [flags] [-- COMMAND...]", o.begin)
	o.register(cmd.Flags())
	bind(cmd.Flags(), "json", &o.json)
	return cmd
}

func (o *reviewFlags) begin(ctx context.Context, cmd *cobra.Command, file *traceFile) error {
	v, err := o.look(ctx, o.task, cmd.InOrStdin())
	if err != nil {
		return err
	}
	if err := file.add(v.review.Started(time.Now())); err != nil {
		return err
	}
	return o.printResult(cmd.OutOrStdout(), "review", contextOf(v, o.config.Commands))
}

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
	c := reviewContext{ // as JSON, these are lists, never null
		Task: v.Decision.TaskID, Plan: v.Plan, Requirements: append([]verify.RequirementCheck{}, v.Decision.Requirements...),
		Files: []string{}, Tests: []string{}, Notes: []string{}, Concerns: []string{},
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
		c.Notes = append(c.Notes, view("run", r))
	}
	c.Notes = slices.Concat(c.Notes, v.Honesty.Unchecked, v.Facts.Unseen)
	for _, d := range v.Honesty.Discrepancies {
		c.Concerns = append(c.Concerns, words(string(d.Severity))+", "+view("discrepancy", d))
	}
	for _, s := range v.Facts.Suspects {
		c.Concerns = append(c.Concerns, s.Path+" "+s.Why)
	}
	for _, s := range v.Concerns {
		c.Concerns = append(c.Concerns, "the report says: "+s)
	}
	return c
}

func newVerifyRecord() *cobra.Command {
	o := &reviewFlags{}
	cmd := o.command("record --task ID --trace FILE [flags] [-- COMMAND...]", o.record)
	o.registerRun(cmd.Flags())
	bind(cmd.Flags(), "json", &o.json, "exit-code", &o.exitCode)
	return cmd
}

func (o *reviewFlags) record(ctx context.Context, cmd *cobra.Command, file *traceFile) error {
	history := file.trace.History(o.task)
	if !slices.ContainsFunc(history, func(e verify.Event) bool { return e.Start != nil }) {
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
	for _, c := range o.config.Commands {
		if !slices.ContainsFunc(started.Task.Commands, func(old []string) bool { return slices.Equal(old, c) }) {
			started.Task.Commands = append(started.Task.Commands, c)
		}
	}
	o.config.Baseline, o.config.Reviewed = started.Task.Baseline, started.Task.Reviewed
	review := started.Resume()
	if err := o.verifier().Observe(ctx, review); err != nil {
		return interrupted(err)
	}
	d, overrides := review.Record(d)
	events := review.Recorded(time.Now(), d, overrides)
	if err := file.add(events...); err != nil {
		return err
	}
	recorded := struct { // as JSON, overrides are a list, never null
		Decision  verify.Decision `json:"decision"`
		Overrides []string        `json:"overrides"`
		Honesty   verify.Honesty  `json:"honesty"`
		Stalled   bool            `json:"stalled"`
	}{d, append([]string{}, overrides...), review.Honesty(), verify.Stalled(append(history, events...), stallAfter)}
	err = o.printResult(cmd.OutOrStdout(), "recorded", recorded)
	if err == nil && o.exitCode && d.Verdict != verify.Approve {
		return standings[verify.NotMet].exit
	}
	return err
}

// traceFile is the trace of reviews, on disk. For each trace that was written, the state folder has a file with the
// checksum in its name. A trace without such a file was edited.
type traceFile struct {
	name  string
	text  []byte
	trace verify.Trace
	state string // the folder of the checksums
}

// openTrace reads a trace. With create, it may be missing.
func openTrace(name string, create bool) (*traceFile, error) {
	state, err := stateDir("")
	if err != nil {
		return nil, err
	}
	t := &traceFile{name: name, state: filepath.Join(state, "verify")}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		t.name = real
	}
	info, err := os.Stat(t.name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && create:
		return t, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, badInput("call sidecoach verify begin with the same --trace first", "no such trace: %q", name)
	case err == nil && !info.Mode().IsRegular():
		return nil, badInput("give --trace the name of a file", "the trace %q is not a regular file", name)
	}
	if t.text, err = os.ReadFile(t.name); err != nil {
		return nil, badInput("check its name and permissions", "cannot open the trace %q: %v", name, cause(err))
	}
	t.trace, err = verify.ReadTrace(t.text)
	if err != nil {
		err = errors.New(strings.TrimPrefix(err.Error(), "verify: trace, "))
	} else if _, serr := os.Stat(t.checksum()); serr != nil {
		err = errors.New("it was edited")
	}
	if err != nil {
		return nil, badInput("name a file that sidecoach verify wrote, or a new one", "cannot read the trace %q: %v", name,
			err)
	}
	return t, nil
}

// checksum returns the name of the file that stands for the present text.
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
	if err != nil {
		return badInput("check the disk", "cannot write to the trace %q: %v", t.name, cause(err))
	}
	_ = os.Remove(old)
	return nil
}
