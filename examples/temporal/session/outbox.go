package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder is an outbox on disk: one file for each effect, named after its key, for a program that shows outputs and
// feeds agents to pick up. Workers of several processes may share it.
type Folder string

// Do writes d to its file, wholly or not at all, unless the file is there: then it was done before.
func (f Folder) Do(_ context.Context, d Effect) error {
	data, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	sum := sha256.Sum256([]byte(d.Session + "\x00" + d.Key))
	name := filepath.Join(string(f), hex.EncodeToString(sum[:16])+".json")
	tmp, err := os.CreateTemp(string(f), ".effect-")
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(append(data, '\n'))
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	// Unlike a rename, a link never replaces what another worker has written.
	if err := os.Link(tmp.Name(), name); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("outbox: %w", err)
	}
	return nil
}

// Effects returns everything that was done, in no particular order.
func (f Folder) Effects() ([]Effect, error) {
	names, err := filepath.Glob(filepath.Join(string(f), "*.json"))
	if err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	list := make([]Effect, len(names))
	for i, name := range names {
		data, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(data, &list[i])
		}
		if err != nil {
			return nil, fmt.Errorf("outbox: %w", err)
		}
	}
	return list, nil
}
