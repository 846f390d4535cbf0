package coach

import (
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// sources are the request and the plan. A classifier's message may repeat what they contain outside a clause that
// denies it. They are read when first asked.
type sources struct {
	in    Context
	read  bool
	lines [][]word // each line twice: as a shell and as a person reads it

	commands [][]word // that the output names, see named
}

// maxVouching is how many items of the plan are read, each up to its share of maxRead.
const maxVouching = 64

// vouch reports whether a source contains the words ws, in a clause that does not deny them.
func (s *sources) vouch(ws []word) bool {
	if !s.read {
		s.read = true
		if !plaintext.IsOurs(s.in.Request) {
			s.add(s.in.Request, maxRead)
		}
		if c := s.in.Criteria; c != nil {
			s.add(c.Text, maxRead)
			for _, it := range c.Items[:min(len(c.Items), maxVouching)] {
				s.add(it.Text, maxRead/maxVouching)
			}
		}
	}
	return slices.ContainsFunc(s.lines, func(have []word) bool {
		for i := 0; i+len(ws) <= len(have); i++ {
			if same(ws, have[i:i+len(ws)]) && !denied(have[:i]) {
				return true
			}
		}
		return false
	})
}

func (s *sources) add(text string, max int) {
	for line := range strings.Lines(text[:min(len(text), max)]) {
		line = folded(plaintext.Line(line, maxRead))
		s.lines = append(s.lines, tokens(line), words(line))
	}
}

func same(a, b []word) bool {
	return slices.EqualFunc(a, b, func(a, b word) bool { return a.text == b.text })
}
