package main

import (
	"strings"

	"github.com/spf13/cobra"
)

func newCompletion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print the completion script of a shell",
		Long: `Print the script that lets a shell complete flags and arguments of sidecoach.

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
