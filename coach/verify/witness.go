package verify

import (
	"context"
	"slices"
)

// Witness looks at one side of a piece of work. What it could not see is Unverified in its facts, with the reason in Why;
// its error is for when it could not look at all, and is no fact about the work. It reports what it saw, not what the
// agent wrote, and runs nothing that the query does not list. It must be safe for concurrent use.
type Witness interface {
	Look(ctx context.Context, q Query) (Facts, error)
}

// WitnessFunc is a function as a [Witness].
type WitnessFunc func(ctx context.Context, q Query) (Facts, error)

// Look calls f.
func (f WitnessFunc) Look(ctx context.Context, q Query) (Facts, error) { return f(ctx, q) }

// Query is what a [Witness] is asked. A witness answers what is its to answer and leaves the rest. Paths and Commits
// come from the agent's report: they are data to look for, never part of a command.
type Query struct {
	Baseline string     `json:"baseline,omitempty"` // the revision that the work began at, as the host names it; empty: unknown
	Paths    []string   `json:"paths,omitempty"`    // as claimed, in whatever spelling
	Commits  []string   `json:"commits,omitempty"`  // as claimed
	Commands [][]string `json:"commands,omitempty"` // what the host lists to be run, in words; no other command is
}

// TreeWitness returns a witness of nothing but the tree's content, to be asked last: facts that were taken from another tree are too
// old. An error of tree leaves it unknown.
func TreeWitness(tree func(ctx context.Context) (string, error)) Witness {
	return WitnessFunc(func(ctx context.Context, _ Query) (Facts, error) {
		hash, err := tree(ctx)
		if err != nil {
			return Facts{Unseen: []string{"whether the tree changed in the meantime cannot be told"}}, ctx.Err()
		}
		return Facts{Tree: hash}, nil
	})
}

// Ask asks witnesses what the review has to know, one after another, and observes their facts. A witness that fails is named among what
// is unseen. The error is the context's.
func (r *Review) Ask(ctx context.Context, witnesses ...Witness) error {
	q := r.Query()
	for _, w := range witnesses {
		f, err := w.Look(ctx, q)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			f.Unseen = append(slices.Clone(f.Unseen), "a witness could not look: "+clean(err.Error()))
		}
		r.Observe(f)
	}
	return nil
}
