package hook_test

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
)

// A hook that keeps its state in memory, and so for one process only.
func Example() {
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		panic(err)
	}
	loop, err := autocontinue.New(autocontinue.Config{Classifier: heuristic})
	if err != nil {
		panic(err)
	}
	var memory hook.Memory
	for _, payload := range []string{
		`{"hook_event_name":"UserPromptSubmit","session_id":"s1","prompt":"Fix the login redirect."}`,
		`{"hook_event_name":"Stop","session_id":"s1","stop_hook_active":false,"last_assistant_message":"Should I change the test, too?"}`,
		`{"hook_event_name":"UserPromptSubmit","session_id":"s1","prompt":"Yes."}`,
		`{"hook_event_name":"Stop","session_id":"s1","stop_hook_active":false,"last_assistant_message":"I am changing the test now. Next I will run it."}`,
	} {
		e, err := hook.Claude.Read([]byte(payload))
		if err != nil {
			panic(err)
		}
		if e.FromHuman(memory) {
			if err := loop.Reset(context.Background(), e.SessionKey()); err != nil {
				panic(err)
			}
		}
		memory = memory.Heard(e)
		if !e.Kind.IsPause() {
			continue
		}
		trace, read, err := e.Await(context.Background(), memory, nil)
		if err != nil {
			panic(err)
		}
		memory = read
		out := e.Output(trace, memory)
		d, err := loop.Handle(context.Background(), out)
		if err != nil {
			fmt.Fprintln(os.Stderr, err) // d lets the agent stop
		}
		memory = memory.After(e, out, d)
		fmt.Printf("%s: %s", d.Reason, e.Answer(d))
	}
	// Output:
	// question: {}
	// progress: {"decision":"block","reason":"continue"}
}

func ExampleHost_Read() {
	e, err := hook.Codex.Read([]byte(`{"hook_event_name":"Stop","session_id":"s1","turn_id":"t1","last_assistant_message":null}`))
	fmt.Println(e.Kind, e.Turn.Value, e.Message.Is == hook.Null, e.StopActive.Is == hook.Absent, err)
	_, err = hook.Codex.Read([]byte(`{"hook_event_name":"Stop","session_id":"s1","stop_hook_active":"no"}`))
	fmt.Println(err)
	// Output:
	// stop t1 true true <nil>
	// hook: codex: no event of this host: "stop_hook_active" is not true or false
}

func ExampleEvent_Answer() {
	e, err := hook.Gemini.Read([]byte(`{"hook_event_name":"AfterAgent","session_id":"s1","prompt_response":"Fixed."}`))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s", e.Answer(autocontinue.Decision{Action: autocontinue.Continue, Message: "continue"}))
	fmt.Printf("%s", e.Answer(autocontinue.Decision{}))
	// Output:
	// {"decision":"deny","reason":"continue"}
	// {"decision":"allow"}
}

// What would have been decided in an old session, and what the human wrote then.
func ExampleReplay() {
	old := []byte(`{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Fix the login redirect."}}
{"type":"assistant","uuid":"u2","sessionId":"s1","message":{"id":"m1","content":[{"type":"text","text":"Fixed the login redirect, should work now."}]}}
{"type":"user","uuid":"u3","sessionId":"s1","message":{"role":"user","content":"Did you run the tests?"}}
`)
	t, err := transcript.Open(bytes.NewReader(old), int64(len(old)), "old.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = hook.Replay(context.Background(), t, func(string) (hook.Loop, error) {
		return autocontinue.New(autocontinue.Config{Classifier: heuristic})
	}, func(m hook.Moment) error {
		fmt.Printf("%s, line %d: %s, %s; then a %s\n", t.Format, m.Line, m.Decision.Action, m.Decision.Reason, transcript.ReadReply(m.Next))
		return nil
	})
	fmt.Println(err)
	// Output:
	// claude, line 2: continue, rejected_completion; then a nudge
	// <nil>
}
