package autocontinue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
)

var errBoom = errors.New("boom")

// judgeFunc is a classifier that counts its calls and keeps what it was given last.
type judgeFunc struct {
	classify func(ctx context.Context, in classify.Input) (classify.Result, error)
	calls    atomic.Int32
	mu       sync.Mutex
	in       classify.Input
}

func judgeAs(r classify.Result) *judgeFunc {
	return &judgeFunc{classify: func(context.Context, classify.Input) (classify.Result, error) { return r, nil }}
}

func (j *judgeFunc) Classify(ctx context.Context, in classify.Input) (classify.Result, error) {
	j.calls.Add(1)
	j.mu.Lock()
	j.in = in
	j.mu.Unlock()
	return j.classify(ctx, in)
}

type verifierFunc func(out Output, r classify.Result) (Verification, error)

func (f verifierFunc) Verify(_ context.Context, out Output, r classify.Result) (Verification, error) {
	return f(out, r)
}

// storeFuncs is a store whose methods can be replaced.
type storeFuncs struct {
	MemoryStore
	load   func() error
	update func(fn func(State) (State, error)) error
}

func (s *storeFuncs) Load(ctx context.Context, session string) (State, error) {
	if s.load != nil {
		if err := s.load(); err != nil {
			return State{}, err
		}
	}
	return s.MemoryStore.Load(ctx, session)
}

func (s *storeFuncs) Update(ctx context.Context, session string, fn func(State) (State, error)) error {
	if s.update != nil {
		return s.update(fn)
	}
	return s.MemoryStore.Update(ctx, session, fn)
}

func newLoop(t *testing.T, cfg Config) *AutoContinue {
	t.Helper()
	a, err := New(cfg)
	require.NoError(t, err)
	return a
}

func handle(t *testing.T, a *AutoContinue, out Output) Decision {
	t.Helper()
	if out.Session == "" {
		out.Session = "s"
	}
	d, err := a.Handle(t.Context(), out)
	require.NoError(t, err)
	return d
}

// wantError checks what every error comes with.
func wantError(t *testing.T, d Decision, err, is error) {
	t.Helper()
	require.ErrorIs(t, err, is)
	assert.True(t, strings.HasPrefix(err.Error(), "autocontinue: "), err)
	assert.Equal(t, []any{Deliver, Outcome("needs_human"), Reason("error")}, []any{d.Action, d.Outcome, d.Reason})
	assert.NotEmpty(t, d.Note)
	assert.Empty(t, d.Message)
	assert.False(t, d.Replayed)
}

func TestHandle(t *testing.T) {
	j := judgeAs(progress)
	a := newLoop(t, Config{Classifier: j})
	first := handle(t, a, Output{Run: "r", ID: "1", Text: "a"})
	assert.Equal(t, []any{Continue, Reason("progress"), 1, "continue"},
		[]any{first.Action, first.Reason, first.Continues, first.Message})
	assert.Equal(t, progress, first.Result)

	assert.Equal(t, Suppress, handle(t, a, Output{Run: "r", ID: "2", Text: "a"}).Action)
	again := handle(t, a, Output{Run: "r", ID: "1", Text: "a"})
	assert.True(t, again.Replayed)
	assert.Equal(t, []any{first.ID, first.Message}, []any{again.ID, again.Message})
	assert.Equal(t, Reason("crash_guard"), handle(t, a, Output{Run: "r", ID: "3", Text: "panic", Failed: true}).Reason)
	assert.Equal(t, Reason("hold"), handle(t, a, Output{Session: "other", Text: "a", Hold: "plan mode"}).Reason)
	assert.EqualValues(t, 1, j.calls.Load(), "what is known is not classified")
	assert.Empty(t, a.queue.lines)
}

func TestHandleAsksTheClassifier(t *testing.T) {
	j := judgeAs(progress)
	plan := "# Plan\n\n## Success Criteria\n\n- [ ] all tests pass\n- [x] it builds\n- [ ] documented\n"
	a := newLoop(t, Config{Classifier: j, Plans: fstest.MapFS{"plan.md": {Data: []byte(plan)}}})
	d := handle(t, a,
		Output{Text: "a", Request: "/do-build the parser", PlanFile: "./plan.md", Evidence: tests, Continues: 1})
	assert.Equal(t, classify.Input{
		Text: "a", Request: "/do-build the parser", Skill: j.in.Skill,
		SkillHint: "passing tests, commit hashes, and a PR link", Criteria: []string{"all tests pass", "documented"},
		Evidence: tests, Coached: 1,
	}, j.in)
	assert.NotEmpty(t, j.in.Skill)
	assert.Equal(t, coach.Tier("plan_criteria"), d.Tier)
	assert.Empty(t, d.Degraded)

	d = handle(t, a, Output{Text: "b", Request: d.Message, Phase: "test"})
	assert.Empty(t, j.in.Request, "ours")
	assert.Equal(t, "test output with pass/fail counts and coverage", j.in.SkillHint)
	assert.Equal(t, 2, j.in.Coached)
	assert.Equal(t, coach.Tier("skill"), d.Tier)

	handle(t, a, Output{Text: "c", Request: "[System Coach] /do-build it"})
	assert.Empty(t, j.in.Skill)
	handle(t, a, Output{Text: "d", Turn: "new", Request: "go on"})
	assert.Zero(t, j.in.Coached, "the turn is opened before it is classified")
	handle(t, a, Output{Text: "e", Request: " continue "})
	assert.Empty(t, j.in.Request, "what was sent last")
}

func TestPlansNeverFailADecision(t *testing.T) {
	plans := fstest.MapFS{
		"none.md":    {Data: []byte("# Plan\n\nnothing\n")},
		"empty.md":   {Data: []byte("# Plan\n\n## Success Criteria\n\n## Next\n")},
		"two.md":     {Data: []byte("## Success Criteria\n\n- a\n\n## Success Criteria\n\n- b\n")},
		"large.md":   {Data: make([]byte, 2<<20)},
		"latin1.md":  {Data: []byte("## Success Criteria\n\n- \xff\n")},
		"dir/a.md":   {Data: []byte("## Success Criteria\n\n- a\n")},
		"criteria":   {Data: []byte("## Success Criteria\n\n- a\n")},
		"ticked.md":  {Data: []byte("## Success Criteria\n\n- [x] a\n")},
		"unread.txt": {Data: []byte("x")},
	}
	a := newLoop(t, Config{Classifier: judgeAs(progress), Plans: plans})
	for name, tier := range map[string]coach.Tier{
		"none.md": "plan_pointer", "empty.md": "plan_pointer", "two.md": "plan_pointer",
		"large.md": "plan_pointer", "latin1.md": "plan_pointer", "missing.md": "plain",
		"dir": "plain", "../plan.md": "plain", "/etc/passwd": "plain", "a\x00b": "plain",
		strings.Repeat("x", 5000): "plain",
	} {
		d := handle(t, a, Output{Session: name, Text: "a", PlanFile: name})
		assert.Equal(t, []any{Continue, tier}, []any{d.Action, d.Tier}, "%.40q", name)
		require.Len(t, d.Degraded, 1, "%.40q", name)
		assert.True(t, strings.HasPrefix(d.Degraded[0], "plan: "), d.Degraded[0])
	}
	for name, tier := range map[string]coach.Tier{"criteria": "plan_criteria", "ticked.md": "plan_criteria",
		"": "plain"} {
		d := handle(t, a, Output{Session: "good" + name, Text: "a", PlanFile: name})
		assert.Equal(t, tier, d.Tier, name)
		assert.Empty(t, d.Degraded, name)
	}
	d := handle(t, newLoop(t, Config{Classifier: judgeAs(question)}), Output{Text: "a", PlanFile: "plan.md"})
	assert.Equal(t, Reason("question"), d.Reason)
	assert.Len(t, d.Degraded, 1, "no file system")
}

func TestVerifierIsAskedAboutClassifiedOutputs(t *testing.T) {
	for _, r := range []classify.Result{completion, rejected, progress, question, blocker, crash} {
		asked := false
		a := newLoop(
			t,
			Config{Classifier: judgeAs(r), Verifier: verifierFunc(func(out Output, of classify.Result) (Verification, error) {
				asked = true
				assert.Equal(t, "a", out.Text)
				assert.Equal(t, r, of)
				return Verification{Status: Unverified}, nil
			})},
		)
		d := handle(t, a, Output{Text: "a"})
		assert.True(t, asked, "%+v", r)
		assert.Equal(t, Unverified, d.Verified, "%+v", r)
		asked = false
		handle(t, a, Output{Text: "b", Failed: true})
		assert.False(t, asked)
	}
}

func TestVerifierOnlyLowers(t *testing.T) {
	for _, c := range []struct {
		v        Verification
		err      error
		reason   Reason
		verified VerificationStatus
		degraded bool
	}{
		{v: Verification{}, reason: "completion"},
		{v: Verification{Status: Verified}, reason: "completion", verified: Verified},
		{v: Verification{Status: Rejected, Feedback: "the tests fail"}, reason: "rejected_completion"},
		{v: Verification{Status: "sure"}, reason: "completion", verified: Unverified, degraded: true},
		{v: Verification{Status: Rejected}, err: errBoom, reason: "completion", verified: Unverified, degraded: true},
	} {
		a := newLoop(
			t,
			Config{Classifier: judgeAs(completion), Verifier: verifierFunc(func(Output, classify.Result) (Verification, error) {
				return c.v, c.err
			})},
		)
		d := handle(t, a, Output{Text: "All done."})
		assert.Equal(t, []any{c.reason, c.verified}, []any{d.Reason, d.Verified}, "%+v", c)
		assert.Equal(t, c.degraded, len(d.Degraded) == 1 && strings.HasPrefix(d.Degraded[0], "verifier: "), "%+v: %q",
			c, d.Degraded)
		if c.reason == "rejected_completion" {
			assert.Equal(t, coach.Tier("verify"), d.Tier)
			assert.Contains(t, d.Message, "the tests fail")
		}
	}
}

func TestErrorsDeliver(t *testing.T) {
	t.Run("empty session", func(t *testing.T) {
		a := newLoop(t, Config{Classifier: judgeAs(progress)})
		d, err := a.Handle(t.Context(), Output{Text: "a"})
		wantError(t, d, err, ErrNoSession)
		assert.Empty(t, d.ID)
		require.ErrorIs(t, a.Reset(t.Context(), ""), ErrNoSession)
	})
	t.Run("classifier", func(t *testing.T) {
		j := judgeAs(progress)
		a := newLoop(t, Config{Classifier: j})
		good := j.classify
		j.classify = func(context.Context, classify.Input) (classify.Result, error) { return completion, errBoom }
		failedOnce, err := a.Handle(t.Context(), Output{Session: "s", Turn: "t2", Run: "r", ID: "1", Text: "a"})
		wantError(t, failedOnce, err, errBoom)
		d, err := a.Handle(t.Context(), Output{Session: "s", Text: "a"})
		wantError(t, d, err, errBoom)
		assert.Empty(t, d.ID, "nothing to make once")
		s, err := a.cfg.Store.Load(t.Context(), "s")
		require.NoError(t, err)
		assert.True(t, s.Equal(State{}), "not recorded")

		j.classify = good
		d = handle(t, a, Output{Turn: "t2", Run: "r", ID: "1", Text: "a"})
		assert.Equal(t, []any{Continue, false, failedOnce.ID}, []any{d.Action, d.Replayed, d.ID}, "handed in again")
	})
	t.Run("invalid type", func(t *testing.T) {
		for _, typ := range []classify.OutputType{"", "done"} {
			a := newLoop(t, Config{Classifier: judgeAs(classify.Result{Type: typ, Confidence: 1})})
			d, err := a.Handle(t.Context(), Output{Session: "s", Text: "a"})
			require.ErrorContains(t, err, "not one of the five")
			assert.Equal(t, []any{Deliver, Reason("error")}, []any{d.Action, d.Reason})
		}
	})
	t.Run("load", func(t *testing.T) {
		a := newLoop(t, Config{Classifier: judgeAs(progress), Store: &storeFuncs{load: func() error { return errBoom }}})
		d, err := a.Handle(t.Context(), Output{Session: "s", Text: "a"})
		wantError(t, d, err, errBoom)
		assert.Empty(t, a.queue.lines)
	})
	t.Run("update", func(t *testing.T) {
		a := newLoop(
			t,
			Config{Classifier: judgeAs(progress), Store: &storeFuncs{update: func(fn func(State) (State, error)) error {
				_, err := fn(State{}) // it was decided, but the write failed
				return errors.Join(err, errBoom)
			}}},
		)
		d, err := a.Handle(t.Context(), Output{Session: "s", Text: "a"})
		wantError(t, d, err, errBoom)
		assert.Equal(t, progress, d.Result, "what is known of it")
		require.ErrorIs(t, a.Reset(t.Context(), "s"), errBoom)
	})
	t.Run("context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		j := judgeAs(progress)
		a := newLoop(t, Config{Classifier: j})
		j.classify = func(context.Context, classify.Input) (classify.Result, error) {
			cancel()
			return progress, nil
		}
		d, err := a.Handle(ctx, Output{Session: "s", Text: "a"})
		wantError(t, d, err, context.Canceled)
		d, err = a.Handle(ctx, Output{Session: "s", Text: "a"})
		wantError(t, d, err, context.Canceled)
		assert.EqualValues(t, 1, j.calls.Load())
		require.ErrorIs(t, a.Reset(ctx, "s"), context.Canceled)
	})
	t.Run("panic", func(t *testing.T) {
		j := judgeAs(progress)
		good := j.classify
		j.classify = func(context.Context, classify.Input) (classify.Result, error) { panic("boom") }
		a := newLoop(t, Config{Classifier: j})
		d, err := a.Handle(t.Context(), Output{Session: "s", Text: "a"})
		require.ErrorContains(t, err, "autocontinue: classify: panic: boom")
		assert.Equal(t, []any{Deliver, Reason("error")}, []any{d.Action, d.Reason})
		j.classify = good
		assert.Equal(t, Continue, handle(t, a, Output{Text: "a"}).Action, "the session is not stuck")
	})
}

func TestABurstCostsOneCall(t *testing.T) {
	for name, id := range map[string]func(i int) string{
		"other IDs": func(i int) string { return fmt.Sprint(i) },
		"no IDs":    func(int) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &judgeFunc{classify: func(context.Context, classify.Input) (classify.Result, error) {
					time.Sleep(time.Minute) // of the bubble's clock
					return rejected, nil
				}}
				a := newLoop(t, Config{Classifier: j})
				var mu sync.Mutex
				got := make(map[Action][]Decision)
				var wg sync.WaitGroup
				for i := range 200 {
					wg.Go(func() {
						out := Output{Session: "s", Turn: "t", Run: "r", ID: id(i), Text: "Fixed. Should work now."}
						d, err := a.Handle(t.Context(), out)
						assert.NoError(t, err)
						mu.Lock()
						got[d.Action] = append(got[d.Action], d)
						mu.Unlock()
					})
				}
				wg.Wait()
				require.Len(t, got[Continue], 1)
				assert.Len(t, got[Suppress], 199)
				assert.EqualValues(t, 1, j.calls.Load())
				assert.Empty(t, a.queue.lines)

				first := got[Continue][0]
				for i := range 200 {
					if d := handle(t, a, Output{Turn: "t", Run: "r", ID: id(i), Text: "Fixed. Should work now."}); d.Replayed {
						assert.Equal(t, []any{first.ID, first.Message, Continue}, []any{d.ID, d.Message, d.Action})
						assert.NotEmpty(t, id(i))
						first.Replayed = true
					}
				}
				assert.Equal(t, id(0) != "", first.Replayed)
			})
		})
	}
	t.Run("one ID", func(t *testing.T) {
		j := judgeAs(rejected)
		a := newLoop(t, Config{Classifier: j})
		var fresh atomic.Int32
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				d, err := a.Handle(t.Context(), Output{Session: "s", Run: "r", ID: "1", Text: "a"})
				assert.NoError(t, err)
				assert.Equal(t, Continue, d.Action)
				if !d.Replayed {
					fresh.Add(1)
				}
			})
		}
		wg.Wait()
		assert.EqualValues(t, 1, fresh.Load())
		assert.EqualValues(t, 1, j.calls.Load())
	})
}

// Two processes share a store, but no queue.
func TestTwoProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewMemoryStore(0)
		j := &judgeFunc{classify: func(context.Context, classify.Input) (classify.Result, error) {
			time.Sleep(time.Minute)
			return rejected, nil
		}}
		var continued atomic.Int32
		var wg sync.WaitGroup
		for i := range 20 {
			a := newLoop(t, Config{Classifier: j, Store: store})
			wg.Go(func() {
				d, err := a.Handle(t.Context(), Output{Session: "s", Run: "r", ID: fmt.Sprint(i), Text: "a"})
				assert.NoError(t, err)
				if d.Action == Continue {
					continued.Add(1)
				} else {
					assert.Equal(t, Reason("run_closed"), d.Reason)
					assert.Equal(t, rejected, d.Result, "the wasted classification is explained")
				}
			})
		}
		wg.Wait()
		assert.EqualValues(t, 1, continued.Load())
		assert.EqualValues(t, 20, j.calls.Load())
	})
}

func TestResetDuringASlowClassifier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judgeFunc{classify: func(context.Context, classify.Input) (classify.Result, error) {
			time.Sleep(time.Hour)
			return progress, nil
		}}
		a := newLoop(t, Config{Classifier: j})
		type answer struct {
			d   Decision
			err error
		}
		answers := make(chan answer, 3)
		for i := range 3 { // one inside, two queueing
			go func() {
				d, err := a.Handle(t.Context(), Output{Session: "s", Run: fmt.Sprint(i), ID: fmt.Sprint(i), Text: "a"})
				answers <- answer{d, err}
			}()
			synctest.Wait()
		}
		start := time.Now()
		require.NoError(t, a.Reset(t.Context(), "s"))
		assert.Zero(t, time.Since(start), "it waits for no one")
		for range 3 {
			got := <-answers
			require.NoError(t, got.err)
			assert.Equal(t, []any{Deliver, Outcome("needs_human"), Reason("superseded")},
				[]any{got.d.Action, got.d.Outcome, got.d.Reason})
		}
		assert.EqualValues(t, 1, j.calls.Load(), "what waited is known without reading")

		d := handle(t, a, Output{Run: "new", Text: "a"})
		assert.Equal(t, []any{Continue, 1}, []any{d.Action, d.Continues})
		d = handle(t, a, Output{Run: "0", ID: "0", Text: "a"})
		assert.Equal(t, []any{Deliver, Reason("superseded"), true}, []any{d.Action, d.Reason, d.Replayed})
	})
}

func TestATurnOpenedDuringASlowClassifier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewMemoryStore(0)
		j := &judgeFunc{classify: func(_ context.Context, in classify.Input) (classify.Result, error) {
			if in.Text == "slow" {
				time.Sleep(time.Hour)
			}
			return progress, nil
		}}
		slow, fast := newLoop(t, Config{Classifier: j, Store: store}), newLoop(t, Config{Classifier: j, Store: store})
		handle(t, fast, Output{Turn: "t1", Text: "a"})
		done := make(chan Decision)
		go func() { done <- handle(t, slow, Output{Turn: "t1", Text: "slow"}) }()
		synctest.Wait()
		handle(t, fast, Output{Turn: "t2", Text: "b"})
		assert.Equal(t, Reason("superseded"), (<-done).Reason)
	})
}

func TestGivingUpInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judgeFunc{classify: func(context.Context, classify.Input) (classify.Result, error) {
			time.Sleep(time.Hour)
			return progress, nil
		}}
		a := newLoop(t, Config{Classifier: j})
		done := make(chan Decision)
		go func() { done <- handle(t, a, Output{Run: "r", Text: "a"}) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		d, err := a.Handle(ctx, Output{Session: "s", Run: "r2", Text: "a"})
		wantError(t, d, err, context.DeadlineExceeded)
		assert.Equal(t, Continue, (<-done).Action)
		synctest.Wait()
		assert.Empty(t, a.queue.lines)
	})
}

// A store may call the function of an update again, with another state: the last result counts.
func TestAStoreThatRetries(t *testing.T) {
	store := new(storeFuncs)
	a := newLoop(t, Config{Classifier: judgeAs(progress), Store: store})
	d := handle(t, a, Output{Turn: "t1", Run: "r", ID: "1", Text: "a"})
	require.Equal(t, Continue, d.Action)
	store.update = func(fn func(State) (State, error)) error {
		if _, err := fn(State{}); err != nil { // lost
			return err
		}
		return store.MemoryStore.Update(t.Context(), "s", fn)
	}
	assert.Equal(t, Suppress, handle(t, a, Output{Turn: "t1", Run: "r", ID: "2", Text: "a"}).Action)

	// What was known from a state that is gone is not known any more.
	store.update = func(fn func(State) (State, error)) error {
		_, err := fn(State{})
		return err
	}
	d, err := a.Handle(t.Context(), Output{Session: "s", Turn: "t1", Run: "r", ID: "3", Text: "a"})
	wantError(t, d, err, errUndecided)
}

// The run was closed in a turn that is forgotten when this output opens another: it is a run of its own, and
// classified.
func TestARunOfAForgottenTurn(t *testing.T) {
	j := judgeAs(progress)
	a := newLoop(t, Config{Classifier: j})
	for i := range maxTurns {
		handle(t, a, Output{Turn: fmt.Sprint("t", i), Run: fmt.Sprint("r", i), Text: "a"})
	}
	assert.Equal(t, Suppress, handle(t, a, Output{Run: "r0", Text: "a"}).Action)
	assert.EqualValues(t, maxTurns, j.calls.Load())
	d := handle(t, a, Output{Turn: "new", Run: "r0", Text: "b"})
	assert.Equal(t, []any{Continue, Reason("progress"), 1}, []any{d.Action, d.Reason, d.Continues})
	assert.EqualValues(t, maxTurns+1, j.calls.Load())
}

func TestAStoredStateOfANewerVersion(t *testing.T) {
	a := newLoop(t, Config{Classifier: judgeAs(progress), Store: &storeFuncs{load: func() error {
		return new(State).UnmarshalJSON([]byte(`{"version":99}`))
	}}})
	d, err := a.Handle(t.Context(), Output{Session: "s", Text: "a"})
	wantError(t, d, err, ErrStateVersion)
}

func TestHandleOfALargeOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	text := strings.Repeat("Still migrating the tests, 3 of 10 are done. ", 1<<19/45)
	upper := strings.ToUpper(text)
	a := newLoop(t, Config{Classifier: judgeAs(progress), Observer: NewJournal(io.Discard)})
	assert.Equal(t, Continue, handle(t, a, Output{Run: "1", Text: text}).Action)
	assert.Equal(t, 2, handle(t, a, Output{Run: "2", Text: upper}).Attempt)
	assert.Equal(t, Reason("crash_guard"), handle(t, a, Output{Run: "2", Text: upper, Failed: true}).Reason)
	assert.Equal(t, Reason("same_text"), handle(t, a, Output{Run: "2", Text: upper, Failed: true}).Reason)
}
