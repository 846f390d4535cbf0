package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/autocontinue/hook/install"
	"github.com/sidecoach/sidecoach/autocontinue/project"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/coach"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
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
	judging judgeFlags
	flags   *pflag.FlagSet // of the command

	// What the human allowed of the project's folder, see inProject.
	coach   *coach.Coach
	phrases []classify.Option
	skills  []skills.Skill
	skipped []error // why files of skills are left out
}

func newHookOptions(f *pflag.FlagSet) *hookOptions {
	o := &hookOptions{flags: f}
	bind(f, "shadow", &o.shadow)
	o.policy.register(f)
	bind(f, "plan", &o.plan, "verify", &o.verify, "notify", &o.notify, "state", &o.keeper.state,
		"keep-text", &o.keeper.keepText)
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
		if k, unopened := o.keeper.open(filestore.Options{Host: string(h), NoSync: true}, cmd.ErrOrStderr()); unopened == nil {
			k.note(err.Error())
		}
		return err
	})
	return cmd
}

const (
	agentStops = "the agent stops" // of a hook
	showHuman  = "show the agent's output to the human"
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
	// The host waits, so nothing is synced. State that a loss of power takes is treated like any lost state.
	k, err := o.keeper.open(filestore.Options{Host: string(h), NoSync: true}, cmd.ErrOrStderr())
	if err != nil {
		return noDecision(err, agentStops)
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
		if err = noDecision(err, agentStops); err != nil && !k.failed {
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
			s, why := o.inProject(ctx, projects, dir)
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
			o, why := o.inProject(ctx, projects, folderOf(p.Began))
			if why != nil && !errors.Is(why, project.ErrNotAllowed) {
				ignored = "sidecoach: " + why.Error()
				k.note(why.Error())
			}
			k.shadow, p.Shadow, k.keepText = o.shadow, o.shadow, o.keeper.keepText
			cfg.Policy, cfg.Skills = o.policy.policy(), o.registry()
			cfg.Policy.Coach = o.coach
			dir := folderOf(p.Folder)
			// The agent may have changed its folder: that costs the criteria only.
			cfg.Plans, p.Output.PlanFile, _ = openPlan(dir, o.plan)
			if cfg.Classifier, err = o.judging.classifier(o.phrases...); err != nil {
				return cfg, err
			}
			cfg.Verifier = o.verifier(k.dir, p.Output.Session, dir, cfg.Plans)
			cfg.Observer, k.notify, k.folder = k.observer(), o.notify.words, dir
			if unbound := o.addGoal(ctx, h, projects, k, p, &cfg); unbound != nil {
				k.note(unbound.Error())
			}
			return cfg, err
		},
	})
	if errors.Is(err, hook.ErrEvent) {
		return answer, badInput(agentStops+"; does "+h.Product()+" run this?", "%v", err)
	}
	return answer, err
}

const hookSessions = "hooks" // the kind of document that holds what a hook keeps of a session

func (k *keeper) document(session string) (*filestore.Document[hook.Kept], error) {
	k.session = session
	return filestore.NewDocument[hook.Kept](k.store, hookSessions, k.host+"/"+session)
}

func (k *keeper) Load(ctx context.Context, session string) (kept hook.Kept, err error) {
	doc, err := k.document(session)
	if err == nil {
		kept, err = doc.Load(ctx)
	}
	return kept, err
}

func (k *keeper) Update(ctx context.Context, session string, fn func(hook.Kept) (hook.Kept, error)) error {
	doc, err := k.document(session)
	if err == nil {
		err = doc.Update(ctx, fn)
	}
	return err
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
		return nil, badInput(agentStops, "cannot read the event: %v", cause(err))
	}
	_, _ = io.Copy(io.Discard, stdin) // some hosts report a failure if they cannot write all of it
	return payload, nil
}

// folderOf returns the folder in which the agent works. The host names it. If that is not a folder, it is the folder in
// which the host runs the hook. Cursor runs a user's hook in its own folder below the home.
func folderOf(name string) string {
	if filepath.IsAbs(name) && modeOf(name).IsDir() {
		return name
	}
	return "."
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
		return noDecision(cause, agentStops)
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

type installOptions struct {
	user, project, write bool
	hook                 *hookOptions // of install: they go into the hook's command line
}

func newHookInstall(t terminal) *cobra.Command {
	var o installOptions
	cmd := o.command("install HOST [--user|--project] [--write] [flags]",
		func(cmd *cobra.Command, h hook.Host, files []string) error {
			if err := notEmpty(cmd, "verify", "notify", "judge-command", "plan"); err != nil {
				return err
			}
			return o.install(cmd, h, files[0], t)
		})
	bind(cmd.Flags(), "write", &o.write)
	o.hook = newHookOptions(cmd.Flags())
	return cmd
}

func newHookUninstall(t terminal) *cobra.Command {
	var o installOptions
	return o.command("uninstall HOST [--user|--project]",
		func(cmd *cobra.Command, host hook.Host, files []string) error {
			path, _ := program()
			said, err := "", error(nil)
			for _, file := range files {
				text, failed := remove(install.Hook{Host: host, Program: cmp.Or(path, "sidecoach")}, file)
				said, err = said+text, errors.Join(err, failed)
			}
			switch {
			case said == "" && err == nil:
				said = "not installed in " + files[0] + "\n"
			case err == nil:
				said += "the state and the journal stay\n"
			}
			return errors.Join(err, t.tell(cmd.OutOrStdout(), said))
		})
}

// command returns a command about the files that may hold a host's settings, as absolute paths.
func (o *installOptions) command(use string, run func(*cobra.Command, hook.Host, []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, ValidArgs: hostNames}
	bind(cmd.Flags(), "user", &o.user, "project", &o.project)
	cmd.MarkFlagsMutuallyExclusive("user", "project")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 || !slices.Contains(hostNames, args[0]) {
			return misuse("for another agent write a loop, as sidecoach --help shows", "%s takes one host: %s", cmd.Name(),
				strings.Join(hostNames, ", "))
		}
		home, _ := os.UserHomeDir()
		files := install.Hook{Host: hook.Host(args[0])}.Files(o.project, home, os.Getenv)
		if len(files) == 0 {
			return badInput("set HOME, or use --project", "there is no home folder")
		}
		for i, name := range files {
			files[i], _ = filepath.Abs(name) // it fails only where the current folder is gone
		}
		return run(cmd, hook.Host(args[0]), files)
	}
	return cmd
}

// program returns the absolute path by which this program was called. That may be a link, which stays when a package
// manager puts another version behind it.
func program() (string, error) {
	path, err := exec.LookPath(os.Args[0])
	if strings.Contains(filepath.ToSlash(path), "/go-build") {
		hint := "build it first: go build -o ~/.local/bin/ ./cmd/sidecoach, then ~/.local/bin/sidecoach hook install …"
		return "", misuse(hint, "this program is a temporary one of go run, and will be deleted")
	}
	if err != nil {
		return os.Executable()
	}
	return filepath.Abs(path)
}

func (o *installOptions) install(cmd *cobra.Command, host hook.Host, file string, t terminal) error {
	judging := &o.hook.judging
	if err := judging.check(); err != nil {
		return err
	}
	if judging.Timeout > hookJudgeLimit {
		hint := fmt.Sprintf("the host waits for the hook, so give the LLM at most %v", hookJudgeLimit)
		return misuse(hint, "--timeout %s is too long for a hook", judging.Timeout)
	}
	_, missing := judging.classifier()
	cfg, _ := judging.config()
	for _, program := range [][]string{{cfg.Command.Program()}, o.hook.verify.words} {
		if missing == nil && len(program) > 0 && program[0] != "" {
			_, missing = exec.LookPath(program[0])
		}
	}
	if missing != nil {
		complain(cmd.ErrOrStderr(), fmt.Sprintf("sidecoach: where the hook runs it needs what is missing here: %v", missing))
	}
	h := install.Hook{Host: host, Timeout: hookSeconds}
	var err error
	if h.Program, err = program(); err == nil {
		h.Flags, err = o.hook.given()
	}
	if err != nil {
		return err
	}
	text := ""
	if o.write {
		text, err = write(h, file)
		t.tell(cmd.OutOrStdout(), text)
	}
	if !o.write || err != nil {
		cmd.OutOrStdout().Write(h.Snippet())
	}
	if err != nil {
		return err
	}
	log := "sidecoach log"
	if dir := o.hook.keeper.state; dir != "" {
		dir, _ = filepath.Abs(dir)
		log += " " + h.Quote("--state="+dir)
	}
	for line := range strings.Lines(view("installed", map[string]any{"Host": host, "File": file, "Log": log,
		"Written": o.write, "Writable": h.Writable(), "Project": o.project})) {
		complain(cmd.ErrOrStderr(), strings.TrimSuffix(line, "\n"))
	}
	return nil
}

// beforeInstall ends the name of the copy that install makes of settings without the hook.
const beforeInstall = ".before-sidecoach"

func write(h install.Hook, file string) (string, error) {
	if !h.Writable() {
		return "", misuse("put the lines above into "+file, "install does not write settings of %s", h.Host.Product())
	}
	before, plain, err := readSettings(file)
	var text []byte
	if err == nil {
		text, err = h.Merge(plain)
	}
	if err != nil {
		return "", cannotChange(file, err)
	}
	if bytes.Equal(text, plain) {
		return "already installed in " + file + "\n", nil
	}
	said := "installed in " + file + "\n"
	if _, times, _ := h.Remove(plain); times == 0 && before != nil {
		kept := file + beforeInstall
		if err := filestore.WriteFile(kept, before, 0o600); err != nil {
			return "", cannot("copy", file, err)
		}
		said += "the file before is kept as " + kept + " until uninstall restores it\n"
	}
	err = os.MkdirAll(filepath.Dir(file), 0o777)
	if err == nil {
		err = filestore.WriteFile(file, text, 0o666)
	}
	return said, cannot("write", file, err)
}

// remove removes the hook from one file and returns what to say; "" if it is not there. If nothing else has changed
// since install, the file becomes what it was before.
func remove(h install.Hook, file string) (said string, err error) {
	_, plain, err := readSettings(file)
	var rest []byte
	times := 0
	if err == nil {
		rest, times, err = h.Remove(plain)
	}
	switch {
	case err != nil:
		return "", cannotChange(file, err)
	case times == 0:
		return "", nil
	case !h.Writable():
		return "remove the lines that run sidecoach from " + file + "\n", nil
	}
	said, kept := "removed from "+file+"\n", file+beforeInstall
	before, missing := os.ReadFile(kept)
	merged, _ := h.Merge(plainSettings(before)) // what it reads, it wrote
	undone, _, _ := h.Remove(merged)
	switch {
	case missing != nil && rest == nil:
		return said + "it had nothing but the hook, so it is deleted\n", cannot("remove", file, os.Remove(file))
	case missing == nil && bytes.Equal(undone, rest):
		if err = filestore.WriteFile(file, before, 0o666); err == nil {
			err = os.Remove(kept)
		}
		return said + "it is what it was before install\n", cannot("restore", file, err)
	case missing == nil:
		said += "it was changed after install, so the file from before install stays as " + kept + "\n"
	}
	return said, cannot("write", file, filestore.WriteFile(file, plainSettings(rest), 0o666))
}

func cannotChange(file string, err error) error {
	return badInput("nothing was written; change the file by hand", "cannot change %q safely: %v", file, cause(err))
}

// readSettings returns a file as it is, nil if it is missing, and the settings in it.
func readSettings(file string) (data, plain []byte, err error) {
	if data, err = readRegular(file); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return data, plainSettings(data), err
}

// plainSettings returns the settings in a file: without a byte order mark, and "{}" for a missing or empty file.
func plainSettings(data []byte) []byte {
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		return []byte("{}\n")
	}
	return text
}
