package project

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

// Files returns the files that decide what a command does, in the folder of the command: the scripts that a recipe of
// the Makefile or package.json names, and the scripts that these start by name. Package.json and the Makefile are not
// among them: see [Settings].
func Files(fsys fs.FS, command []string) []string {
	w := walk{fsys: fsys}
	switch script, _ := scriptOf(command); {
	case len(command) == 0:
	case script != "":
		w.lines(scriptLines(scripts(read(fsys, "package.json")), script), 0)
	case runsMake(command):
		w.lines(recipes(parseMake(read(fsys, makefileOf(fsys))), targets(command)), 0)
	default:
		program := programOf(command)
		for _, file := range lex().BuildFiles {
			if name, ok := strings.CutPrefix(file, program+":"); ok {
				w.add(name)
			}
		}
		if slices.Contains(lex().Interpreters, program) || strings.Contains(command[0], "/") {
			w.lines([]string{strings.Join(command, " ")}, 0)
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

// lines adds the scripts that lines of a shell start: a path as the first word, or a file behind an interpreter.
func (w *walk) lines(lines []string, depth int) {
	text := strings.Join(lines, "\n")
	if depth > 0 {
		text = lex().Substituted.Replace(text, " ") // a script compares what it prints
	}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(";|&()`\n", r) }) {
		words := strings.Fields(strings.NewReplacer(`"`, " ", "'", " ", "@", " ").Replace(part))
		for len(words) > 0 && (strings.Contains(words[0], "=") || slices.Contains(lex().Prefixes, words[0])) {
			words = words[1:]
		}
		if len(words) > 0 && slices.Contains(lex().Interpreters, path.Base(words[0])) {
			words = slices.DeleteFunc(words[1:], func(a string) bool { return strings.HasPrefix(a, "-") })
		} else if len(words) > 0 && !strings.Contains(words[0], "/") {
			words = nil // a program
		}
		if len(words) == 0 {
			continue
		}
		script := path.Clean(words[0])
		text := read(w.fsys, script)
		if path.Ext(script) != ".sh" && len(testcode.Read(script, text)) > 0 {
			continue // it is the tests themselves
		}
		if w.add(script) && depth < 2 {
			w.lines([]string{text}, depth+1)
		}
	}
}

// recipes returns the lines that make runs for targets, and for what they need.
func recipes(m makefile, names []string) []string {
	if len(names) == 0 {
		names = []string{m.first}
	}
	var lines []string
	for i := 0; i < len(names); i++ { // what they need comes behind them
		if r := m.rules[names[i]]; r != nil {
			delete(m.rules, names[i])
			lines = append(lines, r.recipe...)
			names = append(names, r.needs...)
		}
	}
	return lines
}

// scriptLines returns what a script of package.json runs, with the scripts before, behind and in it, each once. It
// takes them out of all.
func scriptLines(all map[string]string, name string) (lines []string) {
	for _, n := range []string{"pre" + name, name, "post" + name} {
		text := all[n]
		if delete(all, n); text != "" {
			lines = append(lines, text)
		}
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(";|&", r) }) {
			if inner, _ := scriptOf(strings.Fields(part)); inner != "" {
				lines = append(lines, scriptLines(all, inner)...)
			}
		}
	}
	return lines
}

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
		maps.DeleteFunc(all, func(key string, _ any) bool { return !slices.Contains(lex().TestKeys, key) })
		if script, _ := scriptOf(command); script != "" {
			all["script"] = scriptLines(scripts(text), script)
		}
		b, _ := json.Marshal(all) // keys in order
		return string(b), true
	case "makefile", "gnumakefile":
		if !runsMake(command) {
			return "", true
		}
		m := parseMake(text)
		return strings.Join(append(recipes(m, targets(command)), m.settings...), "\n"), true
	case "pyproject.toml", "setup.cfg":
		return sections(text, lex().PythonSections), true
	case "cargo.toml":
		return sections(text, lex().CargoSections, "autotests", "build ", "build="), true
	}
	return "", false
}

// sections returns the sections of a file whose headings contain one of the words, and the lines that set one of the
// keys, without comments.
func sections(text string, words []string, keys ...string) string {
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
