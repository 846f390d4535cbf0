package coach

import (
	"cmp"
	_ "embed"
	"path"
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

// namedChecks returns the well-known checks that the texts name in inline code and in fences, each once.
func namedChecks(texts ...string) []check {
	var list []check
	seen := make(map[string]bool)
	for _, text := range texts {
		if plaintext.IsOurs(text) {
			continue
		}
		for _, command := range commandsIn(text) {
			kind, ok := knownCheck(command)
			if ok && kind != "" && !seen[command] && len(command) <= maxCommand {
				seen[command] = true
				list = append(list, check{command, kind})
			}
		}
	}
	return list
}

//go:embed files.txt
var fileKindsText string

// fileKinds is files.txt: the kind of work for an extension or a base name, in lower case.
var fileKinds = sync.OnceValue(func() map[string]string {
	kinds := make(map[string]string)
	for line := range strings.Lines(fileKindsText) {
		if kind, names, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
			for _, name := range strings.Fields(names) {
				kinds[name] = kind
			}
		}
	}
	return kinds
})

var (
	fileNames   = compiled(`[\w@.-]*[\w-](?:[/\\][\w@.-]+)*`)
	testNames   = compiled(`(?:^|[._/-])(?:tests?|specs?|e2e)(?:[._/-]|$)`)
	fenceNames  = compiled("(?m)^[ \t]*(?:```|~~~)(\\w+)")
	styles      = compiled(`^[.#][a-z][\w-]*$|^\d+(?:\.\d+)?(?:px|rem|em|vh|vw)$|^[a-z-]+: ?[\w#.%-]+;?$`)
	identifiers = compiled(`^\w*[a-z]\w*[A-Z]\w*$|^\w+_\w+$|^[\w.:]+\(\S*\)$`)
)

// fitting returns the ask that fits the files: those that the host saw edited, or else what the output
// names and shows, or else the request.
func fitting(in Context) string {
	count := make(map[string]int) // different files by the kind of work
	seen := make(map[string]bool)
	add := func(file string, kinds string) {
		kind, base := kindOfFile(file)
		if !seen[base] && strings.Contains(kinds, kind) {
			seen[base] = true
			count[kind]++
		}
	}
	const all = "code shell tests interface build config docs"
	for _, file := range in.Work.Files {
		add(file, all)
	}
	for _, text := range []string{in.Text, in.Request} {
		if len(count) > 0 || in.Work.Edited == classify.EditedDocs || plaintext.IsOurs(text) {
			break
		}
		text = text[max(0, len(text)-maxRead):]
		for _, file := range fileNames().FindAllString(text, -1) {
			add(file, all)
		}
		for _, m := range fenceNames().FindAllStringSubmatch(text, -1) {
			add("fence."+m[1], "code interface")
		}
		if spans := commandsIn(text); len(count) > 0 {
			break
		} else if slices.ContainsFunc(spans, styles().MatchString) {
			return "interface"
		} else if slices.ContainsFunc(spans, identifiers().MatchString) {
			return "code"
		}
	}
	count["code"] += count["shell"]
	switch {
	case count["tests"] > 0 && count["code"]+count["interface"] == 0:
		return "tests"
	case count["interface"] > 0 && count["interface"] >= count["code"]:
		return "interface"
	case count["code"] > 0:
		return "code"
	case count["build"] > 0:
		return "build"
	case count["config"] > 0:
		return "config"
	case count["docs"] > 0, in.Work.Edited == classify.EditedDocs:
		return "docs"
	}
	return "any"
}

// kindOfFile returns the kind of work that a file stands for, or "-" if the name is not known as a file, and its base
// name.
func kindOfFile(file string) (kind, base string) {
	file = strings.TrimRight(strings.ReplaceAll(file, `\`, "/"), ".")
	base = path.Base(file)
	name := strings.ToLower(base)
	kind = cmp.Or(fileKinds()[name], fileKinds()[path.Ext(name)], "-")
	if kind == "code" && testNames().MatchString(strings.ToLower(file)) {
		kind = "tests"
	}
	return kind, base
}
