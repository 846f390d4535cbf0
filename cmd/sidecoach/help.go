package main

import (
	"cmp"
	"embed"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

//go:embed help/*.txt help/topics/*.txt
var helpTexts embed.FS

// document gives c, and the commands below it, their help and completion. A file of the folder help has a headline, a
// text, and examples.
func document(c *cobra.Command) {
	file := strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "sidecoach "), " ", "_")
	if text, err := helpTexts.ReadFile("help/" + file + ".txt"); err == nil {
		text, example, _ := strings.Cut(string(text), "\nExamples:\n")
		c.Short, c.Long, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
		c.Example = strings.TrimRight(example, "\n")
	}
	c.DisableFlagsInUseLine, c.Flags().SortFlags = true, false
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		f.Usage = usage(f, c.CommandPath())
		if v, ok := f.Value.(*choice); ok {
			_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(v.allowed, cobra.ShellCompDirectiveNoFileComp))
		}
	})
	if run := c.RunE; run != nil {
		c.RunE = func(cmd *cobra.Command, args []string) error { return noDecision(run(cmd, args), showHuman) }
	}
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

// usage returns the usage of a flag: that of its command, of a command above it, or of all commands.
func usage(f *pflag.Flag, path string) string {
	text := flagTexts()[f.Name]
	words := strings.Fields(strings.TrimPrefix(path, "sidecoach "))
	for i := range words {
		text = cmp.Or(flagTexts()[strings.Join(words[:i+1], " ")+" "+f.Name], text)
	}
	if c, ok := f.Value.(*choice); ok {
		text = strings.ReplaceAll(text, "%s", strings.Join(c.allowed, ", "))
	}
	return text
}

//go:embed licences.txt
var licences string

// topics are what sidecoach help tells of, beside the commands.
func topics() []*cobra.Command {
	f := new(pflag.FlagSet)
	new(judging).register(f)
	f.VisitAll(func(flag *pflag.Flag) { flag.Usage = usage(flag, "") })
	judge, _ := helpTexts.ReadFile("help/topics/judge.txt") // it is there
	return []*cobra.Command{
		{Use: "judge", Short: "The flags that choose and tune a judge", Long: "These flags choose and tune a judge. " +
			"sidecoach, hook install, eval and\nreplay take them.\n\n" + f.FlagUsagesWrapped(80) + "\n" + string(judge)},
		{Use: "licences", Short: "The licences of the modules in this program", Long: licences},
	}
}

// version describes the binary, and the modules in it, from what the linker wrote into it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown\n"
	}
	return fmt.Sprintf("%s %s\n%ssidecoach help licences prints the licences of the modules.\n",
		cmp.Or(info.Main.Version, "(devel)"), info.GoVersion, info)
}
