package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// shown returns at most n bytes of a text, ready to be looked at.
func shown(s string, n int) string {
	return gate.Visible(head(s, n))
}

// head returns at most n bytes of a text, whole characters.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// pretty indents a JSON value for reading and editing. Numbers keep their digits, keys their order, and what would be
// invisible in a string is written as an escape, so that the result is the same value and hides nothing.
func pretty(body json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", "  "); err != nil {
		return gate.Visible(string(body))
	}
	s := b.String()
	clean := true
	for _, r := range s {
		if hidden(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var out strings.Builder
	for _, r := range s { // characters beyond ASCII stand in strings only
		switch {
		case !hidden(r):
			out.WriteRune(r)
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// hidden reports whether a character of JSON text must be shown as an escape.
func hidden(r rune) bool {
	if r < 0x7f {
		return false // what is below the space stands between tokens only
	}
	s := string(r)
	return gate.Visible(s) != s
}

// typable returns a text without the characters that a person who edits it could not see, and how many those were.
func typable(s string) (text string, without int) {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || hidden(r)) {
			without++
			return -1
		}
		return r
	}, s)
	return text, without
}
