package gitwitness

import (
	"bytes"
	"context"
	"fmt"
	"slices"
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
	hidden, err := r.hidden(ctx, list)
	if err != nil {
		return "", false, err
	}
	how := "--patch"
	if hidden {
		how = "--text"
	}
	out := answer{max: max}
	err = own.stream(ctx, nil, &out, "diff-files", "-p", how, "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=dirty", "--src-prefix=a/", "--dst-prefix=b/")
	return strings.ToValidUTF8(out.text.String(), "\ufffd"), !out.over, err
}

// hidden reports whether the attributes of a file that is text say that its changes are not to be shown.
func (r *repository) hidden(ctx context.Context, list []verify.Change) (bool, error) {
	var in []byte
	for _, c := range list {
		if !strings.HasSuffix(c.Path, "/") {
			in = append(append(in, c.Path...), 0)
		}
	}
	if in == nil {
		return false, nil
	}
	fields, err := r.names(ctx, in, "check-attr", "-z", "--stdin", "diff")
	if err != nil {
		return false, err
	}
	for f := range slices.Chunk(fields, 3) {
		if len(f) < 3 || f[2] == "unspecified" || f[2] == "set" {
			continue
		}
		if text := r.source(f[0]); !bytes.Contains(text[:min(len(text), 8000)], []byte{0}) { // as git tells what is binary
			return true, nil
		}
	}
	return false, nil
}
