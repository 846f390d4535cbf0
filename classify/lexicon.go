package classify

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
