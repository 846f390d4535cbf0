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

// line returns at most n bytes of a text that stands in one line, ready to be looked at.
func line(s string, n int) string { return gate.Visible(head(s, n)) }

// shown is line for a text of several lines.
func shown(s string, n int) string { return gate.VisibleLines(head(s, n)) }

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
	var tight, b bytes.Buffer
	if json.Compact(&tight, body) != nil || json.Indent(&b, tight.Bytes(), "", "  ") != nil {
		return gate.Visible(string(body))
	}
	var out strings.Builder
	eye := make(eyes)
	for _, r := range b.String() { // characters beyond ASCII stand in strings only
		switch {
		case r < 0x7f || eye.see(r): // what is below the space stands between tokens only
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

// eyes remember which characters show by themselves.
type eyes map[rune]bool

func (e eyes) see(r rune) bool {
	ok, known := e[r]
	if !known {
		s := string(r)
		ok = gate.VisibleLines(s) == s
		e[r] = ok
	}
	return ok
}

// typable returns a text without the characters that a person who edits it could not see, and how many those were.
func typable(s string) (text string, without int) {
	eye := make(eyes)
	text = strings.Map(func(r rune) rune {
		if !eye.see(r) {
			without++
			return -1
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
	return text, without
}
