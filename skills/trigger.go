package skills

import (
	"regexp"
	"strings"
	"sync"
)

// What may stand around a word: white space, or a full stop, comma or dash outside ASCII; between it and the word,
// marks that open or close.
const (
	separator = `[\s\v\x{200b}\x{feff}]|[^\x00-\x7f\pL\pM\pN\pS\pC\p{Pc}\p{Ps}\p{Pe}\p{Pi}\p{Pf}]`
	before    = `(?:^|` + separator + `)["'*_\p{Ps}\p{Pi}\p{Pf}]*`
	after     = `["'*_.:!?\p{Pe}\p{Pi}\p{Pf}]*(?:$|[,;]|` + separator + `)`
)

// mentions reports whether word stands in the human's own words of text, as a word of its own.
func mentions(text, word string) bool {
	if word == "" || !strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
		return false // most texts: their structure need not be read
	}
	mention, err := regexp.Compile(`(?i)` + before + regexp.QuoteMeta(word) + after)
	if err != nil {
		return false // a word that is not UTF-8
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return mention.MatchString(notOwn().ReplaceAllString(text, "x"))
}

// compiled returns a function that compiles expr when a text first needs it.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// notOwn matches what is not the human's own words: fenced code, quoted lines and HTML comments that begin a line, and
// inline code. It is more lenient than CommonMark, because people type a request: a fence counts at any indentation,
// and each line of a quote needs its own >. A fence of four marks or more may hold one of three.
var notOwn = sync.OnceValue(func() *regexp.Regexp {
	fence := func(open, mark string) string { return open + `$(?s:.*?)(?:^[ \t]*` + mark + `[ \t]*$|\z)` }
	atLineStart := []string{
		`>.*`, `<!--(?:-?>|(?s:.*?)(?:-->|\z))`,
		fence("```[^`\n]*", "`{3,}"), fence("`{4,}[^`\n]*", "`{4,}"),
		fence("~~~(?:[^~\n].*)?", "~{3,}"), fence("~{4,}.*", "~{4,}"),
	}
	return regexp.MustCompile(`(?m)^[ \t]*(?:(?:[-+*]|\d+[.)])[ \t]+)*(?:` + strings.Join(atLineStart, "|") + ")" +
		"|``+(?s:.+?)``+|`[^`\n]*(?:\n[^`\n#>*+-][^`\n]*)*`" + // code within a paragraph
		"|" + `\\[\\` + "`]")
})
