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
	return err == nil && mention.MatchString(ownWords(text)) // a word that is not UTF-8 is never mentioned
}

// Expressions are compiled when a text first has a trigger in it.
var (
	listMarkers = compiled(`^[ \t]*(?:(?:[-+*]|\d+[.)])[ \t]+)*`)
	fenceRun    = compiled("^(?:(`{3,})[^`]*|(~{3,}).*)$")
	backticks   = compiled("`+")
)

func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// ownWords returns the human's own words of a text: without fenced code, quoted lines and HTML comments that begin a
// line. Inline code is an x. It is more lenient than CommonMark, because people type a request: a fence counts at any
// indentation, and each line of a quote needs its own >.
func ownWords(text string) string {
	var words, paragraph strings.Builder
	endParagraph := func() {
		words.WriteString(withoutCode(paragraph.String()) + "\n")
		paragraph.Reset()
	}
	fence, inComment := "", false
	for line := range strings.SplitSeq(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n") {
		markers := listMarkers().FindString(line)
		body := line[len(markers):]
		run := fenceRun().FindStringSubmatch(body)
		switch {
		case inComment:
			var closed bool
			if _, line, closed = strings.Cut(line, "-->"); !closed {
				continue
			}
			inComment = false
		case fence != "":
			if end := strings.Trim(line, " \t"); len(end) >= len(fence) && strings.Trim(end, fence[:1]) == "" {
				fence = ""
			}
			continue
		case body == "" || body[0] == '>' || run != nil:
			endParagraph()
			if run != nil {
				fence = run[1] + run[2]
			}
			continue
		case strings.HasPrefix(body, "<!--"):
			endParagraph()
			var closed bool
			if _, line, closed = strings.Cut(body[len("<!"):], "-->"); !closed { // "<!-->" is a whole comment
				inComment = true
				continue
			}
		case strings.TrimSpace(markers) != "" || body[0] == '#':
			endParagraph()
		}
		paragraph.WriteString(line + "\n")
	}
	endParagraph()
	return words.String()
}

// withoutCode puts an x for each code span of a paragraph. As in CommonMark the next run of backticks of the same
// length closes a run. A run that nothing closes is text, and so is one after a backslash.
func withoutCode(paragraph string) string {
	var b strings.Builder
	from := 0
	runs := backticks().FindAllStringIndex(paragraph, -1)
	for i := 0; i < len(runs); i++ {
		start, end := runs[i][0], runs[i][1]
		text := paragraph[from:start]
		if (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1 {
			continue
		}
		for j := i + 1; j < len(runs); j++ {
			if runs[j][1]-runs[j][0] == end-start {
				b.WriteString(text + "x")
				from, i = runs[j][1], j
				break
			}
		}
	}
	return b.String() + paragraph[from:]
}
