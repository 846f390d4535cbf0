package gitwitness

import (
	"path"
	"regexp"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

var (
	stubLine = lazy.New(`^(?:raise NotImplementedError\b.*|(?:todo|unimplemented)!\(.*|` +
		`panic\((?i:["'].{0,30}(?:not (?:yet )?implemented|unimplemented|todo)).*|` +
		`throw new \w*(?i:(?:error|exception)\(["'].{0,30}(?:not (?:yet )?(?:implemented|supported)|unimplemented|todo).*|` +
		`(?:NotImplemented|UnsupportedOperation)(?:Error|Exception)\(.*)|TODO\(.*)$`)
	pythonStub = lazy.New(`^(?:pass|\.\.\.)$`)
	oneLine    = lazy.New(`^(?:async )?def [^#]*\)(?: ?->[^:]+)?: (.+)$`)
	control    = lazy.New(`^(?:\}?\s*(?:else|if|elif|while|for|switch|match|with|return|await|yield|catch|case)\b)`)
)

// isStub reports whether all declarations of a name in some programs have a body that does nothing yet.
func (l *look) isStub(files map[string]string, name string) bool {
	declares := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) +
		`\b\s*(?:[=:]\s*(?:async\s*)?(?:function\s*)?)?(?:<[^>]*>|\[[^\]]*\])?\(`)
	stubs := 0
	for file := range files {
		if !testcode.IsCode(file) || testcode.IsTest(file) {
			continue
		}
		text, _ := l.mine.blob(l.tree + ":" + file)
		lines := strings.Split(strings.TrimRight(testcode.Code(file, string(text)), "\n"), "\n")
		for i, line := range lines {
			line = strings.TrimSpace(line)
			at := declares.FindStringIndex(line)
			if at == nil || control.Match(line) || strings.Contains(line[:at[0]], "{") {
				continue
			}
			head, short := line, oneLine.Find(line)
			for j := i; short == nil && j < min(i+6, len(lines)) && !strings.ContainsAny(head[len(head)-1:], "{:}>;"); j++ {
				if j > i {
					head += " " + strings.TrimSpace(lines[j])
				}
				i = j
			}
			body := ""
			switch open := strings.LastIndexAny(head, "{"); {
			case short != nil && path.Ext(file) == ".py":
				body = short[1]
			case strings.HasSuffix(head, "{") || strings.HasSuffix(head, ":") || strings.HasSuffix(head, "=>"):
				if i+1 < len(lines) {
					body = strings.TrimSpace(lines[i+1])
				}
			case open >= 0 && strings.HasSuffix(head, "}"):
				body = strings.TrimSpace(strings.TrimSuffix(head[open+1:], "}"))
			default:
				continue // it is called
			}
			body = strings.TrimRight(body, "; ")
			switch {
			case stubLine.Match(body), path.Ext(file) == ".py" && pythonStub.Match(body):
				stubs++
			default:
				return false
			}
		}
	}
	return stubs > 0
}
