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
	"github.com/sidecoach/sidecoach/coach/verify"
)

// stallAfter is how many times the same feedback is given before a person should look.
const stallAfter = 3

type reviewFlags struct {
	evidence
	task, trace string
}

// command returns a command that opens the trace, looks and adds to it. What it returns is printed as view.
func (o *reviewFlags) command(
	use, view string, t terminal, run func(context.Context, *traceFile, io.Reader) (any, error),
) *cobra.Command {
	cmd := &cobra.Command{Use: use}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		isNew := cmd.Name() == "begin"
		switch err := o.take(cmd, args); {
		case err != nil:
			return err
		case strings.TrimSpace(o.task) == "" || o.trace == "":
			return misuse("add --task ID and --trace FILE, the same for begin and record", "no task or no trace is named")
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
		result, err := run(ctx, file, cmd.InOrStdin())
		if err != nil {
			return err
		}
		if err := o.print(cmd.OutOrStdout(), t, view, result); err != nil {
			return err
		}
		if r, ok := result.(recorded); ok && o.exitCode && r.Decision.Verdict != verify.Approve {
			return exit(standings[verify.NotMet].exit)
		}
		return nil
	}
	bind(cmd.Flags(), "task", &o.task, "trace", &o.trace)
	return cmd
}

func newVerifyBegin(t terminal) *cobra.Command {
	o := &reviewFlags{}
	cmd := o.command("begin --task ID --trace FILE [flags] [-- COMMAND...]", "review", t, o.begin)
	o.register(cmd.Flags())
	bind(cmd.Flags(), "json", &o.json)
	return cmd
}

func (o *reviewFlags) begin(ctx context.Context, file *traceFile, stdin io.Reader) (any, error) {
	v, err := o.look(ctx, o.task, stdin)
	if err != nil {
		return nil, err
	}
	return v, file.add(v.review.Started(time.Now()))
}

func newVerifyRecord(t terminal) *cobra.Command {
	o := &reviewFlags{}
	cmd := o.command("record --task ID --trace FILE [flags] [-- COMMAND...]", "recorded", t, o.record)
	o.registerRun(cmd.Flags())
	bind(cmd.Flags(), "json", &o.json, "exit-code", &o.exitCode)
	return cmd
}

type recorded struct { // as JSON, overrides are a list, never null
	Decision  verify.Decision `json:"decision"`
	Overrides []string        `json:"overrides"`
	Honesty   verify.Honesty  `json:"honesty"`
	Stalled   bool            `json:"stalled"`
}

func (o *reviewFlags) record(ctx context.Context, file *traceFile, stdin io.Reader) (any, error) {
	history := file.trace.History(o.task)
	if len(history) == 0 || history[len(history)-1].Start == nil {
		return nil, badInput("call sidecoach verify begin with the same --task and --trace: what was seen then may have "+
			"changed", "the task %q has no review without a decision in this trace", o.task)
	}
	text, err := readAll(stdin, "the decision")
	if err != nil {
		return nil, err
	}
	d, err := verify.ParseDecision([]byte(text))
	if err != nil {
		return nil, badInput("sidecoach verify agent shows the format", "cannot read the decision: %s",
			strings.TrimPrefix(err.Error(), "verify: decision: "))
	}
	started := *history[len(history)-1].Start
	if problems := verify.Lint(d, started.Requirements...); len(problems) > 0 {
		return nil, badInput("say what is wrong, in which file, and what would settle it", "nothing was recorded: %s",
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
		return nil, interrupted(err)
	}
	d, overrides := review.Record(d)
	events := review.Recorded(time.Now(), d, overrides)
	return recorded{d, append([]string{}, overrides...), review.Honesty(),
		verify.Stalled(append(history, events...), stallAfter)}, file.add(events...)
}

// traceFile is the trace of reviews, on disk. For each trace that was written, the state folder has a file with the
// checksum in its name. A trace without such a file was edited.
type traceFile struct {
	name  string
	text  []byte
	trace verify.Trace
	state string // the folder of the checksums
}

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
	case create && errors.Is(err, fs.ErrNotExist):
		return t, nil
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("it is not a regular file")
	case err == nil:
		if t.text, err = os.ReadFile(t.name); err == nil {
			t.trace, err = verify.ReadTrace(t.text)
		}
		if err == nil && !exists(t.checksum()) {
			err = errors.New("it was edited")
		}
	}
	if err != nil {
		return nil, badInput("name a file that sidecoach verify begin wrote", "cannot read the trace %q: %s", name,
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
