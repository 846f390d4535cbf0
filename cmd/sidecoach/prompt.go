package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/classify/llm"
)

func newPrompt() *cobra.Command {
	return &cobra.Command{
		Use:                   "prompt DIR",
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return misuse("sidecoach prompt my-prompt", "prompt takes one folder")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return writePrompt(cmd.OutOrStdout(), args[0]) },
	}
}

// writePrompt writes the files of the built-in prompt into dir and says which.
func writePrompt(w io.Writer, dir string) error {
	prompt := llm.Prompt()
	names, err := fs.Glob(prompt, "*")
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return badInput("name another folder, or remove the file", "%q is there already and is not overwritten",
				filepath.Join(dir, name))
		}
	}
	if err := os.CopyFS(dir, prompt); err != nil {
		return badInput("check the name and the permissions of the folder", "cannot write the prompt to %q: %v",
			dir, cause(err))
	}
	for _, name := range names {
		if _, err := fmt.Fprintln(w, visible(filepath.Join(dir, name))); err != nil {
			return err
		}
	}
	return nil
}
