package cmdwitness

import (
	"os"
	"path/filepath"

	"github.com/sidecoach/sidecoach/coach/verify/internal/project"
)

// Find returns the command by which the project in a folder tests itself, and the name of the file that says so. It
// returns nothing where there is no sign of tests. It runs nothing.
func Find(dir string) (command []string, by string) { return project.Find(os.DirFS(dir)) }

// Root returns the folder of the project that dir is in: the outermost folder that holds a project file such as
// go.mod or package.json, up to the top of the repository. Without one it is the top of the repository, and outside
// of a repository dir itself.
func Root(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "."
	}
	outermost := ""
	for at := dir; ; at = filepath.Dir(at) {
		for _, name := range project.Markers {
			if fileExists(filepath.Join(at, name)) {
				outermost = at
				break
			}
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			if outermost == "" {
				return at
			}
			return outermost
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// missing says why a project does not have a claimed command, or "".
func missing(dir string, command []string) string { return project.Lacks(os.DirFS(dir), command) }
