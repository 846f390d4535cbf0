package autocontinue

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTurns(t *testing.T) {
	t.Run("an unknown one opens", func(t *testing.T) {
		x := play(t, Policy{})
		x.decide("a", progress, turnIs("t1"))
		x.decide("which?", question, turnIs("t1"))
		d := x.decide("a", progress, turnIs("t2"))
		x.wants(d, Continue, "continuing", "progress")
		assert.Equal(t, []int{1, 1}, []int{d.Attempt, d.Continues})
	})
	t.Run("an empty one is the current", func(t *testing.T) {
		x := play(t, Policy{})
		x.decide("a", progress)
		assert.Equal(t, 2, x.decide("b", progress).Continues)
		assert.Equal(t, 1, x.decide("c", progress, turnIs("t1")).Continues)
		assert.Equal(t, 2, x.decide("d", progress).Continues)
		assert.Equal(t, 3, x.decide("e", progress, turnIs("t1")).Continues)
	})
	t.Run("an earlier one is over", func(t *testing.T) {
		x := play(t, Policy{})
		for i := 1; i <= 9; i++ {
			x.decide("a", progress, turnIs(fmt.Sprint("t", i)))
		}
		for i := 1; i <= 8; i++ {
			x.wants(x.decide("b", progress, turnIs(fmt.Sprint("t", i))), Deliver, "needs_human", "superseded")
		}
		assert.False(t, x.s.HandedOver)
		x.wants(x.decide("b", progress, turnIs("t9")), Continue, "continuing", "progress")
		x.decide("c", progress, turnIs("t10"))
		x.wants(x.decide("d", progress, turnIs("t2")), Deliver, "needs_human", "superseded")
		assert.Equal(t, 1, x.decide("d", progress, turnIs("t1")).Continues, "nine turns ago it is unknown")
	})
	t.Run("closed runs of nine turns", func(t *testing.T) {
		x := play(t, Policy{})
		for i := 1; i <= 9; i++ {
			x.decide("a", progress, turnIs(fmt.Sprint("t", i)), runIs(fmt.Sprint("r", i)))
		}
		x.wants(x.decide("a", progress, runIs("r1")), Suppress, "duplicate", "run_closed")
		x.wants(x.decide("a", progress, runIs("r1"), turnIs("t1")), Suppress, "duplicate", "run_closed")
		x.decide("a", progress, turnIs("t10"))
		x.wants(x.decide("a", progress, runIs("r2")), Suppress, "duplicate", "run_closed")
		assert.Equal(t, Continue, x.decide("z", progress, runIs("r1")).Action)
	})
	t.Run("resets do not push turns out", func(t *testing.T) {
		x := play(t, Policy{})
		for i := 1; i <= 9; i++ {
			x.s = x.s.Reset()
			x.decide("a", progress, turnIs(fmt.Sprint("t", i)))
		}
		x.wants(x.decide("b", progress, turnIs("t1")), Deliver, "needs_human", "superseded")
	})
}

func TestARequestOfOursOpensNoTurn(t *testing.T) {
	x := play(t, Policy{})
	d := x.decide("a", progress, turnIs("t1"), requestIs("make it work"))
	require.Equal(t, "continue", d.Message)
	for _, request := range []string{"[System Coach] go on", " [System Coach] go on", "[System Coach]", d.Message,
		" continue\n"} {
		y := *x
		d := y.decide("b", progress, turnIs("t2"), requestIs(request))
		assert.Equal(t, 2, d.Continues, "%q", request)
		assert.Equal(t, 3, y.decide("c", progress, turnIs("t1")).Continues, "%q: t1 is still the current turn", request)
	}
	for _, request := range []string{"", "Continue", "continue with the tests", "what does [System Coach] mean?"} {
		y := *x
		assert.Equal(t, 1, y.decide("b", progress, turnIs("t2"), requestIs(request)).Continues, "%q", request)
	}

	d = x.decide("b", rejected)
	y := *x
	assert.Equal(t, 3, y.decide("c", progress, turnIs("t2"), requestIs(d.Message)).Continues)
	y = *x
	assert.Equal(t, 1, y.decide("c", progress, turnIs("t2"), requestIs("continue")).Continues,
		"not the last message any more")

	y = session{t: t}
	assert.Equal(t, 1, y.decide("a", progress, turnIs("t1"), requestIs("[System Coach] go on")).Continues,
		"before any turn")
}

// The human may say what our last message said. The turn that this opened, by a reset, takes the name that comes with
// it: else the same name, once another message was sent, would open one more, with a count of its own.
func TestATurnTakesItsName(t *testing.T) {
	x := play(t, Policy{})
	require.Equal(t, "continue", x.decide("a", progress, turnIs("t1")).Message)
	x.s = x.s.Reset()
	said := func(f *Facts) { f.Output.Turn, f.Output.Request = "t2", "continue" }
	assert.Equal(t, 1, x.decide("b", rejected, said).Continues)
	assert.Equal(t, 2, x.decide("c", progress, said).Continues)
	d := x.decide("d", progress, said, idIs("1"))
	assert.Equal(t, 3, d.Continues)
	assert.Equal(t, d.ID, x.decide("d", progress, said, idIs("1")).ID)
	x.wants(x.decide("e", progress, said), Deliver, "capped", "cap")
	x.wants(x.decide("f", progress, turnIs("t1")), Deliver, "needs_human", "superseded")
	assert.Equal(t, 1, x.decide("g", progress, turnIs("t3"), requestIs("Now the tests.")).Continues)
	x.wants(x.decide("h", progress, said), Deliver, "needs_human", "superseded")
}

func TestReset(t *testing.T) {
	x := play(t, Policy{})
	assert.Equal(t, 2, State{}.Reset().Resets)
	x.decide("a", progress, runIs("r"), idIs("1"))
	x.decide("a", progress)
	x.decide("which?", question, idIs("2"))
	x.s = x.s.Reset()
	assert.Equal(t, 2, x.s.Resets)

	x.wants(x.decide("a", progress, runIs("r")), Suppress, "duplicate", "run_closed")
	d := x.decide("a", progress)
	x.wants(d, Continue, "continuing", "progress")
	assert.Equal(t, []int{1, 1}, []int{d.Attempt, d.Continues}, "count, fingerprints and hand-over are cleared")
	assert.True(t, x.decide("which?", question, idIs("2")).Replayed)

	x.s = x.s.Reset()
	for resets, over := range map[int]bool{0: false, 3: false, 1: true, 2: true, 4: true, -1: true} {
		y := *x
		d := y.decide("b", progress, func(f *Facts) { f.Resets = resets })
		assert.Equal(t, over, d.Reason == Reason("superseded"), "%d", resets)
		assert.Equal(t, over, d.Action == Deliver, "%d", resets)
	}
	var y State
	d, _ = Decide(Policy{}, y, Facts{Output: Output{Session: "s", Text: "a"}, Result: progress, Resets: 1})
	assert.Equal(t, Continue, d.Action, "absent is 1")
	d, _ = Decide(Policy{}, y, Facts{Output: Output{Session: "s", Text: "a"}, Result: progress, Resets: 2})
	assert.Equal(t, Reason("superseded"), d.Reason)

	// A stale output opens no turn, however new its turn is.
	x.decide("a", progress)
	x.decide("late", progress, turnIs("unknown"), func(f *Facts) { f.Resets = 1 })
	assert.Equal(t, 2, x.decide("b", progress).Continues)
}

func TestResetEndsANamedTurn(t *testing.T) {
	x := play(t, Policy{})
	x.decide("a", progress, turnIs("t1"))
	x.s = x.s.Reset()
	x.wants(x.decide("b", progress, turnIs("t1")), Deliver, "needs_human", "superseded")
	x.wants(x.decide("b", progress, turnIs("t2")), Continue, "continuing", "progress")
}
