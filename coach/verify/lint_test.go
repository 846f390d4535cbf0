package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

func feedbackOf(items ...verify.Item) verify.Decision {
	return verify.Decision{Verdict: verify.Feedback, Items: items}
}

func TestLintRefusesVagueFeedback(t *testing.T) {
	for _, issue := range []string{
		"the code has issues", "The code has some issues.", "needs improvement", "Needs improvement!", "doesn't look right", "This doesn’t look right.",
		"The implementation could be better", "Code quality needs to be improved", "The tests are not good enough", "It still has bugs",
		"There are some problems", "The logic is wrong", "Overall, the work needs more work", "some of it is broken", "the code should be cleaned up",
		"Needs refactoring", "Implementation is incomplete",
	} {
		problems := verify.Lint(feedbackOf(verify.Item{Severity: verify.High, File: "a.go", Issue: issue}))
		require.Len(t, problems, 1, issue)
		require.Equal(t, 0, problems[0].Item)
	}
}

func TestLintLetsConcreteFeedbackPass(t *testing.T) {
	for _, issue := range []string{
		"Logging out twice answers 500.", "The token is written to the log.", "The error of Close is dropped.", "Parse accepts an empty name.",
		"The code has a race between Close and Write.", "Nothing tests the empty input.", "This needs an index on user_id.",
		"The implementation of `retry` never stops.", "It is broken for names with a space.",
	} {
		require.Empty(t, verify.Lint(feedbackOf(verify.Item{Severity: verify.High, File: "a.go", Issue: issue})), issue)
	}
}

func TestLint(t *testing.T) {
	clear := verify.Item{Severity: verify.High, File: "a.go", Issue: "The token is written to the log."}
	nowhere := verify.Item{Severity: verify.Low, Issue: "The token is written to the log."}
	for _, tt := range []struct {
		name string
		d    verify.Decision
		want []int // items with a problem
	}{
		{"fine", feedbackOf(clear), nil},
		{"an approval without items", verify.Decision{Verdict: verify.Approve}, nil},
		{"feedback without items", feedbackOf(), []int{-1}},
		{"no file", feedbackOf(nowhere), []int{0}},
		{"no file, but a test", feedbackOf(verify.Item{Issue: "There is no TestLogoutTwice."}), nil},
		{"no file, but a test that the decision misses", verify.Decision{Verdict: verify.Feedback,
			Items: []verify.Item{{Issue: "Nobody tests logging out twice."}}, Tests: verify.TestsCheck{Missing: []string{"logging out twice"}}}, nil},
		{"no file, but a requirement", feedbackOf(verify.Item{Issue: "r1c0ffee2 is not met: it answers 500."}), nil},
		{"too short", feedbackOf(verify.Item{File: "a.go", Issue: "wrong  "}), []int{0}},
		{"10 characters", feedbackOf(verify.Item{File: "a.go", Issue: "größer 1€x"}), []int{0}},
		{"11 characters", feedbackOf(verify.Item{File: "a.go", Issue: "größer 1€xy"}), nil},
		{"twice", feedbackOf(clear, clear), []int{1}},
		{"twice in other letters", feedbackOf(clear, verify.Item{Severity: verify.Low, File: "a.go", Issue: "the token is  written to the log"}), []int{1}},
		{"approve beside a high item", verify.Decision{Verdict: verify.Approve, Items: []verify.Item{clear}}, []int{-1}},
		{"approve beside a low item", verify.Decision{Verdict: verify.Approve, Items: []verify.Item{{Severity: verify.Low, File: "a.go", Issue: "The name is a little long."}}}, nil},
		{"approve beside not_met", verify.Decision{Verdict: verify.Approve, Requirements: []verify.RequirementCheck{{ID: "r1", Status: verify.NotMet}}}, []int{-1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []int
			for _, p := range verify.Lint(tt.d) {
				got = append(got, p.Item)
				require.NotEmpty(t, p.String())
			}
			require.Equal(t, tt.want, got)
		})
	}
}
