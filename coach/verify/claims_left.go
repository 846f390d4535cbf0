package verify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

// leftovers reads what a clause says to be gone, to be elsewhere, or to be there still. Clauses of this kind deny
// something, so they are read before denials are left out.
func (r *Report) leftovers(s, m string) {
	if lex().Supposed.Match(lex().Mark.Replace(m, " ")) || lex().Unlike.Match(m) {
		return
	}
	paths, spans := clausePlaces(s)
	in := ""
	if len(paths) == 1 {
		in = paths[0]
	}
	left := func(name string, all, uses bool) {
		name = lex().Arguments.Replace(strings.TrimSpace(name), "")
		if len(name) > 1 && !slices.Contains(paths, name) && !isPath(name) && !lex().Except.Match(m) {
			r.add(Claim{Kind: leftClaim, Text: s, Name: name, Path: in, Sure: all, Part: uses})
		}
	}
	if f := lex().MarksGone.Find(s); f != nil {
		left(strings.ToUpper(cmp.Or(f[1:]...)), lex().Every.Match(m) || lex().MarksNone.Match(s), false)
	}
	gone := lex().AllGone.Match(m) && !lex().Earlier.Match(lex().Passed.Replace(m, " "))
	if len(spans) > 0 && gone {
		left(spans[0], true, lex().UseWord.Match(m))
	}
	if f := lex().NameRenamed.Find(s); f != nil && !lex().Alias.Match(r.Text) {
		name := cmp.Or(f[1], f[3])
		if q := lex().CodeName.Find(strings.Trim(name, "`")); q != nil && !isPath(strings.Trim(name, "`")) {
			left(q[1], lex().Throughout.Match(m), false)
		}
	}
	if f := lex().NameGone.Find(s); f != nil && !lex().Earlier.Match(lex().Passed.Replace(m, " ")) {
		r.quotedNames(s, f[1]+f[2], Removed, "", false)
	}
	for _, f := range lex().Still.FindAll(s) {
		for _, q := range lex().Quoted.FindAll(f[1] + f[2]) {
			if isPath(q[1]) {
				r.add(Claim{Kind: stillClaim, Text: s, Path: q[1]})
			} else if n := lex().CodeName.Find(q[1]); n != nil && !lex().TestName.Match(q[1]) && !lex().Program.Match(q[1]+" ") {
				r.add(Claim{Kind: stillClaim, Text: s, Name: n[1]})
			}
		}
	}
	r.goneFiles(s)
	r.inFile(s)
	if f := lex().FileMoved.Find(s); f != nil && isPath(f[1]) && isPath(f[2]) {
		r.changed(s, f[1], Removed)
		r.changed(s, f[2], Added)
	}
	if f := lex().FolderTo.Find(s); f != nil && !lex().Earlier.Match(lex().Passed.Replace(m, " ")) {
		r.changed(s, f[1]+f[2], "")
	}
	if f := lex().DocumentHas.Find(s); f != nil && isPath(f[1]) && !lex().Earlier.Match(m) {
		r.add(Claim{Kind: fileClaim, Text: s, Path: f[1]})
	}
	if lex().OnlyFile.Match(m) && slices.ContainsFunc(paths, isPath) {
		r.add(Claim{Kind: scopeClaim, Text: s})
	}
	if f := lex().FilesChanged.Find(m); f != nil {
		r.add(Claim{Kind: scopeClaim, Text: s, Total: numeral(f[1]), Sure: true})
	}
}

// goneFiles reads which files a clause says to be gone.
func (r *Report) goneFiles(s string) {
	var list []string
	last := -1
	for _, m := range lex().AnyPath.FindAllIndex(s) {
		p := tidyPath(s[m[2]:m[3]])
		if !isPath(p) {
			continue
		}
		if last < 0 || lex().ListSeparator.Regexp().FindString(s[last:m[2]]) != s[last:m[2]] {
			list = nil
		}
		list, last = append(list, p), m[3]
		if lex().GoneBehind.Match(s[last:]) || lex().RidOf.Match(s[:m[2]]) {
			for _, p := range list {
				r.changed(s, p, Removed)
			}
		}
	}
}

// clausePlaces returns the paths of files and folders in a clause, and the other code in it.
func clausePlaces(s string) (paths, code []string) {
	for _, m := range lex().AnyPath.FindAll(s) {
		p := tidyPath(m[1])
		if isPath(p) || len(p) > 1 && strings.HasSuffix(p, "/") && lex().PathShape.Match(strings.TrimSuffix(p, "/")) {
			paths = append(paths, p)
		}
	}
	for _, q := range lex().Spans.FindAll(s) {
		if !slices.Contains(paths, tidyPath(q[1])) {
			code = append(code, q[1])
		}
	}
	return paths, code
}

// inFile reads how many tests a clause says that a file has.
func (r *Report) inFile(s string) {
	paths, _ := clausePlaces(s)
	if f := lex().TestsOfFile.Find(s); f != nil && len(paths) == 1 && testcode.IsTest(paths[0]) {
		r.add(Claim{Kind: inFileClaim, Text: s, Path: paths[0], Total: numeral(cmp.Or(f[1:]...))})
	}
}
