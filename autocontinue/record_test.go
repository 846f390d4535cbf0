package autocontinue

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

func TestReplay(t *testing.T) {
	x := full(t)
	x.s = x.s.Reset()
	degraded := func(f *Facts) { f.Degraded = []string{"plan: gone"} }
	no := verification(Verification{Status: Rejected, Feedback: "the tests fail"})
	for name, decide := range map[string]func(x *session) Decision{
		"progress":             func(x *session) Decision { return x.decide("a", progress, idIs("id")) },
		"a rejected claim":     func(x *session) Decision { return x.decide("a", rejected, idIs("id"), degraded) },
		"a verifier's finding": func(x *session) Decision { return x.decide("a", completion, idIs("id"), no) },
		"a second attempt": func(x *session) Decision {
			x.decide("a", progress)
			return x.decide("a", progress, idIs("id"))
		},
		"a completion": func(x *session) Decision {
			return x.decide("a", completion, idIs("id"), verification(Verification{Status: Verified}))
		},
		"a question": func(x *session) Decision { return x.decide("a?", question, idIs("id")) },
		"low confidence": func(x *session) Decision {
			return x.decide("a", classify.Result{Type: classify.Status}, idIs("id"))
		},
		"a hold":    func(x *session) Decision { return x.decide("a", progress, idIs("id"), hold) },
		"a failure": func(x *session) Decision { return x.decide("a", progress, idIs("id"), failed) },
		"stalled":   func(x *session) Decision { x.decide("", progress); return x.decide("", progress, idIs("id")) },
		"a cap": func(x *session) Decision {
			return x.decide("a", progress, idIs("id"), output(func(o *Output) { o.Continues = 3 }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			y := *x
			y.t = t
			want := decide(&y)
			want.Replayed, want.Result = true, classify.Result{}
			y.s = clone(t, y.s)
			before := y.s
			for _, r := range []classify.Result{progress, crash} { // whatever it looks like now
				got := y.decide("something else", r, idIs("id"), failed, hold)
				require.NotEmpty(t, got.Degraded)
				last := len(got.Degraded) - 1
				assert.Contains(t, got.Degraded[last], "came with another text")
				got.Degraded = got.Degraded[:last:last]
				assert.Equal(t, len(want.Degraded), last)
				got.Degraded = want.Degraded
				assert.Equal(t, want, got)
			}
			assert.True(t, before.Equal(y.s), "a replay changes nothing")
		})
	}
}

func TestReplayAfterTheHumanSpoke(t *testing.T) {
	for name, speak := range map[string]func(x *session) func(*Facts){
		"another turn": func(x *session) func(*Facts) {
			x.decide("b", progress, turnIs("t2"))
			return turnIs("t1")
		},
		"another turn, unnamed":   func(x *session) func(*Facts) { x.decide("b", progress, turnIs("t2")); return turnIs("") },
		"with the redelivery":     func(*session) func(*Facts) { return turnIs("t2") },
		"a reset":                 func(x *session) func(*Facts) { x.s = x.s.Reset(); return turnIs("") },
		"a reset, the turn named": func(x *session) func(*Facts) { x.s = x.s.Reset(); return turnIs("t1") },
		"a reset meanwhile": func(*session) func(*Facts) {
			return func(f *Facts) { f.Output.Turn, f.Resets = "t1", 7 }
		},
		"many resets": func(x *session) func(*Facts) {
			for range 20 {
				x.s = x.s.Reset()
			}
			return turnIs("t1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := play(t, Policy{})
			first := x.decide("a", rejected, turnIs("t1"), runIs("r"), idIs("id"))
			delivered := x.decide("which?", question, turnIs("t1"), runIs("r2"), idIs("id2"))
			require.Equal(t, Continue, first.Action)
			spoke := speak(x)
			for range 2 {
				d := x.decide("a", rejected, runIs("r"), idIs("id"), turnIs("t1"), spoke)
				x.wants(d, Deliver, "needs_human", "superseded")
				assert.True(t, d.Replayed)
				assert.Equal(t, first.ID, d.ID)
			}
			delivered.Replayed, delivered.Result = true, classify.Result{}
			assert.Equal(t, delivered, x.decide("which?", question, runIs("r2"), idIs("id2"), spoke))
		})
	}
	t.Run("a prompt of ours is not the human", func(t *testing.T) {
		x := play(t, Policy{})
		first := x.decide("a", rejected, turnIs("t1"), idIs("id"))
		d := x.decide("a", rejected, turnIs("t2"), idIs("id"), requestIs(first.Message))
		assert.Equal(t, first.Message, d.Message)
		assert.True(t, d.Replayed)
	})
}

func TestWhatIsNotReplayed(t *testing.T) {
	x := play(t, Policy{})
	x.decide("a", progress, runIs("r"))
	x.wants(x.decide("a", progress, runIs("r")), Suppress, "duplicate", "run_closed") // no ID

	d := x.decide("a", progress, runIs("r"), idIs("1"))
	x.wants(d, Suppress, "duplicate", "run_closed")
	d = x.decide("a", progress, runIs("r"), idIs("1"))
	assert.False(t, d.Replayed, "suppress is recomputed")

	x.decide("a", classify.Result{}, idIs("2"))
	assert.False(t, x.decide("b", progress, idIs("2")).Replayed, "an error of ours is not recorded")
}

func TestTheSameTextTwiceInARun(t *testing.T) {
	x := play(t, Policy{})
	first := x.decide("All done.", rejected, runIs("r"), idIs("callback"))
	x.wants(first, Continue, "continuing", "rejected_completion")
	x.wants(x.decide("All done.", rejected, runIs("r"), idIs("return")), Suppress, "duplicate", "run_closed")
	again := x.decide("All done.", rejected, runIs("r"), idIs("callback"))
	assert.Equal(t, first.Message, again.Message)
	assert.True(t, again.Replayed)
	assert.Equal(t, 1, x.s.Continues)
}
