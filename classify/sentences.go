package classify

// Sentence is a sentence of the agent's own words: not quoted, and not inside a code fence. Start and End are byte
// offsets; white space around the sentence is left out. A hard-wrapped sentence holds line breaks. The end mark and the
// markup of the sentence (**, `) belong to it.
type Sentence struct {
	Start, End int
	Paragraph  bool // not of a list item, a heading or a table
}

// Sentences splits a text into its sentences, in order. It reads text as the [Heuristic] does, so each claim lies in
// one sentence. Time is linear in the length.
func Sentences(text string) []Sentence {
	var list []Sentence
	var toks []token
	var sents []sentence
	var buf []byte
	lines := newLineReader(text)
	lines.blocks(func(l line) {
		block := text[l.start:l.end]
		buf, _ = mask(buf, block)
		toks, sents = segmenter.tokenize(toks, sents, buf)
		start := 0
		for _, s := range sents {
			for start < s.end && isBlank(block[start]) {
				start++
			}
			list = append(list, Sentence{l.start + start, l.start + s.end, l.kind == paragraphLine})
			start = s.end
		}
	}, func(line) {})
	return list
}

// segmenter splits sentences without knowing any word.
var segmenter = func() *lexicon {
	lex := &lexicon{vocab: newVocabulary()}
	lex.index()
	return lex
}()
