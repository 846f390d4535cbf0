package verify_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// What an agent writes is bounded work, whatever it repeats.
func TestRepeatedTextIsBoundedWork(t *testing.T) {
	for _, part := range []string{"{", `{"a":{}}`, "created a.go, ", "`a.go` ", "Updated a.go and ", "all tests ", "[a](", "commit as ", "a.go\n", "x."} {
		text := []byte(strings.Repeat(part, verify.MaxSize/len(part)-1))
		_, err := verify.ParseDecision(text)
		require.Error(t, err)
		if r, err := verify.ParseReport(text); err == nil {
			require.LessOrEqual(t, len(r.Files), 500)
		}
	}
}
