package autocontinue

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Journal is an [Observer] that writes each event as one line of JSON, with one call of Write. It is safe for concurrent
// use.
type Journal struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// NewJournal returns a journal that writes to w and never closes it.
func NewJournal(w io.Writer) *Journal { return &Journal{w: w} }

// Observe writes e. After an error it goes on with the next event.
func (j *Journal) Observe(_ context.Context, e Event) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)

	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		var n int
		n, err = j.w.Write(line.Bytes())
		if err == nil && n < line.Len() {
			err = io.ErrShortWrite
		}
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("autocontinue: journal: %w", err)
	if j.err == nil {
		j.err = err
	}
	return err
}

// Err returns the first error of Observe, or nil.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}
