package classify

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// vocabulary numbers the words of the tables, from 1. Its lookups are what reading a text consists of most, so once it is
// complete it has a hash table of its own, open-addressed and keyed by the word's bytes.
type vocabulary struct {
	ids   map[string]wordID // while it is built
	text  string            // the words, by number
	ends  []uint32          // of the words in text, by number
	slots []wordSlot        // a power of two, at most two thirds full

	stems    map[string][]stem // by the first stemKey bytes: beginnings of words, as in "исправл~", the longest first
	sieve    [16]uint64        // a bit for the hash of each key of stems
	unspaced map[rune]uint64   // by first character, in scripts without spaces: a bit for each length in bytes that its words have
}

type wordID uint16

// wordSlot is a word and the part of its hash that its place in the table does not tell.
type wordSlot struct {
	tag uint16
	id  wordID
}

// stem is the beginning of words that count as one.
type stem struct {
	text string
	id   wordID
}

const (
	stemKey  = 4       // bytes: four Latin letters or two Cyrillic ones
	maxWords = 1 << 15 // so that a number fits wordID
)

func newVocabulary() *vocabulary {
	return &vocabulary{ids: map[string]wordID{"": 0}, ends: make([]uint32, 1)}
}

// size returns how many words there are, with the empty one that has the number 0.
func (v *vocabulary) size() int { return len(v.ends) }

// word returns the word with a number, which is not 0.
func (v *vocabulary) word(id wordID) string { return v.text[v.ends[id-1]:v.ends[id]] }

// add numbers a word or, with ~ at its end, the beginning of words. It is in text once all are.
func (v *vocabulary) add(w string) wordID {
	id, ok := v.ids[w]
	if !ok {
		id = wordID(len(v.ends))
		v.ids[w] = id
		v.ends = append(v.ends, v.ends[id-1]+uint32(len(w)))
	}
	return id
}

// join writes the words that were added into text.
func (v *vocabulary) join() {
	words := make([]string, v.size())
	for w, id := range v.ids {
		words[id] = w
	}
	v.text, v.ids = strings.Join(words, ""), nil
}

// index makes the vocabulary ready for lookups.
func (v *vocabulary) index() {
	size := 2
	for size*2 < v.size()*3 {
		size *= 2
	}
	v.slots = make([]wordSlot, size)
	v.stems, v.unspaced = map[string][]stem{}, map[rune]uint64{}
	var buf []byte
	for id := wordID(1); int(id) < v.size(); id++ {
		w := v.word(id)
		buf = append(buf[:0], w...)
		h := hashWord(buf)
		at := h & uint32(size-1)
		for v.slots[at].id != 0 {
			at = (at + 1) & uint32(size-1)
		}
		v.slots[at] = wordSlot{uint16(h >> 16), id}
		if w[len(w)-1] == '~' {
			key := w[:stemKey]
			v.stems[key] = append(v.stems[key], stem{w[:len(w)-1], id})
			h := hashWord(buf[:stemKey]) % uint32(len(v.sieve)*64)
			v.sieve[h/64] |= 1 << (h % 64)
		}
		if w[0] >= 0xE3 {
			if r, _ := utf8.DecodeRuneInString(w); unspaced(r) {
				v.unspaced[r] |= 1 << len(w)
			}
		}
	}
	for _, list := range v.stems {
		slices.SortFunc(list, func(a, b stem) int { return len(b.text) - len(a.text) })
	}
}

// below returns the words that each stem is the beginning of.
func (v *vocabulary) below() map[wordID][]wordID {
	stems := map[string][]stem{} // by their first bytes
	for id := wordID(1); int(id) < v.size(); id++ {
		if s, ok := strings.CutSuffix(v.word(id), "~"); ok {
			stems[s[:stemKey]] = append(stems[s[:stemKey]], stem{s, id})
		}
	}
	below := map[wordID][]wordID{}
	for id := wordID(1); int(id) < v.size(); id++ {
		w := v.word(id)
		if len(w) < stemKey {
			continue
		}
		for _, s := range stems[w[:stemKey]] {
			if s.id != id && strings.HasPrefix(w, s.text) {
				below[s.id] = append(below[s.id], id)
			}
		}
	}
	return below
}

// exact returns the number of a word, or 0.
func (v *vocabulary) exact(w []byte) wordID {
	h := hashWord(w)
	for at := h; ; at++ {
		s := v.slots[at&uint32(len(v.slots)-1)]
		if s.id == 0 || s.tag == uint16(h>>16) && v.word(s.id) == string(w) {
			return s.id
		}
	}
}

// lookup returns the number of a word, or of the longest stem it begins with; 0 when it is unknown.
func (v *vocabulary) lookup(w []byte) wordID {
	if id := v.exact(w); id != 0 || len(w) < stemKey || len(v.stems) == 0 {
		return id
	}
	h := hashWord(w[:stemKey]) % uint32(len(v.sieve)*64)
	if v.sieve[h/64]&(1<<(h%64)) == 0 {
		return 0
	}
	for _, s := range v.stems[string(w[:stemKey])] {
		if len(w) >= len(s.text) && string(w[:len(s.text)]) == s.text {
			return s.id
		}
	}
	return 0
}

// hashWord hashes a word by its first and last eight bytes and its length, which tell the words of the tables apart.
func hashWord(w []byte) uint32 {
	var a, b uint64
	switch n := len(w); {
	case n >= 8:
		a, b = binary.LittleEndian.Uint64(w), binary.LittleEndian.Uint64(w[n-8:])
	case n >= 4:
		a, b = uint64(binary.LittleEndian.Uint32(w)), uint64(binary.LittleEndian.Uint32(w[n-4:]))
	case n > 0:
		a = uint64(w[0])<<16 | uint64(w[n/2])<<8 | uint64(w[n-1])
	}
	high, low := bits.Mul64(a^0x9E3779B97F4A7C15, b^uint64(len(w))^0xD6E8FEB86659FD93)
	return uint32(high ^ low)
}

// wordSet is a set of words, a bit each.
type wordSet []uint64

// newWordSet returns a set of so many times 64 words that holds ids.
func newWordSet(size int, ids []wordID) wordSet {
	s := make(wordSet, size)
	for _, id := range ids {
		s[id/64] |= 1 << (id % 64)
	}
	return s
}

func (s wordSet) list() []wordID { return slices.Collect(s.all()) }

// all yields the words of the set in the order of their numbers.
func (s wordSet) all() iter.Seq[wordID] {
	return func(yield func(wordID) bool) {
		for i, bits64 := range s {
			for ; bits64 != 0; bits64 &= bits64 - 1 {
				if !yield(wordID(i*64 + bits.TrailingZeros64(bits64))) {
					return
				}
			}
		}
	}
}

func (s wordSet) has(id wordID) bool { return id != 0 && s[id/64]&(1<<(id%64)) != 0 }

// contains reports whether a sorted set holds a word.
func contains(set []wordID, id wordID) bool {
	if len(set) <= 8 {
		return slices.Contains(set, id)
	}
	_, ok := slices.BinarySearch(set, id)
	return ok
}

// unspaced reports whether r belongs to a script that puts no spaces between words: Han, Hiragana, Katakana.
func unspaced(r rune) bool {
	return r >= 0x3005 && (r <= 0x3007 || r >= 0x3041 && r <= 0x30FF && r != '・' || r >= 0x3400 && r <= 0x9FFF || r >= 0xF900 && r <= 0xFAFF || r >= 0x20000 && r <= 0x323AF)
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
			if id := v.exact(buf[j : j+size]); id != 0 {
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
