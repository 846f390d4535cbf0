package coach

import (
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// sources are the request and the plan. What they contain, outside a clause that denies it, a classifier's message may
// repeat. They are read when first asked.
type sources struct {
	in    Context
	read  bool
	lines []source
}

// source is one line, cleaned and folded.
type source struct {
	text          string
	tokens, words []word
}

func (s *sources) all() []source {
	if s.read {
		return s.lines
	}
	s.read = true
	if !plaintext.IsOurs(s.in.Request) {
		s.add(s.in.Request, maxRead)
	}
	if c := s.in.Criteria; c != nil {
		s.add(c.Text, maxRead)
		left := maxRead
		for _, it := range c.Items {
			s.add(it.Text, left)
			if left -= len(it.Text); left <= 0 {
				break
			}
		}
	}
	return s.lines
}

func (s *sources) add(text string, max int) {
	for line := range strings.Lines(text[:min(len(text), max)]) {
		line = folded(plaintext.Line(line, maxRead))
		s.lines = append(s.lines, source{text: line, tokens: tokens(line), words: words(line)})
	}
}

// have reports whether a source contains part, a shell operator or the like.
func (s *sources) have(part string) bool {
	return slices.ContainsFunc(s.all(), func(l source) bool { return strings.Contains(l.text, part) })
}

// haveTokens reports whether a source contains the tokens ws in a clause that does not deny them.
func (s *sources) haveTokens(ws []word) bool {
	return slices.ContainsFunc(s.all(), func(l source) bool { return contains(l.tokens, ws) })
}

// haveWords reports whether a source contains the words ws in a clause that does not deny them.
func (s *sources) haveWords(ws []word) bool {
	return slices.ContainsFunc(s.all(), func(l source) bool { return contains(l.words, ws) })
}

// haveURL reports whether a source contains u, whole, in a clause that does not deny it.
func (s *sources) haveURL(u string) bool {
	return slices.ContainsFunc(s.all(), func(l source) bool {
		for _, at := range urls().FindAllStringIndex(l.text, -1) {
			clause := l.text[max(0, at[0]-300):at[0]]
			if trimURL(l.text[at[0]:at[1]]) == u && !denied(tokens(clause)) {
				return true
			}
		}
		return false
	})
}

func contains(have, ws []word) bool {
	for i := 0; i+len(ws) <= len(have); i++ {
		if same(ws, have[i:i+len(ws)]) && !denied(have[:i]) {
			return true
		}
	}
	return false
}

func same(a, b []word) bool {
	return slices.EqualFunc(a, b, func(a, b word) bool { return a.text == b.text })
}

// denied reports whether the clause that ws ends in holds a word of denial.
func denied(ws []word) bool {
	for i := len(ws) - 1; i >= 0 && !ws[i].end; i-- {
		switch ws[i].text {
		case "no", "not", "never", "nor", "neither", "cannot", "without", "avoid", "unless", "forbidden",
			"dont", "doesnt", "cant", "mustnt", "shouldnt", "wont", "neednt", "isnt", "arent":
			return true
		}
	}
	return false
}
