package autocontinue

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
)

var (
	progress = classify.Result{Type: classify.Status, Confidence: 0.9, Reason: "at work"}
	rejected = classify.Result{
		Type:                  classify.Status,
		Confidence:            0.9,
		Reason:                "a bare claim",
		WasRejectedCompletion: true,
	}
	completion = classify.Result{Type: classify.Completion, Confidence: 0.9, Reason: "shows it"}
	question   = classify.Result{Type: classify.Question, Confidence: 0.9}
	blocker    = classify.Result{Type: classify.Blocker, Confidence: 0.9}
	crash      = classify.Result{Type: classify.Error, Confidence: 0.9}
	tests      = []classify.Evidence{{Kind: classify.EvidenceTests, Text: "42 passed"}}
	commit     = []classify.Evidence{{Kind: classify.EvidenceCommit, Text: "3f2a9bc"}}
)

// session plays outputs against the pure functions.
type session struct {
	t    *testing.T
	p    Policy
	s    State
	runs int
}

func play(t *testing.T, p Policy) *session { return &session{t: t, p: p} }

// decide decides about an output of a new run.
func (x *session) decide(text string, r classify.Result, change ...func(*Facts)) Decision {
	x.runs++
	f := Facts{Output: Output{Session: "s", Run: fmt.Sprint("run", x.runs), Text: text}, Result: r}
	for _, c := range change {
		c(&f)
	}
	var d Decision
	d, x.s = Decide(x.p, x.s, f)
	return d
}

func turnIs(turn string) func(*Facts)              { return func(f *Facts) { f.Output.Turn = turn } }
func runIs(run string) func(*Facts)                { return func(f *Facts) { f.Output.Run = run } }
func idIs(id string) func(*Facts)                  { return func(f *Facts) { f.Output.ID = id } }
func saw(ev []classify.Evidence) func(*Facts)      { return func(f *Facts) { f.Output.Evidence = ev } }
func verification(v Verification) func(*Facts)     { return func(f *Facts) { f.Verification = v } }
func requestIs(request string) func(*Facts)        { return func(f *Facts) { f.Output.Request = request } }
func output(change func(o *Output)) func(f *Facts) { return func(f *Facts) { change(&f.Output) } }
func hold(f *Facts)                                { f.Output.Hold = "plan mode" }
func failed(f *Facts)                              { f.Output.Failed = true }

func (x *session) wants(d Decision, a Action, o Outcome, r Reason) {
	x.t.Helper()
	assert.Equal(x.t, []any{a, o, r}, []any{d.Action, d.Outcome, d.Reason})
	assert.Equal(x.t, a == Continue, d.Message != "", "a message goes with continue")
	assert.Equal(x.t, a == Continue, d.Tier != "")
	assert.Equal(x.t, a == Continue, d.Attempt > 0)
	assert.Equal(x.t, a == Deliver, d.Note != "", "a note goes with deliver")
}

func TestRow2RunClosed(t *testing.T) {
	for name, first := range map[string]classify.Result{"by a continuation": progress, "by a completion": completion} {
		t.Run(name, func(t *testing.T) {
			x := play(t, Policy{})
			x.decide("first", first, runIs("r"))
			for _, text := range []string{"first", " fi\u200brst\r\n"} {
				x.wants(x.decide(text, completion, runIs("r")), Suppress, "duplicate", "run_closed")
			}
			assert.NotEqual(t, Suppress, x.decide("first", completion, runIs("other")).Action)
		})
	}
	t.Run("not by another delivery", func(t *testing.T) {
		x := play(t, Policy{})
		x.decide("which one?", question, runIs("r"))
		x.wants(x.decide("done", completion, runIs("r")), Deliver, "completed", "completion")
	})
	t.Run("an empty run is a run of its own", func(t *testing.T) {
		x := play(t, Policy{})
		x.decide("done", completion, runIs(""))
		x.wants(x.decide("done", completion, runIs("")), Deliver, "completed", "completion")
	})
	t.Run("of an earlier turn", func(t *testing.T) {
		x := play(t, Policy{})
		x.decide("a", progress, runIs("r"), turnIs("t1"))
		x.decide("b", progress, turnIs("t2"))
		x.wants(x.decide("a", progress, runIs("r"), turnIs("t2")), Suppress, "duplicate", "run_closed")
	})
}

// A host that gives two runs one name loses no output: the human sees it, unread, and once.
func TestRow2aRunReused(t *testing.T) {
	for name, first := range map[string]classify.Result{"by a continuation": progress, "by a completion": completion} {
		t.Run(name, func(t *testing.T) {
			x := play(t, Policy{})
			x.decide("first", first, runIs("r"))
			for _, text := range []string{"Which one?", "Which one!", ""} {
				d := x.decide(text, progress, runIs("r"))
				x.wants(d, Deliver, "needs_human", "run_reused")
				require.Len(t, d.Degraded, 1)
				assert.Contains(t, d.Degraded[0], "Output.Run")
				x.wants(x.decide(text, progress, runIs("r")), Suppress, "duplicate", "run_closed")
			}
			x.wants(x.decide("first", progress, runIs("r")), Suppress, "duplicate", "run_closed")
			x.wants(x.decide("going on", progress), Continue, "continuing", "progress") // it hands nothing over
		})
	}
}

func TestRow3SameText(t *testing.T) {
	x := play(t, Policy{})
	x.decide("which one?", question, runIs("r"), idIs("1"))
	x.wants(x.decide("which one?", question, runIs("r"), idIs("2")), Suppress, "duplicate", "same_text")
	x.wants(x.decide("which one? ", question, runIs("r"), idIs("3")), Deliver, "needs_human",
		"question") // other bytes
	x.wants(x.decide("which one?", question, runIs("r")), Suppress, "duplicate", "same_text")
	x.wants(x.decide("which one?", question, runIs("r2")), Deliver, "needs_human", "question")
	x.wants(x.decide("which one?", question, runIs("")), Deliver, "needs_human", "question")
	x.wants(x.decide("which one?", question, runIs("")), Deliver, "needs_human", "question")

	x.decide("", crash, runIs("r3"), failed)
	x.wants(x.decide("", crash, runIs("r3"), failed), Suppress, "duplicate", "same_text")
}

func TestRow5CrashGuard(t *testing.T) {
	t.Run("after a continuation", func(t *testing.T) {
		x := play(t, Policy{})
		x.wants(x.decide("a", progress, runIs("r"), idIs("1")), Continue, "continuing", "progress")
		x.wants(x.decide("a", progress, runIs("r"), idIs("2"), failed), Deliver, "failed", "crash_guard")
		x.wants(x.decide("a", progress, runIs("r"), idIs("3"), failed), Suppress, "duplicate", "same_text")
		x.wants(x.decide("b", progress), Deliver, "needs_human", "waiting")
	})
	t.Run("whatever the text", func(t *testing.T) {
		for _, r := range []classify.Result{progress, rejected, completion, question, blocker, crash} {
			x := play(t, Policy{})
			d := x.decide("a", r, failed)
			x.wants(d, Deliver, "failed", "crash_guard")
			assert.Equal(t, "The run broke. A broken run is never continued.", d.Note)
			assert.True(t, x.s.HandedOver)
		}
	})
}

func TestRow6Hold(t *testing.T) {
	x := play(t, Policy{})
	d := x.decide("a", progress, hold)
	x.wants(d, Deliver, "needs_human", "hold")
	assert.Contains(t, d.Note, "plan mode")
	x.wants(x.decide("a", progress), Continue, "continuing", "progress") // it does not hand over

	d = x.decide("b", progress,
		output(func(o *Output) { o.Hold = "\x1b[31m[System Coach] " + strings.Repeat("x", 500) + "\n" }))
	assert.Less(t, len(d.Note), 250)
	assert.NotContains(t, d.Note, "[System Coach]")
	assert.NotContains(t, d.Note, "\x1b")

	x.wants(x.decide("c", progress, output(func(o *Output) { o.Hold = " \n" })), Deliver, "needs_human", "hold")
}

func TestRow7NotAStatus(t *testing.T) {
	for _, c := range []struct {
		r       classify.Result
		outcome Outcome
		reason  Reason
	}{
		{crash, "failed", "crash_guard"},
		{question, "needs_human", "question"},
		{blocker, "needs_human", "blocker"},
	} {
		for _, confidence := range []float64{0, 0.5, 1, math.NaN()} {
			c.r.Confidence = confidence
			x := play(t, Policy{MinConfidence: NoGate})
			d := x.decide("a", c.r)
			x.wants(d, Deliver, c.outcome, c.reason)
			assert.NotContains(t, d.Note, "broke", "an agent that reports a failed test did not crash")
			x.wants(x.decide("b", progress), Deliver, "needs_human", "waiting")
		}
	}
}

func claims(name string) []classify.Signal {
	return []classify.Signal{{Kind: classify.SignalClaim, Name: name, End: 1, Weight: 1}}
}

// A blank output is the same as another blank one, and as nothing else.
func TestBlankIsNoRepeatOfAClaim(t *testing.T) {
	x := play(t, Policy{})
	x.decide("Done.", rejected)
	d := x.decide("", rejected)
	x.wants(d, Continue, "continuing", "empty")
	assert.Equal(t, 1, d.Attempt)
	x.wants(x.decide(" \u2800\x1b[0m", rejected), Deliver, "stalled", "repeat")
}

// What the host saw fail reaches the coaching.
func TestHostEvidenceReachesTheCoach(t *testing.T) {
	x := play(t, Policy{})
	d := x.decide("All tests pass.", rejected,
		saw([]classify.Evidence{{Kind: classify.EvidenceTests, Text: "40 passed, 2 failed", Failed: true}}))
	assert.Contains(t, d.Message, "Your last test run failed.")
}

// A redelivery from a turn that is long forgotten is superseded, and leaves the turn at hand as it is.
func TestReplayOpensNoTurn(t *testing.T) {
	x := play(t, Policy{})
	named := func(id string) func(*Facts) { return func(f *Facts) { f.Output.ID = id } }
	x.wants(x.decide("at work", progress, turnIs("t1"), named("i1")), Continue, "continuing", "progress")
	for i := range 9 {
		x.decide("Which?", question, turnIs(fmt.Sprint("n", i)))
	}
	before := x.s
	d := x.decide("at work", progress, turnIs("t1"), named("i1"))
	x.wants(d, Deliver, "needs_human", "superseded")
	assert.True(t, d.Replayed)
	assert.True(t, before.Equal(x.s))
	x.wants(x.decide("at work", progress, turnIs("n8")), Deliver, "needs_human", "waiting")
}

// A continuation that comes again with a turn of its own is over, and stays it: the human has spoken.
func TestReplayWithANewTurn(t *testing.T) {
	x := play(t, Policy{})
	named := func(f *Facts) { f.Output.ID = "i1" }
	x.wants(x.decide("at work", progress, turnIs("t1"), named), Continue, "continuing", "progress")
	x.wants(x.decide("at work", progress, turnIs("t2"), named), Deliver, "needs_human", "superseded")
	d := x.decide("at work", progress, turnIs("t1"), named)
	x.wants(d, Deliver, "needs_human", "superseded")
	assert.True(t, d.Replayed)
}

// JSON has no NaN, and every decision has to be written down.
func TestOddNumbers(t *testing.T) {
	r := progress
	r.Confidence = math.Inf(1)
	x := play(t, Policy{MinConfidence: NoGate})
	d := x.decide("at work", r)
	_, err := json.Marshal(d)
	require.NoError(t, err)
	_, err = json.Marshal(failure(Output{}, State{}, r))
	require.NoError(t, err)
}

func ran(kind classify.CheckKind, outcome classify.CheckOutcome) classify.Work {
	return classify.Work{Checks: []classify.Check{{Command: "a check", Kind: kind, Outcome: outcome}}}
}

func TestRow8Completion(t *testing.T) {
	t.Run("whatever the confidence, and it hands nothing over", func(t *testing.T) {
		x := play(t, Policy{})
		unsure := completion
		unsure.Confidence = 0.1
		x.wants(x.decide("done", unsure), Deliver, "completed", "completion")
		x.wants(x.decide("more to do", progress), Continue, "continuing", "progress")
	})
	t.Run("a claim rejected before", func(t *testing.T) {
		x := play(t, Policy{})
		x.wants(x.decide("All tests pass.", rejected), Continue, "continuing", "rejected_completion")
		d := x.decide("all tests PASS!", completion)
		x.wants(d, Continue, "continuing", "rejected_completion")
		assert.Equal(t, 2, d.Attempt)
		assert.Equal(t, classify.Status, d.Result.Type)
		assert.True(t, d.Result.WasRejectedCompletion)
		assert.Contains(t, d.Result.Reason, completion.Reason)
		x.wants(x.decide("All tests pass", completion), Deliver, "stalled", "repeat")
	})
	for name, c := range map[string]struct {
		then, now []classify.Evidence
		work      classify.Work // now
		signals   []classify.Signal
		v         Verification
		passes    bool
	}{
		"a test run that passed": {work: ran(classify.CheckTest, classify.OutcomePassed), signals: claims("tests"),
			passes: true},
		"a test run that failed":         {work: ran(classify.CheckTest, classify.OutcomeFailed), signals: claims("tests")},
		"a run of another thing":         {work: ran(classify.CheckLint, classify.OutcomePassed), signals: claims("tests")},
		"evidence that was asked for":    {now: tests, passes: true},
		"evidence that failed":           {now: []classify.Evidence{{Kind: classify.EvidenceTests, Failed: true}}},
		"evidence there was":             {then: tests, now: tests},
		"evidence beside what there was": {then: tests, now: append(commit, tests...), passes: true},
		"evidence of another thing":      {now: commit, signals: claims("tests")},
		"what stands in for it, a commit": {now: []classify.Evidence{{Kind: classify.EvidencePullRequest}},
			signals: claims("commit"), passes: true},
		"what stands in for it, a build": {now: []classify.Evidence{{Kind: classify.EvidenceOutput}},
			signals: claims("build"), passes: true},
		"what stands in for it, bare": {now: []classify.Evidence{{Kind: classify.EvidenceOutput}},
			signals: claims("done"), passes: true},
		"a verification":                   {v: Verification{Status: Verified}, passes: true},
		"a verifier that could not tell":   {v: Verification{Status: Unverified}},
		"a verifier of an unknown status":  {v: Verification{Status: "verified!"}},
		"evidence, and a verifier says no": {now: tests, v: Verification{Status: Rejected}},
	} {
		t.Run(name, func(t *testing.T) {
			x := play(t, Policy{})
			r := rejected
			r.Signals = c.signals
			x.decide("All tests pass.", r, saw(c.then))
			now := completion
			now.Signals = c.signals
			d := x.decide("All tests pass.", now, saw(c.now), func(f *Facts) { f.Output.Work = c.work }, verification(c.v))
			if c.passes {
				x.wants(d, Deliver, "completed", "completion")
				assert.Equal(t, completion.Reason, d.Result.Reason)
			} else {
				x.wants(d, Continue, "continuing", "rejected_completion")
			}
		})
	}
	t.Run("only in this turn", func(t *testing.T) {
		x := play(t, Policy{})
		x.decide("All tests pass.", rejected, turnIs("t1"))
		x.wants(x.decide("All tests pass.", completion, turnIs("t2")), Deliver, "completed", "completion")
	})
	t.Run("only a rejection", func(t *testing.T) {
		x := play(t, Policy{})
		x.decide("All tests pass.", progress)
		x.wants(x.decide("All tests pass.", completion), Deliver, "completed", "completion")
	})
	t.Run("judged on by every later row", func(t *testing.T) {
		unsure := completion
		unsure.Confidence = 0.5
		x := play(t, Policy{})
		x.decide("All tests pass.", rejected)
		x.wants(x.decide("All tests pass.", unsure), Deliver, "needs_human", "low_confidence")
		x.wants(x.decide("All tests pass.", completion), Deliver, "needs_human", "waiting")

		x = play(t, Policy{MaxContinues: 1})
		x.decide("All tests pass.", rejected)
		x.wants(x.decide("All tests pass.", completion), Deliver, "capped", "cap")
	})
}

func TestRow9LowConfidence(t *testing.T) {
	for _, c := range []struct {
		min, confidence float64
		want            Reason
	}{
		{0, 0.80, "progress"}, {0, 0.7999, "low_confidence"}, {0, 0, "low_confidence"},
		{0.5, 0.5, "progress"}, {0.5, 0.49, "low_confidence"}, {1, 1, "progress"}, {1, 0.999, "low_confidence"},
		{NoGate, 0, "progress"}, {NoGate, 0.01, "progress"},
		{0, math.NaN(), "low_confidence"}, {0, math.Inf(1), "low_confidence"}, {0, 80, "low_confidence"},
		{0, -1, "low_confidence"},
	} {
		for _, r := range []classify.Result{progress, rejected} {
			r.Confidence = c.confidence
			x := play(t, Policy{MinConfidence: c.min})
			d := x.decide("a", r)
			if c.want == "low_confidence" {
				x.wants(d, Deliver, "needs_human", "low_confidence")
				assert.True(t, x.s.HandedOver)
			} else {
				assert.Equal(t, Continue, d.Action, "%v of %v", c.confidence, c.min)
			}
			assert.True(t, d.Result.Confidence >= 0 && d.Result.Confidence <= 1, "fit for JSON")
		}
	}
}

func TestRow10Waiting(t *testing.T) {
	x := play(t, Policy{})
	x.decide("which one?", question, turnIs("t1"))
	x.wants(x.decide("a", progress), Deliver, "needs_human", "waiting")
	x.wants(x.decide("b", rejected, turnIs("t1")), Deliver, "needs_human", "waiting")
	x.wants(x.decide("c", completion), Deliver, "completed", "completion")
	x.wants(x.decide("a", progress, turnIs("t2")), Continue, "continuing", "progress")
	x.decide("which one?", question)
	x.s = x.s.Reset()
	x.wants(x.decide("a", progress), Continue, "continuing", "progress")
}

func TestRow11Repeat(t *testing.T) {
	type step struct {
		text string
		r    classify.Result
		want int // the attempt; 0: stalled
	}
	lacking := func(name string) classify.Result {
		r := rejected
		r.Signals = []classify.Signal{{Kind: classify.SignalClaim, Name: name, End: 1, Weight: 1}}
		return r
	}
	shown := rejected // not for want of evidence
	shown.Signals = []classify.Signal{
		{Kind: classify.SignalEvidence, Name: string(classify.EvidenceTests), End: 1, Weight: 1},
	}
	for name, steps := range map[string][]step{
		"the same output": {{"a", progress, 1}, {"a", progress, 2}, {"a", progress, 0}},
		"printed anew": {{"Took 3s", progress, 1}, {"took  4s!", progress, 2},
			{"TOOK 5 seconds", progress, 0}},
		"a count goes on": {{"1 of 9", progress, 1}, {"2 of 9", progress, 1}, {"3 of 9", progress, 1},
			{"4 of 9", progress, 1}},
		"A, B, A, B": {{"a", progress, 1}, {"b", progress, 1}, {"a", progress, 2}, {"b", progress, 2},
			{"a", progress, 0}},
		"A, B, C, A, B, C": {{"a", progress, 1}, {"b", progress, 1}, {"c", progress, 1}, {"a", progress, 2},
			{"b", progress, 2}, {"c", progress, 2}, {"b", progress, 0}},
		"lacking the same": {{"a", lacking("tests"), 1}, {"b", lacking("tests"), 2}, {"c", lacking("tests"), 0}},
		"lacking something else": {{"a", lacking("tests"), 1}, {"b", lacking("build"), 1},
			{"c", lacking("pull_request"), 1}, {"d", lacking("tests"), 2}},
		"lacking nothing":               {{"a", shown, 1}, {"b", shown, 1}, {"c", shown, 1}},
		"a claim, then the same status": {{"a", rejected, 1}, {"a", progress, 2}, {"a", rejected, 0}},
		"a blank output":                {{"", progress, 1}, {" \n", progress, 0}},
		"a blank output, among others":  {{"", progress, 1}, {"a", progress, 1}, {"\r\n", progress, 0}},
		"only punctuation is not blank": {{"...", progress, 1}, {"!", progress, 2}, {"?", progress, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			x := play(t, Policy{MaxContinues: 100})
			for i, s := range steps {
				d := x.decide(s.text, s.r)
				if s.want == 0 {
					x.wants(d, Deliver, "stalled", "repeat")
					x.wants(x.decide("something new", progress), Deliver, "needs_human", "waiting")
					return
				}
				require.Equal(t, Continue, d.Action, "step %d: %s", i, d.Reason)
				assert.Equal(t, s.want, d.Attempt, "step %d", i)
			}
		})
	}
	t.Run("the same worst feedback", func(t *testing.T) {
		x := play(t, Policy{})
		no := func(feedback string) func(*Facts) {
			return verification(Verification{Status: Rejected, Feedback: feedback})
		}
		r := completion
		r.Signals = shown.Signals
		assert.Equal(t, 1, x.decide("a", r, no("parser.go:12 is untested\nand more")).Attempt)
		assert.Equal(t, 1, x.decide("b", r, no("lexer.go is untested\nparser.go:12 is untested")).Attempt)
		assert.Equal(t, 2, x.decide("c", r, no("\n Parser.go:19 is untested\nelse")).Attempt)
		x.wants(x.decide("d", r, no("parser.go:1 is untested")), Deliver, "stalled", "repeat")
	})
	t.Run("coaching differs", func(t *testing.T) {
		for _, r := range []classify.Result{progress, rejected} {
			x := play(t, Policy{})
			first, second := x.decide("a", r), x.decide("a", r)
			assert.NotEqual(t, first.Message, second.Message)
		}
	})
	t.Run("a new turn forgets", func(t *testing.T) {
		x := play(t, Policy{})
		for i := range 9 {
			assert.Equal(t, 1, x.decide("a", progress, turnIs(fmt.Sprint(i))).Attempt)
			assert.Equal(t, 2, x.decide("a", progress, turnIs(fmt.Sprint(i))).Attempt)
		}
	})
}

func TestRow12Cap(t *testing.T) {
	for _, c := range []struct{ max, limit int }{{0, 3}, {1, 1}, {2, 2}, {3, 3}, {50, 50}, {1000, 1000}, {Never, 0}} {
		t.Run(fmt.Sprint(c.max), func(t *testing.T) {
			x := play(t, Policy{MaxContinues: c.max})
			for i := range c.limit {
				d := x.decide(fmt.Sprint(i, " of 1000"), progress)
				require.Equal(t, Continue, d.Action, "%d: %s", i, d.Reason)
				require.Equal(t, i+1, d.Continues)
			}
			d := x.decide("more", progress)
			x.wants(d, Deliver, "capped", "cap")
			assert.Equal(t, c.limit, d.Continues)
			x.wants(x.decide("still more", progress), Deliver, "needs_human", "waiting")
		})
	}
	t.Run("the host counts too", func(t *testing.T) {
		for used, want := range map[int]Reason{-5: "progress", 0: "progress", 2: "progress", 3: "cap",
			4: "cap", math.MaxInt: "cap"} {
			x := play(t, Policy{})
			d := x.decide("a", progress, output(func(o *Output) { o.Continues = used }))
			assert.Equal(t, want, d.Reason, "used %d", used)
			if want == "progress" {
				assert.Equal(t, max(used, 0)+1, d.Continues)
				assert.Equal(t, d.Continues, x.s.Continues, "the larger count is kept")
			}
		}
	})
}

func TestRow13Continue(t *testing.T) {
	x := play(t, Policy{})
	d := x.decide("", progress)
	x.wants(d, Continue, "continuing", "empty")
	assert.Equal(t, []int{1, 1}, []int{d.Attempt, d.Continues})
	x.wants(x.decide("a", progress), Continue, "continuing", "progress")
	d = x.decide("b", rejected)
	x.wants(d, Continue, "continuing", "rejected_completion")
	assert.Equal(t, coach.Tier("rejection"), d.Tier)
	assert.Equal(t, 3, d.Continues)
}
