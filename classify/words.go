package classify

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"
)

// zone is a part of a text in which a word counts of its own.
type zone int

const (
	inText    zone = iota
	nearEnd        // the last three sentences
	nearStart      // the first two
	nZones
)

var zoneNames = [nZones]string{"any", "end", "start"}

// wordReader collects the words of a text, and the pairs of neighbours, that the model knows.
type wordReader struct {
	model     *model
	all       []string // to collect all words: the names of the weights, with their zones
	sentences int
	held      []int32 // of model.lines
	seen      []bool
	known     int                  // words of two letters and more that the model knows
	last      [3][]([nZones]int32) // of the last sentences, a ring
	key       []byte
}

// newWordReader returns a reader of the words that m knows or, to collect, of all words.
func newWordReader(m *model, collect bool) wordReader {
	if collect {
		return wordReader{model: &model{words: map[string][nZones]int32{}}, all: []string{""}, seen: []bool{false}}
	}
	return wordReader{model: m, seen: make([]bool, len(m.lines))}
}

// sentence reads a sentence in lower case, data masked.
func (r *wordReader) sentence(s []byte) {
	ring := r.sentences % len(r.last)
	r.last[ring] = r.last[ring][:0]
	before := 0 // where the word before begins in key, which holds both
	r.key = r.key[:0]
	for len(s) > 0 {
		start := len(r.key)
		var n int
		r.key, n = appendTerm(append(r.key, ' '), s)
		s = s[n:]
		if len(r.key) == start+1 {
			r.key = r.key[:start]
			continue
		}
		r.add(ring, r.key[start+1:])
		if start > 0 {
			r.add(ring, r.key[before+1:])
		}
		before, r.key = 0, append(r.key[:0], r.key[start:]...)
	}
	r.sentences++
}

// add takes down a term of the sentence at hand.
func (r *wordReader) add(ring int, term []byte) {
	at, ok := r.model.words[string(term)]
	switch {
	case !ok && r.all == nil:
		return
	case !ok:
		for z, name := range zoneNames {
			at[z] = int32(len(r.all))
			r.all, r.seen = append(r.all, name+" "+string(term)), append(r.seen, false)
		}
		r.model.words[string(term)] = at
	}
	if len(term) > 1 {
		r.known++
	}
	r.hold(at[inText])
	if r.sentences < 2 {
		r.hold(at[nearStart])
	}
	if at[nearEnd] != 0 {
		r.last[ring] = append(r.last[ring], at)
	}
}

func (r *wordReader) hold(i int32) {
	if i != 0 && !r.seen[i] {
		r.seen[i] = true
		r.held = append(r.held, i)
	}
}

// holdEnd takes down the words of the last sentences as such.
func (r *wordReader) holdEnd() {
	for _, sentence := range r.last {
		for _, at := range sentence {
			r.hold(at[nearEnd])
		}
	}
}

// score adds to scores what the words of the text speak for. The more words a text has, the less each counts.
func (r *wordReader) score(scores *row) {
	r.holdEnd()
	norm := 0.0
	var sum row
	var weights [1 + nClasses]float64 // the first is the rarity: a rare word counts more
	for _, i := range r.held {
		_, _ = numbers(weights[:], r.model.text[r.model.lines[i]:]) // parseModel or a test has checked it
		norm += weights[0] * weights[0]
		for c, v := range weights[1:] {
			sum[c] += v
		}
	}
	if norm == 0 {
		return
	}
	norm = math.Sqrt(norm)
	for c, v := range sum {
		scores[c] += v / norm
	}
}

// names returns the terms that were collected, with their zones.
func (r *wordReader) names() []string {
	r.holdEnd()
	var names []string
	for _, i := range r.held {
		names = append(names, r.all[i])
	}
	slices.Sort(names)
	return names
}

// appendTerm appends the term that s begins with, if any, and returns how long it is: a word, # for a number, ` for
// code or quoted words, one character of a script without spaces, or one of the marks ? : ✅.
func appendTerm(term, s []byte) ([]byte, int) {
	switch c := s[0]; {
	case c == masked:
		n := 1
		for n < len(s) && s[n] == masked {
			n++
		}
		return append(term, '`'), n
	case '0' <= c && c <= '9':
		n := 1
		for n < len(s) && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		return append(term, '#'), n
	case c == '?' || c == ':':
		return append(term, c), 1
	case c < utf8.RuneSelf && !('a' <= c && c <= 'z' || c == '\''):
		return term, 1
	}
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRune(s[n:])
		switch {
		case unspaced(r):
			if n == 0 {
				return utf8.AppendRune(term, r), size
			}
			return term, n
		case r == '’':
			r = '\''
		case r == '✅' && n == 0:
			return utf8.AppendRune(term, r), size
		case r == '？' && n == 0:
			return append(term, '?'), size
		case r == '：' && n == 0:
			return append(term, ':'), size
		case r != '\'' && !unicode.IsLetter(r) && !unicode.IsMark(r):
			return term, max(n, size)
		}
		if n < maxWord {
			term = utf8.AppendRune(term, unicode.ToLower(r))
		}
		n += size
	}
	return term, n
}
