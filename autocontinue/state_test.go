package autocontinue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

// clone returns what is read when s was written.
func clone(t *testing.T, s State) (back State) {
	t.Helper()
	b, err := json.Marshal(s)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &back))
	return back
}

// full is a session in which every field of a state is in use.
func full(t *testing.T) *session {
	x := play(t, Policy{})
	no := verification(Verification{Status: Rejected, Feedback: "the tests fail"})
	x.decide("a", progress, turnIs("t1"), idIs("1"))
	x.s = x.s.Reset()
	x.decide("b?", question, turnIs("t2"), idIs("2"), output(func(o *Output) { o.Hold = "plan mode" }))
	x.decide("c", rejected, turnIs("t2"), idIs("3"), saw(tests))
	x.decide("d", completion, turnIs("t2"), idIs("4"), no)
	x.decide("e", progress, turnIs("t2"), idIs("5"), func(f *Facts) { f.Degraded = []string{"plan: gone"} })
	x.decide("f", crash, turnIs("t2"), idIs("6"))
	return x
}

func TestStateRoundTrip(t *testing.T) {
	for name, s := range map[string]State{"zero": {}, "reset": State{}.Reset(), "full": full(t).s} {
		t.Run(name, func(t *testing.T) {
			back := clone(t, s)
			assert.True(t, s.Equal(back))
			assert.Equal(t, s, back)
			assert.True(t, back.Reset().Equal(s.Reset()))
			assert.False(t, back.Reset().Equal(s))
		})
	}
	b, err := json.Marshal(full(t).s)
	require.NoError(t, err)
	var j map[string]any
	require.NoError(t, json.Unmarshal(b, &j))
	assert.Len(t, j, 9, "every field is in use: %s", b)
	assert.EqualValues(t, stateVersion, j["version"])
	for _, name := range []string{"t1", "t2", "run1"} {
		assert.NotContains(t, string(b), name, "IDs and texts are hashed")
	}
}

func TestStateEqual(t *testing.T) {
	base := full(t).s
	assert.True(t, base.Equal(base))
	assert.True(t, State{}.Equal(State{Resets: 1}), "absent is 1")
	for name, change := range map[string]func(s *State){
		"seq":       func(s *State) { s.Seq++ },
		"resets":    func(s *State) { s.Resets++ },
		"continues": func(s *State) { s.Continues++ },
		"hand-over": func(s *State) { s.HandedOver = !s.HandedOver },
		"turn":      func(s *State) { s.history.Turns[0].ID++ },
		"closed":    func(s *State) { s.history.Turns[0].Closed[0].Run++ },
		"shown":     func(s *State) { s.history.Turns[1].Shown[0].Bytes++ },
		"gaps":      func(s *State) { s.history.Gaps[0].Rejected = !s.history.Gaps[0].Rejected },
		"sent":      func(s *State) { s.history.Sent++ },
		"record":    func(s *State) { s.history.Records[0].Continues++ },
		"degraded":  func(s *State) { s.history.Records[0].Degraded = []string{"x"} },
		"fewer":     func(s *State) { s.history.Records = s.history.Records[1:] },
	} {
		other := clone(t, base)
		change(&other)
		assert.False(t, base.Equal(other), name)
		assert.False(t, other.Equal(base), name)
	}
}

func TestStateOfAnotherVersion(t *testing.T) {
	kept := full(t).s
	for _, c := range []struct {
		json string
		is   error
	}{
		{`{"version":5}`, ErrStateVersion},
		{`{"version":99,"turns":"something else"}`, ErrStateVersion},
		{`{"version":4,"later":null}`, ErrStateVersion},
		{`{"version":4,"turns":[{"later":1}]}`, ErrStateVersion},
		{`{"version":4,"gaps":[{"text":1,"later":{}}]}`, ErrStateVersion},
		{`{"version":4,"records":[{"output":1,"id":"b","reason":"hold","later":"x"}]}`, ErrStateVersion},
		{`{"version":4,"later":1,"turns":"something else"}`, nil},
		{`{}`, nil},
		{`{"version":0}`, nil},
		{`{"version":-1}`, nil},
		{`[]`, nil},
		{`"x"`, nil},
		{`{"version":4,"continues":-1}`, nil},
		{`{"version":4,"resets":-1}`, nil},
		{`{"version":4,"stage":{"of":1,"done":-1}}`, nil},
		{`{"version":4,"seq":-1}`, nil},
		{`{"version":4,"sent":"x"}`, nil},
		{`{"version":3}`, nil},
	} {
		s := kept
		err := json.Unmarshal([]byte(c.json), &s)
		require.Error(t, err, c.json)
		assert.True(t, s.Equal(kept), "unchanged after %s", c.json)
		if c.is != nil {
			assert.ErrorIs(t, err, c.is)
		} else {
			assert.NotErrorIs(t, err, ErrStateVersion, c.json)
		}
	}

	var s State
	require.NoError(t, json.Unmarshal([]byte(`{"version":4}`), &s))
	assert.True(t, s.Equal(State{}))
	assert.Equal(t, 1, s.resets(), "absent is 1")
}

func TestStateSize(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	size := func(s State) int {
		b, err := json.Marshal(s)
		require.NoError(t, err)
		return len(b)
	}
	long := strings.Repeat("long ID ", 1000)
	x := play(t, Policy{})
	for turn := range 4 { // three continuations, then something for the human
		for i := range 3 {
			d := x.decide(fmt.Sprintf("I fixed step %d of 9. It should work now.", i), rejected,
				turnIs(fmt.Sprint(long, turn)), idIs(fmt.Sprint(long, turn, i)), runIs(fmt.Sprint(long, turn, i)), saw(nil),
				func(f *Facts) {
					f.Result.Signals = []classify.Signal{
						{Kind: classify.SignalClaim, Name: []string{"tests", "build", "commit"}[i], Start: 0, End: 11, Weight: 1},
						{Kind: classify.SignalHedge, Start: 24, End: 39, Weight: 1},
					}
				})
			require.Equal(t, Continue, d.Action)
		}
		x.decide("which one?", question, turnIs(fmt.Sprint(long, turn)), idIs(fmt.Sprint(long, turn)))
	}
	typical := size(x.s)
	t.Logf("typical: %d bytes", typical)
	assert.Less(t, typical, 4500, "about 4 kB")

	full := turn{ID: digestOf("turn", "t")}
	for i := range maxClosed {
		r := report{Run: digestOf("run", fmt.Sprint(i)), Text: digestOf("folded", fmt.Sprint(i))}
		full.Closed = append(full.Closed, r)
		if r.Bytes = r.Text; i < maxShown {
			full.Shown = append(full.Shown, r)
		}
	}
	x = play(t, Policy{MaxContinues: 1000})
	x.s.history.Turns = slices.Repeat([]turn{full}, maxTurns)
	for i := range 2 * maxGaps {
		x.decide(fmt.Sprint("step ", i), rejected, idIs(fmt.Sprint("x", i)), saw(tests))
	}
	assert.True(t, x.s.Equal(clone(t, x.s)), "full to the brim it can be read")
	worst := size(x.s)
	t.Logf("worst: %d bytes", worst)
	assert.Less(t, worst, 600<<10)
}

// A turn with more runs than are remembered errs towards the human: nothing is continued any more.
func TestATurnOfTooManyRuns(t *testing.T) {
	x := play(t, Policy{})
	for i := range maxClosed {
		x.decide("done", completion, runIs(fmt.Sprint("r", i)))
	}
	x.wants(x.decide("done", completion, runIs("r0")), Suppress, "duplicate", "run_closed")
	x.decide("done", completion, runIs("one more"))
	x.wants(x.decide("done", completion, runIs("one more")), Suppress, "duplicate", "run_closed")
	x.wants(x.decide("done", completion, runIs("r1")), Suppress, "duplicate", "run_closed")
	x.wants(x.decide("going on", progress, runIs("r0")), Deliver, "needs_human", "waiting")
	x.wants(x.decide("going on", progress, turnIs("next")), Continue, "continuing", "progress")
}

func TestStateForgetsTheOldest(t *testing.T) {
	t.Run("gaps", func(t *testing.T) {
		x := play(t, Policy{MaxContinues: 1000})
		for i := range maxGaps + 1 {
			x.decide(fmt.Sprint("step ", i), progress)
		}
		assert.Len(t, x.s.history.Gaps, maxGaps)
		assert.Equal(t, 2, x.decide("step 1", progress).Attempt)
		assert.Equal(t, 1, x.decide("step 0", progress).Attempt)
	})
	t.Run("records", func(t *testing.T) {
		x := play(t, Policy{})
		for i := range maxRecords + 1 {
			x.decide("which?", question, idIs(fmt.Sprint(i)))
		}
		assert.Len(t, x.s.history.Records, maxRecords)
		assert.False(t, x.decide("which?", question, idIs("0")).Replayed)
		assert.True(t, x.decide("which?", question, idIs("2")).Replayed)
	})
	t.Run("texts of a run", func(t *testing.T) {
		x := play(t, Policy{})
		for i := range maxShown + 1 {
			x.decide(fmt.Sprint(i), question, runIs("r"))
		}
		assert.Len(t, x.s.history.Turns[0].Shown, maxShown)
		x.wants(x.decide("1", question, runIs("r")), Suppress, "duplicate", "same_text")
		x.wants(x.decide("0", question, runIs("r")), Deliver, "needs_human", "question")
	})
}

// A state that was given stays as it is, whatever is decided, so that a store may hand out what it keeps.
func TestNoDecisionChangesTheStateItWasGiven(t *testing.T) {
	base := full(t).s
	named := base.Reset() // its turn gets a name
	for _, s := range []State{base, named} {
		before := clone(t, s)
		for _, r := range []classify.Result{progress, rejected, question, completion, crash} {
			for _, change := range []func(*Facts){
				hold, failed, idIs("7"), idIs("1"), turnIs("t1"), turnIs("t9"), runIs("run1"), requestIs("[System Coach] go on"),
			} {
				f := Facts{Output: Output{Session: "s", Turn: "t2", Run: "r", Text: "x"}, Result: r}
				change(&f)
				Known(s, f.Output)
				_, next := Decide(Policy{}, s, f)
				Decide(Policy{}, next, Facts{Output: Output{Session: "s", Turn: "new", Run: "r2", ID: "8"}, Result: r})
				next.Reset()
				require.True(t, s.Equal(before))
			}
		}
	}
}
