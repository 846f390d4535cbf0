package tokens

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify/llm/internal/o200k"
	"github.com/tiktoken-go/tokenizer"
)

func FuzzCount(f *testing.F) {
	count := codec(f, tokenizer.O200kBase)
	f.Add("The tests passed, didn't they? It's 12345.\n\n\t x  y   \r\n  z'LL WE'RE")
	f.Add("é日本語 \u00a0\u3000 ─═ 한국어ааa aaaaaaaaaaaaaaaaaaaaa ======//\n")
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || len(s) > 1<<12 || strings.Contains(s, "\x7f") { // the tokenizer passes over that one
			return
		}
		if got, want := o200k.Count(s), count(s); got != want {
			t.Fatalf("%q: %d tokens, not %d", s, got, want)
		}
	})
}
