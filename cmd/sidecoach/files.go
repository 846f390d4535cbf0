package main

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
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

// openPlan opens the working tree, which is a directory and what is below it, and returns the plan's name in it, with
// slashes. The plan can be read and lies in the tree, whatever symbolic links it takes. The caller closes the tree.
func openPlan(dir, name string) (*os.Root, string, error) {
	dir, err := filepath.Abs(dir)
	local, ok := "", false
	if err == nil {
		local, ok = inWorkingTree(dir, name)
	}
	if !ok {
		return nil, "", outside(name)
	}
	tree, err := os.OpenRoot(dir)
	if err != nil {
		return nil, "", badInput("run sidecoach in a directory that can be read",
			"cannot open the working tree: %v", cause(err))
	}
	if err := readable(tree, dir, local, name); err != nil {
		tree.Close()
		return nil, "", err
	}
	return tree, filepath.ToSlash(local), nil
}

// readable returns an error unless local is a regular file in the tree that can be opened. The errors call it name.
func readable(tree *os.Root, dir, local, name string) error {
	info, err := tree.Stat(local) // before Open, which would wait for the writer of a named pipe
	if err == nil && !info.Mode().IsRegular() {
		return badInput("--plan takes the name of a Markdown file", "the plan %q is not a regular file", name)
	}
	if err == nil {
		var f *os.File
		if f, err = tree.Open(local); err == nil {
			return f.Close()
		}
	}
	_, beyond := os.Stat(filepath.Join(dir, local))
	switch {
	case beyond == nil && info == nil && !errors.Is(err, fs.ErrPermission):
		return outside(name) // it is there, but not for those who stay in the tree
	case errors.Is(err, fs.ErrNotExist):
		return badInput("--plan takes the name of a Markdown file in the working tree", "no such plan: %q", name)
	}
	return badInput("check its name and permissions", "cannot open the plan %q: %v", name, cause(err))
}

func outside(name string) error {
	return badInput("run sidecoach in the directory with the plan, or in one above it",
		"the plan %q lies outside the working tree", name)
}

// inWorkingTree returns name relative to dir, an absolute one, if it lies there. Links may lead to either of them. What
// the name itself is stays to the tree: it follows no link out.
func inWorkingTree(dir, name string) (string, bool) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	resolve := func(path string) string {
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			return resolved
		}
		return path
	}
	resolved := filepath.Join(resolve(filepath.Dir(name)), filepath.Base(name))
	for _, try := range [][2]string{{dir, name}, {resolve(dir), name}, {resolve(dir), resolved}} {
		if local, err := filepath.Rel(try[0], try[1]); err == nil && filepath.IsLocal(local) {
			return local, true
		}
	}
	return "", false
}

// atomicFile is an output file that is there as a whole or not at all, see [filestore.Create].
type atomicFile struct {
	name string
	file *filestore.File
}

// createAtomic prepares to write a file, and finds out whether it can be written. A new file gets the permissions perm.
func createAtomic(name string, perm fs.FileMode) (*atomicFile, error) {
	f, err := filestore.Create(name, perm)
	return &atomicFile{name, f}, cannot("write", name, err)
}

// commit has write fill the file and puts it in its place.
func (a *atomicFile) commit(write func(io.Writer) error) error {
	w := bufio.NewWriter(a.file)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = a.file.Commit()
	}
	return cannot("write", a.name, err)
}

// discard removes what was not committed.
func (a *atomicFile) discard() { a.file.Close() }

// cannot words an error about a file that cannot be written, copied or removed; nil stays nil.
func cannot(do, name string, err error) error {
	if err == nil {
		return nil
	}
	return badInput(checkFolder, "cannot %s %q: %v", do, name, cause(err))
}

const checkFolder = "check the folder, its permissions and the space on the disk"
