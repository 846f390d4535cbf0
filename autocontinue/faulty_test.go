package autocontinue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

// faultyStore does what a byte of script says at each call, and keeps what is stored as JSON, as another process would
// find it. When the script is over it works.
type faultyStore struct {
	t      testing.TB
	script []byte
	stored []string // every state there was, the current one last
	cancel context.CancelFunc
	other  func(State) (State, error) // what another process does meanwhile
}

func (f *faultyStore) next(faults int) int {
	if len(f.script) == 0 {
		return 0
	}
	b := f.script[0]
	f.script = f.script[1:]
	return int(b) % faults
}

func (f *faultyStore) state(back int) State {
	var s State
	if i := len(f.stored) - 1 - back; i >= 0 {
		require.NoError(f.t, s.UnmarshalJSON([]byte(f.stored[i])))
	}
	return s
}

func (f *faultyStore) write(s State) {
	b, err := s.MarshalJSON()
	require.NoError(f.t, err)
	f.stored = append(f.stored, string(b))
}

// hang is a call that nothing but the context ends.
func (f *faultyStore) hang(ctx context.Context) error {
	f.cancel()
	<-ctx.Done()
	return fmt.Errorf("faulty: %w", ctx.Err())
}

func (f *faultyStore) Load(ctx context.Context, _ string) (State, error) {
	if err := ctx.Err(); err != nil {
		return State{}, err
	}
	switch f.next(8) {
	case 1:
		return State{}, fmt.Errorf("faulty: %w", ErrUnavailable)
	case 2:
		return State{}, f.hang(ctx)
	case 3:
		return f.state(1), nil // behind
	case 4:
		return State{}, nil // far behind
	}
	return f.state(0), nil
}

func (f *faultyStore) Update(ctx context.Context, _ string, fn func(State) (State, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	fault := f.next(12)
	switch fault {
	case 1:
		return fmt.Errorf("faulty: %w", ErrUnavailable)
	case 2:
		return f.hang(ctx)
	case 3:
		return nil // a lie
	case 4, 5: // a lost race, against a state that is gone or against another process
		if _, err := fn(f.state(fault - 4)); err != nil {
			return err
		}
		s, err := f.other(f.state(0))
		require.NoError(f.t, err)
		f.write(s)
	}
	next, err := fn(f.state(0))
	if err != nil {
		return fmt.Errorf("faulty: %w", err)
	}
	switch fault {
	case 6:
		return fmt.Errorf("faulty: %w", ErrConflict)
	case 7:
		return f.hang(ctx)
	}
	f.write(next)
	switch fault {
	case 8:
		return fmt.Errorf("faulty: the answer is lost: %w", ErrUnavailable)
	case 9:
		return f.hang(ctx)
	}
	return nil
}

// playFaulty lets several processes handle the outputs that script says over a store that fails as script says.
func playFaulty(t testing.TB, script []byte) (continued int) {
	texts := []struct {
		text   string
		result classify.Result
	}{{"a", progress}, {"b", rejected}, {"c", rejected}, {"d", question}, {"e", completion}, {"f", progress},
		{"g", rejected}}
	h := classify.ClassifierFunc(func(_ context.Context, in classify.Input) (classify.Result, error) {
		for _, c := range texts {
			if c.text == in.Text {
				return c.result, nil
			}
		}
		return classify.Result{}, errBoom
	})
	store := &faultyStore{t: t}
	processes := []*AutoContinue{newTestLoop(t, h, store), newTestLoop(t, h, store)}
	byRun, byTurn := make(map[string]map[string]bool), make(map[string]map[string]bool)
	for n := 0; len(script) >= 6 && n < 200; n++ {
		turn, what := script[0]%3, script[1]
		out := Output{Session: "s", Turn: fmt.Sprint("turn", turn), Run: fmt.Sprint(turn, "run", what%7), Text: "unreadable"}
		if i := int(script[2] % 10); i < len(texts) {
			out.Text = texts[i].text
		}
		if what%5 != 0 {
			out.ID = fmt.Sprint(out.Run, " ", script[3]%2)
		}
		out.Failed = script[4]%16 == 0
		store.script = script[4:min(len(script), 8)]
		meanwhile := Facts{Output: out, Result: question}
		meanwhile.Output.ID = "another"
		store.other = func(s State) (State, error) {
			_, next := Decide(Policy{}, s, meanwhile)
			return next, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		store.cancel = cancel
		d, err := processes[n%2].Handle(ctx, out)
		cancel()
		script = script[5:]
		if err != nil {
			if d.Action != Deliver || d.Reason != "error" || d.Message != "" ||
				!strings.HasPrefix(err.Error(), "autocontinue: ") {
				t.Fatalf("with the error %v: %+v", err, d)
			}
			continue
		}
		if d.ID == "" || d.Reason == "" {
			t.Fatalf("no decision: %+v", d)
		}
		if d.Action != Continue {
			continue
		}
		continued++
		now := store.state(0)
		closed, _, _ := now.earlier(out)
		again, _, known := Known(now, out)
		switch {
		case !closed || !now.isOurs(d.Message) && !d.Replayed:
			t.Fatalf("continued without a word in the store: %+v", d)
		case out.ID != "" && (!known || !again.Replayed || again.Action != Continue || again.ID != d.ID ||
			again.Message != d.Message):
			t.Fatalf("continued %+v, but the store says %+v", d, again)
		}
		for _, of := range []struct {
			ids map[string]map[string]bool
			key string
			max int
		}{{byRun, out.Run, 1}, {byTurn, out.Turn, DefaultMaxContinues}} {
			if of.ids[of.key] == nil {
				of.ids[of.key] = make(map[string]bool)
			}
			of.ids[of.key][d.ID] = true
			if len(of.ids[of.key]) > of.max {
				t.Fatalf("%s: continued %d times", of.key, len(of.ids[of.key]))
			}
		}
	}
	return continued
}

func newTestLoop(t testing.TB, c classify.Classifier, s Store) *AutoContinue {
	t.Helper()
	a, err := New(Config{Classifier: c, Store: s})
	require.NoError(t, err)
	return a
}

// Whatever a store does, nothing is continued that is not in it.
func TestFaultyStore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	continued := 0
	for range 50 {
		script := make([]byte, 6*30)
		for i := range script {
			script[i] = byte(r.Uint32())
		}
		continued += playFaulty(t, script)
	}
	assert.Greater(t, continued, 50, "the faults leave something to check")
}

func FuzzFaultyStore(f *testing.F) {
	f.Add([]byte(strings.Repeat("\x00\x01\x00\x00\x01\x08", 10)))
	f.Add([]byte("\x00\x01\x00\x00\x00\x08\x00\x01\x00\x00\x00\x00\x01\x01\x00\x00\x00\x09"))
	f.Fuzz(func(t *testing.T, script []byte) { playFaulty(t, script) })
}
