package classify

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkClassify is a verdict on 20 kB of shipped cases. The limit is 2 ms.
func BenchmarkClassify(b *testing.B) {
	h := newHeuristic(b)
	for _, name := range []string{"conversations", "lang_zh", "lang_ja", "lang_ru", "lang_de"} {
		text := ""
		for _, c := range loadCases(b, "cases/"+name+".jsonl") {
			if len(text) < 20_000 {
				text += c.Input.Text + "\n\n"
			}
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, err := h.Classify(context.Background(), Input{Text: text, Request: "fix it"})
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkTables is what a process pays once, for the first text in a language.
func BenchmarkTables(b *testing.B) {
	for _, language := range []string{"en", "de", "ru", "zh", "ja"} {
		b.Run(language, func(b *testing.B) {
			for b.Loop() {
				l, err := newLanguages(folder(embedded, "lexicon"), nil)
				require.NoError(b, err)
				for i, name := range l.names {
					if name == language {
						_, err = l.lexicons[i]()
						require.NoError(b, err)
					}
				}
			}
		})
	}
	b.Run("weights", func(b *testing.B) {
		for b.Loop() {
			_, err := parseModel(folder(embedded, "weights"), wordWeights)
			require.NoError(b, err)
		}
	})
}
