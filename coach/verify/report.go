package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testoutput"
)

// Report is what an agent says it did: claims to test. The zero value claims nothing. [ParseReport] reads one.
type Report struct {
	Text   string  `json:"text,omitempty"` // its words, as they came
	Claims []Claim `json:"claims,omitempty"`
	Change string  `json:"change,omitempty"` // the first words that tell of a change, whatever it is
	// Statements say what is there now. The change must show them.
	Statements []statement `json:"statements,omitempty"`
	Concerns   []string    `json:"concerns,omitempty"` // problems that the agent points out, for the coach
}

type claimKind string // what a claim is about

const (
	fileClaim   claimKind = "file"   // a file was changed
	runClaim    claimKind = "run"    // tests, or something else, were run
	testClaim   claimKind = "test"   // a test is there, and perhaps passes
	commitClaim claimKind = "commit" // the work is committed, perhaps under a name
	changeClaim claimKind = "change" // something was changed, somewhere
	scopeClaim  claimKind = "scope"  // nothing else was changed, or nothing at all, or one file was not
	nameClaim   claimKind = "name"   // something with a name in code was made, changed or removed
	testsClaim  claimKind = "new_tests"
	backClaim   claimKind = "restored"      // a file is as it was
	cleanClaim  claimKind = "clean"         // everything is committed
	openClaim   claimKind = "uncommitted"   // nothing is
	sameClaim   claimKind = "dependencies"  // there is no new one
	branchClaim claimKind = "branch"        // it is there
	countClaim  claimKind = "commit_count"  // that many commits were made
	beforeClaim claimKind = "failed_before" // a test failed before the work, too
	otherClaim  claimKind = "other"         // something that no witness looks at: a pull request, coverage
)

// Claim is one claim of a report.
type Claim struct {
	Kind claimKind `json:"kind"`
	Text string    `json:"text"` // the words that make the claim, on one line

	Path   string     `json:"path,omitempty"`   // of a file, as written
	Change ChangeKind `json:"change,omitempty"` // of a file or a name; empty: changed in some way
	Sure   bool       `json:"sure,omitempty"`   // the words name exactly this file as changed; else perhaps another one

	Name    string  `json:"name,omitempty"`    // of a test, a commit or something in code
	Command string  `json:"command,omitempty"` // as written; never run
	Run     runKind `json:"run,omitempty"`
	// Part says that it is about some tests only ("the new tests pass"), that a file is only named, that of everything
	// only the tests are meant, that other tests than new ones may be meant, or that something is only denied.
	Part bool `json:"part,omitempty"`
	// Result is Met for a claim of success, NotMet for an admitted failure, and Unverified where neither is said.
	Result Status `json:"result,omitempty"`
	// The numbers of tests; nil is not said.
	Total, Passed, Failed, Skipped *int `json:",omitempty"`
}

type runKind string // what was run

const (
	runTests runKind = "tests"
	runBuild runKind = "build"
	runLint  runKind = "lint"
	runOther runKind = "other"
)

const (
	maxClaims = 500 // of one kind
	maxQuote  = 120 // characters of a claim's words
)

// add adds a claim once. Of two claims about one file the more exact one counts.
func (r *Report) add(c Claim) {
	n, cleaned := 0, cleanPath(c.Path)
	for i, o := range r.Claims {
		if o.Kind != c.Kind {
			continue
		}
		n++
		switch {
		case c.Kind == fileClaim && cleanPath(o.Path) == cleaned:
			switch {
			case o.Change == Added && c.Change == Removed && o.Sure && c.Sure:
				r.Claims = slices.Delete(r.Claims, i, i+1) // made and taken away again: nothing is left to see
			case o.Sure && !c.Sure, c.Part && !o.Part:
			case c.Sure && !o.Sure, o.Part && !c.Part:
				r.Claims[i] = c
			case o.Change == "":
				r.Claims[i].Change = c.Change
			case c.Change != "" && c.Change != o.Change:
				r.Claims[i].Change = ""
			}
			return
		case c.same(o):
			return
		}
	}
	if n < maxClaims {
		r.Claims = append(r.Claims, c)
	}
}

// OnlyNames reports whether a report claims no change and no run, and at most names files: an answer does.
func (r Report) OnlyNames() bool {
	return r.Change == "" && !slices.ContainsFunc(r.Claims, func(c Claim) bool {
		return !c.Part || c.Kind != fileClaim && c.Kind != otherClaim
	})
}

// changed adds a claim that surely is about this file.
func (r *Report) changed(text, path string, kind ChangeKind) {
	r.add(Claim{Kind: fileClaim, Text: text, Path: path, Change: kind, Sure: true})
}

// moved adds the claims that a file has another name now.
func (r *Report) moved(text, from, to string) {
	r.changed(text, from, Removed)
	r.changed(text, to, Added)
}

// same reports whether two claims say the same. Of some kinds, one claim is enough.
func (c Claim) same(o Claim) bool {
	switch c.Kind {
	case otherClaim, scopeClaim, testsClaim:
		return c.Text == o.Text
	case runClaim, commitClaim:
		return c.Name == o.Name && c.Part == o.Part && c.Run == o.Run && c.Command == o.Command && c.words() == o.words()
	}
	return c.Name == o.Name && c.Result == o.Result && value(c.Total) == value(o.Total) &&
		(c.Kind == nameClaim && c.Change == o.Change || c.Kind != nameClaim && c.Path == o.Path)
}

// admits reports whether the report says that tests fail, and that covers all of the failures: it names each one,
// gives a number that is large enough, or says that the tests as a whole fail.
func (r Report) admits(failures []string) bool {
	admits, all, most := false, len(failures) == 0, 0
	for _, c := range r.Claims {
		if c.Result != NotMet || c.Kind != testClaim && (c.Kind != runClaim || c.Run != runTests) {
			continue
		}
		admits = true
		most = max(most, value(c.Failed), value(c.Total)-value(c.Passed)-value(c.Skipped))
		all = all || c.Kind == runClaim && c.Failed == nil && !c.Part && c.Command != ""
	}
	text, failing, whole := strings.ToLower(r.Text), "", false
	for line := range strings.Lines(start(text, maxProse)) {
		for _, s := range sentences(line) {
			said := lex("HarmlessFailure").Replace(s, " ")
			told := lex("FailureTold").Match(said) || lex("SuiteFails").Match(said)
			if !told && (!lex("Fails").Match(said) || lex("Earlier").Match(masked(said))) {
				continue
			}
			failing += s + "\n"
			whole = whole || lex("SuiteFails").Match(said)
			if f := lex("FailingTests").Find(said); f != nil && told {
				most = max(most, value(numeral(f[1])))
			}
		}
	}
	names := func(text string) bool {
		return !slices.ContainsFunc(failures, func(name string) bool {
			return !testcode.HasWord(text, strings.ToLower(testoutput.ShortName(name)))
		})
	}
	return admits && (all || names(text)) || (admits || failing != "") && most >= len(failures) || whole ||
		len(failures) > 0 && names(failing)
}

// words is the claim in short.
func (c Claim) words() string {
	change := cmp.Or(string(c.Change), "changed") + " "
	switch {
	case c.Kind == fileClaim && c.Part:
		return "the report names " + c.Path
	case c.Kind == commitClaim && c.Name == "":
		return "the work is committed"
	case c.Kind != runClaim:
		return cmp.Or(map[claimKind]string{
			fileClaim: change + c.Path, nameClaim: change + c.Name, backClaim: c.Path + " is as it was",
			branchClaim: "the branch " + c.Name, commitClaim: "commit " + c.Name,
			testClaim: "the test " + c.Name + map[Status]string{Met: " passes", NotMet: " fails"}[c.Result],
		}[c.Kind], `"`+c.Text+`"`)
	}
	words := string(c.Run)
	if c.Command != "" {
		words = code(c.Command)
	}
	words += cmp.Or(map[Status]string{Met: " passed", NotMet: " failed"}[c.Result], " ran")
	for i, n := range []*int{c.Total, c.Passed, c.Failed, c.Skipped} {
		if n != nil {
			words += fmt.Sprintf(", %d %s", *n, []string{"in all", "passed", "failed", "skipped"}[i])
		}
	}
	return words
}

// settle derives the result of a run from its counts where it is not said.
func (c *Claim) settle() {
	switch {
	case c.Failed != nil && *c.Failed > 0, c.Passed != nil && c.Total != nil && c.Skipped == nil && *c.Passed < *c.Total:
		c.Result = NotMet
	case c.Result == "" && c.Passed != nil && *c.Passed > 0 && (c.Total == nil || *c.Total <= *c.Passed+value(c.Skipped)):
		c.Result = Met
	case c.Result == "" && c.Passed != nil && c.Total != nil && *c.Passed < *c.Total:
		c.Result = NotMet
	}
}

func (c Claim) counted() bool {
	return c.Total != nil || c.Passed != nil || c.Failed != nil || c.Skipped != nil
}

// value is what a pointer leads to, if to anything.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// statement is a part of a report that says what is there now, in words that no claim is made of.
type statement struct {
	Text  string   `json:"text"`            // the clause, on one line
	Terms []string `json:"terms,omitempty"` // names, numbers and quoted words: the change must show all of them
	Words []string `json:"words,omitempty"` // beside no names, plain words: the change must show half of them
	Prose bool     `json:"prose,omitempty"` // it is about a document, which must show them
	Near  bool     `json:"near,omitempty"`  // its clause is about a document, which may show them
	// Result says that its clause tells of success or failure, perhaps of a test.
	Result bool `json:"result,omitempty"`
	Kept   bool `json:"kept,omitempty"` // the change must not show the term
	Gone   bool `json:"gone,omitempty"` // one of the terms is said to be gone
}

const (
	exactly       = "=" // begins a term that the change must show as a whole word
	formerly      = "<" // begins a number that a changed file must have had
	maxStatements = 500
	maxNoted      = 50 // claims and statements that are told
)

// addStatements adds what a clause says of the work, part by part, in words that no other claim is made of: what it
// says to be there, the change must show. Claims are those of the clause.
func (r *Report) addStatements(s string, claims []Claim) {
	covers := func(c Claim) bool {
		return !slices.Contains([]claimKind{fileClaim, nameClaim, changeClaim, runClaim, testClaim, openClaim, commitClaim,
			testsClaim, beforeClaim}, c.Kind)
	}
	covered := slices.ContainsFunc(claims, covers)
	for _, c := range claims {
		if c.Kind == commitClaim {
			s = strings.ReplaceAll(s, c.Name, "")
		}
		if c.Kind == otherClaim {
			return // it is told as a whole
		}
	}
	clause := statement{Text: line(s, maxQuote), Near: lex("Document").Match(s),
		Result: lex("Succeeds").Match(s) || lex("Fails").Match(s)}
	changes := lex("SaysChange").Match(s)
	s = lex("Hash").Replace(lex("Thousands").Replace(lex("Thousands").Replace(s, "$1$2"), "$1$2"), "")
	m := masked(s)
	for _, quote := range lex("QuotedText").FindAllIndex(m) {
		m = m[:quote[0]] + strings.Repeat("x", quote[1]-quote[0]) + m[quote[1]:]
	}
	if lex("NoClaim").Match(m) {
		return
	}
	from, blamed := 0, covered && lex("CommitBlamed").Match(s)
	for _, at := range append(lex("PartEnd").FindAllIndex(m), []int{len(m), len(m)}) {
		if part := s[from:at[0]]; from < at[0] {
			one := Report{Text: r.Text}
			if covered {
				one.clause(part, m[from:at[0]], blamed)
			}
			if !slices.ContainsFunc(one.Claims, covers) {
				r.addPart(clause, changes, part, m[from:at[0]])
			}
		}
		from = at[1]
	}
}

// addPart adds what a part of a clause says. The whole clause may say that something changed.
func (r *Report) addPart(c statement, changes bool, s, m string) {
	if lex("NotYet").Match(m) || saysResult(s, m) || lex("FailedBefore").Match(m) ||
		lex("Story").Match(m) && !lex("SaysChange").Match(m) {
		return
	}
	if name := only(lex("Spans").Regexp().FindAllString(s, -1)); name != "" && lex("Kept").Match(m) {
		name = strings.Trim(name, "`")
		if !strings.Contains(name, "/") {
			name = exactly + cmp.Or(codeName(name), name)
		}
		r.state(statement{Text: c.Text, Terms: []string{name}, Kept: true})
		return
	}
	denies := lex("Negated").Match(lex("Condition").Replace(m, " "))
	switch {
	case denies && lex("Omitted").Match(m) && !lex("AsBefore").Match(m):
		return
	case denies, lex("AsBefore").Match(m), lex("StillSo").Match(m) && !lex("Succeeds").Match(m),
		lex("OfAll").Match(m) && !lex("AllPass").Match(m):
		r.add(Claim{Kind: otherClaim, Text: c.Text, Part: denies && !lex("SaysChange").Match(m)})
		return
	case lex("WithTests").Match(m) && changes:
		r.add(Claim{Kind: testsClaim, Text: c.Text, Part: lex("ItsTests").Match(m)})
		return
	}
	made, with, ok := strings.Cut(m, " with ")
	if ok && len(m) < 2*nearby && strings.Contains(made, "xx") && !strings.HasPrefix(with, "x") {
		r.addPart(c, changes, s[:len(made)], made) // "`total` with a cache" says two things
		r.addPart(c, changes, s[len(s)-len(with):], with)
		return
	}
	c.Prose, c.Gone = lex("Document").Match(s), lex("SaysGone").Match(m)
	s = lex("Without").Replace(lex("StandsAt").Replace(s, "$1$2"), " ")
	for _, old := range lex("ChangedFrom").FindAll(s) {
		c.Terms = append(c.Terms, formerly+old[1]+old[2])
	}
	s = lex("OldValue").Replace(s, " ") // the change need not have it
	for _, f := range lex("Measure").FindAll(s) {
		number := strings.TrimRight(f[1], " -")
		if n := numeral(number); n != nil {
			number = strconv.Itoa(*n)
		}
		c.Terms = append(c.Terms, exactly+number+" "+strings.ToLower(f[2]))
	}
	s = lex("Measure").Replace(s, " ")
	add := func(text string) {
		text = lex("CallOf").Replace(text, "$1")
		for _, literal := range lex("Literal").FindAll(text) {
			c.Terms = append(c.Terms, literal[1])
			text = strings.Replace(text, literal[1], " ", 1)
		}
		text = lex("Qualifier").Replace(text, "$1")
		for _, word := range lex("Word").Regexp().FindAllString(text, -1) {
			if (len(word) > 2 || word[0] <= '9') && !lex("HTTPMethod").Match(word) {
				c.Terms = append(c.Terms, exactly+word)
			}
		}
	}
	for _, p := range clausePaths(s) {
		s = strings.ReplaceAll(s, p, " ")
		c.Terms = append(c.Terms, p)
	}
	for _, value := range lex("NewValue").FindAll(s) {
		add(value[1])
	}
	for _, span := range lex("Spans").FindAll(s) {
		s = strings.Replace(s, span[0], " ", 1)
		_, operands, _ := strings.Cut(span[1], " ")
		switch program := lex("Program").Match(span[1]); {
		case !program:
			add(span[1])
		case !lex("RanIt").Match(m) && kindOf(strings.Fields(span[1])) == runOther:
			add(operands)
		}
	}
	for _, quote := range lex("QuotedText").FindAll(s) {
		s = strings.Replace(s, quote[0], " ", 1)
		add(quote[1] + quote[2])
	}
	for i, word := range lex("Word").Regexp().FindAllString(s, -1) {
		lower := strings.ToLower(word)
		switch {
		case len(word) < 2 || slices.ContainsFunc(strings.Fields("Vague Plain Make Edit Drop Move Place"),
			func(list string) bool { return lex(list).Has(lower) }):
		case slices.ContainsFunc(lex("Means").Words, func(begin string) bool { return strings.HasPrefix(lower, begin) }):
			c.Terms = append(c.Terms, lower)
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
	if !c.onlyPaths() {
		c.Words = nil
	}
	switch {
	case len(c.Terms)+len(c.Words) > 0:
		r.state(c)
	case lex("TestsCover").Match(m):
		r.add(Claim{Kind: otherClaim, Text: c.Text})
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
	counts := lex("Numbers").Match(m) || lex("OfPass").Match(m) || lex("OnlyCounts").Match(m) || lex("Labelled").Match(m)
	subject := lex("TestSubject").Match(m) || lex("BuildWord").Match(m) || lex("LintWord").Match(m) ||
		lex("TestName").Match(s) ||
		slices.ContainsFunc(lex("Spans").FindAll(s), func(f []string) bool { return lex("Program").Match(f[1]) })
	return counts || subject && (lex("ResultNumber").Match(s) ||
		lex("Succeeds").Match(m) || lex("Fails").Match(m) || lex("AllPass").Match(m))
}

// lack returns what of a statement the change does not show, for people; "" if it shows it.
func (f Facts) lack(s statement) string {
	shown := f.Shown
	switch {
	case s.Kept && f.Compared != Met:
		return unknownChange
	case s.Kept:
		if slices.Contains(slices.Concat(f.Shown, f.Written, f.Dropped), s.Terms[0]) {
			return "the change shows " + code(strings.TrimPrefix(s.Terms[0], exactly))
		}
		return ""
	case s.Prose:
		shown = f.Written
	case s.Near:
		shown = slices.Concat(f.Shown, f.Written)
	}
	lacks := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(w string) bool { return slices.Contains(shown, w) })
	}
	terms, words := lacks(s.Terms), lacks(s.Words)
	names := slices.DeleteFunc(slices.Clone(s.Terms), func(w string) bool { return !strings.HasPrefix(w, exactly) })
	dropped := func(w string) bool { return slices.Contains(f.Dropped, w) }
	missing := ""
	switch old, had := strings.CutPrefix(cmp.Or(terms...), formerly); {
	case had:
		missing = "nothing that changed had " + code(old)
	case len(terms) > 0:
		missing = "nothing that changed has " + code(strings.TrimPrefix(terms[0], exactly))
	case 2*len(words) > len(s.Words):
		missing = "nothing that changed shows it"
	case s.Gone && len(names) > 0 && !slices.ContainsFunc(names, dropped):
		missing = "no changed line lacks " + code(strings.TrimPrefix(names[0], exactly)) + " now"
	}
	if missing != "" && f.Compared != Met {
		return unknownChange
	}
	return missing
}

const unknownChange = "what changed is not known"

// onlyPaths reports whether a statement names nothing, or only files.
func (s statement) onlyPaths() bool {
	return !slices.ContainsFunc(s.Terms, func(w string) bool { return !isPath(w) })
}

// onlyNames reports whether a statement only names files, which are claims of their own, and no number beside them.
func (s statement) onlyNames() bool {
	rest := s.Text
	for _, name := range s.Terms {
		rest = strings.ReplaceAll(rest, name, "")
	}
	return len(s.Terms) > 0 && len(s.Words) == 0 && s.onlyPaths() && !strings.ContainsAny(rest, "0123456789")
}
