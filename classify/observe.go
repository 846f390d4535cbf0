package classify

import "strings"

// evidence looks for evidence in a sentence of a block, data or voice: counted test results and the like by the
// lexicon's raw rules, commit hashes and links to pull requests by their form. A result that also counts failures is
// none. last, when not nil, is the mark of the block's last sentence of voice.
func (rd *reading) evidence(s sentence, offset int, block string, last *seen) {
	rd.found = rd.lex.match(rd.found, rd.rawToks, s, true, false)
	for _, m := range rd.found {
		pat := &rd.lex.patterns[m.pattern]
		if rd.negated(s, m) || rd.lex.rules[pat.rule].name == string(EvidenceTests) && rd.failing(s) {
			continue
		}
		first, end := &rd.rawToks[m.first], &rd.rawToks[m.last-1]
		rd.shows(pat.rule, offset+int(first.start), offset+int(end.end), last)
	}
	if n := goTestOK(block); n > 0 && s.start == 0 {
		rd.shows(rd.lex.tests, offset, offset+n, last)
	}
	for i := s.first; i < s.last; i++ {
		t := &rd.rawToks[i]
		if t.kind != codeToken && isHash(block[t.start:t.end]) && rd.namesCommit(s, i, block) {
			rd.shows(rd.lex.commit, offset+int(t.start), offset+int(t.end), last)
		}
	}
	if s.first == 0 { // once a block
		rd.links(offset, block, last)
	}
}

// links looks for links to pull or merge requests.
func (rd *reading) links(offset int, block string, last *seen) {
	for at := 0; ; {
		i := strings.Index(block[at:], "://")
		if i < 0 {
			return
		}
		start, end := at+i+3, len(block)
		if j := strings.IndexAny(block[start:], " \t\r\n<>\"'`)]|"); j >= 0 {
			end = start + j
		}
		if isPullRequest(block[start:end]) {
			rd.shows(rd.lex.pullRequest, offset+start, offset+end, last)
		}
		at = end
	}
}

func (rd *reading) shows(r, start, end int, last *seen) {
	rd.any |= 1 << r
	rd.counts[r]++
	if last != nil && start >= last.start {
		last.rules |= 1 << r
	}
	rd.signal(r, start, end)
}

// negated reports whether the find is denied or still to come: "no tests passed", "will exit 0".
func (rd *reading) negated(s sentence, m match) bool {
	for i := int(m.first) - 1; i >= s.first && i >= int(m.first)-4; i-- {
		id := rd.rawToks[i].id
		if id != 0 && (contains(rd.lex.not, id) || contains(rd.lex.later, id)) {
			return true
		}
		if rd.rawToks[i].gap {
			break
		}
	}
	return false
}

// failing reports whether the sentence counts failures above zero: "3 passed, 1 failed".
func (rd *reading) failing(s sentence) bool {
	for i := s.first; i+1 < s.last; i++ {
		t, next := &rd.rawToks[i], &rd.rawToks[i+1]
		if t.kind == numberToken && next.id != 0 && contains(rd.lex.fail, next.id) {
			return true
		}
		if i+2 < s.last && t.kind == numberToken && next.id != 0 && rd.rawToks[i+2].id != 0 &&
			contains(rd.lex.test, next.id) && contains(rd.lex.fail, rd.rawToks[i+2].id) {
			return true
		}
	}
	return false
}

// isHash reports whether w has the form of a commit hash: 7 to 40 lower-case hexadecimal digits, letters and figures
// mixed, so that neither "defaced" nor a ticket number is one.
func isHash(w string) bool {
	if len(w) < 7 || len(w) > 40 || len(w) > 12 && len(w) != 40 {
		return false
	}
	letters, figures := 0, 0
	for i := range len(w) {
		switch c := w[i]; {
		case 'a' <= c && c <= 'f':
			letters++
		case '0' <= c && c <= '9':
			figures++
		default:
			return false
		}
	}
	return letters > 0 && figures > 0
}

// namesCommit reports whether the hash at token i is not the name of something else: a colour, a session, a request.
func (rd *reading) namesCommit(s sentence, i int, block string) bool {
	t := &rd.rawToks[i]
	if t.start > 0 && (block[t.start-1] == '#' || block[t.start-1] == '=' || block[t.start-1] == '-') {
		return false
	}
	for j := i - 1; j >= s.first && j >= i-3; j-- {
		if id := rd.rawToks[j].id; id != 0 && contains(rd.lex.otherID, id) {
			return false
		}
	}
	return true
}

var pullPaths = [...]string{"/pull/", "/merge_requests/", "/pull-requests/", "/pullrequest/"}

// isPullRequest reports whether w, a URL without its scheme, names a pull or merge request: its path and a number.
func isPullRequest(w string) bool {
	for _, p := range pullPaths {
		i := strings.Index(w, p)
		if i > 0 && i+len(p) < len(w) && w[i+len(p)] >= '0' && w[i+len(p)] <= '9' && strings.IndexByte(w[:i], '.') > 0 {
			return true
		}
	}
	return false
}

// goTestOK returns the length of a line in which go test says that a package passed, with its time, or 0. "ok" with no
// tests to run, or from the cache, counts no test.
func goTestOK(s string) int {
	if !strings.HasPrefix(s, "ok  \t") && !strings.HasPrefix(s, "ok      ") || strings.Contains(s, "[no test") {
		return 0
	}
	s, _, _ = strings.Cut(s, "\n")
	if strings.HasSuffix(s, "s") || strings.Contains(s, "coverage:") {
		return len(s)
	}
	return 0
}
