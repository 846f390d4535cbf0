package llm

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBadConfigs(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"nothing", Config{}, "llm: neither a key nor a base URL is set"},
		{"no model", Config{Key: testKey}, "llm: no model is set"},
		{"a broken key", Config{Model: "m", Key: "a\nb"}, "llm: the key holds a space, a line break or another character that no key has"},
		{"a blank model", Config{Model: " \n", Key: testKey}, "llm: no model is set"},
		{"a blank address", Config{Model: "m", BaseURL: " \t\n"}, "llm: neither a key nor a base URL is set"},
		{"two models", Config{Model: "a\nb", Key: testKey}, "llm: the name of the model or deployment holds a line break or another control character"},
		{"a broken deployment", Config{Model: "m", Deployment: "a\tb", Key: testKey}, "llm: the name of the model or deployment holds a line break or another control character"},
		{"a broken version", Config{Model: "m", APIVersion: "2024 10", Key: testKey}, "llm: the API version or the reasoning effort holds a space or a line break"},
		{"an address with a space", Config{Model: "m", BaseURL: "http://localhost:8080 /v1"}, "llm: the base URL holds a space, a line break or another character that no address has"},
		{"two addresses", Config{Model: "m", BaseURL: "http://x/v1\nhttp://y/v1"}, "llm: the base URL holds a space, a line break or another character that no address has"},
		{"an address with a space in its path", Config{Model: "m", BaseURL: "http://x/my path/v1"}, "llm: the base URL holds a space, a line break or another character that no address has"},
		{"a relative address", Config{Model: "m", BaseURL: "localhost:8080/v1"}, "llm: the base URL is not an absolute http or https address"},
		{"no address", Config{Model: "m", BaseURL: "http://%zz" + testKey}, "llm: the base URL is not an absolute http or https address"},
		{"a file", Config{Model: "m", BaseURL: "file:///etc"}, "llm: the base URL is not an absolute http or https address"},
		{"a query", Config{Model: "m", BaseURL: "http://x/v1?key=" + testKey}, "llm: the base URL has a query or a fragment"},
		{"a password", Config{Model: "m", BaseURL: "http://u:" + testKey + "@x/v1"}, "llm: the base URL holds a user name or password"},
		{"Azure without resource", Config{Model: "m", Key: testKey, Azure: true}, "llm: the base URL of the Azure resource is not set"},
		{"negative timeout", Config{Model: "m", Key: testKey, Timeout: -1}, "llm: the timeout is negative"},
		{"too many retries", Config{Model: "m", Key: testKey, Retries: 3}, "llm: retries: -1 is none, 1 and 2 are possible"},
		{"negative retries", Config{Model: "m", Key: testKey, Retries: -2}, "llm: retries: -1 is none, 1 and 2 are possible"},
		{"negative tokens", Config{Model: "m", Key: testKey, MaxTokens: -1}, "llm: the limit of tokens is negative"},
		{"no format", Config{Model: "m", Key: testKey, Format: "xml"}, "llm: unknown format; it is json_schema, json_object or plain"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewClient(tt.cfg)
			require.EqualError(t, err, tt.want)
			requireDiscreet(t, err)
		})
	}
	_, err := NewClient(Config{Model: "gpt-5-mini", Key: testKey, LegacyMaxTokens: true})
	assert.Error(t, err, "a combination that go-openai refuses")
}

func TestAzure(t *testing.T) {
	f := &fake{replies: []reply{says(good)}}
	_, err := newClient(t, f, func(c *Config) {
		c.Azure, c.BaseURL, c.Deployment, c.APIVersion = true, "https://name.openai.azure.com/", "my deployment", "2025-01-01"
	}).JSON(t.Context(), call())
	require.NoError(t, err)
	assert.Equal(t, "https://name.openai.azure.com/openai/deployments/my%20deployment/chat/completions?api-version=2025-01-01", f.requests[0].URL)
	assert.Equal(t, testKey, f.requests[0].Header.Get("Api-Key"))
	assert.Empty(t, f.requests[0].Header.Get("Authorization"))
}

func TestLocalServer(t *testing.T) {
	f := &fake{replies: []reply{says(good)}}
	_, err := newClient(t, f, func(c *Config) { c.Key, c.BaseURL = "", "http://localhost:11434/v1/" }).JSON(t.Context(), call())
	require.NoError(t, err)
	assert.Equal(t, "http://localhost:11434/v1/chat/completions", f.requests[0].URL)
	assert.Empty(t, f.requests[0].Header.Get("Authorization"))
}

func TestSettingsAreTrimmed(t *testing.T) {
	f := &fake{replies: []reply{says(good)}}
	_, err := newClient(t, f, func(c *Config) {
		c.Key, c.Model, c.BaseURL, c.ReasoningEffort = "  k\n", "\tmy judge\r\n", " http://localhost:11434/v1\n", "low\n"
	}).JSON(t.Context(), call())
	require.NoError(t, err)
	assert.Equal(t, "Bearer k", f.requests[0].Header.Get("Authorization"))
	assert.Equal(t, "my judge", f.requests[0].Body.Model)
	assert.Equal(t, "http://localhost:11434/v1/chat/completions", f.requests[0].URL)
	assert.Contains(t, string(f.requests[0].Raw), `"reasoning_effort":"low"`)
}

func TestDefaults(t *testing.T) {
	cfg, err := Config{Model: "m", Key: testKey}.withDefaults()
	require.NoError(t, err)
	assert.Equal(t, 10*time.Second, cfg.Timeout)
	assert.Equal(t, 2, cfg.Retries)
	assert.Equal(t, http.DefaultTransport, cfg.Transport)
}

func TestNothingPrintsTheKey(t *testing.T) {
	j := newJudge(t, &fake{}, Options{})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		assert.NotContains(t, fmt.Sprintf(verb, j.client), testKey, verb)
		assert.NotContains(t, fmt.Sprintf(verb, j), testKey, verb)
		assert.NotContains(t, fmt.Sprintf(verb, Config{Model: "m", Key: testKey}), testKey, verb)
	}
}
