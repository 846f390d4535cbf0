package classifytest_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/classifytest"
	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/llm"
)

// The test of a host's own prompt: in its repository this is func TestPrompt(t *testing.T).
func Example() {
	_ = func(t *testing.T) {
		client, err := llm.NewClient(llm.Config{
			Model: "gpt-4.1-mini",
			Key:   cmp.Or(os.Getenv("OPENAI_API_KEY"), "none"), // only recording needs one
			Cache: classifytest.Replay(t, "testdata/cassettes"),
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
func ExampleNewServer() {
	t := &testing.T{} // in a test: its own
	s := classifytest.NewServer(t, classifytest.Status(401))
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
	r, err := classify.Fallback(judge, heuristic).Classify(context.Background(),
		classify.Input{Text: "Which of the two ports shall I use?"})
	fmt.Println(r.Type, r.Source, err)
	fmt.Println(r.Fallback)
	fmt.Println("calls:", s.Calls())
	// Output:
	// question heuristic <nil>
	// llm: the endpoint answered 401 Unauthorized (is the key right?): The server had an error while processing your request
	// calls: 1
}
