package verify

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

// kindOfWord reads how a file was changed in a word. A word such as "updated" says only that it was, if it was not
// made.
func kindOfWord(s string) (kind ChangeKind, ok bool) {
	switch s = strings.ToLower(strings.Trim(s, " :*_")); {
	case lex("Make").Has(s), lex("AddedWords").Has(s):
		return Added, true
	case lex("Drop").Has(s), lex("RemovedWords").Has(s):
		return Removed, true
	}
	return "", lex("Edit").Has(s) || lex("ModifiedWords").Has(s)
}

// cutLabel cuts an item such as "`a.go` (new): what was done" behind its paths, and behind its label.
func cutLabel(item string) (paths []string, behind, rest string, labelled bool) {
	item = strings.TrimLeft(item, "*_ ")
	if word, after, _ := strings.Cut(item, " "); after != "" {
		p, _ := pathList(after)
		if _, ok := kindOfWord(word); ok && len(p) > 0 {
			item = after
		}
	}
	paths, behind = pathList(item)
	rest = strings.TrimLeft(behind[len(lex("AfterPath").Regexp().FindString(behind)):], "*_")
	if m := lex("Label").Regexp().FindString(rest); m != "" {
		return paths, behind, rest[len(m):], true
	}
	return paths, behind, rest, strings.Trim(rest, " .,") == ""
}

// fileItem reads an item of a list that begins with paths. In a list of changed files each is claimed to have changed.
// Elsewhere the item must go on with an action. It reports whether the item was of that form.
func (r *Report) fileItem(item string, kind ChangeKind, listed bool) bool {
	paths, behind, rest, labelled := cutLabel(item)
	word, _, _ := strings.Cut(strings.TrimLeft(item, "*_ "), " ")
	verb, isVerb := kindOfWord(word)
	if len(paths) == 0 || !labelled && !(listed && lex("Loose").Match(rest)) && !isVerb {
		return false
	}
	if lex("SaysUnchanged").Match(rest[:min(len(rest), 200)]) {
		return true
	}
	if verb == Added || verb == Removed && (labelled || lex("ClearEnd").Match(rest)) {
		kind = verb
	}
	if len(paths) == 1 {
		switch {
		case lex("NewFile").Match(rest) || lex("NewFile").Match(behind):
			kind = Added
		case lex("GoneFile").Match(rest) || lex("GoneFile").Match(behind):
			kind = Removed
		}
		if to := pathsBehind(lex("FromTo"), rest); len(to) == 1 {
			r.moved(item, paths[0], to[0])
			return true
		}
	}
	if !listed && !lex("Doing").Match(rest) && !isVerb && kind == "" {
		return false
	}
	for _, p := range paths {
		r.add(Claim{Kind: fileClaim, Text: item, Path: p, Change: kind, Sure: listed || kind != ""})
	}
	return true
}

const nearby = 200 // bytes around a path that are read to see what is said of it

// fileClaims reads which files a clause says were changed. A file that is the object of a verb surely was, one in which
// something was done probably was, and any other is only named.
func (r *Report) fileClaims(s string) {
	verb := ""     // whose objects the paths of a list are
	place := false // the list is one of places
	for _, in := range pathsIn(s) {
		before, after := s[max(0, in.from-nearby):in.from], s[in.to:min(len(s), in.to+nearby)]
		after = after[len(lex("AfterPath").Regexp().FindString(after)):]
		if !in.listed {
			verb, place = "", false
			if v := lex("LastVerb").Find(before); v != nil {
				verb = strings.ToLower(v[1])
			} else if lex("AnyVerb").Match(before) {
				place = lex("PlaceWord").Match(before) || lex("InBracket").Match(before)
			}
		}
		claim := Claim{Kind: fileClaim, Text: s, Path: in.path}
		switch {
		case lex("AsPart").Match(after) && verb != "" && !in.listed:
			verb = ""
			continue
		case verb == "renamed" || verb == "moved":
			if to := pathsBehind(lex("FromTo"), after); len(to) == 1 {
				r.moved(s, in.path, to[0])
			}
			return
		case verb != "":
			claim.Change, _ = kindOfWord(verb)
			claim.Sure = true
			if len(pathsBehind(lex("FromTo"), after)) > 0 {
				claim.Sure, claim.Change, verb = false, "", "" // "added a.go to b.go"
			} else if !lex("ClearEnd").Match(after) {
				if claim.Change == Removed && !lex("FileNoun").Match(after) {
					continue // "removed a.go handling"
				}
				claim.Change, claim.Sure = "", lex("FileNoun").Match(after)
			}
		case lex("Replaced").Match(after):
			if to := pathsBehind(lex("Replaced"), after); len(to) == 1 {
				r.add(Claim{Kind: fileClaim, Text: s, Path: in.path, Change: Removed})
				r.add(Claim{Kind: fileClaim, Text: s, Path: to[0], Change: Added})
				return
			}
			claim.Part = true
		case lex("NowIn").Match(after) && !lex("PlaceWord").Match(before):
			// It is said to be another now.
		case lex("Passive").Match(after) && !lex("PlaceWord").Match(before):
			claim.Change, _ = kindOfWord(lex("Passive").Find(after)[1])
			claim.Sure = true
		case lex("Mention").Match(before) || !place:
			claim.Part = true
		default:
			v := lex("AnyVerb").FindAllIndex(before)
			claim.Part = len(v) == 0 || lex("Elsewhere").Match(before[v[len(v)-1][1]:])
		}
		r.add(claim)
	}
}

// testsBeside reads how many tests a clause says to be there for what was made. It returns the clause without these
// words.
func (r *Report) testsBeside(s, m string) string {
	for _, pattern := range []*lazy.Entry{lex("TestsBeside"), lex("NewOfTests")} {
		at := pattern.Regexp().FindStringSubmatchIndex(m)
		if at == nil || lex("Succeeds").Match(m[:at[0]]) && pattern == lex("TestsBeside") || lex("NewTests").Match(m) ||
			pattern == lex("TestsBeside") && (lex("Numbers").Match(m) || lex("OnlyCounts").Match(m)) {
			continue
		}
		if behind := pattern == lex("TestsBeside") && at[4] >= 0; behind &&
			(lex("TestThing").Match(m[at[4]:at[5]]) || lex("Succeeds").Match(m[at[4]:at[5]])) ||
			pattern == lex("NewOfTests") && !lex("TestSubject").Match(r.Text) {
			continue
		}
		n := numeral(lex("NumberWord").Regexp().FindString(m[at[0]:at[1]]))
		r.add(Claim{Kind: testsClaim, Text: s, Total: n, Part: true})
		m = m[:at[0]] + strings.Repeat(" ", at[1]-at[0]) + m[at[1]:]
	}
	return m
}

// failedBefore reads which tests a sentence says to have failed before the work; without a name, those that fail now.
func (r *Report) failedBefore(s string) {
	var names []string
	for _, f := range append(lex("TestName").FindAll(s), lex("Quoted").FindAll(s)...) {
		if !isPath(f[1]) && !lex("Program").Match(f[1]) && !slices.Contains(names, f[1]) {
			names = append(names, f[1])
		}
	}
	if len(names) == 0 {
		names = []string{""}
	}
	for _, name := range names {
		r.add(Claim{Kind: beforeClaim, Text: s, Name: name})
	}
}

// testNames reads which tests a clause names, and whether it says that they pass or fail.
func (r *Report) testNames(s, m string) {
	s = lex("NoTest").Replace(s, " ")
	var names []string
	for _, f := range lex("TestName").FindAll(s) {
		if f[0] == f[1] {
			names = append(names, f[1])
		}
	}
	for _, list := range lex("NamesBehind").FindAll(s) {
		for _, q := range lex("Quoted").FindAll(list[1]) {
			name := q[1]
			if lex("IdentName").Match(name) && strings.ContainsAny(name, "_:") && !isPath(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 || lex("CodeLine").Match(s) || !lex("AboutTest").Match(m) ||
		lex("TestGone").Match(m) && !lex("Fails").Match(lex("HarmlessFailure").Replace(m, "")) {
		return
	}
	c := Claim{Kind: testClaim, Text: s}
	switch said := lex("HarmlessFailure").Replace(m, " fine "); {
	case lex("Fails").Match(said) && lex("Earlier").Match(m):
		return
	case lex("Fails").Match(said):
		c.Result = NotMet
	case lex("Denied").Match(said):
		return
	case lex("Succeeds").Match(said):
		c.Result = Met
	}
	success := lex("Succeeds").Regexp().FindStringIndex(s)
	for _, n := range names {
		one := c
		one.Name = n
		if at := strings.Index(s, n); c.Result == Met && success != nil && at > success[1] {
			between := s[success[1]:at]
			if lex("OtherTests").Match(between) && !lex("Succeeds").Match(between) {
				one.Result = "" // it is one of the others
				if lex("ErrorWord").Match(s[success[1]:]) {
					one.Result = NotMet
				}
			}
		}
		r.add(one)
	}
}

// commits reads "committed as abc1234", "commit: abc1234", git's own "[main abc1234]", and lists of commits.
func (r *Report) commits(s, m string, blamed bool) {
	if blamed || strings.Contains(s, "http") || lex("CommitOther").Match(m) {
		return
	}
	found := false
	for _, f := range lex("CommitNamed").FindAll(s) {
		if f[2] == "" { // of a range, the first is not part
			r.add(Claim{Kind: commitClaim, Text: s, Name: f[1] + f[3]})
			found = true
		}
	}
	if f := lex("CommitItem").Find(s); f != nil && strings.ContainsAny(f[1], "0123456789") &&
		strings.Contains(strings.ToLower(r.Text), "commit") {
		r.add(Claim{Kind: commitClaim, Text: s, Name: f[1]})
	} else if !found && lex("CommitDone").Match(m) {
		r.add(Claim{Kind: commitClaim, Text: s})
	}
}

// names reads which functions and other names in code a clause says were made or removed.
func (r *Report) names(s string) {
	if m := lex("NameRenamed").Find(lex("BareRenamed").Replace(s, "renamed $1`$2` to `$3`")); m != nil {
		r.quotedNames(s, m[1]+m[3], Removed, only(clausePaths(s)), !lex("Alias").Match(r.Text))
		r.quotedNames(s, m[2]+m[4], Added, "", false)
		return
	}
	if m := lex("NameMade").FindAllIndex(s); len(m) > 0 {
		at := m[0]
		words, quoted, behind := s[at[2]:at[3]], s[at[4]:at[5]], s[at[5]:]
		if !lex("NoName").Match(words) && !lex("NoNameBehind").Match(behind) {
			in := only(pathsBehind(lex("InPath"), behind))
			r.quotedNames(s, quoted, Added, in, lex("CodeKind").Match(words))
		}
	}
	if m := lex("NameDropped").Find(s); m != nil {
		r.quotedNames(s, m[1], Removed, "", false)
	}
}

func (r *Report) quotedNames(s, quoted string, kind ChangeKind, path string, sure bool) {
	for _, q := range lex("Quoted").FindAll(quoted) {
		if name := codeName(q[1]); name != "" {
			r.add(Claim{Kind: nameClaim, Text: s, Name: name, Change: kind, Path: path, Sure: sure})
		}
	}
}

// others reads claims that no witness looks at, and that something was changed, in whatever file.
func (r *Report) others(s, m string) {
	switch f := lex("NewTests").Find(m); {
	case f != nil && !lex("TestThing").Match(f[4]):
		c := Claim{Kind: testsClaim, Text: s}
		if n := lex("NumberWord").Find(f[1] + f[2] + f[3]); n != nil {
			c.Total = numeral(n[1])
		}
		r.add(c)
	case lex("OtherDone").Match(m) || lex("DebugGone").Match(s):
		r.add(Claim{Kind: otherClaim, Text: s})
	}
	r.says(s, m, lex("DoneNow"), nil, Claim{Kind: changeClaim})
}

func atoi(s string) *int {
	n, err := strconv.Atoi(s)
	if err != nil || n > 1e7 {
		return nil
	}
	return &n
}

// says adds a claim if a text has its words, and not those that make it another one. A group of the words is its name
// or its number.
func (r *Report) says(clause, text string, words, unless *lazy.Entry, c Claim) {
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
	r.says(s, m, lex("TestsUntouched"), lex("Except"), Claim{Kind: scopeClaim, Part: true})
	r.says(s, strings.ReplaceAll(s, "`", ""), lex("TreeClean"), nil, Claim{Kind: cleanClaim})
	r.says(s, m, lex("NoDependency"), nil, Claim{Kind: sameClaim})
	r.says(s, m, lex("OnlyThis"), lex("Supposed"), Claim{Kind: scopeClaim})
	if at := lex("Unchanged").Regexp().FindStringIndex(m); at != nil && !lex("UnchangedPart").Match(m[at[1]:]) &&
		!lex("PartOf").Match(m[:at[0]]) {
		words := strings.ToLower(m[at[0]:at[1]])
		inCode := strings.Contains(words, "code") || strings.Contains(words, "source") || strings.HasPrefix(words, "doc")
		r.add(Claim{Kind: scopeClaim, Text: s, Change: Removed, Sure: inCode && !strings.HasPrefix(words, "the code")})
	}
	r.says(s, m, lex("NoFunctional"), nil, Claim{Kind: scopeClaim, Change: Modified})
	r.says(s, s, lex("EmptyDiff"), nil, Claim{Kind: scopeClaim, Change: Removed})
	r.says(s, m, lex("NoNewFile"), nil, Claim{Kind: scopeClaim, Change: Added})
	r.says(s, m, lex("FileCount"), nil, Claim{Kind: scopeClaim})
}

// fates reads which files a clause says to be as they were, and, if it may, which to be gone.
func (r *Report) fates(s string, gone bool) {
	var list []string
	for _, in := range pathsIn(s) {
		before, after := s[max(0, in.from-nearby):in.from], s[in.to:min(len(s), in.to+nearby)]
		if !in.listed {
			list = nil
		}
		kept := len(list) == 0 && lex("KeptBefore").Match(before) || lex("KeptBehind").Match(after)
		if len(list) > 0 || !lex("PartOf").Match(before) || lex("RidOf").Match(before) {
			list = append(list, in.path)
		}
		if kept || gone && (lex("GoneBehind").Match(after) || lex("RidOf").Match(before)) {
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
	supposed := lex("Supposed").Match(m) || lex("Unlike").Match(m)
	if r.fates(s, !supposed); supposed {
		return
	}
	late := lex("Earlier").Match(lex("Passed").Replace(m, " "))
	if f := lex("NameGone").Find(s); f != nil && !late {
		r.quotedNames(s, f[1]+f[2], Removed, "", false)
	}
	if f := lex("FileMoved").Find(s); f != nil && isPath(f[1]) && isPath(f[2]) {
		r.moved(s, f[1], f[2])
	}
	if f := lex("FolderTo").Find(s); f != nil && !late {
		r.changed(s, f[1]+f[2], "")
	}
	if f := lex("DocumentHas").Find(s); f != nil && isPath(f[1]) && !lex("Earlier").Match(m) {
		r.add(Claim{Kind: fileClaim, Text: s, Path: f[1]})
	}
	r.says(s, m, lex("FilesChanged"), nil, Claim{Kind: scopeClaim, Sure: true})
}

func numeral(s string) *int {
	if i := slices.Index(lex("NumberWords").Words, strings.ToLower(s)); i >= 0 {
		return &i
	}
	return atoi(s)
}

// codeName returns the name in code that stands in quotes: not of a file, a program, a test or a commit.
func codeName(quoted string) string {
	f := lex("CodeName").Find(quoted)
	if f == nil || isPath(quoted) || lex("Program").Match(quoted+" ") || lex("TestName").Match(quoted) ||
		lex("CommitHash").Match(quoted) {
		return ""
	}
	return f[1]
}

// runs reads what a clause says of runs: with a command in code, of tests, of a build or a linter.
func (r *Report) runs(s, m string) {
	said := lex("HarmlessFailure").Replace(m, " fine ")
	failed := lex("Fails").Match(said)
	if lex("Denied").Match(said) && !failed {
		return
	}
	result := Status("")
	switch {
	case failed:
		result = NotMet
	case lex("Succeeds").Match(m) || lex("HarmlessFailure").Match(m):
		result = Met
	}
	c := Claim{Kind: runClaim, Text: s, Result: result}
	var tests *Claim // with the numbers of the clause, which are read once
	for _, f := range lex("Spans").FindAll(s) {
		command := strings.TrimSpace(strings.TrimPrefix(f[1], "$ "))
		if !lex("Program").Match(f[1]) || isPath(f[1]) && !strings.Contains(f[1], " ") || strings.HasPrefix(command, "git ") {
			continue
		}
		one, run := c, kindOf(strings.Fields(command))
		if run == runTests && tests == nil {
			one.count(s, m)
			one.settle()
			one.Part, tests = lex("Except").Match(m), &one
		} else if run == runTests {
			one = *tests
		}
		if one.Command, one.Run = command, run; one.Result != "" {
			r.add(one)
		}
	}
	if tests != nil || lex("Earlier").Match(m) && (failed || !lex("Numbers").Match(m)) {
		return
	}
	if counts := lex("TestSubject").Match(m) && lex("Numbers").Match(m); result != "" && !counts {
		r.says(s, m, lex("BuildWord"), nil, Claim{Kind: runClaim, Run: runBuild, Result: result})
		r.says(s, m, lex("LintWord"), nil, Claim{Kind: runClaim, Run: runLint, Result: result})
	}
	r.tests(s, m, failed)
}

func (r *Report) tests(s, m string, failed bool) {
	c := Claim{Kind: runClaim, Text: s, Run: runTests}
	general := false
	switch {
	case failed:
		if lex("TestSubject").Match(m) || lex("Numbers").Match(m) {
			c.Result = NotMet
		}
	case lex("TestSubject").Match(m) && (lex("AllPass").Match(m) || lex("TestsPass").Match(m)):
		general, c.Result = true, Met
	}
	if lex("TestSubject").Match(m) || lex("OnlyCounts").Match(m) || lex("Labelled").Match(m) {
		c.count(s, m)
	}
	c.settle()
	if c.Result == "" && (!c.counted() || lex("NewTests").Match(m)) {
		return
	}
	scope := lex("AllPass").Replace(m, "")
	c.Part = lex("Partly").Match(scope) && !lex("OnlyCounts").Match(m) || !general && !c.counted() ||
		c.Result == Met && lex("Except").Match(m)
	r.add(c)
}

// count reads numbers of tests: "12 passed, 1 failed", "5 of 5", "Ran 6 tests", and code such as `4 passed`.
func (c *Claim) count(s, m string) {
	words := lex("NumberWord").Regexp().ReplaceAllStringFunc(m, func(w string) string {
		if n := numeral(w); value(n) > 1 {
			return strconv.Itoa(*n)
		}
		return w
	})
	for _, f := range lex("Spans").FindAll(s) {
		if lex("OnlyCounts").Match(f[1]) {
			words += " " + f[1]
		}
	}
	if f := lex("OfPass").Find(words); f != nil {
		c.Passed, c.Total = atoi(f[1]), atoi(f[2])
	}
	for _, f := range lex("Numbers").FindAll(words) {
		if !lex("OtherThings").Match(f[2]) {
			c.number(f[3], f[1])
		}
	}
	for _, f := range lex("Labelled").FindAll(words) {
		c.number(f[1], f[2])
	}
	if f := lex("NumberOfTests").Find(words); f != nil && c.Passed == nil && c.Total == nil && value(c.Failed) == 0 {
		ran := strings.HasPrefix(strings.ToLower(f[0]), "ran")
		if n := atoi(f[1] + f[2]); lex("Succeeds").Match(m) && c.Skipped == nil && !ran {
			c.Passed = n
		} else {
			c.Total = n
		}
	}
}

// number takes a number of tests by the word beside it. The first number counts.
func (c *Claim) number(what, n string) {
	numbers := map[string]**int{"pa": &c.Passed, "gr": &c.Passed, "ok": &c.Passed, "fa": &c.Failed, "cr": &c.Failed,
		"ha": &c.Failed, "re": &c.Failed, "sk": &c.Skipped, "ig": &c.Skipped} // by how the word begins
	if to := cmp.Or(numbers[strings.ToLower(what)[:2]], &c.Total); *to == nil {
		*to = atoi(n)
	}
}

// kindOf returns what a command runs, by its words.
func kindOf(command []string) runKind {
	if len(command) == 0 {
		return runOther
	}
	kind := runOther
words:
	for i, w := range command {
		program := i == 1 && (w[0] == '@' || strings.Contains(w, "/bin/")) // "npx @biomejs/biome", "php vendor/bin/phpcs"
		if i > 0 && !program && (strings.HasPrefix(w, "-") && w != "--test" || strings.ContainsAny(w, "/.")) {
			continue // an option or an operand
		}
		for _, w := range slices.Backward(strings.Split(strings.ToLower(w), ":")) { // "lint:check", ":app:test"
			w, _, _ = strings.Cut(strings.TrimPrefix(path.Base(w), "--"), "@") // "eslint@9"
			switch {
			case lex("TestTools").Has(w), strings.HasPrefix(w, "test"):
				return runTests
			case i > 0 && lex("TaskWords").Has(w): // "make format test" runs tests; it may also be the name of a package
				if kind = runLint; lex("BuildTools").Has(w) {
					kind = runBuild
				}
				continue words
			case lex("LintTools").Has(w) || strings.HasSuffix(w, "lint"):
				return runLint
			case lex("BuildTools").Has(w) || w == "check" && i > 0 && command[0] == "cargo":
				return runBuild
			}
		}
	}
	return kind
}
