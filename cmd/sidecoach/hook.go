package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
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
	"github.com/sidecoach/sidecoach/skills"
)

// hookOptions are the flags that a hook's command line may have: they are its configuration.
type hookOptions struct {
	plan    string
	policy  policyFlags
	verify  commandLine
	notify  commandLine
	shadow  bool
	keeper  keeperOptions
	judging judging
	flags   *pflag.FlagSet // of the command

	// What the human allowed of the project's folder, see in.
	coach   *coach.Coach
	phrases []classify.Option
	skills  []skills.Skill
	skipped []error // why files of skills are left out
}

func newHookOptions(f *pflag.FlagSet) *hookOptions {
	o := &hookOptions{flags: f}
	bind(f, "shadow", &o.shadow)
	o.policy.register(f)
	bind(f, "plan", &o.plan, "verify", &o.verify, "notify", &o.notify)
	o.keeper.register(f)
	o.judging.register(f)
	return o
}

// given returns the flags of a hook that were given to install, as a command line has them. Folders become absolute: a
// host runs its hooks wherever the agent works.
func (o *hookOptions) given() (words []string, err error) {
	own := newHookOptions(new(pflag.FlagSet)).flags
	o.flags.Visit(func(f *pflag.Flag) {
		if own.Lookup(f.Name) == nil || f.Value.String() == f.DefValue {
			return
		}
		value := f.Value.String()
		var e error
		switch f.Name {
		case "state", "prompt":
			value, e = filepath.Abs(value)
		case "judge-command":
			if program := o.judging.command.words[0]; filepath.Base(program) != program && !filepath.IsAbs(program) {
				e = misuse("name the program by its absolute path", "the hook would not find %s", program)
			}
		}
		err = errors.Join(err, e)
		if f.Value.Type() == "bool" {
			words = append(words, "--"+f.Name)
		} else {
			words = append(words, "--"+f.Name+"="+value)
		}
	})
	return words, err
}

// open returns the keeper of a host's sessions. The host waits for the hook, so the hook does not sync its files. State
// that a loss of power takes is treated like any lost state.
func (o *hookOptions) open(h hook.Host, stderr io.Writer) (*keeper, error) {
	return o.keeper.open(filestore.Options{Host: string(h), NoSync: true}, stderr)
}

var hostNames = texts(hook.Hosts())

// underHost marks the commands that a host of agents runs. They exit with 0 or 1 only: hosts read 2 as "block".
const underHost = "under-host"

func newHook(t terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:                "hook HOST",
		SuggestFor:         []string{"install", "uninstall"},
		Annotations:        map[string]string{underHost: ""}, // settings may name a host that does not exist
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		ValidArgsFunction:  cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			hint := "the hosts are " + strings.Join(hostNames, ", ") + "; sidecoach hook install HOST sets one up"
			if len(args) == 0 {
				return misuse(hint, "hook needs the name of a host")
			}
			return misuse(hint, "unknown host %q", args[0])
		},
	}
	for _, h := range hook.Hosts() {
		cmd.AddCommand(newHookOf(h, t))
	}
	cmd.AddCommand(newHookInstall(t), newHookUninstall(t))
	return cmd
}

func newHookOf(h hook.Host, t terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:               string(h) + " [flags]",
		Short:             "Answer one event of " + h.Product(),
		Annotations:       map[string]string{underHost: ""},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	o := newHookOptions(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(cmd, h, args, t) }
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { // the host may show it to nobody
		_, _ = cmd.OutOrStdout().Write(h.Pass())
		if k, unopened := o.open(h, cmd.ErrOrStderr()); unopened == nil {
			k.note(err.Error())
		}
		return err
	})
	return cmd
}

const (
	stays     = "the agent stops" // of a hook
	showHuman = "show the agent's output to the human"
)

// run answers one event. Whatever goes wrong, it prints the answer with which the host goes on.
func (o *hookOptions) run(cmd *cobra.Command, h hook.Host, args []string, t terminal) error {
	var once sync.Once
	print := func(answer []byte) { once.Do(func() { _, _ = cmd.OutOrStdout().Write(answer) }) }
	defer func() { print(h.Pass()) }()
	if os.Getenv(llm.JudgeMark) != "" { // a judge paused: to judge it would have no end
		_, _ = io.Copy(io.Discard, cmd.InOrStdin())
		return nil
	}
	k, err := o.open(h, cmd.ErrOrStderr())
	if err != nil {
		return noDecision(err, stays)
	}
	exit := func() {
		time.AfterFunc(hookGrace/4, func() { os.Exit(exitFailure) }) // printing may hang
		print(h.Pass())
		k.note("no decision: the hook did not end in time")
		os.Exit(exitFailure)
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	return watched(ctx, os.Getppid, exit, func(ctx context.Context) error {
		defer func() {
			if p := recover(); p != nil {
				k.note("internal error: no decision")
				panic(p) // run says the rest
			}
		}()
		answer, err := o.answer(ctx, h, args, cmd.InOrStdin(), t, k)
		if err = noDecision(err, stays); err != nil && !k.failed {
			k.note(err.Error())
		}
		print(answer)
		k.tell(ctx)
		return err
	})
}

func (o *hookOptions) answer(
	ctx context.Context, h hook.Host, args []string, stdin io.Reader, t terminal, k *keeper,
) ([]byte, error) {
	payload, err := readEvent(h, args, stdin, t.keyboard)
	if err != nil {
		return h.Pass(), err
	}
	projects, ignored := project.Open(k.store, string(h), time.Now), ""
	answer, err := hook.Run(ctx, h, payload, hook.Config{
		Sessions: k, Secrets: ownSecrets(),
		Prompted: func(ctx context.Context, session, folder string, first bool) {
			dir := folderOf(folder)
			s, why := o.in(ctx, projects, dir)
			if first {
				if why = cmp.Or(why, projects.Begin(ctx, session, dir)); why != nil {
					k.note(why.Error())
				}
			}
			if s.verify.words != nil || s.judging.asks() {
				// A baseline of the agent's work. If there is none, the verifier says so when the agent is done.
				ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
				defer cancel()
				_ = verifier.Remember(ctx, k.dir, session, dir)
			}
		},
		Notice: func(context.Context) string {
			if k.last != nil && k.last.Decision.Result.Fallback != "" {
				ignored += "\nsidecoach: the judge did not answer, so the heuristic decided; sidecoach log says why"
			}
			return strings.TrimSpace(ignored)
		},
		Loop: func(ctx context.Context, p *hook.Pause) (cfg autocontinue.Config, err error) {
			k.lacks = p.Lack
			o, why := o.in(ctx, projects, folderOf(p.Began))
			if why != nil && !errors.Is(why, project.ErrNotAllowed) {
				ignored = "sidecoach: " + why.Error()
				k.note(why.Error())
			}
			k.shadow, p.Shadow, k.keepText = o.shadow, o.shadow, o.keeper.keepText
			cfg.Policy, cfg.Skills = o.policy.policy(), o.registry()
			cfg.Policy.Coach = o.coach
			dir := folderOf(p.Folder)
			if o.plan != "" {
				if tree, plan, err := openPlan(dir, o.plan); err == nil { // the end of the process closes the tree
					cfg.Plans, p.Output.PlanFile = tree.FS(), plan
				} else { // the agent may have changed its folder: that costs the criteria only
					cfg.Plans, p.Output.PlanFile = noPlan{err}, filepath.Base(o.plan)
				}
			}
			if cfg.Classifier, err = o.judging.classifier(o.phrases...); err != nil {
				return cfg, err
			}
			cfg.Verifier = o.verifier(k.dir, p.Output.Session, dir, cfg.Plans)
			cfg.Observer, k.notify, k.folder = k.observer(), o.notify.words, dir
			if unbound := o.pursue(ctx, h, projects, k, p, &cfg); unbound != nil {
				k.note(unbound.Error())
			}
			return cfg, err
		},
	})
	if errors.Is(err, hook.ErrEvent) {
		return answer, badInput(stays+"; does "+h.Product()+" run this?", "%v", err)
	}
	return answer, err
}

const hookSessions = "hooks" // the kind of document that holds what a hook keeps of a session

func (k *keeper) document(session string) (*filestore.Document[hook.Kept], error) {
	k.session = session
	return filestore.NewDocument[hook.Kept](k.store, hookSessions, k.host+"/"+session)
}

func (k *keeper) Load(ctx context.Context, session string) (hook.Kept, error) {
	doc, err := k.document(session)
	if err != nil {
		return hook.Kept{}, err
	}
	return doc.Load(ctx)
}

func (k *keeper) Update(ctx context.Context, session string, fn func(hook.Kept) (hook.Kept, error)) error {
	doc, err := k.document(session)
	if err != nil {
		return err
	}
	return doc.Update(ctx, fn)
}

func readEvent(h hook.Host, args []string, stdin io.Reader, keyboard bool) ([]byte, error) {
	hint := "sidecoach hook install " + string(h) + " sets it up"
	switch {
	case len(args) > 0:
		return nil, misuse(hint, "hook %s takes one event, from standard input", h)
	case keyboard:
		return nil, misuse(hint, "no event: %s runs this and pipes one in", h.Product())
	}
	payload, err := io.ReadAll(io.LimitReader(stdin, hook.MaxEvent+1))
	if err != nil {
		return nil, badInput(stays, "cannot read the event: %v", cause(err))
	}
	_, _ = io.Copy(io.Discard, stdin) // some hosts report a failure if they cannot write all of it
	return payload, nil
}

// folderOf returns the folder that the agent works in: the one that the host names, if it is one, else the one that it
// runs the hook in. Cursor runs a user's hook in its own folder below the home.
func folderOf(name string) string {
	if filepath.IsAbs(name) && isFolder(name) {
		return name
	}
	return "."
}

// noPlan is the working tree of a plan that cannot be opened.
type noPlan struct{ err error }

func (n noPlan) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: n.err}
}

const (
	verifySeconds = 300 // for which a hook verifies: the command, its second run, and the baseline

	hookSeconds    = verifySeconds + 60 // that a host waits for a hook
	hookJudgeLimit = 45 * time.Second   // the LLM's part of it

	hookMargin  = 5 * time.Second        // the hook gives up this long before its host does
	hookGrace   = time.Second            // after that, the process ends
	parentCheck = 100 * time.Millisecond // how often a hook looks whether its host is still there
)

// watched calls do, a hook, and returns its error. It ends the context of a hook that takes too long, or whose parent
// has gone, and with it the commands that the hook has started. It calls exit if do has not returned [hookGrace] later.
// Hosts such as Gemini CLI wait for a hook even after they have sent it a signal.
func watched(ctx context.Context, parent func() int, exit func(), do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	defer close(done)
	go func() {
		defer func() { _ = recover() }() // the runtime's exit status means "block" to a host
		for start, host := time.Now(), parent(); ctx.Err() == nil; time.Sleep(parentCheck) {
			if time.Since(start) >= hookSeconds*time.Second-hookMargin {
				cancel(errors.New("the time for a hook is over"))
			} else if parent() != host {
				cancel(errors.New("the host has gone"))
			}
		}
		select {
		case <-done:
		case <-time.After(hookGrace):
			exit()
		}
	}()
	err := do(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return noDecision(cause, stays)
	}
	return err
}

// verifier returns what checks a claim of completion, nil without a command.
func (o *hookOptions) verifier(state, session, dir string, plans fs.FS) autocontinue.Verifier {
	if o.verify.words == nil {
		return nil
	}
	s := verifier.Recall(state, session)
	if main, _, sub := strings.Cut(session, "/"); sub && s.Last == nil { // an agent of another one's
		s = verifier.Recall(state, main)
	}
	v := &verifier.Verifier{
		Dir: cmp.Or(s.Root, cmdwitness.Root(dir)), Commands: [][]string{o.verify.words}, Base: s.Last, First: s.First,
		Plans: plans, Timeout: verifySeconds * time.Second, Cache: filepath.Join(state, "verify"),
	}
	return timedVerifier{v}
}

// timedVerifier gives up before the host does. The result is then unverified.
type timedVerifier struct{ autocontinue.Verifier }

func (t timedVerifier) Verify(
	ctx context.Context, out autocontinue.Output, r classify.Result,
) (autocontinue.Verification, error) {
	ctx, cancel := context.WithTimeout(ctx, verifySeconds*time.Second)
	defer cancel()
	return t.Verifier.Verify(ctx, out, r)
}

// pursue makes the goal of the session, if it has one, part of what decides.
func (o *hookOptions) pursue(
	ctx context.Context, h hook.Host, projects *project.Projects, k *keeper, p *hook.Pause, cfg *autocontinue.Config,
) error {
	g, root, ok, err := projects.Goal(ctx, p.Output.Session, folderOf(p.Began))
	if err != nil || !ok {
		return err
	}
	goal := verifier.Goal{Dir: g.Dir, Criteria: g.Criteria, Timeout: (verifySeconds - 60) * time.Second,
		Limit: g.Limit(time.Now()), Next: cfg.Verifier}
	if o.judging.asks() {
		goal.Judge = func(ctx context.Context, out autocontinue.Output, open []string) ([]verify.RequirementCheck, error) {
			return o.judgeCriteria(ctx, k.dir, g.Dir, out, open)
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

// judgeCriteria asks the judge about criteria without a check. It sees what changed since the session began.
func (o *hookOptions) judgeCriteria(
	ctx context.Context, state, dir string, out autocontinue.Output, criteria []string,
) ([]verify.RequirementCheck, error) {
	cfg, err := o.judging.config()
	if err != nil {
		return nil, err
	}
	client, err := llm.NewClient(cfg)
	if err != nil {
		return nil, err
	}
	judge, err := llmjudge.New(client)
	if err != nil {
		return nil, err
	}
	work := llmjudge.Work{Task: out.Request, Report: out.Text}
	git := &gitwitness.Witness{Dir: dir, Base: verifier.Recall(state, out.Session).First}
	defer git.Close()
	if work.Diff, work.Whole, err = git.Diff(ctx, "", 60_000); err != nil {
		work.Whole = false // then nothing is met
	}
	return judge.Criteria(ctx, criteria, work)
}
