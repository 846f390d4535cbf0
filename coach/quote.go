package coach

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// quote returns the sentence of the agent's own prose around the heaviest signal of a kind and a name, or "" if it
// may not be quoted. The sentence must be whole and plain. The signal must be most of it, so that it says that and
// nothing else.
func quote(text string, signals []classify.Signal, kind classify.SignalKind, name string) string {
	signals = slices.DeleteFunc(slices.Clone(signals), func(s classify.Signal) bool {
		return s.Kind != kind ||
			s.Name != name
	})
	slices.SortStableFunc(signals, func(a, b classify.Signal) int { return cmp.Compare(b.Weight, a.Weight) })
	if len(signals) == 0 {
		return ""
	}
	sentences := classify.Sentences(text)
	for _, sig := range signals {
		i := slices.IndexFunc(sentences, func(s classify.Sentence) bool {
			return s.Kind == classify.Prose && s.Start <= sig.Start && sig.End <= s.End
		})
		if i < 0 {
			continue
		}
		sentence := text[sentences[i].Start:sentences[i].End]
		if isPlainSentence(sentence) && 5*(sig.End-sig.Start) >= 4*len(strings.TrimRight(sentence, ".!。！")) {
			return plaintext.Line(sentence, maxSentence)
		}
	}
	return ""
}

// isPlainSentence reports whether a person would take s for one plain sentence: it begins with a letter, ends with a
// full stop, and holds nothing but words, numbers and simple punctuation.
func isPlainSentence(s string) bool {
	if !utf8.ValidString(s) || utf8.RuneCountInString(s) > maxSentence {
		return false
	}
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	if !unicode.IsLetter(first) || !strings.ContainsRune(".!。！", last) {
		return false
	}
	plain := !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.Mn, unicode.Nd) && !strings.ContainsRune(" \n.,!'’()%、，。！", r)
	})
	return plain && unsafe(s) == ""
}
