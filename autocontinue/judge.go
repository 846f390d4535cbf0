package autocontinue

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/plancriteria"
	"github.com/sidecoach/sidecoach/skills"
)

// Judge gathers what [Decide] needs to know about out in the state s: it finds the skill, reads the plan, asks the classifier
// and the verifier. It is the half of Handle that may be slow and may fail, for hosts that keep the state themselves:
//
//	d, next, ok := autocontinue.Known(policy, state, out)
//	if !ok {
//		facts, err := loop.Judge(ctx, state, out) // what a durable engine runs as an activity, and retries
//		…
//		d, next = autocontinue.Decide(policy, state, facts)
//	}
//
// It asks the session's store nothing and tells no observer; of Config.Policy it uses nothing. When Known would decide it
// judges all the same. The facts are the same after they were written as JSON and read again, as far as Decide is
// concerned. The errors are [ErrNoSession] and that of the classifier, wrapped; for an output that cannot be judged, Decide
// with Facts that hold the output alone gives the Deliver that Handle returns with its error.
func (a *AutoContinue) Judge(ctx context.Context, s State, out Output) (Facts, error) {
	if out.Session == "" {
		return Facts{}, ErrNoSession
	}
	used, _ := s.unread(out)
	f, err := a.judge(ctx, s, used, out)
	f.Result = finite(f.Result)
	return f, err
}

// judge gathers what Decide needs to know about out. S is the session's state, used is how often out's turn was continued.
func (a *AutoContinue) judge(ctx context.Context, s State, used int, out Output) (Facts, error) {
	f := Facts{Output: out}
	in := classify.Input{Text: out.Text, Request: out.Request, Evidence: out.Evidence, Work: out.Work, Coached: used}
	if s.ours(in.Request) {
		in.Request = ""
	}
	if s, ok := a.cfg.Skills.Detect(skills.Query{Text: in.Request, Phase: out.Phase}); ok {
		skill := s // only a skill that is there is allocated
		f.Coach.Skill = &skill
		in.Skill, in.SkillHint = skill.Name, skill.EvidenceHint
	}
	if out.PlanFile != "" {
		if err := a.readPlan(&f); err != nil {
			a.degrade(ctx, &f, "plan: ", errors.New(strings.TrimPrefix(err.Error(), "plancriteria: ")))
		}
		if f.Coach.Criteria != nil {
			for _, item := range f.Coach.Criteria.Open() {
				in.Criteria = append(in.Criteria, item.Text)
			}
		}
	}

	for _, e := range out.Evidence {
		if !e.Kind.Valid() {
			a.degrade(ctx, &f, "evidence: ", fmt.Errorf("%q is no kind of evidence", e.Kind))
			break
		}
	}

	r, err := a.cfg.Classifier.Classify(ctx, in)
	if err == nil && !r.Type.Valid() {
		err = errors.New("not one of the five output types")
	}
	if err != nil {
		return f, fmt.Errorf("autocontinue: classify: %w", err)
	}
	f.Result = r
	if a.cfg.Verifier != nil && (r.Type == classify.Completion || r.Type == classify.Status && r.WasRejectedCompletion) {
		if err := a.verify(ctx, &f); err != nil {
			a.degrade(ctx, &f, "verifier: ", err)
		}
	}
	return f, nil
}

// readPlan reads the plan's criteria for coaching, or at least that there is a plan.
func (a *AutoContinue) readPlan(f *Facts) error {
	if a.cfg.Plans == nil {
		return errors.New("nowhere to read it from: Config.Plans is nil")
	}
	c, err := plancriteria.ExtractFile(a.cfg.Plans, f.Output.PlanFile)
	if err == nil {
		f.Coach.PlanFile, f.Coach.Criteria = f.Output.PlanFile, &c
		return nil
	}
	for _, content := range []error{
		plancriteria.ErrNoSection, plancriteria.ErrEmpty, plancriteria.ErrAmbiguous,
		plancriteria.ErrTooLarge, plancriteria.ErrTooDeep, plancriteria.ErrNotUTF8,
	} {
		if errors.Is(err, content) {
			f.Coach.PlanFile = f.Output.PlanFile // there is a plan
		}
	}
	return err
}

func (a *AutoContinue) verify(ctx context.Context, f *Facts) error {
	v, err := a.cfg.Verifier.Verify(ctx, f.Output, f.Result)
	if err != nil {
		f.Verification = Verification{Status: Unverified}
		return err
	}
	f.Verification = v
	switch v.Status {
	case "", Verified, Unverified, Rejected:
		return nil
	}
	return errors.New("its status is none of verified, unverified and rejected")
}

func (a *AutoContinue) degrade(ctx context.Context, f *Facts, what string, err error) {
	f.Degraded = append(f.Degraded, what+err.Error())
	a.cfg.Logger.WarnContext(ctx, "decision degraded", "session", f.Output.Session, "why", what+err.Error())
}
