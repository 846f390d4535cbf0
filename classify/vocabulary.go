package classify

import (
	"maps"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

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
