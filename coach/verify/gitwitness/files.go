package gitwitness

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

// inFile is a line behind a path: "a.go:12", "a.go:12:3", "a.go:12-30", "a.go#L12".
var inFile = lazy.New(`(?::[0-9]+(?:[:-][0-9]+)?|#L[0-9]+(?:-L?[0-9]+)?)$`)

// files notes what is known of the claimed paths.
func (l *look) files(ctx context.Context) {
	for _, claimed := range l.q.Paths {
		f := verify.FileFact{Path: claimed, Changed: verify.Unverified, Committed: verify.Unverified}
		target := l.find(&f)
		if f.State == verify.Exists || f.State == verify.Missing {
			l.changed(&f, f.Clean)
			if target != f.Clean && f.State == verify.Exists && f.Changed != verify.Met {
				l.changed(&f, target)
			}
			l.slight(ctx, &f)
			l.declares(ctx, &f)
		}
		l.facts.Files = append(l.facts.Files, f)
	}
}

// declares notes how many tests a file has.
func (l *look) declares(ctx context.Context, f *verify.FileFact) {
	text := answer{max: maxSource}
	if f.State != verify.Exists || !testcode.IsTest(f.Clean) || !testcode.IsCode(f.Clean) ||
		l.view.mine.stream(ctx, nil, &text, "cat-file", "blob", l.view.tree+":"+f.Clean) != nil || text.over {
		return
	}
	n := 0
	for _, t := range testcode.Read(f.Clean, text.text.Bytes()) {
		f.Rows = f.Rows || t.Rows
		if t.Body != 0 && t.Name != path.Base(f.Clean) {
			n++
		}
	}
	if n > 0 {
		f.Tests = &n
	}
}

// slight notes that a new file is empty, or that a change is one of blanks or comments.
func (l *look) slight(ctx context.Context, f *verify.FileFact) {
	i := slices.IndexFunc(l.list, func(d difference) bool { return d.path == f.Clean })
	if i < 0 || f.Changed != verify.Met || f.State != verify.Exists {
		return
	}
	d := l.list[i]
	texts, err := l.view.texts(ctx, []string{d.old, d.now})
	now, read := texts[d.now]
	bare := func(text []byte) string { return blanks.Replace(strings.TrimSpace(string(text)), "\n") }
	switch base := path.Base(f.Clean); {
	case err != nil || !read || base[0] == '.' || base == "__init__.py" || base == "py.typed":
	case len(now) == 0:
		f.Slight = "it is empty"
	case f.Kind == verify.Modified && !bytes.Equal(texts[d.old], now) && bare(texts[d.old]) == bare(now):
		f.Slight = "only blanks and empty lines changed"
	case f.Kind == verify.Modified && l.onlyComments(d, texts):
		f.Slight, f.Comments = "only comments changed", true
	}
}

// onlyComments reports whether a program changed, but not what it does.
func (l *look) onlyComments(d difference, texts map[string][]byte) bool {
	return testcode.IsCode(d.path) && d.old != d.now &&
		testcode.Code(d.path, string(texts[d.old])) == testcode.Code(d.path, string(texts[d.now]))
}

var blanks = lazy.New(`[ \t\r]*\n(?:[ \t\r]*\n)*`)

// find finds a claimed file: from the folder of the witness, from the top, or absolute. If there is no file of that
// name, one that differs in letter case alone is meant, then the only one whose path ends with it. It returns where
// symbolic links lead.
func (l *look) find(f *verify.FileFact) (target string) {
	v := l.view
	claimed := strings.TrimSpace(f.Path)
	if claimed == "" || strings.ContainsRune(claimed, 0) {
		f.Why = "it is not a path"
		return ""
	}
	slashed := strings.TrimPrefix(strings.ReplaceAll(claimed, `\`, "/"), "@")
	if home, ok := strings.CutPrefix(slashed, "~/"); ok {
		f.Clean, f.State, f.Why = "~/"+home, verify.Outside, "it is not in the repository"
		return ""
	}
	var names []string
	for _, name := range []string{slashed, inFile.Replace(slashed, "")} {
		if filepath.IsAbs(filepath.FromSlash(name)) {
			rel, inside := v.relative(name)
			if !inside {
				f.Clean, f.State, f.Why = path.Clean(name), verify.Outside, "it is not in the repository"
				if _, err := os.Lstat(filepath.FromSlash(name)); err == nil {
					return ""
				}
				break
			}
			names = append(names, rel)
			continue
		}
		names = append(names, path.Join(v.sub, name), path.Clean(name))
	}
	for _, name := range names {
		switch {
		case name == ".." || strings.HasPrefix(name, "../"):
			f.Clean, f.State, f.Why = name, verify.Outside, "it leads out of the repository"
			continue
		case name == ".git" || strings.HasPrefix(name, ".git/"):
			f.Clean, f.State, f.Why = name, verify.Outside, "it is in git's own folder"
			return ""
		}
		if target, ok := l.there(f, name); ok {
			return target
		}
	}
	for _, list := range [][]string{l.paths, l.old} {
		if target, ok := l.alike(f, list, names, slashed); ok {
			return target
		}
	}
	switch {
	case f.State != "" || len(names) == 0:
	case strings.ContainsFunc(claimed, decomposed):
		f.Clean, f.Why = names[0], "its name has letters that can be written in two ways"
	default:
		f.Clean, f.State = names[0], verify.Missing
	}
	return f.Clean
}

// decomposed reports whether a rune is a part of a letter that has a rune of its own: a mark, or a part of a Korean
// syllable.
func decomposed(r rune) bool { return unicode.Is(unicode.Mn, r) || 0x1100 <= r && r <= 0x11ff }

// relative returns an absolute path from the top of the tree. The tree may have been named by way of a link: the
// longest part that is there is what counts.
func (v *view) relative(name string) (string, bool) {
	real := filepath.FromSlash(name)
	for rest := ""; ; {
		if p, err := filepath.EvalSymlinks(real); err == nil {
			real = filepath.Join(p, rest)
			break
		}
		parent := filepath.Dir(real)
		if parent == real {
			break
		}
		rest, real = filepath.Join(filepath.Base(real), rest), parent
	}
	rel, err := filepath.Rel(v.root, real)
	return filepath.ToSlash(rel), err == nil && (rel == "." || filepath.IsLocal(rel))
}

// there notes the file, folder or link of exactly this name, and where it leads, if there is one.
func (l *look) there(f *verify.FileFact, name string) (target string, ok bool) {
	v := l.view
	full := filepath.Join(v.root, filepath.FromSlash(name))
	info, err := os.Lstat(full)
	if err != nil {
		return "", false
	}
	f.Clean, f.State, f.Why = name, verify.Exists, ""
	if runtime.GOOS != "windows" && info.Mode().IsRegular() {
		f.Executable = met(info.Mode()&0o111 != 0)
	}
	below := func(p string) bool { return strings.HasPrefix(p, name+"/") }
	if info.IsDir() && slices.ContainsFunc(l.old, below) && !slices.ContainsFunc(l.paths, below) {
		f.State = verify.Missing // what is left of it is empty, or ignored
		return name, true
	}
	const out = "it is a symbolic link that leads out of the repository"
	real, err := filepath.EvalSymlinks(full)
	if err != nil && info.Mode()&os.ModeSymlink != 0 {
		f.State, f.Why = verify.Missing, "it is a symbolic link that leads nowhere"
		if to, err := os.Readlink(full); err == nil {
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(full), to)
			}
			if _, inside := v.relative(filepath.ToSlash(to)); !inside {
				f.State, f.Why = verify.Outside, out
			}
		}
		return name, true
	}
	rel, err := filepath.Rel(v.root, real)
	if rel = filepath.ToSlash(rel); err != nil || rel != "." && !filepath.IsLocal(rel) {
		f.State, f.Why = verify.Outside, out
		return name, true
	}
	known := func(p string) bool {
		return p == name || p == rel || rel == "." || strings.HasPrefix(p, rel+"/")
	}
	if !slices.ContainsFunc(l.paths, known) && !slices.ContainsFunc(l.old, known) {
		f.State = verify.Ignored
	}
	return rel, true
}

// alike notes the only file that one of the names can mean.
func (l *look) alike(f *verify.FileFact, list, names []string, claimed string) (target string, ok bool) {
	tail := "/" + strings.TrimPrefix(path.Clean(inFile.Replace(claimed, "")), "/")
	var ways []func(p string) bool
	for _, name := range names {
		ways = append(ways, func(p string) bool { return p == name },
			func(p string) bool { return strings.EqualFold(p, name) })
	}
	ways = append(ways, func(p string) bool { return strings.HasSuffix(p, tail) },
		func(p string) bool { return strings.HasSuffix(tail, "/"+p) })
	if path.Ext(tail) == "" { // a README is a README.md
		ways = append(ways, func(p string) bool {
			return strings.HasPrefix(path.Base(p), path.Base(tail)+".") && path.Dir("/"+p) == path.Dir(tail)
		})
	}
	for _, fits := range ways {
		i := slices.IndexFunc(list, fits)
		if i < 0 {
			continue
		}
		if slices.ContainsFunc(list[i+1:], fits) { // of several, one that changed is meant
			i = slices.IndexFunc(list, func(p string) bool { _, differs := l.changes[p]; return differs && fits(p) })
			if i < 0 {
				f.Why = "more than one file has this name, and none of them changed"
				return "", true
			}
		}
		if target, ok = l.there(f, list[i]); !ok {
			f.Clean, f.State, target = list[i], verify.Missing, list[i] // it was there
		}
		f.Why = "it is at " + list[i]
		return target, true
	}
	return "", false
}

// changed notes whether a file, or something in a folder, differs.
func (l *look) changed(f *verify.FileFact, name string) {
	inside := func(p string) bool { return name == "." || strings.HasPrefix(p, name+"/") }
	f.Known = slices.Contains(l.old, name) || slices.ContainsFunc(l.old, inside)
	change, differs := l.changes[name]
	if !differs {
		i := slices.IndexFunc(l.facts.Changes, func(c verify.Change) bool { return inside(c.Path) && c.Why == "" })
		if differs = i >= 0; differs {
			change = verify.Change{Kind: verify.Modified}
			if f.State == verify.Missing {
				change.Kind = verify.Removed
			}
		}
	}
	committed := l.commits[name]
	for p := range l.commits {
		committed = committed || inside(p)
	}
	if l.base != nil {
		f.Committed = verify.NotMet
		if committed {
			f.Committed = verify.Met
		}
	}
	switch {
	case differs && change.Why != "":
		f.Why = change.Why
	case differs:
		f.Changed, f.Kind = verify.Met, change.Kind
	case committed: // changed and changed back
		f.Why = "commits have changed it, and it is as it was at the baseline"
	case l.base != nil && l.earlier[name]:
		f.Why = "it changed before the last prompt, and not since"
	case l.base != nil:
		f.Changed = verify.NotMet
	case f.State == verify.Exists:
		f.Why = "without a baseline it is not known whether a commit has changed it"
	}
}
