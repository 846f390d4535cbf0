package classify

import (
	"maps"
	"slices"
	"strings"
)

// SentenceKind says what a [Sentence] is in Markdown.
type SentenceKind string

// The kinds of sentences.
const (
	Prose    SentenceKind = "prose"   // a sentence of a paragraph
	ListItem SentenceKind = "item"    // a sentence of a list item, without the marker
	Heading  SentenceKind = "heading" // a heading, without the marker
	TableRow SentenceKind = "table"   // a row of a table
	Quote    SentenceKind = "quote"   // quoted lines (>) in a row, and HTML comments
	Code     SentenceKind = "code"    // the lines of one code fence or edit block
)

// Sentence is a part of an output: a sentence of the agent's own words, or a run of lines that are not its own words
// (Quote, Code). Start and End are byte offsets; white space around the sentence is left out. A hard-wrapped sentence
// holds line breaks. The end mark and the markup of the sentence (**, `) belong to it.
type Sentence struct {
	Kind       SentenceKind
	Start, End int
}

// Sentences splits a text into its sentences, in order. Rules, blank lines and the delimiters of code fences are left
// out. It reads text as the [Heuristic] does, so each signal in prose lies in one sentence. Time is linear in the
// length.
func Sentences(text string) []Sentence {
	var list []Sentence
	lines := lineReader{text: text}
	var toks []token
	var sents []sentence
	var buf []byte
	prose := func(l line) {
		if l.start >= l.end {
			return
		}
		block := text[l.start:l.end]
		buf, _ = mask(buf, block)
		toks, sents = segmenter.tokenize(toks, sents, buf, block)
		start := 0
		for _, s := range sents {
			from, to := trimSpan(block, start, s.end)
			list = append(list, Sentence{sentenceKinds[l.kind], l.start + from, l.start + to})
			start = s.end
		}
	}
	lines.blocks(prose, func(l line) {
		kind, ok := sentenceKinds[l.kind]
		if !ok {
			return
		}
		if n := len(list); n > 0 && list[n-1].Kind == kind && onlyBlank(text[list[n-1].End:l.start]) {
			list[n-1].End = l.end
			return
		}
		list = append(list, Sentence{kind, l.start, l.end})
	})
	return list
}

var sentenceKinds = map[lineKind]SentenceKind{
	paragraphLine: Prose, itemLine: ListItem, headingLine: Heading, tableLine: TableRow, quotedLine: Quote,
	fencedLine: Code,
}

// segmenter splits sentences without knowing any word.
var segmenter = func() *lexicon {
	lex := &lexicon{vocab: newVocabulary()}
	for _, w := range slices.Sorted(maps.Keys(numberWords)) {
		lex.vocab.add(w)
	}
	lex.index()
	return lex
}()

func trimSpan(s string, start, end int) (int, int) {
	for start < end && isBlank(s[start]) {
		start++
	}
	for end > start && isBlank(s[end-1]) {
		end--
	}
	return start, end
}

// onlyBlank reports whether lines of one block may have s between them: white space and quote marks.
func onlyBlank(s string) bool { return strings.Trim(s, " \t\r\n>") == "" }
