package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// session is what sidecoach keeps of one.
type session struct {
	turns, pauses int // of it
	json, most    int // bytes of its state in a store: in the middle, and the most
	memory        int // bytes in a MemoryStore, on average
}

// sessions plays sessions of turns whose pauses are the cases, and looks at what is kept of them.
func sessions(ctx context.Context, cases []evaluate.Case) (session, error) {
	const many = 100
	s := session{turns: 5, pauses: 3}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return s, err
	}
	store := autocontinue.NewMemoryStore(many)
	ac, err := autocontinue.New(autocontinue.Config{Classifier: heuristic, Store: store})
	if err != nil {
		return s, err
	}
	name := func(i int) string { return fmt.Sprintf("5f0f4e7a-3c1b-4d53-9d2e-%012d", i) }
	before := heap()
	for i := range many {
		for turn := range s.turns {
			for n := range s.pauses {
				c := cases[(i*31+turn*7+n)%len(cases)]
				id := fmt.Sprint(i, " ", turn, " ", n)
				if _, err := ac.Handle(ctx, autocontinue.Output{
					Session: name(i), Turn: fmt.Sprint(turn), Run: id, ID: id,
					Text: c.Input.Text, Request: c.Input.Request, Evidence: c.Input.Evidence,
				}); err != nil {
					return s, err
				}
			}
		}
	}
	s.memory = int(heap()-before) / many
	var sizes []int
	for i := range many {
		state, err := store.Load(ctx, name(i))
		if err != nil {
			return s, err
		}
		data, err := json.Marshal(state)
		if err != nil {
			return s, err
		}
		sizes = append(sizes, len(data))
	}
	runtime.KeepAlive(ac)
	slices.Sort(sizes)
	s.json, s.most = sizes[many/2], sizes[many-1]
	return s, nil
}

func heap() uint64 {
	var ms runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&ms)
	return ms.HeapAlloc
}
