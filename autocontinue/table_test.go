package autocontinue

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

// tableRow makes its row of the table hold for the output that is decided at the end, whatever other rows hold too.
type tableRow struct {
	number  int
	prepare func(x *session) // earlier outputs of the turn
	arrange func(f *Facts)   // the output itself
	action  Action
	outcome Outcome
	reason  Reason
}

// tableRows are in the order of the table; prepare is called from the last to the first, but for row 4, which ends the
// turn.
var tableRows = []tableRow{
	{
		number:  1,
		prepare: func(x *session) { x.decide("held", progress, turnIs("t"), idIs("id"), hold) },
		arrange: idIs("id"),
		action:  Deliver, outcome: "needs_human", reason: "hold",
	}, {
		number:  2,
		prepare: func(x *session) { x.decide("t e x t", completion, turnIs("t"), runIs("r")) },
		arrange: func(*Facts) {},
		action:  Suppress, outcome: "duplicate", reason: "run_closed",
	}, {
		number:  3,
		prepare: func(x *session) { x.decide("text", progress, turnIs("t"), runIs("r"), hold) },
		arrange: func(*Facts) {},
		action:  Suppress, outcome: "duplicate", reason: "same_text",
	}, {
		number: 4,
		prepare: func(x *session) {
			x.decide("this turn", progress, turnIs("t"), hold)
			x.decide("next turn", progress, turnIs("t2"), hold)
		},
		arrange: func(*Facts) {},
		action:  Deliver, outcome: "needs_human", reason: "superseded",
	}, {
		number:  5,
		arrange: failed,
		action:  Deliver, outcome: "failed", reason: "crash_guard",
	}, {
		number:  6,
		arrange: func(f *Facts) { f.Output.Hold = "background work" },
		action:  Deliver, outcome: "needs_human", reason: "hold",
	}, {
		number:  7,
		arrange: func(f *Facts) { f.Result.Type = classify.Blocker },
		action:  Deliver, outcome: "needs_human", reason: "blocker",
	}, {
		number:  8,
		arrange: func(f *Facts) { f.Result.Type = classify.Completion },
		action:  Deliver, outcome: "completed", reason: "completion",
	}, {
		number:  9,
		arrange: func(f *Facts) { f.Result.Confidence = 0.3 },
		action:  Deliver, outcome: "needs_human", reason: "low_confidence",
	}, {
		number:  10,
		prepare: func(x *session) { x.decide("which?", question, turnIs("t")) },
		arrange: func(*Facts) {},
		action:  Deliver, outcome: "needs_human", reason: "waiting",
	}, {
		number: 11,
		prepare: func(x *session) {
			x.decide("text", progress, turnIs("t"))
			x.decide("TEXT", progress, turnIs("t"))
		},
		arrange: func(*Facts) {},
		action:  Deliver, outcome: "stalled", reason: "repeat",
	}, {
		number:  12,
		arrange: func(f *Facts) { f.Output.Continues = 10 },
		action:  Deliver, outcome: "capped", reason: "cap",
	}, {
		number:  13,
		arrange: func(*Facts) {},
		action:  Continue, outcome: "continuing", reason: "progress",
	},
}

// Every set of rows that can hold at once, pairs among them: the first one wins.
func TestTheFirstRowThatHoldsWins(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	const last = 13
	for set := range 1 << (last - 1) {
		holds := func(n int) bool { return n == last || set&(1<<(n-1)) != 0 }
		if holds(2) && holds(5) || holds(7) && holds(8) { // a failed run's output is no duplicate; one output has one type
			continue
		}
		x := play(t, Policy{MaxContinues: 10})
		for i := len(tableRows) - 1; i >= 0; i-- {
			if r := tableRows[i]; holds(r.number) && r.prepare != nil && r.number != 4 {
				r.prepare(x)
			}
		}
		if r := tableRows[3]; holds(r.number) {
			r.prepare(x)
		}
		var want tableRow
		f := Facts{Output: Output{Session: "s", Turn: "t", Run: "r", Text: "text"}, Result: progress}
		for i := len(tableRows) - 1; i >= 0; i-- { // so that where two arrange the same, the first one's stays
			if r := tableRows[i]; holds(r.number) {
				r.arrange(&f)
				want = r
			}
		}
		name := fmt.Sprintf("rows %013b", set)
		d, _ := Decide(x.p, x.s, f)
		require.Equal(t, []any{want.action, want.outcome, want.reason, want.number == 1},
			[]any{d.Action, d.Outcome, d.Reason, d.Replayed}, name)

		known, _, ok := Known(x.s, f.Output)
		require.Equal(t, want.number <= 6, ok, name)
		if ok {
			d.Result = classify.Result{}
			require.Equal(t, known, d, name)
		}
	}
}
