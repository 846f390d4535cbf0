package llm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
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
	System      string          `json:"-"`
	User        string          `json:"-"`
	Schema      json.RawMessage `json:"schema,omitempty"`
}

// Key tells requests apart: two with the same key ask the same.
func (r Request) Key() string {
	b, err := r.MarshalJSON()
	if err != nil { // a schema that is not JSON; the client refuses it before
		b = []byte(err.Error())
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

type plainRequest Request

// requestJSON has the messages as lists of lines, so that a diff shows the line that changed.
type requestJSON struct {
	plainRequest
	System []string `json:"system"`
	User   []string `json:"user"`
}

// MarshalJSON writes the messages as lists of lines.
func (r Request) MarshalJSON() ([]byte, error) {
	return json.Marshal(requestJSON{plainRequest(r), strings.Split(r.System, "\n"), strings.Split(r.User, "\n")})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Request) UnmarshalJSON(b []byte) error {
	var j requestJSON
	err := json.Unmarshal(b, &j)
	*r = Request(j.plainRequest)
	r.System, r.User = strings.Join(j.System, "\n"), strings.Join(j.User, "\n")
	return err
}

// request is what the client sends for a call.
func (c *Client) request(call Call) Request {
	r := Request{
		To: c.transport.name(), Model: c.cfg.Model, Effort: c.cfg.Effort, Temperature: c.cfg.Temperature,
		System: call.System, User: call.User, Schema: call.Schema,
	}
	if !c.cfg.Command.isSet() {
		r.Format, r.MaxTokens = c.cfg.Format, cmp.Or(call.MaxTokens, c.cfg.MaxTokens)
	}
	return r
}

// Recording is an answer in a file, beside everything that it is the answer to.
type Recording struct {
	Case    string          `json:"case,omitempty"` // whose answer it is; for people
	Origin  string          `json:"origin"`         // what made the answer: a model and a date, or a person
	Key     string          `json:"key"`            // of the request
	Request Request         `json:"request"`
	Answer  json.RawMessage `json:"answer"`
	Model   string          `json:"model,omitempty"` // as the endpoint names it
}

// Write writes a recording to a new file in dir, at once, and returns the name of the file. It fills in the key. An
// empty origin becomes the model and the day.
func (r *Recording) Write(dir string) (string, error) {
	r.Key = r.Request.Key()
	if r.Origin == "" {
		r.Origin = fmt.Sprintf("recorded from %s on %s", cmp.Or(r.Model, "a model without a name"),
			time.Now().UTC().Format(time.DateOnly))
	}
	name := recordingName(r.Key)
	if r.Case != "" {
		name = strings.Trim(caseName().ReplaceAllString(strings.ToLower(plaintext.Cut(r.Case, 40)), "-"), "-") + "-" + name
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return "", err
	}
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(r)
	if err = cmp.Or(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return name, err
}

// Read reads a file that [Recording.Write] wrote.
func (r *Recording) Read(file string) error {
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, r)
	}
	if err == nil && r.Key != r.Request.Key() {
		err = errors.New("its key is not that of its request; record it again")
	}
	if err != nil {
		return fmt.Errorf("recording %s: %w", file, err)
	}
	return nil
}

var caseName = lazy(`[^a-z0-9]+`)

func recordingName(key string) string { return fmt.Sprintf("%.16s.json", key) }

// DirCache is a [Cache] of recordings in a folder, across runs. The zero value keeps nothing and fails.
type DirCache struct {
	Dir string // is made when the first answer is kept
}

// Load returns the answer that is kept in the folder.
func (d *DirCache) Load(_ context.Context, r Request) (Answer, error) {
	var rec Recording
	err := rec.Read(filepath.Join(d.Dir, recordingName(r.Key())))
	return Answer{Object: rec.Answer, Usage: classify.Usage{Model: rec.Model}}, err
}

// Store writes an answer into the folder.
func (d *DirCache) Store(_ context.Context, r Request, a Answer) error {
	rec := Recording{Request: r, Answer: a.Object, Model: a.Usage.Model}
	_, err := rec.Write(d.Dir)
	return err
}
