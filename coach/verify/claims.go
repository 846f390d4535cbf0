package verify

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

const (
	makeVerbs = `created added wrote written introduced generated`
	editVerbs = `updated modified changed edited rewrote rewritten refactored extended adjusted reworded fixed
		corrected patched simplified tweaked adapted bumped documented improved touched reworked restructured formatted
		localised localized cleaned(?:\sup)? tidied(?:\sup)?`
	dropVerbs  = `removed deleted dropped`
	moveVerbs  = `renamed moved`
	placeVerbs = `implemented handled guarded covered swapped replaced extracted split merged converted noted marked
		flipped reorganised reorganized wired registered exported declared defined enabled disabled put set made tested
		inserted appended`
	determiners = `the a an new old obsolete legacy unused deprecated existing following both also two three file files
		module script helper component page my our its missing stale dead redundant duplicate small single separate
		dedicated`
)

var (
	anyVerb  = lazy.New(`(?i)\b(` + words(makeVerbs+" "+editVerbs+" "+dropVerbs+" "+moveVerbs+" "+placeVerbs) + `)\b`)
	lastVerb = lazy.New(
		`(?i)\b(` + words(makeVerbs+" "+editVerbs+" "+dropVerbs+" "+moveVerbs) + `)\s+(?:(?:` + words(
			determiners) + `)\s+|[:*_]\s*)*$`,
	)
	placeWord = lazy.New(
		`(?i)\b(in|into|to|inside|within|under|at|on|from|across)\s+(?:(?:` + words(determiners) + `)\s+)*$`)
	inBracket = lazy.New(`\(\s*$`)
	mention   = lazy.New(`(?i)\b(?:see|like|such as|cf\.?|via|per|using|use|uses|run|runs|running|against|based on|` +
		`similar to|as in|following|mirrors|matches|imports?|calls?|about|of|for|by|with)\s+(?:the\s+)?$`)
	// Between a verb and a place: what makes the place that of something else.
	elsewhere = lazy.New(`(?i)\b(?:that|which|who|when|where|so|writes?|reads?|loads?|saves?|prints?|outputs?|imports?|` +
		`missing|absent|nonexistent|lookups?|loading|reading)\b`)
	// Behind the path of a claim: what makes the path a part of something else.
	asPart = lazy.New(`(?i)^(?:-\w|['’]s\b|\s+(?:endpoint|route|url|page|api|handler|path|entry|entries|` +
		`imports?|references?|sections?|support|integration|usage|call|calls|dependency|\(?unchanged|not\b))`)
	passive = lazy.New(`(?i)^\s+(?:is|was|were|are|has been|have been|got)\s+(?:now\s+|also\s+|` +
		`both\s+)?(` + words(makeVerbs+" "+editVerbs+" "+dropVerbs) + `)\b`)
	fromTo   = lazy.New(`(?i)^\s*(?:->|→|=>|to|into|is now|became)\s+`)
	clearEnd = lazy.New("^\\s*(?:$|[,.;:()—–-]|and\\b|as\\b|because\\b|since\\b|which\\b|entirely\\b|" +
		"completely\\b|altogether\\b|after\\b|with\\b|from\\b|too\\b|together\\b|for\\b|to\\b|so\\b|in\\b|on\\b|only\\b|" +
		"now\\b|that\\b|using\\b|via\\b|again\\b|instead\\b|where\\b)")
	label    = lazy.New(`^\s*(?:\([^)]{0,60}\)\s*)?(?::|[—–-](?:\s|$)|\|)\s*`)
	newFile  = lazy.New(`(?i)^\s*\(?(?:new\b|created\b|added\)|new file)`)
	goneFile = lazy.New(`(?i)^\s*\(?(?:deleted|removed)\b\s*(?:$|[).,;]|entirely|completely|altogether|` +
		`from (?:the )?(?:repo|repository|tree|project)\b|this file|the file|[—–-]\s)`)
	fileNoun      = lazy.New(`(?i)^\s+(?:files?|scripts?|modules?|itself|now|as well|accordingly)\b`)
	loose         = lazy.New(`(?i)^\s*(?:\(|with\b|$)`)
	saysUnchanged = lazy.New(`(?i)\b(?:unchanged|no changes?|not (?:changed|modified|touched)|untouched|unmodified|` +
		`left as)\b`)
	doing = lazy.New(
		`(?i)^\**(?:` + words(
			makeVerbs+" "+editVerbs+" "+dropVerbs+" "+moveVerbs+" "+placeVerbs,
		) + `|adds?|fix(?:es)?|updates?|removes?|changes?|implements?|refactors?|rewrites?|extends?|renames?|moves?|` +
			`replaces?|handles?|now)\b`,
	)
)

// kindOfWord reads how a file was changed in a word.
func kindOfWord(s string) ChangeKind {
	switch s = strings.ToLower(strings.TrimSpace(s)); {
	case slices.Contains(strings.Fields(makeVerbs+" add create new a"), s):
		return Added
	case slices.Contains(strings.Fields(editVerbs+" modify update change edit m touched renamed moved"), s):
		return Modified
	case slices.Contains(strings.Fields(dropVerbs+" remove delete d"), s):
		return Removed
	}
	return ""
}

// cutLabel cuts an item such as "`a.go`: what was done" behind its paths.
func cutLabel(item string) (paths []string, rest string, labelled bool) {
	item = strings.TrimLeft(item, "*_ ")
	if word, after, ok := strings.Cut(item, " "); ok && kindOfWord(strings.Trim(word, ":*_")) != "" {
		if p, _ := pathList(after); len(p) > 0 {
			item = after
		}
	}
	paths, rest = pathList(item)
	rest = strings.TrimLeft(rest, "*_")
	if m := label.Regexp().FindString(rest); m != "" {
		return paths, rest[len(m):], true
	}
	return paths, rest, strings.Trim(rest, " .,") == ""
}

// fileItem reads an item of a list that begins with paths. In a list of changed files each is claimed to have changed.
// Elsewhere the item must go on with an action. It reports whether the item was of that form.
func (r *Report) fileItem(item string, kind ChangeKind, listed bool) bool {
	paths, rest, labelled := cutLabel(item)
	word, _, _ := strings.Cut(strings.TrimLeft(item, "*_ "), " ")
	verb := kindOfWord(strings.Trim(word, ":*_"))
	if len(paths) == 0 || !labelled && !(listed && loose.Match(rest)) && verb == "" {
		return false
	}
	if saysUnchanged.Match(rest[:min(len(rest), 200)]) {
		return true
	}
	if verb == Added || verb == Removed && (labelled || clearEnd.Match(rest)) {
		kind = verb
	}
	_, behind := pathList(strings.TrimLeft(item, "*_ "))
	said := item[:len(item)-len(behind)] + behind[:min(len(behind), 30)]
	if len(paths) == 1 {
		at := strings.LastIndexByte(said, '(')
		switch {
		case newFile.Match(rest) || at >= 0 && newFile.Match(said[at:]):
			kind = Added
		case goneFile.Match(rest) || at >= 0 && goneFile.Match(said[at:]):
			kind = Removed
		}
		if from := fromTo.Regexp().FindString(rest); from != "" {
			if to, _ := pathList(rest[len(from):]); len(to) == 1 {
				r.add(Claim{Kind: FileClaim, Text: item, Path: paths[0], Change: Removed, Sure: true})
				r.add(Claim{Kind: FileClaim, Text: item, Path: to[0], Change: Added, Sure: true})
				return true
			}
		}
	}
	if !listed && !doing.Match(rest) && verb == "" && kind == "" {
		return false
	}
	for _, p := range paths {
		r.add(Claim{Kind: FileClaim, Text: item, Path: p, Change: kind, Sure: listed || kind != ""})
	}
	return true
}

const nearby = 200 // bytes around a path that are read to see what is said of it

// fileClaims reads which files a clause says were changed. A file that is the object of a verb surely was, one in which
// something was done probably was, and any other is only named.
func (r *Report) fileClaims(s string) {
	verb := ""       // whose objects the paths of a list are
	place := false   // the list is one of places
	last := -1       // the end of the path before
	var lists string // between the paths of a list
	for _, m := range anyPath.FindAllIndex(s) {
		word := s[m[2]:m[3]]
		p := tidyPath(word)
		if !isPath(p) {
			continue
		}
		before, after := s[max(0, m[2]-nearby):m[2]], s[m[3]:min(len(s), m[3]+nearby)]
		after = after[len(afterPath.Regexp().FindString(after)):]
		lists = ""
		if last >= 0 && m[2] >= last {
			lists = s[last:m[2]]
		}
		inList := lists != "" &&
			listSeparator.Regexp().FindString(lists) == strings.TrimRight(lists,
				" ")+strings.Repeat(" ", len(lists)-len(strings.TrimRight(lists, " ")))
		last = m[3]
		if !inList {
			verb, place = "", false
			if v := lastVerb.Find(before); v != nil {
				verb = strings.ToLower(v[1])
			} else if anyVerb.Match(before) {
				place = placeWord.Match(before) || inBracket.Match(before)
			}
		}
		claim := Claim{Kind: FileClaim, Text: s, Path: p}
		switch {
		case asPart.Match(after) && verb != "" && !inList:
			verb = ""
			continue
		case verb == "renamed" || verb == "moved":
			from := fromTo.Regexp().FindString(after)
			if to, _ := pathList(after[len(from):]); from != "" && len(to) == 1 {
				r.add(Claim{Kind: FileClaim, Text: s, Path: p, Change: Removed, Sure: true})
				r.add(Claim{Kind: FileClaim, Text: s, Path: to[0], Change: Added, Sure: true})
			}
			return
		case verb != "":
			claim.Change, claim.Sure = kindOfWord(verb), true
			arrow := fromTo.Regexp().FindString(after)
			if to, _ := pathList(after[len(arrow):]); arrow != "" && len(to) > 0 {
				claim.Sure, claim.Change, verb = false, "", "" // "added a.go to b.go"
			} else if !clearEnd.Match(after) {
				if claim.Change == Removed && !fileNoun.Match(after) {
					continue // "removed a.go handling"
				}
				claim.Change, claim.Sure = "", fileNoun.Match(after)
			}
			if claim.Change == Modified {
				claim.Change = ""
			}
		case passive.Match(after) && !placeWord.Match(before):
			if claim.Change, claim.Sure = kindOfWord(passive.Find(after)[1]), true; claim.Change == Modified {
				claim.Change = ""
			}
		case mention.Match(before) || !place:
			claim.Part = true
		default:
			v := anyVerb.FindAllIndex(before)
			claim.Part = len(v) == 0 || elsewhere.Match(before[v[len(v)-1][1]:])
		}
		for _, one := range braces(claim.Path) {
			claim.Path = one
			r.add(claim)
		}
	}
}

// A folder by its path, as the object of a verb. A package that was added may be a dependency.
var (
	folderGone = lazy.New(
		"(?i)\\b(?:" + words(dropVerbs) + ")\\s+(?:(?:" + words(
			determiners) + ")\\s+)*" + folderPath + "(?:package|module|folder|directory)\\b",
	)
	folderMade = lazy.New(
		"(?i)\\b(?:" + words(makeVerbs) + ")\\s+(?:(?:" + words(
			determiners) + ")\\s+)*" + folderPath + "(?:folder|directory)\\b",
	)
)

const folderPath = "`?([\\w.-]+(?:/[\\w.-]+)*)/?`?\\s+"

// folders reads which folders a clause says were made or removed.
func (r *Report) folders(s string) {
	for kind, pattern := range map[ChangeKind]*lazy.Pattern{Added: folderMade, Removed: folderGone} {
		if m := pattern.Find(s); m != nil && strings.ContainsAny(m[0], "/`") {
			r.add(Claim{Kind: FileClaim, Text: s, Path: m[1], Change: kind, Sure: true})
		}
	}
}

var (
	testName = lazy.New(`\b(Test[A-Z]\w*(?:/\w+)?|Fuzz[A-Z]\w*|test_\w+)\b(?:[./](?:py|go|sh|js|ts|rb|rs|json)\b)?`)
	// Names that stand right behind the word: "the tests `a_b` and `c_d`".
	namesBehind = lazy.New("(?i)\\b(?:tests?|cases?)\\b[\\s:,(]*(?:(?:called|named|functions?|" +
		"cases?)\\s+)?((?:(?:`[^`\\n]{3,80}`|\"[^\"\\n]{3,80}\")(?:\\s*,\\s*|\\s+and\\s+)?)+)")
	quoted    = lazy.New("[`\"]([^`\"\\n]{3,80})[`\"]")
	identName = lazy.New(`^[A-Za-z_][\w:]*$`)
	// A clause that names a test tells something about it, and is not code.
	aboutTest = lazy.New(
		`(?i)\b(?:tests?|cases?|new|covers?|pass\w*|fail\w*|` + words(makeVerbs+" "+editVerbs+" "+placeVerbs) + `)\b`)
	codeLine = lazy.New(`^\s*(?:(?:def|from|import|func|class|async|const|let|var|return|fn|pub|assert)\s|@|#|(?:it|` +
		`test|describe)\()`)
	testGone = lazy.New(`(?i)\b(?:remov|delet|drop|renam|replac|merg|mov|obsolete|gone|was)\w*\b`)
)

// testNames reads which tests a clause names, and whether it says that they pass or fail.
func (r *Report) testNames(s, m string) {
	var names []string
	for _, f := range testName.FindAll(s) {
		if f[0] == f[1] {
			names = append(names, f[1])
		}
	}
	for _, list := range namesBehind.FindAll(s) {
		for _, q := range quoted.FindAll(list[1]) {
			if identName.Match(q[1]) && strings.ContainsAny(q[1], "_:") && !isPath(q[1]) && !slices.Contains(names, q[1]) {
				names = append(names, q[1])
			}
		}
	}
	if len(names) == 0 || codeLine.Match(s) || !aboutTest.Match(m) ||
		testGone.Match(m) && !fails.Match(harmlessFailure.Replace(m, "")) {
		return
	}
	c := Claim{Kind: TestClaim, Text: s}
	switch said := harmlessFailure.Replace(m, " "); {
	case fails.Match(said) && earlier.Match(m):
		return
	case fails.Match(said):
		c.Result = NotMet
	case denied.Match(said):
		return
	case succeeds.Match(said):
		c.Result = Met
	}
	for _, n := range names {
		c.Name = n
		r.add(c)
	}
}

var (
	commitNamed = lazy.New("(?i)\\b(?:commit(?:ted|s)?|pushed)\\b(?:\\s+(?:is|as|in|id|hash|sha|with|it|them|the|" +
		"change|changes|work|everything|all|this|that|to|on|main|master|" +
		"locally)){0,6}\\s*[:=#(]*\\s*\\**[`(]?([0-9a-f]{7,40})\\b(\\.\\.)?")
	commitGit  = lazy.New(`^\[[\w./-]+(?: \(root-commit\))? ([0-9a-f]{7,40})\]()`)
	commitItem = lazy.New("^[`(]?([0-9a-f]{7,40})[`)]?[:\\s]()")
	commitDone = lazy.New(`(?i)(?:^|\bI(?:['’]ve| have)?\s+|\band\s+|\balso\s+|\bthen\s+|\b(?:work|changes?|` +
		`everything|all|is|are)\s+(?:is\s+|are\s+|has been\s+|have been\s+)?(?:now\s+)?)committed\b`)
	commitBlamed = lazy.New(`(?i)\b(?:introduc\w+|regress\w*|bisect\w*|broke\w*|caused|came (?:with|from|in))\b`)
	commitOther  = lazy.New(`(?i)\b(?:revert\w*|upstream|cherry|bisect\w*|introduc\w*|amend\w*|rebas\w*|squash\w*|` +
		`fixup|regress\w*|since|after|until|based?|parent|broke\w*|ancestor|was at|from|previous|earlier|old|their|his|` +
		`her|you|your|like|such as|original|merge base|last known)\b`)
)

// commits reads "committed as abc1234", "commit: abc1234", git's own "[main abc1234]", and lists of commits.
func (r *Report) commits(s, m, whole string) {
	if strings.Contains(s, "http") || commitOther.Match(m) || commitBlamed.Match(whole) {
		return
	}
	found := false
	for _, p := range []*lazy.Pattern{commitNamed, commitGit} {
		for _, f := range p.FindAll(s) {
			if f[2] == "" { // of a range, the first is not part
				r.add(Claim{Kind: CommitClaim, Text: s, Name: f[1]})
				found = true
			}
		}
	}
	if f := commitItem.Find(s); f != nil && strings.ContainsAny(f[1], "0123456789") &&
		strings.Contains(strings.ToLower(r.Text), "commit") {
		r.add(Claim{Kind: CommitClaim, Text: s, Name: f[1]})
	} else if !found && commitDone.Match(m) {
		r.add(Claim{Kind: CommitClaim, Text: s})
	}
}

var (
	// Actions that no witness looks at.
	otherDone = lazy.New(`(?i)\bpushed\b|\b(?:opened|created|raised|submitted|updated|merged|filed)\s+(?:a |an |the |` +
		`draft )*(?:pull request|PR|merge request|MR|issue)\b|^(?:pull request|PR)\b[\s:]*#?\d+|` +
		`\b(?:CI|pipeline|workflow|actions|checks)\s+(?:is|are|runs?|passe[sd]|was|all)?\s*(?:now\s+)?(?:green|pass\w*|` +
		`succeed\w*|clean|happy)\b|` +
		`\bcoverage\b[^.]{0,40}?\d+(?:\.\d+)?\s*%|\d+(?:\.\d+)?\s*%\s+(?:test\s+)?coverage\b|` +
		`\bfull(?:y)?\s+(?:test\s+)?cover(?:age|ed)\b|` +
		`\b(?:manually|by hand)\s+(?:tested|verified|checked)|\b(?:tested|verified|checked|` +
		`confirmed)\s+(?:\S+\s+){0,3}(?:manually|by hand|locally|in the browser|in a browser|end[- ]to[- ]end|` +
		`on (?:staging|production))\b|` +
		`^(?:I(?:['’]ve| have)?\s+|also\s+|and\s+)*(?:verified|confirmed|checked|validated)\b|\b(?:deployed|published|` +
		`released to|uploaded|migrated the)\b|` +
		`\b(?:benchmarks?|race detector|-race)\b|\b\d+(?:\.\d+)?\s*(?:x|times)\s+faster\b`)
	doneNow = lazy.New(`(?i)^\**(?:I(?:['’]ve| have)?\s+|we(?:['’]ve| have)?\s+|also\s+|now\s+|then\s+|and\s+|` +
		`successfully\s+|fully\s+)*(?:` + words(makeVerbs+" "+editVerbs+" "+dropVerbs+" "+moveVerbs+" "+placeVerbs) +
		`|solved|resolved|finished|completed)\b|` +
		`\b(?:is|are|has been|have been|was|were)\s+(?:now\s+|fully\s+|completely\s+|` +
		`all\s+)*(?:` + words(makeVerbs+" "+editVerbs+" "+dropVerbs+" "+moveVerbs+" "+placeVerbs) + `|done|complete|` +
		`completed|finished|in place|resolved|solved|ready|correct|working)\b|` +
		`^\**(?:all\s+)?(?:done|completed|finished)\b|\bimplementation (?:is )?complete\b`)
	onlyThis = lazy.New(`(?i)(?:^|\bI\s+|\bI['’]ve\s+|\bhave\s+)only\s+(?:changed|touched|modified|edited|updated)|` +
		`^(?:changed|touched|modified|edited|updated)\s+(?:\S+\s+){0,6}only$|\b(?:nothing|no other (?:files?|code|` +
		`changes?)|no other \S+ (?:files?|code))\b[^.]{0,40}\b(?:else|changed|touched|modified|edited|affected)\b|` +
		`\bnothing else\b|^only\b.*\bchanged\b|\bwithout (?:any )?other changes?\b`)
	unchanged = lazy.New(`(?i)\b(?:no changes (?:were |was |have been )?(?:made|needed|necessary)|made no changes|` +
		`(?:have not|haven['’]t|did not|didn['’]t) (?:changed?|modif(?:y|ied)|touch(?:ed)?|edit(?:ed)?) any(?:thing|` +
		` files?| code)|nothing (?:was|has been|is) changed|working tree is as it was)\b`)
)

// others reads claims that no witness looks at.
func (r *Report) others(s, m string) {
	if otherDone.Match(m) {
		r.add(Claim{Kind: OtherClaim, Text: s})
	}
}

// changes reads that something was changed, in whatever file.
func (r *Report) changes(s, m string) {
	if doneNow.Match(m) {
		r.add(Claim{Kind: ChangeClaim, Text: s})
	}
}

// scope reads that nothing else was changed, or nothing at all.
func (r *Report) scope(s, m string) {
	switch {
	case unchanged.Match(m):
		r.add(Claim{Kind: ScopeClaim, Text: s, Change: Removed})
	case onlyThis.Match(m) && !supposed.Match(m):
		r.add(Claim{Kind: ScopeClaim, Text: s})
	}
}

func atoi(s string) *int {
	n, err := strconv.Atoi(s)
	if err != nil || n > 1e7 {
		return nil
	}
	return &n
}
