package transcript

import (
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// maxOutput is how many bytes of a command's output are read, from its end: that is where test runners sum up.
const maxOutput = 64 << 10

type report struct {
	passed bool // it counts tests that passed, or a package that did
	failed bool // it counts or names tests that failed
	empty  bool // it says that there were none
}

func readReport(output string) (r report) {
	ran, ok := 0, false
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(plaintext.StripEscapes(line))
		switch {
		case line == "":
		case pattern("fails").MatchString(line):
			r.failed = true
		case pattern("none").MatchString(line):
			r.empty = true
		case pattern("passes").MatchString(line): // the name of a test may count things, too
			r.passed = true
		case line == "OK":
			ok = true
		default:
			ran += r.count(line)
		}
	}
	r.passed = r.passed || ok && ran > 0
	r.empty = r.empty && !r.passed && ran == 0
	return r
}

// count takes in what a line counts, and returns how many tests it says there were.
func (r *report) count(line string) (ran int) {
	if len(line) > 300 || !strings.ContainsAny(line, "0123456789") {
		return 0
	}
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
	for _, m := range pattern("labels").FindAllStringSubmatch(line, -1) {
		take(number(m[2]), m[1])
	}
	rest := pattern("labels").ReplaceAllString(line, " ")
	pairs := pattern("pairs").FindAllStringSubmatch(rest, -1)
	others := pattern("pairs").ReplaceAllString(rest, " ")
	sum := strings.HasPrefix(line, "test result: ") || len(pattern("word").FindAllString(others, 6)) <= 5
	if sum { // not a sentence
		for _, m := range pairs {
			take(number(m[1]), m[3])
		}
	}
	if m := pattern("tap").FindStringSubmatch(line); m != nil {
		take(number(m[2]), m[1])
	}
	r.failed = r.failed || failed > 0
	r.passed = r.passed || passed > 0 || counted && failed == 0 && ran > 0
	return ran
}

// number reads decimal digits, at most six of them.
func number(digits string) int {
	n, _ := strconv.Atoi(digits[:min(len(digits), 6)])
	return n
}
