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
		tail := NewTail(max)
		var all string
		for range rnd.IntN(10) {
			part := strings.Repeat(string(rune('a'+rnd.IntN(26))), rnd.IntN(30))
			all += part
			n, err := tail.Write([]byte(part))
			require.NoError(t, err)
			require.Equal(t, len(part), n)
		}
		require.Equal(t, all[len(all)-min(max, len(all)):], tail.String())
		require.Equal(t, int64(len(all)), tail.Total())
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
		tail := NewTail(tt.max)
		_, _ = tail.Write([]byte(tt.in))
		assert.Equal(t, tt.out, tail.String(), "%q", tt.in)
	}
	zero := new(Tail)
	_, _ = zero.Write([]byte("abc"))
	assert.Equal(t, "", zero.String())
	assert.Equal(t, int64(3), zero.Total())
}

// However a text is written, its lines are the same.
func FuzzLines(f *testing.F) {
	f.Add("a\nb\r\n\nc", 3, 2)
	f.Fuzz(func(t *testing.T, text string, max, step int) {
		if max < 0 || max > 1000 || step < 1 {
			t.Skip("sizes that no caller gives")
		}
		var got []string
		var cuts []bool
		l := NewLines(max, func(line []byte, cut bool) { got, cuts = append(got, string(line)), append(cuts, cut) })
		for rest := text; rest != ""; {
			n := min(step, len(rest))
			_, _ = l.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		require.NoError(t, l.Close())
		want := strings.Split(text, "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		require.Len(t, got, len(want))
		for i, line := range want {
			require.Equal(t, len(line) > max, cuts[i])
			require.Equal(t, strings.TrimSuffix(line[:min(max, len(line))], "\r"), got[i])
		}
	})
}
