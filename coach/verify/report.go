package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	c.Text = line(c.Text, maxQuote)
	n := 0
	for i, o := range r.Claims {
		if o.Kind != c.Kind {
			continue
		}
		n++
		switch {
		case c.Kind == fileClaim && cleanPath(o.Path) == cleanPath(c.Path):
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
		return c.Name == o.Name && c.words() == o.words() && c.Part == o.Part && c.Run == o.Run
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
