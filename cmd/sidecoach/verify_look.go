package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
	"github.com/sidecoach/sidecoach/coach/verify/gowitness"
	"github.com/sidecoach/sidecoach/plancriteria"
)

// witnesses look at a working tree. They are asked in their order: commands that take time run last, and then the tree once more.
type witnesses struct {
	git  *gitwitness.Witness
	list []verify.Witness
}

// lookFrom returns the witnesses of the working tree that dir is in, of which the files named own are no part.
func lookFrom(dir string, timeout time.Duration, own ...string) (witnesses, error) {
	git, err := gitwitness.New(gitwitness.Config{Dir: dir, Own: own})
	if err != nil {
		return witnesses{}, err
	}
	tests, err := gowitness.New(gowitness.Config{Dir: dir, Timeout: timeout, Tree: git.Tree})
	if err != nil {
		return witnesses{}, err
	}
	other := func(command []string) bool { return !gowitness.IsGoTest(command) }
	commands, err := cmdwitness.New(cmdwitness.Config{Dir: dir, Timeout: timeout, Tree: git.Tree, Only: other})
	if err != nil {
		return witnesses{}, err
	}
	return witnesses{git, []verify.Witness{git, tests, commands, verify.TreeWitness(git.Tree)}}, nil
}

// look makes a review of what the flags name, and asks the witnesses. The files named own are no part of the work.
func (o *evidence) look(ctx context.Context, stdin io.Reader, own ...string) (*verification, error) {
	ws, err := lookFrom(".", o.timeout, own...)
	if err != nil {
		return nil, err
	}
	v := &verification{}
	var requirements []verify.Requirement
	if o.plan != "" {
		if requirements, v.plan, err = o.requirements(ctx, ws.git); err != nil {
			return nil, err
		}
	}
	var report verify.Report
	if o.report != "" {
		if report, err = readReport(o.report, stdin); err != nil {
			return nil, err
		}
	}
	task := verify.Task{ID: o.task, Baseline: o.baseline, Commands: o.commands(), Reviewed: o.reviewed}
	v.review = verify.Begin(task, requirements, report)
	if err := v.review.Ask(ctx, ws.list...); err != nil {
		return nil, interrupted(err)
	}
	if v.facts = v.review.Facts(); o.baseline != "" && v.facts.Base == "" {
		return nil, badInput("name a commit, a branch or a tag of the git repository that this folder is in",
			"cannot compare with the baseline %q: %s", o.baseline, strings.Join(v.facts.Unseen, "; "))
	}
	v.honesty, v.standing = v.review.Honesty(), v.review.Standing()
	v.decision, v.overrides = v.review.Record(v.review.Judge())
	return v, nil
}

func interrupted(err error) error {
	return badInput("run it again; --timeout bounds how long a command may take", "nothing was verified: %v", err)
}

// requirements reads the plan as it was at the baseline, or as it is now, and says which.
func (o *evidence) requirements(ctx context.Context, git *gitwitness.Witness) ([]verify.Requirement, string, error) {
	tree, name, err := openPlan(".", o.plan)
	if err != nil {
		return nil, "", err
	}
	defer tree.Close()
	when := "as it is now"
	var c plancriteria.Criteria
	if o.baseline != "" {
		switch text, ferr := git.File(ctx, o.baseline, name, plancriteria.MaxSize); {
		case ferr == nil:
			when = "as it was at " + o.baseline
			c, err = plancriteria.Extract(text)
		case errors.Is(ferr, fs.ErrNotExist):
			when = "as it is now: it is newer than " + o.baseline
			c, err = plancriteria.ExtractFile(tree.FS(), name)
		default:
			return nil, "", badInput("name a commit, a branch or a tag of the git repository that this folder is in",
				"cannot read the plan as it was at %q: %v", o.baseline, ferr)
		}
	} else {
		c, err = plancriteria.ExtractFile(tree.FS(), name)
	}
	if err != nil {
		return nil, "", badInput(`give the plan a section "Success Criteria" with a list`, "no criteria in the plan %q, %s: %v", o.plan, when, planFault(err))
	}
	return verify.Requirements(c), when, nil
}

// planFault is what is wrong with a plan, without the package's name and the file's.
func planFault(err error) error {
	for _, known := range []error{
		plancriteria.ErrNoSection, plancriteria.ErrEmpty, plancriteria.ErrAmbiguous, plancriteria.ErrTooLarge, plancriteria.ErrTooDeep, plancriteria.ErrNotUTF8,
	} {
		if errors.Is(err, known) {
			return known
		}
	}
	return err
}

func readReport(name string, stdin io.Reader) (verify.Report, error) {
	text, err := readOutput([]string{name}, stdin, false)
	if err != nil {
		return verify.Report{}, err
	}
	report, err := verify.ParseReport([]byte(text))
	if err != nil {
		return verify.Report{}, badInput("hand in what the agent reports: prose, or one JSON object", "cannot read the report %q: %s", name, strings.TrimPrefix(err.Error(), "verify: report: "))
	}
	return report, nil
}
