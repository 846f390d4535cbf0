package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// maxInput bounds what is read, in bytes: an agent's last message is far smaller, a runaway log is not.
const maxInput = 64 << 20

// readOutput returns the agent's output: the file that args names, or stdin if args is empty or names "-". With
// keyboard, stdin is a terminal, and an output must be named.
func readOutput(args []string, stdin io.Reader, keyboard bool) (string, error) {
	if len(args) == 0 && keyboard {
		return "", misuse("pipe in what the agent printed last, some-agent | sidecoach, "+
			"or name a file with it, sidecoach output.txt", "no input: nothing is piped in and no FILE is named")
	}
	if len(args) == 0 || args[0] == "-" {
		return readAll(stdin, "the input")
	}
	name := args[0]
	f, err := os.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", badInput("check the name; pipe in a text: echo 'All done.' | sidecoach", "no such file: %q", name)
	case err != nil:
		return "", badInput("check its name and permissions", "cannot open %q: %v", name, cause(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return "", badInput("name the file with what the agent printed last", "%q is a directory", name)
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
	case n > maxInput:
		return "", badInput("give what the agent printed last, not its whole log",
			"%s is larger than %d MiB", what, maxInput>>20)
	}
	return text.String(), nil
}

// ownSecrets returns the keys and passwords in this program's environment, its own API key among them. What is short is
// not taken for a secret: "none" and "ollama" are keys of local servers.
func ownSecrets() (secrets []string) {
	const shortest = 16 // bytes
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name)
		for _, suffix := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD"} {
			if strings.HasSuffix(name, suffix) && len(value) >= shortest {
				secrets = append(secrets, value)
			}
		}
	}
	return secrets
}

// redact masks secrets before a text is shown.
func redact(text string) string { return plaintext.Redact(text, ownSecrets()...) }
