package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// newHelp is the command help. The library's own prints the general help for a command that does not exist, and succeeds.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:                   "help [COMMAND]...",
		Short:                 "Help about a command",
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
			about, ok := commandAt(cmd.Root(), args)
			if ok {
				return helpOn(about)
			}
			return misuse("the commands are "+strings.Join(commands(cmd.Root()), ", ")+"; sidecoach help without one is about all",
				"no command %q to help with", strings.Join(args, " "))
		},
	}
}

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
