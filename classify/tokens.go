package classify

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// token is a word, a number, or an inline code span or quoted speech as a whole.
type token struct {
	start, end int32 // bytes within its block
	id         wordID
	kind       tokenKind
	gap        bool  // punctuation that parts clauses stands before it
	tail       uint8 // which of lexicon.endings it has
}

type tokenKind uint8

const (
	wordToken   tokenKind = iota
	numberToken           // digits or a number word, above zero
	zeroToken
	fullToken // n of n: 12/12
	partToken // m of n: 3/12
	codeToken // masked: data, not the agent's voice
	nTokenKinds
)

// tokenKinds is a set of kinds: a bit for each.
type tokenKinds uint8

func (s tokenKinds) has(k tokenKind) bool { return s&(1<<k) != 0 }

// sentence is a part of a block. question and colon say how it ends.
type sentence struct {
	first, last int // tokens: [first, last)
	start, end  int // bytes within the block
	question    bool
	colon       bool
	figures     bool // there are numbers in it, in digits or as words
}

// masked marks a byte that is data: inline code or quoted speech.
const masked = 0x01

// lower writes block to buf in lower case, ASCII letters only, so that no offset moves, and with terminal escape
// sequences blanked.
func lower(buf []byte, block string) []byte {
	buf = append(buf[:0], block...)
	for i := 0; i < len(buf); i++ {
		switch c := buf[i]; {
		case 'A' <= c && c <= 'Z':
			buf[i] = c + 'a' - 'A'
		case c == masked:
			buf[i] = ' '
		case c == '\x1b':
			n := max(1, plaintext.EscapeSequence(block[i:]))
			copy(buf[i:i+n], bytes.Repeat([]byte(" "), n))
			i += n - 1
		}
	}
	return buf
}

// mask writes block to buf as lower does, with the content of inline code and of quoted speech, delimiters included,
// overwritten. It reports whether there are digits among what it covered: then there may be evidence.
func mask(buf []byte, block string) (_ []byte, covered bool) {
	buf = lower(buf, block)
	for i := 0; i < len(block); {
		end := -1
		switch c := block[i]; c {
		case '`':
			n := run(block[i:], '`')
			if end = closingTicks(block, i+n, n); end < 0 {
				i += n
				continue
			}
		case '"', '\'', 0xC2, 0xE2, 0xE3: // the last three: of speechMarks
			for k := range speechMarks {
				q := &speechMarks[k]
				if strings.HasPrefix(block[i:], q.opening) && (!q.straight || opensSpeech(block, i)) {
					end = q.end(block, i)
				}
			}
		}
		if end < 0 {
			i++
			continue
		}
		for j := i; j < end; j++ {
			covered = covered || '0' <= buf[j] && buf[j] <= '9'
			buf[j] = masked
		}
		i = end
	}
	return buf, covered
}

// closingTicks returns the end of the code span whose opening run of n backticks ends at from, or -1.
func closingTicks(s string, from, n int) int {
	for {
		i := strings.IndexByte(s[from:], '`')
		if i < 0 {
			return -1
		}
		m := run(s[from+i:], '`')
		if from += i + m; m == n {
			return from
		}
	}
}

const maxQuote = 600 // bytes that are no white space; longer "quotes" are stray marks

// quote is a pair of quotation marks. Straight ones are the same on both sides, apostrophes and inches, too.
type quote struct {
	opening, closing string
	straight         bool
}

var speechMarks = [...]quote{
	{`"`, `"`, true}, {"'", "'", true},
	{"“", "”", false}, {"„", "“", false}, {"«", "»", false}, {"‘", "’", false}, {"「", "」", false}, {"『", "』", false},
}

// end returns the end of the speech that the mark q at i opens, or -1. What is empty is no speech.
func (q *quote) end(s string, i int) int {
	at := i + len(q.opening)
	if q.straight {
		at++
	}
	for count := at - i; at < len(s) && count < maxQuote; at++ {
		if s[at] == q.closing[0] && q.closes(s, at) {
			return at + len(q.closing)
		}
		if !isBlank(s[at]) {
			count++
		}
	}
	return -1
}

// closes reports whether q ends at i. A straight mark closes only behind a character, and neither it nor ’ does
// before one of a word: then it is an apostrophe.
func (q *quote) closes(s string, i int) bool {
	rest, ok := strings.CutPrefix(s[i:], q.closing)
	return ok && (!q.straight || !isBlank(s[i-1])) && !((q.straight || q.closing == "’") && startsWord(rest))
}

// opensSpeech reports whether the straight mark at i may open: it follows the start, white space, an opening bracket,
// a dash, or a script without spaces or its punctuation, and something else than its like or white space follows it.
func opensSpeech(s string, i int) bool {
	r, n := utf8.DecodeLastRuneInString(s[:i])
	opens := n == 0 || isBlankRune(r) || strings.ContainsRune("([{*_/=:-<|—–\x01", r) ||
		unspaced(r) || r >= 0x3000 && r < 0x3040 || r > 0xFF00 && r < 0xFFEF
	return opens && i+1 < len(s) && !isBlank(s[i+1]) && s[i+1] != s[i]
}

// startsWord reports whether s begins with a letter, a digit or an underscore that would belong to the word before it.
func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	if unspaced(r) {
		return false
	}
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// tokenize appends the tokens and sentences of a masked block.
func (lex *lexicon) tokenize(toks []token, sents []sentence, buf []byte) ([]token, []sentence) {
	toks, sents = toks[:0], sents[:0]
	var scratch [64]byte
	cur := sentence{}
	gap := false
	flush := func(end int) {
		if n := len(toks); n > cur.first && !cur.question && !cur.colon {
			cur.question = lex.asking(buf[:toks[n-1].end])
		}
		if len(toks) > cur.first || cur.question {
			cur.last, cur.end = len(toks), end
			if len(toks) > cur.first {
				cur.start = int(toks[cur.first].start)
			}
			sents = append(sents, cur)
		}
		cur = sentence{first: len(toks), start: end}
		gap = false
	}
	add := func(start, end int, t token) (next int) {
		t.start, t.end, t.gap = int32(start), int32(end), gap
		toks = append(toks, t)
		gap, cur.question, cur.colon = false, false, false
		return end
	}
	for i := 0; i < len(buf); {
		c := buf[i]
		switch {
		case c == ' ':
			i++
		case c == masked:
			i = add(i, after(buf, i, "\x01"), token{kind: codeToken})
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c >= 0x80:
			if c >= 0x80 {
				r, n := utf8.DecodeRune(buf[i:])
				switch r {
				case '。', '！', '．', '…', '？':
					i += n
					cur.question = r == '？'
					flush(i)
					continue
				case '—', '–', '·', '，', '、', '；', '（', '）', '【', '】', '《', '》':
					gap = true
				case '：':
					gap, cur.colon = true, true
				}
				if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
					i += n
					continue
				}
				if unspaced(r) {
					j, id := lex.vocab.scanUnspaced(buf, i)
					i = add(i, j, token{id: id})
					continue
				}
			}
			j := i
			for j < len(buf) && 'a' <= buf[j] && buf[j] <= 'z' {
				j++
			}
			word := buf[i:j]
			if j == i || j < len(buf) && !isBlank(buf[j]) { // as few words are
				j, word = scanWord(buf, i, scratch[:0])
			}
			t := token{id: lex.vocab.lookup(word)}
			if len(word) > 0 && word[0] <= '9' {
				t.kind = numberKind(word)
			} else if 0 < t.id && int(t.id) <= len(numberWords) { // which the vocabulary begins with
				t.kind = numberToken
				if lex.vocab.words[t.id] == "zero" {
					t.kind = zeroToken
				}
			}
			if t.kind != wordToken {
				cur.figures = true
			} else if !lex.whole.has(t.id) {
				t.tail = lex.tail(word)
			}
			i = add(i, j, t)
		case c == '.' || c == '!' || c == '?':
			j := after(buf, i, ".!?")
			q := bytes.IndexByte(buf[i:j], '?') >= 0
			k := after(buf, j, `*_)"]`)
			if k == len(buf) || (isBlank(buf[k]) || buf[k] >= 0x80) && !abbreviates(buf, i, k) || q {
				cur.question = q
				flush(k)
				i = k
				continue
			}
			i = j
		case c == ',' || c == ';' || c == '(' || c == ')' || c == ':':
			gap = true
			if c == ':' {
				cur.colon = true
			}
			i++
		case c == '-' && i > 0 && isBlank(buf[i-1]):
			gap = true
			i++
		default:
			i++
		}
	}
	flush(len(buf))
	return toks, sents
}

// after returns where in buf, from i on, the first byte stands that is none of set.
func after(buf []byte, i int, set string) int { return len(buf) - len(bytes.TrimLeft(buf[i:], set)) }

// asking reports whether s ends in the words of a question that needs no question mark: ますか.
func (lex *lexicon) asking(s []byte) bool {
	return len(s) > 0 && s[len(s)-1] >= utf8.RuneSelf &&
		slices.ContainsFunc(lex.questions, func(e string) bool { return bytes.HasSuffix(s, []byte(e)) })
}

// abbreviates reports whether the full stop at i ends no sentence: a small letter follows it at once, at k ("т.е."),
// or it stands behind one letter beyond ASCII and no capital follows ("т. д."), or behind one ASCII letter beside
// another such ("z. B.", "u. a.").
func abbreviates(buf []byte, i, k int) bool {
	if buf[i] != '.' || k != i+1 || i == 0 || !isWordByte(buf[i-1]) {
		return false
	}
	if buf[i-1] >= utf8.RuneSelf {
		next, _ := utf8.DecodeRune(bytes.TrimLeft(buf[k:min(len(buf), k+8)], " \t"))
		if !isBlank(buf[k]) {
			return unicode.IsLower(next)
		}
		_, n := utf8.DecodeLastRune(buf[:i])
		return (i == n || !isWordByte(buf[i-n-1])) && !unicode.IsUpper(next)
	}
	if i > 1 && buf[i-2] < utf8.RuneSelf && isWordByte(buf[i-2]) {
		return false
	}
	before := buf[max(0, i-12):i]
	return secondLetter().Match(before) || letter().Match(before) && nextLetter().Match(buf[k:])
}

// A letter alone, as the last one of a text; behind another such; and as the first one. One blank parts two.
var (
	letter       = compiled(`(?:^|[^\pL\p{Nd}._])[a-z]$`)
	secondLetter = compiled(`(?:^|[^\pL\p{Nd}._])[a-z]\.[ \x{a0}\x{202f}][a-z]$`)
	nextLetter   = compiled(`^[ \x{a0}\x{202f}][a-z]\.`)
)

// tail returns which endings a word has; what is left of it must be three letters at least.
func (lex *lexicon) tail(word []byte) uint8 {
	var bits uint8
	for i, e := range lex.endings {
		if n := len(word) - len(e); n >= 3 && string(word[n:]) == e && word[n-1] != '-' {
			bits |= 1 << i
		}
	}
	return bits
}

// scanWord reads the word at i: letters and digits, and inside it apostrophes, hyphens, slashes, dots, underscores.
// What it appends to word is lower case, with a straight apostrophe for a typographic one and е for ё.
func scanWord(buf []byte, i int, word []byte) (int, []byte) {
	j, plain := i, true // plain: ASCII, so that the word is as it stands in buf
	for j < len(buf) {
		c := buf[j]
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			j++
		case c >= 0x80:
			r, n := utf8.DecodeRune(buf[j:])
			apostrophe := r == '’' && j > i && j+n < len(buf) && 'a' <= buf[j+n] && buf[j+n] <= 'z'
			if !apostrophe && (unspaced(r) || !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)) {
				if j > i && !isWordByte(buf[j-1]) { // what would join is no letter
					j--
				}
				return j, finishWord(word, buf[i:j], plain)
			}
			plain = false
			j += n
		case (c == '\'' || c == '-' || c == '/' || c == '.' || c == '_' || c == ',') && j > i && j+1 < len(buf) && joins(c,
			buf[j-1], buf[j+1]):
			j++
		default:
			return j, finishWord(word, buf[i:j], plain)
		}
	}
	return j, finishWord(word, buf[i:j], plain)
}

func isWordByte(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c >= 0x80 }

func joins(c, before, after byte) bool {
	if c == ',' { // 1,234
		return '0' <= before && before <= '9' && '0' <= after && after <= '9'
	}
	return 'a' <= after && after <= 'z' || '0' <= after && after <= '9' || after >= 0x80 && c != '.'
}

// finishWord returns the word as the tables spell it; it fits into word's capacity, or is cut.
func finishWord(word, w []byte, plain bool) []byte {
	if plain {
		return w
	}
	for len(w) > 0 && len(word)+utf8.UTFMax <= cap(word) {
		r, n := utf8.DecodeRune(w)
		switch r = unicode.ToLower(r); {
		case r == '’':
			r = '\''
		case r == 'ё': // which few write
			r = 'е'
		case '０' <= r && r <= '９': // of full width
			r -= '０' - '0'
		}
		word = utf8.AppendRune(word, r)
		w = w[n:]
	}
	return word
}

var numberWords = map[string]int{
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12,
	"first": 1, "second": 2, "third": 3,
}

// numberKind returns the kind of a word that begins with a digit.
func numberKind(w []byte) tokenKind {
	kind := zeroToken
	for i, c := range w {
		switch {
		case '1' <= c && c <= '9':
			kind = numberToken
		case c == '0' || c == ',' || c == '.':
		case i > 0 && (string(w[i:]) == "s" || string(w[i:]) == "ms"): // 3.41s
			return kind
		case c == '/':
			return ratioKind(w[:i], w[i+1:])
		default:
			return wordToken // 3rd, 2x
		}
	}
	return kind
}

// ratioKind tells 12/12 from 3/12; other things with a slash, such as dates, are words.
func ratioKind(m, n []byte) tokenKind {
	a, ok1 := digits(m)
	b, ok2 := digits(n)
	switch {
	case !ok1 || !ok2 || b == 0 || a > b:
		return wordToken
	case a == b:
		return fullToken
	}
	return partToken
}

func digits(s []byte) (n int, ok bool) {
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(s) > 0 && len(s) <= 6
}

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
