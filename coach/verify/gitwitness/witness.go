package gitwitness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

// Config says which working tree to look at.
type Config struct {
	Dir string // a folder of the working tree; claimed paths are read from here, and from the top
	Git string // the program; empty is git, from the PATH
	// Base is the baseline of queries that name no revision. First is an earlier one, such as that of the session: what
	// changed between the two is not known to be unchanged.
	Base, First *Snapshot
	// Own is files that the host writes while it verifies, such as a trace. They do not count unless they are tracked.
	Own []string
}

// Witness looks at a working tree and its repository. It is safe for concurrent use, and changes neither.
type Witness struct {
	cfg Config
	mu  sync.Mutex
	dir string // the store
}

var _ verify.Witness = (*Witness)(nil)

// New returns a witness. It looks at nothing yet. The caller closes it.
func New(cfg Config) (*Witness, error) {
	if cfg.Dir == "" {
		return nil, errors.New("gitwitness: the folder of the working tree is not set")
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("gitwitness: %w", err)
	}
	cfg.Dir = dir
	if cfg.Git == "" {
		cfg.Git = "git"
	}
	cfg.Own = slices.Clone(cfg.Own)
	return &Witness{cfg: cfg}, nil
}

// Close removes what the witness wrote to a temporary folder.
func (w *Witness) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dir == "" {
		return nil
	}
	err := os.RemoveAll(w.dir)
	w.dir = ""
	return err
}

// Changed returns the files that differ between a tree, such as [verify.Facts].Tree, and the working tree. It also
// returns the hash of the working tree now.
func (w *Witness) Changed(ctx context.Context, tree string) ([]verify.Change, string, error) {
	v, err := w.view(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("gitwitness: %w", err)
	}
	list, err := v.diff(ctx, tree, v.tree)
	if err != nil {
		return nil, "", fmt.Errorf("gitwitness: %w", err)
	}
	return changes(list), v.tree, nil
}

// Diff returns how the working tree differs from the baseline, as a patch of at most max bytes, and whether that is
// all of it. Without a baseline it is compared with what is checked out. A patch that does not show all texts is not
// all of it.
func (w *Witness) Diff(ctx context.Context, baseline string, max int) (patch string, whole bool, err error) {
	v, err := w.view(ctx)
	if err != nil {
		return "", false, fmt.Errorf("gitwitness: %w", err)
	}
	from := cmp.Or(v.head, v.empty)
	if b, err := w.base(ctx, v, baseline); err != nil {
		return "", false, fmt.Errorf("gitwitness: %w", err)
	} else if b != nil {
		from = b.tree
	}
	out := answer{max: max}
	err = v.mine.stream(ctx, nil, &out, "diff-tree", "-r", "-p", "--no-ext-diff", "--no-textconv", "--no-color",
		"--no-renames", "--src-prefix=a/", "--dst-prefix=b/", from, v.tree)
	patch = strings.ToValidUTF8(out.text.String(), "\ufffd")
	return patch, !out.over && !strings.Contains(patch, "\nBinary files "), err
}

// attributes returns an attribute of changed files, for those that have it.
func (v *view) attributes(ctx context.Context, list []difference, name string) (map[string]string, error) {
	var in []byte
	for _, d := range list {
		in = append(append(in, d.path...), 0)
	}
	if in == nil {
		return nil, nil
	}
	fields, err := v.mine.names(ctx, in, "check-attr", "-z", "--stdin", name)
	found := map[string]string{}
	for f := range slices.Chunk(fields, 3) {
		if len(f) == 3 && f[2] != "unspecified" {
			found[f[0]] = f[2]
		}
	}
	return found, err
}

// File returns a file as it is in the commit rev: name is in slashes, from the folder of the witness. It is at most max
// bytes; of a larger one there is one more. The error wraps [fs.ErrNotExist] if the commit has no such file.
func (w *Witness) File(ctx context.Context, rev, name string, max int) ([]byte, error) {
	r, err := open(ctx, w.cfg.Git, w.cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("gitwitness: %w", err)
	}
	commit, err := r.baseline(ctx, rev)
	if err != nil {
		return nil, fmt.Errorf("gitwitness: the baseline: %w", err)
	}
	full := path.Join(r.sub, name)
	if !fs.ValidPath(full) {
		return nil, fmt.Errorf("gitwitness: %w", fs.ErrNotExist)
	}
	kind, err := r.line(ctx, "cat-file", "-t", commit+":"+full)
	if e, ok := errors.AsType[*exitError](err); err != nil && (!ok || e.status <= 0) {
		return nil, fmt.Errorf("gitwitness: %w", err)
	}
	if err != nil || kind != "blob" {
		return nil, fmt.Errorf("gitwitness: the commit has no such file: %w", fs.ErrNotExist)
	}
	text := answer{max: max + 1}
	if err := r.stream(ctx, nil, &text, "cat-file", "blob", commit+":"+full); err != nil && !text.over {
		return nil, fmt.Errorf("gitwitness: %w", err)
	}
	return text.text.Bytes(), nil
}

// Look answers q from the working tree. Without a baseline, files are compared with what is checked out: one that
// differs has changed, of any other it is not known, since its change may be committed.
//
// What cannot be seen (no repository, no git, a baseline that is not there) is Unverified, and named in Unseen. The
// error is the context's.
func (w *Witness) Look(ctx context.Context, q verify.Query) (verify.Facts, error) {
	l := &look{q: q}
	err := l.look(ctx, w)
	if ctx.Err() != nil {
		return l.facts, context.Cause(ctx)
	}
	if err != nil {
		l.unseen("the repository cannot be looked at: %v", err)
		for _, p := range q.Paths {
			l.facts.Files = append(l.facts.Files, verify.FileFact{Path: p, Changed: verify.Unverified, Why: err.Error()})
		}
		for _, rev := range q.Commits {
			l.facts.Commits = append(l.facts.Commits, verify.CommitFact{Rev: rev, Why: err.Error()})
		}
	}
	return l.facts, nil
}

// look is one look at a repository.
type look struct {
	q       verify.Query
	view    *view
	base    *base // nil: unknown
	from    string
	facts   verify.Facts
	list    []difference
	changes map[string]verify.Change
	earlier map[string]bool // changed before the baseline, in the same session or without a commit
	commits map[string]bool // changed in commits since the baseline
	paths   []string        // of the working tree
	old     []string        // of the baseline
}

func (l *look) unseen(format string, args ...any) {
	l.facts.Unseen = append(l.facts.Unseen, fmt.Sprintf(format, args...))
}

func (l *look) look(ctx context.Context, w *Witness) error {
	var err error
	if l.view, err = w.view(ctx); err != nil {
		return err
	}
	v := l.view
	l.facts.Tree = v.tree
	if l.base, err = w.base(ctx, v, l.q.Baseline); err != nil {
		l.unseen("what has changed is not known: %v", err)
	}
	switch {
	case err != nil:
		l.from = v.tree // nothing is known to differ
	case l.base != nil:
		l.from, l.facts.Base, l.facts.Compared = l.base.tree, l.base.name, verify.Met
	case v.head != "":
		l.from = v.head
	default:
		l.from = v.empty
	}
	if err := l.compare(ctx, w); err != nil {
		return err
	}
	if l.paths, err = v.mine.names(ctx, nil, "ls-tree", "-r", "-z", "--name-only", v.tree); err != nil {
		return err
	}
	if l.old, err = v.mine.names(ctx, nil, "ls-tree", "-r", "-z", "--name-only", l.from); err != nil {
		return err
	}
	if err := l.tests(ctx); err != nil {
		return err
	}
	if err := l.suspects(ctx, w); err != nil {
		return err
	}
	l.files()
	for _, rev := range l.q.Commits {
		l.facts.Commits = append(l.facts.Commits, l.commit(ctx, w, rev))
	}
	return l.named(ctx)
}

func changes(list []difference) []verify.Change {
	kinds := map[string]verify.ChangeKind{"A": verify.Added, "D": verify.Removed}
	var all []verify.Change
	for _, d := range list {
		c := verify.Change{Path: d.path, Kind: verify.Modified}
		if k, ok := kinds[d.status]; ok {
			c.Kind = k
		}
		if c.Kind != verify.Removed {
			c.Hash = d.now
		}
		all = append(all, c)
	}
	return all
}

// compare notes what differs from the baseline or, without one, from what is checked out.
func (l *look) compare(ctx context.Context, w *Witness) error {
	v := l.view
	var err error
	if l.list, err = v.diff(ctx, l.from, v.tree); err != nil {
		return err
	}
	filters, err := v.attributes(ctx, l.list, "filter")
	if err != nil {
		return err
	}
	ignored, err := v.ignoredPrograms(ctx)
	if err != nil {
		return err
	}
	l.changes = map[string]verify.Change{}
	for i, c := range changes(l.list) {
		switch driver := filters[c.Path]; {
		case driver != "" && driver != "unset" && c.Kind == verify.Modified && (l.base == nil || !l.base.exact):
			c.Why = fmt.Sprintf("it is recorded through the filter %q, which is not run here", driver)
		case c.Kind == verify.Added && slices.Contains(ignored, c.Path) && (l.base == nil || !l.base.exact):
			c.Why = "it is ignored: whether it is new is not known"
		case l.list[i].link:
			c.Why = "it is a submodule whose commits are not known here"
		}
		l.changes[c.Path] = c
		l.facts.Changes = append(l.facts.Changes, c)
	}
	l.earlier, l.commits = map[string]bool{}, map[string]bool{}
	if l.base == nil {
		return nil
	}
	if l.base.exact { // also what was changed before, and what was not yet committed
		before := []string{}
		if first := w.cfg.First; first != nil && first.Root == v.root && first.Tree != l.base.tree {
			before = append(before, first.Tree)
		}
		if l.base.commit != "" {
			before = append(before, l.base.commit)
		}
		for _, tree := range before {
			list, err := v.diff(ctx, tree, l.base.tree)
			if err != nil {
				continue // it is gone
			}
			for _, d := range list {
				l.earlier[d.path] = true
			}
		}
		l.facts.Earlier = len(l.earlier) > 0
	}
	return l.history(ctx)
}

// history notes what was committed since the baseline, and pushed.
func (l *look) history(ctx context.Context) error {
	v := l.view
	l.facts.Committed = verify.NotMet
	if v.head != "" && v.head != l.base.commit {
		l.facts.Committed = verify.Met
		from := v.empty
		if l.base.commit != "" {
			from = l.base.commit
		}
		list, err := v.diff(ctx, from, v.head)
		if err != nil {
			return err
		}
		for _, d := range list {
			l.commits[d.path] = true
		}
	}
	remotes, err := v.line(ctx, "remote")
	if err != nil {
		return err
	}
	l.facts.Remote, l.facts.Pushed = verify.NotMet, verify.NotMet
	if remotes != "" {
		l.facts.Remote = verify.Met
	}
	if v.head != "" {
		refs, err := v.line(ctx, "for-each-ref", "--count=1", "--contains="+v.head, "refs/remotes")
		if err == nil && refs != "" {
			l.facts.Pushed = verify.Met
		}
	}
	return nil
}

// tests compares the tests of the changed files with those of the baseline.
func (l *look) tests(ctx context.Context) error {
	if l.base == nil {
		return nil
	}
	var objects []string
	var list []difference
	for _, d := range l.list {
		if testcode.MayHoldTests(d.path) && l.changes[d.path].Why == "" {
			list, objects = append(list, d), append(objects, d.old, d.now)
		}
	}
	if len(list) > maxTexts {
		l.unseen("more than %d test files changed: the tests in them were not compared", maxTexts)
		return nil
	}
	texts, err := l.view.texts(ctx, objects)
	if err != nil {
		return err
	}
	var before, after []testcode.File
	for _, d := range list {
		if text := texts[d.old]; d.status != "A" && len(text) > 0 {
			before = append(before, testcode.File{Path: d.path, Text: text})
		}
		if text := texts[d.now]; d.status != "D" {
			after = append(after, testcode.File{Path: d.path, Text: text})
		}
	}
	for i, f := range testcode.Compare(before, after) {
		if i == 100 {
			l.unseen("more than 100 tests were changed")
			break
		}
		l.facts.Tests = append(l.facts.Tests,
			verify.TestChange{File: f.File, Name: f.Name, Change: string(f.Change), Why: f.Why, Now: f.Now})
	}
	return nil
}

// commit returns what is known of a claimed commit.
func (l *look) commit(ctx context.Context, w *Witness, rev string) verify.CommitFact {
	f := verify.CommitFact{Rev: rev, Exists: verify.Unverified, Reachable: verify.Unverified, New: verify.Unverified}
	const cut = "the history is cut off (a shallow clone), and it may be behind the cut"
	name, err := l.view.commit(ctx, strings.TrimSpace(rev))
	switch {
	case errors.Is(err, errNoCommit) && l.view.shallow:
		f.Why = cut
		return f
	case errors.Is(err, errNoCommit):
		f.Exists = verify.NotMet
		return f
	case err != nil:
		f.Why = err.Error()
		return f
	}
	f.Exists = verify.Met
	before := func(commit, from string) verify.Status {
		if from == "" {
			return verify.NotMet
		}
		ok, err := l.view.reachable(ctx, commit, from)
		switch {
		case err != nil || !ok && l.view.shallow:
			return verify.Unverified
		case ok:
			return verify.Met
		}
		return verify.NotMet
	}
	if f.Reachable = before(name, l.view.head); f.Reachable == verify.NotMet {
		branch, err := l.view.line(ctx, "for-each-ref", "--count=1", "--format=%(refname:short)", "--contains="+name,
			"refs/heads")
		if err == nil {
			f.Branch = branch
		}
	}
	if l.base != nil {
		switch before(name, l.base.commit) {
		case verify.NotMet:
			f.New = verify.Met
		case verify.Met:
			f.New = verify.NotMet
			if first := w.cfg.First; l.base.exact && first != nil && before(name, first.Head) == verify.NotMet {
				f.New, f.Why = verify.Unverified, "it was made earlier in this session"
			}
		}
	}
	return f
}

// named looks for tests by their names: a declaration, or the name in a file of tests whose language is not known.
func (l *look) named(ctx context.Context) error {
	for _, name := range l.q.Tests {
		fact := verify.NamedTest{Name: name, Now: verify.NotMet, Before: verify.NotMet}
		word := name
		if i := strings.IndexByte(word, '/'); i > 0 && strings.HasPrefix(word, "Test") {
			word = word[:i] // a subtest: its function
		}
		for _, where := range []struct {
			tree  string
			paths []string
			to    *verify.Status
		}{{l.view.tree, l.paths, &fact.Now}, {l.from, l.old, &fact.Before}} {
			found, err := l.declared(ctx, where.tree, where.paths, word)
			if err != nil {
				return err
			}
			if found {
				*where.to = verify.Met
			}
		}
		l.facts.Named = append(l.facts.Named, fact)
	}
	return nil
}

func (l *look) declared(ctx context.Context, tree string, paths []string, word string) (bool, error) {
	stem := func(p string) string { return strings.TrimSuffix(path.Base(p), path.Ext(p)) }
	if slices.ContainsFunc(paths, func(p string) bool { return testcode.IsTest(p) && stem(p) == word }) {
		return true, nil
	}
	names, err := l.view.mine.names(ctx, nil, "grep", "-l", "-z", "-I", "-F", "-e", word, tree, "--", ":!*.md", ":!*.txt",
		":!*.rst")
	if exited(err, 1) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for i, name := range names {
		name = strings.TrimPrefix(name, tree+":")
		if i == 50 {
			break
		}
		text := answer{max: maxSource}
		if l.view.mine.stream(ctx, nil, &text, "cat-file", "blob", tree+":"+name) != nil || text.over {
			continue
		}
		for _, t := range testcode.Read(name, text.text.Bytes()) {
			if t.Name == word || strings.HasSuffix(t.Name, "."+word) || t.Name == path.Base(name) {
				return true, nil
			}
		}
	}
	return false, nil
}

// Has reports whether the baseline of a query has a word in one of its programs, such as the name of a test.
func (w *Witness) Has(ctx context.Context, baseline, word string) (bool, error) {
	v, err := w.view(ctx)
	if err != nil {
		return false, fmt.Errorf("gitwitness: %w", err)
	}
	b, err := w.base(ctx, v, baseline)
	if err != nil || b == nil {
		return false, err
	}
	_, err = v.mine.run(ctx, nil, "grep", "-q", "-I", "-F", "-e", word, b.tree, "--", ":!*.md", ":!*.txt", ":!*.rst")
	if exited(err, 1) {
		return false, nil
	}
	return err == nil, err
}
