package gate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// inPhase brings a run there and returns what is open or executing in it.
func inPhase(d *fixture, p Phase) Item {
	it := d.propose(contextOf("r"))
	switch p {
	case staged:
		return it
	case stopped:
		return d.resolve(it, Deny, "")
	}
	d.resolve(it, Approve, "")
	d.redeem(it)
	switch p {
	case toolProposed, toolExecuting:
		it = d.propose(call("r", "c", "weight_delete", `{}`))
	case responseProposed, finished:
		it = d.propose(draft("r", "hello"))
	}
	if p == toolExecuting || p == finished {
		d.resolve(it, Approve, "")
		d.redeem(it)
	}
	return it
}

func TestTransitions(t *testing.T) {
	type outcome map[Phase]any // the phase that follows, or the error
	for name, tt := range map[string]struct {
		do   func(d *fixture, it Item) error
		want outcome
	}{
		"propose a tool": {
			func(d *fixture, it Item) error {
				return second(d.Propose(d.now, call("r", "new", "weight_delete", `{}`)))
			},
			outcome{noRun: ErrIllegal, staged: ErrIllegal, running: toolProposed, toolProposed: toolProposed,
				toolExecuting: toolProposed, responseProposed: ErrIllegal, finished: ErrIllegal, stopped: ErrIllegal},
		},
		"propose a response": {
			func(d *fixture, it Item) error { return second(d.Propose(d.now, draft("r", "new"))) },
			outcome{noRun: ErrIllegal, staged: ErrIllegal, running: responseProposed, toolProposed: ErrIllegal,
				toolExecuting: ErrIllegal, responseProposed: ErrIllegal, finished: ErrIllegal, stopped: ErrIllegal},
		},
		"done": {
			func(d *fixture, it Item) error { return second(d.Done(d.now, it.ID, json.RawMessage(`1`))) },
			outcome{noRun: ErrIllegal, staged: ErrIllegal, running: ErrIllegal, toolProposed: ErrIllegal,
				toolExecuting: running, responseProposed: ErrIllegal, finished: ErrIllegal, stopped: ErrIllegal},
		},
		"deny": {
			func(d *fixture, it Item) error { return second(d.Resolve(d.now, d.decision(it, Deny, ""))) },
			outcome{noRun: ErrIllegal, staged: stopped, running: ErrDecided, toolProposed: running, toolExecuting: ErrDecided,
				responseProposed: running, finished: ErrDecided, stopped: stopped},
		},
		"stop": {
			func(d *fixture, it Item) error { return second(d.Resolve(d.now, d.decision(it, Stop, ""))) },
			outcome{noRun: ErrIllegal, staged: stopped, running: ErrDecided, toolProposed: stopped, toolExecuting: ErrDecided,
				responseProposed: stopped, finished: ErrDecided, stopped: ErrDecided},
		},
		"finish": {
			func(d *fixture, it Item) error { return d.Finish(d.now, "r", "") },
			outcome{noRun: ErrIllegal, staged: finished, running: finished, toolProposed: finished, toolExecuting: finished,
				responseProposed: finished, finished: finished, stopped: ErrIllegal},
		},
		"stop the run": {
			func(d *fixture, it Item) error { return d.StopRun(d.now, "r", "ann", "") },
			outcome{noRun: ErrIllegal, staged: stopped, running: stopped, toolProposed: stopped, toolExecuting: stopped,
				responseProposed: stopped, finished: ErrIllegal, stopped: stopped},
		},
		"redeem": {
			func(d *fixture, it Item) error { return second(d.Redeem(d.now, it.ID)) },
			outcome{noRun: ErrIllegal, staged: ErrPending, running: ErrDecided, toolProposed: ErrPending, toolExecuting: ErrDecided,
				responseProposed: ErrPending, finished: ErrDecided, stopped: ErrDenied},
		},
	} {
		for from, want := range tt.want {
			t.Run(fmt.Sprintf("%s while %q", name, from), func(t *testing.T) {
				d := open(t, someRules)
				var it Item
				if from != noRun {
					it = inPhase(d, from)
				}
				require.Equal(t, from, d.Phase("r"))
				before := d.seq()
				err := tt.do(d, it)
				if phase, ok := want.(Phase); ok {
					require.NoError(t, err)
					require.Equal(t, phase, d.Phase("r"))
				} else {
					require.ErrorIs(t, err, want.(error))
					require.Equal(t, from, d.Phase("r"))
					require.Equal(t, before, d.seq())
				}
				require.Equal(t, inside(d.Session), inside(d.again(someRules)))
			})
		}
	}
}

func TestParallelCalls(t *testing.T) {
	d := open(t, someRules)
	run := d.started("r")
	var calls []Item
	for i := range 4 {
		calls = append(calls, d.propose(call(run, fmt.Sprint("c", i), "weight_delete", fmt.Sprintf(`{"id":%d}`, i))))
	}
	require.Len(t, d.Pending(), 4)
	d.resolve(calls[2], Approve, "")
	d.redeem(calls[2])
	require.Equal(t, toolProposed, d.Phase(run), "three wait")
	require.Equal(t, "no", d.resolveFor(calls[0], Deny, "no").Reason, "which the model can read")
	d.resolve(calls[1], Respond, `"later"`)
	d.resolve(calls[3], Approve, "")
	require.Equal(t, toolProposed, d.Phase(run), "one is approved and not redeemed")
	d.redeem(calls[3])
	require.Equal(t, toolExecuting, d.Phase(run))
	_, err := d.Propose(d.now, draft(run, "too early"))
	require.ErrorIs(t, err, ErrIllegal)
	for _, i := range []int{3, 2} {
		require.Equal(t, toolExecuting, d.Phase(run))
		_, err := d.Done(d.now, calls[i].ID, json.RawMessage(`true`))
		require.NoError(t, err)
	}
	require.Equal(t, running, d.Phase(run))
	_, err = d.Done(d.now, calls[2].ID, json.RawMessage(`true`))
	require.NoError(t, err, "the same again")
	got, err := d.Done(d.now, calls[2].ID, json.RawMessage(`false`))
	require.ErrorIs(t, err, ErrDecided)
	require.Equal(t, `true`, string(got.Result))
}

func (d *fixture) resolveFor(it Item, a Action, reason string) Item {
	d.t.Helper()
	dec := d.decision(it, a, "")
	dec.Reason = reason
	got, err := d.Resolve(d.now, dec)
	require.NoError(d.t, err)
	return got
}

func TestDeniedDraftIsDraftedAgain(t *testing.T) {
	d := open(t, someRules)
	run := d.started("r")
	first := d.propose(draft(run, "one"))
	require.Equal(t, first.ID, d.propose(draft(run, "one")).ID)
	d.resolve(first, Deny, "")
	next := d.propose(draft(run, "two"))
	d.resolve(next, Approve, "")
	require.Equal(t, next.ID, d.propose(draft(run, "two")).ID)
	d.redeem(next)
	require.Equal(t, next.ID, d.propose(draft(run, "two")).ID, "also when the run is finished")
	_, err := d.Propose(d.now, draft(run, "three"))
	require.ErrorIs(t, err, ErrIllegal)
}

func TestSubjectsThatAreNone(t *testing.T) {
	d := open(t, someRules)
	for name, change := range map[string]func(*Subject){
		"no kind":               func(s *Subject) { s.Kind = "" },
		"no thread":             func(s *Subject) { s.Thread = "" },
		"no run":                func(s *Subject) { s.Run = "" },
		"no call":               func(s *Subject) { s.Call = "" },
		"no tool":               func(s *Subject) { s.Tool = "" },
		"a wildcard":            func(s *Subject) { s.Tool = "*" },
		"a tool like another":   func(s *Subject) { s.Tool = "weight_dеlete" }, // a Cyrillic letter
		"a tool with a blank":   func(s *Subject) { s.Tool = "weight_delete " },
		"a long tool":           func(s *Subject) { s.Tool = strings.Repeat("a", maxTool+1) },
		"a run with a disguise": func(s *Subject) { s.Run = "r\u200b" },
		"a call with a line":    func(s *Subject) { s.Call = "c\n" },
		"a long thread":         func(s *Subject) { s.Thread = strings.Repeat("a", maxID+1) },
		"a run of bytes":        func(s *Subject) { s.Run = "\xff" },
		"a long label":          func(s *Subject) { s.Label = strings.Repeat("a", maxLabel+1) },
		"a label of bytes":      func(s *Subject) { s.Label = "\xff" },
		"a context with a tool": func(s *Subject) { s.Kind = Context },
		"a draft with a call":   func(s *Subject) { s.Kind, s.Tool = Response, "" },
	} {
		t.Run(name, func(t *testing.T) {
			sub := call("r", "c", "weight_delete", `{}`)
			change(&sub)
			_, err := d.Propose(d.now, sub)
			require.ErrorIs(t, err, ErrInput)
		})
	}
}

func TestFull(t *testing.T) {
	d := open(t, someRules, func(o *Options) { o.limits.open = 2 })
	one := d.propose(contextOf("r1"))
	d.propose(contextOf("r2"))
	_, err := d.Propose(d.now, contextOf("r3"))
	require.ErrorIs(t, err, ErrIllegal)
	d.resolve(one, Approve, "")
	_, err = d.Propose(d.now, contextOf("r3"))
	require.ErrorIs(t, err, ErrIllegal, "approved ones count until they are redeemed")
	d.redeem(one)
	d.propose(contextOf("r3"))
}

func TestRunThatGoesOnAndOn(t *testing.T) {
	d := open(t, someRules, func(o *Options) { o.limits.runItems, o.limits.denials = 4, 100 })
	run := d.started("r")
	for i := range 3 {
		d.propose(call(run, fmt.Sprint("c", i), "unheard_of", fmt.Sprintf(`{"n":%d}`, i)))
	}
	_, err := d.Propose(d.now, call(run, "c9", "unheard_of", `{}`))
	require.ErrorIs(t, err, ErrIllegal)
	require.Equal(t, Denied, d.propose(call(run, "c2", "unheard_of", `{"n":2}`)).Status, "the same again is none more")
}

func TestOldRunsAreForgotten(t *testing.T) {
	d := open(t, someRules, func(o *Options) { o.limits.keepRuns = 2 })
	busy := d.propose(call(d.started("busy"), "c", "profile_get", `{}`))
	d.redeem(busy)
	require.NoError(t, d.StopRun(d.now, "busy", "ann", ""))
	for i := range 5 {
		run := d.started(fmt.Sprint("r", i))
		require.NoError(t, d.Finish(d.now, run, ""))
	}
	require.Len(t, with(d.Session, Redeemed), 1, "what executes is kept")
	require.Equal(t, finished, d.Phase("r0"))
	require.Equal(t, stopped, d.Phase("busy"))
	require.NoError(t, d.Finish(d.now, "r0", ""))
	require.ErrorIs(t, d.StopRun(d.now, "r0", "ann", ""), ErrIllegal)
	require.Empty(t, d.Items("r0"))
	_, err := d.Propose(d.now, call("r0", "c", "profile_get", `{}`))
	require.ErrorIs(t, err, ErrIllegal)
	_, err = d.Done(d.now, busy.ID, json.RawMessage(`1`))
	require.NoError(t, err)
	require.NoError(t, d.Finish(d.now, d.started("last"), ""))
	require.Len(t, d.Runs(), 2)
	require.Len(t, d.st.items, 2)
	_, ok := d.Item(busy.ID)
	require.False(t, ok)
	require.Equal(t, inside(d.Session), inside(d.again(someRules)))
}

func TestLateResultLetsItsRunGo(t *testing.T) {
	d := open(t, someRules, func(o *Options) { o.limits.keepRuns = 1 })
	busy := d.propose(call(d.started("busy"), "c", "profile_get", `{}`))
	d.redeem(busy)
	require.NoError(t, d.Finish(d.now, "busy", ""))
	require.NoError(t, d.Finish(d.now, d.started("last"), ""))
	require.Len(t, d.Runs(), 2)
	got, err := d.Done(d.now, busy.ID, json.RawMessage(`1`))
	require.NoError(t, err)
	require.Equal(t, Done, got.Status)
	require.Len(t, d.Runs(), 1)
	require.Equal(t, inside(d.Session), inside(d.again(someRules)))
}

// Payloads of megabytes are kept for as long as there is room for them, whatever the number of runs.
func TestOldRunsAreForgottenByTheirBytes(t *testing.T) {
	const each = 10_000
	d := open(t, someRules, func(o *Options) { o.limits.keepBytes = 3*each + each/2 })
	stage := func(run string) {
		sub := contextOf(run)
		sub.Body = json.RawMessage(`{"prompt":"` + strings.Repeat("x", each-1_500) + `"}`)
		d.redeem(d.resolve(d.propose(sub), Approve, ""))
	}
	stage("busy")
	busy := d.propose(call("busy", "c", "profile_get", `{}`))
	d.redeem(busy)
	require.NoError(t, d.Finish(d.now, "busy", ""))
	for i := range 8 {
		stage(fmt.Sprint("r", i))
		require.NoError(t, d.Finish(d.now, fmt.Sprint("r", i), ""))
		require.LessOrEqual(t, d.st.kept, d.options.limits.keepBytes)
	}
	names := func() (ids []string) {
		for _, r := range d.Runs() {
			ids = append(ids, r.ID)
		}
		return ids
	}
	require.Equal(t, []string{"busy", "r6", "r7"}, names())
	require.Equal(t, finished, d.Phase("r0"))
	got, err := d.Done(d.now, busy.ID, json.RawMessage(`"`+strings.Repeat("y", 4*each)+`"`))
	require.NoError(t, err)
	require.Equal(t, Done, got.Status)
	require.Equal(t, []string{"r6", "r7"}, names(), "a late result weighs too")
	require.Equal(t, inside(d.Session), inside(d.again(someRules)))
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"TTL": {TTL: -1}, "MaxBody": {MaxBody: -1},
	} {
		_, err := New(Policy{}, o)
		require.ErrorContains(t, err, "Options."+want)
	}
	_, err := New(Policy{}, Options{MaxBody: maxMaxBody + 1})
	require.ErrorContains(t, err, "Options.MaxBody")
	_, err = Replay(Policy{}, Options{TTL: maxTTL + 1}, strings.NewReader(""))
	require.ErrorContains(t, err, "Options.TTL")
	s, err := New(Policy{}, Options{})
	require.NoError(t, err)
	it, err := s.Propose(start, contextOf("r"))
	require.NoError(t, err)
	require.Equal(t, Approved, it.Status)
}

func TestExpiry(t *testing.T) {
	d := open(t, someRules, func(o *Options) { o.TTL = time.Minute })
	it := d.propose(call(d.started("r"), "c", "weight_delete", `{}`))
	require.Equal(t, d.now.Add(time.Minute), it.Expires)
	d.now = it.Expires.Add(-1)
	none, err := d.Expire(d.now)
	require.NoError(t, err)
	require.Empty(t, none)
	d.now = it.Expires
	before := d.seq()
	gone, err := d.Expire(d.now)
	require.NoError(t, err)
	require.Len(t, gone, 1)
	require.Equal(t, Expired, gone[0].Status)
	require.Empty(t, gone[0].By)
	require.Empty(t, gone[0].Action)
	require.NotEmpty(t, gone[0].Reason)
	require.Equal(t, []string{itemExpired}, d.types(before))
	events, _ := d.Events(before)
	require.Empty(t, events[0].By)
	require.Equal(t, running, d.Phase("r"), "a denied tool returns to running")
	for _, a := range []Action{Approve, Deny, Stop} {
		_, err = d.Resolve(d.now, d.decision(it, a, ""))
		require.ErrorIs(t, err, ErrDenied)
	}
	_, err = d.Redeem(d.now, it.ID)
	require.ErrorIs(t, err, ErrDenied)
	again, err := d.Expire(d.now.Add(time.Hour))
	require.NoError(t, err)
	require.Empty(t, again)
}

// Nobody called Expire: the operation sees for itself.
func TestAnswerAfterTheTimeIsNoAnswer(t *testing.T) {
	for name, late := range map[string]func(d *fixture, it Item) error{
		"approve": func(d *fixture, it Item) error { _, err := d.Resolve(d.now, d.decision(it, Approve, "")); return err },
		"deny":    func(d *fixture, it Item) error { _, err := d.Resolve(d.now, d.decision(it, Deny, "")); return err },
		"redeem":  func(d *fixture, it Item) error { _, err := d.Redeem(d.now, it.ID); return err },
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, someRules)
			it := d.propose(call(d.started("r"), "c", "weight_delete", `{}`))
			d.now = it.Expires
			require.ErrorIs(t, late(d, it), ErrDenied)
			require.Equal(t, Expired, d.status(it.ID))
			require.Equal(t, inside(d.Session), inside(d.again(someRules)))
		})
	}
	d := open(t, someRules)
	sub := call(d.started("r"), "c", "weight_delete", `{}`)
	it := d.propose(sub)
	d.now = it.Expires
	require.NoError(t, d.SetPolicy(d.now, "bob", policyOf(t, `[{"tool":"weight_delete","then":"allow"}]`)))
	require.Equal(t, Expired, d.propose(sub).Status, "proposed again too late")
}

func TestExpiredContextEndsItsRun(t *testing.T) {
	d := open(t, someRules)
	it := d.propose(contextOf("r"))
	_, err := d.Expire(it.Expires)
	require.NoError(t, err)
	require.Equal(t, stopped, d.Phase("r"))
}

func TestSameDeniedCallStopsTheRun(t *testing.T) {
	same := []string{`{"id":10,"s":"é"}`, `{"s":"\u00e9","id":1e1}`, `{"id":10.0,"s":"\u00E9"}`}
	for name, deny := range map[string]func(d *fixture, it Item){
		"by a human": func(d *fixture, it Item) { d.resolve(it, Deny, "") },
		"by expiry": func(d *fixture, it Item) {
			d.now = it.Expires
			_, err := d.Expire(d.now)
			require.NoError(d.t, err)
		},
		"by the policy": func(d *fixture, it Item) { require.Equal(d.t, Denied, it.Status) },
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, `[{"tool":"weight_delete","then":"ask"}]`)
			tool := "weight_delete"
			if name == "by the policy" {
				tool = "unheard_of"
			}
			d.started("r")
			for i, args := range same {
				require.Equal(t, running, d.Phase("r"))
				deny(d, d.propose(call("r", fmt.Sprint("c", i), tool, args)))
				if i == 1 {
					deny(d, d.propose(call("r", "other", tool, `{"id":11}`)))
				}
			}
			require.Equal(t, stopped, d.Phase("r"))
			_, err := d.Propose(d.now, call("r", "c9", tool, `{"id":12}`))
			require.ErrorIs(t, err, ErrIllegal)
			require.Equal(t, "the same tool was denied 3 times", d.Runs()[0].Reason)
			require.Equal(t, inside(d.Session), inside(d.again(`[{"tool":"weight_delete","then":"ask"}]`)))
		})
	}
}

// A large body is not parsed while the session is locked: there, the same means the same bytes.
func TestLargeDeniedCallsAreComparedByBytes(t *testing.T) {
	long := strings.Repeat("x", maxCompared)
	for want, calls := range map[Phase][]string{
		stopped: {`{"id":1,"s":"` + long + `"}`, `{"id":1,"s":"` + long + `"}`},
		running: {`{"id":1,"s":"` + long + `"}`, `{"s":"` + long + `","id":1}`},
	} {
		d := open(t, someRules, func(o *Options) { o.limits.denials = 2 })
		d.started("r")
		for i, args := range calls {
			d.resolve(d.propose(call("r", fmt.Sprint("c", i), "weight_delete", args)), Deny, "")
		}
		require.Equal(t, want, d.Phase("r"))
	}
}

func TestSameDeniedDraftStopsTheRun(t *testing.T) {
	d := open(t, someRules)
	d.started("r")
	for i := range 3 {
		it := d.propose(draft("r", "buy now"))
		require.Equal(t, Pending, it.Status, "draft %d", i)
		d.resolve(it, Deny, "")
	}
	require.Equal(t, stopped, d.Phase("r"))
}

// Three calls that are the same run out at the same moment: the third stops the run and takes the fourth along.
func TestManyExpireAtOnce(t *testing.T) {
	d := open(t, someRules)
	d.started("r")
	var last Item
	for i := range 3 {
		d.propose(call("r", fmt.Sprint("c", i), "weight_delete", `{}`))
	}
	last = d.propose(call("r", "c4", "meal_delete", `{}`))
	other := d.propose(contextOf("r2"))
	gone, err := d.Expire(last.Expires)
	require.NoError(t, err)
	require.Len(t, gone, 4)
	require.Equal(t, other.ID, gone[3].ID)
	require.Equal(t, Withdrawn, d.status(last.ID))
	require.Equal(t, stopped, d.Phase("r"))
	require.Empty(t, d.Pending())
	require.Equal(t, inside(d.Session), inside(d.again(someRules)))
}

func TestStopTakesEverythingAlong(t *testing.T) {
	d := open(t, someRules)
	d.started("r")
	running := d.propose(call("r", "c0", "profile_get", `{}`))
	d.redeem(running)
	approved := d.propose(call("r", "c1", "profile_get", `{}`))
	pending := d.propose(call("r", "c2", "weight_delete", `{}`))
	bad := d.propose(call("r", "c3", "weight_delete", `{"id":1}`))
	require.Equal(t, toolProposed, d.Phase("r"))
	d.resolve(bad, Stop, "")
	require.Equal(t, stopped, d.Phase("r"))
	require.Equal(t, Withdrawn, d.status(approved.ID))
	require.Equal(t, Withdrawn, d.status(pending.ID))
	_, err := d.Redeem(d.now, approved.ID)
	require.ErrorIs(t, err, ErrDenied)
	_, err = d.Resolve(d.now, d.decision(pending, Approve, ""))
	require.ErrorIs(t, err, ErrDecided)
	require.Len(t, d.Unfinished(), 1)
	_, err = d.Done(d.now, running.ID, json.RawMessage(`"late"`))
	require.NoError(t, err)
	require.Empty(t, d.Unfinished())
	require.Equal(t, stopped, d.Phase("r"))
}

func TestZeroSessionSaysSo(t *testing.T) {
	const want = "gate: this Session is nil or a zero value: make one with New or Replay"
	s := new(Session)
	require.PanicsWithValue(t, want, func() { s.Pending() })
	require.PanicsWithValue(t, want, func() { s.Policy() })
	require.PanicsWithValue(t, want, func() { _ = s.SetPolicy(time.Now(), "ann", Policy{}) })
}
