package classify

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// In scripts without spaces words of the tables run into one another. Each phrase has to be found in at least one of the
// ways in which it can be written, or it is no use.
func TestUnspacedPhrasesAreFound(t *testing.T) {
	for _, language := range []string{"zh", "ja"} {
		lex := builtinLexicon(t, language)
		for i := range lex.patterns {
			pat := &lex.patterns[i]
			ways, unspacedOnly := lex.spellings(pat)
			if !unspacedOnly {
				continue
			}
			name := "ignore"
			if !pat.ignored {
				name = string(lex.rules[pat.rule].kind) + "." + lex.rules[pat.rule].name
			}
			assert.True(t, slices.ContainsFunc(ways, lex.splits), "%s: %v is cut otherwise", name, ways[0])
		}
	}
}

// splits reports whether the words, written without spaces, are the tokens again.
func (lex *lexicon) splits(words []string) bool {
	text := strings.Join(words, "")
	buf, _ := mask(nil, text)
	toks, _ := lex.tokenize(nil, nil, buf, text)
	if len(toks) != len(words) {
		return false
	}
	for i, t := range toks {
		if text[t.start:t.end] != words[i] {
			return false
		}
	}
	return true
}

// spellings returns some of the ways in which a pattern can be written, each alternative of each element at least once,
// without what may be left out, and whether all of them consist of words without spaces.
func (lex *lexicon) spellings(pat *pattern) (ways [][]string, unspacedOnly bool) {
	var places [][][]string
	most := 0
	for _, e := range lex.elements(pat) {
		if e.opt || e.gap {
			continue
		}
		if e.any || e.tail != 0 || e.code || e.full || e.part || e.num && len(lex.words(&e)) == 0 {
			return nil, false
		}
		var choices [][]string
		for _, id := range lex.words(&e) {
			choices = append(choices, []string{lex.vocab.word(id)})
		}
		for _, run := range lex.several(&e) {
			var words []string
			for _, id := range run {
				words = append(words, lex.vocab.word(id))
			}
			choices = append(choices, words)
		}
		places = append(places, choices)
		most = max(most, len(choices))
	}
	for shift := range 7 { // so that different choices meet
		for n := range most {
			var words []string
			for k, choices := range places {
				words = append(words, choices[(n+k*shift)%len(choices)]...)
			}
			for _, w := range words {
				if r := []rune(w)[0]; !unspaced(r) {
					return nil, false
				}
			}
			ways = append(ways, words)
		}
	}
	return ways, len(ways) > 0
}
