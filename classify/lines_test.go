package classify

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A line that is too long is read in parts. What stands in the middle of it is no marker, and a quote stays one.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("The cache is keyed by user. ", 146) // the next word is the last in the first part
	for _, marker := range []string{"``` ", "~~~ ", "> ", "- ", "# ", "<!-- a --> "} {
		text := long + "xxxxxxx " + marker + "and so on.\nFixed the parser."
		assert.Equal(t, []string{"Fixed the parser"}, quotes(judge(t, Input{Text: text}), text, SignalClaim), marker)
		lines := lineReader{text: text}
		_, _ = lines.next()
		part, _ := lines.next()
		assert.True(t, strings.HasPrefix(text[part.start:], marker), "%q", text[part.start:])
		assert.Equal(t, paragraphLine, part.kind, marker)
	}
	text := "He wrote:\n\n> " + long + long + "Fixed the parser."
	assert.Empty(t, judge(t, Input{Text: text}).Signals)
	text = "Here it is.\n\n```\n" + long + "xxxxxxx ```\nFixed the parser.\n```\n"
	assert.Empty(t, judge(t, Input{Text: text}).Signals)
}

// Speech ends at the first mark that closes it, however many open; stray marks and apostrophes hide nothing.
func TestMaskedSpeech(t *testing.T) {
	mark := func(s string) string { return strings.Repeat("\x01", len(s)) }
	far := strings.Repeat("x", maxQuote)
	apart := strings.Repeat(" \n", maxQuote)
	for text, want := range map[string]string{
		`a "b" c "d" e`:          "a " + mark(`"b"`) + " c " + mark(`"d"`) + " e",
		"a “b “c” d":             "a " + mark("“b “c”") + " d",
		"a 'b don't c' d":        "a " + mark("'b don't c'") + " d",
		"don't won't":            "don't won't",
		`a "b`:                   `a "b`,
		`"" "b"`:                 `"" ` + mark(`"b"`),
		"他说「好」了":                 "他说" + mark("「好」") + "了",
		"„so“ und „so":           mark("„so“") + " und „so",
		"“" + far + "”":          "“" + far + "”",
		"“" + far + " “b” c":     "“" + far + " " + mark("“b”") + " c",
		"“a" + apart + "b”":      mark("“a" + apart + "b”"),
		`"a ` + far + ` "b" c`:   `"a ` + far + " " + mark(`"b"`) + " c",
		"« a “b” c » d “e":       mark("« a “b” c »") + " d “e",
		"‘it’s so’ there, ‘open": mark("‘it’s so’") + " there, ‘open",
	} {
		buf, _ := mask(nil, text)
		assert.Equal(t, want, string(buf), "%.40s", text)
	}
}
