package verify

import (
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

// says adds a claim if a text has its words, and not those that make it another one. A group of the words is its name
// or its number.
func (r *Report) says(clause, text string, words, unless *lazy.Pattern, c Claim) {
	f := words.Find(text)
	if f == nil || unless != nil && unless.Match(text) {
		return
	}
	c.Text = clause
	if group := strings.Join(f[1:], ""); c.Kind == branchClaim {
		c.Name = group
	} else {
		c.Total = numeral(group)
	}
	r.add(c)
}

// extent reads how much a clause says was changed: nothing, nothing else, no new file, or a number of files. Such
// clauses deny something, so they are read before denials are left out.
func (r *Report) extent(s, m string) {
	l := lex()
	r.says(s, m, l.TestsUntouched, l.Except, Claim{Kind: scopeClaim, Part: true})
	r.says(s, strings.ReplaceAll(s, "`", ""), l.TreeClean, nil, Claim{Kind: cleanClaim})
	r.says(s, m, l.NoDependency, nil, Claim{Kind: sameClaim})
	r.says(s, m, l.OnlyThis, l.Supposed, Claim{Kind: scopeClaim})
	if at := l.Unchanged.Regexp().FindStringIndex(m); at != nil && !l.UnchangedPart.Match(m[at[1]:]) &&
		!l.PartOf.Match(m[:at[0]]) {
		words := strings.ToLower(m[at[0]:at[1]])
		inCode := strings.Contains(words, "code") || strings.Contains(words, "source") || strings.HasPrefix(words, "doc")
		r.add(Claim{Kind: scopeClaim, Text: s, Change: Removed, Sure: inCode && !strings.HasPrefix(words, "the code")})
	}
	r.says(s, m, l.NoFunctional, nil, Claim{Kind: scopeClaim, Change: Modified})
	r.says(s, s, l.EmptyDiff, nil, Claim{Kind: scopeClaim, Change: Removed})
	r.says(s, m, l.NoNewFile, nil, Claim{Kind: scopeClaim, Change: Added})
	r.says(s, m, l.FileCount, nil, Claim{Kind: scopeClaim})
}

// fates reads which files a clause says to be as they were, and, if it may, which to be gone.
func (r *Report) fates(s string, gone bool) {
	var list []string
	for _, in := range pathsIn(s) {
		before, after := s[max(0, in.from-nearby):in.from], s[in.to:min(len(s), in.to+nearby)]
		if !in.listed {
			list = nil
		}
		kept := len(list) == 0 && lex().KeptBefore.Match(before) || lex().KeptBehind.Match(after)
		if len(list) > 0 || !lex().PartOf.Match(before) || lex().RidOf.Match(before) {
			list = append(list, in.path)
		}
		if kept || gone && (lex().GoneBehind.Match(after) || lex().RidOf.Match(before)) {
			for _, p := range list {
				if kept {
					r.add(Claim{Kind: backClaim, Text: s, Path: p, Sure: true})
				} else {
					r.changed(s, p, Removed)
				}
			}
		}
	}
}

// leftovers reads what a clause says to be gone or to be elsewhere.
func (r *Report) leftovers(s, m string) {
	l := lex()
	supposed := l.Supposed.Match(m) || l.Unlike.Match(m)
	if r.fates(s, !supposed); supposed {
		return
	}
	late := l.Earlier.Match(l.Passed.Replace(m, " "))
	if f := l.NameGone.Find(s); f != nil && !late {
		r.quotedNames(s, f[1]+f[2], Removed, "", false)
	}
	if f := l.FileMoved.Find(s); f != nil && isPath(f[1]) && isPath(f[2]) {
		r.moved(s, f[1], f[2])
	}
	if f := l.FolderTo.Find(s); f != nil && !late {
		r.changed(s, f[1]+f[2], "")
	}
	if f := l.DocumentHas.Find(s); f != nil && isPath(f[1]) && !l.Earlier.Match(m) {
		r.add(Claim{Kind: fileClaim, Text: s, Path: f[1]})
	}
	r.says(s, m, l.FilesChanged, nil, Claim{Kind: scopeClaim, Sure: true})
}

// history reads which branches and commits a clause names.
func (r *Report) history(s, m string) {
	l := lex()
	r.says(s, s, l.Branch, l.OtherBranch, Claim{Kind: branchClaim})
	r.says(s, s, l.OnBranch, nil, Claim{Kind: branchClaim, Sure: true})
	r.says(s, s, l.CommitCount, nil, Claim{Kind: countClaim})
	r.says(s, s, l.CommitHolds, nil, Claim{Kind: commitClaim})
}

// numeral reads a number in digits or as a word.
func numeral(s string) *int {
	if i := slices.Index(lex().NumberWords, strings.ToLower(s)); i >= 0 {
		return &i
	}
	return atoi(s)
}

// codeName returns the name in code that stands in quotes: not of a file, a program, a test or a commit.
func codeName(quoted string) string {
	l := lex()
	f := l.CodeName.Find(quoted)
	if f == nil || isPath(quoted) || l.Program.Match(quoted+" ") || l.TestName.Match(quoted) || l.CommitHash.Match(quoted) {
		return ""
	}
	return f[1]
}
