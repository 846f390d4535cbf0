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

// in returns the options that hold in a folder, with what the human allowed of the project's .sidecoach. The error says
// why that is ignored.
func (o *hookOptions) in(ctx context.Context, projects *project.Projects, dir string) (*hookOptions, error) {
	n := o
	f, err := projects.Folder(ctx, dir)
	if err == nil {
		n, err = o.within(f)
	}
	if err != nil {
		n = o
		err = fmt.Errorf("the project's .sidecoach is ignored: %w; sidecoach allow shows what it would change", err)
	}
	if home, unknown := os.UserHomeDir(); unknown == nil {
		own, skipped := skills.FromFS(os.DirFS(home), skills.Folders()...)
		n.skills, n.skipped = append(n.skills, own...), append(n.skipped, skipped...)
	}
	return n, err
}

// within adds what a project's folder has. Its config.json has defaults of the flags. Trust in it covers neither the
// state nor a prompt, which are other folders.
func (o *hookOptions) within(f project.Folder) (*hookOptions, error) {
	n := newHookOptions(new(pflag.FlagSet))
	values := map[string]any{}
	var err error
	if config := f.Config(); config != nil {
		err = json.Unmarshal(config, &values)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if n.flags.Lookup(name) == nil || name == "state" || name == "prompt" {
			err = fmt.Errorf("unknown key %q", name)
		}
		if err == nil {
			err = n.flags.Set(name, fmt.Sprint(values[name]))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("config.json: %w", err)
	}
	o.flags.Visit(func(f *pflag.Flag) { _ = n.flags.Set(f.Name, f.Value.String()) }) // a command has others, too
	if templates := f.Part("coach"); templates != nil {
		n.coach, err = coach.New(coach.Config{Templates: templates})
	}
	if lexicon := f.Part("lexicon"); lexicon != nil && err == nil {
		n.phrases = []classify.Option{classify.Phrases(lexicon)}
		_, err = classify.NewHeuristic(n.phrases...)
	}
	n.skills, n.skipped = f.Skills()
	return n, err
}

func (o *hookOptions) registry() *skills.Registry {
	var all []skills.Detector
	for _, k := range o.skills {
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
