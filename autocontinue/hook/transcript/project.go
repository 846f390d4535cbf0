package transcript

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// project is where the agent works, with slashes: the repository where there is one, for the agent may work in a folder
// of it. To the zero value, an unknown project, all files but temporary ones belong.
type project string

func projectOf(dir string) project {
	if strings.IndexByte(dir, 0) >= 0 || !rooted(slashed(dir)) {
		return ""
	}
	root := filepath.Clean(dir)
	for up := root; ; up = filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
			return project(slashed(up))
		}
		if up == filepath.Dir(up) {
			return project(slashed(root))
		}
	}
}

// holds reports whether a file is one of the project. A relative name is: where it starts is not known.
func (p project) holds(file string) bool {
	file = slashed(file)
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(file, "~/") {
		file = slashed(home) + file[1:]
	}
	switch {
	case pattern("temporary").MatchString(file+"/") && !pattern("temporary").MatchString(string(p)+"/"):
		return false
	case !rooted(file) || p == "" || below(string(p), file):
		return true
	}
	// The two may name one folder in different ways. What does not exist any more keeps its name.
	root, gone := filepath.EvalSymlinks(string(p))
	folder, err := filepath.EvalSymlinks(filepath.Dir(file))
	return gone == nil && err == nil && below(slashed(root), slashed(folder)+"/x")
}

// name returns a file for people: relative to the project where it lies in it.
func (p project) name(file string) string {
	if below(string(p), file) {
		file = strings.TrimPrefix(strings.TrimPrefix(path.Clean(slashed(file)), string(p)), "/")
	}
	return plaintext.Line(file, maxCommand)
}

func (w *walker) resolve(file string) string {
	f := slashed(file)
	if f == "" || rooted(f) || strings.HasPrefix(f, "~") || strings.HasPrefix(f, "$") || w.dir == "" {
		return f
	}
	return path.Join(slashed(w.dir), f)
}

func below(folder, file string) bool {
	folder, file = strings.TrimSuffix(path.Clean(slashed(folder)), "/")+"/", path.Clean(slashed(file))
	if hasDrive(folder) { // where letter case makes no difference
		folder, file = strings.ToLower(folder), strings.ToLower(file)
	}
	return strings.HasPrefix(file, folder)
}

// slashed writes a Windows path with slashes. Elsewhere a backslash is part of a name.
func slashed(name string) string {
	if hasDrive(name) || strings.HasPrefix(name, `\\`) || strings.HasPrefix(name, `~\`) {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	return name
}

func hasDrive(name string) bool { return pattern("drive").MatchString(name) }

func rooted(name string) bool { return strings.HasPrefix(name, "/") || hasDrive(name) }

// isCode reports whether an edit of a file needs a check.
func isCode(name string) bool {
	base := strings.ToLower(baseName(name))
	ext := path.Ext(base)
	switch {
	case isFile("document", base):
		return false
	case !isFile("document", ext):
		return true
	case ext == ".txt" || ext == ".mdx":
		word := base[:strings.IndexAny(base, "-_.")] // "requirements-dev.txt"
		inTests := func(part string) bool { return isFile("test-data", part) }
		folders := strings.Split(strings.ToLower(slashed(name)), "/")
		return isFile("code-text", word) || slices.ContainsFunc(folders, inTests)
	}
	return false
}

// isSource reports whether a file holds source code: it must be built or loaded again when it moves.
func isSource(name string) bool {
	return name == "" || isFile("source", strings.ToLower(path.Ext(name)))
}
