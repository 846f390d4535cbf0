package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/autocontinue/project"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
	"github.com/sidecoach/sidecoach/coach/verify/llmjudge"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
)

// verifySeconds is how long a hook verifies, everything included: the command, its second run, and the baseline.
const verifySeconds = 300

// verifier returns what checks a claim of completion, nil without a command.
func (o *hookOptions) verifier(state, session, dir string, plans fs.FS) autocontinue.Verifier {
	if o.verify.words == nil {
		return nil
	}
	s := verifier.Recall(state, session)
	if main, _, sub := strings.Cut(session, "/"); sub && s.Last == nil { // an agent of another one's
		s = verifier.Recall(state, main)
	}
	v := &verifier.Verifier{
		Dir: cmp.Or(s.Root, cmdwitness.Root(dir)), Commands: [][]string{o.verify.words}, Base: s.Last, First: s.First,
		Plans: plans, Timeout: verifySeconds * time.Second, Cache: filepath.Join(state, "verify"),
	}
	return timedVerifier{v}
}

// timedVerifier gives up before the host does. The result is then unverified.
type timedVerifier struct{ autocontinue.Verifier }

func (t timedVerifier) Verify(
	ctx context.Context, out autocontinue.Output, r classify.Result,
) (autocontinue.Verification, error) {
	ctx, cancel := context.WithTimeout(ctx, verifySeconds*time.Second)
	defer cancel()
	return t.Verifier.Verify(ctx, out, r)
}

// pursue makes the goal of the session, if it has one, part of what decides.
func (o *hookOptions) pursue(
	ctx context.Context, h hook.Host, projects *project.Projects, k *keeper, p *hook.Pause, cfg *autocontinue.Config,
) error {
	g, root, ok, err := projects.Goal(ctx, p.Output.Session, folderOf(p.Began))
	if err != nil || !ok {
		return err
	}
	goal := verifier.Goal{Dir: g.Dir, Criteria: g.Criteria, Timeout: (verifySeconds - 60) * time.Second,
		Limit: g.Limit(time.Now()), Next: cfg.Verifier}
	if o.judging.asks() {
		goal.Judge = func(ctx context.Context, out autocontinue.Output, open []string) ([]verify.RequirementCheck, error) {
			return o.judgeCriteria(ctx, k.dir, g.Dir, out, open)
		}
	}
	if g.Continues > 0 {
		cfg.Policy.MaxContinues, goal.Cap = g.Continues, "the goal"
	}
	if most := h.MostContinues(); most > 0 && cfg.Policy.MaxContinues > most {
		cfg.Policy.MaxContinues, goal.Cap = most, h.Product()
	}
	seen, journal := g.Criteria, cfg.Observer
	goal.Seen = func(list []verifier.Criterion) { seen = list }
	p.Output.Stages, cfg.Verifier = g.Stages, timedVerifier{goal}
	cfg.Observer = autocontinue.ObserverFunc(func(ctx context.Context, e autocontinue.Event) error {
		err := projects.Change(ctx, root, g.Set, func(g *project.Goal) {
			g.Criteria, g.Stage = seen, max(g.Stage, e.Decision.Stage)
			if e.Decision.Reason == "completion" && g.IsReached() {
				g.Ended = e.Time
			}
		})
		return errors.Join(err, journal.Observe(ctx, e))
	})
	return nil
}

// judgeCriteria asks the judge about criteria without a check. It sees what changed since the session began.
func (o *hookOptions) judgeCriteria(
	ctx context.Context, state, dir string, out autocontinue.Output, criteria []string,
) ([]verify.RequirementCheck, error) {
	cfg, err := o.judging.config()
	if err != nil {
		return nil, err
	}
	client, err := llm.NewClient(cfg)
	if err != nil {
		return nil, err
	}
	judge, err := llmjudge.New(client)
	if err != nil {
		return nil, err
	}
	work := llmjudge.Work{Task: out.Request, Report: out.Text}
	git := &gitwitness.Witness{Dir: dir, Base: verifier.Recall(state, out.Session).First}
	defer git.Close()
	if work.Diff, work.Whole, err = git.Diff(ctx, "", 60_000); err != nil {
		work.Whole = false // then nothing is met
	}
	return judge.Criteria(ctx, criteria, work)
}
