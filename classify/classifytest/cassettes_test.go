package classifytest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify/classifytest"
)

// transport is a function that is an http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// says answers every request with a status, a header and a body, and counts.
func says(count *int, status int, header http.Header, body string) transport {
	var mu sync.Mutex
	return func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		*count++
		mu.Unlock()
		_, err := io.Copy(io.Discard, r.Body)
		return &http.Response{StatusCode: status, Header: header.Clone(), Body: io.NopCloser(strings.NewReader(body))}, err
	}
}

var offline = transport(func(*http.Request) (*http.Response, error) { return nil, errors.New("the network was asked") })

const (
	endpoint = "https://api.example.com/v1/chat/completions"
	reply    = `{"model":"gpt-9","choices":[{"message":{"content":"{\"type\":\"question\"}"}}]}`
)

func send(t *testing.T, rt http.RoundTripper, url, body string, header ...string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, int64(len(b)), resp.ContentLength)
	assert.Same(t, req, resp.Request)
	return resp, string(b), nil
}

// quiet keeps a test from what the environment says about recording.
func quiet(t *testing.T) { t.Setenv(classifytest.RecordVariable, "") }

// recorded records an answer to each body and returns the directory.
func recorded(t *testing.T, bodies ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new", "cassettes")
	var n int
	f := newFake(t, "TestX")
	f.run(func() {
		c := classifytest.Record(f, dir, says(&n, 200, nil, reply))
		for _, b := range bodies {
			_, _, err := send(t, c, endpoint, b)
			assert.NoError(t, err)
		}
	})
	require.Empty(t, f.text())
	require.Equal(t, len(bodies), n)
	return dir
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	return list
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func TestWhatIsRecordedIsReplayed(t *testing.T) {
	quiet(t)
	for _, tt := range []struct {
		name   string
		status int
		body   string
	}{
		{"an answer", 200, reply},
		{"a rejected format", 400, `{"error":{"message":"no <json_schema> & the like"}}`},
		{"duplicate keys", 200, `{"a":1.0,"b":2,"a":1e2}`},
		{"not JSON", 200, "a\nb\x00<>"},
		{"not text", 200, "\xff\xfe\x00"},
		{"nothing", 200, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			var n int
			header := http.Header{"Content-Type": {"application/x"}, "Retry-After": {"7"}, "X-Request-Id": {"r1"}, "Set-Cookie": {"a=b"}}
			rec := newFake(t, "TestX")
			rec.run(func() {
				c := classifytest.Record(rec, dir, says(&n, tt.status, header, tt.body))
				for range 2 { // the second time from the first one's cassette
					_, got, err := send(t, c, endpoint, body())
					assert.NoError(t, err)
					assert.Equal(t, strings.ReplaceAll(tt.body, " ", ""), strings.ReplaceAll(got, " ", ""))
				}
			})
			require.Empty(t, rec.text())
			require.Equal(t, 1, n)
			require.Len(t, files(t, dir), 1)

			f := newFake(t, "TestX")
			f.run(func() {
				resp, got, err := send(t, classifytest.Replay(f, dir), endpoint, body())
				require.NoError(t, err)
				assert.Equal(t, tt.status, resp.StatusCode)
				assert.Equal(t, http.Header{"Content-Type": {"application/x"}, "Retry-After": {"7"}}, resp.Header)
				if strings.HasPrefix(tt.body, "{") {
					var want, have bytes.Buffer
					require.NoError(t, json.Compact(&want, []byte(tt.body)))
					require.NoError(t, json.Compact(&have, []byte(got)))
					assert.Equal(t, want.String(), have.String())
				} else {
					assert.Equal(t, tt.body, got)
				}
			})
			assert.Empty(t, f.text())
		})
	}
}

func TestOnlyTheRequestCounts(t *testing.T) {
	quiet(t)
	large := `"seed":9007199254740993,"model"`
	dir := recorded(t, body(`"model"`, large))
	body := func(changes ...string) string { return body(append(changes, `"model"`, large)...) }
	for name, same := range map[string]func(rt http.RoundTripper) error{
		"other host": func(rt http.RoundTripper) error {
			_, _, err := send(t, rt, "http://localhost:1/v1/chat/completions", body())
			return err
		},
		"other path of the base": func(rt http.RoundTripper) error {
			_, _, err := send(t, rt, "https://gateway.example/accounts/7/v2/chat/completions", body())
			return err
		},
		"other query": func(rt http.RoundTripper) error {
			_, _, err := send(t, rt, endpoint+"?api-version=1", body())
			return err
		},
		"other headers": func(rt http.RoundTripper) error {
			_, _, err := send(t, rt, endpoint, body(), "Authorization", "Bearer other-key")
			return err
		},
		"other layout": func(rt http.RoundTripper) error {
			_, _, err := send(t, rt, endpoint, ` {"seed": 9007199254740993, "messages":[{"content":"answer in JSON","role":"system"},{"role":"user","content":"\u0074ext"}], "model":"m"} `)
			return err
		},
	} {
		f := newFake(t, "TestX")
		f.run(func() { assert.NoError(t, same(classifytest.Replay(f, dir)), name) })
		assert.Empty(t, f.text(), name)
	}
	for name, other := range map[string][2]string{
		"call":    {"https://api.example.com/openai/deployments/d/chat/completions", body()},
		"model":   {endpoint, body(`"m"`, `"n"`)},
		"a space": {endpoint, body("text", "text ")},
		"seed":    {endpoint, strings.Replace(body(), "740993", "740992", 1)},
		"number":  {endpoint, body(`"model"`, `"max_tokens":1,"model"`)},
		"empty":   {endpoint, ""},
	} {
		f := newFake(t, "TestX")
		f.run(func() {
			_, _, err := send(t, classifytest.Replay(f, dir), other[0], other[1])
			assert.ErrorIs(t, err, classifytest.ErrNoCassette, name)
		})
		assert.NotEmpty(t, f.text(), name)
	}
}

func TestMissingCassetteSaysWhatChangedAndHowToRecordIt(t *testing.T) {
	quiet(t)
	prompt := `Line one.\nJudge what the output shows, not what it claims.\nAnswer in JSON.`
	dir := recorded(t, body("answer in JSON", prompt), body("answer in JSON", "something else", "text", "wholly different"))
	f := newFake(t, "TestX/sub")
	f.run(func() {
		c := classifytest.Replay(f, dir)
		for range 3 { // as a client that tries again
			_, _, err := send(t, c, endpoint, body("answer in JSON", strings.Replace(prompt, "shows", "proves", 1)))
			assert.ErrorIs(t, err, classifytest.ErrNoCassette)
			assert.ErrorContains(t, err, "proves")
		}
	})
	require.Len(t, f.said, 1, "said once, and no word of unused ones")
	for _, want := range []string{
		"nearest is " + dir, "answer recorded from gpt-9 on 20", "% the same",
		"messages[0].content (system) changed at line 2:",
		"- Judge what the output shows, not what it claims.",
		"+ Judge what the output proves, not what it claims.",
		"SIDECOACH_RECORD=1 go test -count=1 -run '^TestX$' github.com/sidecoach/sidecoach/classify/classifytest",
	} {
		assert.Contains(t, f.text(), want)
	}
	assert.NotContains(t, f.text(), "keep the answer")
}

func TestMissingCassetteNamesOtherChanges(t *testing.T) {
	quiet(t)
	long := strings.Repeat("word ", 2000)
	dir := recorded(t, body("text", long))
	for _, tt := range []struct{ name, body, want string }{
		{"model", body("text", long, `"m"`, `"n"`), "model changed at line 1:\n\t- m\n\t+ n"},
		{"new field", body("text", long, `"model"`, `"max_tokens":5,"model"`), "max_tokens changed:\n\t- (absent)\n\t+ 5"},
		{"message left out", `{"model":"m","messages":[{"role":"system","content":"answer in JSON"}]}`, "messages[1] changed:"},
		{"far in", body("text", long[:5000]+"X"+long[5000:]), "…word word word word word word word word Xword"},
		{"longer", body("text", long+`\nmore`), "\t+ more"},
		{"no object", `[1]`, "body changed:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, "TestX")
			f.run(func() {
				_, _, err := send(t, classifytest.Replay(f, dir), endpoint, tt.body)
				assert.ErrorIs(t, err, classifytest.ErrNoCassette)
			})
			assert.Contains(t, f.text(), tt.want)
			assert.Less(t, len(f.text()), 2000)
		})
	}
}

func TestNoCassettesAtAll(t *testing.T) {
	quiet(t)
	f := newFake(t, "TestX")
	f.run(func() {
		_, _, err := send(t, classifytest.Replay(f, filepath.Join(t.TempDir(), "none")), endpoint, body())
		assert.ErrorIs(t, err, classifytest.ErrNoCassette)
	})
	assert.Contains(t, f.text(), "there are no cassettes in")
	assert.Contains(t, f.text(), "SIDECOACH_RECORD=1 go test")
}

func TestSecretsAreNeverWritten(t *testing.T) {
	quiet(t)
	for _, tt := range []struct{ name, header, value, secret string }{
		{"bearer", "Authorization", "Bearer sk-top-secret", "sk-top-secret"},
		{"bare", "Authorization", "sk-top-secret", "sk-top-secret"},
		{"azure", "Api-Key", "azure-top-secret", "azure-top-secret"},
		{"x", "X-Api-Key", "x-top-secret", "x-top-secret"},
		{"cookie", "Cookie", "a=b; session=top-secret-cookie", "top-secret-cookie"},
		{"quoted", "Api-Key", `top"secret`, `top\"secret`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			rec := newFake(t, "TestX")
			rec.run(func() {
				next := transport(func(r *http.Request) (*http.Response, error) {
					assert.Equal(t, tt.value, r.Header.Get(tt.header), "the endpoint gets it")
					b, _ := io.ReadAll(r.Body)
					assert.Contains(t, string(b), tt.secret)
					return &http.Response{StatusCode: 200, Header: http.Header{"Set-Cookie": {"id=server-cookie"}, "Content-Type": {"a; " + tt.value}},
						Body: io.NopCloser(strings.NewReader(`{"model":"for ` + tt.secret + `","echo":"` + tt.secret + `"}`))}, nil
				})
				_, _, err := send(t, classifytest.Record(rec, dir, next), endpoint+"?key=url-secret", body("text", "my key is "+tt.secret), tt.header, tt.value)
				assert.NoError(t, err)
			})
			require.Empty(t, rec.text())
			text := read(t, files(t, dir)[0])
			for _, s := range []string{tt.secret, tt.value, "server-cookie", "url-secret", "api.example.com", "Authorization"} {
				assert.NotContains(t, text, s)
			}
			assert.Contains(t, text, "my key is [redacted]")
			assert.Contains(t, text, `"echo": "[redacted]"`)

			f := newFake(t, "TestX")
			f.run(func() {
				_, _, err := send(t, classifytest.Replay(f, dir), endpoint, body("text", "my key is [redacted]"))
				assert.NoError(t, err)
			})
			assert.Empty(t, f.text(), "without the key the hash is the same")
		})
	}
}

// An answer can spell what it repeats in many ways, and a gateway may have its secret in the path.
func TestSecretsAreFoundHoweverTheyAreSpelled(t *testing.T) {
	quiet(t)
	const key = "sk-Top/s3cret+Kéy"
	escaped := ""
	for _, r := range key {
		escaped += fmt.Sprintf(`\u%04X`, r)
	}
	for _, tt := range []struct{ name, url, answer, want string }{
		{"as it is", endpoint, `{"echo":"it is ` + key + `."}`, `{"echo":"it is [redacted]."}`},
		{"escaped", endpoint, `{"echo":"it is ` + escaped + `."}`, `{"echo":"it is [redacted]."}`},
		{"one letter escaped", endpoint, `{"echo":"it is ` + strings.Replace(key, "s", `\u0073`, 1) + `."}`, `{"echo":"it is [redacted]."}`},
		{"the slash escaped", endpoint, `{"echo":"it is ` + strings.Replace(key, "/", `\/`, 1) + `."}`, `{"echo":"it is [redacted]."}`},
		{"in JSON in JSON", endpoint, `{"echo":"{\"key\":\"` + strings.ReplaceAll(escaped, `\`, `\\`) + `\"}"}`, `{"echo":"{\"key\":\"[redacted]\"}"}`},
		{"as a key", endpoint, `{"` + escaped + `":1.0}`, `{"[redacted]":1.0}`},
		{"not JSON", endpoint, `data: {"echo":"` + escaped + `"`, `data: {"echo":"[redacted]"`},
		{"percent-encoded", endpoint, `{"echo":"?k=` + url.QueryEscape(key) + `&"}`, `{"echo":"?k=[redacted]&"}`},
		{"percent-encoded twice", endpoint, `{"echo":"?k=` + url.QueryEscape(url.QueryEscape(key)) + `&"}`, `{"echo":"?k=[redacted]&"}`},
		{"every byte percent-encoded", endpoint, `{"echo":"%` + strings.ReplaceAll(fmt.Sprintf("% x", key), " ", "%") + `"}`, `{"echo":"[redacted]"}`},
		{"base64", endpoint, `{"echo":"` + base64.RawStdEncoding.EncodeToString([]byte(key)) + `"}`, `{"echo":"[redacted]"}`},
		{"base64 of more", endpoint, `{"echo":"` + base64.StdEncoding.EncodeToString([]byte("user:"+key+":x")) + `"}`, `{"echo":"dXNlcjp[redacted]k6eA=="}`},
		{"base64 of more, for URLs", endpoint, `{"echo":"` + base64.URLEncoding.EncodeToString([]byte("a"+key+"??")) + `"}`, `{"echo":"YX[redacted]T8_"}`},
		{"path", "https://gateway.example/a1b2c3d4e5f6a7b8c9d0/v1/chat/completions", `{"echo":"no POST a1b2c3d4\u00655f6a7b8c9d0 here"}`, `{"echo":"no POST [redacted] here"}`},
		{"password of the URL", "https://u:pass-w0rd@gateway.example/v1/chat/completions", `{"echo":"pass-w0rd it was"}`, `{"echo":"[redacted] it was"}`},
		{"none of it", endpoint, `{"echo":"sk-Top, \u0073k-Top/, %73 \\u0073 \" %zz %25 \\","n":1e2}`, `{"echo":"sk-Top, \u0073k-Top/, %73 \\u0073 \" %zz %25 \\","n":1e2}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			var n int
			rec := newFake(t, "TestX")
			rec.run(func() {
				_, _, err := send(t, classifytest.Record(rec, dir, says(&n, 200, nil, tt.answer)), tt.url, body(), "Authorization", "Bearer "+key)
				assert.NoError(t, err)
			})
			require.Empty(t, rec.text())
			text := read(t, files(t, dir)[0])
			var k struct {
				Response struct {
					Body json.RawMessage
					Text string
				}
			}
			require.NoError(t, json.Unmarshal([]byte(text), &k))
			got := bytes.NewBufferString(k.Response.Text)
			if k.Response.Body != nil {
				require.NoError(t, json.Compact(got, k.Response.Body))
			}
			assert.Equal(t, tt.want, got.String())
			for _, part := range []string{key, "a1b2c3", "pass-w0rd", "gateway"} {
				assert.NotContains(t, text, part)
			}
		})
	}
}

// Nothing of the base URL is written, whatever it looks like.
func TestPathOfTheBaseURLIsNotWritten(t *testing.T) {
	quiet(t)
	for path, want := range map[string]string{
		"/v1/chat/completions":                                          "/chat/completions",
		"/tok/en/api/v1/chat/completions":                               "/chat/completions",
		"/tok/openai/v1/chat/completions":                               "/openai/v1/chat/completions",
		"/tok/v1beta/openai/chat/completions":                           "/openai/chat/completions",
		"/tok/openai/deployments/gpt-4.1/chat/completions":              "/openai/deployments/gpt-4.1/chat/completions",
		"/openai/tok/v1/chat/completions":                               "/chat/completions",
		"/tok-openai/v1/chat/completions":                               "/chat/completions",
		"/openai/deployments/tok/openai/deployments/d/chat/completions": "/openai/deployments/d/chat/completions",
		"/tok/completions":                                              "/",
	} {
		dir := t.TempDir()
		var n int
		rec := newFake(t, "TestX")
		rec.run(func() {
			_, _, err := send(t, classifytest.Record(rec, dir, says(&n, 200, nil, reply)), "https://api.example.com"+path, body())
			assert.NoError(t, err)
		})
		require.Empty(t, rec.text())
		assert.Contains(t, read(t, files(t, dir)[0]), `"path": "`+want+`"`, path)
	}
}

func TestCassetteIsForPeople(t *testing.T) {
	quiet(t)
	dir := recorded(t, body("answer in JSON", `One <b>.\nTwo & three.\n`))
	text := read(t, files(t, dir)[0])
	assert.Contains(t, text, "\"$lines\": [\n              \"One <b>.\",\n              \"Two & three.\",\n              \"\"\n")
	assert.Contains(t, text, `"origin": "recorded from gpt-9 on 20`)
	f := newFake(t, "TestX")
	f.run(func() {
		_, _, err := send(t, classifytest.Replay(f, dir), endpoint, body("answer in JSON", `One <b>.\nTwo & three.\n`))
		assert.NoError(t, err)
	})
	assert.Empty(t, f.text())
}

func TestFailuresAreNotRecorded(t *testing.T) {
	quiet(t)
	for _, status := range []int{401, 403, 407, 408, 409, 425, 429, 500, 503} {
		dir := t.TempDir()
		var n int
		f := newFake(t, "TestX")
		f.run(func() {
			c := classifytest.Record(f, dir, says(&n, status, http.Header{"Retry-After": {"3"}, "X-Other": {"y"}}, "sorry"))
			for range 2 {
				resp, got, err := send(t, c, endpoint, body())
				require.NoError(t, err)
				assert.Equal(t, status, resp.StatusCode)
				assert.Equal(t, "3", resp.Header.Get("Retry-After"))
				assert.Equal(t, "sorry", got)
			}
		})
		assert.Equal(t, 2, n)
		assert.Empty(t, files(t, dir), "%d", status)
	}
	for name, next := range map[string]transport{
		"error": func(*http.Request) (*http.Response, error) { return nil, io.ErrClosedPipe },
		"broken": func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(io.MultiReader(strings.NewReader("{"), broken{}))}, nil
		},
		"large": func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(io.LimitReader(zeros{}, 1<<40))}, nil
		},
	} {
		dir := t.TempDir()
		f := newFake(t, "TestX")
		f.run(func() {
			_, _, err := send(t, classifytest.Record(f, dir, next), endpoint, body())
			assert.Error(t, err, name)
		})
		assert.Empty(t, files(t, dir), name)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestUnusedCassettes(t *testing.T) {
	quiet(t)
	dir := recorded(t, body(), body("text", "old"))
	f := newFake(t, "TestX")
	f.run(func() {
		c := classifytest.Replay(f, dir)
		assert.Len(t, c.Unused(), 2)
		_, _, err := send(t, c, endpoint, body())
		assert.NoError(t, err)
		assert.Len(t, c.Unused(), 1)
	})
	assert.Contains(t, f.text(), "cassettes that nothing asked for")
	assert.Contains(t, f.text(), "\trm "+dir)

	var n int
	f = newFake(t, "TestX")
	f.run(func() {
		c := classifytest.Record(f, dir, says(&n, 200, nil, reply))
		_, _, err := send(t, c, endpoint, body())
		assert.NoError(t, err)
		f.Errorf("another failure")
	})
	assert.Len(t, files(t, dir), 2, "a test that failed may not have asked for all")

	f = newFake(t, "TestX")
	f.run(func() {
		c := classifytest.Record(f, dir, says(&n, 200, nil, reply))
		_, _, err := send(t, c, endpoint, body())
		assert.NoError(t, err)
	})
	assert.Empty(t, f.text())
	assert.Len(t, f.logged, 1)
	assert.Len(t, files(t, dir), 1)
	assert.Zero(t, n)
}

func TestRecordVariable(t *testing.T) {
	quiet(t)
	dir := recorded(t, body())
	t.Setenv(classifytest.RecordVariable, "all")
	var n int
	f := newFake(t, "TestX")
	f.run(func() {
		c := classifytest.Record(f, dir, says(&n, 200, nil, `{"model":"gpt-10"}`))
		assert.True(t, c.Recording())
		c.Origin = "my own words"
		for range 2 {
			_, got, err := send(t, c, endpoint, body())
			assert.NoError(t, err)
			assert.Contains(t, got, "gpt-10")
		}
	})
	assert.Equal(t, 1, n, "anew, and once")
	assert.Contains(t, read(t, files(t, dir)[0]), `"origin": "my own words"`)
	assert.Len(t, files(t, dir), 1)

	t.Setenv(classifytest.RecordVariable, "yes")
	f = newFake(t, "TestX")
	f.run(func() { classifytest.Replay(f, dir) })
	assert.Contains(t, f.text(), `SIDECOACH_RECORD is "yes": it can be 1, all or hand`)

	// Replay takes the default transport for the command that its error names.
	t.Setenv(classifytest.RecordVariable, "1")
	s := classifytest.NewServer(t)
	f = newFake(t, "TestX")
	f.run(func() {
		c := classifytest.Replay(f, t.TempDir())
		for range 2 {
			_, _, err := send(t, c, s.URL+"/chat/completions", body())
			assert.NoError(t, err)
		}
	})
	assert.Empty(t, f.text())
	assert.Equal(t, 1, s.Calls())
}

func TestAnswersByHand(t *testing.T) {
	t.Setenv(classifytest.RecordVariable, "hand")
	dir := t.TempDir()
	f := newFake(t, "TestX")
	f.run(func() {
		c := classifytest.Record(f, dir, offline)
		assert.False(t, c.Recording())
		_, _, err := send(t, c, endpoint, body())
		assert.NoError(t, err)
	})
	require.Len(t, files(t, dir), 1)
	file := files(t, dir)[0]
	want := file + ` is a draft: write its answer's content, and as its origin "written by hand"`
	assert.Contains(t, f.text(), want)
	assert.Contains(t, read(t, file), `"content": "{\"type\":\"question\",\"confidence\":0,\"reason\":\"\",\"coaching_message\":null}"`)

	again := func() *fake {
		f := newFake(t, "TestX")
		return f.run(func() {
			_, _, err := send(t, classifytest.Record(f, dir, offline), endpoint, body())
			assert.NoError(t, err)
		})
	}
	assert.Contains(t, again().text(), want, "a draft that was forgotten")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(read(t, file), `"draft"`, `"written by hand"`, 1)), 0o644))
	assert.Empty(t, again().text())
}

func TestBadCassettes(t *testing.T) {
	quiet(t)
	for _, tt := range []struct {
		name   string
		change func(string) string
		want   string
	}{
		{"not JSON", func(string) string { return "{" }, "unexpected EOF"},
		{"unknown field", func(s string) string { return strings.Replace(s, `"origin"`, `"orign"`, 1) }, "unknown field"},
		{"no origin", func(s string) string {
			return strings.Replace(s, `"origin": "recorded`, `"origin": "","note": "recorded`, 1)
		}, "origin does not say"},
		{"edited request", func(s string) string { return strings.Replace(s, "answer in JSON", "answer in XML", 1) }, "its request was edited"},
		{"status", func(s string) string { return strings.Replace(s, `"status": 200`, `"status": 2`, 1) }, "status is not from 200 to 599"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := recorded(t, body())
			file := files(t, dir)[0]
			require.NoError(t, os.WriteFile(file, []byte(tt.change(read(t, file))), 0o644))
			f := newFake(t, "TestX")
			f.run(func() { classifytest.Replay(f, dir) })
			assert.Contains(t, f.text(), filepath.Base(file))
			assert.Contains(t, f.text(), tt.want)
		})
	}
	t.Run("twice", func(t *testing.T) {
		dir := recorded(t, body())
		require.NoError(t, os.WriteFile(filepath.Join(dir, "copy.json"), []byte(read(t, files(t, dir)[0])), 0o644))
		f := newFake(t, "TestX")
		f.run(func() { classifytest.Replay(f, dir) })
		assert.Contains(t, f.text(), "have the same request")
	})
}

func TestCassettesInParallel(t *testing.T) {
	quiet(t)
	dir := t.TempDir()
	var n int
	f := newFake(t, "TestX")
	f.run(func() {
		c := classifytest.Record(f, dir, says(&n, 200, nil, reply))
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() {
				_, _, err := send(t, c, endpoint, body("text", strings.Repeat("x", i%10)))
				assert.NoError(t, err)
			})
		}
		wg.Wait()
	})
	assert.Empty(t, f.text())
	assert.Len(t, files(t, dir), 10)
}

func TestRequestsThatAreNone(t *testing.T) {
	quiet(t)
	f := newFake(t, "TestX")
	f.run(func() {
		c := classifytest.Record(f, t.TempDir(), offline)
		for _, b := range []string{"{", "{} {}", "\xff"} {
			_, _, err := send(t, c, endpoint, b)
			assert.ErrorContains(t, err, "classifytest: cassettes: the request's body")
		}
	})
}

// A refusal may have been the fault of that day, a wrong base URL: recording asks again, unless it was written by hand.
func TestRefusalsAreRecordedAnew(t *testing.T) {
	quiet(t)
	record := func(dir string, next transport) (status int) {
		f := newFake(t, "TestX")
		f.run(func() {
			resp, _, err := send(t, classifytest.Record(f, dir, next), endpoint, body())
			require.NoError(t, err)
			status = resp.StatusCode
		})
		return status
	}
	for _, refusal := range []int{302, 400, 402, 404} {
		dir, n := t.TempDir(), 0
		assert.Equal(t, refusal, record(dir, says(&n, refusal, nil, "no")))
		assert.Equal(t, 200, record(dir, says(&n, 200, nil, reply)))
		require.Len(t, files(t, dir), 1)
		assert.Equal(t, 200, record(dir, offline), "an answer is kept")

		dir = t.TempDir()
		record(dir, says(&n, refusal, nil, "no"))
		path := files(t, dir)[0]
		byHand := strings.Replace(read(t, path), `"origin": "recorded from an endpoint that names no model`, `"origin": "`+classifytest.ByHand, 1)
		require.NoError(t, os.WriteFile(path, []byte(byHand), 0o600))
		assert.Equal(t, refusal, record(dir, offline))
	}
}
