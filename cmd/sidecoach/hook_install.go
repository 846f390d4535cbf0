package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/autocontinue/hook/install"
)

type installOptions struct {
	user, project, write bool
	hook                 *hookOptions // of install: they go into the hook's command line
}

func newHookInstall(t terminal) *cobra.Command {
	var o installOptions
	cmd := o.command("install HOST [--user|--project] [--write] [flags]",
		func(cmd *cobra.Command, h hook.Host, files []string) error { return o.install(cmd, h, files[0], t) })
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
	if missing == nil && judging.isProgram() {
		_, missing = exec.LookPath(judging.program().Program())
	}
	if words := o.hook.verify.words; missing == nil && words != nil {
		_, missing = exec.LookPath(words[0])
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
