// Package project answers how a project runs its tests: which command it is, whether a script or target exists, and
// which files decide what a command does.
//
// [Find] names the project's own test command, [Lacks] a command that the project does not have, [Files] and
// [Settings] what a command runs by. Nothing is run. Makefiles are read by their shape: functions and included files
// are not followed.
package project

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

//go:embed signs.txt
var signsText string

//go:embed projects.txt
var projectsText string

var lex = lazy.Load(projectsText)

// Markers are the files that make a folder a project.
var Markers = lex("Markers").Words

const maxFile = 1 << 20 // bytes of a file that are read

// read returns the text of a regular file, "" if it cannot be read.
func read(fsys fs.FS, name string) string {
	if info, err := fs.Stat(fsys, name); err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return ""
	}
	text, _ := fs.ReadFile(fsys, name)
	return string(text)
}

func exists(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

// Find returns the command by which a project tests itself, and the file that says so. There is none without a sign of
// tests. A script of the project's own comes before what its language does.
func Find(fsys fs.FS) (command []string, by string) {
	script := scripts(read(fsys, "package.json"))["test"]
	if script != "" && !strings.Contains(script, "no test specified") {
		for _, lock := range lex("Locks").Words {
			if program, file, _ := strings.Cut(lock, ":"); exists(fsys, file) {
				return []string{program, "run", "test"}, "package.json"
			}
		}
		return []string{"npm", "test"}, "package.json"
	}
	name := makefileOf(fsys)
	for _, target := range []string{"test", "check"} {
		if parseMake(read(fsys, name)).rules[target] != nil {
			return []string{"make", target}, name
		}
	}
	for command, files := range lazy.Entries(signsText) {
		for sign := range strings.FieldsSeq(files) {
			name, word, _ := strings.Cut(sign, "=")
			if exists(fsys, name) && strings.Contains(read(fsys, name), word) {
				return strings.Fields(command), name
			}
		}
	}
	return pythonTests(fsys)
}

// pythonTests returns the command for Python tests in a project without settings.
func pythonTests(fsys fs.FS) (command []string, by string) {
	for _, folder := range []string{".", "tests", "test"} {
		names, _ := fs.Glob(fsys, path.Join(folder, "test*.py"))
		for _, name := range names {
			text := read(fsys, name)
			switch {
			case len(testcode.Read(name, text)) == 0:
			case !strings.Contains(text, "unittest"):
				return strings.Fields("python3 -m pytest"), name
			case folder == "." || exists(fsys, path.Join(folder, "__init__.py")):
				return strings.Fields("python3 -m unittest"), name
			default:
				return strings.Fields("python3 -m unittest discover -s " + folder), name
			}
		}
	}
	return nil, ""
}

// scripts returns the scripts of package.json, nil if it cannot be read.
func scripts(text string) map[string]string {
	var p struct{ Scripts map[string]string }
	if json.Unmarshal([]byte(text), &p) != nil {
		return nil
	}
	return p.Scripts
}

// scriptOf returns the name of the script of package.json that a command runs, and whether only package.json can have
// it.
func scriptOf(command []string) (script string, own bool) {
	if len(command) == 0 {
		return "", false
	}
	line := strings.Join(append([]string{Program(command)}, command[1:]...), " ")
	if m := lex("RunsScript").Find(line); m != nil {
		return cmp.Or(m[1], "test"), true
	}
	if m := lex("RunsKnown").Find(line); m != nil {
		return m[1], false
	}
	return "", false
}

// Program returns the program of a command without its folder and its extension.
func Program(command []string) string {
	program := strings.ToLower(path.Base(strings.ReplaceAll(command[0], `\`, "/")))
	return strings.TrimSuffix(strings.TrimSuffix(program, ".exe"), ".cmd")
}

func runsMake(command []string) bool {
	return len(command) > 0 && slices.Contains([]string{"make", "gmake"}, Program(command))
}

// Lacks says what a project does not have that a command needs: a script of package.json, a target of a Makefile. It
// returns "" where the command may well run.
func Lacks(fsys fs.FS, command []string) string {
	if slices.ContainsFunc(command, func(w string) bool {
		return lex("Elsewhere").Has(w) || strings.HasPrefix(w, "--workspace")
	}) {
		return ""
	}
	if script, own := scriptOf(command); own {
		if all := scripts(read(fsys, "package.json")); all != nil && all[script] == "" {
			return "package.json has no script " + script
		}
		return ""
	}
	if name := makefileOf(fsys); name != "" && runsMake(command) {
		m := parseMake(read(fsys, name))
		for _, target := range targets(command) {
			if m.rules[target] == nil && !m.open && !exists(fsys, target) {
				return name + " has no target " + target
			}
		}
	}
	return ""
}

func makefileOf(fsys fs.FS) string {
	for _, name := range lex("Makefiles").Words {
		if exists(fsys, name) {
			return name
		}
	}
	return ""
}

func targets(command []string) []string {
	return slices.DeleteFunc(slices.Clone(command[1:]),
		func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") })
}

type makefile struct {
	rules    map[string]*rule
	first    string
	open     bool     // it includes others or has patterns: there may be more targets
	settings []string // lines beside the rules, such as variables and includes
}

type rule struct{ needs, recipe []string }

func parseMake(text string) makefile {
	m := makefile{rules: map[string]*rule{}}
	var current []*rule
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimRight(line, "\r\n")
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			for _, r := range current {
				r.recipe = append(r.recipe, recipe)
			}
			continue
		}
		m.open = m.open || lex("Include").Match(line)
		names, rest, _ := strings.Cut(line, ":")
		if !lex("Rule").Match(line) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				m.settings = append(m.settings, line)
			}
			continue
		}
		current = nil
		needs, recipe, _ := strings.Cut(strings.TrimLeft(rest, ":"), ";")
		for name := range strings.FieldsSeq(names) {
			m.open = m.open || strings.ContainsAny(name, "%$")
			if strings.HasPrefix(name, ".") && name != "." {
				continue
			}
			r := cmp.Or(m.rules[name], &rule{})
			r.needs = append(r.needs, strings.Fields(needs)...)
			if recipe != "" {
				r.recipe = append(r.recipe, recipe)
			}
			m.rules[name], current, m.first = r, append(current, r), cmp.Or(m.first, name)
		}
	}
	return m
}

// Byproduct reports whether building or testing commonly writes the file: a lock file, a cache, a coverage profile.
func Byproduct(name string) bool { return lex("Byproduct").Match(name) }

// Manifest reports whether a file lists what a project depends on, by its name.
func Manifest(name string) bool { return lex("Manifests").Has(path.Base(name)) }

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
		program := Program(command)
		for _, file := range lex("BuildFiles").Words {
			if name, ok := strings.CutPrefix(file, program+":"); ok {
				w.add(name)
			}
		}
		if lex("Interpreters").Has(program) || strings.Contains(command[0], "/") {
			w.lines([]string{strings.Join(command, " ")}, 0)
		}
	}
	return w.files
}

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
		text = lex("Substituted").Replace(text, " ") // a script compares what it prints
	}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(";|&()`\n", r) }) {
		words := strings.Fields(strings.NewReplacer(`"`, " ", "'", " ", "@", " ").Replace(part))
		for len(words) > 0 && (strings.Contains(words[0], "=") || lex("Prefixes").Has(words[0])) {
			words = words[1:]
		}
		if len(words) > 0 && lex("Interpreters").Has(path.Base(words[0])) {
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
		maps.DeleteFunc(all, func(key string, _ any) bool { return !lex("TestKeys").Has(key) })
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
		return sections(text, lex("PythonSections").Words), true
	case "cargo.toml":
		return sections(text, lex("CargoSections").Words, "autotests", "build ", "build="), true
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
