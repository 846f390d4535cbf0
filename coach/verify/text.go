package verify

import (
	"fmt"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

func words(list string) string      { return strings.Join(strings.Fields(list), "|") }
func line(s string, max int) string { return plaintext.Line(plaintext.Disarm(s), max) }
func clean(s string) string         { return line(s, 300) }
func code(s string) string          { return "`" + strings.ReplaceAll(line(s, 80), "`", "'") + "`" }
func fold(s string) string          { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// firstThree names the first three of a list, and says how many more there are.
func firstThree(list []string) string {
	s := clean(strings.Join(list[:min(len(list), 3)], ", "))
	if more := len(list) - 3; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// Sentence begins with a capital letter, unless with code, and ends with a full stop.
func Sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.TrimRight(s[1:], ".") + "."
}
