package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// labelRejected is the label of a rejected completion, which has no type of its own.
const labelRejected = "rejected"

// labels are the verdicts that a case can ask for.
func labels() []string {
	var list []string
	for _, t := range classify.Types() {
		list = append(list, string(t))
	}
	return append(list, labelRejected)
}

// wanted returns the label as a case has it.
func wanted(label string) evaluate.Want {
	if label == labelRejected {
		return evaluate.Want{Type: classify.Status, WasRejectedCompletion: true}
	}
	return evaluate.Want{Type: classify.OutputType(label)}
}

// printCase prints the decision that was asked for as a line for eval.
func (o *logOptions) printCase(ctx context.Context, stdout io.Writer, dir string) error {
	e, err := o.find(ctx, dir)
	if err != nil {
		return err
	}
	id := e.Decision.ID
	switch {
	case e.Input == nil:
		return badInput("decide with --keep-text from now on; what was decided before is gone", "decision %s was journaled without its text", id)
	case e.Cut:
		return badInput("a case of your own can be written by hand: sidecoach eval --help", "the text of decision %s was too large to be journaled as a whole", id)
	}
	c := evaluate.Case{Name: id, Input: *e.Input, Want: wanted(o.want.value)}
	if e.Host != shellHost {
		c.Meta = map[string]any{"agent": e.Host}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		return fmt.Errorf("cannot write the case as JSON: %w", err)
	}
	_, err = io.WriteString(stdout, harmless(b.String()))
	return err
}

// find returns the decision with the ID that was asked for, or whose ID begins like that. Of several entries of one decision
// it is the last that has the text.
func (o *logOptions) find(ctx context.Context, dir string) (entry, error) {
	found := make(map[string]entry)
	sums := newTotals()
	for line, err := range o.entries(filestore.ReadJournal(ctx, dir), &sums) {
		if err != nil {
			return entry{}, err
		}
		e := line.entry
		if id := e.Decision.ID; id == "" || !strings.HasPrefix(id, strings.ToLower(o.id)) || e.Decision.Replayed {
			continue
		}
		if old, ok := found[e.Decision.ID]; !ok || e.Input != nil || old.Input == nil {
			found[e.Decision.ID] = e
		}
	}
	switch len(found) {
	case 0:
		return entry{}, badInput("sidecoach log shows the IDs of what is still in the journal", "no decision %q in %q", o.id, dir)
	case 1:
		for _, e := range found {
			return e, nil
		}
	}
	return entry{}, badInput("give more of the ID; sidecoach log --json has it all", "%d decisions have an ID that begins with %q", len(found), o.id)
}
