package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/skills"
)

type options struct {
	request        string
	phase, print   choice
	plan           string
	failed         bool
	session, turn  string
	keeper         keeperOptions
	policy         policyFlags
	judging        judging
	json, exitCode bool
}

func newDecide(t terminal) *cobra.Command {
	o := options{print: choice{allowed: []string{"message"}}}
	for _, d := range skills.Builtin() {
		o.phase.allowed = append(o.phase.allowed, d.(skills.Skill).Phase)
	}
	cmd := &cobra.Command{
		Use:                        "sidecoach [flags] [FILE]",
		Version:                    version(),
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 1,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] != "" && !exists(args[0]) {
				if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
					return misuse("did you mean sidecoach "+near[0]+"?", "no such file or command: %q", args[0])
				}
			}
			return cobra.MaximumNArgs(1)(cmd, args)
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault), // a file
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args, t) },
	}
	f := cmd.Flags()
	bind(f, "request", &o.request, "phase", &o.phase, "plan", &o.plan, "failed", &o.failed, "session", &o.session,
		"turn", &o.turn)
	o.policy.register(f)
	o.judging.register(f)
	bind(f, "json", &o.json, "print", &o.print, "exit-code", &o.exitCode)
	o.keeper.register(f)
	bind(f, "version", new(bool))
	// sidecoach help judge has what tunes a judge, and sidecoach hook --help where and how decisions are kept.
	const shown = "request phase plan failed session turn max-continues threshold judge json print exit-code version"
	f.VisitAll(func(f *pflag.Flag) { f.Hidden = !slices.Contains(strings.Fields(shown), f.Name) })
	cmd.MarkFlagsMutuallyExclusive("json", "print")
	cmd.SetVersionTemplate("{{.Name}} version {{.Version}}")
	cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 80 "))
	return cmd
}

// run decides about the output that args names and prints the decision. It checks the command line before it reads the
// input, which may be a pipe that nobody can fill again.
func (o *options) run(cmd *cobra.Command, args []string, t terminal) error {
	for _, name := range []string{"turn", "state", "keep-text"} {
		if flag := cmd.Flags().Lookup(name); o.session == "" && flag.Value.String() != flag.DefValue {
			return misuse("add --session ID", "--%s means nothing without a session", name)
		}
	}
	if err := notEmpty(cmd, "session"); err != nil {
		return err
	}
	cfg := autocontinue.Config{Policy: o.policy.policy(), Secrets: ownSecrets()}
	out := autocontinue.Output{Request: o.request, Phase: o.phase.value, Failed: o.failed}
	if o.plan != "" {
		tree, plan, err := openPlan(".", o.plan)
		if err != nil {
			return err
		}
		defer tree.Close()
		cfg.Plans, out.PlanFile = tree.FS(), plan
	}
	var k *keeper
	var err error
	if o.session != "" {
		if k, err = o.keeper.open(filestore.Options{Host: shellHost}, cmd.ErrOrStderr()); err != nil {
			return err
		}
		out.Session, out.Turn, k.session = o.session, o.turn, o.session
	}
	if cfg.Classifier, err = o.judging.classifier(); err != nil {
		return err
	}
	if out.Text, err = readOutput(args, cmd.InOrStdin(), t.keyboard); err != nil {
		return err
	}
	if k == nil { // nobody remembers this session; the same call gets the same decision ID
		input := fmt.Appendf(nil, "%q", []string{out.Text, out.Request, out.Phase, out.PlanFile})
		out.Session = fmt.Sprintf("command line %x", sha256.Sum256(input))
	} else { // an update sets aside a state that cannot be read; Handle reports any other error
		cfg.Store, cfg.Observer = k.store, k.observer()
		_ = k.store.Update(cmd.Context(), out.Session, func(s autocontinue.State) (autocontinue.State, error) {
			if !k.lost {
				return s, context.Canceled // change nothing
			}
			s.HandedOver = true
			return s, nil
		})
		if k.lost {
			out.Hold = "state lost, so nobody knows how often this turn was continued" // as a hook says it
		}
	}
	ac, err := autocontinue.New(cfg)
	if err != nil {
		return err
	}
	d, err := ac.Handle(cmd.Context(), out)
	if err != nil {
		return err
	}
	stdout := cmd.OutOrStdout()
	switch {
	case o.json:
		err = writeJSON(stdout, d)
	case o.print.value != "message":
		err = t.tell(stdout, render(d, plaintext.Redact(out.Text, cfg.Secrets...)))
	case d.Action == autocontinue.Continue:
		fmt.Fprintln(stdout, d.Message)
	}
	exits := map[autocontinue.Action]int{autocontinue.Continue: exitContinue, autocontinue.Suppress: exitSuppress}
	if err == nil && o.exitCode {
		err = exit(exits[d.Action])
	}
	return err
}

const shellHost = "shell"

const (
	maxRows  = 8  // signals shown
	maxQuote = 60 // characters of the agent's words in one row
)

// render writes a decision for a person: one line with the action and why, the agent's words that led to it, and the
// message to the agent or the note for the human.
func render(d autocontinue.Decision, text string) string {
	rows, more := signals(d.Result, text)
	return view("decision", map[string]any{"Decision": d, "Signals": rows, "More": more})
}

// verdictInWords is the type of the output, "" if nobody read it.
func verdictInWords(d autocontinue.Decision) string {
	switch {
	case d.Result.WasRejectedCompletion:
		return "rejected completion"
	case d.Reason == "empty":
		return "empty output"
	}
	return string(d.Result.Type)
}

// headline is "continue · rejected completion · tier rejection · 0.91". Nothing in it reaches the terminal unescaped: a
// journal may hold anything.
func headline(d autocontinue.Decision) string {
	verdict := visible(verdictInWords(d))
	colour := cmp.Or(map[autocontinue.Action]style{autocontinue.Continue: cyan, autocontinue.Suppress: dim}[d.Action],
		map[autocontinue.Outcome]style{"completed": green, "failed": red}[d.Outcome],
		yellow)
	parts := []string{paint(colour, d.Action.String())}
	if verdict != "" {
		parts = append(parts, paint(bold, verdict))
	}
	if d.Tier != "" {
		parts = append(parts, "tier "+visible(string(d.Tier)))
	} else if reason := words(string(d.Reason)); reason != verdict {
		parts = append(parts, visible(reason))
	}
	if d.Attempt > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", d.Attempt))
	}
	if verdict != "" {
		parts = append(parts, fmt.Sprintf("%.2f", d.Result.Confidence))
	}
	return strings.Join(parts, paint(dim, " · "))
}

// signals returns the strongest signals, in the order in which they stand in the text, and how many more there are.
func signals(r classify.Result, text string) (rows []string, more int) {
	shown := slices.DeleteFunc(slices.Clone(r.Signals), func(s classify.Signal) bool {
		return s.Start < 0 || s.End > len(text) || s.Start >= s.End // another classifier's may be wrong
	})
	total := len(shown) + r.SignalsDropped
	slices.SortStableFunc(shown, func(a, b classify.Signal) int { return cmp.Compare(b.Weight, a.Weight) })
	shown = shown[:min(len(shown), maxRows)]
	slices.SortStableFunc(shown, func(a, b classify.Signal) int { return cmp.Compare(a.Start, b.Start) })
	for _, s := range shown {
		rows = append(rows, fmt.Sprintf("%s\t%-5s %s", visible(string(s.Kind)), position(text, s.Start),
			quote(text[s.Start:s.End], maxQuote)))
	}
	return rows, total - len(shown)
}

// position is line and column of a byte offset, both from 1. The column is in characters, as an editor counts them.
func position(text string, offset int) string {
	before := strings.TrimPrefix(text[:offset], "\ufeff")
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("%d:%d", 1+strings.Count(before, "\n"), 1+column)
}

// evidenceInWords is "test output, PR link". If all kinds are missing, any of them will do: "one of …".
func evidenceInWords(kinds []classify.EvidenceKind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, strings.Replace(words(string(k)), "pull request", "PR link", 1))
	}
	text := strings.Join(names, ", ")
	if len(kinds) >= 4 {
		text = "one of " + text
	}
	return text
}
