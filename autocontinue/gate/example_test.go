package gate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// A run from its context to its response: the policy lets one tool pass, and a human edits another's arguments.
func Example() {
	policy, err := gate.ParsePolicy([]byte(`[
		{"gate": "context", "then": "allow"},
		{"tool": "profile_get", "then": "allow"},
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
	// do proposes, and does what is approved.
	do := func(sub gate.Subject) (gate.Item, error) {
		sub.Thread, sub.Run = "thread-1", "run-1"
		item, err := session.Propose(noon, sub)
		if err != nil || item.Status != gate.Approved {
			return item, err
		}
		grant, err := session.Redeem(noon, item.ID)
		if err != nil {
			return item, err
		}
		fmt.Println("do:", grant.Kind, grant.Tool, string(grant.Body))
		if grant.Kind == gate.Tool {
			return session.Done(noon, item.ID, json.RawMessage(`{"ok": true}`))
		}
		return item, nil
	}
	do(gate.Subject{Kind: gate.Context, Body: json.RawMessage(`{"prompt": "forget my last weight"}`)})
	do(gate.Subject{Kind: gate.Tool, Call: "1", Tool: "profile_get", Body: json.RawMessage(`{}`)})
	del := gate.Subject{Kind: gate.Tool, Call: "2", Tool: "weight_delete", Body: json.RawMessage(`{"ids": [1, 2]}`)}
	item, err := do(del)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("asked:", item.Rule)
	_, err = session.Resolve(noon, gate.Decision{
		Item: item.ID, Digest: item.Digest, Action: gate.Edit, By: "ann", Body: json.RawMessage(`{"ids": [2]}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	do(del) // the same proposal is the same item, which is approved now
	do(gate.Subject{Kind: gate.Response, Body: json.RawMessage(`{"text": "Forgotten."}`)})
	fmt.Println(session.Phase("run-1"), bytes.Count(journal.Bytes(), []byte("\n")), "lines")
	// Output:
	// do: context  {"prompt":"forget my last weight"}
	// do: tool profile_get {}
	// asked: tool *_delete: ask
	// do: tool weight_delete {"ids":[2]}
	// do: response  {"text":"Forgotten."}
	// finished 18 lines
}

func ExampleParsePolicy() {
	policy, err := gate.ParsePolicy([]byte(`[
		{"tool": "*_save_batch", "then": "allow"},
		{"tool": "*_save_batch", "when": [{"at": "/rows", "count_over": 50}], "then": "ask",
		 "not_match": [{"tool": "meal_save_batch", "args": {"rows": [1, 2]}}]}
	]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, args := range []string{`{"rows": [1, 2, 3]}`, `{"rows": "all of them"}`} {
		v := policy.Judge(gate.Subject{Kind: gate.Tool, Tool: "meal_save_batch", Body: json.RawMessage(args)})
		fmt.Println(v.Then, "-", v.Rule)
	}
	_, err = gate.ParsePolicy([]byte(`[{"tool": "*_delete", "then": "ask", "match": ["delete_weight"]}]`))
	fmt.Println(err)
	// Output:
	// allow - tool *_save_batch: allow
	// ask - tool *_save_batch when /rows count_over 50: ask
	// policy: rule 1 (tool *_delete): match, example 1: "delete_weight" does not hold: the rule does not match it
}

func ExampleReplay() {
	var journal bytes.Buffer
	options := gate.Options{Audited: true, Journal: func(lines []byte) error { _, err := journal.Write(lines); return err }}
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
	// The process ends here, and in the middle of a line.
	again, err := gate.Replay(gate.Policy{}, options, bytes.NewReader(append(journal.Bytes(), `{"seq":2,"pr`...)))
	if err != nil {
		fmt.Println(err)
		return
	}
	journal.Truncate(int(again.Journaled()))
	for _, waiting := range again.Pending() {
		fmt.Println("waits:", waiting.Kind, waiting.Digest == item.Digest)
	}
	changed := bytes.Replace(journal.Bytes(), []byte("hello"), []byte("hullo"), 1)
	_, err = gate.Replay(gate.Policy{}, options, bytes.NewReader(changed))
	fmt.Println(err, errors.Is(err, gate.ErrCorrupt))
	// Output:
	// waits: context true
	// gate: journal, line 1: its hash is not that of its contents: it was changed true
}

// A journal in a file. The host counts its bytes itself, for Options.Journal must not call the session.
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
		size = session.Journaled() // a crash may have left the beginning of a line
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

// A host that waits on a channel answers the agent from the callback of a watcher.
func ExampleSession_Watch() {
	session, err := gate.New(gate.Policy{}, gate.Options{Audited: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	cancel := session.Watch(func(e gate.Event) {
		fmt.Println(e.Seq, e.Type)
		if e.Type == gate.RunStaged {
			if _, err := session.Resolve(noon, gate.Decision{Item: e.Item, Digest: e.Digest, Action: gate.Deny, By: "ann"}); err != nil {
				fmt.Println(err)
			}
		}
	})
	defer cancel()
	if _, err := session.Propose(noon, gate.Subject{Kind: gate.Context, Thread: "t", Run: "r", Body: json.RawMessage(`{}`)}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(session.Phase("r"))
	// Output:
	// 1 RUN_STAGED
	// 2 RUN_STAGE_DENIED
	// denied
}

// A host's goroutine waits for a human. Any event may be the answer (an approval, a denial, a stand-in result, expiry, the end
// of the run), so it looks at the item after each. A real host selects on its ctx.Done() too, and
// a ticker of it calls Expire.
func ExampleSession_Watch_wait() {
	session, err := gate.New(gate.Policy{}, gate.Options{Audited: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	wait := func(id string) gate.Item {
		wake := make(chan struct{}, 1)
		cancel := session.Watch(func(gate.Event) {
			select {
			case wake <- struct{}{}:
			default:
			}
		})
		defer cancel()
		for { // watched first and looked at then: an answer in between is not missed
			item, ok := session.Item(id)
			if !ok || item.Status != gate.Pending {
				return item
			}
			<-wake
		}
	}
	item, err := session.Propose(noon, gate.Subject{Kind: gate.Context, Thread: "t", Run: "r", Body: json.RawMessage(`{}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	go session.StopRun(noon, "r", "ann", "not today") // from a browser
	item = wait(item.ID)
	fmt.Println(item.Status, "-", item.Reason)
	// Output: withdrawn - not today
}

func ExampleVisible() {
	fmt.Println(gate.Visible("rm invoice\u202efdp.exe\u200b\n"))
	// Output: rm invoice\u202efdp.exe\u200b\x0a
}
