package llm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
)

// Cache keeps answers. It must be safe for concurrent use.
type Cache interface {
	// Load returns the answer to a request. [fs.ErrNotExist] has the model asked; any other error fails the call.
	Load(ctx context.Context, r Request) (Answer, error)
	// Store keeps an answer. An error fails the call that was answered.
	Store(ctx context.Context, r Request, a Answer) error
}

// Request is everything that a call sends, and whom it asks.
type Request struct {
	To          string          `json:"to,omitempty"` // the base URL, or the program
	Model       string          `json:"model,omitempty"`
	Format      string          `json:"format,omitempty"`
	MaxTokens   int             `json:"max_tokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	Effort      string          `json:"effort,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	System      string          `json:"system,omitempty"`
	User        string          `json:"user,omitempty"`
}

// Key tells requests apart: two with the same key ask the same.
func (r Request) Key() string {
	b, _ := json.Marshal(r) // only a schema that is not JSON can fail, and the client refuses that
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

func (c *Client) request(call Call) Request {
	r := Request{
		To: c.cfg.BaseURL, Model: c.cfg.Model, Effort: c.cfg.Effort, Temperature: c.cfg.Temperature,
		System: call.System, User: call.User, Schema: call.Schema,
	}
	if command := c.cfg.Command; command.isSet() {
		r.To = strings.Join(append([]string{command.Agent}, command.Args...), " ")
	} else {
		r.Format, r.MaxTokens = c.cfg.Format, cmp.Or(call.MaxTokens, c.cfg.MaxTokens)
	}
	return r
}

// DirCache is a [Cache] in a folder, across runs: a file for each answer. The zero value keeps nothing and fails.
type DirCache struct {
	Dir string // is made when the first answer is kept
}

func (d *DirCache) file(r Request) string { return filepath.Join(d.Dir, r.Key()+".json") }

// Load returns the answer that is kept in the folder. A file that was not written to its end is no answer.
func (d *DirCache) Load(_ context.Context, r Request) (Answer, error) {
	b, err := os.ReadFile(d.file(r))
	if err != nil {
		return Answer{}, err
	}
	var kept Answer
	if json.Unmarshal(b, &kept) != nil || kept.Object == nil {
		return Answer{}, fs.ErrNotExist
	}
	return Answer{Object: kept.Object, Usage: classify.Usage{Model: kept.Usage.Model}}, nil
}

// Store writes an answer into the folder.
func (d *DirCache) Store(_ context.Context, r Request, a Answer) error {
	b, err := json.Marshal(a)
	if err == nil {
		err = os.MkdirAll(d.Dir, 0o700)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(d.file(r), b, 0o600)
}
