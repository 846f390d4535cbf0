package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
)

// maxInput bounds what is read, in bytes: an agent's last message is far smaller, a runaway log is not.
const maxInput = 64 << 20

// readOutput returns the agent's output: the file that args names, or stdin when args is empty or names "-". keyboard says
// that stdin is a terminal; without a name there is nothing to read then.
func readOutput(args []string, stdin io.Reader, keyboard bool) (string, error) {
	if len(args) == 0 && keyboard {
		return "", misuse("pipe in what the agent printed last, some-agent | sidecoach, or name a file that holds it, sidecoach output.txt",
			"no input: nothing is piped in and no FILE is named")
	}
	if len(args) == 0 || args[0] == "-" {
		return readAll(stdin, "the input")
	}
	name := args[0]
	f, err := os.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", badInput("check the name; text itself goes in through a pipe: echo 'All done.' | sidecoach", "no such file: %q", name)
	case err != nil:
		return "", badInput("check its name and permissions", "cannot open %q: %v", name, cause(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return "", badInput("name the file that holds what the agent printed last", "%q is a directory", name)
	}
	return readAll(f, "the file")
}

// readAll reads r to its end; what names it in errors.
func readAll(r io.Reader, what string) (string, error) {
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(r, maxInput+1))
	switch {
	case err != nil:
		return "", badInput("try again with a copy of it", "cannot read %s: %v", what, cause(err))
	case n == 0:
		return "", badInput("look at the agent's exit status and its stderr; an output that was really blank is sent as a line: echo | sidecoach",
			"%s is empty: the agent may have died before it printed anything", what)
	case n > maxInput:
		return "", badInput("hand in what the agent printed last, not its whole log", "%s is larger than %d MiB", what, maxInput>>20)
	}
	return text.String(), nil
}
