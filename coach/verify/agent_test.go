package verify_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

func TestAgentHasItsFrontMatter(t *testing.T) {
	_, rest, ok := strings.Cut(verify.Agent(), "---\n")
	require.True(t, ok)
	front, _, ok := strings.Cut(rest, "\n---\n")
	require.True(t, ok)
	for _, line := range []string{"name: autobuild-coach", "model: sonnet", "triggers: []", "stack: [any]", "  must_call: [validate_implementation, record_decision]"} {
		require.Contains(t, front+"\n", line+"\n")
	}
	for _, key := range []string{"description:", "contracts:", "  must_not:", "  must_output:", "collaborates_with:"} {
		require.Contains(t, front, "\n"+key)
	}
}

// The example of the output format is a decision that could be recorded and that Lint lets pass; and Lint refuses what the instructions
// call bad feedback.
func TestAgentsOutputFormatIsTrue(t *testing.T) {
	_, rest, ok := strings.Cut(verify.Agent(), "```json\n")
	require.True(t, ok)
	example, _, _ := strings.Cut(rest, "```")
	d, err := verify.ParseDecision([]byte(example))
	require.NoError(t, err)
	require.Empty(t, verify.Lint(d))
	require.Equal(t, verify.NotMet, d.Requirements[1].Status)
	require.Equal(t, 41, d.Items[0].Line)
	require.NotEmpty(t, d.Rationale)

	_, feedback, _ := strings.Cut(verify.Agent(), "## Feedback\n")
	good, bad, _ := strings.Cut(feedback, "Feedback like this is refused:")
	for _, m := range regexp.MustCompile("(?m)^- `([^`]+)`: \"([^\"]+)\"").FindAllStringSubmatch(good, -1) {
		require.Empty(t, verify.Lint(feedbackOf(verify.Item{File: m[1], Issue: m[2]})), m[2])
	}
	refused := regexp.MustCompile(`(?m)^- "([^"]+)"`).FindAllStringSubmatch(bad, -1)
	require.Len(t, refused, 3)
	for _, m := range refused {
		require.NotEmpty(t, verify.Lint(feedbackOf(verify.Item{File: "a.go", Issue: m[1]})), m[1])
	}
}
