package classifytest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Request is what a [Server] was asked. Model, Format and Messages are read from Body as far as it can be read.
type Request struct {
	Method, Path string    // Path is with the base path: /v1/chat/completions
	HasKey       bool      // in one of the headers that carry one
	Body         []byte    // byte for byte, at most 16 MiB
	At           time.Time // when it had arrived

	Model    string
	Format   string // response_format's type: "json_schema", "json_object", "text"; empty when there is none
	Messages []Message
}

// Message is one message of a chat request. A content in parts is its text parts, one after another.
type Message struct{ Role, Content string }

// Prompt returns the contents of all messages, with an empty line between them.
func (q Request) Prompt() string {
	var all []string
	for _, m := range q.Messages {
		all = append(all, m.Content)
	}
	return strings.Join(all, "\n\n")
}

func newRequest(r *http.Request, body []byte) Request {
	q := Request{Method: r.Method, Path: r.URL.Path, Body: body, At: time.Now(),
		HasKey: r.Header.Get("Authorization")+r.Header.Get("Api-Key") != ""}
	c, _ := parseChat(body)
	q.Model = c.Model
	if c.Format != nil {
		q.Format = c.Format.Type
	}
	for _, m := range c.Messages {
		q.Messages = append(q.Messages, Message{m.Role, m.Content.text})
	}
	return q
}

// chat is the part of a chat-completion request that is looked at.
type chat struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	} `json:"messages"`
	Format *struct {
		Type   string `json:"type"`
		Schema *struct {
			Name   string          `json:"name"`
			Strict bool            `json:"strict"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func parseChat(body []byte) (c chat, err error) {
	err = json.Unmarshal(body, &c)
	return c, err
}

// content is a message's text; ok is false where it is neither text nor a list of parts.
type content struct {
	text string
	ok   bool
}

func (c *content) UnmarshalJSON(b []byte) error {
	var parts []struct{ Text string }
	switch {
	case string(b) == "null":
	case json.Unmarshal(b, &c.text) == nil:
		c.ok = true
	case json.Unmarshal(b, &parts) == nil:
		c.ok = true
		for _, p := range parts {
			c.text += p.Text
		}
	}
	return nil
}
