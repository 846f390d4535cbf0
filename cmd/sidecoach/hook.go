package main

import (
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

// hookOptions are the flags that a hook's command line may have: they are its configuration.
type hookOptions struct {
	plan    string
	policy  policyFlags
	verify  command
	notify  command
	shadow  bool
	keeper  keeperOptions
	judging judging
	flags   *pflag.FlagSet // of the command
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
	own := newHookOptions(noFlags()).flags
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

func hostNames() []string {
	var names []string
	for _, h := range hook.Hosts() {
		names = append(names, string(h))
	}
	return names
}

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
			hint := "the hosts are " + strings.Join(hostNames(), ", ") + "; sidecoach hook install HOST sets one up"
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
