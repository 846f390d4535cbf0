package hook

import (
	"slices"
	"strings"
)

// told is how a script prints the status of a command: what stands before and after the figures on that line, or what the
// last line is after a success and after a failure.
type told struct{ before, after, passed, failed string }

// told finds what prints the status of the i-th command: the "echo" right after it, with "$?" or, where the command begins a
// pipe, the shell's variable for that; or "&& echo a || echo b" at the end. Nil is nothing.
func (sh shellScript) told(i int) *told {
	piped, first := sh.commands[i].op == "|", i == 0 || sh.commands[i-1].op != "|"
	for sh.commands[i].op == "|" && i+1 < len(sh.commands) {
		i++
	}
	var names []string
	if !piped || sh.pipefail {
		names = append(names, "$?")
	}
	if piped && first {
		names = append(names, "${PIPESTATUS[0]}", "${pipestatus[1]}")
	}
	rest := sh.commands[i+1:]
	if sh.control || len(rest) == 0 {
		return nil
	}
	text, ok := rest[0].says()
	if !ok {
		return nil
	}
	if sh.commands[i].op == "&&" && len(rest) == 2 && rest[0].op == "||" && (!piped || sh.pipefail) {
		other, ok := rest[1].says()
		text, other = strings.TrimSpace(text), strings.TrimSpace(other)
		if !ok || text == other || text == "" || other == "" || strings.Contains(text+other, "$") {
			return nil
		}
		return &told{passed: text, failed: other}
	}
	if sh.commands[i].op != ";" {
		return nil
	}
	for _, name := range names {
		before, after, ok := strings.Cut(text, name)
		if ok && !strings.Contains(before, "$") {
			after, _, _ = strings.Cut(after, "$") // what it stands for is not known
			return &told{before: strings.TrimSpace(before), after: strings.TrimSpace(after)}
		}
	}
	return nil
}

// says returns what an "echo" prints to the result.
func (c shellCommand) says() (string, bool) {
	if len(c.words) == 0 || c.words[0] != "echo" || len(c.writes) > 0 || c.op == "|" || c.op == "&" {
		return "", false
	}
	words := c.words[1:]
	for len(words) > 0 && (words[0] == "-n" || words[0] == "-e" || words[0] == "-en" || words[0] == "-ne") {
		words = words[1:]
	}
	return strings.Join(words, " "), true
}

// status returns the status that an output tells. Lines that do not agree tell none.
func (t *told) status(output string) (n int, ok bool) {
	if n := len(output) - maxOutput; n > 0 {
		output = output[n:]
	}
	if t.passed != "" {
		output = strings.TrimRight(output, " \t\r\n")
		switch strings.TrimSpace(output[strings.LastIndexByte(output, '\n')+1:]) {
		case t.passed:
			return 0, true
		case t.failed:
			return 1, true
		}
		return 0, false
	}
	var found []int
	for line := range strings.Lines(output) {
		rest, is := strings.CutPrefix(strings.TrimSpace(withoutEscapes(line)), t.before)
		rest = strings.TrimSpace(rest)
		after := strings.TrimLeft(rest, "0123456789")
		digits := rest[:len(rest)-len(after)]
		after = strings.TrimSpace(after)
		if is && digits != "" && len(digits) <= 3 && (after == t.after || t.after != "" && strings.HasPrefix(after, t.after)) {
			found = append(found, number(digits))
		}
	}
	if len(found) == 0 || slices.Max(found) != slices.Min(found) {
		return 0, false
	}
	return found[0], true
}
