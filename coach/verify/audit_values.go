package verify

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/project"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

// lines returns the lines that have a text, those in a claimed file alone if one is claimed. They are unknown if no
// witness looked.
func (a *audit) lines(text, file string) (list []TextLine, known bool) {
	i := slices.IndexFunc(a.facts.Texts, func(t TextFact) bool { return t.Text == text })
	if i < 0 {
		return nil, false
	}
	for _, l := range a.facts.Texts[i].Lines {
		if file == "" || within(l.File, file) || ends(cleanPath(file), l.File) {
			list = append(list, l)
		}
	}
	return list, true
}

// literal checks that a text in code is there.
func (a *audit) literal(c Claim) finding {
	all, known := a.lines(c.Name, c.Path)
	if strings.ToLower(c.Name) != c.Name || c.Change == Removed { // a name in code
		all = slices.DeleteFunc(all, func(l TextLine) bool { return !hasWord(l.Line, c.Name) })
	}
	file := a.fileFact(c.Path)
	if strings.HasPrefix(c.Command, "-") && c.Path == "" {
		option := regexp.MustCompile(strings.ReplaceAll(optionLine, "NAME", looseName(c.Name)))
		all = slices.DeleteFunc(all, func(l TextLine) bool { return isProse(l.File) || !option.MatchString(l.Line) })
	}
	switch {
	case !known && a.facts.Compared == Met:
		return finding{}
	case !known:
		return unchecked("nobody looked")
	case c.Path != "" && (file == nil || file.State != Exists):
		return finding{} // that is another claim
	case c.Change == Removed && len(all) > 0 && !project.Manifest(c.Path):
		return unchecked("%s still has %s", c.Path, code(c.Name))
	case c.Change == Removed && len(all) > 0:
		return contradicted(shouldFix, namePresent, c.Name, c.Path+" still has it", "remove it, or correct the report")
	case c.Change == Removed:
		return holds
	case c.Command != "" && !strings.HasPrefix(c.Command, "-"):
		return a.target(c, all)
	case len(all) == 0 && c.Path != "":
		return unchecked("%s does not have %s", c.Path, code(c.Name))
	case len(all) == 0:
		return unchecked("nothing has %s", code(c.Name))
	case slices.ContainsFunc(all, func(l TextLine) bool { return l.New }):
		return holds
	case c.Sure && a.facts.Compared == Met && !a.facts.Earlier:
		return unchecked("no changed line has %s", code(c.Name))
	}
	return finding{}
}

// optionLine is how programs declare or read an option.
const optionLine = "(?i)-NAME\\b|[\"'`:]NAME\\b|\\b(?:arg|opt|flag|param|value|config|conf|cfg)\\w*(?:\\.|->|\\[[\"':])NAME\\b|" +
	"\\bNAME[\"']?\\s*:|\\b(?:Bool|Int|String|Duration|Float\\w*)\\w*\\([^)]*NAME|\\b(?:option|argument|flag)\\w*\\b.*\\bNAME\\b"

// looseName is a pattern of a name in which dashes and underscores count little.
func looseName(name string) string {
	return strings.NewReplacer("-", "[-_]?", "_", "[-_]?").Replace(regexp.QuoteMeta(name))
}

func isProse(file string) bool {
	return slices.Contains([]string{".md", ".rst", ".adoc"}, path.Ext(file))
}

// target checks that a program such as make has a target or a script.
func (a *audit) target(c Claim, all []TextLine) finding {
	name := regexp.QuoteMeta(c.Name)
	rule := regexp.MustCompile(`^\s*(?:[\w.-]+\s+)*` + name + `(?:\s+[\w.-]+)*\s*:|^` + name + `\b`)
	script := regexp.MustCompile(`["']?` + name + `["']?\s*[:=]`)
	for _, l := range all {
		if isMakefile(l.File) && rule.MatchString(l.Line) || path.Ext(l.File) != ".md" && script.MatchString(l.Line) {
			return holds
		}
	}
	return unchecked("nothing has a target %s", code(c.Name))
}

// setting checks that something has a value.
func (a *audit) setting(c Claim) finding {
	all, known := a.lines(c.Name, c.Path)
	if !known && a.facts.Compared == Met {
		return finding{}
	} else if !known {
		return unchecked("nobody looked")
	}
	values, _ := a.lines(c.Value, c.Path)
	assign := regexp.MustCompile(`(?i)` + regexp.QuoteMeta(c.Name) + "[\"'`\\])]*(?:\\s*:?\\s*[A-Za-z]\\w*)?" +
		`\s*(?::=|=>|\?=|[:=,(]|\s)+\s*["']?(-?\d+(?:[._,]\d+)*|true|false|on|off|yes|no|enabled|disabled)\b`)
	var others []string
	for _, l := range all {
		text := program(l)
		if m := assign.FindStringSubmatch(text); m != nil {
			if sameValue(c.Value, m[1]) {
				return holds
			}
			others = append(others, fmt.Sprintf("%s has %s", l.File, m[1]))
		}
	}
	if len(others) > 0 {
		return unchecked("%s", firstThree(others))
	}
	has := func(l TextLine, word string) bool { return hasWord(strings.ToLower(l.Line), strings.ToLower(word)) }
	switch {
	case slices.ContainsFunc(all, func(l TextLine) bool { return has(l, c.Value) }),
		slices.ContainsFunc(values, func(l TextLine) bool { return l.New }):
		return holds
	case len(all) == 0:
		return unchecked("nothing has %s", code(c.Name))
	}
	return unchecked("no line has %s with the value %s", code(c.Name), code(c.Value))
}

// program returns a line without what is prose or a comment.
func program(l TextLine) string {
	text := strings.TrimSpace(l.Line)
	if isProse(l.File) || strings.HasPrefix(text, "#") || strings.HasPrefix(text, ";") || strings.HasPrefix(text, "--") {
		return ""
	}
	text, _, _ = strings.Cut(testcode.Code(l.File, text), " // ")
	return text
}

// units are what a number may be multiplied with in code: seconds for minutes, bytes for kilobytes.
var units = []float64{1, 60, 3600, 86400, 1000, 60_000, 3600_000, 1e6, 1e9, 1024, 1 << 20, 1 << 30, 0.01, 100}

// sameValue reports whether a value in a report is that in code.
func sameValue(said, found string) bool {
	plain := func(s string) string {
		s = strings.ToLower(s)
		switch s {
		case "on", "yes", "enabled":
			return "true"
		case "off", "no", "disabled":
			return "false"
		}
		return strings.NewReplacer("_", "", ",", "").Replace(s)
	}
	said, found = plain(said), plain(found)
	if said == found || strings.TrimPrefix(said, "v") == found {
		return true
	}
	x, err := strconv.ParseFloat(said, 64)
	y, errY := strconv.ParseFloat(found, 64)
	return err == nil && errY == nil && x != 0 &&
		slices.ContainsFunc(units, func(u float64) bool { return math.Abs(x*u-y) < 1e-9*math.Abs(y) })
}

// mode checks that a file may be executed.
func (a *audit) mode(c Claim) finding {
	switch f := a.fileFact(c.Path); {
	case f == nil || f.State != Exists:
		return unchecked("the file was not seen")
	case f.Executable == NotMet:
		return contradicted(shouldFix, fileUnchanged, f.Clean, "it cannot be executed",
			"make it executable, or correct the report")
	case f.Executable != Met:
		return unchecked("whether it can be executed is not known")
	}
	return holds
}
