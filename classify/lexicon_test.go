package classify

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Of "is [now] [fixed]" the reader of a table sees the phrase, not that it stands on "is" alone. Where that is one of
// the most frequent words of its language, it must be meant: then the word is a phrase of its own, too.
func TestPhrasesOnOneFrequentWord(t *testing.T) {
	l, err := builtin.languages()
	require.NoError(t, err)
	for _, name := range l.names {
		lex := builtinLexicon(t, name)
		alone := map[[2]int]bool{} // rule and word
		for _, p := range lex.patterns {
			if len(p.elems) == 1 {
				for _, id := range p.elems[0].ids {
					alone[[2]int{p.rule, int(id)}] = true
				}
			}
		}
		for _, p := range lex.patterns {
			for _, id := range onlyPlace(lex, p.elems) {
				if lex.common.has(id) && !alone[[2]int{p.rule, int(id)}] {
					rule := lex.rules[p.rule]
					assert.Fail(t, "a phrase that needs one frequent word only", "%s: %s %s: %s", name, rule.kind, rule.name,
						lex.vocab.words[id])
				}
			}
		}
	}
}

// onlyPlace returns the words of the only place in a phrase of several that can't be left out.
func onlyPlace(lex *lexicon, elems []element) []wordID {
	var words []wordID
	if len(elems) == 1 {
		return nil
	}
	needed := 0
	for _, e := range elems {
		if !e.opt && !e.gap {
			needed++
			words = e.ids
		}
	}
	if needed > 1 {
		return nil
	}
	return words
}
