package gitwitness

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
	"github.com/sidecoach/sidecoach/coach/verify/internal/project"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

func (l *look) file(claimed string) verify.FileFact {
	f := verify.FileFact{Path: claimed, Changed: verify.Unverified, Committed: verify.Unverified}
	l.find(&f)
	if f.State != verify.Exists && f.State != verify.Missing {
		return f
	}
	l.compared(&f, f.Clean)
	if f.State == verify.Exists {
		target, _ := l.relative(l.full(f.Clean))
		if target != f.Clean && f.Changed != verify.Met {
			l.compared(&f, target)
		}
		if f.Changed == verify.Met {
			l.slight(&f)
		}
	}
	return f
}

// slight notes that a new file is empty, or that a change is one of blanks or comments.
func (l *look) slight(f *verify.FileFact) {
	d, base := l.changed[f.Clean], path.Base(f.Clean)
	if d == nil || base[0] == '.' || base == "__init__.py" || base == "py.typed" {
		return
	}
	bare := func(text string) string { return lex("Blanks").Replace(strings.TrimSpace(text), "\n") }
	switch {
	case d.unread || d.link:
	case d.now == "":
		f.Slight = "it is empty"
	case f.Kind == verify.Modified && d.old != d.now && bare(d.old) == bare(d.now):
		f.Slight = "only blanks and empty lines changed"
	case f.Kind == verify.Modified && d.onlyComments():
		f.Slight, f.Comments = "only comments changed", true
	}
}

// onlyComments reports whether a program changed, but not what it does.
func (d *difference) onlyComments() bool {
	return !d.unread && testcode.IsCode(d.Path) && d.objects[0] != d.objects[1] &&
		testcode.Code(d.Path, d.old) == testcode.Code(d.Path, d.now)
}

// find finds a claimed file: from the folder of the witness, from the top, or absolute. If there is no file of that
// name, one that differs in letter case alone is meant, then the only one whose path ends with it.
func (l *look) find(f *verify.FileFact) {
	claimed := strings.TrimSpace(f.Path)
	if claimed == "" || strings.ContainsRune(claimed, 0) {
		f.Why = "it is not a path"
		return
	}
	slashed := strings.TrimPrefix(strings.ReplaceAll(claimed, `\`, "/"), "@")
	claimed = path.Clean(lex("InFile").Replace(slashed, ""))
	outside := func(name string) { f.Clean, f.State, f.Why = name, verify.Outside, "it is not in the repository" }
	names := []string{path.Join(l.sub, claimed), claimed}
	if full := filepath.FromSlash(claimed); filepath.IsAbs(full) {
		rel, inside := l.relative(full)
		if names = []string{rel}; !inside {
			names = nil
			outside(claimed)
			if _, err := os.Lstat(full); err == nil {
				return
			}
		}
	}
	for _, name := range names {
		if top, _, _ := strings.Cut(name, "/"); slices.Contains([]string{"..", "~", ".git"}, top) {
			outside(name)
		} else if l.there(f, name) {
			return
		}
	}
	tail := "/" + strings.TrimPrefix(claimed, "/")
	switch {
	case l.alike(f, l.paths, names, tail), l.alike(f, l.old, names, tail), f.State != "":
	case strings.ContainsFunc(claimed, func(r rune) bool { return unicode.Is(unicode.Mn, r) }):
		f.Clean, f.Why = names[0], "its name has letters that can be written in two ways"
	default:
		f.Clean, f.State = names[0], verify.Missing
	}
}

// relative returns an absolute path from the top of the tree. The tree may have been named by way of a link: the
// longest part that is there is what counts.
func (r *repository) relative(full string) (string, bool) {
	real, err := filepath.EvalSymlinks(full)
	for at, rest := full, ""; err != nil && at != filepath.Dir(at); real = filepath.Join(real, rest) {
		rest, at = filepath.Join(filepath.Base(at), rest), filepath.Dir(at)
		real, err = filepath.EvalSymlinks(at)
	}
	rel, err := filepath.Rel(r.root, real)
	return filepath.ToSlash(rel), err == nil && (rel == "." || filepath.IsLocal(rel))
}

// there notes the file, folder or link of exactly this name, if there is one.
func (l *look) there(f *verify.FileFact, name string) bool {
	full := l.full(name)
	info, err := os.Lstat(full)
	if err != nil {
		return false
	}
	f.Clean, f.State, f.Why = name, verify.Exists, ""
	rel, inside := l.relative(full)
	_, err = os.Stat(full)
	below := func(p string) bool { return strings.HasPrefix(p, name+"/") }
	known := func(p string) bool { return p == name || p == rel || rel == "." || strings.HasPrefix(p, rel+"/") }
	switch {
	case !inside:
		f.State, f.Why = verify.Outside, "it is a symbolic link that leads out of the repository"
	case err != nil:
		f.State, f.Why = verify.Missing, "it is a symbolic link that leads nowhere"
	case info.IsDir() && slices.ContainsFunc(l.old, below) && !slices.ContainsFunc(l.paths, below):
		f.State = verify.Missing // what is left of it is empty, or ignored
	case !slices.ContainsFunc(l.paths, known) && !slices.ContainsFunc(l.old, known):
		f.State = verify.Ignored
	}
	return true
}

// alike notes the only file that one of the names, or the end of a path, can mean.
func (l *look) alike(f *verify.FileFact, list, names []string, tail string) bool {
	ways := []func(p string) bool{
		func(p string) bool {
			return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(p, name) })
		},
		func(p string) bool { return strings.HasSuffix(p, tail) },
		func(p string) bool { return strings.HasSuffix(tail, "/"+p) },
		func(p string) bool { // a README is a README.md
			name, ok := strings.CutPrefix("/"+p, tail+".")
			return ok && !strings.Contains(name, "/") && !strings.Contains(path.Base(tail), ".")
		},
	}
	for _, fits := range ways {
		i := slices.IndexFunc(list, fits)
		if i < 0 {
			continue
		}
		if slices.ContainsFunc(list[i+1:], fits) { // of several, one that changed is meant
			i = slices.IndexFunc(list, func(p string) bool { return l.changed[p] != nil && fits(p) })
			if i < 0 {
				f.Why = "more than one file has this name, and none of them changed"
				return true
			}
		}
		if !l.there(f, list[i]) {
			f.Clean, f.State = list[i], verify.Missing // it was there
		}
		f.Why = "it is at " + list[i]
		return true
	}
	return false
}

// compared notes whether a file, or something in a folder, differs.
func (l *look) compared(f *verify.FileFact, name string) {
	inside := func(p string) bool { return p == name || name == "." || strings.HasPrefix(p, name+"/") }
	f.Known = slices.ContainsFunc(l.old, inside)
	change := l.changed[name]
	if change == nil && slices.ContainsFunc(l.list, func(d *difference) bool { return inside(d.Path) && d.Why == "" }) {
		change = &difference{Change: verify.Change{Kind: verify.Modified}}
		if f.State == verify.Missing {
			change.Kind = verify.Removed
		}
	}
	committed := slices.ContainsFunc(l.commits, inside)
	if l.base.name != "" {
		f.Committed = met(committed)
	}
	switch {
	case change != nil && change.Why != "":
		f.Why = change.Why
	case change != nil:
		f.Changed, f.Kind = verify.Met, change.Kind
	case committed: // changed and changed back
		f.Why = "commits have changed it, and it is as it was at the baseline"
	case slices.Contains(l.earlier, name):
		f.Why = "it changed before the last prompt, and not since"
	case l.base.name != "":
		f.Changed = verify.NotMet
	case f.State == verify.Exists:
		f.Why = "without a baseline it is not known whether a commit has changed it"
	}
}

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
	case lex("Workflow").Match(c.Path) && !added:
		return "is a workflow of CI" + was
	case lex("ConfigName").Match(name), lex("Cargo").Match(c.Path):
		return "decides how tests run" + was
	case slices.Contains(scripts, c.Path):
		return "is run by the command" + was
	case added && python && path.Dir(module) == l.sub && lex("Modules").Has(path.Base(module)):
		return "takes the place of a module by which tests run" + was
	case python && !slices.Equal(lex("Loader").Find(old), lex("Loader").Find(now)):
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
		if lex("Programs").Has(e.Name()) {
			why = "takes the place of the program " + e.Name()
		} else if e.Type().IsRegular() {
			text, err := os.ReadFile(l.full(name))
			if err == nil && !lex("StartsPackage").Match(string(text)) {
				why = "is a program that no package of node_modules brought"
			}
		}
		l.suspected(name, why)
	}
}

func (l *look) suspected(name, why string) {
	if why != "" {
		l.facts.Suspects = append(l.facts.Suspects, verify.Suspect{Path: name, Why: why})
	}
}

// takesOver reports whether a Go file decides, before any test runs, which tests run and what they report. It does so
// by a TestMain, by flags of the test program, or where the program starts: in init, or in the value of a variable.
func takesOver(text string, test bool) bool {
	if lex("SetsFlag").Match(text) {
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
		return starts && (lex("Seizes").Match(text) || test && lex("Exits").Match(text))
	})
}
