package llm

import (
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfig(t *testing.T) {
	hot := 3.0
	proxied := &http.Transport{Proxy: func(*http.Request) (*url.URL,
		error) {
		return url.Parse("http://proxy.example:3128")
	}}
	const key, noExtras = testKey, "the base URL has a query, a fragment, a user name or a password"
	for _, tt := range []struct {
		name string
		cfg  Config
		want string // of the error; empty is none
	}{
		{"nothing", Config{}, "neither a key nor a base URL is set"},
		{"no model", Config{Key: key}, "no model is set"},
		{"a broken key", Config{Model: "m", Key: "a\nb"},
			"the key has a line break or another control character"},
		{"two models", Config{Model: "a\nb", Key: key},
			"the model has a line break or another control character"},
		{"two addresses", Config{Model: "m", BaseURL: "http://x/v1\nhttp://y/v1"},
			"the base URL has a line break or another control character"},
		{"a relative address", Config{Model: "m", BaseURL: "localhost:8080/v1"},
			"the base URL is not an absolute http or https address"},
		{"a file", Config{Model: "m", BaseURL: "file:///etc"}, "the base URL is not an absolute http or https address"},
		{"a query", Config{Model: "m", BaseURL: "https://x/v1?key=" + key}, noExtras},
		{"a password", Config{Model: "m", BaseURL: "https://u:" + key + "@x/v1"},
			noExtras},
		{"negative timeout", Config{Model: "m", Key: key, Timeout: -1}, "the timeout is negative"},
		{"too many retries", Config{Model: "m", Key: key, Retries: 3}, "the number of retries is not 1 or 2, or " +
			"-1 for none"},
		{"negative tokens", Config{Model: "m", Key: key, MaxTokens: -1}, "the limit of tokens is negative"},
		{"too hot", Config{Model: "m", Key: key, Temperature: &hot}, "the temperature is not a number from 0 to 2"},
		{"no format", Config{Model: "m", Key: key, Format: "xml"}, "the format is not one of json_schema, " +
			"json_object, plain"},
		{"no agent", Config{Command: Command{Agent: "eliza"}},
			`no agent "eliza"; the agents are claude, codex, copilot, gemini`},

		{"a key over plain http", Config{Model: "m", Key: key, BaseURL: "http://gpu.example/v1"},
			"the base URL is plain http, so anybody on the way can read the key; use https, or allow insecure http"},
		{"a key to an address of the network", Config{Model: "m", Key: key, BaseURL: "http://0.0.0.0:8000/v1"},
			"the base URL is plain http, so anybody on the way can read the key; use https, or allow insecure http"},
		{"a key through a proxy", Config{Model: "m", Key: key, BaseURL: "http://127.0.0.1:8000/v1", Transport: proxied},
			"the base URL is plain http and goes through a proxy, which can read the key; " +
				"except the host from the proxy (NO_PROXY), or allow insecure http"},
		{"allowed", Config{Model: "m", Key: key, BaseURL: "http://gpu.example/v1", InsecureHTTP: true, Transport: proxied},
			""},
		{"no key", Config{Model: "m", BaseURL: "http://gpu.example/v1", Transport: proxied}, ""},
		{"https through a " +
			"proxy", Config{Model: "m", Key: key, BaseURL: "https://gpu.example/v1", Transport: proxied}, ""},
		{"loopback", Config{Model: "m", Key: key, BaseURL: "http://localhost:8000/v1"}, ""},
		{"loopback by number", Config{Model: "m", Key: key, BaseURL: "http://[::1]:8000/v1"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewClient(tt.cfg)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, "llm: "+tt.want)
			requireDiscreet(t, err)
		})
	}
}

func TestRequests(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Config)
		url    string
		header string
		value  string
	}{
		{"a local server", func(c *Config) { c.Key, c.BaseURL = "", "http://localhost:11434/v1/" },
			"http://localhost:11434/v1/chat/completions", "Authorization", ""},
		{"blanks around", func(c *Config) { c.Key, c.BaseURL = "  k\n", " https://x.example/v1\r\n" },
			"https://x.example/v1/chat/completions", "Authorization", "Bearer k"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{replies: []httpReply{says(good)}}
			_, err := newClient(t, f, tt.change).JSON(t.Context(), question())
			require.NoError(t, err)
			assert.Equal(t, tt.url, f.requests[0].URL)
			assert.Equal(t, tt.value, f.requests[0].Header.Get(tt.header))
		})
	}
}

func TestStepDown(t *testing.T) {
	const s, o, p = formatSchema, formatObject, formatPlain
	unsupported := func(what string) httpReply {
		return status(400, `{"error":{"message":"Unsupported parameter: '`+what+`'","param":"`+what+
			`","code":"unsupported"}}`)
	}
	for _, tt := range []struct {
		name   string
		first  []httpReply // of the first call; the second is answered
		want   []string
		second string
		fails  bool // the first call
	}{
		{name: "known", first: []httpReply{says(good)}, want: []string{s}, second: s},
		{name: "no schema", first: []httpReply{unsupported("response_format"), says(good)}, want: []string{s, o}, second: o},
		{name: "no response_format", first: []httpReply{unsupported("response_format"), unsupported("response_format"),
			says(good)}, want: []string{s, o, p}, second: p},
		{name: "422", first: []httpReply{status(422, `{"detail":"json_schema is unknown"}`), says(good)}, want: []string{s,
			o}, second: o},
		{name: "500 that names it", first: []httpReply{status(500, `{"error":{"message":"failed to parse grammar"}}`),
			says(good)}, want: []string{s, o}, second: o},
		{name: "400 that says " +
			"nothing", first: []httpReply{status(400, "bad request"), says(good)}, want: []string{s, o},
			second: o},
		{name: "400 whatever is asked", first: []httpReply{status(400, ""), status(400, ""), status(400, "")},
			want: []string{s, o, p}, second: s, fails: true},
		{name: "404 of a router", first: []httpReply{status(404,
			`{"error":{"message":"No endpoints found that can handle the requested parameters."}}`), says(good)},
			want: []string{s, o}, second: o},
		{name: "404 of a model", first: []httpReply{status(404, `{"error":{"message":"no such model"}}`)}, want: []string{s},
			second: s, fails: true},
		{name: "501", first: []httpReply{status(501, ""), says(good)}, want: []string{s, o}, second: o},
		{name: "401", first: []httpReply{status(401, "response_format")}, want: []string{s}, second: s, fails: true},
		{name: "then cut off", first: []httpReply{status(400, ""), finishes("", "length")}, want: []string{s, o}, second: o,
			fails: true},
		{name: "then overloaded", first: []httpReply{unsupported("response_format"), status(503, ""), says(good)},
			want: []string{s, o, s}, second: s},
		{name: "500 that repeats the request", first: []httpReply{status(500,
			`{"error":{"message":"`+longEcho+` response_format"}}`), says(good)}, want: []string{s, s}, second: s},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{replies: append(tt.first[:len(tt.first):len(tt.first)], says(good))}
				c := newClient(t, f)
				a, err := c.JSON(t.Context(), question())
				assert.Equal(t, tt.fails, err != nil, "%v", err)
				assert.Equal(t, tt.want, f.formats())
				assert.Equal(t, len(tt.want), a.Usage.Attempts)

				f.replies, f.requests = []httpReply{says(good)}, nil
				_, err = c.JSON(t.Context(), question())
				require.NoError(t, err)
				assert.Equal(t, []string{tt.second}, f.formats(), "remembered")
			})
		})
	}
}

const longEcho = "you sent {'model': 'judge', 'messages': [{'role': 'system', 'content': 'Answer in JSON, and " +
	"do so for as " +
	"long as it takes to fill three hundred characters, because what a server repeats of a request says nothing " +
	"about what it " +
	"rejects in this request, whatever words may come then, such as these.'}]}"

func TestOlderServersGetMaxTokens(t *testing.T) {
	f := &fake{replies: []httpReply{status(422, `{"detail":"extra field: max_completion_tokens"}`), says(good),
		says(good)}}
	c := newClient(t, f, func(c *Config) { c.MaxTokens = 77 })
	_, err := c.JSON(t.Context(), question())
	require.NoError(t, err)
	assert.Equal(t, 77, f.requests[0].Body.MaxCompletionTokens)
	assert.Equal(t, 77, f.requests[1].Body.MaxTokens)
	assert.Zero(t, f.requests[1].Body.MaxCompletionTokens)
	_, err = c.JSON(t.Context(), question())
	require.NoError(t, err)
	assert.Equal(t, 77, f.requests[2].Body.MaxTokens, "remembered")
}
