package console

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

func TestWhatAFormIsMadeOf(t *testing.T) {
	d := serve(t, func(c *Config, _ *limits) {
		c.Schema = func(sub gate.Subject) json.RawMessage {
			if sub.Tool != "weight_delete" {
				return json.RawMessage(`not a schema`)
			}
			return json.RawMessage(`{"properties":{"unit":{"title":"Unit"}}}`)
		}
	})
	d.running("r1")
	write := d.bodiesOf(d.tool("r1", "c1", "weight_delete",
		`{"n":1.50,"none":null,"text":"1`+"\u00a0"+`2`+"\u202e"+`"}`), "&all=1").Write
	assert.Equal(t, map[string]string{"text": "1 2"}, write.Texts)
	assert.JSONEq(t, `{"properties":{"unit":{"title":"Unit"}}}`, string(write.Schema))
	write = d.bodiesOf(d.tool("r1", "c2", "a_delete", `{"a":1}`), "&all=1").Write
	assert.Nil(t, write.Schema, "what is not JSON")
	assert.NotEmpty(t, write.JSON)
}

func TestPaddingComesLast(t *testing.T) {
	d := serve(t)
	d.running("r1")
	padding := strings.Repeat("x", firstLook)
	it := d.tool("r1", "c1", "weight_delete", `{"padding":"`+padding+`","command":"rm -rf /","n":[1]}`)
	b := d.bodiesOf(it, "")
	assert.True(t, b.Body.Cut)
	assert.True(t, strings.HasPrefix(b.Body.Text,
		"{\n  \"command\": \"rm -rf /\",\n  \"n\": [\n    1\n  ],\n  \"padding\""), "%.60s", b.Body.Text)
	assert.True(t, strings.HasPrefix(b.Item.Text, `{"command":"rm -rf /"`))
	long := d.bodiesOf(d.tool("r1", "c2", "weight_delete", `{"`+padding+`":1,"command":"rm -rf /"}`), "")
	assert.True(t, strings.HasPrefix(long.Body.Text, "{\n  \"command\""), "a key is padding too: %.60s", long.Body.Text)
	whole := d.bodiesOf(it, "&all=1")
	assert.True(t, strings.HasPrefix(whole.Write.JSON, "{\n  \"padding\""), "an edit keeps the order")
}
