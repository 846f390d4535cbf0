package gitwitness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// File returns a file as it is in a commit: name is in slashes, from the folder that was given. The file is at most max bytes; of a
// larger one there are max bytes and one more. The error wraps [fs.ErrNotExist] if the commit has no such file.
func (w *Witness) File(ctx context.Context, rev, name string, max int) ([]byte, error) {
	r, err := open(ctx, w.cfg.Git, w.cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("gitwitness: %w", err)
	}
	commit, err := r.commit(ctx, rev)
	if err != nil {
		return nil, fmt.Errorf("gitwitness: the baseline: %w", err)
	}
	full := path.Join(r.sub, name)
	if !fs.ValidPath(full) {
		return nil, fmt.Errorf("gitwitness: %w", fs.ErrNotExist)
	}
	kind, err := r.line(ctx, "cat-file", "-t", commit+":"+full)
	if e, ok := errors.AsType[*exitError](err); err != nil && (!ok || e.status <= 0) {
		return nil, fmt.Errorf("gitwitness: %w", err)
	}
	if err != nil || kind != "blob" {
		return nil, fmt.Errorf("gitwitness: the commit has no such file: %w", fs.ErrNotExist)
	}
	text := answer{max: max + 1}
	if err := r.stream(ctx, nil, &text, "cat-file", "blob", commit+":"+full); err != nil && !text.over {
		return nil, fmt.Errorf("gitwitness: %w", err)
	}
	return text.text.Bytes(), nil
}
