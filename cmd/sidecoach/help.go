package main

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

//go:embed help/*.txt
var helpTexts embed.FS

// document gives c, and the commands below it, what stands beside the code. A file of the folder help has a headline, a
// text, and examples. The name of a flag's value, which its usage has, says how a shell completes it.
func document(c *cobra.Command) {
	file := strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "sidecoach "), " ", "_")
	if text, err := helpTexts.ReadFile("help/" + file + ".txt"); err == nil {
		text, example, _ := strings.Cut(string(text), "\nExamples:\n")
		c.Short, c.Long, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
		c.Example = strings.TrimRight(example, "\n")
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		var words []string
		directive := cobra.ShellCompDirectiveNoFileComp
		name, _ := pflag.UnquoteUsage(f)
		value, isChoice := f.Value.(*choice)
		switch {
		case isChoice:
			words = value.allowed
		case f.Name == "plan":
			words, directive = []string{"md", "markdown"}, cobra.ShellCompDirectiveFilterFileExt
		case name == "DIR":
			directive = cobra.ShellCompDirectiveFilterDirs
		case name == "FILE", name == "PATH":
			directive = cobra.ShellCompDirectiveDefault
		}
		if err := c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, directive)); err != nil {
			panic(err) // two commands share a flag
		}
	})
	for _, below := range c.Commands() {
		document(below)
	}
}

// newHelp is the command help. The library's own prints the general help for an unknown command, and succeeds.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:                   "help [COMMAND]...",
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
		Use:                   "completion bash|zsh|fish",
		DisableFlagsInUseLine: true,
		ValidArgs:             shells,
		Args: func(_ *cobra.Command, args []string) error {
			list := strings.Join(shells, ", ")
			switch {
			case len(args) != 1:
				return misuse("sidecoach completion bash", "completion takes one shell: %s", list)
			case !slices.Contains(shells, args[0]):
				return misuse("the shells are "+list, "no completion for %q", args[0])
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
			}
			return root.GenFishCompletion(out, true)
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
