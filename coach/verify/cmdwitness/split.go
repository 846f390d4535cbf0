package cmdwitness

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
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
	case slices.ContainsFunc(call.Args, needsShell):
		return nil, fmt.Errorf("%w, or quote it", errShell)
	}
	words, err := expand.Fields(&expand.Config{}, call.Args...) // removes quotes; nil would share one configuration
	if err == nil && words[0] == "" {
		err = errors.New("the command is empty")
	}
	return words, err
}

// needsShell reports whether a shell changes more in a word than its quotes.
func needsShell(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.SglQuoted:
		case *syntax.DblQuoted:
			for _, inside := range p.Parts {
				if _, ok := inside.(*syntax.Lit); !ok {
					return true
				}
			}
		case *syntax.Lit:
			if lex().ShellPattern.Match(p.Value) {
				return true
			}
		default:
			return true
		}
	}
	return false
}
