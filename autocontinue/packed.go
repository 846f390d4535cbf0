package autocontinue

import (
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/coach"
)

// packed is a message as a record keeps it: a phrase of the coach's own wording, of which most messages are made, is two
// bytes, phraseMark and which one. Equal messages are equal packed. It is for memory alone; a stored state has the message
// itself.
type packed string

// phraseMark is in no message of the coach. One that has it, from a foreign state, has it as phrase 0.
const phraseMark = '\x01'

// phrases has the coach's, longest first, and which of them begin with a byte.
var phrases = sync.OnceValue(func() *phraseTable {
	t := &phraseTable{all: append([]string{string(phraseMark)}, coach.Phrases()...)}
	t.all = t.all[:min(len(t.all), 256)]
	for i, phrase := range t.all {
		t.byFirst[phrase[0]] = append(t.byFirst[phrase[0]], byte(i))
	}
	return t
})

type phraseTable struct {
	all     []string
	byFirst [256][]byte
}

// at returns the longest phrase that s begins with.
func (t *phraseTable) at(s string) (i byte, ok bool) {
	for _, i := range t.byFirst[s[0]] {
		if strings.HasPrefix(s, t.all[i]) {
			return i, true
		}
	}
	return 0, false
}

func pack(message string) packed {
	var room [2 << 10]byte // stays on the stack
	p := room[:0]
	for t := phrases(); message != ""; {
		n := 1
		if i, ok := t.at(message); ok {
			p, n = append(p, phraseMark, i), len(t.all[i])
		} else {
			p = append(p, message[0])
		}
		message = message[n:]
	}
	return packed(p)
}

func (p packed) unpack() string {
	var b strings.Builder
	for rest := string(p); rest != ""; {
		plain, coded, ok := strings.Cut(rest, string(phraseMark))
		b.WriteString(plain)
		if !ok {
			break
		}
		b.WriteString(phrases().all[coded[0]])
		rest = coded[1:]
	}
	return b.String()
}

func (p packed) MarshalText() ([]byte, error) { return []byte(p.unpack()), nil }

func (p *packed) UnmarshalText(text []byte) error {
	*p = pack(string(text))
	return nil
}
