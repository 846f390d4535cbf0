package classify

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// observed is what a text shows of the commands that were run, in forms that need no words of a language.
type observed struct {
	results       int  // lines "`command` → result"
	failed        bool // one of them is a failure
	expected      bool // the section at hand says what is expected, not what was seen
	output, edits int  // where a fence with a command's clean output ended last, and where one with code did

	fence struct { // the fence at hand
		prompts, lines int
		failed         bool
	}
}

// line takes in a line of the agent's voice. unreal says whether its last sentence speaks of what is only expected.
func (o *observed) line(isItem bool, s string, unreal bool) {
	if !isItem {
		o.expected = unreal || strings.EqualFold(firstWord(s), "expected")
	}
	if o.expected || unreal {
		return
	}
	after := commandResult().FindStringSubmatch(s)
	if after == nil {
		return
	}
	switch rest, word := after[1], strings.ToLower(firstWord(after[1])); {
	case strings.ContainsAny(rest, "✗✘❌"), slices.Contains([]string{"fail", "failed", "fails", "error"}, word):
		o.failed = true
	case strings.ContainsAny(rest, "✓✔✅"), word != "" && word[0] <= '9', slices.Contains(outcomes, word):
		o.results++
	}
}

// outcomes are words with which a report says how a command ended.
var outcomes = []string{"ok", "pass", "passed", "passes", "success", "succeeded", "succeeds", "works", "clean", "blocked",
	"allowed", "denied", "refused", "rejected", "accepted"}

// commandResult matches a line "`command` → result": a command of two words, and what stands behind the arrow.
var commandResult = compiled("(?s)^[^`]*`[a-z0-9\\x{80}-\\x{10ffff}](?:[^` ]+ [^`]*| [^`]+)`[ *_|]*(?:→|⇒|=>|->)" +
	"[ *_`\"]*(.*)")

// firstWord returns the letters and digits that s begins with.
func firstWord(s string) string {
	rest := strings.TrimLeftFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || isWordByte(byte(r)|0x20) })
	return s[:len(s)-len(rest)]
}

// data takes in a line of a fence.
func (o *observed) data(kind fenceKind, s string, end int) {
	switch {
	case kind != plainFence && kind != shellFence:
		o.edits = end
	case strings.HasPrefix(s, "> "):
		o.fence.prompts++
		if strings.Contains(s, "@") { // npm's own line before a script
			o.fence.lines++
		}
	case prompted().MatchString(s): // the last command counts
		o.fence.prompts++
		o.fence.lines, o.fence.failed = 0, false
	case strings.HasPrefix(s, "PS ") && strings.HasSuffix(s, ">"): // waits for the next one
	default:
		o.fence.lines++
		o.fence.failed = o.fence.failed || o.fence.prompts > 0 && troubles().MatchString(s) && !noTroubles().MatchString(s)
	}
}

// prompted matches a command behind the prompt of a shell: "$ make", "PS C:\\shop> make".
var prompted = compiled(`^(?:\$|PS .*?>) .`)

// troubles are what the output of a command that failed has in it, unless it says that there are none.
var (
	troubles   = compiled(`(?i)error|fail|exception|traceback|fatal|panic|not found|cannot |usage:`)
	noTroubles = compiled(`(?i)0 error|no error|0 fail`)
)

// endFence takes in the end of a fence.
func (o *observed) endFence(end int) {
	f := o.fence
	if f.prompts > 0 {
		o.output = 0
		if f.lines > 0 && !f.failed {
			o.output = end
		}
	}
	o.fence.prompts, o.fence.lines, o.fence.failed = 0, 0, false
}

// shows reports whether the text names two commands with their results and none that failed, or ends its work with a
// command's clean output.
func (o *observed) shows() bool { return o.results > 1 && !o.failed || o.output > o.edits }
