package classify

import "strings"

// isPasted reports whether a human's message begins with the output of a program rather than with words of theirs: a shell
// prompt, a stack trace, a log line, markup or JSON.
func isPasted(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	s, _, _ = strings.Cut(s, "\n")
	s = s[:min(len(s), 200)]
	for _, p := range [...]string{"PS ", "$ ", "% ", "> ", "C:\\", "Traceback (", "File \"", "<!", "<html", "{\"", "{", "[{", "npm ", "error", "Error", "ERROR", "FAIL", "Exception"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	if isTrace(s) {
		return true
	}
	at := strings.IndexByte(s, ':') // "client:536 GET …", "main.py:12: …", "12:04:11 …"
	return at > 0 && at+1 < len(s) && s[at+1] >= '0' && s[at+1] <= '9'
}
