package transcript

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The words of replies.txt are such replies.
func TestReadReply(t *testing.T) {
	text, err := os.ReadFile("testdata/replies.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if kind, words, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			require.Equal(t, strings.TrimPrefix(kind, "none"), string(ReadReply(unescape.Replace(words))), words)
		}
	}
	require.Equal(t, replyOther, ReadReply("continue "+strings.Repeat("and on ", 40)))
}

func FuzzReadReply(f *testing.F) {
	f.Add("Yes, \xff do it")
	f.Fuzz(func(t *testing.T, words string) {
		got := ReadReply(words)
		require.Contains(t, []Reply{replyNone, replyNudge, replyAssent, replyYesNudge, replyAnswer, replyOther}, got)
		require.Equal(t, got, ReadReply(" \n"+words+"\t"), "white space around says nothing")
	})
}
