package gate_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// terminal asks a person at a terminal. A read from one does not end with a context, so a goroutine of the host reads,
// and Approve selects.
type terminal struct {
	out   io.Writer
	lines chan string
	turn  chan struct{} // one question at a time
}

func newTerminal(in io.Reader, out io.Writer) terminal {
	t := terminal{out, make(chan string), make(chan struct{}, 1)}
	go func() {
		defer close(t.lines)
		for scanner := bufio.NewScanner(in); scanner.Scan(); {
			t.lines <- scanner.Text()
		}
	}()
	return t
}

func (t terminal) Approve(ctx context.Context, item gate.Item) (gate.Decision, error) {
	select {
	case <-ctx.Done():
		return gate.Decision{}, ctx.Err()
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	}
	fmt.Fprintln(t.out, item.Tool, plaintext.Visible(string(item.Body)))
	fmt.Fprintf(t.out, "Answer \"yes %s\" or \"no %[1]s\".\n", item.ID)
	for {
		select {
		case <-ctx.Done(): // somebody else answered, or the time is over
			return gate.Decision{}, ctx.Err()
		case line, ok := <-t.lines:
			switch {
			case !ok:
				return gate.Decision{}, gate.ErrPending // nobody is there: ask the next approver
			case line == "yes "+item.ID:
				return gate.Decision{Action: gate.Approve, By: "ann"}, nil
			case line == "no "+item.ID: // a late answer to an earlier question has another ID
				return gate.Decision{Action: gate.Deny, By: "ann"}, nil
			}
		}
	}
}

// A person at a terminal, who does not answer in time, and then the lead. In a program, the terminal reads os.Stdin.
func ExampleApprover() {
	policy, err := gate.ParsePolicy([]byte(`[{"tool": "deploy", "then": "ask", "within": "20ms", "escalate": "lead"}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	session, err := gate.New(policy,
		gate.Options{Audited: true, ToolsOnly: true, Now: time.Now, AfterFunc: time.AfterFunc})
	if err != nil {
		fmt.Println(err)
		return
	}
	stdin, keyboard := io.Pipe()
	defer keyboard.Close()
	sub := gate.Subject{Kind: gate.Tool, Thread: "chat", Run: "run-1", Call: "1", Tool: "deploy",
		Body: json.RawMessage(`{"to": "production"}`)}
	item, err := session.Do(context.Background(), sub, func(gate.Subject) (json.RawMessage, error) {
		return json.RawMessage(`"deployed"`), nil
	}, newTerminal(stdin, io.Discard), lead{})
	fmt.Println(item.Status, "by", item.By, err)
	// Output: done by lead <nil>
}

type lead struct{}

func (lead) Approve(context.Context, gate.Item) (gate.Decision, error) {
	return gate.Decision{Action: gate.Approve, By: "lead"}, nil
}
