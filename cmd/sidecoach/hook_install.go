package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

// installOptions are the flags of install and uninstall.
type installOptions struct {
	user, project bool
	write         bool
	hook          hookOptions // of install: they go into the hook's command line
}

func newHookInstall() *cobra.Command {
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
beside it, and what is installed already is not installed twice. Where that is
not safe nothing is written, and the settings are printed.

All other flags go into the hook's command line: they are its configuration.`,
		Example: `  sidecoach hook install claude
  sidecoach hook install claude --write
  sidecoach hook install gemini --project --write --shadow --max-continues 2`,
		DisableFlagsInUseLine: true,
		Args:                  oneHost("install"),
		ValidArgs:             hostNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.install(cmd, hook.Host(args[0]))
		},
	}
	o.register(cmd)
	cmd.Flags().BoolVar(&o.write, "write", false, "merge them into the file, which is kept beside it as it was")
	o.hook.register(cmd)
	return cmd
}

func newHookUninstall() *cobra.Command {
	var o installOptions
	cmd := &cobra.Command{
		Use:   "uninstall HOST [--user|--project]",
		Short: "Take the hook out of a host's settings",
		Long: `uninstall undoes install --write: it takes the lines that run sidecoach out of
the settings of Claude Code or Gemini CLI, and leaves everything else as it is.
The file before is kept beside it. Where such a line does something else as
well, nothing is written. What the hook remembered stays in its folder.`,
		Example: `  sidecoach hook uninstall claude
  sidecoach hook uninstall gemini --project`,
		DisableFlagsInUseLine: true,
		Args:                  oneHost("uninstall"),
		ValidArgs:             hostNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.uninstall(cmd.OutOrStdout(), hook.Host(args[0]))
		},
	}
	o.register(cmd)
	cmd.Flags().BoolVar(&o.write, "write", true, "take them out; with --write=false only say how many there are")
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
		return misuse(hint, "no host %q", args[0])
	}
}

// file returns the settings that are meant.
func (o *installOptions) file(h hook.Host) (string, error) {
	if o.user && o.project {
		return "", misuse("leave one of them out", "--user and --project exclude each other")
	}
	if o.project {
		return filepath.Abs(projectSettings(h))
	}
	home, _ := os.UserHomeDir()
	file := userSettings(h, home, os.Getenv)
	if file == "" {
		return "", badInput("set HOME, or take --project", "there is no home folder")
	}
	return filepath.Abs(file)
}

// projectSettings is where a host looks for the settings of a project, below its folder.
func projectSettings(h hook.Host) string {
	name := "settings.json"
	if h == hook.Codex {
		name = "hooks.json"
	}
	return filepath.Join("."+string(h), name)
}

// userSettings is where a host looks for those of the user; each has a variable for another folder. "" is nowhere.
func userSettings(h hook.Host, home string, getenv func(string) string) string {
	switch dir := ""; h {
	case hook.Claude, hook.Codex:
		if dir = getenv(map[hook.Host]string{hook.Claude: "CLAUDE_CONFIG_DIR", hook.Codex: "CODEX_HOME"}[h]); dir != "" {
			return filepath.Join(dir, filepath.Base(projectSettings(h)))
		}
	case hook.Gemini:
		if dir = getenv("GEMINI_CLI_HOME"); dir != "" {
			home = dir
		}
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, projectSettings(h))
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

func (o *installOptions) install(cmd *cobra.Command, h hook.Host) error {
	file, err := o.file(h)
	if err != nil {
		return err
	}
	if err := o.hook.judging.check(); err != nil {
		return err
	}
	if o.hook.judging.useLLM {
		if _, err := o.hook.judging.classifier(cmd.Context(), nil); err != nil {
			complain(cmd.ErrOrStderr(), fmt.Sprintf("sidecoach: where the hook runs it needs what is not here now: %v", err))
		}
	}
	n := installation{host: h}
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
		_, err = io.WriteString(stdout, text)
		return err
	}
	if _, err := io.WriteString(stdout, n.snippet()); err != nil {
		return err
	}
	o.warnTwice(n, file, stderr)
	how := "; --write does that"
	if h == hook.Codex {
		how = ""
	}
	complain(stderr, "sidecoach: put this into "+file+", beside what stands there"+how)
	if next := trust(h); next != "" {
		complain(stderr, "hint: "+next)
	}
	return nil
}

// warnTwice tells that the settings of the other kind, of the user or of the project, run the hook as well: a host runs
// both, but for lines that it finds to be the same. Settings that cannot be read say nothing.
func (o *installOptions) warnTwice(n installation, file string, stderr io.Writer) {
	other, scope := installOptions{project: !o.project}, "--project"
	if o.project {
		scope = "--user"
	}
	name, err := other.file(n.host)
	if err != nil || name == file {
		return
	}
	f, err := openSettings(name)
	if err != nil {
		return
	}
	if _, times, err := n.unmerge(f.text); err != nil || times == 0 {
		return
	}
	how := "sidecoach hook uninstall " + string(n.host) + " " + scope + " takes it out there"
	if n.host == hook.Codex {
		how = "take it out there"
	}
	complain(stderr, "sidecoach: "+name+" has the hook, too")
	complain(stderr, "hint: one is enough: "+how)
}

// trust says what a host wants to be told before it runs a hook.
func trust(h hook.Host) string {
	switch h {
	case hook.Codex:
		return "then run /hooks in Codex: it runs no hook that is new, or changed, before it was trusted there"
	case hook.Gemini:
		return "Gemini CLI runs the hooks of a project in a trusted folder only; /hooks shows them"
	}
	return ""
}

// write installs the hook into a file and returns what to say.
func (n installation) write(file string, stderr io.Writer) (string, error) {
	if n.host == hook.Codex {
		return "", misuse("put the lines above into "+file+"; "+trust(n.host), "install does not write settings of Codex")
	}
	f, err := openSettings(file)
	if err != nil {
		return "", err
	}
	text, err := n.merge(f.text)
	if err != nil {
		return "", f.unsafe(err)
	}
	if bytes.Equal(text, f.text) {
		return "already installed in " + file + "\n", nil
	}
	kept, err := f.replace(text)
	if err != nil {
		return "", err
	}
	if s, err := n.parse(text); err == nil && s.off() != "" {
		complain(stderr, fmt.Sprintf("sidecoach: no hook is run as long as %s has %s", file, s.off()))
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
	return "the file before is kept as " + name + "\n"
}

func (o *installOptions) uninstall(stdout io.Writer, h hook.Host) error {
	file, err := o.file(h)
	if err != nil {
		return err
	}
	f, err := openSettings(file)
	if err != nil {
		return err
	}
	n := installation{host: h}
	if n.binary, err = os.Executable(); err != nil {
		n.binary = "sidecoach"
	}
	text, times, err := n.unmerge(f.text)
	if err != nil {
		return f.unsafe(err)
	}
	said := "not installed in " + file + "\n"
	switch {
	case times > 0 && h == hook.Codex:
		return misuse("take the lines that run sidecoach out of it", "uninstall does not write settings of Codex, and %s runs sidecoach", file)
	case times > 0 && !o.write:
		said = fmt.Sprintf("installed in %s: %s\n", file, plural(times, "line"))
	case times > 0:
		kept, err := f.replace(text)
		if err != nil {
			return err
		}
		said = "taken out of " + file + "\n" + keptAs(kept)
	}
	_, err = io.WriteString(stdout, said)
	return err
}
