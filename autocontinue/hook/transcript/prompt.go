package transcript

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

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

var replyPatterns = sync.OnceValue(func() map[string]*regexp.Regexp {
	const gap = `[\s.,;:!?，。、！？]+`
	forms := map[string]string{
		"before": `^(?:%s)` + gap, "yes": `^(?:%s)` + gap, "after": `(?:%s)$`,
		"join": `[.,;:!?，。、；！？…\n]+\s*| (?:%s) `,
	}
	all := make(map[string]*regexp.Regexp)
	for kind, list := range entries(repliesText) {
		all[kind] = regexp.MustCompile(fmt.Sprintf(cmp.Or(forms[kind], `^(?:%s)$`), strings.Join(list, "|")))
	}
	return all
})

const maxReply = 120 // characters of a nudge or an answer: longer words ask for something

// Means says whether the words told the agent to go on, and whether they answered a question. Yes is an answer where
// the agent asked, it continues the agent where that said what it would do next, and else it is thanks.
func (r Reply) Means(asked, promised bool) (goOn, answers bool) {
	switch r {
	case replyNudge:
		return true, false
	case replyYesNudge:
		return !asked, asked
	case replyAssent:
		return !asked && promised, asked
	case replyAnswer:
		return false, true
	}
	return false, asked && r == replyOther
}

// ReadReply tells what the human's next words were, by a table of phrases in the languages of the heuristic.
func ReadReply(words string) Reply {
	words = spoken(words)
	switch {
	case words == "":
		return replyNone
	case utf8.RuneCountInString(words) > maxReply:
		return replyOther
	case is("nudge", words):
		return replyNudge
	case is("assent", words):
		return replyAssent
	}
	if kind := inARow(words); kind != "" {
		return kind
	}
	bare := bareWords(words)
	switch rest := replyPatterns()["yes"].ReplaceAllString(bare, ""); {
	case rest != bare && is("nudge", bareWords(spoken(rest))):
		return replyYesNudge
	case is("answer", words), is("answer", bare):
		return replyAnswer
	}
	return replyOther
}

func is(kind, words string) bool { return replyPatterns()[kind].MatchString(words) }

func spoken(words string) string {
	words = strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(words, "’", "'")), " "))
	return strings.Trim(words, " .!?,;:…。、！？¡¿\"'`")
}

// bareWords is spoken words without how politely.
func bareWords(words string) string {
	for range 4 {
		rest := replyPatterns()["before"].ReplaceAllString(words, "")
		rest = replyPatterns()["after"].ReplaceAllString(rest, "$1")
		if rest = spoken(rest); rest == "" || rest == words {
			break
		}
		words = rest
	}
	return words
}

// inARow tells what several phrases in a row are, "" where one of them is neither a nudge nor an assent.
func inARow(words string) (kind Reply) {
	for _, part := range replyPatterns()["join"].Split(words, -1) {
		bare := bareWords(spoken(part))
		found := replyNone
		manners := is("before", bare+" ") // "ok" and "great" before a nudge
		switch {
		case is("nudge", bare):
			found = replyNudge
		case is("assent", bare) && !manners:
			found = replyAssent
		case bare == "", manners, is("after", " "+bare):
			continue
		default:
			return ""
		}
		if kind != "" && kind != found {
			found = replyYesNudge
		}
		kind = found
	}
	return kind
}
