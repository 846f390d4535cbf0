package transcript

import (
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// plainMessage is the one message of ours without a prefix. As a prompt it may be the human's.
const plainMessage = "continue"

func isPlain(text string) bool { return strings.TrimSpace(text) == plainMessage }

// isOurFeedback reports whether a hook's words are ours. The hook's command and words of other hooks may stand beside.
func isOurFeedback(feedback string) bool {
	for line := range strings.Lines(feedback) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "- [") {
			if _, rest, ok := strings.Cut(line, "]: "); ok {
				line = rest
			}
		}
		if plaintext.IsOurs(line) || line == plainMessage {
			return true
		}
	}
	return false
}

// IsNotice reports whether the host wrote a prompt itself: that a background task ended, what the editor shows.
func (f Format) IsNotice(prompt string) bool {
	words := strings.TrimSpace(prompt)
	switch f {
	case claude:
		if words = withoutWrapping(prompt); words == "" && !blank(prompt) {
			return true
		}
	case gemini:
		if slices.Contains([]string{"", "Please continue.", "System: Please continue."}, words) {
			return true
		}
	}
	return startsWith(words, phrases()[string(f)]...)
}

// askedBelow is the heading below which Codex's desktop app and editor extensions put the human's words.
const askedBelow = "## My request for Codex:\n"

// withoutWrapping returns the human's words of a prompt, without what an editor has put around them.
func withoutWrapping(prompt string) string {
	prompt = strings.TrimSpace(pattern("wrapping").ReplaceAllString(prompt, ""))
	if i := strings.LastIndex(prompt, "\n"+askedBelow); i >= 0 && strings.HasPrefix(prompt, "# ") {
		return strings.TrimSpace(prompt[i+1+len(askedBelow):])
	}
	return prompt
}
