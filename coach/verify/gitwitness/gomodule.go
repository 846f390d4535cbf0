package gitwitness

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// leavesOut reports whether a change of a go.mod or go.work takes tests out of what "./..." means: a new module around tests
// that were there, folders that are ignored, a module that a workspace does not use any more, a workspace that comes or goes.
func (r *repository) leavesOut(ctx context.Context, base string, c verify.Change, now, old []byte) (bool, error) {
	switch path.Base(c.Path) {
	case "go.work":
		if c.Kind != verify.Modified {
			return true, nil
		}
		used := directive("use", now)
		return slices.ContainsFunc(directive("use", old), func(dir string) bool { return !slices.Contains(used, dir) }), nil
	case "go.mod":
		before := directive("ignore", old)
		if slices.ContainsFunc(directive("ignore", now), func(dir string) bool { return !slices.Contains(before, dir) }) {
			return true, nil
		}
		if c.Kind != verify.Added || base == "" || path.Dir(c.Path) == "." {
			return false, nil
		}
		names, err := r.names(ctx, nil, "ls-tree", "-r", "-z", "--name-only", base, path.Dir(c.Path)+"/")
		return slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") }), err
	}
	return false, nil
}

// directive returns what a go.mod or go.work file lists under a word, in lines of their own or in a block.
func directive(word string, text []byte) []string {
	var list []string
	in := false
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		fields := strings.Fields(strings.ReplaceAll(line, "(", " ( "))
		switch {
		case len(fields) == 0:
		case in && fields[0] == ")":
			in = false
		case in:
			list = append(list, path.Clean(strings.Trim(fields[0], "\"`")))
		case fields[0] == word && len(fields) > 1 && fields[1] == "(":
			in = true
		case fields[0] == word && len(fields) > 1:
			list = append(list, path.Clean(strings.Trim(fields[1], "\"`")))
		}
	}
	return list
}
