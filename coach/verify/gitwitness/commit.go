package gitwitness

import (
	"context"
	"errors"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

var (
	hexName = lazy.New(`^[0-9a-fA-F]{4,64}$`)
	// What else a commit may be called: a branch, a tag, HEAD, and steps back from it. No searches (":/text"), dates or
	// ranges.
	refName = lazy.New(`^[A-Za-z0-9_][A-Za-z0-9_./+-]*(?:[~^][0-9]*)*$`)
)

var (
	errNoCommit  = errors.New("there is no such commit")
	errAmbiguous = errors.New("more than one commit can be meant")
	errName      = errors.New("it is not the name of a commit")
)

// commit returns the full name of the commit that rev names. A rev that looks like a hash is one: a branch of that name
// does not stand for it. The error is errNoCommit, errAmbiguous, errName or says what went wrong.
func (r *repository) commit(ctx context.Context, rev string) (string, error) {
	if len(rev) > 256 || !hexName.Match(rev) && !refName.Match(rev) || strings.Contains(rev, "..") {
		return "", errName
	}
	name, err := r.line(ctx, "rev-parse", "--verify", "--end-of-options", rev+"^{commit}")
	if e, ok := errors.AsType[*exitError](err); ok && e.status > 0 {
		if strings.Contains(e.said, "ambiguous") {
			return "", errAmbiguous
		}
		if strings.Contains(e.said, "Needed a single revision") || strings.Contains(e.said, "expected commit type") ||
			strings.Contains(e.said, "unknown revision") || strings.Contains(e.said, "bad object") {
			return "", errNoCommit
		}
	}
	if err != nil {
		return "", err
	}
	if hexName.Match(rev) && !strings.HasPrefix(name, strings.ToLower(rev)) {
		return "", errAmbiguous // an annotated tag, or a branch of that name
	}
	return name, nil
}

// baseline is commit for what the host names: a branch or a tag may look like a hash, if there is no such commit.
func (r *repository) baseline(ctx context.Context, rev string) (string, error) {
	name, err := r.commit(ctx, rev)
	for _, kind := range []string{"refs/heads/", "refs/tags/"} {
		if (errors.Is(err, errNoCommit) || errors.Is(err, errAmbiguous)) && hexName.Match(rev) {
			name, err = r.commit(ctx, kind+rev)
		}
	}
	return name, err
}

// reachable reports whether one commit is another, or one before it.
func (r *repository) reachable(ctx context.Context, commit, from string) (bool, error) {
	_, err := r.run(ctx, nil, "merge-base", "--is-ancestor", "--end-of-options", commit, from)
	if exited(err, 1) {
		return false, nil
	}
	return err == nil, err
}
