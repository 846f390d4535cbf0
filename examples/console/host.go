package main

import (
	"cmp"
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
	"github.com/sidecoach/sidecoach/classify"
)

// host runs the agent. Everything that the agent does goes through the session first, and everything that the host
// knows of a turn is in the journal. A turn that is resumed proposes the same things once more, and gets the answers
// that were given.
type host struct {
	session *gate.Session
	journal *journal
	loop    *autocontinue.AutoContinue
	pace    time.Duration
	out     io.Writer

	ctx   context.Context
	turns sync.WaitGroup
}

func open(dir string, pace time.Duration, out io.Writer) (*host, error) {
	policy, err := gate.ParsePolicy([]byte(rules))
	if err != nil {
		return nil, err
	}
	h := &host{pace: pace, out: out}
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
	options := gate.Options{Audited: true, TTL: 30 * time.Minute, Schema: check, Now: time.Now, AfterFunc: time.AfterFunc}
	h.session, h.journal, err = openJournal(filepath.Join(dir, "journal.jsonl"), policy, options)
	return h, err
}

func (h *host) close() {
	h.turns.Wait()
	h.journal.f.Close()
}

// start resumes the turns that did not end. The session resumes nothing by itself. This host does: an approval that
// was not used yet is still one.
func (h *host) start(ctx context.Context) {
	h.ctx = ctx
	known := make(map[string]bool)
	for _, r := range h.session.Runs() {
		root := turnOf(r.ID)
		items := h.session.Items(root)
		if over(r.Phase) || known[root] || len(items) == 0 {
			continue
		}
		known[root] = true
		fmt.Fprintf(h.out, "resuming %s, which is %s\n", r.ID, r.Phase)
		h.play(items[0].Subject)
	}
}

// submit stages a run for a message of the chat.
func (h *host) submit(_ context.Context, by, thread, message string) error {
	body, err := json.Marshal(payload{"human", message, "scripted-1", json.Number("0.20"), toolNames()})
	if err != nil {
		return err
	}
	first := gate.Subject{
		Kind: gate.Context, Thread: thread, Run: "run-" + strings.ToLower(rand.Text()[:6]),
		Label: "Message from " + by, Body: body,
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

// turn plays one message and every run that it leads to.
func (h *host) turn(ctx context.Context, sub gate.Subject) error {
	root, request := sub.Run, ""
	var before gate.Subject // the run that this one continues
	var said string         // what it said
	for n := 1; ; n++ {
		var sent payload
		it, err := h.do(ctx, sub, func(g gate.Subject) (json.RawMessage, error) {
			return nil, json.Unmarshal(g.Body, &sent)
		})
		if err == nil && it.Status == gate.Redeemed && sent.Message == "" { // granted before a restart
			err = json.Unmarshal(it.ApprovedBody(), &sent)
		}
		if err != nil {
			return err
		}
		if it.Status != gate.Redeemed {
			if before.Run == "" {
				return nil
			}
			// A person denied the continuation: they see what the agent said.
			return h.deliver(ctx, before, said, "Not continued")
		}
		if before.Run != "" {
			if err := h.finish(before.Run, "continued as "+sub.Run); err != nil {
				return err
			}
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
				return h.deliver(ctx, sub, text, label(d))
			}
			sent.From, sent.Message = "System Coach", d.Message
			if next.Body, err = json.Marshal(sent); err != nil {
				return err
			}
			next.Label = label(d)
		}
		before, said, sub = sub, text, next
	}
}

func label(d autocontinue.Decision) string {
	s := strings.ReplaceAll(fmt.Sprintf("%s · %s", d.Outcome, d.Reason), "_", " ")
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
			_, errs[i] = h.session.Propose(time.Now(), subs[i]) // all of them, in the agent's order
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

// do puts a subject through its gate. What was granted before a restart is not done again.
func (h *host) do(
	ctx context.Context, sub gate.Subject, do func(gate.Subject) (json.RawMessage, error),
) (gate.Item, error) {
	it, err := h.session.Do(ctx, sub, do)
	if errors.Is(err, gate.ErrDecided) && it.Status == gate.Redeemed {
		return it, nil
	}
	return it, err
}

// call puts a tool call through its gate, and executes what was granted.
func (h *host) call(ctx context.Context, sub gate.Subject) (outcome, error) {
	it, err := h.do(ctx, sub, func(g gate.Subject) (json.RawMessage, error) { return execute(g.Tool, g.Body) })
	if err != nil {
		return outcome{}, err
	}
	switch it.Status {
	case gate.Done:
		return outcome{result: it.Result}, nil
	case gate.Redeemed:
		result := json.RawMessage(`{"error":"interrupted by a restart; it is not known whether it took effect"}`)
		_, err := h.session.Done(time.Now(), it.ID, result)
		return outcome{result: result}, err
	case gate.Expired:
		return outcome{denied: "nobody approved it in time"}, nil
	}
	return outcome{denied: cmp.Or(it.Reason, "denied by "+it.By)}, nil
}

// deliver puts an answer through its gate. To redeem it is to show it: the chat of the page shows what the session
// holds.
func (h *host) deliver(ctx context.Context, of gate.Subject, text, label string) error {
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return err
	}
	answer := gate.Subject{Kind: gate.Response, Thread: of.Thread, Run: of.Run, Label: label, Body: body}
	it, err := h.do(ctx, answer, func(gate.Subject) (json.RawMessage, error) { return nil, nil })
	if err != nil || it.Status == gate.Redeemed {
		return err
	}
	return h.finish(of.Run, "the response was not shown")
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

func over(p gate.Phase) bool { return p == "finished" || p == "denied" }

// continuation names the n-th continuation of a turn, turnOf the turn that a run belongs to.
func continuation(root string, n int) string { return fmt.Sprintf("%s+%d", root, n) }

func turnOf(run string) string {
	root, _, _ := strings.Cut(run, "+")
	return root
}
