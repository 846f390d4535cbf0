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

// lex has the words and patterns of projects.txt, by their names.
var lex = lazy.Load[struct {
	Markers, Makefiles, Manifests, Locks, BuildFiles, Interpreters, Prefixes, Elsewhere, TestKeys, PythonSections,
	CargoSections []string
	RunsScript, RunsKnown, Rule, Include, Substituted, Byproduct *lazy.Pattern
}](projectsText)

// Markers are the files that make a folder a project.
var Markers = lex().Markers

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
		for _, lock := range lex().Locks {
			if program, file, _ := strings.Cut(lock, ":"); exists(fsys, file) {
				return []string{program, "run", "test"}, "package.json"
			}
		}
		return []string{"npm", "test"}, "package.json"
	}
	for _, name := range lex().Makefiles {
		for _, target := range []string{"test", "check"} {
			if parseMake(read(fsys, name)).rules[target] != nil {
				return []string{"make", target}, name
			}
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
	line := strings.Join(append([]string{programOf(command)}, command[1:]...), " ")
	if m := lex().RunsScript.Find(line); m != nil {
		return cmp.Or(m[1], "test"), true
	}
	if m := lex().RunsKnown.Find(line); m != nil {
		return m[1], false
	}
	return "", false
}

func programOf(command []string) string {
	program := strings.ToLower(path.Base(strings.ReplaceAll(command[0], `\`, "/")))
	return strings.TrimSuffix(strings.TrimSuffix(program, ".exe"), ".cmd")
}

func runsMake(command []string) bool {
	return len(command) > 0 && slices.Contains([]string{"make", "gmake"}, programOf(command))
}

// Lacks says what a project does not have that a command needs: a script of package.json, a target of a Makefile. It
// returns "" where the command may well run.
func Lacks(fsys fs.FS, command []string) string {
	if slices.ContainsFunc(command, func(w string) bool {
		return slices.Contains(lex().Elsewhere, w) || strings.HasPrefix(w, "--workspace")
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
	for _, name := range lex().Makefiles {
		if exists(fsys, name) {
			return name
		}
	}
	return ""
}

// targets returns the targets that a call of make names.
func targets(command []string) []string {
	return slices.DeleteFunc(slices.Clone(command[1:]),
		func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") })
}

// makefile is what the rules of a Makefile say.
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
		m.open = m.open || lex().Include.Match(line)
		names, rest, _ := strings.Cut(line, ":")
		if !lex().Rule.Match(line) {
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
func Byproduct(name string) bool { return lex().Byproduct.Match(name) }

// Manifest reports whether a file lists what a project depends on, by its name.
func Manifest(name string) bool { return slices.Contains(lex().Manifests, path.Base(name)) }
