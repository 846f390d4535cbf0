package sidecoachotel

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// The last output of each row is the one that is measured.
func TestEveryRowOfTheTable(t *testing.T) {
	type pause struct {
		says classify.Result
		out  autocontinue.Output
	}
	unsure := progress
	unsure.Confidence = 0.5
	of := func(r classify.Result, out autocontinue.Output) pause {
		if out.Text == "" {
			out.Text = "text"
		}
		return pause{r, out}
	}
	type m = map[string]any
	heuristic := func(typ string, rejected bool) m {
		return m{"sidecoach.type": typ, "sidecoach.rejected": rejected, "sidecoach.source": "heuristic"}
	}
	none := m{}
	for _, tt := range []struct {
		row                     string
		pauses                  []pause
		action, outcome, reason string
		replayed                bool
		judged                  m
		continues               any // of turnContinues; nil is not recorded
		tier                    string
	}{
		{row: "1", pauses: []pause{of(progress, autocontinue.Output{ID: "1"}), of(progress, autocontinue.Output{ID: "1"})},
			action: "continue", outcome: "continuing", reason: "progress", replayed: true, judged: none},
		{row: "1, over", pauses: []pause{of(progress, autocontinue.Output{Turn: "a", ID: "1"}),
			of(progress, autocontinue.Output{Turn: "b"}), of(progress, autocontinue.Output{Turn: "a", ID: "1"})},
			action: "deliver", outcome: "needs_human", reason: "superseded", replayed: true, judged: none},
		{row: "2", pauses: []pause{of(completion, autocontinue.Output{Run: "r"}),
			of(completion, autocontinue.Output{Run: "r"})},
			action: "suppress", outcome: "duplicate", reason: "run_closed", judged: none},
		{row: "3", pauses: []pause{of(question, autocontinue.Output{Run: "r"}), of(question, autocontinue.Output{Run: "r"})},
			action: "suppress", outcome: "duplicate", reason: "same_text", judged: none},
		{row: "4", pauses: []pause{of(progress, autocontinue.Output{Turn: "a"}),
			of(progress, autocontinue.Output{Turn: "b"}), of(progress, autocontinue.Output{Turn: "a"})},
			action: "deliver", outcome: "needs_human", reason: "superseded", judged: none},
		{row: "5", pauses: []pause{of(progress, autocontinue.Output{Failed: true})},
			action: "deliver", outcome: "failed", reason: "crash_guard", judged: none, continues: 0},
		{row: "6", pauses: []pause{of(progress, autocontinue.Output{Hold: "plan mode"})},
			action: "deliver", outcome: "needs_human", reason: "hold", judged: none},
		{row: "7, error", pauses: []pause{of(crash, autocontinue.Output{})},
			action: "deliver", outcome: "failed", reason: "crash_guard", judged: heuristic("error", false), continues: 0},
		{row: "7, question", pauses: []pause{of(progress, autocontinue.Output{}),
			of(question, autocontinue.Output{Text: "which?"})},
			action: "deliver", outcome: "needs_human", reason: "question", judged: heuristic("question", false), continues: 1},
		{row: "7, blocker", pauses: []pause{of(blocker, autocontinue.Output{})},
			action: "deliver", outcome: "needs_human", reason: "blocker", judged: heuristic("blocker", false), continues: 0},
		{row: "8", pauses: []pause{of(completion, autocontinue.Output{})},
			action: "deliver", outcome: "completed", reason: "completion", judged: heuristic("completion", false), continues: 0},
		{row: "9", pauses: []pause{of(unsure, autocontinue.Output{})},
			action: "deliver", outcome: "needs_human", reason: "low_confidence", judged: heuristic("status", false),
			continues: 0},
		{row: "10", pauses: []pause{of(question, autocontinue.Output{}), of(progress, autocontinue.Output{Text: "on it"})},
			action: "deliver", outcome: "needs_human", reason: "waiting", judged: heuristic("status", false)},
		{row: "11", pauses: []pause{of(rejected, autocontinue.Output{}), of(rejected, autocontinue.Output{}),
			of(rejected, autocontinue.Output{})},
			action: "deliver", outcome: "stalled", reason: "repeat", judged: heuristic("status", true), continues: 2},
		{row: "12", pauses: []pause{of(progress, autocontinue.Output{Continues: 3})},
			action: "deliver", outcome: "capped", reason: "cap", judged: heuristic("status", false), continues: 3},
		{row: "13, empty", pauses: []pause{of(progress, autocontinue.Output{Text: " "})},
			action: "continue", outcome: "continuing", reason: "empty", judged: heuristic("status", false), tier: "plain"},
		{row: "13, rejected", pauses: []pause{of(rejected, autocontinue.Output{})},
			action: "continue", outcome: "continuing", reason: "rejected_completion", judged: heuristic("status", true),
			tier: "rejection"},
		{row: "13", pauses: []pause{of(progress, autocontinue.Output{})},
			action: "continue", outcome: "continuing", reason: "progress", judged: heuristic("status", false), tier: "plain"},
	} {
		t.Run(tt.row, func(t *testing.T) {
			l := newLoop(t, autocontinue.Config{})
			last := len(tt.pauses) - 1
			for _, p := range tt.pauses[:last] {
				l.handle(t, p.says, p.out)
			}
			before := l.collect(t)
			d := l.handle(t, tt.pauses[last].says, tt.pauses[last].out)
			after := l.collect(t)

			want := m{
				"sidecoach.action":   tt.action,
				"sidecoach.outcome":  tt.outcome,
				"sidecoach.reason":   tt.reason,
				"sidecoach.replayed": tt.replayed,
			}
			for k, v := range tt.judged {
				want[k] = v
			}
			assert.Equal(t, []point{{want, 1, 1}}, added(before[decisions.name], after[decisions.name]))

			took := added(before[handleDuration.name], after[handleDuration.name])
			require.Len(t, took, 1)
			wantTook := m{"sidecoach.action": tt.action}
			if source, ok := tt.judged["sidecoach.source"]; ok {
				wantTook["sidecoach.source"] = source
			}
			assert.Equal(t, wantTook, took[0].attrs)

			turns := added(before[turnContinues.name], after[turnContinues.name])
			if tt.continues == nil {
				assert.Empty(t, turns)
			} else {
				assert.Equal(t, []point{{m{"sidecoach.outcome": tt.outcome}, 1, float64(tt.continues.(int))}}, turns)
			}
			words := added(before[messages.name], after[messages.name])
			if tt.tier == "" {
				assert.Empty(t, words)
			} else {
				assert.Equal(t, []point{{m{"sidecoach.tier": tt.tier}, 1, 1}}, words)
			}

			span := attrs(l.span(t, "sidecoach.handle").Attributes())
			for k, v := range want {
				assert.Equal(t, v, span[k], k)
			}
			assert.Equal(t, "s", span["gen_ai.conversation.id"])
			assert.Equal(t, d.ID, span["sidecoach.decision.id"])
			assert.EqualValues(t, d.Continues, span["sidecoach.continues"])
		})
	}
}

// The last row of the table, by what failed.
func TestErrorsOfOurs(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		code string
	}{
		{"conflict", autocontinue.ErrConflict, "store_conflict"},
		{"unavailable", autocontinue.ErrUnavailable, "store_unavailable"},
		{"version", autocontinue.ErrStateVersion, "state_version"},
		{"timeout", context.DeadlineExceeded, "timeout"},
		{"cancelled", context.Canceled, "canceled"},
		{"anything", errBoom, "_OTHER"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLoop(t, autocontinue.Config{Store: &failingStore{err: tt.err}})
			l.says = func(context.Context, classify.Input) (classify.Result, error) { return progress, nil }
			_, err := l.Handle(t.Context(), autocontinue.Output{Session: "s", Text: "x"})
			require.ErrorIs(t, err, tt.err)
			series := l.collect(t)
			assert.Equal(t, []point{{map[string]any{
				"sidecoach.action": "deliver", "sidecoach.outcome": "needs_human", "sidecoach.reason": "error",
				"sidecoach.replayed": false, "sidecoach.type": "status", "sidecoach.rejected": false,
				"sidecoach.source": "heuristic", "error.type": tt.code,
			}, 1, 1}}, series[decisions.name])
			var steps []map[string]any
			for _, p := range series[stepDuration.name] {
				steps = append(steps, p.attrs)
			}
			assert.ElementsMatch(t, []map[string]any{
				{"sidecoach.step": "load"}, {"sidecoach.step": "classify"}, {"sidecoach.step": "update", "error.type": tt.code},
			}, steps)
			for _, name := range []string{"sidecoach.handle", "sidecoach.update"} {
				span := l.span(t, name)
				assert.Equal(t, "Error", span.Status().Code.String(), name)
				assert.Contains(t, span.Status().Description, tt.err.Error(), name)
				assert.Equal(t, tt.code, attrs(span.Attributes())["error.type"], name)
			}
			assert.Equal(t, "Unset", l.span(t, "sidecoach.classify").Status().Code.String())
		})
	}

	l := newLoop(t, autocontinue.Config{})
	_, err := l.Handle(t.Context(), autocontinue.Output{Text: "x"})
	require.ErrorIs(t, err, autocontinue.ErrNoSession)
	assert.Equal(t, "no_session", l.collect(t)[decisions.name][0].attrs["error.type"])
	l.says = func(context.Context, classify.Input) (classify.Result, error) { return classify.Result{}, errBoom }
	_, err = l.Handle(t.Context(), autocontinue.Output{Session: "s", Text: "x"})
	require.ErrorIs(t, err, errBoom)
	assert.Equal(t, "_OTHER", attrs(l.span(t, "sidecoach.classify").Attributes())["error.type"])
}

// failingStore fails every update after calling its function.
type failingStore struct {
	autocontinue.MemoryStore
	err error
}

func (s *failingStore) Update(ctx context.Context, session string,
	fn func(autocontinue.State) (autocontinue.State, error)) error {
	state, err := s.Load(ctx, session)
	if err != nil {
		return err
	}
	if _, err := fn(state); err != nil {
		return err
	}
	return s.err
}
