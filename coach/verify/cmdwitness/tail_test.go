package cmdwitness

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTailKeepsTheEnd(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		max := rnd.IntN(20)
		tail := &tail{max: max}
		var all string
		for range rnd.IntN(10) {
			part := strings.Repeat(string(rune('a'+rnd.IntN(26))), rnd.IntN(30))
			all += part
			n, err := tail.Write([]byte(part))
			require.NoError(t, err)
			require.Equal(t, len(part), n)
		}
		require.Equal(t, all[len(all)-min(max, len(all)):], tail.String())
	}
}

func TestTailBeginsAtALine(t *testing.T) {
	for _, tt := range []struct {
		max     int
		in, out string
	}{
		{10, "short\n", "short\n"},
		{10, "a long line\nb\nc\n", "b\nc\n"},
		{4, "one long line", "line"},
		{5, "one long line\n", "line\n"},
		{3, "aé", "aé"},
		{2, "aaéb", "\ufffdb"},
		{0, "a", ""},
	} {
		tail := &tail{max: tt.max}
		_, _ = tail.Write([]byte(tt.in))
		assert.Equal(t, tt.out, tail.String(), "%q", tt.in)
	}
}
