package gitwitness

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
	"github.com/sidecoach/sidecoach/coach/verify/internal/project"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

// suspects notes changed files that can decide what a run of tests shows.
func (l *look) suspects() {
	var scripts []string
	for _, command := range l.q.Commands {
		for _, name := range project.Files(os.DirFS(l.full(l.sub)), command) {
			scripts = append(scripts, path.Join(l.sub, name))
		}
	}
	for _, d := range l.list {
		why := l.suspect(d, scripts)
		if why != "" && d.Why != "" {
			why += "; " + d.Why
		}
		l.suspected(d.Path, why)
		l.facts.Programs = l.facts.Programs || testcode.IsCode(d.Path) && !testcode.IsTest(d.Path) && !d.onlyComments()
	}
	l.shadowed()
}

// suspect says what a changed file decides, and how it changed, or "".
func (l *look) suspect(c *difference, scripts []string) string {
	name, was, old, now := path.Base(c.Path), ", and was "+string(c.Kind), c.old, c.now
	python, added := path.Ext(name) == ".py", c.Kind == verify.Added
	module := strings.TrimSuffix(strings.TrimSuffix(c.Path, ".py"), "/__init__")
	switch {
	case lex().Workflow.Match(c.Path) && !added:
		return "is a workflow of CI" + was
	case lex().ConfigName.Match(name), lex().Cargo.Match(c.Path):
		return "decides how tests run" + was
	case slices.Contains(scripts, c.Path):
		return "is run by the command" + was
	case added && python && path.Dir(module) == l.sub && slices.Contains(lex().Modules, path.Base(module)):
		return "takes the place of a module by which tests run" + was
	case python && !slices.Equal(lex().Loader.Find(old), lex().Loader.Find(now)):
		return "decides which tests are loaded" + was
	case (name == "go.mod" || name == "go.work") && l.leavesOut(c.Change, old, now):
		return "decides which packages are tested" + was
	case strings.HasSuffix(name, "_test.go") && (c.unread || takesOver(now, true) || takesOver(old, true)):
		return "decides which tests run and what they say" + was
	case path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") && takesOver(now, false):
		return "ends the program, or changes its arguments, before tests run" + was
	}
	if testcode.IsCode(name) && !testcode.IsTest(c.Path) {
		if line := testcode.KnowsTests(old, now); line != "" {
			return "behaves differently under test (" + plaintext.MaskedLine(line, 60) + ")"
		}
	}
	for _, command := range append(l.q.Commands, nil) {
		before, kind := project.Settings(name, old, command)
		after, _ := project.Settings(name, now, command)
		if kind && before != after && !(added && l.base.name != "" && after == "") {
			return "decides how tests run" + was
		}
	}
	return ""
}

// leavesOut reports whether a change of a go.mod or go.work takes tests out of what "./..." means: a new module
// around tests that were there, folders that are ignored, another workspace.
func (l *look) leavesOut(c verify.Change, old, now string) bool {
	section := func(word, text string) []string {
		found := lazy.New(`(?ms)^`+word+`\b(?:\s*\(.*?^\)|[^\n]*)`).Regexp().FindAllString(text, -1)
		return strings.Fields(strings.Join(found, "\n"))
	}
	lacks := func(some, all []string) bool {
		return slices.ContainsFunc(all, func(s string) bool { return !slices.Contains(some, s) })
	}
	if path.Base(c.Path) == "go.work" {
		return c.Kind != verify.Modified || lacks(section("use", now), section("use", old))
	}
	around := func(p string) bool {
		return strings.HasPrefix(p, path.Dir(c.Path)+"/") && strings.HasSuffix(p, "_test.go")
	}
	return lacks(section("ignore", old), section("ignore", now)) ||
		c.Kind == verify.Added && slices.ContainsFunc(l.old, around)
}

// shadowed notes programs in node_modules that npm puts before those of the system. Npm makes links there, or small
// scripts that start a package.
func (l *look) shadowed() {
	folder := path.Join(l.sub, "node_modules/.bin")
	entries, _ := os.ReadDir(l.full(folder))
	for _, e := range entries {
		name, why := path.Join(folder, e.Name()), ""
		if slices.Contains(lex().Programs, e.Name()) {
			why = "takes the place of the program " + e.Name()
		} else if e.Type().IsRegular() {
			text, err := os.ReadFile(l.full(name))
			if err == nil && !lex().StartsPackage.Match(string(text)) {
				why = "is a program that no package of node_modules brought"
			}
		}
		l.suspected(name, why)
	}
}

// suspected adds a suspect, if there is a reason.
func (l *look) suspected(name, why string) {
	if why != "" {
		l.facts.Suspects = append(l.facts.Suspects, verify.Suspect{Path: name, Why: why})
	}
}

// takesOver reports whether a Go file decides, before any test runs, which tests run and what they report. It does so
// by a TestMain, by flags of the test program, or where the program starts: in init, or in the value of a variable.
func takesOver(text string, test bool) bool {
	if lex().SetsFlag.Match(text) {
		return true
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return false // it does not build
	}
	return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
		starts := false
		switch d := d.(type) {
		case *ast.FuncDecl:
			if test && testcode.IsGoTestMain(d) {
				return true
			}
			starts = d.Recv == nil && d.Name.Name == "init"
		case *ast.GenDecl:
			starts = d.Tok == token.VAR
		}
		text := text[d.Pos()-1 : d.End()-1]
		return starts && (lex().Seizes.Match(text) || test && lex().Exits.Match(text))
	})
}
