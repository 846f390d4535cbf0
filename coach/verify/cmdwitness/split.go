package cmdwitness

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Split splits a command line into words, as a shell does that knows blanks, quotes and backslashes and nothing else. An
// unquoted character that would mean more to a shell (; & | < > ( ) $ ` * ? [ # ~ at the start of a word, or a line end) is an
// error, and so is a "$" or "`" in double quotes: what needs a shell is not run without one. An assignment before the
// program (A=1 make) needs a shell too.
func Split(line string) ([]string, error) {
	var (
		words  []string
		word   strings.Builder
		inWord bool
		quoted bool // some of the word was
		quote  rune
		escape bool
	)
	for _, r := range line {
		switch {
		case r == 0 || r == '\n' || r == '\r':
			return nil, errors.New("cmdwitness: the command has more than one line")
		case escape:
			if quote == '"' && !strings.ContainsRune("\"\\$`", r) {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escape = false
		case quote == '\'' && r != '\'':
			word.WriteRune(r)
		case r == '\\':
			escape, inWord, quoted = true, true, true
		case quote == 0 && (r == '"' || r == '\''):
			quote, inWord, quoted = r, true, true
		case quote == r:
			quote = 0
		case quote == '"' && r != '$' && r != '`':
			word.WriteRune(r)
		case quote == 0 && unicode.IsSpace(r):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord, quoted = false, false
			}
		case strings.ContainsRune(";&|<>()$`*?[", r), !inWord && strings.ContainsRune("#~", r):
			return nil, fmt.Errorf("cmdwitness: %q in the command needs a shell: quote it, or put the command into a script", r)
		case r == '=' && len(words) == 0 && !quoted:
			return nil, errors.New("cmdwitness: a variable set before the command needs a shell: use env, or put the command into a script")
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	if quote != 0 || escape {
		return nil, errors.New("cmdwitness: a quote in the command is not closed")
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("cmdwitness: the command is empty")
	}
	return words, nil
}
