package main

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

//go:embed help/*.txt help/topics/*.txt
var helpTexts embed.FS

// document gives c, and the commands below it, their help and completion. A file of the folder help has a headline, a
// text, and examples. The name of a flag's value, which its usage has, says how a shell completes it.
func document(c *cobra.Command) {
	file := strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "sidecoach "), " ", "_")
	if text, err := helpTexts.ReadFile("help/" + file + ".txt"); err == nil {
		text, example, _ := strings.Cut(string(text), "\nExamples:\n")
		c.Short, c.Long, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
		c.Example = strings.TrimRight(example, "\n")
	}
	c.DisableFlagsInUseLine, c.Flags().SortFlags = true, false
	if c.HasParent() {
		c.SuggestionsMinimumDistance = 2
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		explain(f, c.CommandPath())
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

// flagTexts are the usages of flags in help/flags.txt, by the names of the command and the flag.
var flagTexts = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	all, _ := helpTexts.ReadFile("help/flags.txt") // it is there
	for line := range strings.Lines(string(all)) {
		name, usage, _ := strings.Cut(strings.TrimSpace(line), ": ")
		texts[name] = usage
	}
	return texts
})

// explain sets the usage of a flag: that of its command, of a command above it, or of all commands.
func explain(f *pflag.Flag, path string) {
	f.Usage = ""
	words := strings.Fields(path)
	if len(words) > 1 {
		words = words[1:] // without "sidecoach"
	}
	for ; len(words) > 0 && f.Usage == ""; words = words[:len(words)-1] {
		f.Usage = flagTexts()[strings.Join(words, " ")+" "+f.Name]
	}
	f.Usage = cmp.Or(f.Usage, flagTexts()[f.Name])
	if c, ok := f.Value.(*choice); ok {
		f.Usage = strings.ReplaceAll(f.Usage, "%s", strings.Join(c.allowed, ", "))
	}
}

// newHelp is the command help. Cobra's own prints the general help for an unknown command, and succeeds.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]...",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return commands(about), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch strings.Join(args, " ") {
			case "judge":
				return helpOnJudge(cmd.OutOrStdout())
			case "licences":
				_, err := io.WriteString(cmd.OutOrStdout(), licences)
				return err
			}
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				hint := "the commands are " + strings.Join(commands(about), ", ") + "; sidecoach help without one is about all"
				return misuse(didYouMean(about, rest[0], hint), "no command %q to help with", strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag() // help lists the flags that cobra adds last
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

func helpOnJudge(w io.Writer) error {
	f := noFlags()
	new(judging).register(f)
	f.VisitAll(func(flag *pflag.Flag) { explain(flag, "") })
	answer, _ := helpTexts.ReadFile("help/topics/judge.txt") // it is there
	_, err := fmt.Fprintf(w, "These flags choose and tune a judge. sidecoach and sidecoach hook take them.\n\n%s\n%s",
		f.FlagUsagesWrapped(80), answer)
	return err
}

//go:embed licences.txt
var licences string

// didYouMean returns a hint with the command below c that a misspelt word probably means; else the other hint.
func didYouMean(c *cobra.Command, word, other string) string {
	if near := c.SuggestionsFor(word); len(near) > 0 {
		return "did you mean " + c.CommandPath() + " " + near[0] + "?"
	}
	return other
}

func commands(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

func newCompletion() *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish",
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch strings.Join(args, " ") {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			}
			return misuse("sidecoach completion bash", "completion takes one shell: bash, zsh, fish")
		},
	}
}

// version describes the binary, and the modules in it, from what the linker wrote into it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return describe(info)
	}
	return "unknown\n"
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
