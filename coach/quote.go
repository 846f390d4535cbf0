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

// isGap reports whether a signal admits that a part is open.
func isGap(s classify.Signal) bool { return s.Kind == classify.SignalGap && s.Name == "admitted" }

// isClaimOfCheck reports whether a signal claims the result of a check.
func isClaimOfCheck(s classify.Signal) bool {
	return s.Kind == classify.SignalClaim && s.Name != classify.ClaimRun && slices.Contains(claims[:], s.Name)
}

// quote returns the sentence of the agent's own prose around the heaviest wanted signal, or "" if it may not be quoted. The
// sentence must be whole and plain. The signal must be most of it, so that the sentence says that and nothing else.
func quote(text string, signals []classify.Signal, wanted func(classify.Signal) bool) string {
	signals = slices.DeleteFunc(slices.Clone(signals), func(s classify.Signal) bool { return !wanted(s) })
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
		if isPlainSentence(sentence) && 2*(sig.End-sig.Start) >= len(sentence) {
			return plaintext.Line(sentence, maxSentence)
		}
	}
	return ""
}

// isPlainSentence reports whether a person would take s for one plain sentence: it begins with a letter, ends with a full
// stop, and holds nothing but words, numbers and simple punctuation.
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
