// Command sidecoach reads what a coding agent printed when it paused and prints one decision: show it to the human, or
// continue the agent with this message.
//
// It holds flags, files, the terminal and the wiring. The packages that it calls make every judgement. Each command has
// a file; status is with log, allow with goal, prompt with the flags, and the command without a name is here. The help
// is in the folder help, and the texts of tables are in views.txt.
//
// # Cost
//
// A stop hook takes a median of less than 25 ms on two cores from start to end, when it has nothing to wait for.
// Measure it on your machine, in each language:
//
//	go test ./cmd/sidecoach -run '^$' -bench Process
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/skills"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a reader that went away is a failed write, not a death
	if !slices.Contains(os.Args, "replay") && !slices.Contains(os.Args, "eval") {
		debug.SetGCPercent(400) // a host or a person waits for the others, which use little memory
		debug.SetMemoryLimit(128 << 20)
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program: it executes args and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	defer func() {
		if p := recover(); p != nil { // it would exit with 2, which hosts of agents read as "block"
			fmt.Fprintf(stderr, "sidecoach: internal error: %v\n"+
				"hint: please report this, with the lines below\n%s", p, debug.Stack())
			status = exitFailure
		}
	}()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	out := &sink{w: stdout, stop: stop}
	t := detect(stdin, stdout)
	cmd := newDecide(t)
	cmd.AddCommand(newAllow(t), newEval(), newGoal(t), newHook(t), newLog(t), newPrompt(), newReplay(t),
		newStatus(t), newVerify(t))
	document(cmd)
	cmd.AddCommand(topics()...)
	cmd.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	cmd.SetIn(stdin)
	cmd.SetOut(out)
	cmd.SetErr(stderr)
	ran, err := cmd.ExecuteContextC(ctx)
	switch {
	case errors.Is(out.err, syscall.EPIPE), errors.Is(out.err, io.ErrClosedPipe), errors.Is(out.err, fs.ErrClosed):
		err = exit(exitFailure) // the reader has gone, as head does
	case out.err != nil:
		err = badInput("check where standard output goes: a full disk?", "cannot write: %v", cause(out.err))
	}
	status = report(stderr, ran, err)
	if _, ok := ran.Annotations[underHost]; ok && status != 0 {
		return exitFailure
	}
	return status
}

// sink remembers the first error of a writer, and then stops the command. So nobody else has to check it.
type sink struct {
	w    io.Writer
	stop context.CancelFunc
	err  error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err == nil {
		if _, s.err = s.w.Write(p); s.err != nil {
			s.stop()
		}
	}
	return len(p), s.err
}

// The exit statuses. There is no 2: hosts of agents read it as "block the agent".
const (
	exitDone       = 0
	exitFailure    = 1
	exitContinue   = 10 // with --exit-code: the agent goes on, by a message or with the feedback of verify
	exitUnmet      = 10 // of eval: a requirement on the figures is not met
	exitSuppress   = 11 // with --exit-code
	exitUnverified = 12 // of verify with --exit-code
	exitUsage      = 64
)

type failure struct {
	status int
	what   string // "" is not printed
	hint   string
}

func (f *failure) Error() string { return f.what }

// exit ends the program with a status, which may be 0, and prints nothing.
func exit(status int) error { return &failure{status: status} }

// badInput is about an input, a file or the machine, and misuse about the command line. The hint says what to do.
func badInput(hint, format string, args ...any) error {
	return &failure{exitFailure, fmt.Sprintf(format, args...), hint}
}

func misuse(hint, format string, args ...any) error {
	return &failure{exitUsage, fmt.Sprintf(format, args...), hint}
}

// report prints err and returns the exit status. An error that is not ours is cobra's, about the command line.
func report(w io.Writer, cmd *cobra.Command, err error) int {
	f, ok := errors.AsType[*failure](err)
	switch {
	case err == nil:
		return exitDone
	case !ok:
		f = &failure{exitUsage, err.Error(), cmd.CommandPath() + " --help shows how it is used"}
	case f.what == "":
		return f.status
	}
	complain(w, "sidecoach: "+f.what)
	complain(w, "hint: "+f.hint)
	return f.status
}

// complain writes a line to standard error, without secrets, wrapped where that is a terminal.
func complain(w io.Writer, line string) {
	for _, part := range wrap(visible(line), widthOf(w)) {
		fmt.Fprintf(w, "%s\n", part)
	}
}

// cause returns what the system said, without the name of the call and of the file.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

type decideFlags struct {
	request        string
	phase, print   choice
	plan           string
	failed         bool
	session, turn  string
	keeper         keeperOptions
	policy         policyFlags
	judging        judgeFlags
	json, exitCode bool
}

func newDecide(t terminal) *cobra.Command {
	o := decideFlags{print: choice{allowed: []string{"message"}}}
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
	bind(f, "json", &o.json, "print", &o.print, "exit-code", &o.exitCode, "state", &o.keeper.state,
		"keep-text", &o.keeper.keepText, "version", new(bool))
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
func (o *decideFlags) run(cmd *cobra.Command, args []string, t terminal) error {
	for _, name := range []string{"turn", "state", "keep-text"} {
		if flag := cmd.Flags().Lookup(name); o.session == "" && flag.Value.String() != flag.DefValue {
			return misuse("add --session ID", "--%s means nothing without a session", name)
		}
	}
	if err := notEmpty(cmd, "session", "judge-command"); err != nil {
		return err
	}
	cfg := autocontinue.Config{Policy: o.policy.policy(), Secrets: ownSecrets()}
	out := autocontinue.Output{Request: o.request, Phase: o.phase.value, Failed: o.failed}
	var err error
	if cfg.Plans, out.PlanFile, err = openPlan(".", o.plan); err != nil {
		return err
	}
	var k *keeper
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

// maxInput bounds what is read, in bytes: an agent's last message is far smaller, a runaway log is not.
const maxInput = 64 << 20

// readOutput returns the agent's output: the file that args names, or stdin if args is empty or names "-". With
// keyboard, stdin is a terminal, and an output must be named.
func readOutput(args []string, stdin io.Reader, keyboard bool) (string, error) {
	switch {
	case len(args) == 0 && keyboard:
		return "", misuse("pipe in what the agent printed last, some-agent | sidecoach, "+
			"or name a file with it, sidecoach output.txt", "no input: nothing is piped in and no FILE is named")
	case len(args) == 0 || args[0] == "-":
		return readAll(stdin, "the input")
	}
	f, err := os.Open(args[0])
	if err != nil {
		return "", badInput("check the name; pipe in a text: echo 'All done.' | sidecoach", "cannot open %q: %v", args[0],
			cause(err))
	}
	defer f.Close()
	return readAll(f, "the file")
}

func readAll(r io.Reader, what string) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	switch {
	case err != nil:
		return "", badInput("try again with a copy of it", "cannot read %s: %v", what, cause(err))
	case len(text) > maxInput:
		return "", badInput("give what the agent printed last, not its whole log",
			"%s is larger than %d MiB", what, maxInput>>20)
	case !utf8.Valid(text) && bytes.Count(text, []byte{0}) > max(8, len(text)/100): // a program, an image, UTF-16
		return "", badInput("give what the agent printed last, as UTF-8 text", "%s is not text", what)
	}
	return string(text), nil
}

const shellHost = "shell"

const (
	maxRows  = 8  // signals shown
	maxQuote = 60 // characters of the agent's words in one row
)

// render writes a decision for a person: one line with the action and why, the agent's words that led to it, and the
// message to the agent or the note for the human.
func render(d autocontinue.Decision, text string) string {
	return view("decision", map[string]any{"Decision": d, "Signals": signals(d.Result, text)})
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

// signals returns a row for each of the strongest signals, in the order in which they stand in the text.
func signals(r classify.Result, text string) (rows []string) {
	shown := slices.DeleteFunc(slices.Clone(r.Signals), func(s classify.Signal) bool {
		return s.Start < 0 || s.End > len(text) || s.Start >= s.End // another classifier's may be wrong
	})
	more := max(0, len(shown)-maxRows) + r.SignalsDropped
	slices.SortStableFunc(shown, func(a, b classify.Signal) int { return cmp.Compare(b.Weight, a.Weight) })
	shown = shown[:min(len(shown), maxRows)]
	slices.SortStableFunc(shown, func(a, b classify.Signal) int { return cmp.Compare(a.Start, b.Start) })
	for _, s := range shown {
		rows = append(rows, fmt.Sprintf("%s\t%-5s %s", visible(string(s.Kind)), position(text, s.Start),
			quote(text[s.Start:s.End], maxQuote)))
	}
	if more > 0 {
		rows = append(rows, fmt.Sprintf("\t… and %d more", more))
	}
	return rows
}

// position is line and column of a byte offset, both from 1. The column is in characters, as an editor counts them.
func position(text string, offset int) string {
	before := strings.TrimPrefix(text[:offset], "\ufeff")
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("%d:%d", 1+strings.Count(before, "\n"), 1+column)
}
