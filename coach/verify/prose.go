package verify

import (
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testoutput"
)

// The bytes of a text that are read for claims: its start, and the start of each line.
const (
	maxProse = 128 << 10
	maxRead  = 4000
)

// section is what a heading says about the lines below it.
type section struct {
	files    bool // each item names a changed file
	kind     ChangeKind
	change   bool // its items are changes
	silent   bool // nothing in it is a claim: next steps, questions, usage
	concerns bool // its items are concerns
}

// prose adds what a text claims. Quotes and open checkboxes claim nothing, and of code only the output of tests does.
func (r *Report) prose(text string) {
	text = start(plaintext.Clean(text), maxProse)
	if foreign(text) {
		r.add(Claim{Kind: otherClaim, Text: "the report is in another script than English"})
	}
	var fence, block string
	var in section
	all := slices.Collect(strings.Lines(text))
	for i, raw := range all {
		line := start(strings.TrimRight(raw, "\r\n"), maxRead)
		t := strings.TrimSpace(line)
		if mark := lex("FenceMark").Regexp().FindString(t); mark != "" {
			switch {
			case fence == "":
				fence, block = mark, ""
				continue
			case strings.HasPrefix(mark, fence) && strings.Trim(t, mark[:1]) == "":
				if !in.silent {
					r.output(block)
				}
				fence = ""
				continue
			}
		}
		if fence != "" {
			block += raw
			continue
		}
		if t == "" || strings.HasPrefix(t, ">") || lex("OpenBox").Match(t) {
			continue
		}
		mark := lex("ListMark").Regexp().FindString(line)
		bare := strings.TrimSpace(line[len(mark):])
		if m := lex("HeadFiles").Find(bare); m != nil && (m[4] != "" || m[3] == "") {
			word := strings.ToLower(m[1] + m[2] + m[3])
			in = section{files: true, change: true}
			if word != "written" { // new files or old ones
				in.kind, _ = kindOfWord(word)
			}
			continue
		}
		if lex("TitleLater").Match(line) {
			in = section{silent: true}
			continue
		}
		if m := lex("TitleLine").Find(line); m != nil {
			if title := m[1] + m[2] + m[3]; !(len(mark) > 0 && strings.Contains(title, ".")) {
				in = section{
					silent: lex("TitleNot").Match(title) || lex("TitleSilent").Match(title) &&
						!lex("TitleChange").Match(title) && !lex("TitleDone").Match(title),
					concerns: lex("TitleConcerns").Match(title),
					change:   lex("TitleChange").Match(title),
				}
				if m[2]+m[3] != "" || in.silent || in.concerns {
					continue
				}
				bare = title // "# All tests pass"
			}
		}
		switch {
		case in.concerns:
			r.concern(bare)
			continue
		case in.silent:
			continue
		case in.files && r.fileItem(bare, in.kind, true):
			continue
		case in.files && mark == "":
			in = section{}
		case mark != "" && r.fileItem(bare, "", in.change):
			_, _, bare, _ = cutLabel(bare)
		}
		table, open := strings.HasPrefix(t, "|"), mark != "" && lex("NotYet").Match(bare)
		head := i+1 < len(all) && lex("TableRule").Match(all[i+1])
		if table && !head && !open && !lex("TableRule").Match(t) {
			r.addStatements(bare, nil)
		}
		for _, s := range sentences(bare) {
			r.sentence(s, !table && !open)
		}
	}
}

// start returns the start of s, up to the last blank before max bytes.
func start(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return s[:strings.LastIndexAny(s[:max], " \t\n")+1]
}

// foreign reports whether a text has many letters of a script that is not read. What a text says in other words than
// those of English, the change does not show.
func foreign(text string) bool {
	letters, others := 0, 0
	for _, c := range text {
		if unicode.IsLetter(c) {
			letters++
			if c > 0x24f {
				others++
			}
		}
	}
	return others > 4 && others*3 > letters
}

// sentences takes a line apart. A question claims nothing.
func sentences(line string) []string {
	var all []string
	from := 0
	for _, at := range lex("SentenceEnd").FindAllIndex(line) {
		if line[at[0]] != '?' {
			all = append(all, line[from:at[0]])
		}
		from = at[1]
	}
	return append(all, line[from:])
}

func (r *Report) concern(s string) {
	if s = line(strings.Trim(s, "*_ "), 300); s != "" && len(r.Concerns) < 20 &&
		!strings.EqualFold(strings.TrimRight(s, "."), "none") {
		r.Concerns = append(r.Concerns, s)
	}
}

// output reads what a report shows of a run: the summary of a test runner.
func (r *Report) output(block string) {
	c, ok := testoutput.Read(block)
	if !ok || c.Partial || c.Total() == 0 {
		return
	}
	claim := Claim{Kind: runClaim, Run: runTests, Passed: &c.Passed, Text: "the report shows output of tests"}
	if c.Failed > 0 {
		claim.Failed = &c.Failed
	}
	first, _, _ := strings.Cut(strings.TrimSpace(block), "\n")
	if command, ok := strings.CutPrefix(first, "$ "); ok {
		claim.Command = strings.TrimSpace(command)
	}
	claim.settle()
	r.add(claim)
}

// clauses takes a sentence apart where another statement begins. The word that begins it stays with it.
func clauses(s string) []string {
	var all []string
	from := 0
	for _, at := range lex("ClauseEnd").FindAllIndex(s) {
		harmless := lex("HarmlessFailure").Regexp().FindStringIndex(s[at[0]:min(len(s), at[0]+nearby)])
		if at[0] > from && (harmless == nil || harmless[0] > 2) {
			all = append(all, strings.TrimLeft(s[from:at[0]], ", ("))
			from = at[0]
		}
	}
	return append(all, strings.TrimLeft(s[from:], ", ("))
}

// masked replaces code and paths by letters, so that words in them decide nothing.
func masked(s string) string {
	s = lex("Spans").Regexp().ReplaceAllStringFunc(s, func(c string) string { return strings.Repeat("x", len(c)) })
	m := []byte(s)
	for _, p := range pathsIn(s) {
		copy(m[p.from:], strings.Repeat("x", p.to-p.from))
	}
	return string(m)
}

// sentence reads what a sentence claims, clause by clause.
func (r *Report) sentence(s string, ground bool) {
	if lex("Undone").Match(masked(s)) {
		known := len(r.Claims)
		if r.takeBack(s); ground && len(r.Claims) == known {
			r.state(statement{Text: line(s, maxQuote)}) // nothing is compared: it is listed
		}
		return
	}
	if m := masked(s); lex("FailedBefore").Match(m) && !lex("Supposed").Match(m) {
		r.failedBefore(s)
	}
	blamed := lex("CommitBlamed").Match(s)
	for _, c := range clauses(s) {
		one := Report{Text: r.Text, Change: r.Change}
		one.clause(c, masked(c), blamed)
		if ground {
			one.addStatements(c, slices.Clone(one.Claims))
		}
		r.Change = one.Change
		r.state(one.Statements...)
		for _, claim := range one.Claims {
			r.add(claim)
		}
	}
}

// clause reads what a clause of a sentence claims. In m, its code and paths are masked. A commit that the sentence blames
// is not the work.
func (r *Report) clause(s, m string, blamed bool) {
	r.extent(s, m)
	r.leftovers(s, m)
	now, scoped := lex("Alternative").Replace(m, " "), func(c Claim) bool { return c.Kind == scopeClaim }
	if r.Change == "" && lex("SaysChange").Match(now) && !lex("Supposed").Match(now) &&
		!lex("Denied").Match(lex("HarmlessFailure").Replace(now, " ")) && !slices.ContainsFunc(r.Claims, scoped) {
		r.Change = line(s, maxQuote)
	}
	if lex("Supposed").Match(m) {
		return
	}
	r.says(s, m, lex("NotCommitted"), nil, Claim{Kind: openClaim})
	m = r.testsBeside(s, m)
	r.runs(s, m)
	if r.testNames(s, m); lex("Denied").Match(lex("HarmlessFailure").Replace(m, " ")) {
		return
	}
	r.fileClaims(s)
	for kind, folder := range map[ChangeKind]*lazy.Entry{Added: lex("FolderMade"), Removed: lex("FolderGone")} {
		if m := folder.Find(s); m != nil && strings.ContainsAny(m[0], "/`") {
			r.changed(s, m[1], kind)
		}
	}
	r.commits(s, m, blamed)
	r.names(s)
	r.others(s, m)
	r.says(s, s, lex("Branch"), lex("OtherBranch"), Claim{Kind: branchClaim})
	r.says(s, s, lex("OnBranch"), nil, Claim{Kind: branchClaim, Sure: true})
	r.says(s, s, lex("CommitCount"), nil, Claim{Kind: countClaim})
	r.says(s, s, lex("CommitHolds"), nil, Claim{Kind: commitClaim})
	covered := slices.ContainsFunc(r.Claims, func(c Claim) bool { return c.Kind != changeClaim && !c.Part })
	if lex("Unseen").Match(s) || lex("Unseen").Match(m) || !covered && lex("Uncovered").Match(m) {
		r.add(Claim{Kind: otherClaim, Text: s})
	}
}

// takeBack drops the files of which a sentence says that nothing of their change is left. It claims that they are as
// they were, unless the sentence is about a part of them.
func (r *Report) takeBack(s string) {
	claims := lex("TakenBack").Match(s) && !lex("OnlyPart").Match(s)
	paths := clausePaths(s)
	for _, p := range paths {
		same := func(c Claim) bool { return c.Kind == fileClaim && cleanPath(c.Path) == cleanPath(p) }
		if r.Claims = slices.DeleteFunc(r.Claims, same); claims {
			r.add(Claim{Kind: backClaim, Text: s, Path: p})
		}
	}
	switch {
	case len(paths) == 0 && lex("AllBack").Match(s) && !lex("ForAWhile").Match(s) && !lex("OnlyPart").Match(s):
		r.add(Claim{Kind: scopeClaim, Text: s, Sure: true})
	case len(paths) == 0, !claims && lex("AsBefore").Match(s):
		r.add(Claim{Kind: otherClaim, Text: s})
	}
}

func line(s string, max int) string {
	return plaintext.Line(plaintext.Disarm(plaintext.Redact(s)), max)
}
func clean(s string) string { return line(s, 300) }
func code(s string) string  { return "`" + strings.ReplaceAll(line(s, 80), "`", "'") + "`" }
func fold(s string) string  { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// firstThree names the first three of a list, and says how many more there are.
func firstThree(list []string) string {
	s := clean(strings.Join(list[:min(len(list), 3)], ", "))
	if more := len(list) - 3; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// Sentence begins with a capital letter, unless with code, and ends with a full stop.
func Sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.TrimRight(s[1:], ".") + "."
}

//go:embed lexicon.txt
var lexiconText string

// lex returns a list of words or a pattern of lexicon.txt by its name. The first call reads the file.
var lex = lazy.Load(lexiconText)

// tidyPath removes what stands around a path in prose: quotes, emphasis, a Markdown link, a line number, a full stop.
func tidyPath(s string) string {
	s = strings.TrimSpace(s)
	for {
		before := s
		s = strings.Trim(s, "`'\"“”‘’*<>")
		s = strings.TrimRight(s, ",;:!?.")
		if m := lex("MdLink").Find(s); m != nil {
			s = m[2]
			if !isPath(s) || strings.Contains(s, "://") {
				s = m[1]
			}
		}
		s = lex("LineSuffix").Replace(s, "")
		if s == before {
			return s
		}
	}
}

// isPath reports whether a word of prose is surely the path of a file.
func isPath(s string) bool {
	if s == "" || len(s) > 260 || strings.Contains(s, "://") || !lex("PathShape").Match(s) ||
		lex("Products").Has(strings.ToLower(s)) {
		return false
	}
	if strings.Contains(s, " ") && lex("Program").Match(s) {
		return false // a command
	}
	base := path.Base(strings.ReplaceAll(s, `\`, "/"))
	if lex("BareNames").Has(base) {
		return true
	}
	ext := path.Ext(base)
	if ext == "" || base == ext || !lex("Extensions").Has(strings.ToLower(ext[1:])) {
		return false
	}
	return len(ext) != 2 || ext[1] < '0' || ext[1] > '9' || strings.Contains(s, "/") // a manual page, but not a version
}

// pathList reads the list of paths that s begins with: "a.go, b.go and `c.go`". It returns them and what follows.
func pathList(s string) (paths []string, rest string) {
	rest = s
	for i, in := range pathsIn(s) {
		if i > 0 && !in.listed || i == 0 && strings.TrimLeft(s[:in.from], " \t") != "" {
			break
		}
		paths, rest = append(paths, in.path), s[in.to:]
	}
	return paths, rest
}

// pathsBehind returns the list of paths behind a pattern at the start of s.
func pathsBehind(p *lazy.Entry, s string) (paths []string) {
	if m := p.Regexp().FindString(s); m != "" {
		paths, _ = pathList(s[len(m):])
	}
	return paths
}

// only returns the only element of a list, or "".
func only(list []string) string {
	if len(list) != 1 {
		return ""
	}
	return list[0]
}

// braces expands one group of alternatives: "src/{a,b}.js".
func braces(p string) []string {
	before, rest, ok := strings.Cut(p, "{")
	inside, after, closed := strings.Cut(rest, "}")
	if !ok || !closed || !strings.Contains(inside, ",") {
		return []string{p}
	}
	var all []string
	for part := range strings.SplitSeq(inside, ",") {
		all = append(all, before+strings.TrimSpace(part)+after)
	}
	return all
}

// cleanPath returns one spelling of a path: in slashes, without "./", doubled slashes and a leading "@".
func cleanPath(p string) string {
	p = strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(p), `\`, "/"), "@")
	if p == "" {
		return ""
	}
	return path.Clean(p)
}

// isLocal reports whether a path, as it is written, stays in the tree.
func isLocal(p string) bool { return fs.ValidPath(cleanPath(p)) && !strings.ContainsAny(p, "~:") }

// ends reports whether a is b, or the end of b from a slash on; letter case aside.
func ends(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b || strings.HasSuffix(b, "/"+a)
}

// meant returns which of the paths a claimed one can mean: the same with folders missing or too many in front; else "".
func meant(claimed string, paths []string) string {
	c := strings.TrimPrefix(cleanPath(claimed), "/")
	return value(find(paths, func(p string) bool { return ends(c, p) || ends(p, c) }))
}

// pathIn is the path of a file in a text, and where it stands. It may continue the list of the path before.
type pathIn struct {
	path     string
	from, to int
	listed   bool
}

func pathsIn(s string) (all []pathIn) {
	last := 0
	for _, m := range lex("AnyPath").FindAllIndex(s) {
		p := pathIn{path: tidyPath(s[m[2]:m[3]]), from: m[2], to: m[3]}
		if isPath(p.path) {
			between := s[last:p.from]
			between = between[len(lex("AfterPath").Regexp().FindString(between)):]
			p.listed = len(all) > 0 && between != "" && lex("ListSeparator").Regexp().FindString(between) == between
			for _, p.path = range braces(p.path) {
				all, last, p.listed = append(all, p), p.to, true
			}
		}
	}
	return all
}

func clausePaths(s string) (list []string) {
	for _, p := range pathsIn(s) {
		list = append(list, p.path)
	}
	return list
}
