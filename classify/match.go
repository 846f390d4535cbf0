package classify

import "slices"

// match is a phrase found in a sentence. first and last are tokens: [first, last).
type match struct {
	pattern     int32
	first, last int32
}

const maxMatches = 96 // a sentence; hostile text could have more

// match appends what the lexicon finds in a sentence. Of two finds of one rule that overlap the longer stays, and a
// find that touches an idiom of the ignore rule goes.
func (lex *lexicon) match(found []match, toks []token, s sentence, v voice) []match {
	q := matcher{lex: lex, found: found[:0], toks: toks[:s.last], sentence: s}
	x := &lex.starts[v]
	for i := s.first; i < s.last; i++ {
		t := &toks[i]
		q.try(x.kinds[t.kind], i, false)
		if t.tail != 0 {
			q.try(x.tail, i, false)
		}
		if t.id != 0 {
			q.try(x.words[t.id], i, true)
		}
	}
	return lex.longest(lex.withoutIdioms(q.found))
}

// matcher is at work on one sentence.
type matcher struct {
	lex      *lexicon
	found    []match
	toks     []token // up to the end of the sentence
	sentence sentence
}

// longest drops the finds that are a part of another one: "let me know if" is no "let me". They come by their start.
// A condition and a reason stay, whatever they stand in.
func (lex *lexicon) longest(found []match) []match {
	for i := range found {
		m := &found[i]
		if lex.kept.has(lex.patterns[m.pattern].rule) {
			continue
		}
		for j := max(0, i-16); j < min(len(found), i+16); j++ {
			if n := found[j]; n.first <= m.first && m.last <= n.last && n.last-n.first > m.last-m.first {
				m.last = m.first // marks it
				break
			}
		}
	}
	return slices.DeleteFunc(found, func(m match) bool { return m.first == m.last })
}

// try takes down which of the patterns that may begin at token i do. With word they were found by the word at i, which
// therefore fits an element that has to be there.
func (q *matcher) try(patterns []int32, i int, word bool) {
	for _, p := range patterns {
		pat := &q.lex.patterns[p]
		if pat.start && !atStart(q.toks, q.sentence, i) {
			continue
		}
		elems, from := pat.elems, i
		if word && !elems[0].opt && !elems[0].gap && len(elems[0].runs) == 0 {
			elems, from = elems[1:], i+1
		}
		end := q.lex.matchAt(elems, q.toks, from)
		if end < 0 || len(q.found) == maxMatches || pat.end && end < len(q.toks) && !q.toks[end].gap {
			continue
		}
		q.found = q.lex.keepLonger(q.found, match{p, int32(i), int32(end)})
	}
}

// keepLonger adds m unless an overlapping find of the same rule is at least as long; shorter ones it replaces.
func (lex *lexicon) keepLonger(found []match, m match) []match {
	for j := len(found) - 1; j >= 0; j-- {
		f := &found[j]
		if f.last <= m.first && m.first-f.last > 12 {
			break // finds come in order of their start, and none is that long
		}
		if f.last <= m.first || lex.patterns[f.pattern].rule != lex.patterns[m.pattern].rule {
			continue
		}
		if f.last-f.first < m.last-m.first {
			if f.first < m.first { // two halves of one find: join them
				m.first = f.first
			}
			*f = m
		} else if m.last > f.last {
			f.last = m.last
		}
		return found
	}
	return append(found, m)
}

func (lex *lexicon) withoutIdioms(found []match) []match {
	idioms := slices.DeleteFunc(slices.Clone(found), func(m match) bool { return !lex.patterns[m.pattern].ignored })
	return slices.DeleteFunc(found, func(m match) bool { // an idiom overlaps itself
		return slices.ContainsFunc(idioms, func(i match) bool { return m.first < i.last && i.first < m.last })
	})
}

// atStart reports whether token i begins its sentence: nothing but inline code or a number stands before it, or a label
// of one or two words ("Status: done").
func atStart(toks []token, s sentence, i int) bool {
	switch i - s.first {
	case 0:
		return true
	case 1:
		return toks[s.first].kind != wordToken || toks[i].gap
	case 2:
		return toks[i].gap
	}
	return false
}

// matchAt returns the token after the longest way in which elems match from token i on, or -1.
func (lex *lexicon) matchAt(elems []element, toks []token, i int) int {
	for k := range elems {
		e := &elems[k]
		if e.gap {
			most := min(maxGap, len(toks)-i)
			for n := 0; e.sure && n < most; n++ {
				if lex.not.has(toks[i+n].id) {
					most = n
				}
			}
			for n := most; n >= 0; n-- {
				if end := lex.matchAt(elems[k+1:], toks, i+n); end >= 0 {
					return end
				}
			}
			return -1
		}
		for _, run := range e.runs {
			if runAt(run, toks, i) {
				if end := lex.matchAt(elems[k+1:], toks, i+len(run)); end >= 0 {
					return end
				}
			}
		}
		ok := i < len(toks) && e.fits(&toks[i])
		if e.opt {
			if ok {
				if end := lex.matchAt(elems[k+1:], toks, i+1); end >= 0 {
					return end
				}
			}
			continue
		}
		if !ok {
			return -1
		}
		i++
	}
	return i
}

// runAt reports whether the words of run follow one another from token i on.
func runAt(run []wordID, toks []token, i int) bool {
	return i+len(run) <= len(toks) &&
		slices.EqualFunc(run, toks[i:i+len(run)], func(id wordID, t token) bool { return t.id == id })
}

// fits reports whether e matches a token by itself.
func (e *element) fits(t *token) bool {
	if e.any.has(t.kind) || e.tail&t.tail != 0 {
		return true
	}
	_, ok := slices.BinarySearch(e.ids, t.id)
	return ok
}
