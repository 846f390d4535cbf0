package classify

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// reading is what one pass over a text found out about it. It has the same size for a text of any length.
type reading struct {
	lex      *lexicon
	language string // whose lexicon it is, beside English
	text     string

	signals   signalSet
	any       ruleSet
	sentences int
	head      [4]seen // the first sentences
	tail      [6]seen // the last ones: a ring, sentences is its cursor
	last      seen

	start, end ruleSet // found in the first two sentences, in the last three

	// word tokens, those among the most frequent of the tables' languages, others not in Latin script
	nWords, common, foreign int
	questions               int
	lines                   [ruleLine + 1]int // by kind, blank ones left out
	fences                  [nFenceKinds]int  // lines inside fences, by kind
	traceVoice              int               // lines of a stack trace in the agent's voice
	numbers                 int               // in the agent's voice
	namesCode, namesDocs    bool              // files, outside of fences
	lastLine                lineKind
	checked                 bool // the items at hand say what was checked: "Validation:"
	checks, observations    int  // such items, and those of them with a number or code
	measured                int  // those with a number
	observed                observed
	openFence               bool // the text ends inside a code fence
	lastTrace               bool // the last lines are a stack trace

	region struct { // a run of data lines: what passed in it counts when nothing in it failed
		passed []sighting
		failed bool
	}
	lastPass, lastFail int  // where a test result was last shown, and where failing tests were last counted
	skipped            bool // a part was not read
	// the last sentence speaks of what is expected, or was before: what follows it was not seen now
	unreal bool

	buf, raw []byte
	toks     []token
	rawToks  []token
	sents    []sentence
	rawSents []sentence
	found    []match
	words    wordReader
}

// seen is what is remembered of a sentence.
type seen struct {
	rules           ruleSet
	start           int // byte in the text
	code            int
	kind            lineKind
	question, colon bool
}

// read passes over the text once.
func (rd *reading) read(request bool) {
	lines := newLineReader(rd.text)
	rd.skipped = lines.pos > 0
	lines.blocks(func(l line) {
		rd.endRegion()
		rd.lines[l.kind]++
		rd.prose(l, request)
		rd.lastLine = l.kind
	}, func(l line) {
		rd.lines[l.kind]++
		if !request {
			rd.data(l, lines.fence.kind)
		}
		if l.kind == fenceLine && !lines.fence.open {
			rd.observed.endFence(l.end)
			rd.endRegion()
		}
		rd.lastLine = l.kind
	})
	rd.openFence = lines.fence.open
	rd.endRegion()
	rd.settle()
	for i := range min(3, rd.sentences) {
		rd.end |= rd.nth(i).rules
	}
	for i := range min(2, rd.sentences) {
		rd.start |= rd.head[i].rules
	}
	if rd.sentences > 0 {
		rd.last = *rd.nth(0)
	}
}

// data looks for evidence and stack traces in a line that is not the agent's voice.
func (rd *reading) data(l line, fence fenceKind) {
	s := rd.text[l.start:l.end]
	switch l.kind {
	case fencedLine:
		rd.fences[fence]++
		rd.observed.data(fence, s, l.end)
	case quotedLine:
	default:
		return
	}
	rd.lastTrace = isTrace(s)
	if fence == editFence && l.kind == fencedLine {
		return
	}
	rd.region.failed = rd.region.failed || isFailLine(s)
	rd.rawEvidence(l.start, s, nil)
}

// rawEvidence looks for evidence in a block, data included.
func (rd *reading) rawEvidence(offset int, block string, last *seen) {
	rd.raw = lower(rd.raw, block)
	rd.rawToks, rd.rawSents = rd.lex.tokenize(rd.rawToks, rd.rawSents, rd.raw)
	for _, s := range rd.rawSents {
		rd.evidence(s, offset, block, last)
	}
	rd.forms(offset, block, last)
}

// prose reads a block of the agent's voice.
func (rd *reading) prose(l line, request bool) {
	s := rd.text[l.start:l.end]
	rd.names(s)
	var covered bool
	rd.buf, covered = mask(rd.buf, s)
	rd.toks, rd.sents = rd.lex.tokenize(rd.toks, rd.sents, rd.buf)
	isItem := l.kind == itemLine
	for _, sent := range rd.sents {
		rd.sentence(l, sent, request)
		if l.kind == itemLine { // only the first sentence of a line stands behind its marker
			l.kind = paragraphLine
		}
	}
	if request {
		return
	}
	rd.countChecks(isItem)
	rd.observed.line(isItem, s, rd.unreal)
	rd.lastTrace = isTrace(s)
	if rd.lastTrace {
		rd.traceVoice++
	}
	last := &rd.tail[(rd.sentences+len(rd.tail)-1)%len(rd.tail)]
	if !covered { // what is masked can show nothing
		rd.toks, rd.rawToks = rd.rawToks, rd.toks
		for _, sent := range rd.sents {
			rd.evidence(sent, l.start, s, last)
		}
		rd.forms(l.start, s, last)
		return
	}
	rd.rawEvidence(l.start, s, last)
}

const maxLabel = 6 // words

// countChecks counts the items of a section that says what was checked: "Verification:", "**Validated**".
func (rd *reading) countChecks(isItem bool) {
	if len(rd.toks) == 0 {
		return
	}
	s := rd.sents[0]
	if !isItem || !rd.checked {
		rd.checked = rd.lex.checked.has(rd.toks[0].id) || s.last-s.first <= maxLabel && (s.colon || !isItem) &&
			slices.ContainsFunc(rd.toks[s.first:s.last], func(t token) bool { return rd.lex.checked.has(t.id) })
	}
	if !rd.checked {
		return
	}
	rd.checks++
	if slices.ContainsFunc(rd.toks, func(t token) bool { return t.kind != wordToken }) {
		rd.observations++
		if last := rd.nth(0).rules; !rd.in(last, "claim.tests", "claim.build") {
			rd.measured++
		}
	}
}

func (rd *reading) sentence(l line, s sentence, request bool) {
	mark := seen{
		start: l.start + s.start, kind: l.kind, question: s.question, colon: s.colon,
	}
	rd.unreal = false
	for i := s.first; i < s.last; i++ {
		t := &rd.toks[i]
		switch {
		case t.kind == codeToken:
			mark.code++
		case t.kind != wordToken:
			if i > s.first || s.last-s.first > 1 {
				rd.numbers++
			}
		default:
			rd.unreal = rd.unreal || rd.lex.unreal.has(t.id)
			n := 1
			if rd.buf[t.start] >= 0xE3 {
				if r, _ := utf8.DecodeRune(rd.buf[t.start:t.end]); unspaced(r) {
					n = max(1, int(t.end-t.start)/6) // two characters a word
				}
			}
			if rd.lex.common.has(t.id) {
				rd.common += n
			} else if t.id == 0 && rd.buf[t.start] >= 0xC8 { // beyond Latin-1 and Latin Extended-A
				rd.foreign += n
			}
			rd.nWords += n
		}
	}
	v := agentVoice
	if request {
		v = humanVoice
	}
	rd.found = rd.lex.match(rd.found, rd.toks, s, v)
	for _, m := range rd.found {
		pat := &rd.lex.patterns[m.pattern]
		r := pat.rule
		if pat.verbless && rd.finite(s, m) {
			continue
		}
		if !pat.plain {
			claim := rd.lex.rules[r].kind == SignalClaim
			denied, postponed := rd.standing(s, m)
			switch {
			case denied && claim:
				r = rd.lex.denial
			case denied, claim && (postponed || s.question):
				continue
			}
		}
		mark.rules |= 1 << r
		if request {
			continue
		}
		last := int(m.last)
		if pat.clause {
			last = rd.clauseEnd(s, last)
		}
		rd.signalNamed(r, rd.claimName(r, m), l.start+int(rd.toks[m.first].start), l.start+int(rd.toks[last-1].end))
	}
	if !request {
		rd.words.sentence(rd.buf[s.start:s.end])
		rd.exceptions(l, s, &mark)
		rd.parts(l, s, &mark)
		rd.condition(s, &mark)
	}
	rd.any |= mark.rules
	if s.question {
		rd.questions++
	}
	if rd.sentences < len(rd.head) {
		rd.head[rd.sentences] = mark
	}
	rd.tail[rd.sentences%len(rd.tail)] = mark
	rd.sentences++
}

// claimName returns which check a claim is about: a claim of a build by its words may be one of a linter.
func (rd *reading) claimName(r int, m match) string {
	name := rd.lex.rules[r].name
	if rd.lex.rules[r].kind != SignalClaim {
		return name
	}
	for i := m.first; i < m.last; i++ {
		switch id := rd.toks[i].id; {
		case name == ClaimTests && rd.lex.test.has(id):
			return ClaimTests
		case name == ClaimBuild && rd.lex.lint.has(id):
			return ClaimLint
		case name == ClaimBuild && rd.lex.typecheck.has(id):
			return ClaimTypes
		case name == ClaimCommit && rd.lex.push.has(id):
			return ClaimPush
		}
	}
	if name == ClaimTests { // "verified it", "everything passes"
		return ClaimChecked
	}
	return name
}

// note takes down a sign of rule r in a sentence.
func (rd *reading) note(mark *seen, r, start, end int) {
	mark.rules |= 1 << r
	rd.signal(r, start, end)
}

func (rd *reading) signal(r, start, end int) { rd.signalNamed(r, rd.lex.rules[r].name, start, end) }

func (rd *reading) signalNamed(r int, name string, start, end int) {
	if w := rd.lex.rules[r].weight; w > 0 {
		w *= 0.4 + 0.6*float64(end)/float64(len(rd.text)) // the end weighs most
		rd.signals.add(Signal{Kind: rd.lex.rules[r].kind, Name: name, Start: start, End: end, Weight: w})
	}
}

// standing says whether the words before a find in its clause deny it or put it off.
func (rd *reading) standing(s sentence, m match) (denied, postponed bool) {
	for i := int(m.first); i > s.first && int(m.first)-i < 6 && !rd.toks[i].gap; i-- {
		id := rd.toks[i-1].id
		if rd.lex.not.has(id) {
			return true, false
		}
		if rd.lex.later.has(id) || i == int(m.first) && rd.lex.to.has(id) {
			return false, true
		}
	}
	return false, false
}

// finite reports whether a finite verb follows the find in its clause: "Running it shows …" is no progress.
func (rd *reading) finite(s sentence, m match) bool {
	for i := int(m.last); i < s.last && !rd.toks[i].gap; i++ {
		if id := rd.toks[i].id; rd.lex.finiteVerbs.has(id) {
			return true
		}
	}
	return false
}

const maxClause = 9 // tokens

// clauseEnd extends a find that ends before token last to the end of its clause.
func (rd *reading) clauseEnd(s sentence, last int) int {
	for n := 0; last < s.last && n < maxClause; n++ {
		t := &rd.toks[last]
		if t.gap || rd.lex.clause.has(t.id) {
			break
		}
		last++
	}
	return last
}

// exceptions looks for the names of exceptions and errors that begin a sentence: "ModuleNotFoundError: …".
func (rd *reading) exceptions(l line, s sentence, mark *seen) {
	for i := s.first; i < min(s.first+3, s.last); i++ {
		t := &rd.toks[i]
		w := rd.buf[t.start:t.end]
		if len(w) < 8 || !bytes.HasSuffix(w, []byte("error")) && !bytes.HasSuffix(w, []byte("exception")) {
			continue
		}
		if int(t.end) < len(rd.buf) && rd.buf[t.end] == ':' && rd.text[l.start+int(t.start):l.start+int(t.end)] != string(w) {
			rd.note(mark, rd.lex.exception, l.start+int(t.start), l.start+int(t.end))
		}
	}
}

// parts looks for a part of a whole: "two of five", "3/12".
func (rd *reading) parts(l line, s sentence, mark *seen) {
	if !s.figures {
		return
	}
	for i := s.first; i < s.last; i++ {
		first, last := &rd.toks[i], &rd.toks[i]
		if first.kind != partToken {
			if i+2 >= s.last || first.kind != numberToken {
				continue
			}
			last = &rd.toks[i+2]
			m, n := rd.number(first), rd.number(last)
			if of := rd.toks[i+1].id; rd.lex.among.has(of) {
				m, n = n, m
			} else if !rd.lex.of.has(of) {
				continue
			}
			if m == 0 || n == 0 || m >= n {
				continue
			}
		}
		rd.note(mark, rd.lex.part, l.start+int(first.start), l.start+int(last.end))
	}
}

// number returns the value of a small number, in digits or as a word, or 0.
func (rd *reading) number(t *token) int {
	w := rd.buf[t.start:t.end]
	if n, ok := digits(w); ok {
		return n
	}
	return numberWords[string(w)]
}

// condition notes a sentence that makes the agent's next step depend on the human: it has a word of condition or of
// time, a word for the human, and one for what the agent will do. A further offer and a failure that may remain are
// none.
func (rd *reading) condition(s sentence, mark *seen) {
	has := func(set wordSet) bool {
		return slices.ContainsFunc(rd.toks[s.first:s.last], func(t token) bool { return set.has(t.id) })
	}
	if has(rd.lex.whenever) && has(rd.lex.human) && has(rd.lex.mine) && !has(rd.lex.fail) &&
		!rd.in(mark.rules, "offer.further") {
		mark.rules |= 1 << rd.lex.condition
	}
}

// isTrace reports whether a line belongs to a stack trace, in the forms of Python, Java, JavaScript, .NET, Go and Rust.
func isTrace(s string) bool {
	return beginsWith(s, "Traceback (most recent", "panic: ", "thread '", "goroutine ", "File \"", "at ") &&
		traceLine().MatchString(s)
}

// traceLine matches the lines of stack traces. "at " begins one only before a position in a file.
var traceLine = compiled(`(?s)^(?:Traceback|panic|thread|goroutine.* \[|File ".*, line |` +
	`at .*(?:\(Native Method\)|\(Unknown Source\)|:[0-9][^:]*)$)`)
