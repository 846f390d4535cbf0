package main

import (
	"errors"
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
		Use:   "prompt DIR",
		Short: "Write the built-in LLM prompt to a folder, to start from",
		Long: `Write the prompt with which an LLM judges into a folder: system.md says how,
examples.jsonl holds judged outputs. Change a word there and see what it does:

  sidecoach eval --cases cases.jsonl --classifier llm --prompt DIR

A file that is there already is never overwritten.`,
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

// writePrompt writes the files of the built-in prompt into dir and says which, or writes none.
func writePrompt(w io.Writer, dir string) error {
	prompt := llm.Prompt()
	entries, err := fs.ReadDir(prompt, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if _, err := os.Lstat(name); err == nil {
			return badInput("name another folder, or remove the file", "%q is there already and is not overwritten", name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return badInput("name a folder", "cannot write %q: %v", name, cause(err))
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return badInput("check the name and the permissions of the folder", "cannot make the folder %q: %v", dir, cause(err))
	}
	for _, e := range entries {
		b, err := fs.ReadFile(prompt, e.Name())
		if err != nil {
			return err
		}
		name := filepath.Join(dir, e.Name())
		f, err := createAtomic(name, 0o666)
		if err != nil {
			return err
		}
		defer f.discard()
		if err := f.commit(func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, visible(name)); err != nil {
			return err
		}
	}
	return nil
}
