package classify

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A hash that is said to be the ID of something else is no commit, with words between or not.
func TestHashOfSomethingElse(t *testing.T) {
	for text, want := range map[string]bool{
		"The folder is named by the session ID (e.g., `f33cd42`) now.": false,
		"Its session is 9c1e5f0 in the log.":                           false,
		"Committed as 9c1e5f0.":                                        true,
		"Fixed the session handling in 9c1e5f0.":                       true,
	} {
		_, shown := hasEvidence(judge(t, Input{Text: text}), EvidenceCommit)
		assert.Equal(t, want, shown, text)
	}
}

// A number after "created" counts files as well as pull requests.
func TestPullRequestByNumber(t *testing.T) {
	for text, want := range map[string]bool{
		"Created 6 new files and updated 2.":   false,
		"创建 14 个文件。":                           false,
		"Opened pull request #41 for the fix.": true,
		"Merged PR #7.":                        true,
		"已创建 PR #7。":                           true,
	} {
		_, shown := hasEvidence(judge(t, Input{Text: text}), EvidencePullRequest)
		assert.Equal(t, want, shown, text)
	}
}

// What a function returns is no output that was seen.
func TestReturnsIsNoOutput(t *testing.T) {
	for text, want := range map[string]bool{
		"`Session.messages` returns `ChatMessage[]` now.": false,
		"`./run hello` printed `hello`.":                  true,
	} {
		_, shown := hasEvidence(judge(t, Input{Text: text}), EvidenceOutput)
		assert.Equal(t, want, shown, text)
	}
}

func hasEvidence(r Result, kind EvidenceKind) (Signal, bool) {
	for _, s := range r.Signals {
		if s.Kind == SignalEvidence && s.Name == string(kind) {
			return s, true
		}
	}
	return Signal{}, false
}

// A list after a request for input does not hide it.
func TestLeadIn(t *testing.T) {
	r := judge(t, Input{
		Text: "The setup script failed: the description was empty.\n\nPlease provide the description. Once I have it, " +
			"I'll:\n- run the script\n- fill in the template\n- report back with the path",
	})
	assert.Equal(t, Blocker, r.Type, r.Reason)
}
