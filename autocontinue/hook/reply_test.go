package hook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadReply(t *testing.T) {
	for words, want := range map[string]Reply{
		"": ReplyNone, " \n": ReplyNone, "...": ReplyNone,
		"continue": ReplyNudge, "Continue.": ReplyNudge, "please continue": ReplyNudge, "OK, go on!": ReplyNudge, "keep going": ReplyNudge, "proceed with the plan": ReplyNudge,
		"Run the tests.": ReplyNudge, "did you run the tests?": ReplyNudge, "can you run all the unit tests please": ReplyNudge, "re-run the tests": ReplyNudge,
		"show me the output": ReplyNudge, "Show me the full test output, please": ReplyNudge, "does it actually work?": ReplyNudge, "do all tests pass?": ReplyNudge,
		"run the tests and show me the output": ReplyNudge, "Continue. Then run the tests, please.": ReplyNudge, "keep going, and run the tests": ReplyNudge,
		"run the tests and add a logout button": ReplyOther, "continue, then rename foo to bar": ReplyOther,
		"test it": ReplyNudge, "verify it works": ReplyNudge, "double check": ReplyNudge, "/run go test ./...": ReplyNudge, "go test ./...": ReplyNudge,
		"继续": ReplyNudge, "weiter": ReplyNudge, "Mach weiter!": ReplyNudge, "続けて": ReplyNudge, "продолжай": ReplyNudge, "continuez": ReplyNudge, "pokračuj": ReplyNudge,
		"yes": ReplyAnswer, "Yes, drop it.": ReplyAnswer, "no, keep it": ReplyAnswer, "the second one": ReplyAnswer, "Option B": ReplyAnswer, "2": ReplyAnswer, "b) and hurry": ReplyAnswer,
		"go ahead": ReplyAnswer, "use Postgres": ReplyAnswer, "I'd prefer SQLite": ReplyAnswer, "don't do that": ReplyAnswer, "да": ReplyAnswer, "ja, bitte": ReplyAnswer, "好的": ReplyAnswer,
		"Now add a logout button.": ReplyOther, "Fix the login redirect.": ReplyOther, "the tests are in the wrong folder": ReplyOther, "continue with the second task in the list and rename foo": ReplyOther,
		"continue " + strings.Repeat("and on ", 40): ReplyOther, "Nothing works.": ReplyOther, "run a marathon": ReplyOther,
	} {
		require.Equal(t, want, ReadReply(words), words)
	}
}

func FuzzReadReply(f *testing.F) {
	f.Add("Yes, \xff do it")
	f.Fuzz(func(t *testing.T, words string) {
		got := ReadReply(words)
		require.Contains(t, []Reply{ReplyNone, ReplyNudge, ReplyAnswer, ReplyOther}, got)
		require.Equal(t, got, ReadReply(" \n"+words+"\t"), "white space around says nothing")
	})
}
