package classifytest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// cassette is one recorded call, as it is in its file.
type cassette struct {
	Case     string           `json:"case,omitempty"` // of Run: which case asked first
	Origin   string           `json:"origin"`         // how the answer was made
	Note     string           `json:"note,omitempty"` // free
	Key      string           `json:"key"`            // hash of the request
	Request  cassetteRequest  `json:"request"`
	Response cassetteResponse `json:"response"`
}

// cassetteRequest is for people: Body has its multi-line texts as lists of lines, so that a diff shows the line that changed.
type cassetteRequest struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Body   any    `json:"body"`
}

// cassetteResponse has a body that is JSON as Body, another as Text, and one that is not even text as Bytes.
type cassetteResponse struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header,omitempty"`
	Body   json.RawMessage   `json:"body,omitempty"`
	Text   string            `json:"text,omitempty"`
	Bytes  []byte            `json:"base64,omitempty"`
}

// keptHeaders are the headers of an answer that change what a client does.
var keptHeaders = []string{"Content-Type", "Retry-After", "Retry-After-Ms", "X-Should-Retry"}

// parseBody reads a request's body: nil for an empty one.
func parseBody(body []byte) (any, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber() // 1.0 and 1 stay apart, and large numbers whole
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, errors.New("the request's body is not JSON")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the request's body has something after its JSON")
	}
	return v, nil
}

// requestKey is the hash of method, path and body; in the body neither space nor the order of keys counts.
func requestKey(method, path string, body any) string {
	sum := sha256.Sum256([]byte(method + "\n" + path + "\n" + encode(body, "")))
	return hex.EncodeToString(sum[:])
}

// encode writes v as JSON that people can read. V is made of what encoding/json decodes to, so nothing can fail.
func encode(v any, indent string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	_ = enc.Encode(v)
	return b.String()
}

// lines is the key under which a text of several lines is written.
const lines = "$lines"

// unfold turns every text of several lines into {"$lines": […]}; fold is its inverse.
func unfold(v any) any {
	return rewrite(v, func(v any) any {
		if s, ok := v.(string); ok && strings.Contains(s, "\n") {
			list := []any{}
			for l := range strings.SplitSeq(s, "\n") {
				list = append(list, l)
			}
			return map[string]any{lines: list}
		}
		return v
	})
}

func fold(v any) any {
	return rewrite(v, func(v any) any {
		m, _ := v.(map[string]any)
		list, ok := m[lines].([]any)
		if !ok || len(m) != 1 {
			return v
		}
		text := make([]string, len(list))
		for i, l := range list {
			if text[i], ok = l.(string); !ok {
				return v
			}
		}
		return strings.Join(text, "\n")
	})
}

// rewrite returns v with f applied to everything in it, the innermost first.
func rewrite(v any, f func(any) any) any {
	switch x := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(x))
		for k, e := range x {
			m[k] = rewrite(e, f)
		}
		return f(m)
	case []any:
		list := make([]any, len(x))
		for i, e := range x {
			list[i] = rewrite(e, f)
		}
		return f(list)
	}
	return f(v)
}

func newResponse(status int, header http.Header, body []byte) cassetteResponse {
	r := cassetteResponse{Status: status}
	for _, name := range keptHeaders {
		if v := header.Get(name); v != "" {
			if r.Header == nil {
				r.Header = map[string]string{}
			}
			r.Header[name] = v
		}
	}
	switch {
	case json.Valid(body):
		r.Body = body
	case utf8.Valid(body):
		r.Text = string(body)
	default:
		r.Bytes = body
	}
	return r
}

// http returns the answer to a request.
func (r cassetteResponse) http(req *http.Request) *http.Response {
	body := []byte(r.Text)
	if r.Body != nil {
		body = r.Body
	} else if r.Bytes != nil {
		body = r.Bytes
	}
	header := http.Header{}
	for name, v := range r.Header {
		header.Set(name, v)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status)), StatusCode: r.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}
}

// file names a cassette's file after its case and its key.
func (c cassette) file() string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, c.Case), "-")
	if name = strings.Trim(name[:min(len(name), 40)], "-"); name != "" {
		name += "-"
	}
	return name + c.Key[:16] + ".json"
}

// write puts a cassette into its file at once: nobody sees half of it.
func (c cassette) write(dir, file string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("classifytest: cassette: %w", err)
	}
	c.Request.Body = unfold(c.Request.Body)
	f, err := os.CreateTemp(dir, ".cassette-*")
	if err != nil {
		return fmt.Errorf("classifytest: cassette: %w", err)
	}
	_, err = f.WriteString(encode(c, "  "))
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, file))
	}
	if err != nil {
		return fmt.Errorf("classifytest: cassette: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// readCassette reads a file. That its request was not edited is checked; the answer may be.
func readCassette(path string) (cassette, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return cassette{}, fmt.Errorf("classifytest: cassette: %w", err)
	}
	var c cassette
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(&c); err != nil {
		return cassette{}, fmt.Errorf("classifytest: cassette %s: %w", path, err)
	}
	c.Request.Body = fold(c.Request.Body)
	switch {
	case c.Response.Status < 200 || c.Response.Status > 599:
		return cassette{}, fmt.Errorf("classifytest: cassette %s: the answer's status is not from 200 to 599", path)
	case c.Origin == "":
		return cassette{}, fmt.Errorf("classifytest: cassette %s: origin does not say how its answer was made", path)
	case c.Key != requestKey(c.Request.Method, c.Request.Path, c.Request.Body):
		return cassette{}, fmt.Errorf("classifytest: cassette %s: its request was edited and is not the one that was asked; delete it and record again", path)
	}
	return c, nil
}
