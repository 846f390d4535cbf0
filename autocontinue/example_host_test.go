package autocontinue_test

import (
	"context"
	"fmt"
	"io/fs"
	"log"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// embed puts one output through the loop. README shows the part after New.
func embed(
	ctx context.Context,
	plans fs.FS, chat string,
	prompt prompt,
	job job,
	enqueue func(id, chat, message string),
	send func(id, text, note string),
) error {
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return err
	}
	ac, err := autocontinue.New(autocontinue.Config{Classifier: heuristic, Plans: plans})
	if err != nil {
		return err
	}
	// At every pause of an agent:
	d, err := ac.Handle(ctx, autocontinue.Output{
		Session: chat, Turn: prompt.ID, Run: job.ID, ID: job.ID + "/result",
		Text: job.Text, Request: prompt.Text, PlanFile: prompt.Plan, Failed: job.Err != nil,
	})
	if err != nil {
		log.Print(err) // d says Deliver
	}
	switch d.Action {
	case autocontinue.Continue:
		enqueue(d.ID, chat, d.Message) // once for d.ID; it starts a new job, which is a new Run
	case autocontinue.Deliver:
		send(d.ID, job.Text, d.Note) // once for d.ID: an output that comes again has the same ID
	case autocontinue.Suppress: // reported already
	}
	return nil
}

type prompt struct{ ID, Text, Plan string }

type job struct {
	ID, Text string
	Err      error
}

func Example_host() {
	enqueue := func(id, chat, message string) { fmt.Println("to the agent:", message[:70]+"…") }
	sent := map[string]bool{}
	send := func(id, text, note string) {
		if !sent[id] {
			sent[id] = true
			fmt.Println("to the human:", text)
		}
	}
	ask := prompt{ID: "m1", Text: "Fix the login redirect."}
	for _, j := range []job{
		{ID: "run1", Text: "Fixed the login redirect, should work now."},
		{ID: "run2", Text: "Should I change the test that expects the old page?"},
		{ID: "run2", Text: "Should I change the test that expects the old page?"}, // the queue delivers it twice
	} {
		if err := embed(context.Background(), nil, "chat", ask, j, enqueue, send); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// to the agent: [System Coach] First finish anything that is left. Check now that it w…
	// to the human: Should I change the test that expects the old page?
}
