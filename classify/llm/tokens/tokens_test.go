// Package tokens counts what a verdict costs, with a tokenizer that is too large to be a dependency of the library.
package tokens

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/tiktoken-go/tokenizer"
)

const (
	minStatic, maxStatic = 1100, 1500
	maxVariable          = 900
)

// encodings are those of the models of the time, and of those before them.
var encodings = []tokenizer.Encoding{tokenizer.O200kBase, tokenizer.Cl100kBase}

func codec(t testing.TB, e tokenizer.Encoding) func(string) int {
	t.Helper()
	c, err := tokenizer.Get(e)
	if err != nil {
		t.Fatal(err)
	}
	return func(s string) int {
		n, err := c.Count(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// sent returns the static and the variable part of the request that a classifier makes.
func sent(t testing.TB, in classify.Input) (system, schema, user string) {
	t.Helper()
	var req struct {
		Messages       []struct{ Role, Content string }
		ResponseFormat json.RawMessage `json:"response_format"`
	}
	client, err := llm.NewClient(llm.Config{Model: "m", Key: "k", Retries: -1, Transport: transport(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if err := json.NewDecoder(bytes.NewReader(body)).Decode(&req); err != nil {
			t.Error(err)
		}
		return nil, errors.New("seen")
	})})
	if err != nil {
		t.Fatal(err)
	}
	judge, err := llm.New(client, llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := judge.Classify(t.Context(), in); err == nil {
		t.Fatal("there is no verdict to be had")
	}
	if len(req.Messages) != 2 || req.Messages[0].Role != "system" || req.Messages[1].Role != "user" {
		t.Fatalf("messages: %+v", req.Messages)
	}
	return req.Messages[0].Content, string(req.ResponseFormat), req.Messages[1].Content
}

func TestStaticPart(t *testing.T) {
	system, schema, _ := sent(t, classify.Input{Text: "x"})
	for _, e := range encodings {
		count := codec(t, e)
		messages, all := count(system), count(system)+count(schema)
		t.Logf("%s: system message %d tokens, with the schema %d", e, messages, all)
		if messages < minStatic || all > maxStatic {
			t.Errorf("%s: the static part has %d to %d tokens, not %d to %d", e, messages, all, minStatic, maxStatic)
		}
	}
}
