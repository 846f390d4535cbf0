package transcript

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Reply says what the human's words after a pause were.
type Reply string

// The replies.
const (
	replyNone     Reply = ""          // there were none
	ReplyNudge    Reply = "nudge"     // what coaching would have said: go on, run the tests, show the output
	ReplyAssent   Reply = "assent"    // yes and nothing else: an answer, a nudge or thanks, by what was said before
	ReplyYesNudge Reply = "yes_nudge" // yes, and a nudge: after a question an answer
	ReplyAnswer   Reply = "answer"    // any other answer: no, the second one, use that
	ReplyOther    Reply = "other"     // anything else, such as a new task
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

// maxReply is how long words are, in characters, that are taken for a nudge or an answer: longer ones ask for
// something.
const maxReply = 120

// ReadReply tells what the human's next words were, by a table of short phrases in the languages of the heuristic.
// Words that it does not know are other ones.
func ReadReply(words string) Reply {
	words = spoken(words)
	switch {
	case words == "":
		return replyNone
	case utf8.RuneCountInString(words) > maxReply:
		return ReplyOther
	case is("nudge", words):
		return ReplyNudge
	case is("assent", words):
		return ReplyAssent
	}
	if kind := inARow(words); kind != "" {
		return kind
	}
	bare := bareWords(words)
	switch rest := replyPatterns()["yes"].ReplaceAllString(bare, ""); {
	case rest != bare && is("nudge", bareWords(spoken(rest))):
		return ReplyYesNudge
	case is("answer", words), is("answer", bare):
		return ReplyAnswer
	}
	return ReplyOther
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
func inARow(words string) Reply {
	nudges, assents := 0, 0
	for _, part := range replyPatterns()["join"].Split(words, -1) {
		part = spoken(part)
		bare := bareWords(part)
		switch {
		case part == "":
		case is("nudge", bare):
			nudges++
		case is("assent", bare):
			// "ok" and "great" before a nudge are manners
			if !is("before", bare+" ") {
				assents++
			}
		case is("before", bare+" "), is("after", " "+bare):
		default:
			return ""
		}
	}
	switch {
	case nudges > 0 && assents > 0:
		return ReplyYesNudge
	case nudges > 0:
		return ReplyNudge
	case assents > 0:
		return ReplyAssent
	}
	return ""
}
