package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
)

// logOptions are the flags of log.
type logOptions struct {
	session string
	state   string
	follow  bool
	json    bool
	id      string
	want    choice
}

func newLog(t terminal) *cobra.Command {
	o := logOptions{want: choice{allowed: labels()}}
	cmd := &cobra.Command{
		Use:   "log [flags]",
		Short: "Show the journal: what was decided, and what came of it",
		Long: `log shows what sidecoach decided in hooks and with --session, the oldest first,
then the totals: how often agents were sent on, why they were let stop, what the
LLM cost, and how many continuations led to a completion that was accepted and
how many did not.

A decision is what is done, what the output was taken for, why that is let stop
or which kind of message the agent is sent (tier), and how sure of the type it
is, 0 to 1. What a reason means:
  rejected completion  sent on: it claims to be done and does not show it
  progress             sent on: honest progress
  empty                sent on: the output is blank
  next stage           sent on: a stage of the goal is done, and it has a next
  completion           let stop: done, and it shows
  question, blocker    let stop: the human is asked, or needed
  crash guard          let stop: the run failed, or printed an error
  low confidence       let stop: a status, but not surely one
  repeat               let stop: the same gap for the third time (stalled)
  cap                  let stop: the turn was continued as often as it may be
  waiting              let stop: the turn is the human's since a pause before
  hold                 let stop: the host does not let it be sent on, or shows
                       nothing of what the agent printed
  superseded           let stop: the human has spoken since
  run closed           dropped: this run was sent on, or was done, before
  run reused           let stop: this run was done before, and now printed
                       another text, which was not read
  same text            dropped: this run printed the same before
  error                let stop: sidecoach itself failed
A tier is plain ("continue"), rejection (what evidence is missing), repeat, plan
criteria, plan pointer (its file), skill, stage (the next one of the goal),
verify or llm (the model's own words).

With --json a line of the journal is a line of the output, and the last one is
{"totals":{…}}.

With --case a decision becomes a line for sidecoach eval: what the classifier
was asked, as --keep-text journaled it, and the verdict that --want says it
should have had.

Exit status: 0 the journal was shown, 1 bad input or a failure, 64 wrong usage.`,
		Example: `  sidecoach log
  sidecoach log --session "$PWD" --follow
  sidecoach log --json | jq 'select(.decision.reason == "repeat").preview'
  sidecoach log --case 7f3a9c21 --want completion >>cases.jsonl`,
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misuse("sidecoach log --session ID shows one session, --state DIR another journal", "log takes no arguments")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd, t) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.session, "session", "", "show this session alone, by its `ID`")
	f.BoolVar(&o.follow, "follow", false, "go on with what comes, until interrupted")
	f.BoolVar(&o.json, "json", false, "print JSON, one object a line")
	f.StringVar(&o.id, "case", "", "print one decision as a case, by its `ID` or how that begins")
	f.Var(&o.want, "want", "with --case, the verdict it should have had: "+strings.Join(o.want.allowed, ", "))
	registerState(f, &o.state)
	for flag, values := range map[string][]string{"session": nil, "case": nil, "want": o.want.allowed} {
		if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // the flag is declared above
		}
	}
	if err := cmd.MarkFlagDirname("state"); err != nil {
		panic(err)
	}
	return cmd
}

func (o *logOptions) run(cmd *cobra.Command, t terminal) error {
	switch {
	case o.id != "" && o.want.value == "":
		return misuse("say which verdict it should have had: --want "+strings.Join(o.want.allowed, ", --want "), "--case needs --want")
	case o.id == "" && cmd.Flags().Changed("case"):
		return misuse("sidecoach log shows the IDs", "--case is empty")
	case o.id == "" && o.want.value != "":
		return misuse("add --case ID", "--want means nothing without a case")
	case o.id != "" && (o.follow || o.json):
		return misuse("leave the other out", "--case prints one line and goes with neither --follow nor --json")
	case o.session == "" && cmd.Flags().Changed("session"):
		return misuse("leave it out to see all sessions", "--session is empty: is its variable set?")
	}
	dir, err := stateFolder(o.state)
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); o.state != "" && !o.follow && (err != nil || !info.IsDir()) {
		return badInput("name the folder that was given with --state when it was decided", "no such folder: %q", dir)
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.id != "" {
		return o.printCase(ctx, cmd.OutOrStdout(), dir)
	}
	return o.show(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr(), dir, t)
}

// show prints what the journal has, and the totals when it ends or is interrupted.
func (o *logOptions) show(ctx context.Context, stdout, stderr io.Writer, dir string, t terminal) error {
	lines := filestore.ReadJournal(ctx, dir)
	if o.follow {
		lines = filestore.FollowJournal(ctx, dir, 0)
	}
	log := logPage{terminal: t}
	sums := newTotals()
	for line, err := range o.entries(lines, &sums) {
		if err != nil {
			return err
		}
		text := log.entry(line.entry, sums.add(line.entry))
		if o.json {
			text = harmless(string(line.raw)) + "\n"
		}
		if _, err := io.WriteString(stdout, text); err != nil {
			return err
		}
	}
	if n := sums.Unreadable; n > 0 {
		complain(stderr, fmt.Sprintf("sidecoach: %s of the journal could not be read", plural(n, "line")))
	}
	if o.session != "" && sums.empty() && !o.follow {
		return badInput("sidecoach log shows all sessions", "nothing was journaled of session %q in %q", o.session, dir)
	}
	text := sums.table(t, dir)
	if o.json {
		var err error
		if text, err = sums.json(); err != nil {
			return err
		}
	}
	_, err := io.WriteString(stdout, text)
	return err
}

// logLine is a line of the journal, as it stands there and as it is read.
type logLine struct {
	entry entry
	raw   []byte
}

// entries yields the lines that were asked for. Those that cannot be read are counted; an error is the last thing yielded.
func (o *logOptions) entries(lines iter.Seq2[[]byte, error], sums *totals) iter.Seq2[logLine, error] {
	return func(yield func(logLine, error) bool) {
		for raw, err := range lines {
			if errors.Is(err, filestore.ErrTooLarge) {
				sums.Unreadable++
				continue
			}
			if errors.Is(err, context.Canceled) {
				yield(logLine{}, exit(exitFailure)) // interrupted; where that is the way to end, it is no error
				return
			}
			if err != nil {
				yield(logLine{}, badInput("check the folder and its permissions, or name another with --state", "%s", withoutPackage(err)))
				return
			}
			e, ok := parseEntry(raw)
			if !ok {
				sums.Unreadable++
				continue
			}
			if o.session != "" && e.Session != o.session {
				continue
			}
			if !yield(logLine{e, raw}, nil) {
				return
			}
		}
	}
}
