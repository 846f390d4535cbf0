package verify

import (
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

var (
	// The programs that make code in quotes a command.
	program = lazy.New(`^(?:\$ )?(?:\.{0,2}/\S*?(?:gradlew|mvnw|\w+\.sh)\b|(?:` + words(`go npm pnpm yarn bun bunx npx
		pytest python python3 cargo make gmake mvn gradle dotnet mix bundle rspec phpunit composer tox nox just task bazel
		ctest cmake jest vitest mocha deno node rake sbt swift flutter dart tsc eslint golangci-lint staticcheck ruff mypy
		pyright gofmt black flake8 pylint prettier shellcheck docker sh bash poetry uv hatch git`) + `)(?:\s|$))`)
	succeeds = lazy.New(`(?i)\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|successful(?:ly)?|green|clean(?:ly)?|ok|fine|` +
		`works?|worked|happy|compiles?|valid)\b|` +
		`\b(?:no|zero|0)\s+(?:new\s+)?(?:errors?|warnings?|issues?|problems?|failures?|failed|failing|regressions?|` +
		`findings)\b|\bwithout\s+(?:any\s+)?(?:errors?|warnings?|issues?|problems?|failures?)\b|` +
		`\bexit(?:s|ed)?(?:\s+with)?(?:\s+code|\s+status)?:?\s+0\b`)
	fails = lazy.New(`(?i)\bfail(?:s|ed|ing|ures?)?\b|\b(?:is|are|still|stays?|remains?|goes|went|turns?|one|` +
		`two|\d+)\s+red\b|\bbroken\b|\b\d+ errors?\b|\berrored\b|\berrors? out\b|\bdoes(?:n['’]t| not)\s+(?:compile|build|` +
		`pass|work)\b|\bexit(?:s|ed)?(?:\s+with)?(?:\s+code|\s+status)?:?\s+[1-9]`)
	harmlessFailure = lazy.New(`(?i)\bfail(?:ed|ures?)\s*[:=]\s*0\b|\b(?:no|zero|0|without|without any|` +
		`nothing)\s+(?:new\s+|test\s+|tests\s+|more\s+)?(?:fail(?:s|ed|ing|ures?)?|errors?|warnings?|issues?|problems?|` +
		`regressions?|findings)\b|\bnot (?:one|a single) fail\w*|\bnothing (?:was |is |were )?skipped\b|` +
		`\bno (?:new )?(?:tests? )?(?:were |was )?skipped\b`)
	allPass = lazy.New(`(?i)\b(?:all|every|everything)\b[^.;:]{0,40}?\b(?:pass(?:es|ed|ing)?|green|succeed(?:s|` +
		`ed)?|ok)\b|\ball (?:green|passing)\b|\b(?:the|full|whole|entire|complete)\s+(?:(?:full|whole|entire|complete|` +
		`existing)\s+)?(?:test\s+)?(?:tests|suite)\b[^.;:]{0,25}?\b(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|ok)\b`)
	testsPass = lazy.New(`(?i)\b(?:tests?|suite|specs?|pytest|unittest|jest|vitest|mocha)\b(?:\s*:|\s+(?:are|is|` +
		`now|still|all|also|run|runs|have|has|were)\b)*\s*(?:\(\d+\)\s*)?(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|ok|` +
		`fine|clean)\b`)
	ofPass = lazy.New(`(?i)\b(\d+)\s*(?:/|of|out of)\s*(\d+)\b(?:\s+\w+){0,2}?(?:\s+pass(?:ed|ing|es)?|` +
		`\s+green|\)|$)`)
	numbers = lazy.New(`(?i)\b(\d+)\s+((?:\w+\s+){0,3}?)(pass(?:ed|ing|es)?|fail(?:ed|ing|ures?|s)?|skipped|` +
		`ignored|green|red|ok|in total|total)\b`)
	labelled      = lazy.New(`(?i)\b(pass(?:ed|ing)?|fail(?:ed|ures?)?|skipped|ignored|total)\s*[:=]\s*(\d+)\b`)
	numberOfTests = lazy.New(`(?i)\b(?:ran\s+|all\s+|the\s+)?(\d+)\s+(?:(?:unit|integration|new|more|existing|` +
		`remaining|other|passing)\s+)*(?:tests|specs|test cases)\b|\b(1) test\b`)
	partly = lazy.New(`(?i)\b(?:new|added|related|relevant|affected|focused|targeted|these|those|my|this|unit|` +
		`integration|e2e|frontend|backend|ui|smoke|regression|\w+'s|for|of|under|covering|other|rest|remaining|its|else|` +
		`one more)\b`)
	except = lazy.New(`(?i)\b(?:except|other than|apart from|but|besides|aside from|excluding|pre-?existing|` +
		`known|unrelated|flaky|else|other|rest)\b`)
	buildWord = lazy.New(`(?i)\b(?:builds?|compil(?:es|ed|ation)|type-?\s?check(?:s|ing|er)?|tsc)\b`)
	lintWord  = lazy.New(`(?i)\b(?:lint(?:s|er|ing)?|eslint|vet|clippy|ruff|mypy|flake8|pylint|pyright|prettier|` +
		`gofmt|staticcheck|shellcheck|stylelint|biome|formatter)\b`)
	testSubject = lazy.New(`(?i)\b(?:tests?|suite|specs?|pytest|jest|vitest|unittest|everything|test result)\b`)
	otherThings = lazy.New(`(?i)package|file|assert|suite|subtest|module`) // that reports count beside tests
	onlyCounts  = lazy.New(`(?i)^[\s*_(\[]*(?:(?:tests?|test run|results?|test results?|` +
		`suite)\b[\s:*_]*)?\d+\s*(?:/\s*\d+\s*)?(?:tests?\s+)?(?:are\s+|all\s+)?(?:pass(?:ed|ing)?|ok|green)\b`)
)

// runs reads what a clause says of runs: with a command in code, of tests, of a build or a linter.
func (r *Report) runs(s, m string) {
	said := harmlessFailure.Replace(m, " fine ")
	failed := fails.Match(said)
	if denied.Match(said) && !failed {
		return
	}
	result := Status("")
	switch {
	case failed:
		result = NotMet
	case succeeds.Match(m) || harmlessFailure.Match(m):
		result = Met
	}
	tests := false
	for _, f := range spans.FindAll(s) {
		command := strings.TrimSpace(strings.TrimPrefix(f[1], "$ "))
		if !program.Match(f[1]) || isPath(f[1]) && !strings.Contains(f[1], " ") || strings.HasPrefix(command, "git ") {
			continue
		}
		c := Claim{Kind: RunClaim, Text: s, Command: command, Run: kindOf(strings.Fields(command)), Result: result}
		if c.Run == RunTests {
			tests = true
			c.count(s, m)
			c.settle()
			c.Part = except.Match(m)
		}
		if c.Result != "" {
			r.add(c)
		}
	}
	if tests || earlier.Match(m) && (failed || !numbers.Match(m)) {
		return
	}
	if result != "" {
		for _, other := range []struct {
			word *lazy.Pattern
			run  RunKind
		}{{buildWord, RunBuild}, {lintWord, RunLint}} {
			if other.word.Match(m) && !(testSubject.Match(m) && numbers.Match(m)) {
				r.add(Claim{Kind: RunClaim, Text: s, Run: other.run, Result: result})
			}
		}
	}
	r.tests(s, m, failed)
}

// tests reads a clause that speaks of tests without a command.
func (r *Report) tests(s, m string, failed bool) {
	c := Claim{Kind: RunClaim, Text: s, Run: RunTests}
	general := false
	switch {
	case failed:
		if testSubject.Match(m) || numbers.Match(m) {
			c.Result = NotMet
		}
	case testSubject.Match(m) && allPass.Match(m):
		general, c.Result = true, Met
	case testSubject.Match(m) && testsPass.Match(m):
		general, c.Result = true, Met
	}
	if testSubject.Match(m) || onlyCounts.Match(m) || labelled.Match(m) {
		c.count(s, m)
	}
	c.settle()
	if c.Result == "" && !c.counted() {
		return
	}
	scope := allPass.Replace(m, "")
	c.Part = partly.Match(scope) && !onlyCounts.Match(m) || !general && !c.counted() || c.Result == Met && except.Match(m)
	r.add(c)
}

// count reads numbers of tests: "12 passed, 1 failed", "5 of 5", "Ran 6 tests", and code such as `4 passed`.
func (c *Claim) count(s, m string) {
	words := m
	for _, f := range spans.FindAll(s) {
		if onlyCounts.Match(f[1]) {
			words += " " + f[1]
		}
	}
	set := func(to **int, n string) {
		if *to == nil {
			*to = atoi(n)
		}
	}
	if f := ofPass.Find(words); f != nil {
		c.Passed, c.Total = atoi(f[1]), atoi(f[2])
		return
	}
	for _, f := range numbers.FindAll(words) {
		if otherThings.Match(f[2]) {
			continue
		}
		c.number(set, f[3], f[1])
	}
	for _, f := range labelled.FindAll(words) {
		c.number(set, f[1], f[2])
	}
	if f := numberOfTests.Find(words); f != nil && c.Passed == nil && c.Total == nil && value(c.Failed) == 0 {
		if n := atoi(f[1] + f[2]); succeeds.Match(m) {
			c.Passed = n
		} else {
			c.Total = n
		}
	}
}

func (c *Claim) number(set func(**int, string), what, n string) {
	switch what = strings.ToLower(what); {
	case strings.HasPrefix(what, "pass"), what == "green", what == "ok":
		set(&c.Passed, n)
	case strings.HasPrefix(what, "fail"), what == "red":
		set(&c.Failed, n)
	case what == "skipped" || what == "ignored":
		set(&c.Skipped, n)
	default:
		set(&c.Total, n)
	}
}

var (
	lintTools = strings.Fields(
		"lint vet fmt clippy staticcheck ruff flake8 mypy pylint prettier stylelint shellcheck gofmt eslint black pyright " +
			"golangci-lint",
	)
	buildTools = strings.Fields("build compile tsc typecheck type-check assemble")
	testTools  = strings.Fields("test tests pytest jest vitest mocha unittest rspec phpunit ctest tox nox")
)

// kindOf returns what a command runs, by its words.
func kindOf(command []string) RunKind {
	if len(command) == 0 {
		return RunOther
	}
	for i, w := range command {
		if i > 0 && (strings.HasPrefix(w, "-") && w != "--test" || strings.ContainsAny(w, "/.")) {
			continue // an option or an operand
		}
		w = strings.ToLower(strings.TrimPrefix(path.Base(w[strings.LastIndexByte(w, ':')+1:]), "--"))
		switch {
		case slices.Contains(testTools, w), strings.HasPrefix(w, "test"):
			return RunTests
		case slices.Contains(lintTools, w) || strings.HasSuffix(w, "lint"):
			return RunLint
		case slices.Contains(buildTools, w) || w == "check" && i > 0 && command[0] == "cargo":
			return RunBuild
		}
	}
	return RunOther
}
