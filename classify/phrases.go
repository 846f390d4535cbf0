package classify

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parseLexicon compiles the tables in files, one a language, into one, with the phrases of the files of these names in
// phrases, unless it is nil. An error names file and line.
func parseLexicon(fsys, phrases fs.FS, files []string) (*lexicon, error) {
	p := lexiconParser{
		lex:    &lexicon{vocab: newVocabulary(), byName: map[string]int{}, kinds: map[SignalKind]ruleSet{}},
		shared: map[string]choices{},
	}
	lex := p.lex
	for _, r := range [...]struct {
		index *int
		kind  SignalKind
		name  string
	}{ // those that code finds signs of, phrases or not
		{&lex.denial, SignalGap, "denied"}, {&lex.part, SignalGap, "part"}, {&lex.exception, SignalFailure, "exception"},
		{&lex.condition, SignalQuestion, "condition"}, {&lex.tests, SignalEvidence, string(EvidenceTests)},
		{&lex.commit, SignalEvidence, string(EvidenceCommit)}, {&lex.pullRequest, SignalEvidence, string(EvidencePullRequest)},
	} {
		var err error
		if *r.index, err = p.ruleIndex(r.kind, r.name); err != nil {
			return nil, err
		}
	}
	for _, from := range [...]struct {
		fsys   fs.FS
		folder string
	}{{fsys, ""}, {phrases, "phrases/"}} {
		if from.fsys == nil {
			continue
		}
		for _, name := range files {
			src, err := fs.ReadFile(from.fsys, name)
			if from.folder != "" && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("read lexicon: %w", err)
			}
			if err := p.file(from.folder+name, string(src)); err != nil {
				return nil, err
			}
		}
	}
	return p.finish()
}

func (p *lexiconParser) file(name, src string) error {
	p.groups, p.section, p.words = map[string]choices{}, pattern{rule: -1}, false
	n := 0
	for line := range strings.SplitSeq(strings.TrimPrefix(src, byteOrderMark), "\n") {
		n++
		line = strings.TrimFunc(line, isBlankRune)
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		if err := p.line(line); err != nil {
			return fmt.Errorf("lexicon %s:%d: %w", name, n, err)
		}
	}
	for name, w := range p.groups {
		all := p.shared[name]
		p.shared[name] = choices{ids: append(all.ids, w.ids...), runs: append(all.runs, w.runs...)}
	}
	return nil
}

const byteOrderMark = "\ufeff" // which some editors put before a text

type lexiconParser struct {
	lex     *lexicon
	groups  map[string]choices // of the file at hand
	shared  map[string]choices // of all files together: those that code asks for are one
	section pattern            // options of the section at hand
	words   bool               // inside [words]
	common  []wordID
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
	options := map[string]*bool{
		"start": &p.section.start, "end": &p.section.end, "plain": &p.section.plain, "clause": &p.section.clause,
		"raw": &p.section.raw, "verbless": &p.section.verbless, "request": &p.section.request,
	}
	for _, opt := range fields[2:] {
		if options[opt] == nil {
			return fmt.Errorf("unknown option %q", opt)
		}
		*options[opt] = true
	}
	switch SignalKind(kind) {
	case "ignore":
		p.section.ignored = true
		return nil
	case "request", SignalClaim, SignalHedge, SignalEvidence, signalPromise, SignalQuestion, signalOffer, SignalBlocker,
		SignalFailure, SignalGap, SignalProgress, signalAnswer:
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
		p.lex.kinds[kind] |= 1 << i
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
	var run []wordID
	for w := range strings.SplitSeq(w, "+") {
		id, err := p.word(w)
		if err != nil {
			return err
		}
		run = append(run, id)
	}
	if len(run) == 1 {
		to.ids = append(to.ids, run[0])
	} else {
		to.runs = append(to.runs, run)
	}
	return nil
}

const maxWord = 60 // bytes; in scripts without spaces a bit of 64 stands for each length

// word takes up a word or, with ~ at its end, the beginning of words.
func (p *lexiconParser) word(w string) (wordID, error) {
	if id, ok := p.lex.vocab.ids[w]; ok && id != 0 {
		return id, nil
	}
	read := string(finishWord(make([]byte, 0, 2*maxWord), []byte(w), false))
	switch {
	case w == "":
		return 0, errors.New("an empty word")
	case w != strings.ToLower(w):
		return 0, fmt.Errorf("%q is not lower case", w)
	case len(w) > maxWord:
		return 0, fmt.Errorf("%q is longer than %d bytes", w, maxWord)
	case read != w:
		return 0, fmt.Errorf("%q is read as %q in texts: write that", w, read)
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
	elems := make([]element, 0, strings.Count(line, " ")+1)
	ways := 1
	for f := range strings.FieldsFuncSeq(line, isBlankRune) {
		var e element
		if f[0] == '[' && f[len(f)-1] == ']' {
			e.opt, f = true, f[1:len(f)-1]
		}
		e.any = places[f]
		if f == "..." {
			e.gap = true
			e.sure = p.section.rule >= 0 && p.lex.rules[p.section.rule].kind == SignalClaim && !p.section.plain
		} else if e.any == 0 {
			if err := p.choice(&e, f); err != nil {
				return err
			}
		}
		elems = append(elems, e)
		ways = min(ways*e.ways(), maxWays+1)
	}
	if first := elems[0]; first.gap || first.any == places["*"] {
		return errors.New("a phrase can't begin with * or with ... in its place")
	}
	if !slices.ContainsFunc(elems, func(e element) bool { return !e.opt && !e.gap }) {
		return errors.New("each word of the phrase may be left out: it would match nothing at all")
	}
	if ways > maxWays {
		return fmt.Errorf("the phrase has too many words to leave out, alternatives with + and ...: "+
			"together more than %d ways to match", maxWays)
	}
	pat := p.section
	pat.elems = elems
	p.lex.patterns = append(p.lex.patterns, pat)
	return nil
}

// places are what stands in a phrase for any token of some kinds.
var places = map[string]tokenKinds{
	"*": 1<<codeToken - 1, "{code}": 1 << codeToken, "{n/n}": 1 << fullToken, "{m/n}": 1 << partToken,
}

// maxWays is how many ways to match are tried for a phrase at most.
const maxWays = 4096

// ways returns in how many ways e may be laid on words.
func (e *element) ways() int {
	if e.gap {
		return maxGap + 1
	}
	n := 1
	for i, run := range e.runs { // the longest first; of those with the same length one matches
		if i == 0 || len(run) < len(e.runs[i-1]) {
			n++
		}
	}
	if e.opt {
		n++
	}
	return n
}

// choice compiles the alternatives of one place in a phrase.
func (p *lexiconParser) choice(e *element, f string) error {
	to := &e.choices
	for more := true; more; {
		var w string
		switch w, f, more = strings.Cut(f, "|"); {
		case w == "#":
			e.any |= 1 << numberToken
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
			to.ids = append(to.ids, group.ids...)
			to.runs = append(to.runs, group.runs...)
		default:
			if err := p.alternative(to, w); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(to.runs, func(a, b []wordID) int { return len(b) - len(a) })
	return nil
}

// finish turns words into sets, now that the vocabulary is known.
func (p *lexiconParser) finish() (*lexicon, error) {
	lex := p.lex
	if len(lex.patterns) == 0 {
		return nil, errors.New("lexicon: no phrases")
	}
	below := lex.vocab.below()
	all := func(list []wordID) []wordID {
		list = slices.Clone(list)
		for _, id := range list {
			list = append(list, below[id]...)
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	for i := range lex.patterns {
		for k := range lex.patterns[i].elems {
			e := &lex.patterns[i].elems[k]
			e.ids = all(e.ids)
		}
	}
	size := len(lex.vocab.words)
	for name, set := range lex.groups() {
		group, ok := p.shared[name]
		if !ok && slices.Contains(strings.Fields(neededGroups), name) {
			return nil, fmt.Errorf("lexicon: group %s is not defined", name)
		}
		if len(group.runs) > 0 {
			return nil, fmt.Errorf("lexicon: group %s holds words joined by +, but code asks for it", name)
		}
		*set = newWordSet(size, all(group.ids))
	}
	lex.common = newWordSet(size, all(p.common))
	lex.index()
	return lex, nil
}
