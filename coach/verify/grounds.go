package verify

import (
	"slices"
	"strings"
	"unicode"
)

// ground adds what a clause says of the work, part by part, in words that no other claim is made of: what it says to be
// there, the change must show. Claims are those of the clause.
func (r *Report) ground(s, m string, claims []Claim) {
	for _, quote := range lex().QuotedText.FindAllIndex(m) {
		m = m[:quote[0]] + strings.Repeat("x", quote[1]-quote[0]) + m[quote[1]:]
	}
	covered := slices.ContainsFunc(claims, func(c Claim) bool {
		return !slices.Contains([]claimKind{fileClaim, nameClaim, saidClaim, textClaim, valueClaim, changeClaim}, c.Kind) &&
			!(c.Kind == testClaim && c.Result == "")
	})
	if covered || lex().NoClaim.Match(m) {
		return
	}
	from := 0
	for _, at := range append(lex().PartEnd.FindAllIndex(m), []int{len(m), len(m)}) {
		if from < at[0] {
			r.part(s, s[from:at[0]], m[from:at[0]])
		}
		from = at[1]
	}
}

// part adds what a part of a clause says.
func (r *Report) part(clause, s, m string) {
	if lex().Denied.Match(m) || lex().AsBefore.Match(m) {
		if lex().SaysChange.Match(m) || lex().AsBefore.Match(m) {
			r.add(Claim{Kind: otherClaim, Text: clause})
		}
		return
	}
	if lex().OfAll.Match(m) && !lex().AllPass.Match(m) {
		r.add(Claim{Kind: otherClaim, Text: clause})
		return
	}
	c := Claim{Kind: shownClaim, Text: clause}
	add := func(text string) {
		for _, word := range lex().Word.Regexp().FindAllString(text, -1) {
			if len(word) > 2 || len(word) == 2 && word[0] >= '0' && word[0] <= '9' {
				c.Terms = append(c.Terms, word)
			}
		}
	}
	for _, p := range clausePaths(s) {
		s = strings.ReplaceAll(s, p, " ")
		c.Terms = append(c.Terms, p)
	}
	for _, span := range lex().Spans.FindAll(s) {
		if s = strings.Replace(s, span[0], " ", 1); !lex().Program.Match(span[1]) || !lex().RanIt.Match(m) {
			add(span[1])
		}
	}
	for _, quote := range lex().QuotedText.FindAll(s) {
		s = strings.Replace(s, quote[0], " ", 1)
		add(quote[1] + quote[2])
	}
	for i, word := range lex().Word.Regexp().FindAllString(s, -1) {
		lower := strings.ToLower(word)
		switch {
		case len(word) < 2 || slices.Contains(lex().Vague, lower) || slices.Contains(lex().Plain, lower):
		case strings.ContainsFunc(word[1:], unicode.IsUpper) || strings.ContainsAny(word, "_$") || word[0] <= '9':
			add(word)
		case i > 0 && lower != word:
			add(lower)
		case len(word) > 2:
			c.Words = append(c.Words, lower)
		}
	}
	if len(c.Terms) > 0 {
		c.Words = nil
	}
	if len(c.Terms)+len(c.Words) > 0 {
		r.add(c)
	}
}

// shown checks that the change shows the names and numbers of a statement or, without any, half of its words.
func (a *audit) shown(c Claim) finding {
	n := 0
	for _, word := range slices.Concat(c.Terms, c.Words) {
		switch {
		case slices.Contains(a.facts.Shown, word):
			n++
		case len(c.Terms) > 0:
			return unchecked("nothing that changed has %s", code(word))
		}
	}
	if 2*n < len(c.Words) {
		return unchecked("nothing that changed shows it")
	}
	return holds
}
