package autocontinue

import "strings"

// timestamp finds "2024-05-01", "5/31/2024", "12:30", "12:30:05.123", "9pm", and a date with a time after it.
func timestamp(s string) int {
	if !isDigit(s[0]) {
		return 0
	}
	if n := date(s); n > 0 {
		at := n + spaces(s[n:])
		if at == n && n < len(s) && lower(s[n]) == 't' {
			at++
		}
		if at > n {
			if t := clock(s[at:]); t > 0 {
				return at + t
			}
		}
		return bounded(s, n)
	}
	return clock(s)
}

func date(s string) int {
	for _, pattern := range [...]string{"dddd-dd-dd", "dddd/dd/dd", "dd/dd/dddd", "d/dd/dddd", "dd/d/dddd", "d/d/dddd"} {
		if matches(s, pattern) {
			return len(pattern)
		}
	}
	return 0
}

func clock(s string) int {
	n := digits(s, 2)
	if n == 0 {
		return 0
	}
	if !matches(s[n:], ":dd") {
		if !isMeridiem(s[n:]) { // "9pm"
			return 0
		}
		return bounded(s, n+2)
	}
	n += len(":dd")
	if matches(s[n:], ":dd") {
		n += len(":dd")
		if n < len(s) && (s[n] == '.' || s[n] == ',') {
			if d := digits(s[n+1:], 9); d > 0 {
				n += 1 + d
			}
		}
	}
	rest := s[n:]
	switch {
	case rest != "" && lower(rest[0]) == 'z':
		n++
	case matches(rest, "+dd:dd"), matches(rest, "-dd:dd"):
		n += len("+dd:dd")
	case matches(rest, "+dddd"), matches(rest, "-dddd"):
		n += len("+dddd")
	default:
		if gap := spaces(rest); isMeridiem(rest[gap:]) && bounded(rest, gap+2) > 0 {
			n += gap + 2
		}
	}
	return bounded(s, n)
}

func isMeridiem(s string) bool {
	return len(s) >= 2 && (lower(s[0]) == 'a' || lower(s[0]) == 'p') && lower(s[1]) == 'm'
}

// units are the names of units of time. The short ones stand right after the number.
var units = []struct {
	name  string
	short bool
}{
	{"nanoseconds", false}, {"nanosecond", false}, {"microseconds", false}, {"microsecond", false},
	{"milliseconds", false}, {"millisecond", false}, {"seconds", false}, {"second", false}, {"secs", false}, {"sec", false},
	{"minutes", false}, {"minute", false}, {"mins", false}, {"min", false},
	{"hours", false}, {"hour", false}, {"hrs", false}, {"hr", false}, {"days", false}, {"day", false},
	{"ns", false}, {"µs", false}, {"μs", false}, {"ms", false}, {"s", false}, {"us", true}, {"m", true}, {"h", true},
}

// duration finds "3.2s", "1h2m3s", "150 ms" and "5 minutes".
func duration(s string) int {
	if !isDigit(s[0]) {
		return 0
	}
	n := 0
	for part := range 4 {
		d := number(s[n:])
		if d == 0 {
			return 0
		}
		n += d
		u := unit(s[n:])
		if u == 0 {
			return 0
		}
		n += u
		if bounded(s, n) > 0 {
			if isCount(s, n, part == 0) {
				return 0
			}
			return n
		}
	}
	return 0
}

// isCount reports whether s[:n] counts something although it looks like a duration: "3 seconds of 90", and "3m rows",
// which are millions.
func isCount(s string, n int, single bool) bool {
	after := s[n+spaces(s[n:]):]
	if len(after) >= 2 && strings.EqualFold(after[:2], "of") && bounded(after, 2) > 0 {
		return true
	}
	bare := single && lower(s[n-1]) == 'm' && isDigit(s[n-2])
	return bare && len(after) > 0 && len(after) < len(s)-n && isLetter(after[0])
}

// number finds digits, with a fraction or without.
func number(s string) int {
	n := digits(s, 9)
	if n == 0 {
		return 0
	}
	if n < len(s) && (s[n] == '.' || s[n] == ',') {
		if d := digits(s[n+1:], 9); d > 0 {
			n += 1 + d
		}
	}
	return n
}

// unit finds a unit of time that ends where a word or the next part of a duration begins.
func unit(s string) int {
	gap := spaces(s)
	if gap == 0 && s != "" && s[0] == '-' { // "a 5-minute run"
		gap = 1
	}
	for _, u := range units {
		if u.short && gap > 0 || len(s) < gap+len(u.name) || !strings.EqualFold(s[gap:gap+len(u.name)], u.name) {
			continue
		}
		n := gap + len(u.name)
		if bounded(s, n) > 0 || gap == 0 && n < len(s) && isDigit(s[n]) {
			return n
		}
	}
	return 0
}
