package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newHelp is the command help. The library's own prints the general help for an unknown command, and succeeds.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:                   "help [COMMAND]...",
		Short:                 "Help about a command, the flags of a judge, or the licences",
		Long:                  "Print what sidecoach, or one of its commands, does and how it is used.",
		DisableFlagsInUseLine: true,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			about, ok := commandAt(cmd.Root(), args)
			if !ok {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return commands(about), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && topics[args[0]] != nil {
				return topics[args[0]](cmd.OutOrStdout())
			}
			about, ok := commandAt(cmd.Root(), args)
			if ok {
				return helpOn(about)
			}
			return misuse("the commands are "+strings.Join(commands(cmd.Root()), ", ")+
				"; sidecoach help without one is about all", "no command %q to help with", strings.Join(args, " "))
		},
	}
}

// topics are what help explains beside the commands.
var topics = map[string]func(io.Writer) error{"judge": helpOnJudge, "licences": func(w io.Writer) error {
	_, err := io.WriteString(w, licences)
	return err
}}

func helpOnJudge(w io.Writer) error {
	f := pflag.NewFlagSet("judge", pflag.ContinueOnError)
	f.SortFlags = false
	new(judging).register(f)
	_, err := fmt.Fprintf(w, "These flags choose and tune a judge. sidecoach and sidecoach hook take them.\n\n%s",
		f.FlagUsagesWrapped(80))
	return err
}

//go:embed licences.txt
var licences string

// commandAt returns the command that names lead to.
func commandAt(c *cobra.Command, names []string) (*cobra.Command, bool) {
	for _, name := range names {
		i := slices.IndexFunc(c.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
		if i < 0 {
			return nil, false
		}
		c = c.Commands()[i]
	}
	return c, true
}

// helpOn prints the help of a command with the flags that the library adds last.
func helpOn(c *cobra.Command) error {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	return c.Help()
}

// commands returns the names of the commands, sorted.
func commands(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

func newCompletion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print the completion script of a shell",
		Long: `Print the script that lets a shell complete the flags and arguments of
sidecoach.

bash, which needs the package bash-completion:
  source <(sidecoach completion bash)

zsh, once, after compinit is enabled:
  sidecoach completion zsh > "${fpath[1]}/_sidecoach"

fish:
  sidecoach completion fish > ~/.config/fish/completions/sidecoach.fish`,
		DisableFlagsInUseLine: true,
		ValidArgs:             shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return misuse("sidecoach completion bash", "completion takes one shell: %s", strings.Join(shells, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			}
			return misuse("the shells are "+strings.Join(shells, ", "), "no completion for %q", args[0])
		},
	}
}

// version describes the binary, and the modules in it, from what the linker wrote into it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown\n"
	}
	return describe(info)
}

func describe(info *debug.BuildInfo) string {
	set := make(map[string]string)
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	revision := "no revision recorded"
	if set["vcs.revision"] != "" {
		revision = "revision " + set["vcs.revision"]
	}
	if set["vcs.modified"] == "true" {
		revision += ", modified"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s) %s %s/%s\n",
		cmp.Or(info.Main.Version, "(devel)"), revision, info.GoVersion, set["GOOS"], set["GOARCH"])
	for _, m := range info.Deps {
		fmt.Fprintf(&b, "  with %s %s\n", m.Path, m.Version)
	}
	return b.String() + "sidecoach help licences prints their licences.\n"
}
