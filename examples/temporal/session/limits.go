package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

const (
	maxReport = 1 << 20   // of an output with all that the host says about it
	maxText   = 256 << 10 // kept of an output, or of a word, as JSON
	maxID     = 512       // of an ID, as JSON; a longer one is hashed
	maxPath   = 4 << 10   // of the name of a plan
)

// size is what a payload of v takes.
func size(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return math.MaxInt
	}
	return len(data)
}

// clip keeps a payload within its limit: of a text that takes too much room as JSON its head and, what counts most, its
// end.
func clip(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if size(text)-len(`""`) <= maxText {
		return text
	}
	head, end := 0, len(text)
	for room := maxText / 4; head < end; {
		r, n := utf8.DecodeRuneInString(text[head:])
		if room -= escaped(r); room < 0 {
			break
		}
		head += n
	}
	for room := maxText / 2; end > head; {
		r, n := utf8.DecodeLastRuneInString(text[:end])
		if room -= escaped(r); room < 0 {
			break
		}
		end -= n
	}
	return text[:head] + "\n[…]\n" + text[end:]
}

// escaped is how many bytes r takes in JSON, at most.
func escaped(r rune) int {
	switch {
	case r < ' ', r == '<', r == '>', r == '&', r == '\u2028', r == '\u2029':
		return len(`\u0000`)
	case r == '"', r == '\\':
		return 2
	}
	return utf8.RuneLen(r)
}

// short is id or, if that is too long to be remembered, its beginning with a hash that tells it from others.
func short(id string, most int) string {
	if size(id) <= most {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return plaintext.Line(id, 40) + " " + hex.EncodeToString(sum[:])
}

// bounded is out such that it can be remembered and given to activities, and so that the human sees it whatever it
// holds.
func bounded(out autocontinue.Output) autocontinue.Output {
	for _, id := range []*string{&out.ID, &out.Run, &out.Turn, &out.Phase, &out.Hold} {
		*id = short(*id, maxID)
	}
	out.PlanFile = short(out.PlanFile, maxPath)
	out.Text, out.Request = clip(out.Text), clip(out.Request)
	if size(out) > maxReport { // then it is the evidence
		out.Evidence, out.Hold = nil, "the report was too large to be judged"
	}
	return out
}
