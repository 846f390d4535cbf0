package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/skills"
)

// options are the flags of the command without a name.
type options struct {
	request   string
	phase     choice
	plan      string
	threshold threshold
	session   string
	turn      string
	keeper    keeperOptions
	continues int
	most      mostContinues
	failed    bool
	json      bool
	print     choice
	exitCode  bool
	judging   judging
}

func newDecide(t terminal) *cobra.Command {
	o := options{
		phase:     choice{allowed: phases()},
		threshold: classify.DefaultThreshold,
		most:      autocontinue.DefaultMaxContinues,
		print:     choice{allowed: []string{"message"}},
	}
	cmd := &cobra.Command{
		Use:   "sidecoach [flags] [FILE]",
		Short: "Side-coaching for coding agents",
		Long: `sidecoach reads what a coding agent printed last when it paused, from FILE or
a pipe, and prints one decision: deliver it to the human, or continue, with the
exact message to send to the agent.

Each call judges one output alone and remembers nothing. A loop around it has
to count: with --continues 3 the output goes to the human.

With --session the calls that name the same one remember: a turn is continued
at most three times, the same gap is coached twice and then goes to the human,
and once a turn is the human's it stays so. A new --turn begins another. Each
decision goes into the journal, which sidecoach log shows. sidecoach hook does
the same inside Claude Code, Codex and other agents, with no loop to write.

Exit status: 0 a decision was printed, 1 bad input or a failure, 64 wrong
usage. With --exit-code a decision to continue is 10, to suppress 11 (never
from a single call), to deliver 0. It is never 2.`,
		Example: `  some-agent | sidecoach
  sidecoach --request "Fix the login redirect" --plan docs/plan.md output.txt
  sidecoach --json output.txt
  message="Fix the login redirect" turn=$(date +%s)
  while [ -n "$message" ]; do
    some-agent "$message" >out.txt && failed= || failed=--failed
    message=$(sidecoach --session "$PWD" --turn "$turn" $failed \
      --print message out.txt)
  done; cat out.txt`,
		Version:                    version(),
		SilenceErrors:              true,
		SilenceUsage:               true,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true}, // ours is completion.go
		SuggestionsMinimumDistance: 1,
		Args: func(cmd *cobra.Command, args []string) error {
			if near := misspelt(cmd, args); near != "" {
				return misuse("did you mean sidecoach "+near+"?", "no such file or command: %q", args[0])
			}
			if len(args) > 1 {
				return misuse(`one decision a call: for f in *.txt; do sidecoach "$f"; done`, "one FILE at a time, not %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args, t) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.request, "request", "", "the human's `TEXT` that the agent is working on; helps to tell an answer from a report")
	f.Var(&o.phase, "phase", "phase of the work: "+strings.Join(o.phase.allowed, ", "))
	f.StringVar(&o.plan, "plan", "", "Markdown `FILE` with the success criteria, in the working tree")
	f.Var(&o.threshold, "threshold", "a status less certain than this, 0 to 1, goes to the human; 0 switches the rule off")
	f.StringVar(&o.session, "session", "", "the conversation is `ID`: remember what was decided in it")
	f.StringVar(&o.turn, "turn", "", "with --session, `ID` of the human's message that the agent works on; empty is the turn before")
	o.keeper.register(f)
	f.IntVar(&o.continues, "continues", 0, "the agent was continued `N` times since the human spoke")
	f.Var(&o.most, "max-continues", "once it was continued `N` times the human is next; 0 continues nothing")
	f.BoolVar(&o.failed, "failed", false, "the agent's run failed or was cut off: it is never sent on")
	f.BoolVar(&o.json, "json", false, "print the decision as one JSON object")
	f.Var(&o.print, "print", "print one `PART` only, message: what to send to the agent, nothing unless it is to continue")
	f.BoolVar(&o.exitCode, "exit-code", false, "tell the decision by the exit status as well")
	o.judging.register(f)
	f.Bool("version", false, "print version and revision of this program")
	cmd.SetFlagErrorFunc(flagError)
	cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 80 "))
	complete := func(flag string, values []string) {
		if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // the flag is declared above
		}
	}
	complete("request", nil)
	complete("phase", o.phase.allowed)
	complete("threshold", nil)
	complete("session", nil)
	complete("turn", nil)
	complete("continues", nil)
	complete("max-continues", nil)
	complete("print", o.print.allowed)
	if err := cmd.MarkFlagFilename("plan", "md", "markdown"); err != nil {
		panic(err)
	}
	if err := cmd.MarkFlagDirname("state"); err != nil {
		panic(err)
	}
	return cmd
}

// misspelt returns the command that args were probably meant to begin with, "" where they begin with a file.
func misspelt(cmd *cobra.Command, args []string) string {
	if len(args) == 0 || args[0] == "" {
		return ""
	}
	if _, err := os.Stat(args[0]); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return near[0]
	}
	return ""
}

// run decides about the output that args names and prints the decision. What can be wrong with the command line is found
// before the input is read, which may be a pipe that nobody can fill again.
func (o *options) run(cmd *cobra.Command, args []string, t terminal) error {
	if o.continues < 0 {
		return misuse("give how often the agent was continued, 0 or more", "--continues cannot be %d", o.continues)
	}
	if o.json && o.print.value != "" {
		return misuse("leave one of them out", "--json and --print exclude each other")
	}
	if err := o.checkSession(cmd); err != nil {
		return err
	}
	cfg := autocontinue.Config{Policy: autocontinue.Policy{MaxContinues: o.most.policy(), MinConfidence: o.threshold.policy()}}
	out := autocontinue.Output{Request: o.request, Phase: o.phase.value, Continues: o.continues, Failed: o.failed}
	if o.plan != "" {
		tree, plan, err := openPlan(".", o.plan)
		if err != nil {
			return err
		}
		defer tree.Close()
		cfg.Plans, out.PlanFile = tree.FS(), plan
	}
	var k *keeper
	if o.session != "" {
		var err error
		if k, err = o.keeper.open(filestore.Options{Host: shellHost}, cmd.ErrOrStderr()); err != nil {
			return err
		}
		out.Session, out.Turn, k.session = o.session, o.turn, o.session
	}
	var err error
	if cfg.Classifier, err = o.judging.classifier(cmd.Context(), k); err != nil {
		return err
	}
	if out.Text, err = readOutput(args, cmd.InOrStdin(), t.keyboard); err != nil {
		return err
	}
	var d autocontinue.Decision
	if k != nil {
		d, err = k.decide(cmd.Context(), cfg, out)
	} else {
		out.Session = sessionOf(out)
		d, err = decide(cmd.Context(), cfg, out)
	}
	if err != nil {
		return err
	}
	page, err := o.render(d, out.Text, t)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(cmd.OutOrStdout(), page); err != nil {
		return err
	}
	if o.exitCode {
		return exitFor(d.Action)
	}
	return nil
}

// checkSession returns what is wrong with the flags of a session. An empty session is an error, not none: a script whose
// variable is unset would lose its guards without a word.
func (o *options) checkSession(cmd *cobra.Command) error {
	f := cmd.Flags()
	if f.Changed("session") && o.session == "" {
		return misuse("give the conversation a name; leave --session out to judge one output alone", "--session is empty: is its variable set?")
	}
	for _, name := range []string{"turn", "state", "keep-text"} {
		if flag := f.Lookup(name); o.session == "" && flag.Value.String() != flag.DefValue {
			return misuse("add --session ID", "--%s means nothing without a session", name)
		}
	}
	return nil
}

// shellHost is the host of sessions that the command line names.
const shellHost = "shell"

// sessionOf names the session of a single call after what it is asked, so that the same call gives the same decision, its ID
// included, from a file as from a pipe, and another output another ID.
func sessionOf(out autocontinue.Output) string {
	h := sha256.New()
	for _, part := range []string{out.Text, out.Request, out.Phase, out.PlanFile} {
		fmt.Fprintf(h, "%d ", len(part)) // a digest never fails
		io.WriteString(h, part)
	}
	return fmt.Sprintf("command line %x", h.Sum(nil))
}

// decide asks the library once. Without a store in cfg one call is one session that nobody remembers: nothing repeats and
// nothing is capped.
func decide(ctx context.Context, cfg autocontinue.Config, out autocontinue.Output) (autocontinue.Decision, error) {
	ac, err := autocontinue.New(cfg)
	if err != nil {
		return autocontinue.Decision{}, err
	}
	return ac.Handle(ctx, out)
}

// render returns the decision in the form that was asked for.
func (o *options) render(d autocontinue.Decision, text string, t terminal) (string, error) {
	switch {
	case o.json:
		return renderJSON(d)
	case o.print.value == "message":
		return renderMessage(d), nil
	}
	return render(d, text, t), nil
}

func exitFor(a autocontinue.Action) error {
	switch a {
	case autocontinue.Continue:
		return exit(exitContinue)
	case autocontinue.Suppress:
		return exit(exitSuppress)
	}
	return nil
}

// phases returns the phases of the built-in skills, in their order.
func phases() []string {
	var names []string
	for _, d := range skills.Builtin() {
		if s, ok := d.(skills.Skill); ok && s.Phase != "" && !slices.Contains(names, s.Phase) {
			names = append(names, s.Phase)
		}
	}
	return names
}
