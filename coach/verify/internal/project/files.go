package project

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

// buildFiles are the files by which a program runs tests.
var buildFiles = map[string]string{
	"just": "justfile Justfile .justfile", "task": "Taskfile.yml Taskfile.yaml taskfile.yml", "rake": "Rakefile",
	"cmake": "CMakeLists.txt", "ctest": "CMakeLists.txt", "mvn": "pom.xml", "mvnw": "pom.xml mvnw", "sbt": "build.sbt",
	"gradle": "build.gradle build.gradle.kts", "gradlew": "build.gradle build.gradle.kts gradlew",
	"bazel": "BUILD BUILD.bazel", "composer": "composer.json", "tox": "tox.ini", "nox": "noxfile.py",
}

var interpreters = strings.Fields("sh bash dash zsh ksh python python3 node deno bun ruby perl php pwsh . source")

// Files returns the files that decide what a command does, in the folder of the command: the scripts that a recipe of
// the Makefile or package.json names, and the scripts that these start by name. Package.json and the Makefile are not
// among them: see [Settings].
func Files(fsys fs.FS, command []string) []string {
	if len(command) == 0 {
		return nil
	}
	w := walk{fsys: fsys}
	program := programOf(command)
	switch script, _ := scriptOf(command); {
	case script != "":
		for _, line := range scriptLines(scripts(read(fsys, "package.json")), script, 0) {
			w.line(line, 0)
		}
	case program == "make" || program == "gmake":
		name := makefileOf(fsys)
		for _, line := range recipes(parseMake(read(fsys, name)), targets(command)) {
			w.line(line, 0)
		}
	default:
		for _, name := range strings.Fields(buildFiles[program]) {
			w.add(name)
		}
		if slices.Contains(interpreters, program) || strings.Contains(command[0], "/") {
			w.line(strings.Join(command, " "), 0)
		}
	}
	return w.files
}

// walk collects scripts.
type walk struct {
	fsys  fs.FS
	files []string
}

func (w *walk) add(name string) bool {
	name = path.Clean(name)
	if !fs.ValidPath(name) || slices.Contains(w.files, name) || !exists(w.fsys, name) {
		return false
	}
	w.files = append(w.files, name)
	return true
}

// line adds the scripts that a line of a shell starts: a path as the first word, or a file behind an interpreter.
func (w *walk) line(line string, depth int) {
	if depth > 0 {
		line = substituted.Replace(line, " ") // a script compares what it prints
	}
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";|&()`\n", r) }) {
		words := strings.Fields(strings.NewReplacer(`"`, " ", "'", " ", "@", " ").Replace(part))
		prefixes := []string{"-", "exec", "if", "then"}
		for len(words) > 0 && (strings.Contains(words[0], "=") || slices.Contains(prefixes, words[0])) {
			words = words[1:]
		}
		if len(words) == 0 {
			continue
		}
		script := words[0]
		if slices.Contains(interpreters, path.Base(words[0])) {
			i := slices.IndexFunc(words[1:], func(a string) bool { return !strings.HasPrefix(a, "-") })
			if i < 0 {
				continue
			}
			script = words[1+i]
		} else if !strings.Contains(script, "/") {
			continue // a program
		}
		if path.Ext(script) != ".sh" && len(testcode.Read(script, []byte(read(w.fsys, path.Clean(script))))) > 0 {
			continue // it is the tests themselves
		}
		if w.add(script) && depth < 2 {
			for inner := range strings.Lines(read(w.fsys, path.Clean(script))) {
				w.line(inner, depth+1)
			}
		}
	}
}

var substituted = lazy.New("\\$\\([^()]*\\)|`[^`]*`")

// recipes returns the lines that make runs for targets, and for what they need.
func recipes(m makefile, names []string) []string {
	if len(names) == 0 {
		names = []string{m.first}
	}
	var lines []string
	seen := map[string]bool{}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		r := m.rules[name]
		lines = append(lines, r.recipe...)
		names = append(names, r.needs...)
	}
	return lines
}

// scriptLines returns what a script of package.json runs, with the scripts before, behind and in it.
func scriptLines(all map[string]string, name string, depth int) []string {
	var lines []string
	for _, n := range []string{"pre" + name, name, "post" + name} {
		text := all[n]
		if text == "" {
			continue
		}
		lines = append(lines, text)
		if depth > 5 {
			continue
		}
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(";|&", r) }) {
			if words := strings.Fields(part); len(words) > 1 {
				if inner, _ := scriptOf(words); inner != "" && inner != name {
					lines = append(lines, scriptLines(all, inner, depth+1)...)
				}
			}
		}
	}
	return lines
}

// testKeys are the parts of package.json that decide how tests run.
var testKeys = strings.Fields("jest mocha vitest ava nyc tap type")

// Settings returns the part of a file that decides how a command runs tests, in a form that is equal for equal
// settings. The second result says whether the file has settings: package.json, pyproject.toml, setup.cfg, Cargo.toml,
// a Makefile.
func Settings(name, text string, command []string) (string, bool) {
	switch strings.ToLower(path.Base(name)) {
	case "package.json":
		all := map[string]any{}
		if text != "" && json.Unmarshal([]byte(text), &all) != nil || all == nil {
			return text, true
		}
		maps.DeleteFunc(all, func(key string, _ any) bool { return !slices.Contains(testKeys, key) })
		if script, _ := scriptOf(command); script != "" {
			all["script"] = scriptLines(scripts(text), script, 0)
		}
		b, _ := json.Marshal(all) // keys in order
		return string(b), true
	case "makefile", "gnumakefile":
		if len(command) == 0 || programOf(command) != "make" && programOf(command) != "gmake" {
			return "", true
		}
		m := parseMake(text)
		return strings.Join(append(recipes(m, targets(command)), m.settings...), "\n"), true
	case "pyproject.toml", "setup.cfg":
		return sections(text, nil, "pytest", "tox", "nox", "unittest", "hatch.envs", "poe.tasks", "pdm.scripts", "aliases"), true
	case "cargo.toml":
		return sections(text, []string{"autotests", "build ", "build="}, "lib", "[test]", "[bin]", "[bench]", "workspace"), true
	}
	return "", false
}

// sections returns the sections of a file whose headings contain one of the words, and the lines that set one of the
// keys, without comments.
func sections(text string, keys []string, words ...string) string {
	var b strings.Builder
	in := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			in = slices.ContainsFunc(words, func(w string) bool {
				return strings.Contains(line, w) && !strings.Contains(line, "dependencies")
			})
		}
		key := slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(line, k) })
		if key || in && line != "" && !strings.HasPrefix(line, "#") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
