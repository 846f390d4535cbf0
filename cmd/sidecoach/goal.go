package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/autocontinue/project"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
	"github.com/sidecoach/sidecoach/plancriteria"
	"github.com/sidecoach/sidecoach/skills"
)

// goalOptions are the flags of goal.
type goalOptions struct {
	state     string
	yes       bool
	checks    []string
	files     []string
	continues int
	time      time.Duration
	wide      bool
}

func newGoal(t terminal) *cobra.Command {
	var o goalOptions
	cmd := &cobra.Command{
		Use:  "goal",
		Args: atMost(0, ""),
		RunE: func(*cobra.Command, []string) error {
			return misuse("sidecoach goal set, sidecoach goal show, sidecoach goal clear", "goal needs a command")
		},
	}
	show := &cobra.Command{
		Use:  "show",
		Args: atMost(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, g, root, err := o.current(cmd)
			if err != nil {
				return err
			}
			return t.tell(cmd.OutOrStdout(), goalTable(g, root))
		},
	}
	forget := &cobra.Command{
		Use:  "clear",
		Args: atMost(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			projects, _, root, err := o.current(cmd)
			if err == nil {
				err = confirm(cmd, t, o.yes, "Clear the goal of "+visible(root)+"?")
			}
			if err == nil {
				err = projects.SetGoal(cmd.Context(), root, nil)
			}
			if err != nil {
				return err
			}
			return t.tell(cmd.OutOrStdout(), "cleared\n")
		},
	}
	set := o.setCommand(t)
	for _, c := range []*cobra.Command{set, forget} {
		registerYes(c, &o.yes)
	}
	registerState(cmd.PersistentFlags(), &o.state)
	cmd.AddCommand(set, show, forget)
	return cmd
}

func (o *goalOptions) setCommand(t terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:  "set [PLAN.md] [--check COMMAND]... [--file PATH[=WORD]]...",
		Args: atMost(1, ""),
		RunE: func(cmd *cobra.Command, args []string) error { return o.set(cmd, t, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.checks, "check", nil, "a criterion: `COMMAND` exits with 0")
	f.StringArrayVar(&o.files, "file", nil, "a criterion: the file `PATH` exists; with PATH=WORD it has this word")
	f.IntVar(&o.continues, "max-continues", 0, "continue a turn up to `N` times for the goal, at most 100")
	f.DurationVar(&o.time, "for", 0, "continue nothing for the goal this `TIME` after its session began, as in 2h")
	f.BoolVar(&o.wide, "project", false, "bind the goal to all sessions in the project")
	return cmd
}

// current returns the goal of the project in which the command runs, and the project's folder.
func (o *goalOptions) current(cmd *cobra.Command) (*project.Projects, project.Goal, string, error) {
	projects, err := openProjects(o.state)
	if err != nil {
		return nil, project.Goal{}, "", err
	}
	g, root, ok, err := projects.GoalAt(cmd.Context(), ".")
	if err == nil && !ok {
		err = badInput("sidecoach goal set --help shows how to set one", "this project has no goal")
	}
	return projects, g, root, err
}

// set sets the goal.
func (o *goalOptions) set(cmd *cobra.Command, t terminal, args []string) error {
	projects, err := openProjects(o.state)
	if err != nil {
		return err
	}
	g := project.Goal{Set: time.Now(), Continues: o.continues, For: o.time, Wide: o.wide}
	if g.Dir, err = filepath.Abs("."); err != nil {
		return err
	}
	if len(args) == 1 {
		g.Plan = args[0]
		if err := readGoal(&g); err != nil {
			return err
		}
	}
	for _, line := range o.checks {
		g.Criteria = append(g.Criteria, criterion(plancriteria.Check{Command: line}))
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
		g.Criteria = append(g.Criteria, criterion(check))
	}
	if err := g.Check(); err != nil {
		return misuse("sidecoach goal set --help shows how", "%v", err)
	}
	if err := o.usable(cmd, g, projects); err != nil {
		return err
	}
	root, err := project.Root(".")
	if err == nil {
		err = t.tell(cmd.OutOrStdout(), goalTable(g, root))
	}
	if err == nil {
		err = confirm(cmd, t, o.yes, "Set this goal? Its commands will run at each pause of the agent.")
	}
	if err == nil {
		err = projects.SetGoal(cmd.Context(), root, &g)
	}
	if err != nil {
		return err
	}
	next := "set; it binds to the next session that you start here\n"
	if g.Wide {
		next = "set, for all sessions here\n"
	}
	return t.tell(cmd.OutOrStdout(), next)
}

// usable returns what is wrong with the commands and the stages of a goal.
func (o *goalOptions) usable(cmd *cobra.Command, g project.Goal, projects *project.Projects) error {
	for _, c := range g.Criteria {
		for _, check := range c.Checks {
			if _, err := cmdwitness.Split(cmp.Or(check.Command, "none")); err != nil {
				return misuse("put the line into a script, and name the script", "%q cannot be run: %v", check.Command, err)
			}
		}
	}
	hook := newHookOptions()
	hook.register(&cobra.Command{})
	s, _ := hook.in(cmd.Context(), projects, ".") // without the folder there are other skills
	for _, stage := range g.Stages {
		if _, ok := s.registry().Detect(skills.Query{Text: stage, Phase: stage}); !ok {
			for _, why := range s.skipped {
				complain(cmd.ErrOrStderr(), "sidecoach: skipped: "+why.Error())
			}
			return misuse("name a skill's trigger or phase; sidecoach allow adds the project's skills",
				"%s: the stage %q is not the trigger or phase of a skill", g.Plan, stage)
		}
	}
	return nil
}

func criterion(c plancriteria.Check) verifier.Criterion {
	return verifier.Criterion{Text: c.String(), Checks: []plancriteria.Check{c}}
}

// readGoal reads the criteria and the stages of a goal's plan.
func readGoal(g *project.Goal) error {
	const hint = `a plan is Markdown with a section "Success Criteria"`
	text, err := os.ReadFile(g.Plan)
	if err != nil {
		return badInput(hint, "cannot read the plan %q: %v", g.Plan, cause(err))
	}
	if g.Stages, err = plancriteria.Stages(text); err != nil {
		return badInput(hint, "%s: %s", g.Plan, strings.TrimPrefix(err.Error(), "plancriteria: "))
	}
	criteria, err := plancriteria.Extract(text)
	if err != nil && !(errors.Is(err, plancriteria.ErrNoSection) && len(g.Stages) > 0) {
		return badInput(hint, "%s: %s", g.Plan, strings.TrimPrefix(err.Error(), "plancriteria: "))
	}
	g.Criteria = verifier.Criteria(criteria)
	if err == nil && len(g.Criteria) == 0 {
		return badInput("write each criterion as an item of a list", "%s: the success criteria are not a list", g.Plan)
	}
	return nil
}

// goalTable is a goal as a table: each criterion, how it is checked, whether it is met, and since when.
func goalTable(g project.Goal, root string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "goal of %s", visible(root))
	if g.Plan != "" {
		fmt.Fprintf(&b, ", from %s", visible(g.Plan))
	}
	b.WriteString("\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, c := range g.Criteria {
		status, since := "-", ""
		if !c.Since.IsZero() {
			status, since = words(c.Status.String()), c.Since.Local().Format("Jan _2 15:04")
		}
		how := "a judge, or you"
		for i, check := range c.Checks {
			how = strings.Repeat(how+"; ", min(i, 1)) + check.String()
		}
		if how == c.Text {
			how = "" // it comes from a flag
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", status, since, plaintext.Line(c.Text, 60), plaintext.Line(how, 80))
		if c.Saw != "" {
			fmt.Fprintf(w, "  \t\t\tseen: %s\n", plaintext.Line(c.Saw, 100))
		}
	}
	w.Flush() // a strings.Builder never fails
	for i, stage := range g.Stages {
		mark := ""
		if i == g.Stage {
			mark = "  <- now"
		}
		fmt.Fprintf(&b, "  stage %d of %d: %s%s\n", i+1, len(g.Stages), visible(stage), mark)
	}
	if g.Continues > 0 {
		fmt.Fprintf(&b, "  at most %d continues a turn\n", g.Continues)
	}
	if g.For > 0 {
		fmt.Fprintf(&b, "  for %v after its session begins\n", g.For)
	}
	switch {
	case !g.Ended.IsZero():
		fmt.Fprintf(&b, "  reached %s\n", g.Ended.Local().Format(logTime))
	case g.Limit(time.Now()) != "":
		fmt.Fprintf(&b, "  %s\n", g.Limit(time.Now()))
	case g.Wide:
		b.WriteString("  for all sessions of the project\n")
	case g.Session != "":
		fmt.Fprintf(&b, "  session %s, since %s\n", visible(g.Session), g.Begun.Local().Format(logTime))
	}
	return b.String()
}

// openProjects opens what is kept of projects in a state folder.
func openProjects(state string) (*project.Projects, error) {
	k, err := keeperOptions{state: state}.open(filestore.Options{}, os.Stderr)
	if err != nil {
		return nil, err
	}
	return project.Open(k.store, "", time.Now), nil
}

func registerYes(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVar(yes, "yes", false, "do not ask for confirmation")
}

// confirm asks the human. It refuses where an agent runs the command.
func confirm(cmd *cobra.Command, t terminal, yes bool, question string) error {
	if agent := project.AgentIn(os.Getenv); agent != "" {
		return misuse("run it yourself, in a terminal of yours", "%s runs this command, and only the human may", agent)
	}
	if yes {
		return nil
	}
	if !t.keyboard {
		return misuse("run it in a terminal, or add --yes", "nobody is there to confirm it")
	}
	if !ask(cmd, question) {
		return badInput("answer y to go on", "nothing was changed")
	}
	return nil
}

// ask reports whether the human says yes.
func ask(cmd *cobra.Command, question string) bool {
	fmt.Fprint(cmd.ErrOrStderr(), question+" [y/N] ")
	answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	return err == nil && slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer)))
}
