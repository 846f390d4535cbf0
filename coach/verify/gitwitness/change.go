package gitwitness

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// changes returns what differs between the files in a commit and the working tree, untracked files that are not ignored
// included, by path. An empty base is the commit before the first: every file was added.
func (r *repository) changes(ctx context.Context, base string) ([]verify.Change, error) {
	tracked, err := r.tracked(ctx)
	if err != nil {
		return nil, err
	}
	here := make(map[string]bool) // the folders whose files are checked out: a sparse checkout leaves out whole ones
	for name, leftOut := range tracked {
		if r.part && !leftOut {
			here[path.Dir(name)] = true
		}
	}
	own, remove, err := r.own(ctx, base)
	if err != nil {
		return nil, err
	}
	defer remove()
	var list []verify.Change
	// The comparison of a submodule's files would run git in it, with settings of its own.
	fields, err := own.names(ctx, nil, "diff-files", "-z", "--name-status", "--no-ext-diff", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return nil, err
	}
	for pair := range slices.Chunk(fields, 2) {
		if len(pair) < 2 {
			return nil, errors.New("git diff-files gave a status without a name")
		}
		c := verify.Change{Path: pair[1], Kind: verify.Modified}
		if pair[0] == "D" {
			c.Kind = verify.Removed
			if r.part && tracked[c.Path] && !here[path.Dir(c.Path)] {
				c.Why = "a sparse checkout leaves it out"
			}
		}
		list = append(list, c)
	}
	had, err := own.names(ctx, nil, "ls-files", "-z", "--cached")
	if err != nil {
		return nil, err
	}
	in := make(map[string]bool, len(had))
	for _, name := range had {
		in[name] = true
	}
	others, err := own.untracked(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range others {
		if !in[name] && !in[strings.TrimSuffix(name, "/")] {
			in[name] = true
			list = append(list, verify.Change{Path: name, Kind: verify.Added})
		}
	}
	for name := range tracked { // those that were added although they are ignored
		if !in[name] && !in[name+"/"] && r.isThere(name) {
			list = append(list, verify.Change{Path: name, Kind: verify.Added})
		}
	}
	slices.SortFunc(list, func(a, b verify.Change) int { return strings.Compare(a.Path, b.Path) })
	return list, r.doubt(ctx, list)
}

// doubt notes which modified files are recorded through a filter: what is in the working tree differs from what is recorded then
// even if nobody changed it (Git LFS).
func (r *repository) doubt(ctx context.Context, list []verify.Change) error {
	var in []byte
	for _, c := range list {
		if c.Kind == verify.Modified {
			in = append(append(in, c.Path...), 0)
		}
	}
	if in == nil {
		return nil
	}
	fields, err := r.names(ctx, in, "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return err
	}
	filtered := make(map[string]string)
	for f := range slices.Chunk(fields, 3) {
		if len(f) == 3 && f[2] != "unspecified" && f[2] != "unset" {
			filtered[f[0]] = f[2]
		}
	}
	for i, c := range list {
		if driver, ok := filtered[c.Path]; ok && c.Kind == verify.Modified {
			list[i].Why = fmt.Sprintf("it is recorded through the filter %q, which is not run here", driver)
		}
	}
	return nil
}

// ignored returns which of these names git ignores. Tracked files are not, nor what is in another repository or behind a link.
func (r *repository) ignored(ctx context.Context, names []string) (map[string]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	var in []byte
	for _, name := range names {
		in = append(append(in, "./"+name...), 0) // "./", so that ":(glob)" is a name
	}
	list, err := r.names(ctx, in, "check-ignore", "-z", "--stdin")
	found := make(map[string]bool, len(names))
	switch {
	case exited(err, 1):
		return found, nil // none
	case exited(err, 128) && len(names) > 1: // one of them is where git does not look
		for _, name := range names {
			one, err := r.ignored(ctx, []string{name})
			if err != nil {
				return nil, err
			}
			found[name] = one[name]
		}
		return found, nil
	case exited(err, 128):
		return found, nil
	case err != nil:
		return nil, err
	}
	for _, name := range list {
		found[strings.TrimPrefix(name, "./")] = true
	}
	return found, nil
}
