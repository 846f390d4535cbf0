package verify

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	allPass = compiled(`(?i)\b(?:all|every)\s+(?:(?:the|of\s+the|our)\s+)?(?:(\d+)\s+)?(?:existing\s+|unit\s+and\s+integration\s+)?(?:tests?|test\s+suites?|specs)\s+` +
		`(?:(?:are|is|now|still|have|has|do|again|currently)\s+){0,3}(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?)\b`)
	suitePasses = compiled(`(?i)(?:\b(?:the|full|whole|entire|complete)\s+)(?:(?:full|whole|entire|complete)\s+)?(?:test\s+suite|tests|suite)\s+(?:(?:are|is|now|still|all|has|have)\s+){0,3}(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?)\b`)
	testsPass   = compiled(`(?i)^(?:[*_]{0,2}tests?[*_]{0,2}:?[*_]{0,2}\s+(?:are\s+|now\s+|still\s+|all\s+)*)(?:pass(?:es|ed|ing)?|green)\b`)
	countPass   = compiled(`(?i)\b(\d+)\s*(?:/|of|out of)\s*(\d+)\s+(?:(?:unit|test|total)\s+)?(?:tests?\s+|cases?\s+)?(?:are\s+|now\s+)?pass(?:ed|ing|es)?\b`)
	someCounts  = compiled(`(?i)\b(\d+)\s+(?:(\w+)\s+)?(?:tests?\s+)?(?:are\s+|now\s+|all\s+|still\s+)?(pass(?:ed|ing|es)?|fail(?:ed|ing|ures?|s)?|skipped|total)\b`)

	unsure = compiled(`(?i)\b(?:should|would|could|may|might|must|will|if|until|once|unless|make sure|ensure|ensures|verify that|confirm that|expect\w*|when|not all|don't|doesn't|didn't|cannot|can't|couldn't|not|never|no longer|before|previously|earlier|baseline|assum\w*|hopefully|so that|to make|to get|need\w*|want\w*|criteri\w+|require\w*|on ci|in ci|without|instead|claim\w*|says?|said|yet|probably|likely|presumably|todo|next|upstream|on main|on master|was|were|used to|old|original|initially|at first|first run)\b`)
	partly = compiled(`(?i)\b(?:new|added|related|relevant|affected|focused|targeted|these|those|my|this|unit|integration|e2e|end-to-end|frontend|backend|ui|smoke|regression|\w+'s|for|in|under|covering|of)\b`)
	except = compiled(`(?i)\b(?:except|other than|apart from|but|besides|aside from|excluding|pre-?existing|known|unrelated|flaky)\b`)

	inlineCode = compiled("`([^`\\n]{2,120})`")
	command    = compiled(`^(?:\$ )?(?:go|npm|pnpm|yarn|bun|npx|pytest|python3?|cargo|make|mvn|\./mvnw|gradle|\./gradlew|dotnet|mix|bundle|rspec|phpunit|tox|nox|just|task|bazel|ctest|jest|vitest|deno|rake|sbt|swift|flutter|dart|tsc|eslint|golangci-lint|staticcheck|ruff|mypy|gofmt)\b`)
	ended      = compiled("(?i)^[`*_]*\\s*(?:(?:now|still|again|all)\\s+)?(?:pass(?:es|ed)?|succeed(?:s|ed)|is (?:clean|green|happy)|is passing|exits?(?:ed)? (?:with )?(?:code |status )?0|(?:ran|runs) clean(?:ly)?|→ (?:ok|pass)|clean)\\b")
	endedBadly = compiled("(?i)^[`*_]*\\s*(?:(?:now|still)\\s+)?(?:fail(?:s|ed)|exits?(?:ed)? (?:with )?(?:code |status )?[1-9])")
	builds     = compiled(`(?i)^(?:the\s+|and\s+the\s+)?[*_]{0,2}(build|compilation|lint(?:er|ing)?|type ?check(?:ing)?|vet)[*_]{0,2}:?[*_]{0,2}\s+(?:(?:is|now|still|also)\s+)*(pass(?:es|ed|ing)?|succeed(?:s|ed)|clean|green|fail(?:s|ed|ing)?)\b`)
)

// testClaims reads what a sentence says of runs. A sentence with a word of doubt, of a condition or of another time claims nothing.
func (r *Report) testClaims(s string) {
	words := inlineCode.get().ReplaceAllStringFunc(s, func(c string) string { return strings.Repeat("x", len(c)) })
	if unsure.get().MatchString(words) {
		return
	}
	ran := commandIn(s)
	if r.runClaim(s, words) {
		return
	}
	if m := builds.get().FindStringSubmatch(words); m != nil {
		c := TestClaim{Kind: RunBuild, Result: Met}
		if k := strings.ToLower(m[1]); strings.HasPrefix(k, "lint") || k == "vet" {
			c.Kind = RunLint
		}
		if strings.HasPrefix(strings.ToLower(m[2]), "fail") {
			c.Result = NotMet
		}
		r.addTest(c)
		return
	}
	c := TestClaim{Kind: RunTests, Command: ran}
	if ran != "" && kindOf(strings.Fields(ran)) != RunTests {
		return
	}
	general := false
	if m := countPass.get().FindStringSubmatch(words); m != nil {
		c.Passed, c.Total = atoi(m[1]), atoi(m[2])
	} else if m := allPass.get().FindStringSubmatch(words); m != nil {
		general, c.Result, c.Passed = true, Met, atoi(m[1])
	} else if suitePasses.get().MatchString(words) || testsPass.get().MatchString(words) {
		general, c.Result = true, Met
	}
	if c.Total == nil {
		c.counts(words)
	}
	c.settle()
	if c.Result == "" {
		return
	}
	scope := allPass.get().ReplaceAllString(words, "")
	c.Part = c.Part || partly.get().MatchString(scope) || !general && ran == "" && !plainCount(words)
	if c.Result == Met && except.get().MatchString(words) {
		c.Part = true // it says itself that there is more to it
	}
	r.addTest(c)
}

// plainCount reports whether a sentence is hardly more than counts: "12 passed, 0 failed".
func plainCount(words string) bool {
	rest := someCounts.get().ReplaceAllString(countPass.get().ReplaceAllString(words, ""), "")
	return len(strings.Fields(rest)) <= 3
}

// counts reads "12 passed, 1 failed, 2 skipped".
func (c *TestClaim) counts(words string) {
	for _, m := range someCounts.get().FindAllStringSubmatch(words, -1) {
		if middle := strings.ToLower(m[2]); middle != "" && middle != "tests" && middle != "test" && middle != "unit" && middle != "specs" && middle != "cases" {
			if middle == "assertions" || !strings.Contains(strings.ToLower(m[0]), "test") {
				continue // "2 packages failed"
			}
			c.Part = true
		}
		var to **int
		switch what := strings.ToLower(m[3]); {
		case strings.HasPrefix(what, "pass"):
			to = &c.Passed
		case strings.HasPrefix(what, "fail"):
			to = &c.Failed
		case what == "skipped":
			to = &c.Skipped
		default:
			to = &c.Total
		}
		if *to == nil {
			*to = atoi(m[1])
		}
	}
}

func atoi(s string) *int {
	n, err := strconv.Atoi(s)
	if err != nil || n > 1e7 {
		return nil
	}
	return new(n)
}

// commandIn returns the command in code quotes that a sentence names, "" if there is none or more than one.
func commandIn(s string) string {
	found := ""
	for _, m := range inlineCode.get().FindAllStringSubmatch(s, -1) {
		if command.get().MatchString(m[1]) {
			if found != "" {
				return ""
			}
			found = strings.TrimSpace(strings.TrimPrefix(m[1], "$ "))
		}
	}
	return found
}

// runClaim reads "`go vet ./...` is clean" and "`npm test` passes".
func (r *Report) runClaim(s, words string) bool {
	any := false
	for _, m := range inlineCode.get().FindAllStringSubmatchIndex(s, -1) {
		line := strings.TrimSpace(strings.TrimPrefix(s[m[2]:m[3]], "$ "))
		if !command.get().MatchString(line) {
			continue
		}
		after := s[m[1]:]
		c := TestClaim{Kind: kindOf(strings.Fields(line)), Command: line}
		switch {
		case starts(ended.get(), after):
			c.Result = Met
		case starts(endedBadly.get(), after):
			c.Result = NotMet
		default:
			continue
		}
		if c.Kind == RunTests {
			c.counts(words[m[1]:])
			c.settle()
			c.Part = except.get().MatchString(words)
		}
		r.addTest(c)
		any = true
	}
	return any
}

func starts(re *regexp.Regexp, s string) bool { return re.MatchString(s) }
