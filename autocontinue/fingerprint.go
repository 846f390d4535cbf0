package autocontinue

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// blankFingerprint is that of every blank output.
var blankFingerprint = digestOf("blank", "")

// maxFolded is how many bytes of a text count for its fingerprint, half of them at either end.
const maxFolded = 256 << 10

// fingerprint folds text so that the same output at a later pause is recognised though it was printed anew:
//
//   - white space, punctuation and invisible characters only separate words;
//   - case is ignored;
//   - dates, times of day and durations ("12:30:05", "3.2s", "5 minutes"), hashes (7 or more hexadecimal digits,
//     letters among them), line numbers ("parser.go:12:3", "line 12") and generated IDs (UUIDs, "req_8f3kq2", 12 or
//     more digits) each become a mark that only says that there was one.
//
// All other numbers are kept: "3 of 10" and "4 of 10" differ.
func fingerprint(text string) digest {
	if len(text) > maxFolded {
		text = text[:maxFolded/2] + " " + text[len(text)-maxFolded/2:]
		text = strings.ToValidUTF8(text, "") // half of a character
	}
	if plaintext.IsBlank(text) {
		return blankFingerprint
	}
	return digestOf("fingerprint", strings.Join(foldedWords(text), " "))
}

// The marks. No word contains one: plaintext.Clean drops control characters.
const (
	markTime     = "\x01"
	markDuration = "\x02"
	markID       = "\x03"
	markLine     = "\x04"
)

func foldedWords(text string) (words []string) {
	text = strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, plaintext.Clean(text)) // ς is σ
	for _, v := range volatiles() {
		text = v.replace(text)
	}
	var spaced strings.Builder
	for _, r := range text {
		switch {
		case isWordRune(r) || r == '_' || r < ' ':
			spaced.WriteRune(r)
		case unicode.IsPunct(r) || r < unicode.MaxASCII || plaintext.IsSpace(r):
			spaced.WriteByte(' ')
		default: // "✅" and "❌" say different things
			spaced.WriteString(" " + string(r) + " ")
		}
	}
	for _, w := range strings.Fields(spaced.String()) {
		if w = strings.Trim(w, "_"); isGenerated(w) {
			w = markID
		}
		again := len(words) > 0 && w < " " && w == words[len(words)-1] // "1m 5s" is one duration, like "58s"
		if w != "" && !again {
			words = append(words, w)
		}
	}
	return words
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// volatile is a piece of text that changes from one printing of an output to the next.
type volatile struct {
	pattern *regexp.Regexp
	mark    string
	// counts matches what follows if the number counts something after all: "3 seconds of 90", "line 3 of 10".
	counts *regexp.Regexp
	group  int // the one that is replaced; 0 is the whole match
	// id says that group 1 must look like an ID.
	id bool
}

// replace replaces each match by the mark.
func (v volatile) replace(text string) string {
	var b strings.Builder
	from := 0
	for _, m := range v.pattern.FindAllStringSubmatchIndex(text, -1) {
		start, end := m[2*v.group], m[2*v.group+1]
		after := text[m[1]:min(len(text), m[1]+64)]
		if start < 0 || v.id && !isID(text[m[2]:m[3]]) || v.counts != nil && v.counts.MatchString(after) {
			continue
		}
		b.WriteString(text[from:start] + " " + v.mark + " ")
		from = end
	}
	if from == 0 {
		return text
	}
	return b.String() + text[from:]
}

var volatiles = sync.OnceValue(func() []volatile {
	const (
		clock  = `\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:z|\s?[ap]m|[+-]\d\d:?\d\d)?|\d{1,2}[ap]m`
		date   = `\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d|\d{1,2}/\d{1,2}/\d{4}`
		apart  = `nanoseconds?|microseconds?|milliseconds?|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|[nµμm]?s`
		number = `\d{1,9}(?:[.,]\d{1,9})?`
		names  = `call|chatcmpl|conv|event|evt|id|job|msg|message|req|request|resp|run|sess|session|span|task|thread|` +
			`toolu|trace|worker`
	)
	re := regexp.MustCompile // for text in lower case
	return []volatile{
		{pattern: re(`\b(?:[a-z]+[-_])?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), mark: markID},
		{
			pattern: re(`\w\.[a-z]\w{0,4}(:\d{1,7}(?::\d{1,7})?\b|\(\d{1,7}(?:,\d{1,7})?\)|#l\d{1,7}\b)`), group: 1,
			mark: markLine, counts: re(`^\s+(?:lines?|of)\b`),
		},
		{pattern: re(`\b[a-z]\w*(:\d{1,7}:\d{1,7})\b`), group: 1, mark: markLine},
		{
			pattern: re(`\b(?:lines?|ln|col|column)\s+(\d{1,7}(?:[-–]\d{1,7})?)\b`), group: 1,
			mark: markLine, counts: re(`^(?:%|[./]\d|\s+of\s+\d)`),
		},
		{pattern: re(`\b(?:(?:` + date + `)(?:[t\s](?:` + clock + `))?|` + clock + `)\b`), mark: markTime},
		{ // "3m" alone is a duration at the end of a phrase, and a million before a noun
			pattern: re(`\b` + number + `m\b`), mark: markDuration, counts: re(`^\s+[a-z]`),
		},
		{
			pattern: re(`\b` + number + `(?:[\s-]?(?:` + apart + `)|us|h)\b`),
			mark:    markDuration, counts: re(`^\s+of\b`),
		},
		{pattern: re(`\b(?:` + number + `[hm])+(?:` + number + `[nµμm]?s|` + number + `[hm])\b`), mark: markDuration},
		{pattern: re(`\b(?:` + names + `)[-_]([a-z0-9]+)\b`), mark: markID, id: true},
	}
})

// isGenerated reports whether a word is a hash or a generated ID: long enough, and of letters and digits mixed as
// nobody names a thing.
func isGenerated(w string) bool {
	if hex, ok := strings.CutPrefix(w, "0x"); ok {
		return len(hex) >= 6 && isHex(hex)
	}
	digits, letters, changes := mixture(w)
	switch {
	case digits == 0 || digits+letters < len(strings.ReplaceAll(w, "_", "")):
		return false
	case letters == 0:
		return digits >= 12 && digits == len(w)
	case isHex(w):
		return len(w) >= 7
	}
	return len(w) >= 10 && changes >= 3 && !strings.Contains(w, "_") || len(w) >= 20 && changes >= 6
}

// isID reports whether w can be the generated part of an ID: letters and digits mixed, or many digits. "task-3" counts.
func isID(w string) bool {
	digits, letters, _ := mixture(w)
	return digits > 0 && letters > 0 && len(w) >= 5 || letters == 0 && digits >= 6
}

// mixture counts digits, ASCII letters, and the changes between digits and other characters.
func mixture(w string) (digits, letters, changes int) {
	isDigit := func(c byte) bool { return '0' <= c && c <= '9' }
	for i := range len(w) {
		switch c := w[i] | 0x20; {
		case isDigit(w[i]):
			digits++
		case 'a' <= c && c <= 'z':
			letters++
		}
		if i > 0 && isDigit(w[i]) != isDigit(w[i-1]) {
			changes++
		}
	}
	return digits, letters, changes
}

func isHex(w string) bool {
	return !slices.ContainsFunc([]byte(w), func(c byte) bool { return !strings.ContainsRune("0123456789abcdef", rune(c)) })
}
