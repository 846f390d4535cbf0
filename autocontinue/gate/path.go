package gate

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// root is the folder that a path test knows. Without files, it takes paths as they are written.
type root struct {
	files fs.ReadLinkFS
	dir   string // the absolute name of the folder, for absolute paths
}

const maxLinks = 40

func parsePaths(paths []string) ([]string, error) {
	for i, p := range paths {
		switch {
		case p == "" || path.IsAbs(p) || slices.Contains(strings.Split(p, "/"), ".."):
			return nil, errors.New(`write a file or folder below the root, such as "src"; "." is the root`)
		case oddPath(p):
			return nil, errors.New(`a path has no wildcards, backslashes or unusual characters: "src" is everything below src`)
		}
		paths[i] = path.Clean(p)
	}
	return paths, nil
}

// holds reports whether a path is one of some files or folders, or below one.
func (r *root) holds(paths []string, name string, allow bool) outcome {
	if r == nil {
		return is(!allow)
	}
	if slices.Contains(strings.FieldsFunc(name, func(c rune) bool { return c == '/' || c == '\\' }), "..") {
		return refused
	}
	at, clear := r.resolve(name)
	for _, p := range paths {
		folder, ok := r.resolve(p)
		if !clear || !ok {
			return is(!allow)
		}
		if !allow { // some file systems ignore case
			at, folder = fold(at), fold(folder)
		}
		if folder == "." || at == folder || strings.HasPrefix(at, folder+"/") {
			return yes
		}
	}
	return no
}

// oddPath reports whether a tool, or a file system, may read a path as another one than it is written: Windows drops
// dots and spaces at the end of a name and knows short names such as SECRET~1, some programs read wide characters as
// plain ones and unescape %2e, and macOS composes letters and their accents.
func oddPath(name string) bool {
	return name == "" || hides(name) || oddName.MatchString(name)
}

var oddName = regexp.MustCompile(`(?i)^[~$%]|[\\:*?"<>|／＼．：∕⁄⧵]|%(2e|2f|5c|25)|[^/]~[0-9]|(^|/) | (/|$)|[^./]\.+(/|$)` +
	`|(?-i:[\x{300}-\x{36f}\x{1100}-\x{11ff}\x{3099}\x{309a}])`)

// resolve returns a path below the root, without symbolic links, and false for one that leads, or may lead, elsewhere.
func (r *root) resolve(name string) (string, bool) {
	below, inside := r.relative(path.Clean(name))
	switch {
	case !inside || oddPath(name):
		return "", false
	case r.files == nil:
		return below, true
	}
	done, todo := ".", strings.Split(below, "/")
	for links := 0; len(todo) > 0; {
		next := path.Join(done, todo[0])
		todo = todo[1:]
		if next == ".." || strings.HasPrefix(next, "../") {
			return "", false
		}
		info, err := r.files.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !slices.Contains(todo, ".."): // which only a link has
			return path.Join(append([]string{next}, todo...)...), true
		case err != nil:
			return "", false
		case info.Mode()&fs.ModeSymlink == 0:
			done = next
			continue
		}
		target, err := r.files.ReadLink(next)
		if links++; err != nil || links > maxLinks {
			return "", false
		}
		if path.IsAbs(target) {
			if target, inside = r.relative(path.Clean(target)); !inside {
				return "", false
			}
			done = "."
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return done, true
}

// relative returns a clean path below the root.
func (r *root) relative(name string) (string, bool) {
	switch {
	case !path.IsAbs(name):
		return name, name != ".." && !strings.HasPrefix(name, "../")
	case r.dir == "" || r.dir == ".": // nobody said where the root is
		return "", false
	case name == r.dir:
		return ".", true
	}
	return strings.CutPrefix(name, strings.TrimSuffix(r.dir, "/")+"/")
}
