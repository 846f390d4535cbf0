package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// newHelp is the command help. The library's own prints the general help for a command that does not exist, and succeeds.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:                   "help [COMMAND]",
		Short:                 "Help about a command",
		Long:                  "Print what sidecoach, or one of its commands, does and how it is used.",
		DisableFlagsInUseLine: true,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return commands(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch len(args) {
			case 0:
				return helpOn(root)
			case 1:
				for _, c := range root.Commands() {
					if c.Name() == args[0] {
						return helpOn(c)
					}
				}
			}
			return misuse("the commands are "+strings.Join(commands(root), ", ")+"; sidecoach help without one is about all",
				"no command %q to help with", strings.Join(args, " "))
		},
	}
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
