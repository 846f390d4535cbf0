package coach

import (
	"cmp"
	_ "embed"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// maxRead is how many bytes at the end of an output, and of a request, are read for files and commands.
const maxRead = 64 << 10

// check is a command that only checks, and the claim that it backs.
type check struct{ command, kind string }

// namedChecks returns the well-known checks that the output and the request name in inline code and in fences, each
// once. Without one, it returns those that the agent ran earlier in the session. Without one of these, a linter or a
// type checker counts in prose, too, if the output claims its result or the request names it.
func namedChecks(r classify.Result, in Context) []check {
	var list []check
	add := func(command string) {
		if len(command) > maxCommand || slices.ContainsFunc(list, func(c check) bool { return c.command == command }) {
			return
		}
		if kind, ok := knownCheck(command); ok && kind != "" {
			list = append(list, check{command, kind})
		}
	}
	for _, text := range []string{in.Text, in.Request} {
		if !plaintext.IsOurs(text) && !strings.Contains(text, "Bash(") { // rules of permission name commands, too
			for _, command := range commandsIn(text) {
				add(command)
			}
		}
	}
	if len(list) == 0 {
		for _, command := range slices.Backward(in.Work.Ran) {
			add(command)
		}
	}
	if len(list) > 0 {
		return list
	}
	prose := ""
	if !plaintext.IsOurs(in.Request) {
		prose = in.Request[:min(len(in.Request), maxRead)]
	}
	for _, s := range r.Signals {
		if s.Kind == classify.SignalClaim && (s.Name == classify.ClaimLint || s.Name == classify.ClaimTypes) {
			rest, _, _ := strings.Cut(in.Text[s.End:], "\n")
			prose += " " + in.Text[s.Start:s.End] + rest[:min(len(rest), maxClaim)]
		}
	}
	for _, word := range words(folded(prose)) {
		if _, isCheck := fileTypes().lists["word "+word.text]; isCheck {
			add(word.text)
		}
	}
	return list
}

//go:embed files.txt
var fileTableText string

// fileTable is files.txt.
type fileTable struct {
	kinds map[string]string // the kind of work for an extension or a base name, in lower case
	lists map[string]string // what stands on the other lines for each name before the colon: "tool npm", "tests .go"
}

var fileTypes = sync.OnceValue(func() fileTable {
	t := fileTable{make(map[string]string), make(map[string]string)}
	for line := range strings.Lines(fileTableText) {
		head, list, ok := strings.Cut(line, ":")
		kind, names, named := strings.Cut(head, " ")
		switch {
		case !ok || strings.HasPrefix(line, "#"):
		case named:
			for name := range strings.FieldsSeq(names) {
				t.lists[kind+" "+name] = strings.TrimSpace(list)
			}
		default:
			for name := range strings.FieldsSeq(list) {
				t.kinds[name] = kind
			}
		}
	}
	return t
})

// changes is what was changed, as far as it can be seen: the kinds of the files, and what the text shows beside them.
type changes struct {
	weight     map[string]int  // of different files by kind; one in a line that claims something weighs more
	extensions map[string]bool // of code and interface
	first      string          // the kind of the first file
	seen       bool            // the host saw the edits
	styles     bool            // no file is known, and the text shows styles
	code       bool            // the text shows code or names in code
	types      bool            // it is about what a TypeScript compiler reported
	app        bool            // the text is about an app that only its maker's tool opens
	compile    bool            // the text is about code for a compiler without naming a file
	document   bool            // the request is for a document
	docs       bool            // the text begins with an edit of a document, or the host saw no other
}

const (
	claimedWeight = 3  // of a file in a line that claims something
	maxStyles     = 50 // that are looked for in the text
)

// changed returns what the host saw edited, or else what the output names and shows, or else the request.
func changed(r classify.Result, in Context) changes {
	c := changes{weight: map[string]int{}, extensions: map[string]bool{}, docs: in.Work.Edited == classify.EditedDocs}
	for _, file := range in.Work.Files {
		c.add(file, 1, map[string]bool{})
	}
	start := in.Text[:min(len(in.Text), 200)]
	c.types = expression("tsc").MatchString(start + " " + in.Request[:min(len(in.Request), maxRead)])
	if c.seen = len(c.weight) > 0; c.seen || c.docs {
		return c
	}
	end := in.Text[max(0, len(in.Text)-maxRead):]
	says := func(kind, text string) bool { return expression("says-" + kind).MatchString(text) }
	c.app, c.compile, c.docs = says("app", end), says("compile", end), says("docs", start)
	c.document = len(in.Request) < 200 && !plaintext.IsOurs(in.Request) && says("document", in.Request)
	c.read(in.Text, r.Signals)
	if len(c.weight) == 0 && !c.code && !c.styles && !plaintext.IsOurs(in.Request) {
		c.read(in.Request, nil)
		delete(c.weight, "config") // that the human names one says nothing about the change
	}
	return c
}

// add counts a file, unless it was seen or its name is not known as one.
func (c *changes) add(file string, weight int, seen map[string]bool) {
	kind, base := kindOfFile(file)
	if seen[base] || kind == "-" {
		return
	}
	seen[base] = true
	c.weight[kind] += weight
	c.first = cmp.Or(c.first, kind)
	extension := strings.ToLower(path.Ext(base)) // a Makefile has none
	if extension != "" && slices.Contains([]string{"code", "compile", "script", "tests", "interface"}, kind) {
		c.extensions[extension] = true
	}
}

// read counts the files that a text names outside of fences, and the languages of its fences.
func (c *changes) read(text string, signals []classify.Signal) {
	seen := map[string]bool{}
	fence, at, next := "", 0, max(0, len(text)-maxRead)
	for line := range strings.Lines(text[next:]) {
		at, next = next, next+len(line)
		trimmed := strings.TrimSpace(line)
		mark := expression("fence").FindStringSubmatch(trimmed)
		switch {
		case mark != nil && fence == "":
			fence = mark[1]
			kind, _ := kindOfFile("fence." + mark[2])
			if slices.Contains([]string{"code", "interface", "compile"}, kind) && !seen[mark[2]] {
				seen[mark[2]] = true
				c.weight[kind]++
				c.first = cmp.Or(c.first, kind)
			}
			if file := expression("cited").FindStringSubmatch(trimmed); file != nil {
				c.add(file[1], claimedWeight, seen)
			}
		case mark != nil && strings.HasPrefix(trimmed, fence):
			fence = ""
		case fence == "" || strings.HasPrefix(trimmed, "//"): // "// src/main.go" names the file of a fence
			weight := 1
			if slices.ContainsFunc(signals, func(s classify.Signal) bool {
				return s.Kind == classify.SignalClaim && at <= s.Start && s.Start < next
			}) {
				weight = claimedWeight
			}
			for _, file := range expression("fileName").FindAllString(line, -1) {
				c.add(file, weight, seen)
			}
		}
	}
	spans, end := commandsIn(text), text[max(0, len(text)-maxRead):]
	c.code = slices.ContainsFunc(spans, expression("identifier").MatchString) || strings.Contains(text, "<<<<<<< SEARCH") ||
		strings.Contains(text, "```diff") && c.weight["docs"] == 0
	styles := slices.DeleteFunc(spans, func(s string) bool { return !expression("style").MatchString(s) })
	styles = styles[:min(len(styles), maxStyles)]
	c.styles = len(c.weight) == 0 && slices.ContainsFunc(styles, func(s string) bool {
		return !regexp.MustCompile(`[\pL\d/]` + regexp.QuoteMeta(s)).MatchString(end)
	})
}

// fitting returns the ask that fits what was changed.
func (c changes) fitting() string {
	if c.document {
		return "docs"
	}
	n := c.weight
	code := n["code"] + n["script"] + n["compile"]
	settings := n["build"] + n["config"] + n["data"]
	switch {
	case (n["app"] > 0 || c.app) && !c.docs:
		return "app"
	case c.compile && len(n) == 0 && !c.docs:
		return "compile"
	case c.styles && !c.docs:
		return "interface"
	case c.docs && code+n["interface"]+n["tests"] == 0 && (c.first == "docs" || settings == 0):
		return "docs"
	case n["tests"] > 0 && code+n["interface"] == 0:
		return "tests"
	case c.types && (c.extensions[".ts"] || c.extensions[".tsx"]):
		return "types"
	case n["interface"] > 0 && n["interface"] >= code && (c.first != "script" || code > n["script"]):
		return "interface"
	case n["compile"] > 0 && n["compile"] >= code-n["compile"]:
		return "compile"
	case n["script"] > 0 && n["script"] == code && n["script"] > n["tests"] && (settings == 0 || c.first == "script"):
		return "script"
	case code+n["build"] > 0:
		return "any"
	case settings > 0 && c.seen:
		return "config"
	case n["docs"] > 0 && settings == n["data"] && n["docs"] >= settings && !c.code, c.docs:
		return "docs"
	}
	return "any"
}

// onlyEdits reports whether a text shows edits in a form that another program applies, or is nothing but files with
// their listings: its author may not be able to run a command.
func onlyEdits(text string) bool {
	text = strings.ReplaceAll(text[max(0, len(text)-maxRead):], "\r\n", "\n")
	if strings.Contains(text, "<<<<<<< SEARCH\n") && strings.Contains(text, "\n>>>>>>> REPLACE") {
		return true
	}
	listed, end := false, "" // end is the line that ends the listing at hand
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name := strings.Trim(line, "`*#: ")
		kind, _ := kindOfFile(name)
		switch {
		case end != "":
			if line == end {
				listed, end = true, ""
			}
		case line == "<source>":
			end = "</source>"
		case strings.HasPrefix(line, "```") && len(line) > 3:
			end = "```"
		case line != "" && (kind == "-" || strings.Contains(name, " ")):
			return false
		}
	}
	return listed && end == ""
}

// onlyListing reports whether a text shows code in a fence that names its language, and no change of it.
func onlyListing(text string) bool {
	text = text[max(0, len(text)-maxRead):]
	return expression("listing").MatchString(text) && !strings.Contains(text, "<<<<<<< SEARCH") &&
		!strings.Contains(text, "```diff")
}

// own returns the command that checks the changed files, if there is one for all of them: the tests of their one
// language.
func (c changes) own(fitting string) []check {
	if fitting == "tests" || fitting == "any" && len(c.extensions) > 0 {
		extensions := strings.Join(slices.Collect(maps.Keys(c.extensions)), " ")
		if command := fileTypes().lists["tests "+extensions]; command != "" {
			return []check{{command, classify.ClaimTests}}
		}
	}
	return nil
}

// fits reports whether a command can check what was changed, as far as it is known.
func (c changes) fits(command string) bool {
	command, _ = withoutFolder(command)
	extensions, known := fileTypes().lists["tool "+strings.Fields(command)[0]]
	return !known || len(c.extensions) == 0 ||
		slices.ContainsFunc(strings.Fields(extensions), func(e string) bool { return c.extensions[e] })
}

// kindOfFile returns the kind of work that a file stands for, or "-" if the name is not known as a file, and its base
// name.
func kindOfFile(file string) (kind, base string) {
	file = strings.TrimRight(strings.ReplaceAll(file, `\`, "/"), ".")
	base = path.Base(file)
	name := strings.ToLower(base)
	kind = cmp.Or(fileTypes().kinds[name], fileTypes().kinds[path.Ext(name)], "-")
	switch extension := path.Ext(base); {
	case extension != strings.ToLower(extension) && extension != strings.ToUpper(extension): // System.Text.Json
		return "-", base
	case (kind == "code" || kind == "script") && expression("testFile").MatchString(strings.ToLower(file)):
		kind = "tests"
	case kind == "code" && expression("effectFile").MatchString(name):
		kind = "script"
	}
	return kind, base
}
