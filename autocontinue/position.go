package autocontinue

import "strings"

// lineAfter finds the line number after the word w: "parser.go:12:3", "a.ts(12,3)", "main.go#L12" and "line 12".
func lineAfter(before, w, s string) int {
	if s == "" {
		return 0
	}
	isName := isLetter(w[0]) && len(w) <= 5 && strings.HasSuffix(before, ".") && len(before) > 1 && isAlnum(before[len(before)-2])
	switch s[0] {
	case ':':
		if n := position(s, ':'); n > 0 && !countsLines(s[n:]) && (isName || isLetter(w[0]) && strings.Count(s[:n], ":") > 1) {
			return n
		}
	case '(':
		if n := position(s, ','); isName && n > 0 && n < len(s) && s[n] == ')' {
			return n
		}
	case '#':
		if isName && len(s) > 2 && lower(s[1]) == 'l' {
			if d := digits(s[2:], 7); d > 0 {
				return bounded(s, 2+d)
			}
		}
	}
	for _, name := range [...]string{"line", "lines", "ln", "col", "column"} {
		if strings.EqualFold(w, name) {
			return lineNumber(s)
		}
	}
	return 0
}

// countsLines reports whether "lines" follows, so that the number before counts them: "README.md:3 lines".
func countsLines(s string) bool {
	after := s[spaces(s):]
	n := word(after)
	return n > 0 && (strings.EqualFold(after[:n], "lines") || strings.EqualFold(after[:n], "line") || strings.EqualFold(after[:n], "of"))
}

// position finds, after its first byte, a line number and, after sep, a column.
func position(s string, sep byte) int {
	n := 1 + digits(s[1:], 7)
	if n == 1 {
		return 0
	}
	if n < len(s) && s[n] == sep {
		if d := digits(s[n+1:], 7); d > 0 && bounded(s, n+1+d) > 0 {
			return n + 1 + d
		}
	}
	return bounded(s, n)
}

// lineNumber finds " 12" and " 12-15", but no percentage and no count such as " 12 of 15".
func lineNumber(s string) int {
	gap := spaces(s)
	d := digits(s[gap:], 7)
	if gap == 0 || d == 0 {
		return 0
	}
	n := gap + d
	for _, dash := range [...]string{"-", "–"} {
		if after, ok := strings.CutPrefix(s[n:], dash); ok {
			if d := digits(after, 7); d > 0 {
				n += len(dash) + d
				break
			}
		}
	}
	if n < len(s) && s[n] == '%' || n+1 < len(s) && (s[n] == '.' || s[n] == '/') && isDigit(s[n+1]) {
		return 0
	}
	if after := s[n+spaces(s[n:]):]; len(after) >= 2 && strings.EqualFold(after[:2], "of") {
		if total := after[2+spaces(after[2:]):]; total != "" && isDigit(total[0]) {
			return 0
		}
	}
	return bounded(s, n)
}
