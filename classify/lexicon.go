package classify

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A lexicon is a compiled table of phrases. The format is described at the head of lexicon/en.txt.
type lexicon struct {
	vocab    *vocabulary
	rules    []rule
	byName   map[string]int // "claim.done" → index of rules
	named    [nNamedRules]ruleSet
	kinds    map[SignalKind]ruleSet
	patterns []pattern
	starts   [nVoices]startIndex
	traits   []wordTraits // by number of a word

	endings   []string // of words, as in ~ing
	lastBytes [256]bool
	numbers   []tokenKind // by number of a word: what kind of number it is

	not, later, to, clause, fail, test, otherID, other, whole, unreal, of, finiteVerbs wordSet // groups that code asks for: a table must define them

	among wordSet  // a group that a table may define: stands between a whole and its part
	asks  []string // another: by what a sentence ends that asks without a question mark

	denial, part, exception, tests, commit, pullRequest int // rules that code, too, finds signs of
}

// wordTraits is what is asked of every word of a text, so that it is asked at once.
type wordTraits uint8

const (
	commonWord wordTraits = 1 << iota // among the most frequent: how many are tells whether a text is in a language of the tables
	orWord
	unrealWord
	alienWord // frequent in other languages in the same script, as a table may list them in @alien
	startWord // begins patterns of the first voice; the bits that follow are for the others
)

// rule is what its phrases are a sign of. Its index is its bit in a ruleSet.
type rule struct {
	kind   SignalKind
	name   string
	weight float64
}

// ruleSet is a set of rules, by index.
type ruleSet uint64

func (s ruleSet) has(i int) bool { return s&(1<<i) != 0 }

const maxRules = 64

type pattern struct {
	rule             int // index of rules
	start, end       bool
	plain            bool
	clause           bool
	raw              bool
	verbless         bool
	request, ignored bool
	elems            []element
}

// voice is what a text is read for.
type voice uint8

const (
	agentVoice voice = iota // what the agent says, data masked
	rawVoice                // evidence, data included
	humanVoice              // the request
	nVoices
)

// startIndex finds the patterns that may begin at a token.
type startIndex struct {
	words           []wordStarts // by word
	list            []start
	num, code, tail []start // those that may begin with a number, a code span, a word by its ending
}

// wordStarts says where the patterns of a word are in list, and what may stand in their second place.
type wordStarts struct {
	first, last uint32   // [first, last)
	second      [2]sieve // within a sentence, and where it starts
}

// start is a pattern, and what may stand in the second and the third place of what it matches.
type start struct {
	second, third sieve
	pattern       int32
	start         bool // only where a sentence starts
}

// element matches one token, or with gap up to four.
type element struct {
	set  []wordID   // sorted
	runs [][]wordID // alternatives of several words, the longest first
	num  bool       // a number above zero
	full bool       // n/n
	part bool       // m/n
	any  bool
	code bool
	gap  bool
	sure bool // a gap that no word of denial may stand in: "habe … nicht korrigiert" claims nothing
	opt  bool
	tail uint8 // endings of words: a bit for each of lexicon.endings
}

const maxGap = 4

// parseLexicon compiles the tables in the files names, one a language, into one. An error names file and line.
func parseLexicon(fsys fs.FS, names ...string) (*lexicon, error) {
	var sources []string
	size := 0
	for _, name := range names {
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read lexicon: %w", err)
		}
		sources = append(sources, string(src))
		size += len(src)
	}
	p := lexiconParser{
		lex:    &lexicon{vocab: newVocabulary(size / 25), byName: map[string]int{}}, // about a word in 25 bytes is a new one
		shared: map[string]choices{},
	}
	for _, w := range slices.Sorted(maps.Keys(numberWords)) {
		n := numberWords[w]
		p.lex.vocab.add(w)
		for len(p.lex.numbers) < len(p.lex.vocab.words) {
			p.lex.numbers = append(p.lex.numbers, wordToken)
		}
		p.lex.numbers[len(p.lex.numbers)-1] = numberToken
		if n == 0 {
			p.lex.numbers[len(p.lex.numbers)-1] = zeroToken
		}
	}
	p.lex.denial, _ = p.ruleIndex(SignalGap, "denied")
	p.lex.part, _ = p.ruleIndex(SignalGap, "part")
	p.lex.exception, _ = p.ruleIndex(SignalFailure, "exception")
	p.lex.tests, _ = p.ruleIndex(SignalEvidence, string(EvidenceTests))
	p.lex.commit, _ = p.ruleIndex(SignalEvidence, string(EvidenceCommit))
	p.lex.pullRequest, _ = p.ruleIndex(SignalEvidence, string(EvidencePullRequest))
	for i, src := range sources {
		p.groups, p.section, p.words = map[string]choices{}, pattern{rule: -1}, false
		p.elems, p.ids = make([]element, 0, len(src)/14), make([]wordID, 0, len(src)/2)
		n := 0
		for line := range strings.SplitSeq(strings.TrimPrefix(src, byteOrderMark), "\n") {
			n++
			line = strings.TrimFunc(line, func(r rune) bool { return r < utf8.RuneSelf && isBlank(byte(r)) })
			if line == "" || strings.HasPrefix(line, "//") {
				continue
			}
			if err := p.line(line); err != nil {
				return nil, fmt.Errorf("lexicon %s:%d: %w", names[i], n, err)
			}
		}
		for name, w := range p.groups {
			all := p.shared[name]
			p.shared[name] = choices{append(all.ids, w.ids...), append(all.runs, w.runs...)}
		}
	}
	return p.finish()
}

const byteOrderMark = "\ufeff" // which some editors put before a text

type lexiconParser struct {
	lex     *lexicon
	groups  map[string]choices // of the file at hand
	shared  map[string]choices // of all files together: those that code asks for are one
	section pattern            // options of the section at hand
	words   bool               // inside [words]
	common  []wordID
	elems   []element // of the patterns, as far as there is room
	ids     []wordID  // of the sets, likewise
}

// choices are alternatives: single words, and several words in a row.
type choices struct {
	ids  []wordID
	runs [][]wordID
}

func (p *lexiconParser) line(line string) error {
	switch {
	case line[0] == '@':
		name, list, ok := strings.Cut(line, "=")
		if !ok {
			break // a phrase that begins with a group
		}
		var group choices
		for w := range strings.SplitSeq(strings.TrimSpace(list), "|") {
			if w == "#" || w != "" && strings.IndexByte("@~*{.", w[0]) >= 0 {
				return fmt.Errorf("%s in a group: it holds words only", w)
			}
			if err := p.alternative(&group, w); err != nil {
				return err
			}
		}
		name = strings.TrimSpace(name)
		if _, ok := p.groups[name]; ok {
			return fmt.Errorf("group %s is defined twice", name)
		}
		if strings.ContainsFunc(name, unicode.IsSpace) {
			return fmt.Errorf("group %q: a name is one word", name)
		}
		p.groups[name] = group
		return nil
	case line[0] == '[' && line[len(line)-1] == ']' && !strings.ContainsAny(line[1:len(line)-1], "[]|"):
		return p.begin(strings.Fields(line[1 : len(line)-1])) // a phrase would not be one optional word
	case strings.HasPrefix(line, "weight "):
		w, err := strconv.ParseFloat(line[len("weight "):], 64)
		if err != nil || p.section.rule < 0 || !(w >= 0 && w <= maxWeight) {
			return fmt.Errorf("weight needs a section and a number from 0 to %d", maxWeight)
		}
		p.lex.rules[p.section.rule].weight = w
		return nil
	case p.words:
		for w := range strings.SplitSeq(line, "|") {
			id, err := p.word(w)
			if err != nil {
				return err
			}
			p.common = append(p.common, id)
		}
		return nil
	}
	if p.section.rule < 0 && !p.section.ignored {
		return errors.New("a phrase before the first [section]")
	}
	return p.add(line)
}

const maxWeight = 1000

func (p *lexiconParser) begin(fields []string) error {
	p.section, p.words = pattern{rule: -1}, false
	if len(fields) == 0 {
		return errors.New("an empty section name")
	}
	kind := fields[0]
	if kind == "words" {
		p.words = true
		return nil
	}
	if len(fields) < 2 {
		return fmt.Errorf("section [%s] needs a kind and a name", kind)
	}
	for _, opt := range fields[2:] {
		switch opt {
		case "start":
			p.section.start = true
		case "end":
			p.section.end = true
		case "plain":
			p.section.plain = true
		case "clause":
			p.section.clause = true
		case "raw":
			p.section.raw = true
		case "verbless":
			p.section.verbless = true
		case "request":
			p.section.request = true
		default:
			return fmt.Errorf("unknown option %q", opt)
		}
	}
	switch SignalKind(kind) {
	case "ignore":
		p.section.ignored = true
		return nil
	case "request", SignalClaim, SignalHedge, SignalEvidence, SignalPromise, SignalQuestion, SignalOffer, SignalBlocker,
		SignalFailure, SignalGap, SignalProgress, SignalAnswer:
	default:
		return fmt.Errorf("unknown kind %q", kind)
	}
	i, err := p.ruleIndex(SignalKind(kind), fields[1])
	if err != nil {
		return err
	}
	p.section.rule = i
	return nil
}

// ruleIndex returns the index of the rule kind.name, which it makes if there is none.
func (p *lexiconParser) ruleIndex(kind SignalKind, name string) (int, error) {
	full := string(kind) + "." + name
	i, ok := p.lex.byName[full]
	if !ok {
		i = len(p.lex.rules)
		if i == maxRules {
			return 0, fmt.Errorf("more than %d rules", maxRules)
		}
		p.lex.rules = append(p.lex.rules, rule{kind: kind, name: name, weight: 1})
		p.lex.byName[full] = i
	}
	return i, nil
}

const maxEndings = 8

func (p *lexiconParser) ending(s string) (uint8, error) {
	if len(s) < 2 {
		return 0, fmt.Errorf("~%s is too short for an ending: it needs two bytes", s)
	}
	i := slices.Index(p.lex.endings, s)
	if i < 0 {
		i = len(p.lex.endings)
		if i == maxEndings {
			return 0, fmt.Errorf("more than %d different endings", maxEndings)
		}
		p.lex.endings = append(p.lex.endings, s)
	}
	return 1 << i, nil
}

// alternative takes up a word, or several in a row joined by +.
func (p *lexiconParser) alternative(to *choices, w string) error {
	if !strings.Contains(w, "+") {
		id, err := p.word(w)
		to.ids = append(to.ids, id)
		return err
	}
	var run []wordID
	for w := range strings.SplitSeq(w, "+") {
		id, err := p.word(w)
		if err != nil {
			return err
		}
		run = append(run, id)
	}
	to.runs = append(to.runs, run)
	return nil
}

const maxWord = 60 // bytes; in scripts without spaces a bit of 64 stands for each length

// word takes up a word or, with ~ at its end, the beginning of words.
func (p *lexiconParser) word(w string) (wordID, error) {
	if id, ok := p.lex.vocab.ids[w]; ok && id != 0 {
		return id, nil
	}
	switch {
	case w == "":
		return 0, errors.New("an empty word")
	case w != strings.ToLower(w):
		return 0, fmt.Errorf("%q is not lower case", w)
	case len(w) > maxWord:
		return 0, fmt.Errorf("%q is longer than %d bytes", w, maxWord)
	case string(finishWord(make([]byte, 0, 2*maxWord), []byte(w), false)) != w:
		return 0, fmt.Errorf("%q is read as %q in texts: write that", w, finishWord(make([]byte, 0, 2*maxWord), []byte(w), false))
	case w[len(w)-1] == '~' && strings.ContainsFunc(w, unspaced):
		return 0, fmt.Errorf("%q: in a script without spaces ~ has no end of a word to stand for", w)
	case w[len(w)-1] == '~' && len(w) <= stemKey:
		return 0, fmt.Errorf("%q is too short for the beginning of a word: it needs %d bytes", w, stemKey)
	case !isOneWord(strings.TrimSuffix(w, "~")):
		return 0, fmt.Errorf("%q is never one word in a text: write the words that stand there one after the other", w)
	case len(p.lex.vocab.words) == maxWords:
		return 0, fmt.Errorf("more than %d words", maxWords)
	}
	return p.lex.vocab.add(w), nil
}

// isOneWord reports whether w is read as one word in texts.
func isOneWord(w string) bool {
	r, _ := utf8.DecodeRuneInString(w)
	if unspaced(r) {
		return true
	}
	end, _ := scanWord([]byte(w), 0, nil)
	return end == len(w) && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// add compiles a phrase.
func (p *lexiconParser) add(line string) error {
	first := len(p.elems)
	for line != "" {
		n := 0
		for n < len(line) && !isBlank(line[n]) {
			n++
		}
		f := line[:n]
		for n < len(line) && isBlank(line[n]) {
			n++
		}
		line = line[n:]
		var e element
		if f[0] == '[' && f[len(f)-1] == ']' {
			e.opt, f = true, f[1:len(f)-1]
		}
		switch f {
		case "...":
			e.gap = true
			e.sure = p.section.rule >= 0 && p.lex.rules[p.section.rule].kind == SignalClaim && !p.section.plain
		case "*":
			e.any = true
		case "{code}":
			e.code = true
		case "{n/n}":
			e.full = true
		case "{m/n}":
			e.part = true
		default:
			if err := p.choice(&e, f); err != nil {
				return err
			}
		}
		p.elems = append(p.elems, e)
	}
	elems := p.elems[first:len(p.elems):len(p.elems)]
	if first := elems[0]; first.gap || first.any {
		return errors.New("a phrase can't begin with * or with ... in its place")
	}
	if !slices.ContainsFunc(elems, func(e element) bool { return !e.opt && !e.gap }) {
		return errors.New("each word of the phrase may be left out: it would match nothing at all")
	}
	if ways(elems) > maxWays {
		return fmt.Errorf("the phrase has too many words to leave out, alternatives with + and ...: together more than %d ways to match", maxWays)
	}
	pat := p.section
	pat.elems = elems
	p.lex.patterns = append(p.lex.patterns, pat)
	return nil
}

// maxWays is how many ways to match are tried for a phrase at most.
const maxWays = 4096

// ways returns in how many ways elems may be laid on words, as far as it matters.
func ways(elems []element) int {
	n := 1
	for i := range elems {
		e := &elems[i]
		k := 1
		for j, run := range e.runs { // the longest first; of those with the same length one matches
			if j == 0 || len(run) < len(e.runs[j-1]) {
				k++
			}
		}
		if e.opt {
			k++
		}
		if e.gap {
			k = maxGap + 1
		}
		if n *= k; n > maxWays {
			break
		}
	}
	return n
}

// choice compiles the alternatives of one place in a phrase.
func (p *lexiconParser) choice(e *element, f string) error {
	first := len(p.ids)
	for more := true; more; {
		var w string
		switch w, f, more = strings.Cut(f, "|"); {
		case w == "#":
			e.num = true
		case w == "*" || w == "..." || w != "" && w[0] == '{':
			return fmt.Errorf("%s is a place of its own, none of several alternatives: write a phrase for each", w)
		case w != "" && w[0] == '~':
			bit, err := p.ending(w[1:])
			if err != nil {
				return err
			}
			e.tail |= bit
		case w != "" && w[0] == '@':
			group, ok := p.groups[w]
			if !ok {
				return fmt.Errorf("group %s is not defined", w)
			}
			p.ids = append(p.ids, group.ids...)
			e.runs = append(e.runs, group.runs...)
		default:
			one := choices{ids: p.ids, runs: e.runs}
			if err := p.alternative(&one, w); err != nil {
				return err
			}
			p.ids, e.runs = one.ids, one.runs
		}
	}
	slices.SortStableFunc(e.runs, func(a, b []wordID) int { return len(b) - len(a) })
	if e.set = p.ids[first:len(p.ids):len(p.ids)]; len(e.set) == 0 {
		e.set = nil
	}
	return nil
}

// finish turns words into sets, now that the vocabulary is known, and indexes the patterns by what they begin with.
func (p *lexiconParser) finish() (*lexicon, error) {
	lex := p.lex
	if len(lex.patterns) == 0 {
		return nil, errors.New("lexicon: no phrases")
	}
	for _, e := range lex.endings {
		lex.lastBytes[e[len(e)-1]] = true
	}
	below := lex.vocab.index()
	ids := func(list []wordID) []wordID {
		if len(below) > 0 {
			for _, id := range list[:len(list):len(list)] {
				list = append(list[:len(list):len(list)], below[id]...)
			}
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	size := (len(lex.vocab.words) + 63) / 64
	set := func(list []wordID) wordSet {
		s := make(wordSet, size)
		for _, id := range list {
			s[id/64] |= 1 << (id % 64)
		}
		return s
	}
	for i := range lex.patterns {
		for k := range lex.patterns[i].elems {
			if e := &lex.patterns[i].elems[k]; len(e.set) > 0 {
				e.set = ids(e.set)
			}
		}
	}
	var or wordSet
	for name, dst := range map[string]*wordSet{
		"@not": &lex.not, "@later": &lex.later, "@to": &lex.to, "@clause": &lex.clause, "@fail": &lex.fail, "@tests": &lex.test, "@id": &lex.otherID, "@whole": &lex.whole,
		"@other": &lex.other, "@unreal": &lex.unreal, "@of": &lex.of, "@finite": &lex.finiteVerbs, "@or": &or,
	} {
		group, ok := p.shared[name]
		if !ok {
			return nil, fmt.Errorf("lexicon: group %s is not defined", name)
		}
		if len(group.runs) > 0 {
			return nil, fmt.Errorf("lexicon: group %s holds words joined by +, but code asks for it", name)
		}
		*dst = set(ids(group.ids))
	}
	for _, name := range []string{"@alien", "@among", "@asks"} {
		if len(p.shared[name].runs) > 0 {
			return nil, fmt.Errorf("lexicon: group %s holds words joined by +, but code asks for it", name)
		}
	}
	lex.traits = make([]wordTraits, len(lex.vocab.words))
	alien := set(ids(p.shared["@alien"].ids))
	for t, words := range map[wordTraits]wordSet{commonWord: set(ids(p.common)), orWord: or, unrealWord: lex.unreal, alienWord: alien} {
		for i := range lex.traits {
			if words.has(wordID(i)) {
				lex.traits[i] |= t
			}
		}
	}
	lex.among = set(ids(p.shared["@among"].ids))
	for _, id := range p.shared["@asks"].ids {
		lex.asks = append(lex.asks, lex.vocab.words[id])
	}
	lex.kinds = map[SignalKind]ruleSet{}
	for i, r := range lex.rules {
		lex.kinds[r.kind] |= 1 << i
	}
	for r, name := range ruleNames {
		if i, ok := lex.byName[name]; ok {
			lex.named[r] = 1 << i
		}
	}
	for v := range lex.starts {
		lex.indexStarts(voice(v))
	}
	return lex, nil
}

// indexStarts indexes the patterns of a voice by what they begin with.
func (lex *lexicon) indexStarts(v voice) {
	x := &lex.starts[v]
	each := func(word func(id wordID, s start)) {
		for i := range lex.patterns {
			pat := &lex.patterns[i]
			if !pat.heardIn(v) {
				continue
			}
			for k := range pat.elems {
				e := &pat.elems[k]
				rest := pat.elems[k+1:]
				s := start{second: sieveAt(rest, 0), third: sieveAt(rest, 1), pattern: int32(i), start: pat.start}
				for _, id := range e.set {
					word(id, s)
				}
				for _, run := range e.runs {
					s := s
					s.second, s.third = sieveOfRun(run[1:], rest, 0), sieveOfRun(run[1:], rest, 1)
					word(run[0], s)
				}
				if x.words == nil { // the first time
					if e.num || e.full || e.part {
						x.num = append(x.num, s)
					}
					if e.code {
						x.code = append(x.code, s)
					}
					if e.tail != 0 {
						x.tail = append(x.tail, s)
					}
				}
				if !e.opt {
					break
				}
			}
		}
	}
	words := make([]wordStarts, len(lex.vocab.words))
	each(func(id wordID, s start) {
		w := &words[id]
		w.last++ // counts, for now
		w.second[1] |= s.second
		if !s.start {
			w.second[0] |= s.second
		}
	})
	size := uint32(0)
	for i := range words {
		w := &words[i]
		if w.last > 0 {
			lex.traits[i] |= startWord << v
		}
		w.first, w.last, size = size, size, size+w.last
	}
	x.words, x.list = words, make([]start, size)
	each(func(id wordID, s start) {
		w := &x.words[id]
		x.list[w.last] = s
		w.last++
	})
}

func (p *pattern) heardIn(v voice) bool {
	switch v {
	case humanVoice:
		return p.request
	case rawVoice:
		return !p.request && (p.raw || p.ignored)
	}
	return !p.request && !p.raw
}
