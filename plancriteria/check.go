package plancriteria

import (
	_ "embed"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Check is one way to see whether a criterion holds: a command that must succeed, or a file that must be there. One of
// Command and File is empty.
type Check struct {
	Command string   `json:"command,omitempty"` // a command line, for no shell
	File    string   `json:"file,omitempty"`    // a path in the project, in slashes
	Words   []string `json:"words,omitempty"`   // what the file must contain
}

// String returns the check in words: "`docs/usage.md` contains `--json`".
func (c Check) String() string {
	switch {
	case c.Command != "":
		return "`" + c.Command + "` succeeds"
	case len(c.Words) > 0:
		return "`" + c.File + "` contains `" + strings.Join(c.Words, "`, `") + "`"
	}
	return "`" + c.File + "` exists"
}

// Checks returns what the text of a criterion says about checking it. All of them must hold. It is empty if the text
// does not say it in one of these forms, where the code spans hold a command, a path and words:
//
//	tests pass: `go test ./...`              `go test ./...` passes       run `make check`
//	`docs/usage.md` exists                   new file: `docs/usage.md`    create `docs/usage.md`
//	`docs/usage.md` mentions `--json`        `--json` is documented in `docs/usage.md`
//
// The forms are English, but words before a colon may be in any language. Other words in the text, such as a denial,
// make it another form. A single word before which stands a colon is a command only if the text speaks of a check. A
// path must be relative and stay below its folder. Whether a box is ticked makes no difference.
func (it Item) Checks() []Check {
	var spans []string
	form := codeSpan().ReplaceAllStringFunc(it.Text, func(span string) string {
		spans = append(spans, strings.TrimSpace(strings.Trim(span, "`")))
		return "#"
	})
	isClear := !strings.Contains(form, "`") && strings.Count(form, "#") == len(spans)
	if len(spans) == 0 || slices.Contains(spans, "") || !isClear {
		return nil
	}
	text := strings.TrimRight(oneLine(strings.ToLower(form)), ".;!, ")
	last := len(spans) - 1
	is := func(form string) bool { return forms()[form].MatchString(text) }
	switch {
	case is("contains"):
		return fileCheck(spans[0], spans[1:])
	case is("contained in"):
		return fileCheck(spans[last], spans[:last])
	case last == 0 && (is("exists") || is("colon") && is("speaks of file") && isPath(spans[0])):
		return fileCheck(spans[0], nil)
	case is("succeeds"), is("colon"):
		var checks []Check
		for _, span := range spans {
			word, _, several := strings.Cut(span, " ")
			if !program().MatchString(word) || !several && !is("speaks of check") {
				return nil
			}
			checks = append(checks, Check{Command: span})
		}
		return checks
	}
	return nil
}

var (
	codeSpan = compiled("`[^`]*`")
	program  = compiled(`^(?:\.{1,2}/)?[\pL\pN_][\pL\pN_./+-]*$`)
)

//go:embed forms.txt
var formsText string

// forms are the expressions of forms.txt, by name.
var forms = sync.OnceValue(func() map[string]*regexp.Regexp {
	forms, parts := map[string]*regexp.Regexp{}, []string{}
	for line := range strings.Lines(strings.ReplaceAll(formsText, "\n\t", "")) {
		if name, expr, is := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); is && line[0] != '#' {
			expr = strings.NewReplacer(parts...).Replace(expr)
			parts = append(parts, "{{"+name+"}}", expr)
			forms[name] = regexp.MustCompile(expr)
		}
	}
	return forms
})

// fileCheck returns the check of a file, or none if the name is not a path.
func fileCheck(name string, words []string) []Check {
	if !isPath(name) {
		return nil
	}
	return []Check{{File: path.Clean(name), Words: words}}
}

// isPath reports whether name looks like the relative path of a file below its folder.
func isPath(name string) bool {
	clean := path.Clean(name)
	return strings.ContainsAny(name, "./") && !strings.ContainsAny(name, " \\:*?<>|\"") && name[0] != '-' &&
		clean[0] != '/' && clean != "." && clean != ".." && !strings.HasPrefix(clean, "../")
}
