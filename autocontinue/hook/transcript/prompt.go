package transcript

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// isPlain reports whether a text is the one message of ours without a prefix. As a prompt it may be the human's.
func isPlain(text string) bool { return strings.TrimSpace(text) == "continue" }

// isOurFeedback reports whether a hook's words are ours. The hook's command and words of other hooks may stand beside.
func isOurFeedback(feedback string) bool {
	for line := range strings.Lines(feedback) {
		if line = pattern("feedback").ReplaceAllString(line, ""); plaintext.IsOurs(line) || isPlain(line) {
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

// withoutWrapping returns the human's words of a prompt, without what an editor or a desktop app has put around them.
func withoutWrapping(prompt string) string {
	return strings.TrimSpace(pattern("wrapping").ReplaceAllString(prompt, ""))
}

// Reply says what the human's words after a pause were.
type Reply string

// The replies.
const (
	replyNone     Reply = ""          // there were none
	replyNudge    Reply = "nudge"     // what coaching would have said: go on, run the tests, show the output
	replyAssent   Reply = "assent"    // yes and nothing else: an answer, a nudge or thanks, by what was said before
	replyYesNudge Reply = "yes_nudge" // yes, and a nudge: after a question an answer
	replyAnswer   Reply = "answer"    // any other answer: no, the second one, use that
	replyOther    Reply = "other"     // anything else, such as a new task
)

// replyPattern is replies.txt, as an expression for all the words of a reply. The phrases may stand in a row. It has a
// group for thanks, nudge, assent and answer each.
var replyPattern = sync.OnceValue(func() *regexp.Regexp {
	const gap = `[\s.,;:!?，。、！？…¡¿"'` + "`]+"
	table := entries("replies")
	any := func(kind string) string { return "(?:" + strings.Join(table[kind], "|") + ")" }
	phrase := "(" + any("thanks") + ")|(" + any("nudge") + ")|(" + any("assent") + ")|(" + any("answer") + ")"
	end := "(?:$|" + gap + "|" + gap + any("join") + " )"
	return regexp.MustCompile("^(?:(?:" + any("before") + gap + ")*(?:" + phrase + ")" + any("after") + "*" + end + ")+$")
})

const maxReply = 120 // characters of a nudge or an answer: longer words ask for something

// Means says whether the words told the agent to go on, and whether they answered a question. Yes is an answer where
// the agent asked, it continues the agent where that said what it would do next, and else it is thanks.
func (r Reply) Means(asked, promised bool) (goOn, answers bool) {
	agrees := r == replyYesNudge || r == replyAssent && promised
	goOn = r == replyNudge || agrees && !asked
	answers = r == replyAnswer || asked && r != replyNone && r != replyNudge
	return goOn, answers
}

// ReadReply tells what the human's next words were, by a table of phrases in the languages of the heuristic.
func ReadReply(words string) Reply {
	words = strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(words, "’", "'")), " "))
	words = strings.Trim(words, " .!?,;:…。、！？¡¿\"'`")
	switch {
	case words == "":
		return replyNone
	case utf8.RuneCountInString(words) > maxReply:
		return replyOther
	}
	m := replyPattern().FindStringSubmatch(words)
	switch {
	case m == nil, m[1] != "":
		return replyOther
	case m[4] != "":
		return replyAnswer
	case m[2] != "" && m[3] != "":
		return replyYesNudge
	case m[2] != "":
		return replyNudge
	}
	return replyAssent
}
