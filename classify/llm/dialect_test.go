package llm

import (
	"encoding/json"
	"net/http"
	"strings"
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
				learnt, legacy := c.Learnt()
				assert.Equal(t, tt.second, learnt)
				assert.False(t, legacy)
			})
		})
	}
}

// A rejection may repeat the request, which names every format there is. What it says beside that counts, and that alone.
func TestStepDownFromARejectionThatRepeatsTheRequest(t *testing.T) {
	const s, o = FormatSchema, FormatObject
	quote := func(request string) string { // as a text in a JSON text
		b, err := json.Marshal(request)
		require.NoError(t, err)
		return strings.Trim(string(b), `"`)
	}
	for _, tt := range []struct {
		name string
		code int
		body func(request string) string
		want []Format
	}{
		{"named by param", 400, func(r string) string {
			return `{"error":{"message":"invalid: ` + quote(r) + `","param":"response_format"}}`
		}, []Format{s, o}},
		{"named before it", 400, func(r string) string {
			return `{"error":{"message":"response_format is not supported, got ` + quote(r) + `","param":"body"}}`
		}, []Format{s, o}},
		{"named after it", 500, func(r string) string {
			return `{"error":{"message":"` + quote(r) + ` has an unknown response_format"}}`
		}, []Format{s, o}},
		{"named beside it", 422, func(r string) string {
			return `{"detail":[{"loc":["body","response_format"],"msg":"extra","input":` + r + `}]}`
		}, []Format{s, o}},
		{"named by a key", 500, func(r string) string {
			return `{"errors":{"response_format":["unknown"]},"request":` + r + `}`
		}, []Format{s, o}},
		{"named in messages of its own", 500, func(r string) string {
			return `{"messages":["response_format is unknown"],"request":` + r + `}`
		}, []Format{s, o}},
		{"named beside the word messages", 500, func(string) string {
			return `{"error":"\"messages\" needs the word JSON for this response_format"}`
		}, []Format{s, o}},
		{"named before what is cut off", 500, func(r string) string {
			return `{"error":{"message":"unknown response_format: ` + quote(r)[:len(r)/2]
		}, []Format{s, o}},
		{"named in a text", 500, func(r string) string { return "bad response_format in " + r }, []Format{s, o}},
		{"in JSON in JSON", 500, func(r string) string {
			return `{"error":"unknown response_format in {\"body\":\"` + quote(quote(r)) + `\"}"}`
		}, []Format{s, o}},
		{"tokens named beside it", 500, func(r string) string {
			return `{"error":{"message":"unknown max_completion_tokens: ` + quote(r) + `"}}`
		}, []Format{s, s}},

		{"nothing named", 500, func(r string) string { return r }, []Format{s}},
		{"nothing named, in a text", 500, func(r string) string { return `{"error":{"message":"sent ` + quote(r) + `"}}` }, []Format{s}},
		{"nothing named, twice", 500, func(r string) string { return `{"error":"` + quote(r) + ` and ` + quote(r) + `"}` }, []Format{s}},
		{"nothing named, beside it", 500, func(r string) string { return `{"error":"down","request":` + r + `}` }, []Format{s}},
		{"nothing named, cut off", 500, func(r string) string { return `{"error":"` + quote(r)[:len(r)*3/4] }, []Format{s}},
		{"nothing named, in JSON in JSON", 500, func(r string) string { return `{"error":"{\"body\":\"` + quote(quote(r)) + `\"}"}` }, []Format{s}},
		{"nothing named, in Python", 500, func(r string) string { return strings.ReplaceAll(strings.ReplaceAll(r, `":`, `": `), `"`, "'") }, []Format{s}},
		{"something else named", 400, func(r string) string {
			return `{"error":{"message":"too long: ` + quote(r) + `","param":"messages","code":"context_length_exceeded"}}`
		}, []Format{s}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{}
			f.replies = []reply{func(r *http.Request) (*http.Response, error) {
				return status(tt.code, tt.body(string(f.requests[0].Raw)))(r)
			}, says(good)}
			c := newClient(t, f, func(c *Config) { c.Retries = -1 })
			question := call()
			question.User = "an echo of } braces { and \"messages\": [ about response_format"
			_, err := c.JSON(t.Context(), question)
			assert.Equal(t, len(tt.want) == 1, err != nil, "%v", err)
			assert.Equal(t, tt.want, f.formats())
		})
	}
}

// Bodies of a server may be as odd as they like: they are read in a time that grows with their length.
func TestOddRejections(t *testing.T) {
	const n = 1 << 16
	for _, body := range []string{
		strings.Repeat("{", n) + `"messages"`, strings.Repeat(`"messages"`, n/10), strings.Repeat(`{"messages":`, n/12), strings.Repeat(`{"messages":[]}`, n/15),
		`{"a":"` + strings.Repeat(`{\"messages\":{`, n/15) + `"}`, strings.Repeat(`}"messages"{`, n/12), strings.Repeat(`[`, n), strings.Repeat(`{"messages":1}`, n/14),
	} {
		assert.False(t, rejection{code: 400, body: []byte(body)}.names(formatWords), "%.40q", body)
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
	format, legacy := c.Learnt()
	assert.Equal(t, FormatSchema, format)
	assert.True(t, legacy)
}

func TestStartingFormat(t *testing.T) {
	for _, f := range []Format{FormatObject, FormatPlain} {
		srv := &fake{replies: []reply{says(good)}}
		c := newClient(t, srv, func(c *Config) { c.Format, c.LegacyMaxTokens = f, true })
		learnt, legacy := c.Learnt()
		assert.Equal(t, f, learnt)
		assert.True(t, legacy)
		_, err := c.JSON(t.Context(), call())
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
	learnt, _ := c.Learnt()
	assert.Equal(t, FormatSchema, learnt)
}
