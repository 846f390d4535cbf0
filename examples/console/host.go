package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/autocontinue/gate/console"
	"github.com/sidecoach/sidecoach/classify"
)

// host runs the agent. All that it does goes through the session first, and all that it knows of a turn is in the journal:
// a turn that is taken up again proposes the same things once more, and gets the answers that were given.
type host struct {
	session *gate.Session
	journal *journal
	loop    *autocontinue.AutoContinue
	pace    time.Duration
	out     io.Writer

	ctx   context.Context
	turns sync.WaitGroup

	mu     sync.Mutex
	change chan struct{} // closed with the next event
}

func open(dir string, pace time.Duration, out io.Writer) (*host, error) {
	policy, err := gate.ParsePolicy([]byte(rules))
	if err != nil {
		return nil, err
	}
	h := &host{pace: pace, out: out, change: make(chan struct{})}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return nil, err
	}
	store, err := filestore.New(filepath.Join(dir, "loop"), filestore.Options{})
	if err != nil {
		return nil, err
	}
	if h.loop, err = autocontinue.New(autocontinue.Config{Classifier: heuristic, Store: store}); err != nil {
		return nil, err
	}
	options := gate.Options{Audited: true, TTL: 30 * time.Minute, Schema: schema}
	h.session, h.journal, err = openJournal(filepath.Join(dir, "journal.jsonl"), policy, options)
	if err != nil {
		return nil, err
	}
	h.session.Watch(func(gate.Event) {
		h.mu.Lock()
		defer h.mu.Unlock()
		close(h.change)
		h.change = make(chan struct{})
	})
	return h, nil
}

func (h *host) close() {
	h.turns.Wait()
	h.journal.f.Close()
}

// start takes up the turns that did not end, and denies from now on what waits too long. The session resumes nothing by
// itself; that this host does is its own choice: an approval that was not used yet is still one.
func (h *host) start(ctx context.Context) {
	h.ctx = ctx
	h.turns.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			if _, err := h.session.Expire(time.Now()); err != nil {
				fmt.Fprintln(h.out, "expire:", err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	known := make(map[string]bool)
	for _, r := range h.session.Runs() {
		root := turnOf(r.ID)
		if over(r.Phase) || known[root] {
			continue
		}
		known[root] = true
		items := h.session.Items(root)
		if len(items) == 0 {
			continue
		}
		fmt.Fprintf(h.out, "taking up %s, which is %s\n", r.ID, r.Phase)
		h.play(items[0].Subject)
	}
}

// submit stages a run for a message of the chat.
func (h *host) submit(ctx context.Context, thread, message string) error {
	body, err := json.Marshal(payload{"human", message, "scripted-1", json.Number("0.20"), toolNames()})
	if err != nil {
		return err
	}
	first := gate.Subject{
		Kind: gate.Context, Thread: thread, Run: "run-" + strings.ToLower(rand.Text()[:6]),
		Label: "Message from " + console.Auditor(ctx), Body: body,
	}
	if _, err := h.session.Propose(time.Now(), first); err != nil {
		return err
	}
	h.play(first)
	return nil
}

func (h *host) play(first gate.Subject) {
	h.turns.Go(func() {
		if err := h.turn(h.ctx, first); err != nil && h.ctx.Err() == nil {
			fmt.Fprintf(h.out, "%s: %v\n", first.Run, err)
		}
	})
}

// payload is what the agent is sent.
type payload struct {
	From        string      `json:"from"`
	Message     string      `json:"message"`
	Model       string      `json:"model"`
	Temperature json.Number `json:"temperature"`
	Tools       []string    `json:"tools"`
}

// turn plays one message and every run it leads to.
func (h *host) turn(ctx context.Context, sub gate.Subject) error {
	root, request := sub.Run, ""
	var before string // the run that this one continues,
	var said string   // what it said,
	var why gate.Subject
	for n := 1; ; n++ {
		it, _, err := h.pass(ctx, sub)
		if err != nil {
			return err
		}
		if it.Status != gate.Redeemed {
			if before == "" {
				return nil
			}
			// A continuation that is not to be: the human sees what the agent said.
			return h.deliver(ctx, why.Thread, before, said, "Not continued")
		}
		if before != "" {
			if err := h.finish(before, "continued as "+sub.Run); err != nil {
				return err
			}
		}
		var sent payload
		if err := json.Unmarshal(it.ApprovedBody(), &sent); err != nil {
			return fmt.Errorf("read the payload: %w", err)
		}
		if request == "" {
			request = sent.Message
		}
		text, err := h.work(ctx, sub.Thread, sub.Run, sent.Message)
		if err != nil || over(h.session.Phase(sub.Run)) && h.session.Phase(continuation(root, n)) == "" {
			return err
		}
		next := gate.Subject{Kind: gate.Context, Thread: sub.Thread, Run: continuation(root, n), Label: "Continuation"}
		if staged := h.session.Items(next.Run); len(staged) > 0 { // decided before a restart
			next = staged[0].Subject
		} else {
			d, err := h.loop.Handle(ctx, autocontinue.Output{
				Session: sub.Thread, Turn: root, Run: sub.Run, ID: sub.Run + "/result", Text: text, Request: request,
			})
			if err != nil {
				fmt.Fprintf(h.out, "%s: %v\n", sub.Run, err) // d says Deliver
			}
			switch d.Action {
			case autocontinue.Suppress:
				return h.finish(sub.Run, "reported before")
			case autocontinue.Deliver:
				return h.deliver(ctx, sub.Thread, sub.Run, text, label(d))
			}
			sent.From, sent.Message = "System Coach", d.Message
			if next.Body, err = json.Marshal(sent); err != nil {
				return err
			}
			next.Label = label(d)
		}
		before, said, why, sub = sub.Run, text, sub, next
	}
}

func label(d autocontinue.Decision) string {
	s := fmt.Sprintf("%s · %s", strings.ReplaceAll(string(d.Outcome), "_", " "), strings.ReplaceAll(string(d.Reason), "_", " "))
	if d.Action == autocontinue.Continue {
		return fmt.Sprintf("Continue · %s (%d of %d)", s, d.Continues, autocontinue.DefaultMaxContinues)
	}
	return "Deliver · " + s
}

// work lets the agent act on a message until it pauses, and returns its last words.
func (h *host) work(ctx context.Context, thread, run, message string) (string, error) {
	var so []outcome
	for {
		if err := h.think(ctx); err != nil {
			return "", err
		}
		next := scripted(message, so)
		if next.calls == nil {
			return next.text, nil
		}
		came := make([]outcome, len(next.calls))
		errs := make([]error, len(next.calls))
		subs := make([]gate.Subject, len(next.calls))
		for i, c := range next.calls {
			subs[i] = gate.Subject{
				Kind: gate.Tool, Thread: thread, Run: run, Call: fmt.Sprintf("call-%d", len(so)+i+1),
				Tool: c.tool, Label: c.label, Body: json.RawMessage(c.args),
			}
			if _, err := h.session.Propose(time.Now(), subs[i]); err != nil { // all of them, in the agent's order
				errs[i] = err
			}
		}
		var all sync.WaitGroup
		for i, sub := range subs {
			if errs[i] == nil {
				all.Go(func() { came[i], errs[i] = h.call(ctx, sub) })
			}
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			if over(h.session.Phase(run)) {
				return "", nil // stopped while it worked
			}
			return "", err
		}
		so = append(so, came...)
	}
}

// call puts a tool call through its gate and executes what was approved.
func (h *host) call(ctx context.Context, sub gate.Subject) (outcome, error) {
	it, fresh, err := h.pass(ctx, sub)
	if err != nil {
		return outcome{}, err
	}
	switch it.Status {
	case gate.Answered, gate.Done:
		return outcome{result: it.Result}, nil
	case gate.Redeemed:
		result := json.RawMessage(`{"error":"interrupted by a restart; it is not known whether it took effect"}`)
		if fresh {
			if result, err = execute(it.Tool, it.ApprovedBody()); err != nil {
				return outcome{}, err
			}
		}
		if _, err := h.session.Done(time.Now(), it.ID, result); err != nil {
			return outcome{}, err
		}
		return outcome{result: result}, nil
	case gate.Expired:
		return outcome{denied: "nobody approved it in time"}, nil
	default:
		why := it.Reason
		if why == "" {
			why = "denied by " + it.By
		}
		return outcome{denied: why}, nil
	}
}

// deliver puts an answer through its gate. Redeeming it is showing it: the chat of the page shows what the session holds.
func (h *host) deliver(ctx context.Context, thread, run, text, label string) error {
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return err
	}
	it, _, err := h.pass(ctx, gate.Subject{Kind: gate.Response, Thread: thread, Run: run, Label: label, Body: body})
	if err != nil || it.Status == gate.Redeemed {
		return err
	}
	return h.finish(run, "the response was not shown")
}

// pass proposes a subject, waits until it is decided, and redeems it if it was approved. fresh says that it was now.
func (h *host) pass(ctx context.Context, sub gate.Subject) (it gate.Item, fresh bool, err error) {
	it, err = h.session.Propose(time.Now(), sub)
	if err != nil {
		return it, false, err
	}
	for {
		h.mu.Lock()
		change := h.change
		h.mu.Unlock()
		it, _ = h.session.Item(it.ID)
		switch it.Status {
		case gate.Approved:
			_, err := h.session.Redeem(time.Now(), it.ID)
			if err == nil {
				it.Status = gate.Redeemed
				return it, true, nil
			}
			if errors.Is(err, gate.ErrJournal) {
				return it, false, err
			}
			continue // expired, denied by a new rule, asked again: the item says which
		case gate.Pending:
		default:
			return it, false, nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return it, false, ctx.Err()
		}
	}
}

func (h *host) finish(run, reason string) error {
	if over(h.session.Phase(run)) {
		return nil
	}
	return h.session.Finish(time.Now(), run, reason)
}

func (h *host) think(ctx context.Context) error {
	select {
	case <-time.After(h.pace):
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func over(p gate.Phase) bool { return p == gate.Finished || p == gate.Refused }

// continuation names the n-th continuation of a turn, turnOf the turn that a run belongs to.
func continuation(root string, n int) string { return fmt.Sprintf("%s+%d", root, n) }

func turnOf(run string) string {
	root, _, _ := strings.Cut(run, "+")
	return root
}
