package classifytest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/classifytest"
)

// body is a request that a strict endpoint accepts.
func body(changes ...string) string {
	s := `{"model":"m","messages":[{"role":"system","content":"answer in JSON"},{"role":"user","content":"text"}]}`
	return strings.NewReplacer(changes...).Replace(s)
}

type answer struct {
	status  int
	header  http.Header
	body    string
	err     error // of the call
	readErr error // of the answer's body
}

// content returns the message of a chat completion.
func (a answer) content(t *testing.T) string {
	t.Helper()
	var c struct {
		Choices []struct{ Message struct{ Content string } }
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &c), a.body)
	require.Len(t, c.Choices, 1)
	return c.Choices[0].Message.Content
}

func post(t *testing.T, ctx context.Context, s *classifytest.Server, body string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/chat/completions", strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer sk-very-secret")
	r.Header.Set("Api-Key", "azure-secret")
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer c.CloseIdleConnections()
	resp, err := c.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return answer{status: resp.StatusCode, header: resp.Header, body: string(b), readErr: err}
}

func ask(t *testing.T, s *classifytest.Server) answer {
	t.Helper()
	return post(t, t.Context(), s, body())
}

func TestServerFollowsItsScript(t *testing.T) {
	first := classifytest.Verdict{Type: classify.Status, Confidence: 0.9, Reason: "a <b> & \"c\"", Coaching: "Run it."}
	s := classifytest.NewServer(t, first.Answer(), classifytest.Status(500), classifytest.Text("last"))
	a := ask(t, s)
	assert.Equal(t, 200, a.status)
	assert.JSONEq(t, `{"type":"status","rejected":true,"confidence":0.9,"reason":"a <b> & \"c\"",`+
		`"coaching_message":"Run it."}`, a.content(t))
	assert.Equal(t, 500, ask(t, s).status)
	assert.Equal(t, "last", ask(t, s).content(t))
	assert.Equal(t, "last", ask(t, s).content(t))
	assert.Equal(t, 4, s.Calls())
	assert.JSONEq(t, `{"type":"completion","rejected":false,"confidence":0.95,"reason":"shows its result",`+
		`"coaching_message":""}`,
		ask(t, classifytest.NewServer(t)).content(t))
}

func TestServerRecordsWhatItWasAsked(t *testing.T) {
	s := classifytest.NewServer(t)
	sent := body(`"model":"m"`, `"model":"m","response_format":{"type":"json_object"}`)
	post(t, t.Context(), s, sent)
	q := s.Requests()[0]
	assert.Equal(t, "/v1/chat/completions", q.Path)
	assert.Equal(t, sent, string(q.Body))
	assert.Equal(t, "user", q.Messages[1].Role)
	assert.Equal(t, "answer in JSON", s.Requests()[0].Messages[0].Content)
}

func TestServerKnowsOnePath(t *testing.T) {
	s := classifytest.NewServer(t)
	resp, err := http.Get(s.URL + "/models")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 404, resp.StatusCode)
	assert.Equal(t, "/v1/models", s.Requests()[0].Path)
}

func TestMisbehavioursOnTheWire(t *testing.T) {
	v := classifytest.Verdict{Type: classify.Status, Confidence: 0.9, Reason: "a claim", Coaching: "Show it."}
	seen := map[string]bool{}
	for _, m := range v.Misbehaviours() {
		assert.False(t, seen[m.Name], m.Name)
		seen[m.Name] = true
		t.Run(m.Name, func(t *testing.T) {
			s := classifytest.NewServer(t, m.Answer)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if strings.HasPrefix(m.Name, "stuck") {
				ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
			}
			a := post(t, ctx, s, body())
			switch {
			case m.Name == "stuck":
				assert.ErrorIs(t, a.err, context.DeadlineExceeded)
			case m.Name == "stuck in the body":
				assert.Equal(t, 200, a.status)
				assert.ErrorIs(t, a.readErr, context.DeadlineExceeded)
			case m.Name == "hangs up":
				assert.ErrorIs(t, a.err, io.EOF)
			case m.Name == "truncated body":
				assert.ErrorIs(t, a.readErr, io.ErrUnexpectedEOF)
				assert.False(t, json.Valid([]byte(a.body)))
			case strings.HasPrefix(m.Name, "garbage"):
				assert.Len(t, a.body, 1<<20)
				assert.False(t, json.Valid([]byte(a.body)))
			case m.Readable:
				assert.Contains(t, a.content(t), `"status"`)
				assert.NotEqual(t, v.JSON(), a.content(t), "that would be no misbehaviour")
			case a.status != 200:
				var code int
				if _, err := fmt.Sscanf(m.Name, "%d", &code); err == nil {
					assert.Equal(t, code, a.status)
				}
			}
			if strings.HasPrefix(m.Name, "401") || strings.Contains(m.Name, "repeats") {
				assert.Contains(t, a.body, "sk-very-secret")
			}
			assert.Equal(t, 1, s.Calls())
		})
	}
}

// Closing returns though clients wait for an answer, send nothing, or do not read what they are sent.
func TestServerClosesWithStuckClients(t *testing.T) {
	s := classifytest.NewServer(t, classifytest.Stuck(), classifytest.Verdict{}.Misbehaviours()[1].Answer, classifytest.Stuck())
	answers := make(chan answer, 3)
	for range 3 {
		go func() { answers <- post(t, context.Background(), s, body()) }()
	}
	require.Eventually(t, func() bool { return s.Calls() == 3 }, 10*time.Second, time.Millisecond)

	addr := strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/v1")
	deaf, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer deaf.Close()
	fmt.Fprintf(deaf, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: "+
		"%d\r\n\r\n%s", len(body()), body())
	mute, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer mute.Close()
	half, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer half.Close()
	fmt.Fprint(half, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
	require.Eventually(t, func() bool { return s.Calls() == 4 }, 10*time.Second, time.Millisecond)

	s.Close()
	s.Close()
	for range 3 {
		a := <-answers
		assert.True(t, a.err != nil || a.readErr != nil)
	}
	assert.Error(t, ask(t, s).err, "closed")
}

func TestServerInParallel(t *testing.T) {
	s := classifytest.NewServer(t, classifytest.Status(500), classifytest.Text("ok"))
	var mu sync.Mutex
	statuses := map[int]int{}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			a := ask(t, s)
			mu.Lock()
			defer mu.Unlock()
			statuses[a.status]++
		})
	}
	wg.Wait()
	assert.Equal(t, map[int]int{500: 1, 200: 19}, statuses)
	assert.Len(t, s.Requests(), 20)
}

func ExampleServer() {
	t := &testing.T{} // in a test: its own
	s := classifytest.NewServer(t, classifytest.Status(429),
		classifytest.Verdict{Type: classify.Question, Confidence: 0.9}.Answer())
	defer s.Close()
	for range 2 {
		resp, err := http.Post(s.URL+"/chat/completions", "application/json",
			strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"Shall I go on?"}]}`))
		if err != nil {
			fmt.Println(err)
			return
		}
		resp.Body.Close()
		fmt.Println(resp.StatusCode)
	}
	fmt.Println("calls:", s.Calls())
	// Output:
	// 429
	// 200
	// calls: 2
}
