package gitwitness

import (
	"path"
	"regexp"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

// isStub reports whether all declarations of a name in some programs have a body that does nothing yet.
func (l *look) isStub(files map[string]string, name string) bool {
	const parameters = `\((?:[^()]|\([^()]*\))*\)`
	name = regexp.QuoteMeta(name)
	inPython := regexp.MustCompile(`(?m)^()\s*(?:async )?def ` + name + parameters + `(?: ?->[^:\n]+)?:\s*(.*)$`)
	braced := regexp.MustCompile(`(?m)^([^{\n]*)\b` + name + `\b\s*(?:[=:]\s*(?:async\s*)?(?:function\s*)?)?` +
		`(?:<[^>]*>|\[[^\]]*\])?` + parameters + `[^;{}\n]*\n?\{\s*(.*)$`)
	stubs := 0
	for file := range files {
		if !testcode.IsCode(file) || testcode.IsTest(file) {
			continue
		}
		declares, stub := braced, lex().Stub
		if path.Ext(file) == ".py" {
			declares, stub = inPython, lex().PythonStub
		}
		text := testcode.Code(file, l.mine.blob(l.tree+":"+file))
		for _, m := range declares.FindAllStringSubmatch(text, -1) {
			switch {
			case lex().Control.Match(m[1]):
			case stub.Match(strings.TrimRight(m[2], "; }")):
				stubs++
			default:
				return false
			}
		}
	}
	return stubs > 0
}
