package classify

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// evidence looks for evidence in a sentence of a block, data or voice: counted test results and the like by the
// lexicon's raw rules, commit hashes by their form. A test result beside which failures are counted is none, nor is
// one that is expected, denied or from before. last, when not nil, is the mark of the block's last sentence of voice.
func (rd *reading) evidence(s sentence, offset int, block string, last *seen) {
	rd.found = rd.lex.match(rd.found, rd.rawToks, s, rawVoice)
	failing := rd.failing(s, block)
	if failing {
		if last == nil {
			rd.region.failed = true
		} else {
			rd.lastFail = offset + s.end
		}
	}
	for _, m := range rd.found {
		r := rd.lex.patterns[m.pattern].rule
		if failing && r == rd.lex.tests || rd.unseen(s, m) || last == nil && rd.unreal {
			continue
		}
		first, end := &rd.rawToks[m.first], &rd.rawToks[m.last-1]
		rd.shows(r, offset+int(first.start), offset+int(end.end), last)
	}
	for i := s.first; i < s.last; i++ {
		t := &rd.rawToks[i]
		if t.kind != codeToken && isHash(block[t.start:t.end]) && rd.namesCommit(s, i, block) {
			rd.shows(rd.lex.commit, offset+int(t.start), offset+int(t.end), last)
		}
	}
}

// forms looks for evidence that has a form of its own: go test's line for a package, links to pull requests.
func (rd *reading) forms(offset int, block string, last *seen) {
	ok := goTestOK().FindString(block)
	if ok != "" && !strings.Contains(block, "[no test") && !(last == nil && rd.unreal) {
		rd.shows(rd.lex.tests, offset, offset+len(strings.TrimSuffix(ok, "\n")), last)
	}
	rd.links(offset, block, last)
}

// sighting is evidence found in a run of data lines that is not at its end yet.
type sighting struct{ start, end int }

const maxSightings = 16

func (rd *reading) shows(r, start, end int, last *seen) {
	if r == rd.lex.tests {
		if last == nil {
			if len(rd.region.passed) < maxSightings {
				rd.region.passed = append(rd.region.passed, sighting{start, end})
			}
			return
		}
		rd.lastPass = end
	}
	rd.any |= 1 << r
	if last != nil && start >= last.start {
		last.rules |= 1 << r
	}
	rd.signal(r, start, end)
}

// endRegion takes over what passed in a run of data lines, unless something in it failed.
func (rd *reading) endRegion() {
	for _, p := range rd.region.passed {
		if rd.region.failed {
			rd.lastFail = p.end
			continue
		}
		rd.lastPass = p.end
		rd.any |= 1 << rd.lex.tests
		rd.signal(rd.lex.tests, p.start, p.end)
	}
	rd.region.passed, rd.region.failed = rd.region.passed[:0], false
}

// settle withdraws test results after which failing tests were counted.
func (rd *reading) settle() {
	if rd.lastFail <= rd.lastPass || !rd.any.has(rd.lex.tests) {
		return
	}
	bit := ruleSet(1) << rd.lex.tests
	rd.any &^= bit
	for i := range rd.tail {
		rd.tail[i].rules &^= bit
	}
	for i := range rd.head {
		rd.head[i].rules &^= bit
	}
	rd.signals.kept = slices.DeleteFunc(rd.signals.kept, func(s Signal) bool {
		return s.Kind == SignalEvidence && s.Name == string(EvidenceTests)
	})
}

// isFailLine recognises the lines in which test runners name what failed.
func isFailLine(s string) bool {
	return s == "FAIL" || beginsWith(s, "--- FAIL", "FAIL\t", "FAIL ", "FAILED", "not ok ", "✕ ", "✗ ", "× ")
}

func beginsWith(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// pullRequestLink matches links to pull or merge requests: their path and a number.
var pullRequestLink = compiled("[A-Za-z0-9+.-]*://" + strings.ReplaceAll(
	`[^.&]+\.[^/&]*/(?:[^&]*/)?(?:pull|merge_requests|pull-requests|pullrequest)/[0-9][^&]*`, "&", " \t\r\n<>\"'`)\\]|"))

// links looks for links to pull or merge requests.
func (rd *reading) links(offset int, block string, last *seen) {
	if !strings.Contains(block, "://") {
		return
	}
	at := 0
	for m := pullRequestLink().FindStringIndex(block); m != nil; m = pullRequestLink().FindStringIndex(block[at:]) {
		from := at + m[0]
		at += m[1]
		link := strings.TrimRight(block[from:at], ".,;:!?*_")
		scheme, _, _ := strings.Cut(link, "://")
		if !rd.elsewhere(block[:from+len(scheme)]) {
			rd.shows(rd.lex.pullRequest, offset+from, offset+from+len(link), last)
		}
	}
}

// unseen reports whether the find is denied, still to come, only expected, or from before: "no tests passed", "all 42
// tests will pass once …", "target: 42 passed", "all 12 passed before my change".
func (rd *reading) unseen(s sentence, m match) bool {
	for i := int(m.first) - 1; i >= s.first && i >= int(m.first)-4; i-- {
		id := rd.rawToks[i].id
		if rd.lex.not.has(id) || rd.lex.later.has(id) || rd.lex.unreal.has(id) {
			return true
		}
		if rd.rawToks[i].gap && rd.rawToks[i].id == 0 {
			break
		}
	}
	for i := int(m.first); i < s.last && i < int(m.last)+3; i++ {
		if i >= int(m.last) && rd.rawToks[i].gap {
			break
		}
		if id := rd.rawToks[i].id; rd.lex.later.has(id) || rd.lex.unreal.has(id) {
			return true
		}
	}
	return false
}

// failing reports whether the sentence counts failures above zero, "3 passed, 1 failed", or fewer passes than tests,
// "42 of 45 pass", "45 件中 42 件".
func (rd *reading) failing(s sentence, block string) bool {
	if !s.figures {
		return false
	}
	for i := s.first; i+1 < s.last; i++ {
		t, next := &rd.rawToks[i], &rd.rawToks[i+1]
		if t.kind == partToken {
			return true
		}
		if rd.lex.fail.has(t.id) && next.kind == numberToken && countsAfter(block[t.start:next.start]) {
			return true
		}
		if t.kind != numberToken {
			continue
		}
		if next.gap && !rd.lex.of.has(next.id) {
			continue // "passed 42, failed 0": the number belongs to what stands before it
		}
		if rd.lex.fail.has(next.id) {
			return true
		}
		if i+2 == s.last {
			continue
		}
		third := &rd.rawToks[i+2]
		if rd.lex.test.has(next.id) && rd.failsAfter(s, i+2, block[next.start] >= utf8.RuneSelf) {
			return true
		}
		m, ok1 := digits([]byte(block[t.start:t.end]))
		n, ok2 := digits([]byte(block[third.start:third.end]))
		if ok1 && ok2 && (m < n && rd.lex.of.has(next.id) || m > n && rd.lex.among.has(next.id)) {
			return true
		}
	}
	return false
}

// failsAfter reports whether what is counted failed: "3 tests failed", "3 件のテストが失敗". from is the token after the
// counted word; only where particles stand between them may it be a later one.
func (rd *reading) failsAfter(s sentence, from int, particles bool) bool {
	for i := from; i < min(from+4, s.last) && !rd.rawToks[i].gap; i++ {
		id := rd.rawToks[i].id
		if rd.lex.fail.has(id) {
			return true
		}
		if !particles || rd.lex.not.has(id) {
			break
		}
	}
	return false
}

// countsAfter reports whether the count of a word stands after it: "Failed: 2", "失败 2". s is the word and what parts
// it from the number. "error 404" counts nothing.
func countsAfter(s string) bool {
	word := strings.TrimRight(s, " :：=*")
	return word != "" && !strings.ContainsAny(word, ",;，；、") && (word[len(word)-1] >= utf8.RuneSelf ||
		strings.ContainsAny(s[len(word):], ":：="))
}

// isHash reports whether w has the form of a commit hash: 7 to 40 lower-case hexadecimal digits, letters and figures
// mixed, so that neither "defaced" nor a ticket number is one.
func isHash(w string) bool {
	const letters, figures = "abcdef", "0123456789"
	return len(w) >= 7 && (len(w) <= 12 || len(w) == 40) && strings.Trim(w, letters+figures) == "" &&
		strings.ContainsAny(w, letters) && strings.ContainsAny(w, figures)
}

// namesCommit reports whether the hash at token i is not the name of something else: a colour, a session, a request.
func (rd *reading) namesCommit(s sentence, i int, block string) bool {
	t := &rd.rawToks[i]
	if t.start > 0 && (block[t.start-1] == '#' || block[t.start-1] == '=' || block[t.start-1] == '-') {
		return false
	}
	for i--; i >= s.first; i-- {
		switch before := &rd.rawToks[i]; block[before.start:before.end] { // "its ID is …", "the session (e.g. …)"
		case "is", "was", "e", "g", "e.g", "e.g.":
			continue
		default:
			return !rd.lex.otherID.has(before.id)
		}
	}
	return true
}

// elsewhere reports whether the words before a link say that it is somebody else's: "follows up on", "reported in".
func (rd *reading) elsewhere(before string) bool {
	words := strings.Fields(before[max(0, len(before)-300):])
	return slices.ContainsFunc(words[max(0, len(words)-4):], func(w string) bool { // the scheme, and three words
		return rd.lex.other.has(rd.lex.vocab.ids[strings.ToLower(strings.Trim(w, ".,:;()*_"))])
	})
}

// goTestOK matches a line in which go test says that a package passed, with its time. "ok" with no tests to run, or from
// the cache, counts no test.
var goTestOK = compiled(`^ok  (?:\t|    )[^\n]*(?:s\n|s$|coverage:[^\n]*)`)

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
