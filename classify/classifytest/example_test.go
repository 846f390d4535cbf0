package classifytest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/classifytest"
	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/llm"
)

// The test of a host's own prompt: in its repository this is func TestPrompt(t *testing.T).
func Example() {
	_ = func(t *testing.T) {
		cassettes := classifytest.Replay(t, "testdata/cassettes")
		client, err := llm.NewClient(llm.Config{
			Model:     "gpt-4.1-mini",
			Key:       cmp.Or(os.Getenv("OPENAI_API_KEY"), "none"), // none is needed but for recording
			Transport: cassettes,
		})
		if err != nil {
			t.Fatal(err)
		}
		judge, err := llm.New(client, llm.Options{Prompt: os.DirFS("prompt")})
		if err != nil {
			t.Fatal(err)
		}
		cases, err := evaluate.LoadCases(os.DirFS("testdata"), "cases.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		classifytest.Run(t, judge, cases)
	}
	// Output:
}

// A key that is wrong is not tried again, and the heuristic answers.
func ExampleUnauthorized() {
	t := &testing.T{} // in a test: its own
	s := classifytest.NewServer(t, classifytest.Unauthorized())
	defer s.Close()
	client, err := llm.NewClient(llm.Config{Model: "m", Key: "sk-wrong", BaseURL: s.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	judge, err := llm.New(client, llm.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := classify.Fallback(judge, heuristic).Classify(context.Background(), classify.Input{Text: "Which of the two ports shall I use?"})
	fmt.Println(r.Type, r.Source, err)
	fmt.Println(r.Fallback)
	fmt.Println("calls:", s.Calls())
	// Output:
	// question heuristic <nil>
	// llm: the endpoint answered 401 Unauthorized: is the key right?
	// calls: 1
}

// A server that knows neither json_schema nor json_object.
func ExampleRejectFormats() {
	t := &testing.T{} // in a test: its own
	s := classifytest.NewServer(t, classifytest.RejectFormats(
		classifytest.Say(classifytest.Verdict{Type: classify.Question, Confidence: 0.9, Reason: "asks for a port"}),
		"json_schema", "json_object"))
	defer s.Close()
	client, err := llm.NewClient(llm.Config{Model: "m", BaseURL: s.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	judge, err := llm.New(client, llm.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := judge.Classify(context.Background(), classify.Input{Text: "Which port?"})
	fmt.Println(r.Type, err)
	for _, q := range s.Requests() {
		fmt.Printf("%q\n", q.Format)
	}
	// Output:
	// question <nil>
	// "json_schema"
	// "json_object"
	// ""
}

// A key that a proxy repeats in its answer is in no cassette.
func ExampleRecord() {
	dir, err := os.MkdirTemp("", "cassettes")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	t := &testing.T{} // in a test: its own
	s := classifytest.NewServer(t, classifytest.Text("your key is sk-secret-key"))
	defer s.Close()

	client := &http.Client{Transport: classifytest.Record(t, dir, http.DefaultTransport)}
	ask := func() error {
		req, err := http.NewRequest(http.MethodPost, s.URL+"/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hello"}]}`))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer sk-secret-key")
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	if err := errors.Join(ask(), ask()); err != nil {
		fmt.Println(err)
		return
	}
	files, _ := os.ReadDir(dir)
	text, _ := os.ReadFile(dir + "/" + files[0].Name())
	fmt.Println("calls:", s.Calls(), "files:", len(files), "key:", strings.Contains(string(text), "sk-secret-key"), "redacted:", strings.Contains(string(text), "your key is [redacted]"))
	// Output: calls: 1 files: 1 key: false redacted: true
}
