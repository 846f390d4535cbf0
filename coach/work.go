package coach

import (
	"cmp"
	_ "embed"
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
// once. Without one, a linter or a type checker counts in prose, too, if the output claims its result or the request
// names it.
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
	words map[string]bool // programs whose name alone, in prose, is a check
}

var fileTypes = sync.OnceValue(func() fileTable {
	t := fileTable{map[string]string{}, map[string][]string{}, map[string]bool{}}
	for line := range strings.Lines(fileTableText) {
		kind, names, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if tools, ok := strings.CutPrefix(kind, "tool "); ok {
			for _, tool := range strings.Fields(tools) {
				t.tools[tool] = strings.Fields(names)
			}
			continue
		}
		for _, name := range strings.Fields(names) {
			if kind == "word" {
				t.words[name] = true
			} else {
				t.kinds[name] = kind
			}
		}
	}
	return t
})

var (
	fileNames  = compiled(`[\w@.-]*[\w-](?:[/\\][\w@.-]+)*`)
	testNames  = compiled(`(?:^|[._/-])(?:tests?|specs?|e2e)(?:[._/-]|$)`)
	fenceNames = compiled("(?m)^[ \t]*(?:```|~~~)(\\w+)")
	effects    = compiled(`^(?:\w+[_-])?(?:deploy|publish|release|version_?bump|bump|migrate|uninstall|delete|cleanup|clear|drop|wipe|reset|seed)` +
		`(?:[_.-]|$)`)
	links     = compiled(`^[~/.]\S* (?:->|→) [~/.]\S*$|^ln -s`)
	removals  = compiled(`(?i)^\W*(?:(?:i|i've|i have) )?(?:deleted|removed) |^\W*(?:已|已经|已經)?(?:删除|刪除|移除)`)
	documents = compiled(`(?i)\b(?:updated|added|rewrote|wrote|edited|revised|changed|documented|created|put|noted)\b.{0,60}` +
		`\b(?:docs?|documentation|readme|prd|spec|rules|changelog)\b`)
	styles      = compiled(`^[.#][a-z][\w-]*$|^\d+(?:\.\d+)?(?:px|rem|em|vh|vw)$|^[a-z-]+: ?[\w#.%-]+;?$`)
	diagnostics = compiled(`"owner": ?"typescript"|\berror TS\d{4}\b|\bTypeScript (?:error|warning)`)
	identifiers = compiled(`^\w*[a-z]\w*[A-Z]\w*$|^\w+_\w+$|^[\w.:]+\(\S*\)$`)
)

// changes is what was changed, as far as it can be seen: the kinds of the files, or the ask that fits what the text
// shows beside files.
type changes struct {
	count      map[string]int  // different files by the kind of work
	extensions map[string]bool // of code and interface
	shown      string          // the ask that fits inline code, if no file is known
	code       bool            // the text shows code or names in code
	docs       bool            // the host saw that only documents were edited
	calls      bool            // the text names functions
	first      string          // the kind of the first file
	types      bool            // it is about what a TypeScript compiler reported
	links      bool            // the text shows links from path to path
	removal    bool            // the text begins with a removal
	document   bool            // the text begins with the edit of a document
}

// changed returns what the host saw edited, or else what the output names and shows, or else the request.
func changed(in Context) changes {
	c := changes{count: map[string]int{}, extensions: map[string]bool{}, docs: in.Work.Edited == classify.EditedDocs}
	seen := make(map[string]bool)
	add := func(file string, fence bool) {
		kind, base := kindOfFile(file)
		if seen[base] || kind == "-" || fence && kind != "code" && kind != "interface" && kind != "compile" {
			return
		}
		seen[base] = true
		c.count[kind]++
		c.first = cmp.Or(c.first, kind)
		if slices.Contains([]string{"code", "compile", "script", "other", "tests", "interface"}, kind) && !fence {
			c.extensions[strings.ToLower(path.Ext(base))] = true
		}
	}
	for _, file := range in.Work.Files {
		add(file, false)
	}
	start := in.Text[:min(len(in.Text), 200)]
	c.types = diagnostics().MatchString(start + " " + in.Request[:min(len(in.Request), maxRead)])
	c.removal, c.document = removals().MatchString(start), documents().MatchString(start)
	for i, text := range []string{in.Text, in.Request} {
		if len(c.count) > 0 || c.docs || plaintext.IsOurs(text) {
			break
		}
		text = text[max(0, len(text)-maxRead):]
		for _, file := range fileNames().FindAllString(text, -1) {
			add(file, false)
		}
		for _, m := range fenceNames().FindAllStringSubmatch(text, -1) {
			add("fence."+m[1], true)
		}
		if i > 0 {
			delete(c.count, "config") // that the human names one says nothing about the change
		}
		spans := commandsIn(text)
		style := slices.ContainsFunc(spans, func(s string) bool {
			return styles().MatchString(s) && !regexp.MustCompile(`[\pL\d/]`+regexp.QuoteMeta(s)).MatchString(text)
		})
		c.code = slices.ContainsFunc(spans, identifiers().MatchString) || strings.Contains(text, "<<<<<<< SEARCH")
		c.calls = slices.ContainsFunc(spans, func(s string) bool { return strings.HasSuffix(s, "()") })
		c.links = slices.ContainsFunc(spans, links().MatchString)
		switch {
		case len(c.count) > 0:
		case style:
			c.shown = "interface"
		case c.code:
			c.shown = "code"
		}
		if c.shown != "" {
			break
		}
	}
	return c
}

// fitting returns the ask that fits what was changed.
func (c changes) fitting() string {
	n := c.count
	code := n["code"] + n["script"] + n["compile"] + n["other"]
	switch {
	case c.shown != "":
		return c.shown
	case (c.links || c.removal) && code+n["interface"] == 0:
		return "any"
	case c.document && code+n["interface"]+n["tests"]+n["build"]+n["config"]+n["data"] == 0:
		return "docs"
	case n["tests"] > 0 && code+n["interface"] == 0:
		return "tests"
	case c.types && (c.extensions[".ts"] || c.extensions[".tsx"]):
		return "types"
	case n["interface"] > 0 && n["interface"] >= code && (c.first != "script" || code > n["script"]):
		return "interface"
	case n["compile"] > 0 && n["compile"] >= code-n["compile"]:
		return "compile"
	case 2*n["script"] > code:
		return "script"
	case n["code"] > 0:
		return "code"
	case code > 0:
		return "any"
	case n["build"] > 0:
		return "build"
	case n["config"]+n["data"] > 0 && c.calls:
		return "code"
	case n["config"] > 0:
		return "config"
	case n["data"] > 0:
		return "any"
	case n["docs"] > 0 && !c.code, c.docs:
		return "docs"
	}
	return "any"
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
	case kind == "code" && testNames().MatchString(strings.ToLower(file)):
		kind = "tests"
	case kind == "code" && effects().MatchString(name):
		kind = "script"
	}
	return kind, base
}
