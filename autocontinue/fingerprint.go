package autocontinue

import (
	"regexp"
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
//   - dates, times of day and durations ("12:30:05", "3.2s", "5 minutes"), hashes, line numbers ("parser.go:12:3",
//     "line 12") and generated IDs (UUIDs, "req_8f3kq2", 12 or more digits) each become a mark that only says that there
//     was one.
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

// mark stands for what changes from one printing of an output to the next. No word contains it: plaintext.Clean drops
// control characters.
const mark = "\x01"

// lineNumbers and volatile match text in lower case.
var (
	lineNumbers = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(\w\.[a-z]\w{0,4})(?::\d+(?::\d+)?\b|\(\d+(?:,\d+)?\)|#l\d+\b)|` +
			`\b(line|ln|col|column)\s+\d+(?:[-–]\d+)?\b`)
	})
	volatile = sync.OnceValue(func() *regexp.Regexp {
		const (
			uuid  = `(?:[a-z]+_)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`
			clock = `\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:z|\s?[ap]m|[+-]\d\d:?\d\d)?|\d{1,2}[ap]m`
			date  = `(?:\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d|\d{1,2}/\d{1,2}/\d{4})(?:[t\s](?:` + clock + `))?`
			units = `nanoseconds?|microseconds?|milliseconds?|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|[nµμm]?s|h`
			took  = `(?:\d+[hm]\s?)*\d+(?:[.,]\d+)?[\s-]?(?:` + units + `)|\d+h\s?\d+m`
		)
		return regexp.MustCompile(`\b(?:` + uuid + `|` + date + `|` + clock + `|` + took + `)\b`)
	})
	mixed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\d+\D+){2}\d|^(?:\D+\d+){2}\D`) })
)

func foldedWords(text string) (words []string) {
	text = strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, plaintext.Clean(text)) // ς is σ
	text = lineNumbers().ReplaceAllString(text, "$1$2 "+mark+" ")
	text = volatile().ReplaceAllString(text, " "+mark+" ")
	var spaced strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '_' || r < ' ':
			spaced.WriteRune(r)
		case unicode.IsPunct(r) || r < unicode.MaxASCII || plaintext.IsSpace(r):
			spaced.WriteByte(' ')
		default: // "✅" and "❌" say different things
			spaced.WriteString(" " + string(r) + " ")
		}
	}
	for _, w := range strings.Fields(spaced.String()) {
		if w = strings.Trim(w, "_"); isGenerated(w) {
			w = mark
		}
		if w != "" {
			words = append(words, w)
		}
	}
	return words
}

// isGenerated reports whether a word is a hash or a generated ID: many digits, or letters and digits mixed as nobody
// names a thing.
func isGenerated(w string) bool {
	const digits = "0123456789"
	switch {
	case strings.Trim(w, digits) == "":
		return len(w) >= 12
	case !strings.ContainsAny(w, digits):
		return false
	}
	isHex := strings.Trim(strings.TrimPrefix(w, "0x"), digits+"abcdef") == ""
	return isHex && len(w) >= 7 || len(w) >= 6 && mixed().MatchString(w)
}
