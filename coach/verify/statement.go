package verify

import (
	"slices"
	"strings"
	"unicode"
)

// statement is a part of a report that says what is there now, in words that no claim is made of.
type statement struct {
	Text  string   `json:"text"`            // the clause, on one line
	Terms []string `json:"terms,omitempty"` // names, numbers and quoted words: the change must show all of them
	Words []string `json:"words,omitempty"` // without terms, plain words: the change must show half of them
	Prose bool     `json:"prose,omitempty"` // it is about a document, which must show them
	Gone  bool     `json:"gone,omitempty"`  // one of the terms is said to be gone
}

const (
	exactly       = "=" // begins a term that the change must show as a whole word
	maxStatements = 500
	maxUnchecked  = 50 // statements that are told
)

// ground adds what a clause says of the work, part by part, in words that no other claim is made of: what it says to be
// there, the change must show. Claims are those of the clause.
func (r *Report) ground(s, m string, claims []Claim) {
	for _, quote := range lex().QuotedText.FindAllIndex(m) {
		m = m[:quote[0]] + strings.Repeat("x", quote[1]-quote[0]) + m[quote[1]:]
	}
	covered := slices.ContainsFunc(claims, func(c Claim) bool {
		return !slices.Contains([]claimKind{fileClaim, nameClaim, saidClaim, changeClaim, runClaim,
			testClaim, stillClaim, openClaim}, c.Kind)
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
	if lex().NotYet.Match(m) || saysResult(s, m) {
		return
	}
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
	if lex().WithTests.Match(m) && lex().SaysChange.Match(clause) {
		r.add(Claim{Kind: testsClaim, Text: clause})
		return
	}
	if made, with, ok := strings.Cut(m, " with "); ok && strings.Contains(made, "xx") && !strings.HasPrefix(with, "x") {
		r.part(clause, s[:len(made)], made) // "`total` with a cache" says two things
		r.part(clause, s[len(s)-len(with):], with)
		return
	}
	c := statement{Text: line(clause, maxQuote), Prose: lex().Document.Match(s), Gone: lex().SaysGone.Match(m)}
	s = lex().OldValue.Replace(lex().StandsAt.Replace(s, "$1$2"), " ") // the change need not have it
	add := func(text string) {
		for _, literal := range lex().Literal.FindAll(text) {
			c.Terms = append(c.Terms, literal[1])
			text = strings.Replace(text, literal[1], " ", 1)
		}
		text = lex().Qualifier.Replace(text, "$1")
		for _, word := range lex().Word.Regexp().FindAllString(text, -1) {
			if (len(word) > 2 || word[0] <= '9') && !lex().HTTPMethod.Match(word) {
				c.Terms = append(c.Terms, exactly+word)
			}
		}
	}
	for _, p := range clausePaths(s) {
		s = strings.ReplaceAll(s, p, " ")
		c.Terms = append(c.Terms, p)
	}
	for _, value := range lex().NewValue.FindAll(s) {
		add(value[1])
	}
	for _, span := range lex().Spans.FindAll(s) {
		s = strings.Replace(s, span[0], " ", 1)
		_, operands, _ := strings.Cut(span[1], " ")
		switch program := lex().Program.Match(span[1]); {
		case !program:
			add(span[1])
		case !lex().RanIt.Match(m):
			add(operands)
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
		case strings.ToUpper(word) == word && len(word) < 6 && word[0] > '9':
			c.Words = append(c.Words, lower)
		case word[0] <= '9' && len(word) == 1:
		case strings.ContainsFunc(word[1:], unicode.IsUpper) || strings.ContainsAny(word, "_$") || word[0] <= '9':
			add(word)
		case i > 0 && lower != word:
			c.Terms = append(c.Terms, lower)
		case len(word) > 2:
			c.Words = append(c.Words, lower)
		}
	}
	if len(c.Terms) > 0 {
		c.Words = nil
	} else if lex().Earlier.Match(m) && !lex().SaysChange.Match(m) {
		return // a story
	}
	if len(c.Terms)+len(c.Words) > 0 {
		r.state(c)
	}
}

// state adds statements. What is beyond the bound is a claim that nothing checks.
func (r *Report) state(list ...statement) {
	r.Statements = append(r.Statements, list...)
	if len(r.Statements) > maxStatements {
		r.Statements = r.Statements[:maxStatements]
		r.add(Claim{Kind: otherClaim, Text: "the report says more than is compared"})
	}
}

// saysResult reports whether a part of a clause is about a run, which other claims are made of.
func saysResult(s, m string) bool {
	counts := lex().Numbers.Match(m) || lex().OfPass.Match(m) || lex().OnlyCounts.Match(m)
	subject := lex().TestSubject.Match(m) || lex().BuildWord.Match(m) || lex().LintWord.Match(m) || lex().TestName.Match(s) ||
		slices.ContainsFunc(lex().Spans.FindAll(s), func(f []string) bool { return lex().Program.Match(f[1]) })
	return counts || subject && (lex().ResultNumber.Match(s) ||
		lex().Succeeds.Match(m) || lex().Fails.Match(m) || lex().AllPass.Match(m))
}

// lack returns what of a statement the change does not show, for people; "" if it shows it.
func (f Facts) lack(s statement) string {
	shown := f.Shown
	if s.Prose {
		shown = f.Written
	}
	dropped := func(w string) bool { return slices.Contains(f.Dropped, w) }
	missing := slices.DeleteFunc(slices.Concat(s.Terms, s.Words), func(w string) bool { return slices.Contains(shown, w) })
	names := slices.DeleteFunc(slices.Clone(s.Terms), func(w string) bool { return !strings.HasPrefix(w, exactly) })
	switch {
	case s.Gone && len(missing) == 0 && len(names) > 0 && !slices.ContainsFunc(names, dropped):
		return "no changed line lacks " + code(strings.TrimPrefix(names[0], exactly)) + " now"
	case len(missing) == 0, len(s.Terms) == 0 && 2*len(missing) <= len(s.Words):
		return ""
	case f.Compared != Met:
		return "what changed is not known"
	case len(s.Terms) > 0:
		return "nothing that changed has " + code(strings.TrimPrefix(missing[0], exactly))
	}
	return "nothing that changed shows it"
}

// onlyNames reports whether a statement only names files, which are claims of their own.
func (s statement) onlyNames() bool {
	return len(s.Words) == 0 && !slices.ContainsFunc(s.Terms, func(w string) bool { return !isPath(w) })
}

// clausePaths returns the paths of files in a clause.
func clausePaths(s string) (list []string) {
	for _, m := range lex().AnyPath.FindAll(s) {
		if p := tidyPath(m[1]); isPath(p) {
			list = append(list, p)
		}
	}
	return list
}
