package gitwitness

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

// named looks for tests by their names: a declaration, or the name in a file of tests whose language is not known.
func (l *look) named(ctx context.Context) error {
	for _, name := range l.q.Tests {
		word := name
		if strings.HasPrefix(word, "Test") {
			word, _, _ = strings.Cut(word, "/") // of a subtest, its function
		}
		now, err := l.declared(ctx, l.view.tree, l.paths, word)
		if err != nil {
			return err
		}
		before, err := l.declared(ctx, l.from, l.old, word)
		if err != nil {
			return err
		}
		l.facts.Named = append(l.facts.Named, verify.NamedTest{Name: name, Now: now, Before: before})
	}
	return nil
}

var definition = lazy.New(`\b(?:func|fn|def|function|class|type|const|let|var|val|static|struct|enum|interface|trait|` +
	`record|object|macro_rules!)\s+(?:mut\s+)?(?:\([^)]*\)\s*)?(\w+)`)

// names looks for names in the code of the tree and of the baseline.
func (l *look) names(ctx context.Context) error {
	for _, name := range l.q.Names[:min(len(l.q.Names), 50)] {
		fact := verify.NameFact{Name: name}
		now, err := l.lines(ctx, l.view.tree, name)
		if err != nil {
			return err
		}
		before, err := l.lines(ctx, l.from, name)
		if err != nil {
			return err
		}
		for file, text := range now {
			fact.Uses += strings.Count(text, "\n")
			fact.Defined += defines(text, name)
			fact.Touched = fact.Touched || l.differs(ctx, file)
			fact.Files = append(fact.Files, file)
		}
		fact.Stub = l.isStub(ctx, now, name)
		slices.Sort(fact.Files)
		fact.Files = fact.Files[:min(len(fact.Files), maxFindings)]
		for file, text := range before {
			fact.DefinedBefore += defines(text, name)
			fact.Touched = fact.Touched || l.differs(ctx, file)
		}
		_, changed := l.changes[name] // it may be a submodule
		fact.Touched = fact.Touched || changed
		fact.Was = len(before) > 0
		if fact.Uses == 0 && !fact.Was { // it may be a word of prose or of a comment
			err := l.view.mine.stream(ctx, nil, &answer{max: maxSource}, "grep", "-q", "-I", "-w", "-F", "-e", name,
				l.view.tree)
			fact.Was = err == nil
		}
		part := func(p string) bool {
			return slices.ContainsFunc(strings.Split(p, "/"), func(s string) bool { return s == name || stem(s) == name })
		}
		if fact.Uses == 0 && slices.ContainsFunc(l.paths, part) {
			fact.Uses = 1 // it is a file or a folder
		}
		l.facts.Names = append(l.facts.Names, fact)
	}
	return nil
}

// differs reports whether a file changed in more than its comments.
func (l *look) differs(ctx context.Context, file string) bool {
	if _, changed := l.changes[file]; !changed {
		return false
	}
	i := slices.IndexFunc(l.list, func(d difference) bool { return d.path == file })
	if i < 0 || l.changes[file].Kind != verify.Modified {
		return true
	}
	texts, err := l.view.texts(ctx, []string{l.list[i].old, l.list[i].now})
	return err != nil || !l.onlyComments(l.list[i], texts)
}

func stem(p string) string { return strings.TrimSuffix(path.Base(p), path.Ext(p)) }

func defines(text, name string) (n int) {
	for _, m := range definition.FindAll(text) {
		if m[1] == name {
			n++
		}
	}
	return n
}

// lines returns the lines of a tree that have a word, by files. Comments and prose do not count.
func (l *look) lines(ctx context.Context, tree, word string) (map[string]string, error) {
	text := answer{max: maxSource}
	err := l.view.mine.stream(ctx, nil, &text, "grep", "-z", "-I", "-w", "-F", "-e", word, tree, "--", ":!*.md", ":!*.rst")
	if err != nil && !exited(err, 1) {
		return nil, err
	}
	found := map[string]string{}
	for line := range strings.Lines(text.text.String()) {
		name, line, _ := strings.Cut(strings.TrimPrefix(line, tree+":"), "\x00")
		found[name] += testcode.Code(name, strings.TrimRight(line, "\r\n")+"\n")
	}
	maps.DeleteFunc(found, func(_, text string) bool { return text == "" })
	return found, nil
}

// declared reports whether a tree declares a test. It is unknown whether something else of that name is one.
func (l *look) declared(ctx context.Context, tree string, paths []string, word string) (verify.Status, error) {
	if slices.ContainsFunc(paths, func(p string) bool { return testcode.IsTest(p) && stem(p) == word }) {
		return verify.Met, nil
	}
	found := verify.NotMet
	names, err := l.view.grep(ctx, word, tree)
	for _, name := range names[:min(len(names), 50)] {
		name = strings.TrimPrefix(name, tree+":")
		text := answer{max: maxSource}
		if l.view.mine.stream(ctx, nil, &text, "cat-file", "blob", tree+":"+name) != nil || text.over {
			continue
		}
		for _, t := range testcode.Read(name, text.text.Bytes()) {
			if t.Name == word || strings.HasSuffix(t.Name, "."+word) || t.Name == path.Base(name) {
				return verify.Met, nil
			}
		}
		if slices.ContainsFunc(definition.FindAll(text.text.String()), func(m []string) bool { return m[1] == word }) {
			found = verify.Unverified
		}
	}
	return found, err
}

// grep returns the files of a tree that have a word, and are not prose.
func (v *view) grep(ctx context.Context, word, tree string) ([]string, error) {
	names, err := v.mine.names(ctx, nil, "grep", "-l", "-z", "-I", "-F", "-e", word, tree, "--", ":!*.md", ":!*.txt",
		":!*.rst")
	if exited(err, 1) {
		return nil, nil
	}
	return names, err
}

// Has reports whether the baseline of a query has a word in one of its programs, such as the name of a test.
func (w *Witness) Has(ctx context.Context, baseline, word string) (has bool, err error) {
	defer wrap(&err)
	v, err := w.view(ctx)
	if err != nil {
		return false, err
	}
	b, err := w.base(ctx, v, baseline)
	if err != nil || b == nil {
		return false, err
	}
	names, err := v.grep(ctx, word, b.tree)
	return len(names) > 0, err
}
