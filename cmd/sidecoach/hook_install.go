package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

// installOptions are the flags of install and uninstall.
type installOptions struct {
	user, project bool
	write         bool
	hook          hookOptions // of install: they go into the hook's command line
}

func newHookInstall(t terminal) *cobra.Command {
	o := installOptions{hook: newHookOptions()}
	cmd := &cobra.Command{
		Use:   "install HOST [--user|--project] [--write] [flags]",
		Short: "Print or write the settings that make a host run the hook",
		Long: `install prints the settings that make a host run sidecoach when an agent pauses,
and when the human sends a prompt, which opens a new turn. They name this
program by its absolute path, and end so that no failure of it can block the
agent: put them into the file that is named, beside what stands there.

With --write it does that itself, for Claude Code and Gemini CLI, where the file
is plain JSON: whatever else it holds stays as it is, the file before is kept
beside it until uninstall, and what is installed already is not installed twice.
Where that is not safe nothing is written, and the settings are printed.

With --project Claude Code's are those in .claude/settings.local.json, which is
not shared with others: the program's path is this machine's. The other hosts
have no such file, so keep theirs out of version control, or take --user.

All other flags go into the hook's command line: they are its configuration.`,
		Example: `  sidecoach hook install claude
  sidecoach hook install claude --write
  sidecoach hook install gemini --project --write --shadow --max-continues 2`,
		DisableFlagsInUseLine: true,
		Args:                  oneHost("install"),
		ValidArgs:             hostNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.install(cmd, hook.Host(args[0]), t)
		},
	}
	o.register(cmd)
	cmd.Flags().BoolVar(&o.write, "write", false, "merge them into the file, which is kept beside it as it was")
	o.hook.register(cmd)
	return cmd
}

func (o *installOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.user, "user", false, "for all projects of this user, which is the default")
	f.BoolVar(&o.project, "project", false, "for the project in the current folder")
}

// oneHost is what is wrong with the arguments of a command that takes the name of a host.
func oneHost(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		hint := "the hosts are " + strings.Join(hostNames(), ", ") + ": sidecoach hook " + name + " " + hostNames()[0]
		if len(args) != 1 {
			return misuse(hint, "%s takes one host", name)
		}
		for _, h := range hostNames() {
			if h == args[0] {
				return nil
			}
		}
		return misuse(hint+"; any other agent is put into a loop, which sidecoach --help shows", "no host %q", args[0])
	}
}

// program returns the absolute path of this program, by the name it is found by where that is a link to it: the name lasts
// when a package manager puts another version behind it.
func program() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", badInput("run it by its absolute path", "cannot tell where this program lies: %v", cause(err))
	}
	if strings.Contains(filepath.ToSlash(path), "/go-build") {
		return "", misuse("build it to stay: go build -o ~/.local/bin/ ./cmd/sidecoach, then ~/.local/bin/sidecoach hook install …",
			"this program is a temporary one of go run, and will be gone")
	}
	found, err := exec.LookPath(filepath.Base(path))
	if err != nil || !filepath.IsAbs(found) {
		return path, nil
	}
	a, errA := os.Stat(found)
	b, errB := os.Stat(path)
	if errA == nil && errB == nil && os.SameFile(a, b) {
		return found, nil
	}
	return path, nil
}

func (o *installOptions) install(cmd *cobra.Command, h hook.Host, t terminal) error {
	file, err := o.file(h)
	if err != nil {
		return err
	}
	if err := o.hook.judging.check(); err != nil {
		return err
	}
	if o.hook.judging.llm.timeout > hookPatience {
		return misuse(fmt.Sprintf("a host waits %d seconds for a hook, so give the LLM at most %v", hookSeconds, time.Duration(hookPatience)), "--timeout %s is too long for a hook", &o.hook.judging.llm.timeout)
	}
	if o.hook.judging.useLLM {
		if _, err := o.hook.judging.classifier(cmd.Context(), nil); err != nil {
			complain(cmd.ErrOrStderr(), fmt.Sprintf("sidecoach: where the hook runs it needs what is not here now: %v", err))
		}
	}
	n := installation{host: h}
	if o.hook.verify.words != nil {
		n.more = verifySeconds
	}
	if n.binary, err = program(); err != nil {
		return err
	}
	flags, err := o.hook.given(cmd)
	if err != nil {
		return err
	}
	n.command = shellOf(h, runtime.GOOS).line(n.binary, h, flags)
	stdout, stderr := cmd.OutOrStdout(), cmd.ErrOrStderr()
	if o.write {
		text, err := n.write(file, stderr)
		if err != nil {
			_, unsaid := io.WriteString(stdout, n.snippet())
			return errors.Join(err, unsaid)
		}
		o.warnTwice(n, file, stderr)
		if o.project {
			text += "it names a program of this machine: keep it out of version control\n"
		}
		return t.tell(stdout, text+o.next(h)+"\n")
	}
	if _, err := io.WriteString(stdout, n.snippet()); err != nil {
		return err
	}
	o.warnTwice(n, file, stderr)
	how := "; --write does that"
	if printedOnly(h) {
		how = ""
	}
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		complain(stderr, "sidecoach: save this as "+file+", which is not there yet"+how)
	} else {
		complain(stderr, "sidecoach: put this into "+file+", beside what stands there"+how)
	}
	if next := trust(h); next != "" {
		complain(stderr, "hint: "+next)
	}
	if h == hook.Cursor && strings.Contains(n.command, "://") {
		complain(stderr, "hint: Cursor's command-line agent was seen to ignore a hooks.json with a URL in a command: set OPENAI_BASE_URL in place of --base-url for it")
	}
	if o.project {
		complain(stderr, "hint: it names a program of this machine: keep it out of version control")
	}
	complain(stderr, "hint: "+o.next(h))
	return nil
}

// next says how to see that the hook works.
func (o *installOptions) next(h hook.Host) string {
	log := "sidecoach log"
	if dir := o.hook.keeper.state; dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		log += " --state " + shellOf(h, runtime.GOOS).quote(dir)
	}
	return "restart " + product(h) + "; when an agent has paused there, " + log + " shows what was decided"
}

// trust says what a host wants to be told before it runs a hook.
func trust(h hook.Host) string {
	switch h {
	case hook.Codex:
		return "then run /hooks in Codex: it runs no hook that is new, or changed, before it was trusted there"
	case hook.Gemini:
		return "Gemini CLI runs the hooks of a project in a trusted folder only; /hooks shows them"
	case hook.Cursor:
		return "Cursor runs the hooks of a project in a trusted workspace only; the Hooks tab of its settings shows them"
	}
	return ""
}

// write installs the hook into a file and returns what to say.
func (n installation) write(file string, stderr io.Writer) (string, error) {
	if printedOnly(n.host) {
		hint := "put the lines above into " + file
		if next := trust(n.host); next != "" {
			hint += "; " + next
		}
		return "", misuse(hint, "install does not write settings of %s", product(n.host))
	}
	f, err := openSettings(file)
	if err != nil {
		return "", err
	}
	text, err := n.merge(f.text)
	if err != nil {
		return "", f.unsafe(err)
	}
	if s, err := n.parse(text); err == nil && s.off() != "" {
		complain(stderr, fmt.Sprintf("sidecoach: the hook is not run as long as %s has %s", file, s.off()))
	}
	if bytes.Equal(text, f.text) {
		return "already installed in " + file + "\n", nil
	}
	_, times, err := n.unmerge(f.text)
	kept, err := f.replace(text, err != nil || times == 0) // another command line of ours is all that changes else
	if err != nil {
		return "", err
	}
	if next := trust(n.host); next != "" {
		complain(stderr, "hint: "+next)
	}
	return "installed in " + file + "\n" + keptAs(kept), nil
}

func keptAs(name string) string {
	if name == "" {
		return ""
	}
	return "the file before is kept as " + name + " until uninstall\n"
}
