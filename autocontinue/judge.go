package autocontinue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/plancriteria"
	"github.com/sidecoach/sidecoach/skills"
)

// Judge gathers what [Decide] needs to know about out in the state s: it finds the skill, reads the plan, and asks the
// classifier and the verifier. It is for hosts that keep the state themselves, see the example.
//
// It uses neither the store nor the observer nor Config.Policy. It judges even what Known would decide. Facts that were
// written as JSON and read again lead to the same decision. The classifier and the verifier get out without its
// secrets; Facts.Output is out as it is. The errors are [ErrNoSession] and that of the classifier, wrapped. If an
// output cannot be judged, Decide with Facts of the output alone gives the Deliver that Handle returns with its error.
func (a *AutoContinue) Judge(ctx context.Context, out Output, s State) (Facts, error) {
	if !a.usable(ctx) {
		return Facts{}, errNil
	}
	if out.Session == "" {
		return Facts{}, ErrNoSession
	}
	resets := s.resets()
	_, s, _ = s.known(out, resets)
	read, err := out.redact(ctx, a.cfg.Secrets)
	f := Facts{Output: read}
	if err == nil {
		err = a.judge(ctx, s, &f)
	}
	f.Output, f.Result, f.Resets = out, finite(f.Result), resets
	return f, err
}

// judge gathers what Decide needs to know about f.Output. The state s has its turn.
func (a *AutoContinue) judge(ctx context.Context, s State, f *Facts) (err error) {
	if err := a.findSkills(ctx, s, f); err != nil {
		return fmt.Errorf("autocontinue: skills: %w", err)
	}
	if f.Output.PlanFile != "" {
		if err := a.readPlan(f); err != nil {
			a.degrade(ctx, f, "plan: "+strings.TrimPrefix(err.Error(), "plancriteria: "))
		}
	}
	result, err := a.classify(ctx, f.input(s))
	if err != nil {
		return fmt.Errorf("autocontinue: classify: %w", err)
	}
	f.Result = result
	if why := f.Result.Fallback; why != "" {
		a.degrade(ctx, f, "classifier: "+why)
	}
	if a.cfg.Verifier != nil {
		if f.Verification, err = a.verify(ctx, f.Output, f.Result); err != nil {
			f.Verification = Verification{Status: Unverified}
			a.degrade(ctx, f, "verifier: "+err.Error())
		}
	}
	return nil
}

// input returns what a classifier is asked about the output, as far as f says it.
func (f Facts) input(s State) classify.Input {
	o := f.Output
	in := classify.Input{
		Text: o.Text, Request: s.humans(o.Request), Evidence: o.Evidence, Work: o.Work, Coached: s.used(o),
	}
	if f.Coach.Skill != nil {
		in.Skill, in.SkillHint = f.Coach.Skill.Name, f.Coach.Skill.EvidenceHint
	}
	if f.Coach.Criteria != nil {
		for _, item := range f.Coach.Criteria.Open() {
			in.Criteria = append(in.Criteria, item.Text)
		}
	}
	return in
}

// findSkills finds the skills of Output.Stages, and the one that the turn works on. Its error is a panic of a detector.
func (a *AutoContinue) findSkills(ctx context.Context, s State, f *Facts) (err error) {
	defer a.recovered(ctx, &err)
	for _, name := range f.Output.Stages {
		skill, ok := a.cfg.Skills.Detect(skills.Query{Text: name, Phase: name})
		if !ok {
			a.degrade(ctx, f, fmt.Sprintf("stages: %.40q is not the trigger or phase of a skill", a.redacted(name)))
			f.Stages = nil
			break
		}
		f.Stages = append(f.Stages, skill)
	}
	f.OnlyAsked = len(f.Stages) > 0 && OnlyAsked(ctx, f.Output)
	skill, ok := a.cfg.Skills.Detect(skills.Query{Text: s.humans(f.Output.Request), Phase: f.Output.Phase})
	if at := s.stageOf(f.Stages).Done; at < len(f.Stages) {
		skill, ok = f.Stages[at], true
	}
	if ok {
		f.Coach.Skill = &skill
	}
	return nil
}

// OnlyAsked reports whether the human only asked a question, and no file is known to be edited since the last
// successful check. Such a turn does not work on a goal.
func OnlyAsked(ctx context.Context, out Output) bool {
	if out.Work.Edited != classify.EditedUnknown && out.Work.Edited != classify.EditedNone {
		return false
	}
	h, err := classify.NewHeuristic()
	if err != nil {
		return false // the built-in tables are never wrong
	}
	asked, err := h.OnlyAsks(ctx, out.Request)
	return err == nil && asked
}

// readPlan reads the plan's criteria for coaching, or at least that there is a plan.
func (a *AutoContinue) readPlan(f *Facts) error {
	if a.cfg.Plans == nil {
		return errors.New("Config.Plans is nil, so no plan can be read")
	}
	c, err := plancriteria.ExtractFile(a.cfg.Plans, f.Output.PlanFile)
	if err == nil {
		f.Coach.PlanFile, f.Coach.Criteria = a.redacted(f.Output.PlanFile), &c
		c.Text = a.redacted(c.Text)
		for i := range c.Items {
			c.Items[i].Text = a.redacted(c.Items[i].Text)
		}
		return nil
	}
	if file := (*fs.PathError)(nil); !errors.As(err, &file) && !errors.Is(err, fs.ErrInvalid) {
		f.Coach.PlanFile = a.redacted(f.Output.PlanFile) // there is a plan
	}
	return err
}

// redacted masks secrets in foreign words, before these are cut: a part of a secret does not look like one.
func (a *AutoContinue) redacted(s string) string { return plaintext.Redact(s, a.cfg.Secrets...) }

// classify returns a valid result, or an error beside any result.
func (a *AutoContinue) classify(ctx context.Context, in classify.Input) (r classify.Result, err error) {
	defer a.recovered(ctx, &err)
	if r, err = a.cfg.Classifier.Classify(ctx, in); err == nil {
		err = r.ValidateFor(in.Text)
	}
	return r, err
}

// verify returns what the verifier found without secrets, or an error beside anything.
func (a *AutoContinue) verify(ctx context.Context, out Output, r classify.Result) (v Verification, err error) {
	defer a.recovered(ctx, &err)
	v, err = a.cfg.Verifier.Verify(ctx, out, r)
	v.Feedback, v.Note = a.redacted(v.Feedback), a.redacted(v.Note)
	if v.Goal != nil {
		goal := *v.Goal
		goal.Open, goal.Note, goal.Human = a.redacted(goal.Open), a.redacted(goal.Note), slices.Clone(goal.Human)
		for i := range goal.Human { // they are looked for in the finding
			goal.Human[i] = a.redacted(goal.Human[i])
		}
		v.Goal = &goal
	}
	switch v.Status {
	case "", Verified, Unverified, Rejected:
		return v, err
	}
	return v, errors.Join(err, errors.New("its status is not verified, unverified or rejected"))
}

// recovered makes an error of a panic. The logger gets the stack.
func (a *AutoContinue) recovered(ctx context.Context, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %s", shown(fmt.Sprint(p), maxDegraded))
		a.cfg.Logger.ErrorContext(ctx, "panic", "err", *err, "stack", string(debug.Stack()))
	}
}

func (a *AutoContinue) degrade(ctx context.Context, f *Facts, why string) {
	why = a.redacted(why)
	f.Degraded = append(f.Degraded, why)
	a.cfg.Logger.WarnContext(ctx, "decision degraded",
		"session", a.redacted(f.Output.Session), "why", shown(why, maxDegraded))
}
