package verify

import (
	"cmp"
	"path"
	"strconv"
	"strings"
)

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
	tests := false
	for _, f := range lex("Spans").FindAll(s) {
		command := strings.TrimSpace(strings.TrimPrefix(f[1], "$ "))
		if !lex("Program").Match(f[1]) || isPath(f[1]) && !strings.Contains(f[1], " ") || strings.HasPrefix(command, "git ") {
			continue
		}
		c := Claim{Kind: runClaim, Text: s, Command: command, Run: kindOf(strings.Fields(command)), Result: result}
		if c.Run == runTests {
			tests = true
			c.count(s, m)
			c.settle()
			c.Part = lex("Except").Match(m)
		}
		if c.Result != "" {
			r.add(c)
		}
	}
	if tests || lex("Earlier").Match(m) && (failed || !lex("Numbers").Match(m)) {
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
	for i, w := range command {
		if i > 0 && (strings.HasPrefix(w, "-") && w != "--test" || strings.ContainsAny(w, "/.")) {
			continue // an option or an operand
		}
		w = strings.ToLower(strings.TrimPrefix(path.Base(w[strings.LastIndexByte(w, ':')+1:]), "--"))
		switch {
		case lex("TestTools").Has(w), strings.HasPrefix(w, "test"):
			return runTests
		case lex("LintTools").Has(w) || strings.HasSuffix(w, "lint"):
			return runLint
		case lex("BuildTools").Has(w) || w == "check" && i > 0 && command[0] == "cargo":
			return runBuild
		}
	}
	return runOther
}
