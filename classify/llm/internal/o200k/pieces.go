package o200k

import (
	"iter"
	"regexp"
	"sync"
	"unicode/utf8"
)

// No token reaches over the border of two pieces. Which pieces there are is the expression of o200k_base, with three
// changes. Blanks are spelled out, since \s is ASCII alone here. What a run of them leaves to the word after it (a negative
// lookahead there) is taken off in pieces. A line of blanks is a piece of its own even after another one, which some
// tokenizers do and others not: it is the way that takes more tokens.
const (
	space  = `\t\v\f \x{85}\p{Z}` // but for line ends
	upper  = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
	lower  = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
	ahead  = `[^\r\n\p{L}\p{N}]?` // the sign or blank before a word
	ending = `(?:'(?:[sdmtSDMT]|[lL][lL]|[vV][eE]|[rR][eE]))?`
)

// expression is compiled for the first text that is counted: it takes most of a millisecond, at every start otherwise.
var expression = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:` +
		ahead + upper + `*` + lower + `+` + ending +
		`|` + ahead + upper + `+` + lower + `*` + ending +
		`|\p{N}{1,3}` +
		`| ?[^\r\n` + space + `\p{L}\p{N}]+[\r\n/]*` +
		`|[` + space + `]*[\r\n]+` +
		`|([` + space + `]+))`)
})

// pieces yields the pieces of a text, in order; together they are the text.
func pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			at := expression().FindStringSubmatchIndex(text)
			end := at[1]
			if at[2] >= 0 && end < len(text) { // blanks before something else
				if _, last := utf8.DecodeLastRuneInString(text[:end]); last < end {
					end -= last
				}
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}
