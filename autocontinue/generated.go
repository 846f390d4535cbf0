package autocontinue

import "strings"

// uuid finds 8-4-4-4-12 hexadecimal digits.
func uuid(s string) int {
	const length = 36
	if len(s) < length {
		return 0
	}
	for i := range length {
		switch i {
		case 8, 13, 18, 23:
			if s[i] != '-' {
				return 0
			}
		default:
			if !isHex(s[i]) {
				return 0
			}
		}
	}
	return bounded(s, length)
}

// isGenerated reports whether a word is a hash or a generated ID: long enough, and of letters and digits mixed as no one
// would name a thing.
func isGenerated(w string) bool {
	if len(w) > 2 && w[0] == '0' && lower(w[1]) == 'x' {
		return len(w) >= 8 && onlyHex(w[2:])
	}
	var digits, letters, changes int
	for i := range len(w) {
		switch {
		case isDigit(w[i]):
			digits++
		case isLetter(w[i]):
			letters++
		case w[i] != '_':
			return false
		}
		if i > 0 && isDigit(w[i]) != isDigit(w[i-1]) {
			changes++
		}
	}
	switch {
	case digits == 0:
		return false
	case letters == 0:
		return digits >= 12 && digits == len(w)
	case onlyHex(w):
		return len(w) >= 7
	}
	if prefix, id, ok := strings.Cut(w, "_"); ok && namesIDs(prefix) && isID(id) {
		return true
	}
	return len(w) >= 10 && changes >= 3 && !strings.Contains(w, "_") || len(w) >= 20 && changes >= 6
}

// generatedAfter finds, after the word w, the rest of an ID such as "job-8f3kq2".
func generatedAfter(w, s string) int {
	if s == "" || s[0] != '-' && s[0] != '_' || !namesIDs(w) {
		return 0
	}
	if n := uuid(s[1:]); n > 0 {
		return 1 + n
	}
	if n := 1 + word(s[1:]); isID(s[1:n]) {
		return n
	}
	return 0
}

// idNames are words that IDs begin with.
var idNames = []string{
	"call", "chatcmpl", "conv", "event", "evt", "id", "job", "msg", "message", "req", "request", "resp", "run", "sess", "session",
	"span", "task", "thread", "toolu", "trace", "worker",
}

func namesIDs(w string) bool {
	for _, name := range idNames {
		if strings.EqualFold(w, name) {
			return true
		}
	}
	return false
}

// isID reports whether w can be the generated part of an ID: letters and digits mixed, or many digits. "task-3" is a count.
func isID(w string) bool {
	digits, letters := 0, 0
	for i := range len(w) {
		if isDigit(w[i]) {
			digits++
		} else {
			letters++
		}
	}
	return digits > 0 && letters > 0 && len(w) >= 5 || letters == 0 && digits >= 6
}

func onlyHex(w string) bool {
	for i := range len(w) {
		if !isHex(w[i]) {
			return false
		}
	}
	return true
}
