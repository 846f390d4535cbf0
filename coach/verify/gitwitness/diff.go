package gitwitness

import (
	"context"
	"fmt"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// diff returns what changed since a commit as a patch of at most max bytes, untracked files that are not ignored included, and whether that is all of it.
func (r *repository) diff(ctx context.Context, base string, max int) (string, bool, error) {
	own, remove, err := r.own(ctx, base)
	if err != nil {
		return "", false, err
	}
	defer remove()
	list, err := r.changes(ctx, base)
	if err != nil {
		return "", false, err
	}
	empty, err := own.run(ctx, []byte{}, "hash-object", "-w", "-t", "blob", "--stdin")
	if err != nil {
		return "", false, err
	}
	var index strings.Builder // an empty file for each that was added, to show it as a change
	for _, c := range list {
		if c.Kind == verify.Added && !strings.HasSuffix(c.Path, "/") {
			fmt.Fprintf(&index, "100644 %s\t%s\x00", strings.TrimSpace(string(empty)), c.Path)
		}
	}
	if index.Len() > 0 {
		if _, err := own.run(ctx, []byte(index.String()), "update-index", "-z", "--index-info"); err != nil {
			return "", false, err
		}
	}
	out := answer{max: max}
	err = own.stream(ctx, nil, &out, "diff-files", "-p", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=dirty", "--src-prefix=a/", "--dst-prefix=b/")
	return strings.ToValidUTF8(out.text.String(), "\ufffd"), !out.over, err
}
