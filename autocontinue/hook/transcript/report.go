package transcript

import (
	"regexp"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// maxOutput is how many bytes of a command's output are read, from its end: that is where test runners sum up.
const maxOutput = 64 << 10

// report is what an output says of tests.
type report struct {
	passed bool // it counts tests that passed, or a package that did
	failed bool // it counts or names tests that failed
	empty  bool // it says that there were none
}

// outputs are patterns of what commands print. Test runners count: "Failures: 2", "2 failed", "12 tests passed", "#
// pass 12". The verdict is a line on all tests together.
var outputs = sync.OnceValue(func() (p struct {
	labels, pairs, tap, verdict, counted, httpStatus, httpCode, sqlError, unformatted, committed *regexp.Regexp
}) {
	const words = `passed|passing|pass|succeeded|successful|failed|failing|failures?|fail|errors?|errored|broken`
	p.labels = regexp.MustCompile(`(?i)\b(` + words + `|tests run)\s*[:=]\s*([0-9]+)`)
	p.pairs = regexp.MustCompile(
		`(?i)\b([0-9]+)\s+(?:(?:unit |integration )?(tests?|specs?|examples?|cases?|checks?|scenarios?)\s+)?(` +
			words + `|tests?|specs?|examples?|scenarios?)\b`,
	)
	p.tap = regexp.MustCompile(`^[#ℹ]\s*(pass|fail|tests)\s+([0-9]+)$`)
	p.verdict = regexp.MustCompile(
		`^100% tests passed|^(?:\d\d:\d\d \+\d+: )?(?i:all (?:tests|specs) passed)|^✔ +All specs passed|` +
			`^(?:\[INFO\] |\[ERROR\] |\*\* )?(?:BUILD|TEST) (?:SUCCESS|SUCCESSFUL|SUCCEEDED|FAILED|FAILURE)\b|` +
			`^> Task :\S+ FAILED$`,
	)
	p.counted = regexp.MustCompile(`(\d+) (error|problem|failure|issue|offense|violation|chart\(s\) failed)`)
	p.httpStatus = regexp.MustCompile(`(?m)^HTTP/[\d.]+ ([45])\d\d`)
	p.httpCode = regexp.MustCompile(`(?m)(?:^|\s)([45])\d\d$`)
	p.sqlError = regexp.MustCompile(`(?m)^(?:psql:\S+ )?ERROR:|^ERROR \d+ \(`)
	p.unformatted = regexp.MustCompile(`(?m)^\S+\.go$`)
	p.committed = regexp.MustCompile(`(?m)^\[\S+ [0-9a-f]{7,}\]|^ \d+ files? changed`)
	return p
})

// readReport reads the output of a command that runs tests.
func readReport(output string) (r report) {
	if n := len(output) - maxOutput; n > 0 {
		output = output[n:]
	}
	ran, ok := 0, false
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(plaintext.StripEscapes(line))
		switch {
		case line == "":
		case startsWith(line, "--- FAIL", "FAIL\t", "FAIL:", "FAIL ", "FAILED", "not ok ",
			"✕ ", "✗ ", "× ", "✖ ") || line == "FAIL":
			r.failed = true
		case strings.HasPrefix(line, "ok ") && strings.Contains(line, "\t") || strings.HasPrefix(line, "ok\t"):
			if strings.Contains(line, "[no test") {
				r.empty = true
			} else {
				r.passed = true
			}
		case strings.HasPrefix(line, "?") && strings.Contains(line, "[no test files]"),
			startsWith(line, "testing: warning: no tests to run", "No tests found",
				"no tests ran", "collected 0 items", "Ran 0 tests", "No test files found"),
			strings.HasPrefix(line, "=") && strings.Contains(line, "no tests ran"):
			r.empty = true
		case startsWith(line, "--- PASS", "✓ ", "✔ ", "√ ", "PASS "),
			len(line) > 3 && strings.HasPrefix(line, "ok ") && '0' <= line[3] && line[3] <= '9':
			r.passed = true // the name of a test may count things, too
		case line == "OK":
			ok = true
		case strings.HasPrefix(line, "OK ("):
			r.passed = true
		case outputs().verdict.MatchString(line):
			failed := strings.Contains(strings.ToUpper(line), "FAIL") && !strings.Contains(line, "%")
			r.failed, r.passed = r.failed || failed, r.passed || !failed
		default:
			ran += r.count(line)
		}
	}
	if ok && ran > 0 {
		r.passed = true
	}
	r.empty = r.empty && !r.passed && ran == 0
	return r
}

// count takes in what a line counts, and returns how many tests it says there were.
func (r *report) count(line string) (ran int) {
	if len(line) > 300 || !strings.ContainsAny(line, "0123456789") {
		return 0
	}
	c := outputs()
	passed, failed, counted := 0, 0, false
	take := func(n int, word string) {
		switch word = strings.ToLower(word); {
		case strings.HasPrefix(word, "pass") || strings.HasPrefix(word, "succe"):
			passed += n
		case strings.HasPrefix(word, "fail") || strings.HasPrefix(word, "err") || word == "broken":
			failed += n
			counted = true
		default:
			ran += n
		}
	}
	for _, m := range c.labels.FindAllStringSubmatch(line, -1) {
		take(number(m[2]), m[1])
	}
	rest := c.labels.ReplaceAllString(line, " ")
	pairs := c.pairs.FindAllStringSubmatch(rest, -1)
	others := c.pairs.ReplaceAllString(rest, " ")
	if strings.HasPrefix(line, "test result: ") || wordCount(others) <= 5 { // a sum, and no sentence
		for _, m := range pairs {
			take(number(m[1]), m[3])
		}
	}
	if m := c.tap.FindStringSubmatch(line); m != nil {
		take(number(m[2]), m[1])
	}
	r.failed = r.failed || failed > 0
	r.passed = r.passed || passed > 0 || counted && failed == 0 && ran > 0
	return ran
}

func wordCount(s string) int {
	return len(strings.FieldsFunc(s, func(c rune) bool { return !('a' <= c && c <= 'z') && !('A' <= c && c <= 'Z') }))
}

// number reads decimal digits, at most six of them.
func number(digits string) (n int) {
	for _, c := range digits[:min(len(digits), 6)] {
		n = n*10 + int(c-'0')
	}
	return n
}
