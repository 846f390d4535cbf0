package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/autocontinue/project"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
	"github.com/sidecoach/sidecoach/coach/verify/llmjudge"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
	"github.com/sidecoach/sidecoach/skills"
)

// setting is what holds for a session of the hook: its flags, and what the human allowed of the project's folder.
type setting struct {
	*hookOptions
	coach   *coach.Coach
	phrases []classify.Option
	skills  []skills.Skill
	skipped []error // why files of skills are left out
}

// in returns what holds in a folder. The error says why the project's folder is ignored.
func (o *hookOptions) in(ctx context.Context, projects *project.Projects, dir string) (setting, error) {
	f, err := projects.Folder(ctx, dir)
	s := setting{hookOptions: o}
	if err == nil {
		var allowed setting
		if allowed, err = o.within(f); err == nil {
			s = allowed
		}
	}
	if err != nil {
		err = fmt.Errorf("the project's .sidecoach is ignored: %w; sidecoach allow shows what it would change", err)
	}
	if home, unknown := os.UserHomeDir(); unknown == nil {
		own, skipped := skills.FromFS(os.DirFS(home), skills.Folders()...)
		s.skills, s.skipped = append(s.skills, own...), append(s.skipped, skipped...)
	}
	return s, err
}

// within returns what holds with a project's folder.
func (o *hookOptions) within(f project.Folder) (s setting, err error) {
	if s.hookOptions, err = o.with(f.Config()); err != nil {
		return s, err
	}
	if templates := f.Part("coach"); templates != nil {
		if s.coach, err = coach.New(coach.Config{Templates: templates}); err != nil {
			return s, err
		}
	}
	if lexicon := f.Part("lexicon"); lexicon != nil {
		s.phrases = []classify.Option{classify.Phrases(lexicon)}
		if _, err = classify.NewHeuristic(s.phrases...); err != nil {
			return s, err
		}
	}
	s.skills, s.skipped = f.Skills()
	return s, nil
}

// with returns the flags with the defaults of a project's config.json. Trust in the folder covers neither the state nor
// a prompt, which are other folders.
func (o *hookOptions) with(config []byte) (*hookOptions, error) {
	if config == nil {
		return o, nil
	}
	var values map[string]any
	if err := json.Unmarshal(config, &values); err != nil {
		return nil, fmt.Errorf("config.json: %w", err)
	}
	n := newHookOptions()
	var cmd cobra.Command
	n.register(&cmd)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if cmd.Flags().Lookup(name) == nil || name == "state" || name == "prompt" {
			return nil, fmt.Errorf("config.json: unknown key %q", name)
		}
		if err := cmd.Flags().Set(name, fmt.Sprint(values[name])); err != nil {
			return nil, fmt.Errorf("config.json: %w", err)
		}
	}
	var err error
	o.flags.Visit(func(f *pflag.Flag) {
		if cmd.Flags().Lookup(f.Name) != nil {
			err = errors.Join(err, cmd.Flags().Set(f.Name, f.Value.String()))
		}
	})
	return &n, err
}

// registry returns the skills of the project, of the user, and the built-in ones.
func (s setting) registry() *skills.Registry {
	var all []skills.Detector
	for _, k := range s.skills {
		all = append(all, k)
	}
	return skills.NewRegistry(append(all, skills.Builtin()...)...)
}

// pursue puts the goal of a session, if it has one, into the loop.
func (s setting) pursue(
	ctx context.Context, h hook.Host, projects *project.Projects, k *keeper, p *hook.Pause, cfg *autocontinue.Config,
) error {
	g, root, ok, err := projects.Goal(ctx, p.Output.Session, folderOf(p.Began))
	if err != nil || !ok {
		return err
	}
	goal := verifier.Goal{Dir: g.Dir, Criteria: g.Criteria, Timeout: (verifySeconds - 60) * time.Second,
		Limit: g.Limit(time.Now()), Next: cfg.Verifier}
	if goal.Judge, err = s.criteriaJudge(k.dir, p.Output.Session, g.Dir); err != nil {
		return err
	}
	if g.Continues > 0 {
		cfg.Policy.MaxContinues, goal.Cap = g.Continues, "the goal"
	}
	if most := h.MostContinues(); most > 0 && cfg.Policy.MaxContinues > most {
		cfg.Policy.MaxContinues, goal.Cap = most, h.Product()
	}
	seen, journal := g.Criteria, cfg.Observer
	goal.Seen = func(list []verifier.Criterion) { seen = list }
	p.Output.Stages, cfg.Verifier = g.Stages, timedVerifier{goal, ""}
	cfg.Observer = autocontinue.ObserverFunc(func(ctx context.Context, e autocontinue.Event) error {
		err := projects.Change(ctx, root, g.Set, func(g *project.Goal) bool {
			g.Criteria, g.Stage = seen, max(g.Stage, e.Decision.Stage)
			if e.Decision.Reason == autocontinue.ReasonCompletion && g.IsReached() {
				g.Ended = e.Time
			}
			return true
		})
		return errors.Join(err, journal.Observe(ctx, e))
	})
	return nil
}

// criteriaJudge returns what decides about criteria without a check, nil without a judge.
func (s setting) criteriaJudge(state, session, dir string) (
	func(context.Context, autocontinue.Output, []string) ([]verify.RequirementCheck, error), error,
) {
	if !s.judging.asks() {
		return nil, nil
	}
	client, err := s.judging.client()
	if err != nil {
		return nil, err
	}
	judge, err := llmjudge.New(client)
	return func(ctx context.Context, out autocontinue.Output, criteria []string) ([]verify.RequirementCheck, error) {
		work := llmjudge.Work{Task: out.Request, Report: out.Text}
		git, err := gitwitness.New(gitwitness.Config{Dir: dir, Base: verifier.Recall(state, session).First})
		if err == nil {
			defer git.Close()
			if work.Diff, work.Whole, err = git.Diff(ctx, "", 60_000); err != nil {
				work.Whole = false // then nothing is met
			}
		}
		return judge.Criteria(ctx, criteria, work)
	}, err
}

func newAllow(t terminal) *cobra.Command {
	var state string
	var yes bool
	cmd := &cobra.Command{
		Use:  "allow",
		Args: atMost(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			projects, err := openProjects(state)
			if err != nil {
				return err
			}
			root, err := project.Root(".")
			if err != nil {
				return err
			}
			f, err := project.ReadFolder(root)
			if err != nil {
				return badInput("make the folder .sidecoach in your project", "%s", strings.TrimPrefix(err.Error(), "project: "))
			}
			o := newHookOptions()
			o.register(&cobra.Command{})
			s, err := o.within(f)
			if err != nil {
				return badInput("correct the file, then run sidecoach allow again", "the folder cannot be used: %v", err)
			}
			if err := t.tell(cmd.OutOrStdout(), s.preview(f)); err != nil {
				return err
			}
			if err := confirm(cmd, t, yes, "Let the hook use these files?"); err != nil {
				return err
			}
			if err := projects.Allow(cmd.Context(), f); err != nil {
				return err
			}
			return t.tell(cmd.OutOrStdout(), "allowed, until one of the files changes\n")
		},
	}
	registerState(cmd.Flags(), &state)
	registerYes(cmd, &yes)
	return cmd
}

// preview says what a folder changes.
func (s setting) preview(f project.Folder) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has:\n", visible(f.Root))
	for _, name := range f.Files {
		fmt.Fprintf(&b, "  %s\n", visible(name))
	}
	if config := f.Config(); config != nil {
		b.WriteString("it sets flags of the hook:\n")
		for line := range strings.Lines(string(config)) {
			fmt.Fprintf(&b, "  %s\n", visible(strings.TrimRight(line, "\r\n")))
		}
	}
	if s.coach != nil {
		b.WriteString("it words messages to the agent\n")
	}
	if s.phrases != nil {
		b.WriteString("it adds phrases by which outputs are judged\n")
	}
	for _, k := range s.skills {
		fmt.Fprintf(&b, "it adds the skill %s: %s\n", visible(k.Trigger), visible(k.Description))
	}
	for _, err := range s.skipped {
		fmt.Fprintf(&b, "skipped: %s\n", visible(err.Error()))
	}
	return b.String()
}
