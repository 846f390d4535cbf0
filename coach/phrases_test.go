package coach

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestPhrases(t *testing.T) {
	words := []string{Prefix}
	for _, src := range templateTexts(t) {
		words = append(words, strings.Join(strings.Fields(src), " "))
	}
	for _, k := range kinds {
		words = append(words, k.proof)
	}
	all := Phrases()
	seen := make(map[string]bool)
	for i, p := range all {
		assert.False(t, seen[p], "%q comes twice", p)
		seen[p] = true
		assert.GreaterOrEqual(t, len(p), 12, p)
		assert.True(t, utf8.ValidString(p) && !strings.ContainsFunc(p, unicode.IsControl), "%q", p)
		assert.True(t, i == 0 || len(p) <= len(all[i-1]), "longest first")
		assert.True(t, slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, p) }), "nothing says %q", p)
	}
	all[0] = "changed"
	assert.NotEqual(t, "changed", Phrases()[0], "fresh")
}

// Most of a message is made of phrases.
func TestPhrasesCoverTheMessages(t *testing.T) {
	for _, s := range samples() {
		for s.in.Attempt = 1; s.in.Attempt <= 3; s.in.Attempt++ {
			m := BuildCoachingMessage(s.r, s.in)
			if m.Tier == TierPlain || m.Tier == TierLLM || m.Tier == TierPlanCriteria {
				continue // of these most is others' words
			}
			rest := m.Text
			for _, p := range Phrases() {
				rest = strings.ReplaceAll(rest, p, "")
			}
			assert.Less(t, len(rest), len(m.Text)*3/5, "%s, attempt %d: %q", s.name, s.in.Attempt, rest)
		}
	}
}
