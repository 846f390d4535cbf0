package classify

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The full stops of an abbreviation of two letters end no sentence.
func TestAbbreviations(t *testing.T) {
	lex, err := newHeuristic(t).lex[latin]()
	assert.NoError(t, err)
	for text, want := range map[string]int{
		"Soll ich die Formate (z. B. CSV) ergänzen?":   1,
		"Das gilt d. h. für beide, u. a. für Importe.": 1,
		"Das gilt z.\u00a0B. für Importe.":             1,
		"Variante B. Danach folgt C. Beides geht.":     3,
		"Erledigt. Weiter mit a. Fertig.":              3,
		"a. b.":                                        1,
		"a.":                                           1,
	} {
		buf, _, _ := mask(nil, text)
		_, sents := lex.tokenize(nil, nil, buf, text)
		assert.Len(t, sents, want, text)
	}
}
