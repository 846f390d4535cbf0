package autocontinue

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKeysOfShortAndLongStringsAreMadeAlike(t *testing.T) {
	seen := make(map[key]int)
	for _, n := range []int{0, 1, 100, 1000, 1001, 1012, 1013, 1014, 1023, 1024, 1025, 2048, 5000} {
		s := strings.Repeat("x", n)
		var d digest
		d.start(textKey)
		for i := range n { // in pieces
			d.writeByte(s[i])
		}
		k := keyOf(textKey, s)
		assert.Equal(t, d.key(), k, "%d", n)
		assert.NotContains(t, seen, k)
		seen[k] = n
	}
	assert.NotEqual(t, keyOf(turnKey, "a"), keyOf(runKey, "a"))
}

func TestKeysAsText(t *testing.T) {
	k := keyOf(textKey, "a")
	text, err := k.MarshalText()
	require.NoError(t, err)
	assert.Len(t, text, 12)
	var back key
	require.NoError(t, back.UnmarshalText(text))
	assert.Equal(t, k, back)
	for _, bad := range []string{"", "a", "AAAAAAAAAAA", "AAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAA!", "AAAAAAAAAAA="} {
		assert.Error(t, back.UnmarshalText([]byte(bad)), bad)
		assert.Equal(t, k, back)
	}

	id := newDecisionID(Output{Session: "s"}, 1)
	text, err = id.MarshalText()
	require.NoError(t, err)
	var again decisionID
	require.NoError(t, again.UnmarshalText(text))
	assert.Equal(t, id, again)
	assert.Error(t, again.UnmarshalText(text[1:]))
}
