package autocontinue

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
	"github.com/sidecoach/sidecoach/skills"
)

var stages = []skills.Skill{
	{Name: "/do-plan", Trigger: "/do-plan", Phase: "plan"},
	{Name: "/do-build", Trigger: "/do-build", Phase: "build"},
	{Name: "/do-docs", Trigger: "/do-docs", Phase: "document"},
}

func staged(f *Facts)    { f.Stages = stages }
func onlyAsked(f *Facts) { f.OnlyAsked = true }

func TestRow8aNextStage(t *testing.T) {
	unsure := completion
	unsure.Confidence = 0.5
	type step struct {
		r      classify.Result
		change func(*Facts)
		reason Reason
		done   int // Decision.Stage
	}
	turn := func(name string) func(*Facts) { return func(f *Facts) { f.Output.Turn = name } }
	for name, c := range map[string]struct {
		most  int
		steps []step
	}{
		"all stages in a row": {3, []step{
			{completion, nil, "next_stage", 1}, {completion, nil, "next_stage", 2}, {completion, nil, "completion", 3},
			{completion, nil, "completion", 3},
		}},
		"a rejected completion and progress stay in their stage": {9, []step{
			{rejected, nil, "rejected_completion", 0}, {progress, nil, "progress", 0},
			{completion, nil, "next_stage", 1},
		}},
		"a question and a blocker are delivered, and the stage stays over turns": {3, []step{
			{completion, turn("1"), "next_stage", 1}, {question, turn("1"), "question", 1},
			{blocker, turn("2"), "blocker", 1}, {completion, turn("3"), "next_stage", 2},
		}},
		"a crash is never continued": {3, []step{{crash, nil, "crash_guard", 0}}},
		"the cap counts stages": {1, []step{
			{completion, turn("1"), "next_stage", 1}, {completion, turn("1"), "completion", 2},
			{completion, turn("2"), "completion", 3},
		}},
		"nothing is continued after a hand-over": {3, []step{
			{question, nil, "question", 0}, {completion, nil, "completion", 1},
		}},
		"switched off": {Never, []step{{completion, nil, "completion", 1}}},
		"unsure means human, and the stage stays": {3, []step{
			{unsure, nil, "completion", 0}, {completion, nil, "next_stage", 1},
		}},
		"the answer to a question ends no stage": {3, []step{
			{completion, onlyAsked, "completion", 0}, {completion, nil, "next_stage", 1},
		}},
		"a rejected verification ends no stage": {3, []step{
			{completion, verification(Verification{Status: Rejected, Feedback: "no"}), "rejected_completion", 0},
		}},
		"other stages start with the first": {3, []step{
			{completion, nil, "next_stage", 1},
			{completion, func(f *Facts) { f.Stages = stages[1:] }, "next_stage", 1},
			{completion, func(f *Facts) { f.Stages = nil }, "completion", 0},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			x := play(t, Policy{MaxContinues: c.most})
			for i, step := range c.steps {
				change := step.change
				if change == nil {
					change = func(*Facts) {}
				}
				d := x.decide(fmt.Sprint("output ", i), step.r, staged, change)
				require.Equal(t, step.reason, d.Reason, i)
				require.Equal(t, step.done, d.Stage, i)
				if d.Reason == "next_stage" {
					x.wants(d, Continue, "continuing", "next_stage")
					assert.Equal(t, coach.Tier("stage"), d.Tier)
				}
				x.s = throughJSON(t, x.s)
			}
		})
	}

	x := play(t, Policy{})
	assert.Contains(t, x.decide("planned", completion, staged).Message, ": /do-build.")
	x = play(t, Policy{MaxContinues: Never})
	assert.Contains(t, x.decide("planned", completion, staged).Note, "Stage 2 of 3 comes next: /do-build.")
}

// A gap of one stage is not a gap of the next one.
func TestAStageStartsWithoutGaps(t *testing.T) {
	x := play(t, Policy{MaxContinues: 20})
	for range 3 {
		x.wants(x.decide("Done.", rejected, staged), Continue, "continuing", "rejected_completion")
		x.decide("Done. 42 tests pass.", rejected, staged)
		if d := x.decide("It is there: 3f2a9bc", completion, staged); x.s.history.Stage.Done < 3 {
			x.wants(d, Continue, "continuing", "next_stage")
		}
	}
}

func goalIs(g Goal) func(*Facts) {
	return func(f *Facts) { f.Verification.Goal = &g }
}

var (
	testsFail = Goal{Open: "`go test ./...` exits with 1: TestLogin fails", Results: "1 TestLogin", Counts: "1 of 2 met",
		Note: "Open: `go test ./...` exits with 1: TestLogin fails."}
	docsMiss = Goal{Open: "docs/usage.md is missing", Results: "0, missing", Counts: "1 of 2 met"}
	reached  = Goal{Met: true, Results: "0, there", Counts: "2 of 2 met", Note: "Goal met: 2 of 2, seen at 15:04."}
)

func TestGoal(t *testing.T) {
	limited := testsFail
	limited.Limit = "The goal's time of 2h is over."
	capped := testsFail
	capped.Cap = "Claude Code"
	unchecked := Goal{Results: "0", Note: "For you to check: it reads well."}
	for name, c := range map[string]struct {
		r         classify.Result
		g         Goal
		change    func(*Facts)
		reason    Reason
		says, not string
	}{
		"a completion with an open criterion is continued": {r: completion, g: testsFail, reason: "rejected_completion",
			says: "The goal is not reached yet: `go test ./...` exits with 1: TestLogin fails."},
		"a rejected completion too": {r: rejected, g: testsFail, reason: "rejected_completion", says: "TestLogin fails"},
		"a status too":              {r: progress, g: testsFail, reason: "progress", says: "TestLogin fails"},
		"a question is delivered":   {r: question, g: testsFail, reason: "question"},
		"a blocker is delivered":    {r: blocker, g: testsFail, reason: "blocker"},
		"an error is delivered":     {r: crash, g: testsFail, reason: "crash_guard"},
		"a completion at the goal": {r: completion, g: reached, reason: "completion",
			says: "Goal met: 2 of 2, seen at 15:04."},
		"a status at the goal": {r: progress, g: reached, reason: "completion", says: "Goal met: 2 of 2"},
		"a hollow claim at the goal, which was seen": {r: rejected, g: reached, reason: "completion",
			says: "The agent is done and shows it. It was verified. Goal met"},
		"a question at the goal is delivered as one": {r: question, g: reached, reason: "question"},
		"a report that does not hold, at the goal": {r: completion, g: reached, reason: "rejected_completion",
			change: func(f *Facts) { f.Verification.Status, f.Verification.Feedback = Rejected, "no such commit" },
			says:   "A check of your report found: no such commit"},
		"nothing open, and something unchecked": {r: completion, g: unchecked, reason: "completion",
			says: "For you to check: it reads well."},
		"unchecked, and at work": {r: progress, g: unchecked, reason: "progress", not: "goal"},
		"a limit of the goal": {r: completion, g: limited, reason: "cap",
			says: "The goal's time of 2h is over. Open: `go test ./...` exits with 1: TestLogin fails."},
		"the cap": {r: completion, g: testsFail, reason: "cap", change: func(f *Facts) { f.Output.Continues = 3 },
			says: "The agent was continued 3 times, which is the limit for one turn. Open: `go test"},
		"the cap of the goal": {r: completion, g: capped, reason: "cap", change: func(f *Facts) {
			f.Output.Continues = 3
		},
			says: "The agent was continued 3 times, which is the limit of Claude Code. Open: `go test"},
		"an unsure claim": {r: classify.Result{Type: classify.Completion, Confidence: 0.5}, g: testsFail,
			reason: "rejected_completion", says: "TestLogin fails"},
		"unsure progress": {r: classify.Result{Type: classify.Status, Confidence: 0.5}, g: testsFail,
			reason: "low_confidence", says: "Open: `go test"},
		"further stages come before it": {r: completion, g: testsFail, reason: "next_stage", change: staged,
			not: "TestLogin"},
		"the last stage": {r: completion, g: testsFail, reason: "rejected_completion",
			change: func(f *Facts) { f.Stages = stages[:1] }, says: "TestLogin"},
	} {
		t.Run(name, func(t *testing.T) {
			x := play(t, Policy{})
			if c.change == nil {
				c.change = func(*Facts) {}
			}
			d := x.decide("Some words.", c.r, goalIs(c.g), c.change)
			v := verdicts[c.reason]
			x.wants(d, v.action, v.outcome, c.reason)
			assert.Contains(t, d.Message+d.Note, c.says)
			if c.not != "" {
				assert.NotContains(t, d.Message+d.Note, c.not)
			}
			assert.Equal(t, c.g.Counts, d.Goal)
			if c.g.Met && c.reason == "completion" {
				assert.Equal(t, Verified, d.Verified)
				assert.Equal(t, classify.Completion, d.Result.Type)
			}
		})
	}
}

// Progress means that the result of a check changed, whatever the agent says.
func TestGoalProgress(t *testing.T) {
	x := play(t, Policy{MaxContinues: 20})
	for i := range 2 {
		x.wants(x.decide(fmt.Sprint("Other words ", strings.Repeat("x", i)), progress, goalIs(testsFail)),
			Continue, "continuing", "progress")
	}
	d := x.decide("Once more.", rejected, goalIs(testsFail))
	x.wants(d, Deliver, "stalled", "repeat")
	assert.Contains(t, d.Note, "Open: `go test ./...` exits with 1: TestLogin fails.")

	x = play(t, Policy{MaxContinues: 20})
	for i := range 10 {
		g := testsFail
		g.Results = fmt.Sprint(10-i, " failed")
		d := x.decide("Fixed one.", completion, goalIs(g))
		x.wants(d, Continue, "continuing", "rejected_completion")
		assert.Equal(t, 1, d.Attempt)
	}
	x.decide("Fixed one.", completion, goalIs(docsMiss))
	x.wants(x.decide("Fixed one.", completion, goalIs(reached)), Deliver, "completed", "completion")

	x = play(t, Policy{MaxContinues: 20}) // without checks, words tell
	for i := range 6 {
		x.wants(x.decide(fmt.Sprint("Step ", i), progress, goalIs(Goal{})), Continue, "continuing", "progress")
	}
}

func TestOnlyAsked(t *testing.T) {
	edited := classify.Work{Edited: classify.EditedCode}
	for _, c := range []struct {
		request string
		work    classify.Work
		want    bool
	}{
		{"What does Add do?", classify.Work{}, true},
		{"What does Add do?", classify.Work{Edited: classify.EditedNone}, true},
		{"What does Add do?", edited, false},
		{"Work on the goal.", classify.Work{}, false},
		{"", classify.Work{}, false},
	} {
		assert.Equal(t, c.want, OnlyAsked(t.Context(), Output{Request: c.request, Work: c.work}), c.request)
	}
}

// Judge finds the skills of the stages, and asks for the evidence of the current one.
func TestJudgeKnowsTheStage(t *testing.T) {
	var asked []string
	a := newLoop(t, Config{
		Classifier: classify.ClassifierFunc(func(_ context.Context, in classify.Input) (classify.Result, error) {
			asked = append(asked, in.Skill)
			return completion, nil
		}),
	})
	for i, want := range []Reason{"next_stage", "completion", "completion"} {
		d, err := a.Handle(t.Context(),
			Output{Session: "s", Text: fmt.Sprint(i), Request: "/do-test it", Stages: []string{"/do-plan", "build"}})
		require.NoError(t, err)
		assert.Equal(t, want, d.Reason)
	}
	assert.Equal(t, []string{"/do-plan", "/do-build", "/do-test"}, asked)

	d, err := a.Handle(t.Context(), Output{Session: "t", Text: "x", Stages: []string{"/do-plan", "/nobody"}})
	require.NoError(t, err)
	assert.Equal(t, Reason("completion"), d.Reason)
	assert.Equal(t, []string{`stages: "/nobody" is not the trigger or phase of a skill`}, d.Degraded)
}
