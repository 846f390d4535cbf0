package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/classify"
)

// run executes one run of the workflow, and returns what the next one begins with, or nil and the session's counts.
func (w *world) run(s Session) (*Session, Counts) {
	w.t.Helper()
	w.ExecuteWorkflow(WorkflowName, s)
	require.True(w.t, w.IsWorkflowCompleted())
	err := w.GetWorkflowError()
	var next *workflow.ContinueAsNewError
	if errors.As(err, &next) {
		assert.Equal(w.t, WorkflowName, next.WorkflowType.Name)
		var s Session
		require.NoError(w.t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &s))
		return &s, Counts{}
	}
	require.NoError(w.t, err)
	var c Counts
	require.NoError(w.t, w.GetWorkflowResult(&c))
	return nil, c
}

// TestContinueAsNew: the next run knows the turn's count, what was handled, and what was not.
func TestContinueAsNew(t *testing.T) {
	box := &outbox{}
	out := func(n int) autocontinue.Output {
		return autocontinue.Output{
			Turn: "t1",
			Run:  fmt.Sprint("r", n),
			ID:   fmt.Sprint("o", n),
			Text: fmt.Sprintf("%s Then part %c.", progress, 'a'+n),
		}
	}
	w := newWorld(t, Config{}, Activities{Outbox: box})
	w.say(0, "t1", "fix the cart")
	w.report(time.Second, out(1))
	w.report(2*time.Second, out(2))
	w.at(time.Hour, func() {
		// All in one task, the last of this run.
		w.SetContinueAsNewSuggested(true)
		w.SignalWorkflowSkippingWorkflowTask(SignalOutput, out(1))
		w.SignalWorkflowSkippingWorkflowTask(SignalOutput, out(3))
		w.SignalWorkflowSkippingWorkflowTask(SignalEnd, nil)
		w.SignalWorkflow(SignalOutput, out(4))
	})
	next, _ := w.run(Session{Name: "s"})
	require.NotNil(t, next)
	assert.Len(t, box.said(), 2)
	assert.Equal(t, 2, next.State.Continues)
	assert.Len(t, next.Outputs, 3)
	assert.True(t, next.Ending)
	assert.Equal(t, 1, next.Counts.Runs)

	last, c := newWorld(t, Config{}, Activities{Outbox: box}).run(*next)
	require.Nil(t, last)
	assert.Equal(t, []string{"r1 continue progress", "r2 continue progress", "r3 continue progress", "r4 deliver cap"},
		box.said())
	assert.Equal(t, 1, c.Replayed)
	assert.Equal(t, 5, c.Outputs)
	assert.Equal(t, 2, c.Runs)
}

// TestContinueAsNewWaitsForTheAgent: a run that is due ends only when the agent has paused; reports wait meanwhile.
func TestContinueAsNewWaitsForTheAgent(t *testing.T) {
	box := &outbox{}
	var w *world
	agent := &script{run: func(_ context.Context, n int, _ Prompt) (Reply, error) {
		w.SignalWorkflow(SignalOutput, autocontinue.Output{Turn: "w1", Run: "sub", ID: "o1", Text: question})
		return Reply{Text: claim}, nil
	}}
	w = newWorld(t, Config{Agent: true}, Activities{Agent: agent, Outbox: box})
	w.at(0, func() {
		w.SignalWorkflow(SignalWord, Word{ID: "w1", Text: "fix the cart"})
	})
	w.SetOnActivityStartedListener(
		func(*activity.Info, context.Context, converter.EncodedValues) { w.SetContinueAsNewSuggested(true) },
	)
	next, _ := w.run(Session{Name: "s", Config: w.config})
	require.NotNil(t, next)
	assert.Empty(t, box.said())
	require.Len(t, next.Outputs, 2)
	assert.Equal(t, "sub", next.Outputs[0].Run)
	assert.Equal(t, claim, next.Outputs[1].Text)
	assert.Equal(t, "w1", next.Turn)
}

// TestApprovalOutlivesTheRun: what is asked stays asked, to the same digest and the same minute.
func TestApprovalOutlivesTheRun(t *testing.T) {
	for name, approve := range map[string]bool{"approved": true, "not answered": false} {
		t.Run(name, func(t *testing.T) {
			box := &outbox{}
			agent := says(claim, shown)
			w := newWorld(t, Config{Agent: true, Gate: rules(t, coached), ApprovalTTL: 3 * time.Hour},
				Activities{Agent: agent, Outbox: box})
			w.say(0, "w1", "fix the cart")
			var it gate.Item
			w.at(time.Hour, func() {
				it = w.asked()
				w.SetContinueAsNewSuggested(true)
				w.SignalWorkflow(SignalWord, Word{}) // wakes it up
			})
			next, _ := w.run(Session{Name: "s", Config: w.config})
			require.NotNil(t, next)
			assert.NotEmpty(t, next.RunGate)

			v := newWorld(t, w.config, Activities{Agent: agent, Outbox: box})
			v.SetStartTime(w.Now())
			v.at(time.Hour, func() {
				again := v.asked()
				assert.Equal(t, it.Digest, again.Digest)
				assert.True(t, it.Expires.Equal(again.Expires))
			})
			if approve {
				v.answers(90*time.Minute, gate.Approve, nil)
			}
			v.at(119*time.Minute, func() { assert.Equal(t, !approve, len(v.view().Asked) == 1) })
			v.at(121*time.Minute, func() { assert.Empty(t, v.view().Asked) })
			v.end(4 * time.Hour)
			last, _ := v.run(*next)
			require.Nil(t, last)
			if approve {
				assert.Equal(t, []string{"run-2 deliver completion"}, box.said())
			} else {
				assert.Equal(t, []string{"run-2 deliver hold"}, box.said())
			}
		})
	}
}

// TestBacklogTooLargeToCarry is handled before the run ends.
func TestBacklogTooLargeToCarry(t *testing.T) {
	box := &outbox{}
	w := newWorld(t, Config{}, Activities{Outbox: box})
	w.at(time.Second, func() {
		w.SetContinueAsNewSuggested(true)
		for i := range 8 {
			text := fmt.Sprintf("%s %d %s", strings.Repeat("log line of a build\n", 15_000), i, question)
			w.SignalWorkflowSkippingWorkflowTask(SignalOutput,
				autocontinue.Output{Run: fmt.Sprint("r", i), ID: fmt.Sprint("o", i), Text: text})
		}
		w.SignalWorkflow(SignalEnd, nil)
	})
	next, _ := w.run(Session{Name: "s"})
	require.NotNil(t, next)
	handled := len(box.said())
	assert.Positive(t, handled)
	assert.Less(t, handled, 8)
	assert.Equal(t, 8, handled+len(next.Outputs))
	_, c := newWorld(t, Config{}, Activities{Outbox: box}).run(*next)
	assert.Equal(t, 8, c.Outputs)
	assert.Len(t, box.said(), 8)
	for _, d := range box.effects {
		assert.LessOrEqual(t, len(d.Text), maxText)
		assert.True(t, utf8.ValidString(d.Text))
		assert.True(t, strings.HasSuffix(d.Text, question), "the end of an output counts most")
	}
}

// TestReportTooLarge: the human sees what no activity could be given.
func TestReportTooLarge(t *testing.T) {
	w := newWorld(t, Config{Model: true}, Activities{})
	evidence := []classify.Evidence{{Kind: classify.EvidenceOutput, Text: strings.Repeat("x", 3<<19)}}
	w.report(0, autocontinue.Output{Run: "r1", ID: "o1", Text: claim, Evidence: evidence})
	w.report(0, autocontinue.Output{Run: "r2", ID: strings.Repeat("o", 3<<19), Text: claim})
	w.at(time.Second, func() { assert.Empty(t, w.view().Refused) })
	w.end(time.Minute)
	w.play()
	assert.Equal(t, []string{"r1 deliver hold", "r2 continue rejected_completion"}, w.box.said())
	assert.Equal(t, claim, w.box.effects[0].Text)
}

// TestLongSession reports 3,000 outputs, with SIDECOACH_ALL=1 10,000, and as many duplicates to one session, over as
// many runs as it takes, and compares it with one process that never stops. The length of history is what a server
// counted for such an output, see the README.
func TestLongSession(t *testing.T) {
	outputs, events := 3_000, 12
	if os.Getenv("SIDECOACH_ALL") != "" {
		outputs = 10_000
	}
	texts := []string{claim, progress, shown, question}
	var queue []autocontinue.Output
	for i := range outputs {
		out := autocontinue.Output{
			Session: "s", Turn: fmt.Sprint("t", i/6), Run: fmt.Sprint("r", i), ID: fmt.Sprint("o", i),
			Text: fmt.Sprint(texts[i*7%len(texts)], " Part ", i%5, "."),
		}
		queue = append(queue, out, out)
	}
	one := heuristic(t)
	want := make(map[string]string)
	for _, out := range queue {
		d, err := one.Handle(t.Context(), out)
		require.NoError(t, err)
		if !d.Replayed && d.Action != autocontinue.Suppress {
			want[d.ID] = out.Run + " " + d.Action.String() + " " + string(d.Reason)
		}
	}

	box := &outbox{}
	next, sent, runs := &Session{Name: "s"}, 0, 0
	for next != nil {
		w := newWorld(t, Config{}, Activities{Outbox: box, Judge: one})
		w.SetTestTimeout(2 * time.Minute)
		length := 0
		var feed func()
		feed = func() {
			for range 10 {
				if sent == len(queue) {
					w.SignalWorkflow(SignalEnd, nil)
					return
				}
				length += events
				w.SetCurrentHistoryLength(length)
				w.SignalWorkflow(SignalOutput, queue[sent])
				sent++
			}
			w.RegisterDelayedCallback(feed, time.Second)
		}
		w.at(time.Second, feed)
		var c Counts
		before := *next
		next, c = w.run(before)
		if next != nil {
			c = next.Counts
			// What was sent when the run had ended is not the run's: a server would have given it to the next one.
			sent = c.Outputs + len(next.Outputs)
		}
		runs++
		require.Equal(t, runs, c.Runs)
		require.Less(t, length, 11_000, "of one run, by far less than 51,200")
		require.Less(t, before.Counts.Outputs, c.Outputs)
	}
	assert.GreaterOrEqual(t, runs, len(queue)*events/11_000)
	got := make(map[string]string)
	for _, d := range box.effects {
		got[d.Key] = fmt.Sprint(d.Run, " ", d.Action, " ", d.Reason)
	}
	assert.Equal(t, want, got)
	assert.Len(t, box.tries, len(want), "nothing was even tried twice")
}

func TestClip(t *testing.T) {
	short := strings.Repeat("é", maxText/2)
	assert.Equal(t, short, clip(short))
	long := clip("a" + strings.Repeat("é", maxText))
	assert.LessOrEqual(t, len(long), maxText)
	assert.True(t, utf8.ValidString(long))
	assert.True(t, strings.HasPrefix(long, "aé"))
	assert.Contains(t, long, "[…]")
	assert.Empty(t, clip(""))
}
