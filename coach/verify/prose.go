package verify

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sidecoach/sidecoach/classify/plaintext"
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
		if mark := fenceMark(t); mark != "" {
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
			r.ground(bare, nil)
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

func fenceMark(t string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(t) - len(strings.TrimLeft(t, c)); n >= 3 {
			return t[:n]
		}
	}
	return ""
}

// sentences takes a line apart. A question claims nothing.
func sentences(line string) []string {
	var all []string
	for {
		at := lex("SentenceEnd").Regexp().FindStringIndex(line)
		if at == nil {
			return append(all, line)
		}
		if line[at[0]] != '?' {
			all = append(all, line[:at[0]])
		}
		line = line[at[1]:]
	}
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
		harmless := lex("HarmlessFailure").Regexp().FindStringIndex(s[at[0]:])
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
	for _, p := range pathsIn(s) {
		s = s[:p.from] + strings.Repeat("x", p.to-p.from) + s[p.to:]
	}
	return s
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
	for _, c := range clauses(s) {
		one := Report{Text: r.Text, Change: r.Change}
		one.clause(c, masked(c), s)
		if ground {
			one.ground(c, slices.Clone(one.Claims))
		}
		r.Change = one.Change
		r.state(one.Statements...)
		for _, claim := range one.Claims {
			r.add(claim)
		}
	}
}

// clause reads what a clause of a sentence claims. In m, its code and paths are masked.
func (r *Report) clause(s, m, sentence string) {
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
	r.folders(s)
	r.commits(s, m, sentence)
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
