package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// entry is a line of the journal: a decision or, with Notice, something beside one.
type entry struct {
	autocontinue.Event
	Transcript string          `json:"transcript,omitempty"` // why its facts lack some
	Host       string          `json:"host"`
	Shadow     bool            `json:"shadow,omitempty"` // decided only: the agent was not continued
	Notice     string          `json:"notice,omitempty"` // what happened beside a decision
	Input      *classify.Input `json:"input,omitempty"`  // what the classifier was asked; with --keep-text
}

// parseEntry reads a line. One that neither this program nor a newer one can have written is not ok.
func parseEntry(line []byte) (e entry, ok bool) {
	if json.Unmarshal(line, &e) != nil || e.Time.IsZero() {
		return entry{}, false
	}
	return e, true
}

type logOptions struct {
	session, state, id string
	follow, json       bool
	want               choice
}

func newLog(t terminal) *cobra.Command {
	o := logOptions{want: choice{allowed: labels()}}
	cmd := withoutArguments("log [flags]", func(cmd *cobra.Command) error { return o.run(cmd, t) })
	bind(cmd.Flags(), "session", &o.session, "follow", &o.follow, "json", &o.json, "case", &o.id, "want", &o.want,
		"state", &o.state)
	cmd.MarkFlagsRequiredTogether("case", "want")
	cmd.MarkFlagsMutuallyExclusive("case", "follow")
	cmd.MarkFlagsMutuallyExclusive("case", "json")
	return cmd
}

func (o *logOptions) run(cmd *cobra.Command, t terminal) error {
	if err := notEmpty(cmd, "case", "want", "session"); err != nil {
		return err
	}
	dir, err := stateDir(o.state)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	if o.id != "" {
		return o.printCase(ctx, cmd.OutOrStdout(), dir)
	}
	return o.show(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr(), dir, t)
}

// read calls f for each line of the journal that was asked for, and returns how many lines could not be read.
func (o *logOptions) read(
	ctx context.Context, dir string, f func(e entry, line []byte) error,
) (unreadable int, err error) {
	every := time.Duration(0)
	if o.follow {
		every = time.Second / 4
	}
	for line, err := range filestore.ReadJournal(ctx, dir, every) {
		if err != nil && !errors.Is(err, filestore.ErrTooLarge) {
			hint := "check the folder and its permissions, or name another with --state"
			return unreadable, badInput(hint, "%s", withoutPackage(err))
		}
		e, ok := parseEntry(line)
		if !ok {
			unreadable++
		} else if o.session == "" || e.Session == masked(o.session) {
			if err := f(e, line); err != nil {
				return unreadable, err
			}
		}
	}
	return unreadable, nil
}

// show prints what the journal has, and the totals when it ends or is interrupted.
func (o *logOptions) show(ctx context.Context, stdout, stderr io.Writer, dir string, t terminal) (err error) {
	session, sums := "", newTotals()
	sums.Unreadable, err = o.read(ctx, dir, func(e entry, line []byte) error {
		text := t.show(entryText(e, sums.add(e), &session))
		if o.json {
			text = harmless(string(line)) + "\n"
		}
		_, err := io.WriteString(stdout, text)
		return err
	})
	if err != nil {
		return err
	}
	if n := sums.Unreadable; n > 0 {
		complain(stderr, fmt.Sprintf("sidecoach: %s of the journal could not be read", plural(n, "line")))
	}
	empty := sums.Decisions+sums.Replayed+sums.Notices == 0
	switch {
	case empty && o.session != "" && !o.follow:
		return badInput("sidecoach log shows all sessions", "nothing was journaled of session %q in %q", o.session, dir)
	case o.json:
		return writeJSON(stdout, map[string]totals{"totals": sums})
	case empty:
		return t.tell(stdout, "nothing was journaled yet in "+visible(dir)+"\n")
	}
	return t.tell(stdout, view("totals", sums))
}

// labelRejected is the label of a rejected completion, which has no type of its own.
const labelRejected = "rejected"

func labels() (list []string) {
	for _, t := range classify.Types() {
		list = append(list, string(t))
	}
	return append(list, labelRejected)
}

// printCase prints the decision that was asked for as a line for eval. Of several entries it is the last that has the
// text.
func (o *logOptions) printCase(ctx context.Context, stdout io.Writer, dir string) error {
	var found entry
	_, err := o.read(ctx, dir, func(e entry, _ []byte) error {
		if strings.HasPrefix(e.Decision.ID, strings.ToLower(o.id)) && !e.Decision.Replayed &&
			(e.Input != nil || found.Input == nil) {
			found = e
		}
		return nil
	})
	id := found.Decision.ID
	switch {
	case err != nil:
		return err
	case id == "":
		return badInput("sidecoach log shows the IDs of all decisions in the journal", "no decision %q in %q", o.id, dir)
	case found.Input == nil:
		hint := "use --keep-text from now on, which keeps texts of up to 1 MiB; older texts are gone"
		return badInput(hint, "decision %s was journaled without its text", id)
	}
	c := evaluate.Case{Name: id, Input: *found.Input, Want: evaluate.Want{Type: classify.OutputType(o.want.value)}}
	if o.want.value == labelRejected {
		c.Want = evaluate.Want{Type: classify.Status, WasRejectedCompletion: true}
	}
	if found.Host != shellHost {
		c.Meta = map[string]any{"agent": found.Host}
	}
	return writeJSON(stdout, c)
}
