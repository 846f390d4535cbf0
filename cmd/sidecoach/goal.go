package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/autocontinue/project"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/coach"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
	"github.com/sidecoach/sidecoach/coach/verify/llmjudge"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
	"github.com/sidecoach/sidecoach/plancriteria"
	"github.com/sidecoach/sidecoach/skills"
)

type goalOptions struct {
	terminal
	state         string
	yes           bool
	checks, files []string
	goal          project.Goal
}

func newGoal(t terminal) *cobra.Command {
	o := goalOptions{terminal: t}
	goal := command("goal [flags]", nil, func(*cobra.Command, []string) error {
		return misuse("sidecoach goal set, sidecoach goal show, sidecoach goal clear", "goal needs a command")
	})
	bind(goal.PersistentFlags(), "state", &o.state)
	goal.AddCommand(
		command("set [PLAN.md] [--check COMMAND]... [--file PATH[=WORD]]... [flags]", cobra.MaximumNArgs(1), o.set,
			"check", &o.checks, "file", &o.files, "max-continues", &o.goal.Continues, "for", &o.goal.For,
			"project", &o.goal.Wide, "yes", &o.yes),
		command("show [flags]", cobra.NoArgs, o.showOrClear),
		command("clear [flags]", cobra.NoArgs, o.showOrClear, "yes", &o.yes))
	return goal
}

// showOrClear shows or clears, as the command says, the goal of the project in which it runs.
func (o *goalOptions) showOrClear(cmd *cobra.Command, _ []string) error {
	projects, _, err := openProject(o.state)
	if err != nil {
		return err
	}
	g, root, ok, err := projects.GoalAt(cmd.Context(), ".")
	switch {
	case err != nil:
		return err
	case !ok:
		return badInput("sidecoach goal set --help shows how to set one", "this project has no goal")
	case cmd.Name() == "clear":
		return o.save(cmd, projects, root, nil, "Clear the goal of "+visible(root)+"?", "cleared\n")
	}
	return o.tell(cmd.OutOrStdout(), goalTable(g, root))
}

func (o *goalOptions) save(cmd *cobra.Command, projects *project.Projects, root string, g *project.Goal, question,
	said string) error {
	if err := confirm(cmd, o.terminal, o.yes, question); err != nil {
		return err
	}
	if err := projects.SetGoal(cmd.Context(), root, g); err != nil {
		return err
	}
	return o.tell(cmd.OutOrStdout(), said)
}

func (o *goalOptions) set(cmd *cobra.Command, args []string) error {
	projects, root, err := openProject(o.state)
	if err != nil {
		return err
	}
	g := &o.goal
	g.Set = time.Now()
	g.Dir, _ = filepath.Abs(".") // it fails only where the current folder is gone
	if len(args) == 1 {
		g.Plan = args[0]
		if err := readGoal(g); err != nil {
			return err
		}
	}
	add := func(c plancriteria.Check) {
		g.Criteria = append(g.Criteria, verifier.Criterion{Text: c.String(), Checks: []plancriteria.Check{c}})
	}
	for _, line := range o.checks {
		if line == "" {
			return misuse("give it a command or leave it out", "--check is empty: is its variable set?")
		}
		add(plancriteria.Check{Command: line})
	}
	for _, file := range o.files {
		name, word, has := strings.Cut(file, "=")
		if !filepath.IsLocal(name) {
			return misuse("name a file in the current folder or below it", "--file cannot be %q", file)
		}
		check := plancriteria.Check{File: filepath.ToSlash(filepath.Clean(name))}
		if has {
			check.Words = []string{word}
		}
		add(check)
	}
	if err := g.Check(); err != nil {
		return misuse("sidecoach goal set --help shows how", "%v", err)
	}
	for i, c := range g.Criteria {
		g.Criteria[i].Text = masked(c.Text) // its command stays as it is, or it could not run
		for _, check := range c.Checks {
			if _, err := cmdwitness.Split(cmp.Or(check.Command, "none")); err != nil {
				return misuse("put the line into a script, and name the script", "%q cannot be run: %v", check.Command, err)
			}
		}
	}
	s, _ := newHookOptions(new(pflag.FlagSet)).inProject(cmd.Context(), projects, ".") // it may lack the folder
	for _, stage := range g.Stages {
		if _, ok := s.registry().Detect(skills.Query{Text: stage, Phase: stage}); !ok {
			for _, why := range s.skipped {
				complain(cmd.ErrOrStderr(), "sidecoach: skipped: "+why.Error())
			}
			return misuse("name a skill's trigger or phase; sidecoach allow adds the project's skills",
				"%s: the stage %q is not the trigger or phase of a skill", g.Plan, stage)
		}
	}
	o.tell(cmd.OutOrStdout(), goalTable(*g, root))
	said := "set; it binds to the next session that you start here\n"
	if g.Wide {
		said = "set, for all sessions here\n"
	}
	return o.save(cmd, projects, root, g, "Set this goal? Its commands will run at each pause of the agent.", said)
}

func readGoal(g *project.Goal) error {
	text, err := os.ReadFile(g.Plan)
	if err == nil {
		g.Stages, err = plancriteria.Stages(text)
	}
	var criteria plancriteria.Criteria
	if err == nil {
		criteria, err = plancriteria.Extract(text)
	}
	g.Criteria = verifier.Criteria(criteria)
	switch {
	case errors.Is(err, plancriteria.ErrNoSection) && len(g.Stages) > 0:
		return nil
	case err == nil && len(g.Criteria) == 0:
		err = errors.New("the success criteria are not a list")
	}
	if err != nil {
		return badInput(`a plan is Markdown with a list in a section "Success Criteria"; or give --check and --file`,
			"%s: %s", g.Plan, strings.TrimPrefix(cause(err).Error(), "plancriteria: "))
	}
	return nil
}

// goalTable is a goal as a table: each criterion, how it is checked, whether it is met, and since when.
func goalTable(g project.Goal, root string) string {
	return view("goal", map[string]any{"Goal": g, "Root": root})
}

// openProject returns the folder of the project in which the command runs, and what is remembered of projects.
func openProject(state string) (projects *project.Projects, root string, err error) {
	k, err := keeperOptions{state: state}.open(filestore.Options{}, os.Stderr)
	if err == nil {
		root, err = project.Root(".")
	}
	if err != nil {
		return nil, "", err
	}
	return project.Open(k.store, "", time.Now), root, nil
}

// confirm asks the human. It refuses where an agent runs the command.
func confirm(cmd *cobra.Command, t terminal, yes bool, question string) error {
	if agent := project.AgentIn(os.Getenv); agent != "" {
		return misuse("run it yourself, in a terminal of yours", "%s runs this command, and only the human may", agent)
	}
	switch {
	case yes:
		return nil
	case !t.keyboard:
		return misuse("run it in a terminal, or add --yes", "nobody is there to confirm it")
	case !ask(cmd, question):
		return badInput("answer y to go on", "nothing was changed")
	}
	return nil
}

// ask reports whether the human says yes. It is called while an interrupt still ends the program.
func ask(cmd *cobra.Command, question string) bool {
	fmt.Fprint(cmd.ErrOrStderr(), question+" [y/N] ")
	line, err := bufio.NewReader(io.LimitReader(cmd.InOrStdin(), 1024)).ReadString('\n')
	if err != nil {
		fmt.Fprintln(cmd.ErrOrStderr())
	}
	word := strings.ToLower(strings.TrimSpace(line))
	return word == "y" || word == "yes"
}

// inProject returns the options that hold in a folder: these, with what the human allowed of the project's .sidecoach.
// The error says why that is ignored.
func (o *hookOptions) inProject(ctx context.Context, projects *project.Projects, dir string) (*hookOptions, error) {
	n := o
	f, err := projects.Folder(ctx, dir)
	if err == nil {
		n, err = o.withFolder(f)
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

// withFolder adds what a project's .sidecoach has. Its config.json has defaults of the flags. Trust in it covers neither
// the state nor a prompt, which are other folders.
func (o *hookOptions) withFolder(f project.Folder) (*hookOptions, error) {
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

// addGoal makes the goal of the session, if it has one, part of what decides.
func (o *hookOptions) addGoal(
	ctx context.Context, h hook.Host, projects *project.Projects, k *keeper, p *hook.Pause, cfg *autocontinue.Config,
) error {
	g, root, ok, err := projects.Goal(ctx, p.Output.Session, folderOf(p.Began))
	if err != nil || !ok {
		return err
	}
	goal := verifier.Goal{Dir: g.Dir, Criteria: g.Criteria, Timeout: (verifySeconds - 60) * time.Second,
		Limit: g.Limit(time.Now()), Next: cfg.Verifier}
	if o.judging.asks() {
		// It sees what changed since the session began.
		goal.Judge = func(ctx context.Context, out autocontinue.Output, open []string) ([]verify.RequirementCheck, error) {
			asked, err := o.judging.config()
			if err != nil {
				return nil, err
			}
			client, err := llm.NewClient(asked)
			if err != nil {
				return nil, err
			}
			judge, err := llmjudge.New(client)
			if err != nil {
				return nil, err
			}
			work := llmjudge.Work{Task: out.Request, Report: out.Text}
			git := &gitwitness.Witness{Dir: g.Dir, Base: verifier.Recall(k.dir, out.Session).First}
			defer git.Close()
			if work.Diff, work.Whole, err = git.Diff(ctx, "", 60_000); err != nil {
				work.Whole = false // then nothing is met
			}
			return judge.Criteria(ctx, open, work)
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
			return badInput("put a file into the folder .sidecoach of your project", "%s", strings.TrimPrefix(err.Error(), "project: "))
		}
		s, err := newHookOptions(new(pflag.FlagSet)).withFolder(f)
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
