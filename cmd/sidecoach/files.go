package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// maxInput bounds what is read, in bytes: an agent's last message is far smaller, a runaway log is not.
const maxInput = 64 << 20

// readOutput returns the agent's output: the file that args names, or stdin if args is empty or names "-". With
// keyboard, stdin is a terminal, and an output must be named.
func readOutput(args []string, stdin io.Reader, keyboard bool) (string, error) {
	switch {
	case len(args) == 0 && keyboard:
		return "", misuse("pipe in what the agent printed last, some-agent | sidecoach, "+
			"or name a file with it, sidecoach output.txt", "no input: nothing is piped in and no FILE is named")
	case len(args) == 0 || args[0] == "-":
		return readAll(stdin, "the input")
	}
	f, err := os.Open(args[0])
	if err != nil {
		return "", badInput("check the name; pipe in a text: echo 'All done.' | sidecoach", "cannot open %q: %v", args[0],
			cause(err))
	}
	defer f.Close()
	return readAll(f, "the file")
}

func readAll(r io.Reader, what string) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	switch {
	case err != nil:
		return "", badInput("try again with a copy of it", "cannot read %s: %v", what, cause(err))
	case len(text) > maxInput:
		return "", badInput("give what the agent printed last, not its whole log",
			"%s is larger than %d MiB", what, maxInput>>20)
	}
	return string(text), nil
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

// masked returns s without secrets. What is printed goes through it, see [visible] and [writeJSON].
func masked(s string) string { return plaintext.Redact(s, ownSecrets()...) }

// openPlan opens the working tree dir and returns the plan's name in it, with slashes and without links. The plan is a
// regular file in the tree. The caller closes the tree.
func openPlan(dir, name string) (tree *os.Root, local string, err error) {
	file := name
	if !filepath.IsAbs(name) {
		file = filepath.Join(dir, name)
	}
	for _, path := range []*string{&dir, &file} {
		if err == nil {
			*path, err = filepath.Abs(*path)
		}
		if err == nil {
			*path, err = filepath.EvalSymlinks(*path)
		}
	}
	if err == nil {
		local, err = filepath.Rel(dir, file)
	}
	switch {
	case err != nil:
	case !filepath.IsLocal(local):
		err = errors.New("it lies outside the working tree")
	case !isRegular(file): // to open a named pipe would wait for its writer
		err = errors.New("it is not a regular file")
	default:
		tree, err = os.OpenRoot(dir)
	}
	if err != nil {
		return nil, "", badInput("--plan takes the name of a Markdown file in the working tree", "cannot use the plan %q: %v",
			name, cause(err))
	}
	return tree, filepath.ToSlash(local), nil
}

// readRegular reads a file that is no pipe: to open one would wait for its writer.
func readRegular(name string) ([]byte, error) {
	if exists(name) && !isRegular(name) {
		return nil, errors.New("it is not a regular file")
	}
	return os.ReadFile(name)
}

func isRegular(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// checkPage returns what is wrong with the name of a page, which could be that of a file with cases or a transcript.
func checkPage(name string) error {
	if name != "" && filepath.Ext(name) != ".html" {
		return misuse("name a file that ends in .html", "--html cannot be %q", name)
	}
	return nil
}

// writePage writes the page of --html, as a whole or not at all.
func writePage(name string, view evaluate.View) error {
	if name == "" {
		return nil
	}
	var page bytes.Buffer
	err := view.HTML(&page)
	if err == nil {
		err = filestore.WriteFile(name, page.Bytes(), 0o600)
	}
	return cannot("write", name, err)
}

// cannot words an error about a file that cannot be written, copied or removed; nil stays nil.
func cannot(do, name string, err error) error {
	if err == nil {
		return nil
	}
	return badInput(checkFolder, "cannot %s %q: %v", do, name, cause(err))
}

const checkFolder = "check the folder, its permissions and the space on the disk"
