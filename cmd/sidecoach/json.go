package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// renderJSON is the decision as one line. What a terminal would act on is escaped beyond what JSON asks for.
func renderJSON(d autocontinue.Decision) (string, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return "", fmt.Errorf("cannot write the decision as JSON: %w", err)
	}
	var line strings.Builder
	for _, r := range buf.String() {
		switch {
		case r == '\n' || !hidden(r):
			line.WriteRune(r)
		case r > 0xffff: // outside strings JSON has no such characters
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&line, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&line, `\u%04x`, r)
		}
	}
	return line.String(), nil
}
