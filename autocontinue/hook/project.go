package hook

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// project is where the agent works: what it changes elsewhere makes no test run stale. The zero value is one that is not
// known, to which all but temporary files belong.
type project struct {
	root string // with slashes; of the repository where there is one, for the agent may work in a folder of it
}

// project finds the project of the event's working directory.
func (e Event) project() project {
	dir := e.WorkDir.Value
	if strings.IndexByte(dir, 0) >= 0 || !filepath.IsAbs(dir) && !rooted(slashed(dir)) {
		return project{}
	}
	root := filepath.Clean(dir)
	for up := root; ; up = filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
			root = up
			break
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	return project{root: slashed(root)}
}

// touched reports whether a change of any of these files can change what the project's tests say. "" is some file.
func (p project) touched(files ...string) bool {
	return slices.ContainsFunc(files, func(f string) bool { return f == "" || isCode(f) && p.holds(f) })
}

// holds reports whether a file is the project's. A relative one is: where a shell stood is not known.
func (p project) holds(file string) bool {
	file = slashed(file)
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return false
		}
		file = slashed(home) + "/" + rest
	}
	switch {
	case strings.HasPrefix(file, "$TMPDIR"), strings.HasPrefix(file, "${TMPDIR"):
		return false
	case !rooted(file):
		return true
	case isTemporary(file) && !isTemporary(p.root):
		return false
	case p.root == "" || within(p.root, file):
		return true
	}
	// The two may name one folder in different ways. What does not exist any more keeps its name.
	root, err := filepath.EvalSymlinks(p.root)
	if err != nil {
		return false
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(file))
	return err == nil && within(slashed(root), slashed(folder)+"/x")
}

// within reports whether a file lies below a folder. Both have slashes.
func within(folder, file string) bool {
	folder, file = filepath.ToSlash(filepath.Clean(folder)), filepath.ToSlash(filepath.Clean(file))
	if !strings.HasSuffix(folder, "/") {
		folder += "/"
	}
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

func hasDrive(name string) bool {
	return len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/') && ('a' <= name[0]|0x20 && name[0]|0x20 <= 'z')
}

func rooted(name string) bool { return strings.HasPrefix(name, "/") || hasDrive(name) }

// isTemporary reports whether a file lies where systems keep temporary files.
func isTemporary(name string) bool {
	for _, dir := range []string{"/tmp/", "/var/tmp/", "/private/tmp/", "/private/var/tmp/", "/var/folders/", "/private/var/folders/", "/dev/shm/"} {
		if strings.HasPrefix(name+"/", dir) {
			return true
		}
	}
	return hasDrive(name) && strings.Contains(strings.ToLower(name)+"/", "/appdata/local/temp/")
}
