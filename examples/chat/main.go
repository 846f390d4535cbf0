// Command chat asks in a chat program, by HTTP, before a tool of an agent runs.
//
//	go run ./examples/chat                                          # the chat program is this terminal: answer yes or no
//	CHAT_URL=https://chat.example.org/rooms/ops go run ./examples/chat
//
// The chat program gets {"text": "…"} by POST. It replies when somebody has answered: {"from": "ann", "text": "yes"}.
// A bot of your chat program that does so is a few lines.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// chat asks in a room of a chat program.
type chat struct{ url string }

// Approve asks the people in the room. ctx ends when the time of the item is over.
func (c chat) Approve(ctx context.Context, item gate.Item) (gate.Decision, error) {
	question := fmt.Sprintf("%s %s\nYes or no?", item.Tool, plaintext.Visible(string(item.Body)))
	if len(question) > 4000 {
		return gate.Decision{}, gate.ErrPending // nobody should approve what they cannot see: let the next one decide
	}
	body, err := json.Marshal(map[string]string{"text": question})
	if err != nil {
		return gate.Decision{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return gate.Decision{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return gate.Decision{}, err
	}
	defer resp.Body.Close()
	var answer struct{ From, Text string }
	err = json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&answer)
	if err != nil || resp.StatusCode != http.StatusOK {
		return gate.Decision{}, errors.Join(fmt.Errorf("the chat program answers %s", resp.Status), err)
	}
	if strings.EqualFold(strings.TrimSpace(answer.Text), "yes") {
		return gate.Decision{Action: gate.Approve, By: answer.From}, nil
	}
	return gate.Decision{Action: gate.Deny, By: answer.From, Reason: answer.Text}, nil
}

const rules = `[
	{"tool": "read", "then": "allow"},
	{"tool": "bash", "then": "ask", "within": "10m"},
	{"tool": "bash", "when": [{"at": "/command", "command": ["git status *", "go test *"]}], "then": "always"},
	{"tool": "bash", "when": [{"at": "/command", "command": ["rm *", "git push *"]}], "then": "deny"}
]`

// runner runs the tools of an agent.
type runner struct {
	session  *gate.Session
	approver gate.Approver
	execute  func(tool string, args json.RawMessage) (json.RawMessage, error)
}

// call puts one call through the gate. It returns what the agent reads.
func (r runner) call(ctx context.Context, run, id, tool, args string) (string, error) {
	sub := gate.Subject{Kind: gate.Tool, Thread: "main", Run: run, Call: id, Tool: tool, Body: json.RawMessage(args)}
	item, err := r.session.Do(ctx, sub, func(g gate.Subject) (json.RawMessage, error) {
		return r.execute(g.Tool, g.Body)
	}, r.approver)
	if err != nil {
		return "", err
	}
	return cmp.Or(string(item.Result), fmt.Sprintf("%s: %s", item.Status, item.Reason)), nil
}

func newRunner(url string, execute func(string, json.RawMessage) (json.RawMessage, error)) (runner, error) {
	policy, err := gate.ParsePolicy([]byte(rules))
	if err != nil {
		return runner{}, err
	}
	session, err := gate.New(policy, gate.Options{
		Audited: true, ToolsOnly: true, Now: time.Now, AfterFunc: time.AfterFunc,
	})
	return runner{session, chat{url}, execute}, err
}

func main() {
	url := os.Getenv("CHAT_URL")
	if url == "" {
		room := httptest.NewServer(terminal(os.Stdin, os.Stdout))
		defer room.Close()
		url = room.URL
	}
	pretend := func(tool string, args json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`"done"`), nil
	}
	r, err := newRunner(url, pretend)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chat:", err)
		os.Exit(1)
	}
	for i, command := range []string{"git status -s", "npm install left-pad", "git status; rm -rf /"} {
		args, _ := json.Marshal(map[string]string{"command": command}) // a string does not fail
		answer, err := r.call(context.Background(), "run-1", fmt.Sprint("call-", i), "bash", string(args))
		fmt.Printf("%s → %s\n", command, answer)
		if err != nil {
			fmt.Fprintln(os.Stderr, "chat:", err)
		}
	}
}

// terminal is a chat program with one room, this terminal.
func terminal(in io.Reader, out io.Writer) http.Handler {
	lines := bufio.NewScanner(in)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var question struct{ Text string }
		if json.NewDecoder(r.Body).Decode(&question) != nil {
			return
		}
		fmt.Fprintln(out, question.Text)
		if lines.Scan() {
			json.NewEncoder(w).Encode(map[string]string{"from": "you", "text": lines.Text()})
		}
	})
}
