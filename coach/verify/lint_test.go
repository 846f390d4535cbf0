package verify_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

func feedbackOf(items ...verify.Item) verify.Decision {
	return verify.Decision{Verdict: verify.Feedback, Items: items}
}

func TestLintRefusesVagueFeedback(t *testing.T) {
	for _, issue := range []string{
		"the code has issues", "The code has some issues.", "needs improvement", "Needs improvement!", "doesn't look right",
		"This doesn’t look right.",
		"The implementation could be better", "Code quality needs to be improved", "The tests are not good enough",
		"It still has bugs",
		"There are some problems", "The logic is wrong", "Overall, the work needs more work", "some of it is broken",
		"the code should be cleaned up",
		"Needs refactoring", "Implementation is incomplete", "something is off here", "Something is not right there.",
		"Fix the various problems",
		"please address the remaining issues", "There seem to be several bugs in the code", "I am not happy with this",
		"Make it better please",
		"The tests could be improved a little", "It doesn't quite work as it should",
	} {
		problems := verify.Lint(feedbackOf(verify.Item{Severity: "high", File: "a.go", Issue: issue}))
		require.Len(t, problems, 1, issue)
		require.Contains(t, problems[0], "item 1: the issue is vague")
	}
}

func TestLintLetsConcreteFeedbackPass(t *testing.T) {
	for _, issue := range []string{
		"Logging out twice answers 500.", "The token is written to the log.", "The error of Close is dropped.",
		"Parse accepts an empty name.",
		"The code has a race between Close and Write.", "Nothing tests the empty input.", "This needs an index on user_id.",
		"The implementation of `retry` never stops.", "It is broken for names with a space.",
	} {
		require.Empty(t, verify.Lint(feedbackOf(verify.Item{Severity: "high", File: "a.go", Issue: issue})), issue)
	}
}

func TestLint(t *testing.T) {
	clear := verify.Item{Severity: "high", File: "a.go", Issue: "The token is written to the log."}
	nowhere := verify.Item{Severity: "low", Issue: "The token is written to the log."}
	for _, tt := range []struct {
		name string
		d    verify.Decision
		want []string // what the problems begin with
	}{
		{"fine", feedbackOf(clear), nil},
		{"an approval without items", verify.Decision{Verdict: verify.Approve}, nil},
		{"feedback without items", feedbackOf(), []string{"it gives feedback without an item"}},
		{"no file", feedbackOf(nowhere), []string{"item 1: "}},
		{"no file, but a test", feedbackOf(verify.Item{Issue: "There is no TestLogoutTwice."}), nil},
		{"no file, but a test that the decision misses", verify.Decision{Verdict: verify.Feedback,
			Items: []verify.Item{{Issue: "Nobody tests logging out twice."}},
			Tests: verify.TestsCheck{Missing: []string{"logging out twice"}}}, nil},
		{"no file, but a requirement", feedbackOf(verify.Item{Issue: "r1c0ffee2 is not met: it answers 500."}), nil},
		{"no file, but a requirement in words",
			feedbackOf(verify.Item{Issue: "The second requirement is not met: it answers 500."}), nil},
		{"no file, but the words of a requirement", feedbackOf(verify.Item{Issue: "Login redirects to the wrong page."}),
			nil},
		{"too short", feedbackOf(verify.Item{File: "a.go", Issue: "wrong  "}), []string{"item 1: "}},
		{"10 characters", feedbackOf(verify.Item{File: "a.go", Issue: "größer 1€x"}), []string{"item 1: "}},
		{"11 characters", feedbackOf(verify.Item{File: "a.go", Issue: "größer 1€xy"}), nil},
		{"twice", feedbackOf(clear, clear), []string{"item 2: "}},
		{"twice in other letters", feedbackOf(clear, verify.Item{Severity: "low", File: "a.go",
			Issue: "the token is  written to the log"}), []string{"item 2: "}},
		{"approve beside a low item", verify.Decision{Verdict: verify.Approve, Items: []verify.Item{{Severity: "low",
			File: "a.go", Issue: "The name is a little long."}}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := verify.Lint(tt.d, verify.Requirement{ID: "r12345678", Text: "Login redirects"})
			require.Len(t, got, len(tt.want), "%q", got)
			for i, want := range tt.want {
				require.True(t, strings.HasPrefix(got[i], want), "%q", got)
			}
		})
	}
}
