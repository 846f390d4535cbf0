package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/autocontinue/hook/install"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
)

// hookSeconds is how long a hook takes at most when it verifies nothing; with verifySeconds it is what a host waits for
// a hook. The LLM gets at most hookJudgeLimit of it.
const (
	hookSeconds    = 60
	hookJudgeLimit = (hookSeconds - 15) * time.Second
)

type installOptions struct {
	user, project, write bool
	hook                 *hookOptions // of install: they go into the hook's command line
}

func newHookInstall(t terminal) *cobra.Command {
	var o installOptions
	cmd := o.command("install HOST [--user|--project] [--write] [flags]")
	bind(cmd.Flags(), "write", &o.write)
	o.hook = newHookOptions(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.install(cmd, hook.Host(args[0]), t) }
	return cmd
}

func newHookUninstall(t terminal) *cobra.Command {
	var o installOptions
	cmd := o.command("uninstall HOST [--user|--project]")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return o.uninstall(cmd.OutOrStdout(), hook.Host(args[0]), t)
	}
	return cmd
}

func (o *installOptions) command(use string) *cobra.Command {
	cmd := &cobra.Command{Use: use, ValidArgs: hostNames()}
	cmd.Args = func(_ *cobra.Command, args []string) error {
		hint := "the hosts are " + strings.Join(hostNames(), ", ") + ": " + cmd.CommandPath() + " " + hostNames()[0]
		if len(args) != 1 {
			return misuse(hint, "%s takes one host", cmd.Name())
		}
		if !slices.Contains(hostNames(), args[0]) {
			return misuse(hint+"; for another agent write a loop, as sidecoach --help shows", "unknown host %q", args[0])
		}
		return nil
	}
	bind(cmd.Flags(), "user", &o.user, "project", &o.project)
	return cmd
}

// files returns the settings that may hold the hook, as absolute paths. Install writes the first.
func (o *installOptions) files(h hook.Host) ([]string, error) {
	if o.user && o.project {
		return nil, misuse("leave one of them out", "--user and --project exclude each other")
	}
	home, _ := os.UserHomeDir()
	files := install.Files(h, o.project, home, os.Getenv)
	if len(files) == 0 {
		return nil, badInput("set HOME, or use --project", "there is no home folder")
	}
	for i, name := range files {
		var err error
		if files[i], err = filepath.Abs(name); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// program returns the absolute path of this program. If a link of that name on the search path leads to it, the path
// is the link's: it stays when a package manager puts another version behind it.
func program() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", badInput("run it by its absolute path", "cannot tell where this program is: %v", cause(err))
	}
	if strings.Contains(filepath.ToSlash(path), "/go-build") {
		hint := "build it first: go build -o ~/.local/bin/ ./cmd/sidecoach, then ~/.local/bin/sidecoach hook install …"
		return "", misuse(hint, "this program is a temporary one of go run, and will be deleted")
	}
	if found, err := exec.LookPath(filepath.Base(path)); err == nil && filepath.IsAbs(found) {
		a, _ := os.Stat(found)
		if b, err := os.Stat(path); err == nil && os.SameFile(a, b) {
			return found, nil
		}
	}
	return path, nil
}

func (o *installOptions) install(cmd *cobra.Command, host hook.Host, t terminal) error {
	files, err := o.files(host)
	if err != nil {
		return err
	}
	h, err := o.checked(cmd, host)
	if err != nil {
		return err
	}
	stdout, stderr, file := cmd.OutOrStdout(), cmd.ErrOrStderr(), files[0]
	if o.write {
		text, err := write(h, file, stderr)
		if err != nil {
			_, unprinted := stdout.Write(h.Snippet())
			return errors.Join(err, unprinted)
		}
		if err := t.tell(stdout, text); err != nil {
			return err
		}
	} else {
		if _, err := stdout.Write(h.Snippet()); err != nil {
			return err
		}
		where := "save this as " + file + ", which does not exist yet"
		if exists(file) {
			where = "put this into " + file + ", beside what is there"
		}
		if install.Writable(host) {
			where += "; --write does that"
		}
		complain(stderr, "sidecoach: "+where)
	}
	o.warnTwice(h, file, stderr)
	if hint := trust(h); hint != "" {
		complain(stderr, "hint: "+hint)
	}
	log := "sidecoach log"
	if dir := o.hook.keeper.state; dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		log += " --state " + install.Quote(host, dir)
	}
	complain(stderr, "hint: restart "+host.Product()+"; after an agent has paused there, "+log+" shows the decisions")
	if o.project {
		complain(stderr, "hint: it names a program of this machine: keep it out of version control")
	}
	return nil
}

func (o *installOptions) checked(cmd *cobra.Command, host hook.Host) (h install.Hook, err error) {
	h = install.Hook{Host: host, Timeout: hookSeconds + verifySeconds}
	judging, stderr := &o.hook.judging, cmd.ErrOrStderr()
	if err := judging.check(); err != nil {
		return h, err
	}
	if judging.llm.Timeout > hookJudgeLimit {
		hint := fmt.Sprintf("a hook takes at most %d seconds, so give the LLM at most %v", hookSeconds, hookJudgeLimit)
		return h, misuse(hint, "--timeout %s is too long for a hook", judging.llm.Timeout)
	}
	if judging.asks() {
		if err := judging.missing(); err != nil {
			complain(stderr, fmt.Sprintf("sidecoach: where the hook runs it needs what is missing here: %v", err))
		}
	}
	if c := o.hook.verify; c.words != nil {
		v, err := verifier.New(verifier.Config{
			Dir: cmdwitness.Root("."), Commands: [][]string{c.words}, Timeout: time.Minute,
		})
		if err != nil {
			return h, err
		}
		if why := v.Try(cmd.Context()); why != "" {
			complain(stderr, "sidecoach: "+c.line+" verifies nothing here: "+why)
		}
	}
	if h.Program, err = program(); err == nil {
		h.Flags, err = o.hook.given()
	}
	return h, err
}

// trust says what a host needs before it runs a hook.
func trust(h install.Hook) string {
	switch {
	case h.Host == hook.Codex:
		return "then run /hooks in Codex: it runs a new or changed hook only after you trust it there"
	case h.Host == hook.Gemini:
		return "Gemini CLI runs the hooks of a project only in a trusted folder; /hooks shows them"
	case h.Host == hook.Cursor && strings.Contains(strings.Join(h.Flags, " "), "://"):
		return "Cursor's command-line agent ignores a hooks.json with a URL in a command: " +
			"set OPENAI_BASE_URL instead of --base-url"
	case h.Host == hook.Cursor:
		return "Cursor runs the hooks of a project only in a trusted workspace; the Hooks tab of its settings shows them"
	}
	return ""
}

// warnTwice says that other settings, of the user or of the project, run the hook as well: a host runs both.
func (o *installOptions) warnTwice(h install.Hook, file string, stderr io.Writer) {
	for _, project := range []bool{false, true} {
		names, _ := (&installOptions{project: project}).files(h.Host)
		for _, name := range names {
			f, err := openSettings(name)
			if name == file || err != nil {
				continue
			}
			if _, times, _ := h.Remove(f.text()); times == 0 {
				continue
			}
			how := "remove it there"
			if project != o.project {
				how = "run sidecoach hook uninstall " + string(h.Host)
				if project {
					how += " --project"
				}
			}
			complain(stderr, "sidecoach: "+name+" has the hook, too")
			complain(stderr, "hint: one is enough: "+how)
		}
	}
}

func write(h install.Hook, file string, stderr io.Writer) (string, error) {
	if !install.Writable(h.Host) {
		return "", misuse("put the lines above into "+file, "install does not write settings of %s", h.Host.Product())
	}
	f, err := openSettings(file)
	if err != nil {
		return "", err
	}
	text, err := h.Merge(f.text())
	if err != nil {
		return "", badInput("nothing was written; change the file by hand", "cannot change %q safely: %v", file, err)
	}
	if off := h.Disabled(text); off != "" {
		complain(stderr, fmt.Sprintf("sidecoach: the host does not run the hook while %s has %s", file, off))
	}
	if bytes.Equal(text, f.text()) {
		return "already installed in " + file + "\n", nil
	}
	_, times, _ := h.Remove(f.text())
	kept, err := f.install(text, times > 0)
	said := "installed in " + file + "\n"
	if kept != "" {
		said += "the file before is kept as " + kept + " until uninstall restores it\n"
	}
	return said, err
}

// uninstall removes the hook from all settings of the scope that have it.
func (o *installOptions) uninstall(stdout io.Writer, host hook.Host, t terminal) error {
	files, err := o.files(host)
	if err != nil {
		return err
	}
	h := install.Hook{Host: host, Program: "sidecoach"}
	if path, err := os.Executable(); err == nil {
		h.Program = path
	}
	said := ""
	for _, file := range files {
		text, err := remove(h, file)
		if said += text; err != nil {
			_ = t.tell(stdout, said)
			return err
		}
	}
	if said == "" {
		return t.tell(stdout, "not installed in "+files[0]+"\n")
	}
	if dir, err := stateDir(""); err == nil && exists(dir) {
		said += "the state and the journal of all agents stay in " + dir + "\n"
	}
	return t.tell(stdout, said)
}

// remove removes the hook from one file and returns what to say; "" if it is not there.
func remove(h install.Hook, file string) (string, error) {
	f, err := openSettings(file)
	if err != nil {
		return "", err
	}
	rest, times, err := h.Remove(f.text())
	switch {
	case err != nil:
		return "", badInput("nothing was written; change the file by hand", "cannot change %q safely: %v", file, err)
	case times == 0:
		return "", nil
	case !install.Writable(h.Host) && rest == nil:
		return "delete " + file + ": it has nothing but the hook\n", nil
	case !install.Writable(h.Host):
		return "remove the lines that run sidecoach from " + file + "\n", nil
	}
	said := "removed from " + file + "\n"
	if restored, err := f.restore(); restored || err != nil {
		return said + "it is what it was before install\n", err
	}
	kept, err := f.remove(rest)
	if kept == "" {
		said += "it had nothing but the hook, so it is deleted\n"
	} else {
		said += "the file before is kept as " + kept + "\n"
	}
	if copies := f.copies(); len(copies) > 0 {
		said += "it was changed after install, so the file from before install stays as " +
			strings.Join(copies, ", ") + "\n"
	}
	return said, err
}

type settingsFile struct {
	name string
	data []byte // nil for a missing file
	mode fs.FileMode
}

const (
	maxSettings   = 4 << 20 // bytes
	byteOrderMark = "\ufeff"
	beforeInstall = ".before-sidecoach-" // in the name of a copy
)

// openSettings reads a settings file. A missing file is not an error.
func openSettings(name string) (*settingsFile, error) {
	const hint = "edit the settings by hand"
	f := &settingsFile{name: name}
	info, err := os.Stat(name) // before it is opened, which would wait for the writer of a named pipe
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.isLink():
		return nil, badInput(hint+", or repair the link", "%q is a broken link", name)
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err == nil && !info.Mode().IsRegular():
		return nil, badInput(hint, "%q is not a regular file", name)
	case err == nil && info.Size() > maxSettings:
		return nil, badInput(hint, "%q is larger than %d MiB", name, maxSettings>>20)
	case err == nil:
		f.mode = info.Mode().Perm()
		f.data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, badInput("check its permissions", "cannot read %q: %v", name, cause(err))
	}
	return f, nil
}

func (f *settingsFile) isLink() bool {
	info, err := os.Lstat(f.name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// text returns the settings: without a byte order mark, and "{}" for a missing or empty file.
func (f *settingsFile) text() []byte {
	text := bytes.TrimPrefix(f.data, []byte(byteOrderMark))
	if len(bytes.TrimSpace(text)) == 0 {
		return []byte("{}\n")
	}
	return text
}

// install replaces the settings and keeps a copy of the file. With upgrade the file has another version's hook, so the
// copy from before that one stays. It returns the name of a new copy.
func (f *settingsFile) install(text []byte, upgrade bool) (kept string, err error) {
	if f.data == nil {
		if err := os.MkdirAll(filepath.Dir(f.name), 0o777); err != nil {
			return "", cannot("create the folder of", f.name, err)
		}
		return "", f.write(text)
	}
	if bytes.HasPrefix(f.data, []byte(byteOrderMark)) {
		text = append([]byte(byteOrderMark), text...)
	}
	old, name := f.copyOf(f.data), f.copyOf(text)
	if upgrade {
		if err = f.write(text); err == nil && exists(old) {
			err = os.Rename(old, name)
		}
		return "", err
	}
	if err := f.copyTo(name); err != nil {
		return "", err
	}
	if err := f.write(text); err != nil {
		os.Remove(name) // nothing was changed
		return "", err
	}
	return name, nil
}

// copyOf returns the name of the copy that install makes when it writes data. So a copy is found only while nobody has
// changed the file.
func (f *settingsFile) copyOf(data []byte) string {
	return fmt.Sprintf("%s%s%.4x", f.name, beforeInstall, sha256.Sum256(data))
}

// copies returns the names of all copies that install made and uninstall has not restored.
func (f *settingsFile) copies() (names []string) {
	entries, _ := os.ReadDir(filepath.Dir(f.name))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(f.name)+beforeInstall) {
			names = append(names, filepath.Join(filepath.Dir(f.name), e.Name()))
		}
	}
	return names
}

func (f *settingsFile) copyTo(name string) error {
	return cannot("copy", f.name, os.WriteFile(name, f.data, f.mode))
}

// restore puts back the copy that install made, if nobody has changed the file since.
func (f *settingsFile) restore() (restored bool, err error) {
	name := f.copyOf(f.data)
	before, err := os.ReadFile(name)
	if err != nil {
		return false, nil
	}
	if err := f.write(before); err != nil {
		return false, err
	}
	return true, os.Remove(name)
}

// remove writes what uninstall leaves, and returns the name of the copy that it has made. It deletes a file of which
// nothing is left.
func (f *settingsFile) remove(rest []byte) (kept string, err error) {
	if rest == nil && !f.isLink() {
		if err := f.unchanged(); err != nil {
			return "", err
		}
		return "", cannot("remove", f.name, os.Remove(f.name))
	}
	kept = fmt.Sprintf("%s.before-uninstall-%.4x", f.name, sha256.Sum256(f.data))
	if err := f.copyTo(kept); err != nil {
		return "", err
	}
	if rest == nil {
		rest = []byte("{}\n")
	}
	return kept, f.write(rest)
}

func (f *settingsFile) write(data []byte) error {
	if err := f.unchanged(); err != nil {
		return err
	}
	return cannot("write", f.name, filestore.WriteFile(f.name, data, 0o666))
}

// unchanged returns an error if the file has changed since it was read.
func (f *settingsFile) unchanged() error {
	now, err := openSettings(f.name)
	if err != nil || !bytes.Equal(now.data, f.data) {
		return badInput("try again", "another program changed %q meanwhile", f.name)
	}
	return nil
}
