package autocontinue_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
)

// pause is a shipped case: an output and what the heuristic says about it.
type pause struct {
	classify.Input
	verdict classify.Result
}

// pauses returns the shipped cases.
func pauses(tb testing.TB) []pause {
	tb.Helper()
	files, err := filepath.Glob("../classify/testdata/cases/*.jsonl")
	require.NoError(tb, err)
	h, err := classify.NewHeuristic()
	require.NoError(tb, err)
	var all []pause
	for _, name := range files {
		b, err := os.ReadFile(name)
		require.NoError(tb, err)
		for dec := json.NewDecoder(bytes.NewReader(b)); ; {
			var c struct{ Input classify.Input }
			if err := dec.Decode(&c); errors.Is(err, io.EOF) {
				break
			} else {
				require.NoError(tb, err, name)
			}
			r, err := h.Classify(tb.Context(), c.Input)
			require.NoError(tb, err)
			all = append(all, pause{c.Input, r})
		}
	}
	require.NotEmpty(tb, all)
	return all
}

// script hands one pause after another to a loop: IDs, turns and runs of their own, a skill, no plan. Without a classifier
// in cfg the verdicts are those of the pauses and cost nothing.
type script struct {
	*autocontinue.AutoContinue
	tb      testing.TB
	ids     []string
	n       int
	turn    string // "" is a new one
	verdict classify.Result
	change  func(*autocontinue.Output)
}

func newScript(tb testing.TB, cfg autocontinue.Config) *script {
	tb.Helper()
	s := &script{tb: tb, change: func(*autocontinue.Output) {}}
	if cfg.Classifier == nil {
		cfg.Classifier = s
	}
	var err error
	s.AutoContinue, err = autocontinue.New(cfg)
	require.NoError(tb, err)
	for i := range 1 << 10 {
		s.ids = append(s.ids, fmt.Sprintf("0b4f7c52-6f7d-4a0a-9d7e-%012d", i))
	}
	return s
}

func (s *script) Classify(context.Context, classify.Input) (classify.Result, error) {
	return s.verdict, nil
}

// play hands p in as the pause of a new run.
func (s *script) play(p pause) autocontinue.Decision {
	s.n++
	id := s.ids[s.n%len(s.ids)]
	if s.turn == "" {
		s.turn = id
	}
	s.verdict = p.verdict
	out := autocontinue.Output{
		Session: "s", Turn: s.turn, Run: id, ID: id, Text: p.Text, Request: p.Request, Phase: "build", Evidence: p.Evidence,
	}
	s.change(&out)
	d, err := s.Handle(context.Background(), out)
	if err != nil {
		s.tb.Fatal(err)
	}
	return d
}

// mostAllocations is what Handle may add to what the classifier allocates, whatever comes out.
const mostAllocations = 30

func TestHandleAllocations(t *testing.T) {
	all := pauses(t)
	s := newScript(t, autocontinue.Config{Policy: autocontinue.Policy{MinConfidence: autocontinue.NoGate}})
	type outcome struct {
		autocontinue.Reason
		coach.Tier
		attempt int
	}
	worst := make(map[outcome]float64)
	measure := func(p pause, before int) {
		var d autocontinue.Decision
		allocated := func(pauses int) float64 {
			return testing.AllocsPerRun(3, func() {
				s.turn = ""
				for range pauses {
					d = s.play(p)
				}
			})
		}
		n := -allocated(before) + allocated(before+1)
		is := outcome{d.Reason, d.Tier, d.Attempt}
		worst[is] = max(worst[is], n)
	}
	for _, p := range all {
		for before := range 3 { // the same once more is coached again, then it stalls
			measure(p, before)
		}
	}
	for _, p := range rejections(all) { // what the host saw costs next to nothing, however much it is
		for _, k := range classify.EvidenceKinds() {
			p.Evidence = append(p.Evidence, classify.Evidence{Kind: k, Text: "failed", Failed: true})
		}
		measure(p, 0)
	}
	s.change = func(o *autocontinue.Output) { o.Hold = "plan mode" }
	measure(all[0], 0)
	s.change = func(o *autocontinue.Output) { o.Failed = true }
	measure(all[0], 0)
	s.change = func(o *autocontinue.Output) { o.Continues = 3 }
	for _, p := range all {
		measure(p, 0)
	}
	s.change = func(o *autocontinue.Output) { o.Turn, o.Run = "t", "r" }
	measure(all[0], 1)

	seen := make(map[autocontinue.Reason]bool)
	for is, n := range worst {
		seen[is.Reason] = true
		t.Logf("%-20s %-10s attempt %d: %v", is.Reason, is.Tier, is.attempt, n)
		assert.LessOrEqual(t, n, float64(mostAllocations), "%+v", is)
	}
	for _, r := range []autocontinue.Reason{
		autocontinue.ReasonRunClosed, autocontinue.ReasonCrashGuard, autocontinue.ReasonHold, autocontinue.ReasonQuestion,
		autocontinue.ReasonBlocker, autocontinue.ReasonCompletion, autocontinue.ReasonRepeat, autocontinue.ReasonCap,
		autocontinue.ReasonRejectedCompletion, autocontinue.ReasonProgress,
	} {
		assert.True(t, seen[r], "nothing came out as %s", r)
	}
}

// memoryOf returns how many bytes a session takes in a full store after some turns of some pauses each, all of them continued
// with a message as far as the cap goes.
func memoryOf(tb testing.TB, turns, pauses int, all []pause) int {
	tb.Helper()
	heap := func() uint64 {
		var ms runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&ms)
		return ms.HeapAlloc
	}
	const sessions = 2000
	store := autocontinue.NewMemoryStore(sessions)
	s := newScript(tb, autocontinue.Config{Store: store})
	before := heap()
	for i := range sessions {
		name := fmt.Sprintf("5f0f4e7a-3c1b-4d53-9d2e-%012d", i)
		s.change = func(o *autocontinue.Output) { o.Session = name }
		for turn := range turns {
			s.turn = ""
			for n := range pauses {
				s.play(all[(i+7*turn+3*n)%len(all)])
			}
		}
	}
	each := int(heap()-before) / sessions
	require.Equal(tb, sessions, store.Len())
	runtime.KeepAlive(store)
	return each
}

// rejections returns those of all that are continued with the longest messages: rejected completions.
func rejections(all []pause) (some []pause) {
	for _, p := range all {
		if p.verdict.WasRejectedCompletion && p.verdict.Confidence >= classify.DefaultThreshold {
			some = append(some, p)
		}
	}
	return some
}

// mostMemory is what a session may take in bytes.
const mostMemory = 2 << 10

func TestSessionsAreSmall(t *testing.T) {
	all := rejections(pauses(t))
	require.NotEmpty(t, all)
	for _, c := range []struct{ turns, pauses int }{{1, 1}, {1, 3}, {3, 1}, {3, 3}, {12, 4}} {
		each := memoryOf(t, c.turns, c.pauses, all)
		t.Logf("%d turns of %d pauses: %d bytes a session", c.turns, c.pauses, each)
		assert.Less(t, each, mostMemory)
	}
}
