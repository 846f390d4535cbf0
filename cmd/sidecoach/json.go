package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// renderJSON is the decision as one line.
func renderJSON(d autocontinue.Decision) (string, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return "", fmt.Errorf("cannot write the decision as JSON: %w", err)
	}
	return harmless(buf.String()), nil
}

// harmless escapes in JSON what a terminal would act on, beyond what JSON asks for.
func harmless(text string) string {
	var line strings.Builder
	for _, r := range text {
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
	return line.String()
}
