package autocontinue

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
)

func TestPacked(t *testing.T) {
	for _, message := range []string{
		"", "continue", "x", "\x01", "\x01\x01", "\x01\x00\x02", "a\x01b", "[System Coach] \x01", "[System Coach", "[System Coach]",
		"[System Coach] This looked like a completion, " + "but it was not accepted as one yet: concrete proof is missing.",
		"Mach weiter: „Tests“ fehlen ✅", strings.Repeat("what proves it ", 1000), "\xff\x00",
	} {
		p := pack(message)
		assert.Equal(t, message, p.unpack(), "%q", message)
		assert.Equal(t, p, pack(message))
		assert.LessOrEqual(t, len(p), len(message)+strings.Count(message, "\x01"))
	}
}

// A message of the coach takes a fraction of its size.
func TestPackedIsSmall(t *testing.T) {
	const text = "All tests pass. It should work now."
	r := rejected
	r.Signals = []classify.Signal{
		{Kind: classify.SignalClaim, Name: "tests", Start: 0, End: 14, Weight: 1},
		{Kind: classify.SignalHedge, Start: 16, End: 34, Weight: 1},
	}
	for attempt := 1; attempt <= 2; attempt++ {
		m := coach.BuildCoachingMessage(r, coach.Context{Text: text, Attempt: attempt})
		require.Equal(t, coach.TierRejection, m.Tier)
		assert.Less(t, len(pack(m.Text)), len(m.Text)/4, m.Text)
	}
}

// Stored states have the message itself.
func TestPackedAsJSON(t *testing.T) {
	for _, message := range []string{"continue", "[System Coach] You reported \"done\" but showed no commit.", "\x01 from elsewhere"} {
		b, err := json.Marshal(record{Message: pack(message)})
		require.NoError(t, err)
		var j map[string]any
		require.NoError(t, json.Unmarshal(b, &j))
		assert.Equal(t, message, j["m"])
		var back record
		require.NoError(t, json.Unmarshal(b, &back))
		assert.Equal(t, pack(message), back.Message)
	}
}

func FuzzPacked(f *testing.F) {
	for i, phrase := range coach.Phrases() {
		f.Add(phrase + string(rune(i)) + phrase[:len(phrase)/2])
	}
	f.Add("\x01\x01\x00")
	f.Fuzz(func(t *testing.T, message string) {
		if got := pack(message).unpack(); got != message {
			t.Fatalf("%q came back as %q", message, got)
		}
	})
}
