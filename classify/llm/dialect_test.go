package llm

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func unsupported(what string) reply {
	return status(400, `{"error":{"message":"Unsupported parameter: '`+what+`'","type":"invalid_request_error","param":"`+what+`","code":"unsupported_parameter"}}`)
}

func TestStepDown(t *testing.T) {
	const s, o, p = FormatSchema, FormatObject, FormatPlain
	for _, tt := range []struct {
		name   string
		first  []reply // of the first call; the second is answered
		want   []Format
		second Format
		err    error // of the first call
	}{
		{name: "known", first: []reply{says(good)}, want: []Format{s}, second: s},
		{name: "no schema", first: []reply{unsupported("response_format"), says(good)}, want: []Format{s, o}, second: o},
		{name: "no response_format", first: []reply{unsupported("response_format"), unsupported("response_format"), says(good)}, want: []Format{s, o, p}, second: p},
		{name: "422", first: []reply{status(422, `{"detail":"json_schema is unknown"}`), says(good)}, want: []Format{s, o}, second: o},
		{name: "500 that names it", first: []reply{status(500, `{"error":{"message":"failed to parse grammar"}}`), says(good)}, want: []Format{s, o}, second: o},
		{name: "400 that says nothing", first: []reply{status(400, "bad request"), says(good)}, want: []Format{s, o}, second: o},
		{name: "400 whatever is asked", first: []reply{status(400, ""), status(400, ""), status(400, ""), says(good)}, want: []Format{s, o, p}, second: s, err: StatusError{Code: 400}},
		{name: "400 for something else", first: []reply{status(400, `{"error":{"code":"context_length_exceeded","param":"messages"}}`), says(good)}, want: []Format{s}, second: s, err: StatusError{Code: 400}},
		{name: "400 with a code of its own", first: []reply{status(400, `{"error":{"code":"BadRequest","message":"unexpected property"}}`), says(good)}, want: []Format{s, o}, second: o},
		{name: "400 with a number for a code", first: []reply{status(400, `{"error":{"code":"400","message":"Bad request"}}`), says(good)}, want: []Format{s, o}, second: o},
		{name: "404 of a router", first: []reply{status(404, `{"error":{"message":"No endpoints found that can handle the requested parameters."}}`), says(good)}, want: []Format{s, o}, second: o},
		{name: "404 of a model", first: []reply{status(404, `{"error":{"message":"no such model"}}`), says(good)}, want: []Format{s}, second: s, err: StatusError{Code: 404}},
		{name: "501", first: []reply{status(501, ""), says(good)}, want: []Format{s, o}, second: o},
		{name: "401", first: []reply{status(401, "response_format"), says(good)}, want: []Format{s}, second: s, err: StatusError{Code: 401}},
		{name: "rejected, then no verdict", first: []reply{unsupported("response_format"), says("prose")}, want: []Format{s, o}, second: o, err: ParseError{"no JSON object in it"}},
		{name: "rejected, then cut off", first: []reply{status(400, ""), finishes("", "length")}, want: []Format{s, o}, second: o, err: LengthError{}},
		{name: "rejected, then overloaded", first: []reply{unsupported("response_format"), status(503, ""), says(good)}, want: []Format{s, o, o}, second: o},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{replies: append(tt.first[:len(tt.first):len(tt.first)], says(good))}
				c := newClient(t, f)
				a, err := c.JSON(t.Context(), call())
				assert.ErrorIs(t, err, tt.err)
				assert.Equal(t, tt.want, f.formats())
				assert.Equal(t, len(tt.want), a.Usage.Attempts)

				f.replies, f.requests = []reply{says(good)}, nil
				_, err = c.JSON(t.Context(), call())
				require.NoError(t, err)
				assert.Equal(t, []Format{tt.second}, f.formats(), "remembered")
			})
		})
	}
}

func TestStepDownIsNoRetry(t *testing.T) {
	f := &fake{replies: []reply{unsupported("response_format"), unsupported("response_format"), says(good)}}
	_, err := newClient(t, f, func(c *Config) { c.Retries = -1 }).JSON(t.Context(), call())
	require.NoError(t, err)
}

func TestLegacyTokens(t *testing.T) {
	f := &fake{replies: []reply{unsupported("max_completion_tokens"), says(good)}}
	c := newClient(t, f)
	for range 2 {
		_, err := c.JSON(t.Context(), call())
		require.NoError(t, err)
	}
	require.Equal(t, 3, f.calls())
	assert.Equal(t, 500, f.requests[0].Body.MaxCompletionTokens)
	for _, r := range f.requests[1:] {
		assert.Equal(t, 500, r.Body.MaxTokens)
		assert.Zero(t, r.Body.MaxCompletionTokens)
		assert.Equal(t, FormatSchema, r.format(), "the format was not the fault")
	}
}

func TestStartingFormat(t *testing.T) {
	for _, f := range []Format{FormatObject, FormatPlain} {
		srv := &fake{replies: []reply{says(good)}}
		_, err := newClient(t, srv, func(c *Config) { c.Format, c.LegacyMaxTokens = f, true }).JSON(t.Context(), call())
		require.NoError(t, err)
		assert.Equal(t, []Format{f}, srv.formats())
		assert.Equal(t, 500, srv.requests[0].Body.MaxTokens)
	}
}

func TestACallWithoutSchemaTeachesNothing(t *testing.T) {
	f := &fake{replies: []reply{unsupported("response_format"), says(good), says(good)}}
	c := newClient(t, f)
	plain := call()
	plain.Schema = nil
	_, err := c.JSON(t.Context(), plain)
	require.NoError(t, err)
	_, err = c.JSON(t.Context(), call())
	require.NoError(t, err)
	assert.Equal(t, []Format{FormatObject, FormatPlain, FormatSchema}, f.formats())
}
