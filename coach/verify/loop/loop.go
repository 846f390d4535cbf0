package loop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/plancriteria"
)

// Config is what a [Verifier] is made of. Only Witnesses is required.
type Config struct {
	// Witnesses are asked one after another, in this order. Those that run something come last: what they run may take time.
	Witnesses []verify.Witness
	// Commands are to succeed before a completion counts, each in words. They are run for every claim of completion.
	Commands [][]string
	// Baseline is the revision that the work began at; empty: unknown, and no file is known to be unchanged.
	Baseline string
	// Reviewed is for [verify.Task].
	Reviewed []string

	// Plans holds the plans as they are now, BasePlans as they were at the baseline. With BasePlans the plan is read from there, and
	// only one that is not there, since it is newer, from Plans. Nil has none.
	Plans, BasePlans fs.FS

	// Tree identifies the content of the working tree, as the witnesses do. It is asked after them: facts that were taken from another
	// tree verify nothing. Nil: it is not asked.
	Tree func(ctx context.Context) (string, error)
}

// Verifier is an [autocontinue.Verifier]. It is safe for concurrent use if the witnesses are.
type Verifier struct{ cfg Config }

var _ autocontinue.Verifier = (*Verifier)(nil)

// New returns a verifier.
func New(cfg Config) (*Verifier, error) {
	if len(cfg.Witnesses) == 0 {
		return nil, errors.New("loop: no witness: nothing would be looked at")
	}
	if slices.ContainsFunc(cfg.Witnesses, func(w verify.Witness) bool { return w == nil }) {
		return nil, errors.New("loop: a witness is nil")
	}
	if slices.ContainsFunc(cfg.Commands, func(c []string) bool { return len(c) == 0 || c[0] == "" }) {
		return nil, errors.New("loop: a command is empty")
	}
	cfg.Witnesses, cfg.Commands, cfg.Reviewed = slices.Clone(cfg.Witnesses), slices.Clone(cfg.Commands), slices.Clone(cfg.Reviewed)
	if cfg.Tree != nil {
		cfg.Witnesses = append(cfg.Witnesses, verify.TreeWitness(cfg.Tree))
	}
	return &Verifier{cfg}, nil
}

// Verify looks at what the output claims. The result is
//
//   - Rejected, with the findings a line each, worst first, when something was seen that does not hold,
//   - Verified when everything that was claimed or required was seen to hold,
//   - Unverified otherwise, with the reason in Note,
//   - the zero Verification when nothing is claimed or required, as with an answer to a question.
//
// It reads claims from out.Text alone. The error is the context's.
func (v *Verifier) Verify(ctx context.Context, out autocontinue.Output, r classify.Result) (autocontinue.Verification, error) {
	if r.Type == classify.Status && !r.WasRejectedCompletion {
		return autocontinue.Verification{}, nil // it claims nothing yet
	}
	report, err := verify.ParseReport([]byte(out.Text))
	if err != nil {
		report = verify.Report{Text: out.Text} // it claims nothing that could be read; what the host requires stands
	}
	requirements, note, read := v.plan(out.PlanFile)
	task := verify.Task{ID: out.Session, Text: out.Request, Baseline: v.cfg.Baseline, Commands: v.cfg.Commands, Reviewed: v.cfg.Reviewed}
	if len(report.Files)+len(report.Tests)+len(report.Commits)+len(requirements)+len(task.Commands) == 0 {
		return autocontinue.Verification{}, nil
	}
	review := verify.Begin(task, requirements, report)
	if err := review.Ask(ctx, v.cfg.Witnesses...); err != nil {
		return autocontinue.Verification{}, fmt.Errorf("loop: %w", err)
	}
	switch review.Standing() {
	case verify.Met:
		if !read {
			return autocontinue.Verification{Status: autocontinue.Unverified, Note: note}, nil
		}
		return autocontinue.Verification{Status: autocontinue.Verified, Note: note}, nil
	case verify.NotMet:
		return autocontinue.Verification{Status: autocontinue.Rejected, Feedback: verify.Lines(review.Seen())}, nil
	}
	if _, overrides := review.Record(review.Judge()); len(overrides) > 0 {
		note = strings.TrimSpace(strings.ToUpper(overrides[0][:1]) + overrides[0][1:] + ". " + note)
	}
	return autocontinue.Verification{Status: autocontinue.Unverified, Note: note}, nil
}

// plan returns the requirements of a plan, which plan that was, and whether it could be read; without a plan there is nothing to read.
func (v *Verifier) plan(name string) (list []verify.Requirement, note string, read bool) {
	if name == "" {
		return nil, "", true
	}
	if v.cfg.BasePlans != nil {
		c, err := plancriteria.ExtractFile(v.cfg.BasePlans, name)
		switch {
		case err == nil:
			return verify.Requirements(c), "The plan was taken as it was at the baseline.", true
		case !errors.Is(err, fs.ErrNotExist):
			return nil, "The plan could not be read as it was at the baseline.", false
		}
	}
	if v.cfg.Plans == nil {
		return nil, "The plan could not be read.", false
	}
	c, err := plancriteria.ExtractFile(v.cfg.Plans, name)
	if err != nil {
		return nil, "The plan could not be read.", false
	}
	return verify.Requirements(c), "The plan was taken as it is now.", true
}
