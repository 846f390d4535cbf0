package hook

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Reply says what the human's words after a pause were.
type Reply string

// The replies.
const (
	ReplyNone   Reply = ""       // there were none
	ReplyNudge  Reply = "nudge"  // what coaching would have said: go on, run the tests, show the output
	ReplyAnswer Reply = "answer" // an answer: yes, no, the second one
	ReplyOther  Reply = "other"  // anything else, such as a new task
)

//go:embed replies.txt
var replies string

// replyPatterns are the patterns of replies.txt.
var replyPatterns = sync.OnceValue(func() map[Reply]*regexp.Regexp {
	parts := make(map[Reply][]string)
	for line := range strings.Lines(replies) {
		kind, pattern, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && kind != "#" {
			parts[Reply(kind)] = append(parts[Reply(kind)], strings.TrimSpace(pattern))
		}
	}
	all := make(map[Reply]*regexp.Regexp)
	for kind, list := range parts {
		all[kind] = regexp.MustCompile(`^(?:` + strings.Join(list, "|") + `)$`)
	}
	return all
})

// maxReply is how long words are, in characters, that are taken for a nudge or an answer: longer ones ask for something.
const maxReply = 120

// ReadReply tells what the human's next words were, by a table of short phrases in the languages of the heuristic. Words that it
// does not know are other ones.
func ReadReply(words string) Reply {
	words = bareWords(words)
	switch {
	case words == "":
		return ReplyNone
	case utf8.RuneCountInString(words) > maxReply:
		return ReplyOther
	case nudges(words):
		return ReplyNudge
	case replyPatterns()[ReplyAnswer].MatchString(words):
		return ReplyAnswer
	}
	return ReplyOther
}

// bareWords is what was said without how politely.
func bareWords(words string) string {
	words = strings.ToLower(strings.Join(strings.Fields(words), " "))
	const around = " .!?,;:…。！？¡¿\"'`"
	words = strings.Trim(words, around)
	for _, polite := range []string{"please ", "pls ", "ok ", "okay ", "ok, ", "okay, ", "now ", "great, ", "good, ", "and ", "then "} {
		words = strings.TrimPrefix(words, polite)
	}
	for _, polite := range []string{" please", " now", " then"} {
		words = strings.TrimRight(strings.TrimSuffix(words, polite), around)
	}
	return words
}

// nudges reports whether the words are a nudge, or several in a row: "run the tests and show me the output".
func nudges(words string) bool {
	nudge := replyPatterns()[ReplyNudge]
	if nudge.MatchString(words) {
		return true
	}
	parts := betweenNudges().Split(words, -1)
	for _, part := range parts {
		if part = bareWords(part); part == "" || !nudge.MatchString(part) {
			return false
		}
	}
	return len(parts) > 1
}

var betweenNudges = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[.,;!?] | and | then `) })
