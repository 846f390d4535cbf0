package classify

import (
	"maps"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// A lexicon is a compiled table of phrases. The format is described at the head of lexicon/en.txt.
type lexicon struct {
	vocab    *vocabulary
	rules    []rule
	byName   map[string]int // "claim.done" → index of rules
	kinds    map[SignalKind]ruleSet
	kept     ruleSet // rules whose finds stay inside longer ones
	patterns []pattern
	starts   [nVoices]startIndex

	endings []string // of words, as in ~ing

	// groups that code asks for, and [words]
	not, later, to, clause, fail, test, otherID, other, whole, unreal, of, finiteVerbs wordSet
	lint, typecheck, push                                                              wordSet // what a claim is about
	whenever, human, mine                                                              wordSet // what waits for the human
	among                                                                              wordSet // of a whole and its part
	asks                                                                               wordSet // end a question
	checked, common                                                                    wordSet

	questions []string // the words of asks

	denial, part, exception, condition, tests, commit, pullRequest int // rules that code, too, finds signs of
}

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
	elems            []element
	rule             int // index of rules
	start, end       bool
	plain            bool
	clause           bool
	raw              bool
	verbless         bool
	request, ignored bool
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
	words [][]int32            // by word
	kinds [nTokenKinds][]int32 // those that may begin with any token of a kind
	tail  []int32              // those that may begin with a word by its ending
}

// element matches one token, or with gap up to four.
type element struct {
	choices
	any  tokenKinds // of which each token matches
	gap  bool
	sure bool // a gap that no word of denial may stand in: "habe … nicht korrigiert" claims nothing
	opt  bool
	tail uint8 // endings of words: a bit for each of lexicon.endings
}

// choices are alternatives: single words, sorted, and several words in a row, the longest first.
type choices struct {
	ids  []wordID
	runs [][]wordID
}

const maxGap = 4

// neededGroups are the groups that a table must define.
const neededGroups = "@not @later @to @clause @fail @tests @id @whole @other @unreal @of @finite"

// groups returns the groups of words that code asks for.
func (lex *lexicon) groups() map[string]*wordSet {
	return map[string]*wordSet{
		"@not": &lex.not, "@later": &lex.later, "@to": &lex.to, "@clause": &lex.clause, "@fail": &lex.fail,
		"@tests": &lex.test, "@id": &lex.otherID, "@whole": &lex.whole, "@other": &lex.other, "@unreal": &lex.unreal,
		"@of": &lex.of, "@finite": &lex.finiteVerbs, "@lint": &lex.lint, "@types": &lex.typecheck, "@push": &lex.push,
		"@whenever": &lex.whenever, "@human": &lex.human, "@mine": &lex.mine, "@among": &lex.among,
		"@checked": &lex.checked, "@asks": &lex.asks,
	}
}

// index derives from vocabulary, rules, patterns and groups what a text is read with.
func (lex *lexicon) index() {
	for id, in := range lex.asks {
		if in {
			lex.questions = append(lex.questions, lex.vocab.words[id])
		}
	}
	for _, name := range [...]string{"question.condition", "hedge." + hedgeCannotCheck} {
		if i, ok := lex.byName[name]; ok {
			lex.kept |= 1 << i
		}
	}
	for v := range lex.starts {
		lex.indexStarts(voice(v))
	}
}

// indexStarts indexes the patterns of a voice by what they begin with.
func (lex *lexicon) indexStarts(v voice) {
	x := &lex.starts[v]
	x.words = make([][]int32, len(lex.vocab.words))
	for i := range lex.patterns {
		if !lex.patterns[i].heardIn(v) {
			continue
		}
		n := int32(i)
		for _, e := range lex.patterns[i].elems {
			for _, id := range e.ids {
				x.words[id] = append(x.words[id], n)
			}
			for _, run := range e.runs {
				x.words[run[0]] = append(x.words[run[0]], n)
			}
			for kind := range x.kinds {
				if e.any.has(tokenKind(kind)) && !e.any.has(wordToken) { // a find never begins with *
					x.kinds[kind] = append(x.kinds[kind], n)
				}
			}
			if e.tail != 0 {
				x.tail = append(x.tail, n)
			}
			if !e.opt {
				break
			}
		}
	}
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

// vocabulary numbers the words of the tables, from 1.
type vocabulary struct {
	ids   map[string]wordID
	words []string          // by number; 0 is the empty one
	stems map[string][]stem // by the first stemKey bytes: beginnings of words, as in "исправл~", the longest first
	// by first character, in scripts without spaces: a bit for each length in bytes of its words
	unspaced map[rune]uint64
}

type wordID uint16

// stem is the beginning of words that count as one.
type stem struct {
	text string
	id   wordID
}

const (
	stemKey  = 4       // bytes: four Latin letters or two Cyrillic ones
	maxWords = 1 << 15 // so that a number fits wordID
)

// newVocabulary returns a vocabulary of the words for numbers, the first words there are.
func newVocabulary() *vocabulary {
	v := &vocabulary{
		ids: map[string]wordID{"": 0}, words: []string{""}, stems: map[string][]stem{}, unspaced: map[rune]uint64{},
	}
	for _, w := range slices.Sorted(maps.Keys(numberWords)) {
		v.add(w)
	}
	return v
}

// add numbers a word or, with ~ at its end, the beginning of words.
func (v *vocabulary) add(w string) wordID {
	id := wordID(len(v.words))
	v.ids[w] = id
	v.words = append(v.words, w)
	if text, ok := strings.CutSuffix(w, "~"); ok {
		list := append(v.stems[w[:stemKey]], stem{text, id})
		slices.SortFunc(list, func(a, b stem) int { return len(b.text) - len(a.text) })
		v.stems[w[:stemKey]] = list
	}
	if r, _ := utf8.DecodeRuneInString(w); unspaced(r) {
		v.unspaced[r] |= 1 << len(w)
	}
	return id
}

// below returns the words that each stem is the beginning of.
func (v *vocabulary) below() map[wordID][]wordID {
	below := map[wordID][]wordID{}
	for i, w := range v.words {
		if len(w) < stemKey {
			continue
		}
		for _, s := range v.stems[w[:stemKey]] {
			if s.id != wordID(i) && strings.HasPrefix(w, s.text) {
				below[s.id] = append(below[s.id], wordID(i))
			}
		}
	}
	return below
}

// lookup returns the number of a word, or of the longest stem it begins with; 0 when it is unknown.
func (v *vocabulary) lookup(w []byte) wordID {
	if id := v.ids[string(w)]; id != 0 || len(w) < stemKey || len(v.stems) == 0 {
		return id
	}
	for _, s := range v.stems[string(w[:stemKey])] {
		if len(w) >= len(s.text) && string(w[:len(s.text)]) == s.text {
			return s.id
		}
	}
	return 0
}

// wordSet is a set of words, by number.
type wordSet []bool

// newWordSet returns a set for so many words that holds ids.
func newWordSet(size int, ids []wordID) wordSet {
	s := make(wordSet, size)
	for _, id := range ids {
		s[id] = true
	}
	return s
}

func (s wordSet) has(id wordID) bool { return id != 0 && s[id] }

// unspaced reports whether r belongs to a script that puts no spaces between words: Han, Hiragana, Katakana.
func unspaced(r rune) bool {
	return r >= 0x3005 && (r <= 0x3007 || r >= 0x3041 && r <= 0x30FF && r != '・' || r >= 0x3400 && r <= 0x9FFF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x20000 && r <= 0x323AF)
}

// scanUnspaced reads the longest word of the tables at i or, where none begins, all up to the next one that does.
func (v *vocabulary) scanUnspaced(buf []byte, i int) (int, wordID) {
	for j := i; j < len(buf); {
		r, n := utf8.DecodeRune(buf[j:])
		if !unspaced(r) {
			return j, 0
		}
		for sizes := v.unspaced[r]; sizes != 0; {
			size := bits.Len64(sizes) - 1
			sizes &^= 1 << size
			if size > len(buf)-j || size < len(buf)-j && !utf8.RuneStart(buf[j+size]) {
				continue
			}
			if id := v.ids[string(buf[j:j+size])]; id != 0 {
				if j > i {
					return j, 0
				}
				return j + size, id
			}
		}
		j += n
	}
	return len(buf), 0
}
