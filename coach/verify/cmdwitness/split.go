package cmdwitness

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const maxLine = 16 << 10 // bytes of a command line

var errShell = errors.New("it needs a shell: put it into a script")

// Split splits a command line into words. It knows quotes and backslashes. A line that needs a shell is an error:
// more than one command, a variable, a pattern, a redirection.
func Split(line string) ([]string, error) {
	if len(line) > maxLine || strings.Count(line, "(") > 100 {
		return nil, errors.New("the command is too long")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	switch {
	case err != nil:
		return nil, errors.New("the command cannot be read: is a quote not closed?")
	case len(file.Stmts) == 0:
		return nil, errors.New("the command is empty")
	case len(file.Stmts) > 1:
		return nil, errShell
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	switch {
	case !ok || s.Background || s.Negated || len(s.Redirs) > 0:
		return nil, errShell
	case len(call.Assigns) > 0:
		return nil, errors.New("it sets a variable, which needs a shell: use env, or put it into a script")
	}
	var words []string
	for _, w := range call.Args {
		word, ok := literal(w)
		if !ok {
			return nil, fmt.Errorf("%w, or quote it", errShell)
		}
		words = append(words, word)
	}
	if words[0] == "" {
		return nil, errors.New("the command is empty")
	}
	return words, nil
}

// literal returns a word that a shell would not change.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(unescape(lit.Value, "\"\\$`\n"))
			}
		case *syntax.Lit:
			if i == 0 && strings.HasPrefix(p.Value, "~") {
				return "", false
			}
			escaped := false
			for _, r := range p.Value {
				if !escaped && strings.ContainsRune("*?[", r) {
					return "", false
				}
				escaped = r == '\\' && !escaped
			}
			b.WriteString(unescape(p.Value, ""))
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unescape removes backslashes before the given characters; before any if there are none given.
func unescape(s, only string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (only == "" || strings.IndexByte(only, s[i+1]) >= 0) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
