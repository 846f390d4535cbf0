package hook

import (
	"slices"
	"strings"
)

// told is how a script prints the status of a command: what stands before and after the figures on that line.
type told struct{ before, after string }

// told finds what prints the status of the i-th command: the "echo" right after it, with "$?" or, where the command begins a
// pipe, the shell's variable for that. Nil is nothing.
func (sh shellScript) told(i int) *told {
	names := []string{"$?"}
	if sh.commands[i].op == "|" {
		if !sh.pipefail {
			names = nil
		}
		if i == 0 || sh.commands[i-1].op != "|" {
			names = append(names, "${PIPESTATUS[0]}", "${pipestatus[1]}")
		}
		for sh.commands[i].op == "|" && i+1 < len(sh.commands) {
			i++
		}
	}
	if sh.control || sh.commands[i].op != ";" || i+1 == len(sh.commands) {
		return nil
	}
	echo := sh.commands[i+1]
	if len(echo.words) == 0 || echo.words[0] != "echo" || len(echo.writes) > 0 || echo.op == "|" {
		return nil
	}
	words := echo.words[1:]
	for len(words) > 0 && (words[0] == "-n" || words[0] == "-e" || words[0] == "-en" || words[0] == "-ne") {
		words = words[1:]
	}
	text := strings.Join(words, " ")
	for _, name := range names {
		before, after, ok := strings.Cut(text, name)
		if ok && !strings.Contains(before, "$") {
			after, _, _ = strings.Cut(after, "$") // what it stands for is not known
			return &told{strings.TrimSpace(before), strings.TrimSpace(after)}
		}
	}
	return nil
}

// status returns the status that an output tells. Lines that do not agree tell none.
func (t *told) status(output string) (n int, ok bool) {
	if n := len(output) - maxOutput; n > 0 {
		output = output[n:]
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
