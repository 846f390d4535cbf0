package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/autocontinue/project"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
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
	var s setting
	f, err := projects.Folder(ctx, dir)
	if err == nil {
		s, err = o.within(f)
	}
	if err != nil {
		s = setting{hookOptions: o}
		err = fmt.Errorf("the project's .sidecoach is ignored: %w; sidecoach allow shows what it would change", err)
	}
	if home, unknown := os.UserHomeDir(); unknown == nil {
		own, skipped := skills.FromFS(os.DirFS(home), skills.Folders()...)
		s.skills, s.skipped = append(s.skills, own...), append(s.skipped, skipped...)
	}
	return s, err
}

func (o *hookOptions) within(f project.Folder) (s setting, err error) {
	if s.hookOptions, err = o.with(f.Config()); err != nil {
		return s, err
	}
	if templates := f.Part("coach"); templates != nil {
		s.coach, err = coach.New(coach.Config{Templates: templates})
	}
	if lexicon := f.Part("lexicon"); lexicon != nil && err == nil {
		s.phrases = []classify.Option{classify.Phrases(lexicon)}
		_, err = classify.NewHeuristic(s.phrases...)
	}
	s.skills, s.skipped = f.Skills()
	return s, err
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
	n := newHookOptions(new(pflag.FlagSet))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if n.flags.Lookup(name) == nil || name == "state" || name == "prompt" {
			return nil, fmt.Errorf("config.json: unknown key %q", name)
		}
		if err := n.flags.Set(name, fmt.Sprint(values[name])); err != nil {
			return nil, fmt.Errorf("config.json: %w", err)
		}
	}
	o.flags.Visit(func(f *pflag.Flag) { _ = n.flags.Set(f.Name, f.Value.String()) }) // a command has others, too
	return n, nil
}

func (s setting) registry() *skills.Registry {
	var all []skills.Detector
	for _, k := range s.skills {
		all = append(all, k)
	}
	return skills.NewRegistry(append(all, skills.Builtin()...)...)
}

func newAllow(t terminal) *cobra.Command {
	var state string
	var yes bool
	return command("allow [flags]", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		projects, root, err := openProject(state)
		if err != nil {
			return err
		}
		f, err := project.ReadFolder(root)
		if err != nil {
			return badInput("make the folder .sidecoach in your project", "%s", strings.TrimPrefix(err.Error(), "project: "))
		}
		s, err := newHookOptions(new(pflag.FlagSet)).within(f)
		if err != nil {
			return badInput("correct the file, then run sidecoach allow again", "the folder cannot be used: %v", err)
		}
		isBreak := func(r rune) bool { return r == '\n' || r == '\r' }
		preview := view("folder", map[string]any{"Folder": f, "Config": strings.FieldsFunc(string(f.Config()), isBreak),
			"Coach": s.coach, "Phrases": s.phrases, "Skills": s.skills, "Skipped": s.skipped})
		t.tell(cmd.OutOrStdout(), preview)
		if err := confirm(cmd, t, yes, "Let the hook use these files?"); err != nil {
			return err
		}
		if err := projects.Allow(cmd.Context(), f); err != nil {
			return err
		}
		return t.tell(cmd.OutOrStdout(), "allowed, until one of the files changes\n")
	}, "state", &state, "yes", &yes)
}
