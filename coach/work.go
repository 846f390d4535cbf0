package coach

import (
	_ "embed"
	"fmt"
	"path"
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
	fileNames  = compiled(`[\w@.-]*[\w-](?:[/\\][\w@.-]+)*`)
	testNames  = compiled(`(?:^|[._/-])(?:tests?|specs?|e2e)(?:[._/-]|$)`)
	fenceNames = compiled("(?m)^[ \t]*(?:```|~~~)(\\w+)")
)

// fitting returns the ask that fits the files: those that the host saw edited, or those that the output names.
func fitting(in Context) string {
	text := in.Text[max(0, len(in.Text)-maxRead):]
	files := in.Work.Files
	if len(files) == 0 && in.Work.Edited == classify.EditedDocs {
		return "docs"
	}
	if len(files) == 0 {
		files = fileNames().FindAllString(text, -1)
	}
	count := countKinds(files)
	if len(count) == 0 {
		var fences []string
		for i, m := range fenceNames().FindAllStringSubmatch(text, -1) {
			if name := strings.ToLower(m[1]); name != "sh" && name != "bash" && name != "powershell" {
				fences = append(fences, fmt.Sprintf("%d.%s", i, name))
			}
		}
		count = countKinds(fences)
	}
	switch {
	case count["tests"] > 0 && count["code"]+count["interface"] == 0:
		return "tests"
	case count["interface"] > 0 && count["interface"] >= count["code"]:
		return "interface"
	case count["code"] > 0:
		return "code"
	case count["config"] > 0:
		return "config"
	case count["docs"] > 0:
		return "docs"
	}
	return "any"
}

// countKinds counts different files by the kind of work. Names that are not of files do not count.
func countKinds(files []string) map[string]int {
	count := make(map[string]int)
	seen := make(map[string]bool)
	for _, file := range files {
		file = strings.ToLower(strings.TrimRight(strings.ReplaceAll(file, `\`, "/"), "."))
		base := path.Base(file)
		kind := fileKinds()[base]
		if kind == "" {
			kind = fileKinds()[path.Ext(base)]
		}
		if kind == "" || kind == "-" || seen[base] {
			continue
		}
		seen[base] = true
		if kind == "code" && testNames().MatchString(file) {
			kind = "tests"
		}
		count[kind]++
	}
	return count
}
