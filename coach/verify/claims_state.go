package verify

import (
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

// kept reads which files a clause says to be as they were.
func (r *Report) kept(s string) {
	var list []string
	last := -1
	for _, m := range lex().AnyPath.FindAllIndex(s) {
		p := tidyPath(s[m[2]:m[3]])
		if !isPath(p) {
			continue
		}
		before := s[max(0, m[2]-nearby):m[2]]
		if last < 0 || lex().ListSeparator.Regexp().FindString(s[last:m[2]]) != s[last:m[2]] {
			list = nil
		}
		said := len(list) == 0 && lex().KeptBefore.Match(before)
		if len(list) > 0 || !lex().PartOf.Match(before) {
			list = append(list, p)
		}
		last = m[3]
		if said || lex().KeptBehind.Match(s[last:min(len(s), last+nearby)]) {
			for _, p := range list {
				r.add(Claim{Kind: backClaim, Text: s, Path: p, Sure: true})
			}
		}
	}
}

// extent reads how much a clause says was changed: nothing, no new file, or a number of files.
func (r *Report) extent(s, m string) {
	if at := lex().Unchanged.Regexp().FindStringIndex(m); at != nil && !lex().UnchangedPart.Match(m[at[1]:]) &&
		!lex().PartOf.Match(m[:at[0]]) {
		words := strings.ToLower(m[at[0]:at[1]])
		r.add(Claim{Kind: scopeClaim, Text: s, Change: Removed, Sure: strings.Contains(words, "code") &&
			!strings.HasPrefix(words, "the code")})
	} else if lex().EmptyDiff.Match(s) {
		r.add(Claim{Kind: scopeClaim, Text: s, Change: Removed})
	}
	if lex().NoNewFile.Match(m) {
		r.add(Claim{Kind: scopeClaim, Text: s, Change: Added})
	}
	if f := lex().FileCount.Find(m); f != nil {
		r.add(Claim{Kind: scopeClaim, Text: s, Total: numeral(f[1])})
	}
}

// numeral reads a number in digits or as a word.
func numeral(s string) *int {
	if i := slices.Index(lex().NumberWords, strings.ToLower(s)); i >= 0 {
		return &i
	}
	return atoi(s)
}

// history reads which branches and commits a clause names.
func (r *Report) history(s string) {
	if f := lex().Branch.Find(s); f != nil && !lex().OtherBranch.Match(s) {
		r.add(Claim{Kind: branchClaim, Text: s, Name: f[1] + f[2] + f[3]})
	}
	if f := lex().OnBranch.Find(s); f != nil {
		r.add(Claim{Kind: branchClaim, Text: s, Name: f[1], Sure: true})
	}
	if f := lex().CommitCount.Find(s); f != nil {
		r.add(Claim{Kind: countClaim, Text: s, Total: numeral(f[1])})
	}
	if f := lex().CommitSubject.Find(s); f != nil && !lex().CommitOther.Match(masked(s)) {
		r.add(Claim{Kind: titleClaim, Text: s, Name: f[1]})
	}
	if lex().CommitHolds.Match(s) {
		r.add(Claim{Kind: commitClaim, Text: s})
	}
}

// mentions reads what a clause says to be there by its name in code. A clause with facts of other kinds that no claim
// covers becomes a claim that nobody can check.
func (r *Report) mentions(s, m string) {
	covered := slices.ContainsFunc(r.Claims, func(c Claim) bool { return c.Kind != changeClaim && !c.Part })
	if lex().HasNow.Match(m) && !lex().Drops.Match(m) && !lex().Earlier.Match(m) {
		for _, q := range lex().Spans.FindAll(s) {
			f := lex().CodeName.Find(q[1])
			if f != nil && len(f[1]) > 2 && !isPath(q[1]) && !lex().Program.Match(q[1]+" ") && !lex().TestName.Match(q[1]) &&
				!lex().CommitHash.Match(q[1]) && !slices.ContainsFunc(r.Claims, func(c Claim) bool {
				return c.Name == f[1]
			}) {
				r.add(Claim{Kind: saidClaim, Text: s, Name: f[1]})
			}
		}
		if f := lex().NameBare.FindAllIndex(s); len(f) > 0 {
			if paths, _ := pathList(s[f[0][1]:]); len(paths) > 0 && testcode.IsCode(path.Base(paths[0])) {
				r.add(Claim{Kind: saidClaim, Text: s, Name: s[f[0][2]:f[0][3]]})
			}
		}
	}
	if lex().Unseen.Match(s) || !covered && lex().Uncovered.Match(m) {
		r.add(Claim{Kind: otherClaim, Text: s})
	}
}

// listed reads what an item of a list or the row of a table begins with: a name in code that is said to be there.
func (r *Report) listed(item string) {
	m := masked(item)
	if lex().Denied.Match(m) || lex().Supposed.Match(m) || lex().Drops.Match(m) || lex().NotDone.Match(item) {
		return
	}
	for _, q := range lex().Spans.FindAll(lex().ItemSpans.Regexp().FindString(item)) {
		f := lex().CodeName.Find(q[1])
		if f != nil && len(f[1]) > 2 && !isPath(q[1]) && !lex().Program.Match(q[1]+" ") && !lex().TestName.Match(q[1]) &&
			!lex().CommitHash.Match(q[1]) {
			r.add(Claim{Kind: saidClaim, Text: item, Name: f[1]})
		}
	}
}
