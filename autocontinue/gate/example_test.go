package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// reviewer is an approver: a person who reads what the agent wants and answers.
type reviewer struct{}

func (reviewer) Approve(_ context.Context, item gate.Item) (gate.Decision, error) {
	fmt.Println("asked:", item.Tool, string(item.Body))
	if bytes.Contains(item.Body, []byte(`"all"`)) {
		return gate.Decision{Action: gate.Deny, By: "ann", Reason: "not all of them"}, nil
	}
	return gate.Decision{Action: gate.Approve, By: "ann"}, nil
}

// A runner that has only tools: rules decide first, then a reviewer, and after ten minutes the call is denied.
func Example() {
	policy, err := gate.ParsePolicy([]byte(`[
		{"tool": "profile_get", "then": "allow"},
		{"tool": "*_delete", "then": "ask", "within": "10m"}
	]`))
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
	call := func(id, tool, args string) {
		sub := gate.Subject{Kind: gate.Tool, Thread: "chat", Run: "run-1", Call: id, Tool: tool, Body: json.RawMessage(args)}
		item, err := session.Do(context.Background(), sub, func(approved gate.Subject) (json.RawMessage, error) {
			return json.RawMessage(`{"ok": true}`), nil // run approved.Tool with approved.Body
		}, reviewer{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(item.Tool, item.Status, item.Reason+string(item.Result)) // tell the agent
	}
	call("1", "profile_get", `{}`)
	call("2", "weight_delete", `{"ids": [2]}`)
	call("3", "weight_delete", `{"ids": "all"}`)
	call("4", "unheard_of", `{}`)
	// Output:
	// profile_get done {"ok":true}
	// asked: weight_delete {"ids":[2]}
	// weight_delete done {"ok":true}
	// asked: weight_delete {"ids":"all"}
	// weight_delete denied not all of them
	// unheard_of denied denied by the policy (no rule names this tool): ask the human or choose another call
}

// A run from its context to its response, step by step. A person edits the arguments of a tool.
func ExampleSession() {
	policy, err := gate.ParsePolicy([]byte(`[
		{"gate": "context", "then": "allow"},
		{"tool": "*_delete", "then": "ask", "match": ["weight_delete"]},
		{"gate": "response", "then": "allow"}
	]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	var journal bytes.Buffer
	session, err := gate.New(policy, gate.Options{
		Audited: true,
		Journal: func(lines []byte) error { _, err := journal.Write(lines); return err },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	propose := func(sub gate.Subject) gate.Item {
		sub.Thread, sub.Run = "thread-1", "run-1"
		item, err := session.Propose(noon, sub)
		if err != nil {
			fmt.Println(err)
		}
		return item
	}
	redeem := func(item gate.Item) {
		approved, err := session.Redeem(noon, item.ID)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("do:", approved.Kind, approved.Tool, string(approved.Body))
	}
	redeem(propose(gate.Subject{Kind: gate.Context, Body: json.RawMessage(`{"prompt": "forget my last weight"}`)}))
	item := propose(gate.Subject{Kind: gate.Tool, Call: "1", Tool: "weight_delete",
		Body: json.RawMessage(`{"ids": [1, 2]}`)})
	fmt.Println("asked:", item.Rule)
	item, err = session.Resolve(noon, gate.Decision{
		Item: item.ID, Digest: item.Digest, Action: gate.Edit, By: "ann", Body: json.RawMessage(`{"ids": [2]}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	redeem(item)
	if _, err := session.Done(noon, item.ID, json.RawMessage(`{"ok": true}`)); err != nil {
		fmt.Println(err)
		return
	}
	redeem(propose(gate.Subject{Kind: gate.Response, Body: json.RawMessage(`{"text": "Forgotten."}`)}))
	fmt.Println(session.Phase("run-1"), bytes.Count(journal.Bytes(), []byte("\n")), "lines")
	// Output:
	// do: context  {"prompt":"forget my last weight"}
	// asked: tool *_delete: ask
	// do: tool weight_delete {"ids":[2]}
	// do: response  {"text":"Forgotten."}
	// finished 13 lines
}

func ExampleParsePolicy() {
	policy, err := gate.ParsePolicy([]byte(`[
		{"tool": "*_save", "then": "allow"},
		{"tool": "*_save", "when": [{"at": "/rows", "any": {"at": "/kcal", "over": 500}}], "then": "ask"},
		{"tool": "bash", "when": [{"at": "/command", "command": ["git status *", "go test *"]}], "then": "allow"}
	]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, call := range [][2]string{
		{"meal_save", `{"rows": [{"kcal": 80}, {"kcal": 90}]}`},
		{"meal_save", `{"rows": [{"kcal": 80}, {"kcal": 900}]}`},
		{"meal_save", `{"rows": "all of them"}`},
		{"bash", `{"command": "git status -s && go test ./..."}`},
		{"bash", `{"command": "git status; rm -rf /"}`},
	} {
		status, rule := policy.Judge(gate.Subject{Kind: gate.Tool, Tool: call[0], Body: json.RawMessage(call[1])})
		fmt.Println(status, "-", rule)
	}
	_, err = gate.ParsePolicy([]byte(`[{"tool": "*_delete", "then": "ask", "match": ["delete_weight"]}]`))
	fmt.Println(err)
	// Output:
	// approved - tool *_save: allow
	// pending - tool *_save when /rows any (/kcal over 500): ask
	// pending - tool *_save when /rows any (/kcal over 500): ask
	// approved - tool bash when /command command ["git status *","go test *"]: allow
	// pending - no rule matches
	// policy: rule 1 (*_delete): match: this does not hold for "delete_weight"
}

func ExampleReplay() {
	var journal bytes.Buffer
	options := gate.Options{Audited: true, Journal: func(lines []byte) error {
		_, err := journal.Write(lines)
		return err
	}}
	session, err := gate.New(gate.Policy{}, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	item, err := session.Propose(noon, gate.Subject{
		Kind: gate.Context, Thread: "thread-1", Run: "run-1", Body: json.RawMessage(`{"prompt": "hello"}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	// The process ends here, in the middle of a line.
	again, err := gate.Replay(gate.Policy{}, options, bytes.NewReader(append(journal.Bytes(), `{"seq":2,"pr`...)))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _, size := again.Head()
	journal.Truncate(int(size))
	for _, waiting := range again.Pending() {
		fmt.Println("waits:", waiting.Kind, waiting.Digest == item.Digest)
	}
	changed := bytes.Replace(journal.Bytes(), []byte("hello"), []byte("hullo"), 1)
	_, err = gate.Replay(gate.Policy{}, options, bytes.NewReader(changed))
	fmt.Println(err, errors.Is(err, gate.ErrJournal))
	// Output:
	// waits: context true
	// gate: the journal failed: line 1: its hash does not match its contents: it was changed true
}

// A journal in a file. The host counts its bytes itself, because Options.Journal must not call the session.
func ExampleOptions_journal() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	open := func() (*gate.Session, *os.File, error) {
		file, err := os.OpenFile(filepath.Join(dir, "journal.jsonl"), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, nil, err
		}
		var size int64
		session, err := gate.Replay(gate.Policy{}, gate.Options{Audited: true, Journal: func(lines []byte) error {
			if _, err := file.WriteAt(lines, size); err != nil {
				return errors.Join(err, file.Truncate(size)) // a part may be there
			}
			size += int64(len(lines))
			return file.Sync()
		}}, file)
		if err != nil {
			return nil, nil, errors.Join(err, file.Close())
		}
		_, _, size = session.Head() // a crash may have left the beginning of a line
		return session, file, file.Truncate(size)
	}
	session, file, err := open()
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = session.Propose(noon, gate.Subject{Kind: gate.Context, Thread: "t", Run: "r", Body: json.RawMessage(`{}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	file.Close() // the host restarts
	if session, file, err = open(); err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	if err := session.StopRun(noon, "r", "ann", "enough"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(session.Phase("r"), session.Runs()[0].Reason)
	// Output: denied enough
}

// A watcher sees every event. It may answer an item at once.
func ExampleSession_Watch() {
	session, err := gate.New(gate.Policy{}, gate.Options{Audited: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	cancel := session.Watch(func(e gate.Event) {
		fmt.Println(e.Seq, e.Type)
		if e.Status() == gate.Pending {
			deny := gate.Decision{Item: e.Item, Digest: e.Digest, Action: gate.Deny, By: "ann"}
			if _, err := session.Resolve(noon, deny); err != nil {
				fmt.Println(err)
			}
		}
	})
	defer cancel()
	_, err = session.Propose(noon, gate.Subject{Kind: gate.Context, Thread: "t", Run: "r", Body: json.RawMessage(`{}`)})
	fmt.Println(session.Phase("r"), err)
	// Output:
	// 1 RUN_STAGED
	// 2 RUN_STAGE_DENIED
	// denied <nil>
}

// A goroutine of the host waits for a person, who answers elsewhere.
func ExampleSession_Wait() {
	session, err := gate.New(gate.Policy{}, gate.Options{Audited: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	item, err := session.Propose(noon,
		gate.Subject{Kind: gate.Context, Thread: "t", Run: "r", Body: json.RawMessage(`{}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	go session.StopRun(noon, "r", "ann", "not today") // from a browser
	item, err = session.Wait(context.Background(), item.ID)
	fmt.Println(item.Status, "-", item.Reason, err)
	// Output: withdrawn - not today <nil>
}
