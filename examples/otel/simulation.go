package main

import (
	"context"
	"embed"
	"fmt"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// model is the one that is played.
const model = "played-judge"

// simulation plays what a real host has around the loop: the model, the verifier, a store that others use too.
type simulation struct {
	heuristic *classify.Heuristic
	store     autocontinue.MemoryStore

	decided, failed int

	mu  sync.Mutex
	now pause // what the turn is at
}

func newSimulation() (*simulation, error) {
	h, err := classify.NewHeuristic()
	if err != nil {
		return nil, err
	}
	return &simulation{heuristic: h}, nil
}

func (t *simulation) config() autocontinue.Config {
	return autocontinue.Config{
		Classifier: classify.Cascade(t.heuristic, classify.ClassifierFunc(t.judge), 0.97),
		Verifier:   t,
		Store:      playedStore{t},
		Plans:      embed.FS{}, // there is none
	}
}

// play plays turn n in a session of its own, until a decision is not to continue.
func (t *simulation) play(ctx context.Context, ac *autocontinue.AutoContinue, n int) {
	turn := turns[n%len(turns)]
	out := autocontinue.Output{Session: fmt.Sprint("session-", n), Turn: "1", Request: turn.request}
	for i, p := range turn.pauses {
		t.mu.Lock()
		t.now = p
		t.mu.Unlock()
		if p.report == "" {
			out.Run = fmt.Sprint("run-", i)
		}
		if p.report != "again" {
			out.ID = fmt.Sprint("output-", i)
		}
		out.Text, out.Failed, out.Hold, out.PlanFile = p.text, p.failed, p.hold, p.plan
		_, err := ac.Handle(ctx, out)
		t.decided++
		if err != nil {
			t.failed++
		}
	}
}

func (t *simulation) at() pause {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now
}

// judge is the model: the heuristic's verdict, with tokens and a latency as a model has them.
func (t *simulation) judge(ctx context.Context, in classify.Input) (classify.Result, error) {
	latency := time.Duration(20+len(in.Text)%60) * time.Millisecond
	wait(ctx, latency)
	if err := t.at().model; err != nil {
		return classify.Result{}, err
	}
	r, err := t.heuristic.Classify(ctx, in)
	r.Source = "llm"
	r.Usage = &classify.Usage{
		Model: model, PromptTokens: 1500 + len(in.Text)/4, CachedTokens: 1280, CompletionTokens: 60 + len(in.Text)%40,
		Latency: latency, Attempts: 1,
	}
	return r, err
}

// Verify is the verifier.
func (t *simulation) Verify(ctx context.Context, _ autocontinue.Output,
	_ classify.Result) (autocontinue.Verification, error) {
	wait(ctx, 5*time.Millisecond)
	p := t.at()
	return p.found, p.blind
}

// playedStore is the simulation's store with the faults of a shared one.
type playedStore struct{ t *simulation }

func (s playedStore) Load(ctx context.Context, session string) (autocontinue.State, error) {
	return s.t.store.Load(ctx, session)
}

func (s playedStore) Update(ctx context.Context, session string,
	fn func(autocontinue.State) (autocontinue.State, error)) error {
	p := s.t.at()
	if p.store != nil {
		return fmt.Errorf("played: %w", p.store)
	}
	for range p.races {
		state, err := s.t.store.Load(ctx, session)
		if err != nil {
			return err
		}
		if _, err := fn(state); err != nil {
			return err
		}
	}
	return s.t.store.Update(ctx, session, fn)
}
