package session

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/sidecoach/sidecoach/autocontinue"
)

func TestTurn(t *testing.T) {
	agent := says(claim, shown)
	w := newWorld(t, Config{Agent: true}, Activities{Agent: agent})
	w.say(0, "w1", "fix the cart")
	w.end(time.Minute)
	c := w.play()

	assert.Equal(t, []string{"run-2 deliver completion"}, w.box.said())
	assert.Equal(t, Counts{
		Runs: 1, Words: 1, Agents: 2, Outputs: 2, Delivered: 1, Continued: 1,
		Reasons: map[string]int{"rejected_completion": 1, "completion": 1},
	}, c)
	told := agent.told()
	require.Len(t, told, 2)
	assert.Equal(t, Prompt{Session: "s", Turn: "w1", Run: "run-1", From: "human", Message: "fix the cart"}, told[0])
	assert.Equal(t, "coach", told[1].From)
	assert.Equal(t, "w1", told[1].Turn)
	assert.NotEmpty(t, told[1].Decision)
	assert.Contains(t, told[1].Message, "[System Coach]")
}

func TestCapHolds(t *testing.T) {
	n := 0
	agent := &script{run: func(context.Context, int, Prompt) (Reply, error) {
		n++ // always something new, never anything shown
		return Reply{Text: progress + " So far I have looked at " + string(rune('a'+n)) + ".go."}, nil
	}}
	w := newWorld(t, Config{Agent: true, MaxContinues: 2}, Activities{Agent: agent})
	w.say(0, "w1", "fix the cart")
	w.end(time.Minute)
	w.play()
	assert.Equal(t, []string{"run-3 deliver cap"}, w.box.said())
	assert.Len(t, agent.told(), 3)
}

// TestHoursOfWaiting takes as long as its work does, whatever the clock of the session says.
func TestHoursOfWaiting(t *testing.T) {
	agent := says(question, claim, shown)
	w := newWorld(t, Config{Agent: true}, Activities{Agent: agent})
	w.say(0, "w1", "fix the cart")
	w.at(9*time.Hour, func() {
		assert.Equal(t, "waiting", w.view().Doing)
		assert.True(t, w.view().Handed)
	})
	w.say(30*time.Hour, "w2", "drop it")
	w.end(31 * time.Hour)
	w.play()
	assert.Equal(t, []string{"run-1 deliver question", "run-3 deliver completion"}, w.box.said())
	assert.GreaterOrEqual(t, w.Now().Sub(w.start), 31*time.Hour)
}

func TestReportedTwice(t *testing.T) {
	w := newWorld(t, Config{}, Activities{})
	w.say(0, "t1", "fix the cart")
	out := autocontinue.Output{Turn: "t1", Run: "r1", ID: "o1", Text: claim}
	other := out
	other.ID = "o1-callback"
	w.report(time.Second, out)
	w.report(2*time.Second, out)   // the queue delivers it again
	w.report(2*time.Second, other) // a callback reports the same pause
	w.report(time.Hour, out)
	w.report(2*time.Hour, autocontinue.Output{Turn: "t1", Run: "r2", ID: "o2", Text: shown})
	w.report(2*time.Hour, autocontinue.Output{Turn: "t1", Run: "r2", ID: "o2", Text: shown})
	w.end(3 * time.Hour)
	c := w.play()
	assert.Equal(t, []string{"r1 continue rejected_completion", "r2 deliver completion"}, w.box.said())
	assert.Len(t, w.box.tries, 2)
	assert.Equal(t, 3, c.Replayed)
	assert.Equal(t, 1, c.Suppressed)

	// The key is the decision's ID, which any other host would give it, too.
	want, err := heuristic(
		t,
	).Handle(t.Context(), autocontinue.Output{Session: "s", Turn: "t1", Run: "r1", ID: "o1", Text: claim})
	require.NoError(t, err)
	assert.Equal(t, want.ID, w.box.effects[0].Key)
	assert.Equal(t, want.Message, w.box.effects[0].Text)
}

// TestCallback reports the pause of the workflow's own agent before its run returns.
func TestCallback(t *testing.T) {
	var w *world
	agent := &script{run: func(_ context.Context, n int, p Prompt) (Reply, error) {
		if n > 1 {
			return Reply{Text: shown}, nil
		}
		w.SignalWorkflow(SignalOutput, autocontinue.Output{Turn: p.Turn, Run: p.Run, ID: "callback", Text: claim})
		return Reply{Text: claim}, nil
	}}
	w = newWorld(t, Config{Agent: true}, Activities{Agent: agent})
	w.say(0, "w1", "fix the cart")
	w.end(time.Minute)
	c := w.play()
	assert.Equal(t, []string{"run-2 deliver completion"}, w.box.said())
	assert.Equal(t, 1, c.Suppressed)
	assert.Len(t, agent.told(), 2, "one continuation a run")
}

// TestHumanInterrupts speaks while the agent runs. What a killed agent had printed comes only from a real server, see
// the tests of the program: the test environment does not wait for an activity that it cancels.
func TestHumanInterrupts(t *testing.T) {
	var w *world
	agent := &script{run: func(ctx context.Context, n int, p Prompt) (Reply, error) {
		if n > 1 {
			return Reply{Text: shown}, nil
		}
		w.SignalWorkflow(SignalWord, Word{ID: "w2", Text: "no, the wishlist"})
		<-ctx.Done() // it would go on for ever
		return Reply{Text: progress}, nil
	}}
	w = newWorld(t, Config{Agent: true, Heartbeat: time.Second}, Activities{Agent: agent})
	w.say(0, "w1", "fix the cart")
	w.end(2 * time.Minute)
	c := w.play()
	assert.Equal(t, []string{"run-2 deliver completion"}, w.box.said())
	assert.Equal(t, 2, c.Words)
	assert.Equal(t, 2, c.Agents)
	assert.Equal(t, "no, the wishlist", agent.told()[1].Message)
}

// TestHumanSpeaksWhileJudged speaks between the classification and the decision.
func TestHumanSpeaksWhileJudged(t *testing.T) {
	var w *world
	spoke := false
	w = newWorld(t, Config{Model: true}, Activities{Model: judgeFunc(t, func() {
		if !spoke {
			spoke = true
			w.SignalWorkflow(SignalWord, Word{ID: "t2", Text: "stop that"})
		}
	})})
	w.say(0, "t1", "fix the cart")
	w.report(time.Second, autocontinue.Output{Turn: "t1", Run: "r1", ID: "o1", Text: claim})
	w.report(time.Minute, autocontinue.Output{Run: "r2", ID: "o2", Text: claim})
	w.end(time.Hour)
	w.play()
	assert.Equal(t, []string{"r1 deliver superseded", "r2 continue rejected_completion"}, w.box.said())
}

// TestReportBeforeTheWord was sent before the human spoke, and was not looked at by then.
func TestReportBeforeTheWord(t *testing.T) {
	var w *world
	spoke := false
	w = newWorld(t, Config{Model: true}, Activities{Model: judgeFunc(t, func() {
		if !spoke {
			spoke = true
			w.SignalWorkflow(SignalOutput, autocontinue.Output{Run: "r2", ID: "o2", Text: claim})
			w.SignalWorkflow(SignalWord, Word{Text: "stop that"})
		}
	})})
	w.report(0, autocontinue.Output{Run: "r1", ID: "o1", Text: claim})
	w.report(time.Minute, autocontinue.Output{Run: "r3", ID: "o3", Text: claim})
	w.end(time.Hour)
	w.play()
	assert.Equal(t, []string{"r1 deliver superseded", "r2 deliver superseded", "r3 continue rejected_completion"},
		w.box.said())
}

func TestEffectsAreTriedAgain(t *testing.T) {
	box := &outbox{fail: func(try int) error {
		if try < 9 {
			return errors.New("the chat is down")
		}
		return nil
	}}
	w := newWorld(t, Config{}, Activities{Outbox: box})
	w.report(0, autocontinue.Output{Run: "r1", ID: "o1", Text: question})
	w.end(time.Second)
	c := w.play()
	assert.Len(t, box.tries, 9)
	assert.Equal(t, []string{"r1 deliver question"}, box.said())
	assert.Zero(t, c.Undone)
	for _, d := range box.tries {
		assert.Equal(t, box.tries[0].Key, d.Key)
	}
}

// TestHumanIsHeardWhileAEffectIsTried speaks while the chat is down for as long as the agent runs.
func TestHumanIsHeardWhileAEffectIsTried(t *testing.T) {
	var w *world
	tried, stopped := make(chan struct{}), make(chan struct{})
	box := &outbox{fail: func(try int) error {
		if try == 1 {
			close(tried)
		}
		select {
		case <-stopped:
			return nil
		default:
			return errors.New("the chat is down")
		}
	}}
	agent := &script{run: func(ctx context.Context, n int, _ Prompt) (Reply, error) {
		if n > 1 {
			return Reply{Text: shown}, nil
		}
		w.SignalWorkflow(SignalOutput, autocontinue.Output{Turn: "w1", Run: "sub", ID: "o1", Text: question})
		<-tried
		w.SignalWorkflow(SignalWord, Word{ID: "w2", Text: "stop that"})
		<-ctx.Done()
		close(stopped)
		return Reply{}, nil
	}}
	w = newWorld(t, Config{Agent: true, Heartbeat: time.Second}, Activities{Agent: agent, Outbox: box})
	w.say(0, "w1", "fix the cart")
	w.end(time.Hour)
	w.play()
	assert.Equal(t, []string{"sub deliver question", "run-2 deliver completion"}, box.said())
}

func TestEffectsAreRefused(t *testing.T) {
	box := &outbox{fail: func(try int) error {
		if try == 1 {
			return temporal.NewApplicationError("no such chat", ErrRefused)
		}
		return nil
	}}
	w := newWorld(t, Config{}, Activities{Outbox: box})
	w.report(0, autocontinue.Output{Run: "r1", ID: "o1", Text: question})
	w.report(time.Minute, autocontinue.Output{Run: "r2", ID: "o2", Text: question})
	w.end(time.Hour)
	c := w.play()
	assert.Equal(t, 1, c.Undone)
	assert.Equal(t, []string{"r2 deliver question"}, box.said())
}

// TestAgentsWorkerIsLost: an error of ours is tried again, under the same run; the human hears of one that stays.
func TestAgentsWorkerIsLost(t *testing.T) {
	agent := &script{run: func(_ context.Context, n int, p Prompt) (Reply, error) {
		if n != 3 {
			return Reply{}, errors.New("no memory")
		}
		return Reply{Text: shown}, nil
	}}
	w := newWorld(t, Config{Agent: true}, Activities{Agent: agent})
	w.say(0, "w1", "fix the cart")
	w.say(time.Hour, "w2", "fix the wishlist")
	w.end(2 * time.Hour)
	c := w.play()
	assert.Equal(t, []string{"run-1 deliver completion", "run-2 deliver crash_guard"}, w.box.said())
	assert.Len(t, agent.told(), 6)
	assert.Equal(t, 2, c.Agents)
	assert.Contains(t, w.box.effects[1].Text, "no memory")
}

func TestAgentFails(t *testing.T) {
	agent := &script{says: []Reply{{Text: "API Error: 529 overloaded", Failed: true}}}
	w := newWorld(t, Config{Agent: true}, Activities{Agent: agent})
	w.say(0, "w1", "fix the cart")
	w.end(time.Hour)
	w.play()
	assert.Equal(t, []string{"run-1 deliver crash_guard"}, w.box.said())
	assert.Len(t, agent.told(), 1)
}

// TestRunTakesTooLong: it is stopped, and not begun again.
func TestRunTakesTooLong(t *testing.T) {
	agent := &script{run: func(ctx context.Context, _ int, _ Prompt) (Reply, error) {
		<-ctx.Done()
		return Reply{Text: "I have got so far."}, nil
	}}
	w := newWorld(t, Config{Agent: true, RunLimit: 50 * time.Millisecond}, Activities{Agent: agent})
	w.say(0, "w1", "fix the cart")
	w.end(time.Hour)
	w.play()
	assert.Equal(t, []string{"run-1 deliver crash_guard"}, w.box.said())
	assert.Equal(t, "I have got so far.\n[stopped: the run took longer than its limit]", w.box.effects[0].Text)
	assert.Len(t, agent.told(), 1)
}

func TestCancelled(t *testing.T) {
	var w *world
	w = newWorld(t, Config{Model: true}, Activities{Model: judgeFunc(t, func() { w.CancelWorkflow() })})
	w.report(0, autocontinue.Output{Run: "r1", ID: "o1", Text: claim}) // cancelled while this is judged
	w.report(0, autocontinue.Output{Run: "r2", ID: "o2", Text: claim})
	w.ExecuteWorkflow(WorkflowName, Session{Name: "s", Config: w.config})
	require.True(t, w.IsWorkflowCompleted())
	assert.True(t, temporal.IsCanceledError(w.GetWorkflowError()), w.GetWorkflowError())
	assert.Equal(t, []string{"r1 deliver hold", "r2 deliver hold"}, w.box.said())
}

func TestAgentIsCancelled(t *testing.T) {
	var w *world
	agent := &script{run: func(ctx context.Context, n int, p Prompt) (Reply, error) {
		w.CancelWorkflow()
		<-ctx.Done()
		return Reply{}, nil
	}}
	w = newWorld(t, Config{Agent: true, Heartbeat: time.Second}, Activities{Agent: agent})
	w.say(0, "w1", "fix the cart")
	w.ExecuteWorkflow(WorkflowName, Session{Name: "s", Config: w.config})
	require.True(t, w.IsWorkflowCompleted())
	assert.True(t, temporal.IsCanceledError(w.GetWorkflowError()), w.GetWorkflowError())
	assert.Empty(t, w.box.said())
}

// TestLateReports come after the human has spoken twice, of turns that had no report before, and of one that had.
func TestLateReports(t *testing.T) {
	w := newWorld(t, Config{}, Activities{})
	w.say(0, "t1", "one")
	w.say(time.Second, "t2", "two")
	w.report(2*time.Second, autocontinue.Output{Turn: "t1", Run: "r1", ID: "o1", Text: claim})
	w.report(3*time.Second, autocontinue.Output{Turn: "t2", Run: "r2", ID: "o2", Text: claim})
	w.report(4*time.Second, autocontinue.Output{Turn: "t3", Run: "r3", ID: "o3", Text: claim}) // before its word
	w.say(5*time.Second, "t3", "three")
	w.report(6*time.Second, autocontinue.Output{Turn: "t3", Run: "r4", ID: "o4", Text: progress})
	w.report(7*time.Second, autocontinue.Output{Turn: "t2", Run: "r5", ID: "o5", Text: claim})
	w.end(time.Minute)
	w.play()
	assert.Equal(t, []string{
		"r1 deliver superseded", "r2 continue rejected_completion", "r3 continue rejected_completion",
		"r4 continue progress", "r5 deliver superseded",
	}, w.box.said())
}

// TestTurnLongForgotten is reported when the state, which knows nine turns, has forgotten it.
func TestTurnLongForgotten(t *testing.T) {
	w := newWorld(t, Config{}, Activities{})
	for i := range 20 {
		w.say(time.Duration(i)*time.Second, fmt.Sprint("t", i), "go on")
	}
	w.report(time.Minute, autocontinue.Output{Turn: "t3", Run: "r1", ID: "o1", Text: claim})
	w.report(time.Minute, autocontinue.Output{Turn: "t19", Run: "r2", ID: "o2", Text: claim})
	w.end(time.Hour)
	w.play()
	assert.Equal(t, []string{"r1 deliver superseded", "r2 continue rejected_completion"}, w.box.said())
}

// TestOldReports come again, or come late, when the state has forgotten decisions and turns. The current turn goes on.
func TestOldReports(t *testing.T) {
	w := newWorld(t, Config{}, Activities{})
	out := func(turn, n int) autocontinue.Output {
		return autocontinue.Output{Turn: fmt.Sprint("t", turn), Run: fmt.Sprint("r", n), ID: fmt.Sprint("o", n), Text: claim}
	}
	for i := range 30 {
		w.report(time.Duration(i)*time.Second, out(i, i))
	}
	w.report(time.Minute, out(2, 2))    // again
	w.report(time.Minute, out(3, 1003)) // late
	w.report(time.Hour, out(29, 1029))
	w.end(2 * time.Hour)
	c := w.play()
	said := w.box.said()
	require.Len(t, said, 32)
	assert.Equal(t,
		[]string{"r29 continue rejected_completion", "r1003 deliver superseded", "r1029 continue rejected_completion"},
		said[29:])
	assert.Equal(t, 1, c.Replayed)
	assert.Equal(t, 31, c.Continued)
}

func TestSignalsThatCannotBeUsed(t *testing.T) {
	w := newWorld(t, Config{}, Activities{})
	for _, send := range []func(){
		func() { w.SignalWorkflow(SignalWord, Word{}) },
		func() { w.SignalWorkflow(SignalWord, Word{Text: "[System Coach] go on"}) },
		func() { w.SignalWorkflow(SignalOutput, autocontinue.Output{Text: claim}) },
		func() { w.SignalWorkflow(SignalOutput, autocontinue.Output{ID: "o", Session: "other", Text: claim}) },
		func() { w.SignalWorkflow(SignalAnswer, map[string]string{"item": "x"}) },
	} {
		w.at(time.Second, send)
	}
	w.say(2*time.Second, "w1", "once")
	w.say(3*time.Second, "w1", "once")
	w.at(time.Minute, func() {
		v := w.view()
		assert.Len(t, v.Refused, 5, v.Refused)
		assert.Equal(t, 1, v.Counts.Words)
	})
	w.end(time.Hour)
	w.say(time.Hour, "w2", "too late")
	c := w.play()
	assert.Zero(t, c.Outputs)
	assert.Empty(t, w.box.said())
}

func TestConfigThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		s    Session
		want string
	}{
		"no name":          {Session{}, "session"},
		"too many":         {Session{Name: "s", Config: Config{MaxContinues: 5000}}, "MaxContinues"},
		"a time below 0":   {Session{Name: "s", Config: Config{ApprovalTTL: -1}}, "below 0"},
		"hardly any event": {Session{Name: "s", Config: Config{Events: 5}}, "100 to 40000"},
		"a broken journal": {Session{Name: "s", RunGate: []byte("{}\n")}, "approvals"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Config{}, Activities{})
			w.ExecuteWorkflow(WorkflowName, c.s)
			var app *temporal.ApplicationError
			require.ErrorAs(t, w.GetWorkflowError(), &app)
			assert.True(t, app.NonRetryable())
			assert.Contains(t, app.Message(), c.want)
		})
	}
}

// TestEndWaits: what is going on is finished, and judged.
func TestEndWaits(t *testing.T) {
	var w *world
	agent := &script{run: func(_ context.Context, n int, _ Prompt) (Reply, error) {
		if n == 1 {
			w.SignalWorkflow(SignalEnd, nil)
			return Reply{Text: claim}, nil
		}
		return Reply{Text: shown}, nil
	}}
	w = newWorld(t, Config{Agent: true}, Activities{Agent: agent})
	w.say(0, "w1", "fix the cart")
	w.play()
	assert.Equal(t, []string{"run-2 deliver completion"}, w.box.said())
}
