package coach

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// quote returns the sentence of the agent's own prose around the heaviest signal of a kind and a name, or "" if it
// may not be quoted. The sentence must be whole and plain. The signal must be most of it, so that it says that and
// nothing else.
func quote(text string, signals []classify.Signal, kind classify.SignalKind, name string, max int) string {
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
			return s.Paragraph && s.Start <= sig.Start && sig.End <= s.End
		})
		if i < 0 {
			continue
		}
		sentence := text[sentences[i].Start:sentences[i].End]
		if plainSentences().MatchString(sentence) && unsafe(sentence) == "" &&
			utf8.RuneCountInString(sentence) <= max && 5*(sig.End-sig.Start) >= 4*len(strings.TrimRight(sentence, ".!。！")) {
			return plaintext.Line(sentence, max)
		}
	}
	return ""
}

// plainSentences matches what a person would take for one plain sentence: words, numbers and simple punctuation that begin
// with a letter and end with a full stop.
var plainSentences = compiled(`^\pL[\pL\pM\pN \n.,!\'’()%、，。！]*[.!。！]$`)
