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
		kind, ok := knownCheck(command)
		c := check{command, kind}
		if ok && kind != "" && !slices.Contains(list, c) && len(command) <= maxCommand {
			list = append(list, c)
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
		if fileTypes().words[word.text] {
			add(word.text)
		}
	}
	return list
}

//go:embed files.txt
var fileTableText string

// fileTable is files.txt: the kind of work for an extension or a base name, in lower case, and the extensions that a
// program can check.
type fileTable struct {
	kinds map[string]string
	tools map[string][]string
	words map[string]bool           // programs whose name alone, in prose, is a check
	tests map[string]string         // the command that runs all tests of files with an extension
	says  map[string]*regexp.Regexp // what a text has in it that is about files of a kind without naming one
}

var fileTypes = sync.OnceValue(func() fileTable {
	t := fileTable{map[string]string{}, map[string][]string{}, map[string]bool{}, map[string]string{},
		map[string]*regexp.Regexp{}}
	for line := range strings.Lines(fileTableText) {
		head, text, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		kind, of, _ := strings.Cut(head, " ")
		switch list := strings.Fields(text); kind {
		case "says":
			t.says[of] = regexp.MustCompile(strings.TrimSpace(text))
		case "tests":
			t.tests[of] = strings.TrimSpace(text)
		case "tool":
			for tool := range strings.FieldsSeq(of) {
				t.tools[tool] = list
			}
		case "word":
			for _, name := range list {
				t.words[name] = true
			}
		default:
			for _, name := range list {
				t.kinds[name] = kind
			}
		}
	}
	return t
})

var (
	fileNames = compiled(`[\w@.-]*[\w-](?:[/\\][\w@.-]+)*`)
	testNames = compiled(`(?:^|[._/-])(?:tests?|specs?|e2e)(?:[._/-]|$)`)
	fences    = compiled("^(```+|~~~+)(\\w*)")
	cited     = compiled("^```+\\d+:\\d+:(\\S+)")
	effects   = compiled(`^(?:\w+[_-])?(?:deploy|publish|release|version_?bump|bump|migrate|uninstall|delete|cleanup|` +
		`clear|drop|wipe|reset|seed)(?:db|data|database|s)?(?:[_.-]|$)`)
	styles = compiled(`^[.#][a-z][\w-]*(?:::?[a-z-]+)*$|^\d+(?:\.\d+)?(?:px|rem|em|vh|vw)$|^(?:color|background|margin|padding|border|` +
		`width|height|display|position|flex|grid|gap|z-index|opacity|overflow|outline|transition|transform|font|text|max|min)` +
		`[a-z-]*: ?[\w#.%-]+;?$`)
	diagnostics = compiled(`"owner": ?"typescript"|\berror TS\d{4}\b|\bTypeScript (?:error|warning)`)
	identifiers = compiled(`^\w*[a-z]\w*[A-Z]\w*$|^\w+_\w+$|^[\w.:]+\(\S*\)$`)
)

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
	al         bool            // the text is about code for a compiler without naming a file
	document   bool            // the request is for a document
	docs       bool            // the text begins with an edit of a document, or the host saw no other
}

const claimedWeight = 3 // of a file in a line that claims something

// changed returns what the host saw edited, or else what the output names and shows, or else the request.
func changed(r classify.Result, in Context) changes {
	c := changes{weight: map[string]int{}, extensions: map[string]bool{}, docs: in.Work.Edited == classify.EditedDocs}
	for _, file := range in.Work.Files {
		c.add(file, 1, map[string]bool{})
	}
	start := in.Text[:min(len(in.Text), 200)]
	c.types = diagnostics().MatchString(start + " " + in.Request[:min(len(in.Request), maxRead)])
	if c.seen = len(c.weight) > 0; c.seen || c.docs {
		return c
	}
	end := in.Text[max(0, len(in.Text)-maxRead):]
	says := func(kind, text string) bool { return fileTypes().says[kind].MatchString(text) }
	c.app, c.al, c.docs = says("app", end), says("compile", end), says("docs", start)
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
	if slices.Contains([]string{"code", "compile", "script", "tests", "interface"}, kind) {
		c.extensions[strings.ToLower(path.Ext(base))] = true
	}
}

// read counts the files that a text names outside of fences, and the languages of its fences.
func (c *changes) read(text string, signals []classify.Signal) {
	seen := map[string]bool{}
	fence, at, next := "", 0, max(0, len(text)-maxRead)
	for line := range strings.Lines(text[next:]) {
		at, next = next, next+len(line)
		trimmed := strings.TrimSpace(line)
		if mark := fences().FindStringSubmatch(trimmed); mark != nil && (fence == "" || strings.HasPrefix(trimmed, fence)) {
			if fence != "" {
				fence = ""
				continue
			}
			fence = mark[1]
			switch kind, _ := kindOfFile("fence." + mark[2]); kind {
			case "code", "interface", "compile":
				if !seen[mark[2]] {
					seen[mark[2]] = true
					c.weight[kind]++
					c.first = cmp.Or(c.first, kind)
				}
			}
			if file := cited().FindStringSubmatch(trimmed); file != nil {
				c.add(file[1], claimedWeight, seen)
			}
			continue
		}
		if fence != "" && !strings.HasPrefix(trimmed, "//") { // "// src/main.go" names the file of a fence
			continue
		}
		weight := 1
		if slices.ContainsFunc(signals, func(s classify.Signal) bool {
			return s.Kind == classify.SignalClaim && at <= s.Start && s.Start < next
		}) {
			weight = claimedWeight
		}
		for _, file := range fileNames().FindAllString(line, -1) {
			c.add(file, weight, seen)
		}
	}
	spans, end := commandsIn(text), text[max(0, len(text)-maxRead):]
	c.code = slices.ContainsFunc(spans, identifiers().MatchString) || strings.Contains(text, "<<<<<<< SEARCH") ||
		strings.Contains(text, "```diff") && c.weight["docs"] == 0
	c.styles = len(c.weight) == 0 && slices.ContainsFunc(spans, func(s string) bool {
		return styles().MatchString(s) && !regexp.MustCompile(`[\pL\d/]`+regexp.QuoteMeta(s)).MatchString(end)
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
	case c.al && len(n) == 0 && !c.docs:
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
	case n["script"] > 0 && n["script"] == code && (settings == 0 || c.first == "script"):
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
	listing := regexp.MustCompile("(?m)^\\s*```+(?:[b-ceg-z]|d[^i]|a[^d])").MatchString(text)
	return listing && !strings.Contains(text, "<<<<<<< SEARCH") && !strings.Contains(text, "```diff")
}

// own returns the command that checks the changed files, if there is one for all of them: the tests of their one
// language.
func (c changes) own(fitting string) []check {
	if fitting == "tests" || fitting == "any" && len(c.extensions) > 0 {
		if command := fileTypes().tests[strings.Join(slices.Collect(maps.Keys(c.extensions)), " ")]; command != "" {
			return []check{{command, classify.ClaimTests}}
		}
	}
	return nil
}

// fits reports whether a command can check what was changed, as far as it is known.
func (c changes) fits(command string) bool {
	extensions, known := fileTypes().tools[strings.Fields(command)[0]]
	return !known || len(c.extensions) == 0 ||
		slices.ContainsFunc(extensions, func(e string) bool { return c.extensions[e] })
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
	case (kind == "code" || kind == "script") && testNames().MatchString(strings.ToLower(file)):
		kind = "tests"
	case kind == "code" && effects().MatchString(name):
		kind = "script"
	}
	return kind, base
}
