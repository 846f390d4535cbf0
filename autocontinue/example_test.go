package autocontinue_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing/fstest"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

func Example() {
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		fmt.Println(err)
		return
	}
	ac, err := autocontinue.New(autocontinue.Config{Classifier: heuristic})
	if err != nil {
		fmt.Println(err)
		return
	}
	runs := []string{
		"I fixed the login redirect. It should work now.",
		"Fixed the redirect in login.go.\n\n$ go test ./...\nok  \tlogin\t0.021s\n\n42 passed, 0 failed. " +
			"Committed as " +
			"3f2a9bc.",
	}
	for i, text := range runs {
		d, err := ac.Handle(context.Background(), autocontinue.Output{
			Session: "chat", Turn: "message 1", Run: fmt.Sprint("run ", i), ID: fmt.Sprint("output ", i),
			Text: text, Request: "Fix the login redirect.",
		})
		if err != nil { // d says Deliver
			fmt.Println(err)
		}
		switch d.Action {
		case autocontinue.Continue:
			fmt.Println("send to the agent, once for", len(d.ID), "digits of ID:", d.Tier)
		case autocontinue.Deliver:
			fmt.Println("show:", d.Outcome)
		case autocontinue.Suppress:
		}
	}
	// Output:
	// send to the agent, once for 32 digits of ID: rejection
	// show: completed
}

func ExampleNew() {
	_, err := autocontinue.New(autocontinue.Config{})
	fmt.Println(err)
	_, err = autocontinue.New(autocontinue.Config{
		Classifier: atWork,
		Policy:     autocontinue.Policy{MaxContinues: 5000},
	})
	fmt.Println(err)
	// Output:
	// autocontinue: Config.Classifier is nil: set it, for example to a classify.NewHeuristic
	// autocontinue: Policy.MaxContinues 5000: give 1 to 1000, 0 for the default of 3, or Never
}

// atWork stands for a classifier that finds honest progress in everything.
var atWork = classify.ClassifierFunc(func(context.Context, classify.Input) (classify.Result, error) {
	return classify.Result{Type: classify.Status, Confidence: 0.9, Reason: "at work"}, nil
})

func ExampleAutoContinue_Handle() {
	plan := "## Success Criteria\n\n- [x] the endpoint answers\n- [ ] the test suite passes\n"
	ac, err := autocontinue.New(autocontinue.Config{
		Classifier: atWork,
		Plans:      fstest.MapFS{"plan.md": {Data: []byte(plan)}}, // os.OpenRoot(repo), then root.FS()
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	out := autocontinue.Output{Session: "chat", Run: "run 1", ID: "callback", Text: "Running the tests next.",
		PlanFile: "plan.md"}
	d, err := ac.Handle(context.Background(), out)
	fmt.Println(d.Action, d.Reason, d.Tier, err)
	d, err = ac.Handle(context.Background(), out) // a queue delivers it again
	fmt.Println(d.Action, d.Reason, d.Tier, err, d.Replayed)
	out.ID = "return value" // the same pause, reported by another path
	d, err = ac.Handle(context.Background(), out)
	fmt.Println(d.Action, d.Reason, err)
	// Output:
	// continue progress plan_criteria <nil>
	// continue progress plan_criteria <nil> true
	// suppress run_closed <nil>
}

func ExampleAutoContinue_Reset() {
	ctx := context.Background()
	ac, err := autocontinue.New(autocontinue.Config{Classifier: atWork, Policy: autocontinue.Policy{MaxContinues: 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"step 1", "step 2", "", "step 3"} {
		if text == "" { // the human spoke
			if err := ac.Reset(ctx, "chat"); err != nil {
				fmt.Println(err)
			}
			continue
		}
		d, err := ac.Handle(ctx, autocontinue.Output{Session: "chat", Text: text})
		fmt.Println(text, d.Action, d.Reason, err)
	}
	// Output:
	// step 1 continue progress <nil>
	// step 2 deliver cap <nil>
	// step 3 continue progress <nil>
}

// A workflow engine keeps the state and calls the pure functions; what does I/O is a step of its own between them.
func ExampleDecide() {
	var policy autocontinue.Policy
	var state autocontinue.State
	step := func(out autocontinue.Output) autocontinue.Decision {
		d, next, known := autocontinue.Known(state, out)
		if !known {
			r, err := atWork(context.Background(), classify.Input{Text: out.Text})
			if err != nil {
				return autocontinue.Decision{Note: err.Error()} // the zero action delivers
			}
			d, next = autocontinue.Decide(policy, state, autocontinue.Facts{Output: out, Result: r})
		}
		state = next
		return d
	}
	for _, run := range []string{"1", "1", "2", "3"} {
		d := step(autocontinue.Output{Session: "chat", Run: run, Text: "Still on it."})
		fmt.Println(run, d.Action, d.Outcome, d.Reason)
	}
	// Output:
	// 1 continue continuing progress
	// 1 suppress duplicate run_closed
	// 2 continue continuing progress
	// 3 deliver stalled repeat
}

// What a durable engine runs as an activity, and retries, stands between the two pure functions.
func ExampleAutoContinue_Judge() {
	loop, err := autocontinue.New(autocontinue.Config{Classifier: atWork})
	if err != nil {
		fmt.Println(err)
		return
	}
	var state autocontinue.State
	out := autocontinue.Output{Session: "chat", Run: "1", Text: "Still on it."}
	d, next, ok := autocontinue.Known(state, out)
	if !ok {
		facts, err := loop.Judge(context.Background(), out, state)
		if err != nil {
			fmt.Println(err)
			return
		}
		d, next = autocontinue.Decide(autocontinue.Policy{}, state, facts)
	}
	fmt.Println(d.Action, d.Reason, next.Continues)
	// Output:
	// continue progress 1
}

func ExampleKnown() {
	out := autocontinue.Output{Session: "chat", Text: "panic: runtime error", Failed: true}
	d, _, ok := autocontinue.Known(autocontinue.State{}, out)
	fmt.Println(ok, d.Action, d.Outcome, d.Reason)
	out = autocontinue.Output{Session: "chat", Text: "Still on it."}
	_, _, ok = autocontinue.Known(autocontinue.State{}, out)
	fmt.Println(ok)
	// Output:
	// true deliver failed crash_guard
	// false
}

func ExampleNewJournal() {
	var lines bytes.Buffer // in a program: a file
	ac, err := autocontinue.New(autocontinue.Config{
		Classifier: atWork,
		Observer:   autocontinue.NewJournal(&lines),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := ac.Handle(context.Background(),
		autocontinue.Output{Session: "chat", Text: "Still on it.", Hold: "plan mode"}); err != nil {
		fmt.Println(err)
	}
	var e autocontinue.Event
	err = json.Unmarshal(lines.Bytes(), &e)
	fmt.Println(e.Session, e.Decision.Reason, e.Preview, err)
	// Output:
	// chat hold Still on it. <nil>
}

func ExampleState_Reset() {
	state := autocontinue.State{Continues: 3, HandedOver: true}
	b, err := json.Marshal(state.Reset())
	fmt.Println(string(b), err)
	// Output:
	// {"version":4,"resets":2,"turns":[{}]} <nil>
}
