// Package gitwitness looks at a working tree and its git repository. It finds the files that changed since a
// baseline, the claimed files and commits, the tests that went away, and the changed files that can decide what a run
// of tests shows.
//
// [New] returns a [verify.Witness]. [Take] remembers the state of a tree as a baseline. [Witness.Checkout] writes the
// baseline to another folder. [Witness.Diff] is a patch for a judge to read.
//
// # Trust
//
// Git runs as a program. The agent can write the repository's settings. So hooks, file system monitors, filters,
// external diffs, text converters, pagers, editors and remote helpers do not run, and nothing is fetched. Variables
// that begin with GIT_, replaced objects, grafts and commit graphs are ignored. The user's index can say that a file
// is unchanged, so the tree is read into an index and a store of our own. Nothing is written to the repository. Names
// are data: none is read as an option or a pattern.
//
// # Limits
//
// The objects and refs of the repository are believed. An ignored file has no history. Ignored programs count for the
// tree. A file behind a filter, such as Git LFS, is Unverified. In a shallow clone, an unknown commit is Unverified.
// A sparse checkout is not read, nor a tree with more than 1 GiB or 100,000 files that are not committed. Repositories
// inside the tree count with their files, up to 50 of them, three levels deep.
//
// Git 2.31 or later is needed. A call may take a minute.
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

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/project"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

// Config says which working tree to look at.
type Config struct {
	Dir string // a folder of the working tree; claimed paths are read from here, and from the top
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
	cfg.Dir, cfg.Own = dir, slices.Clone(cfg.Own)
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
func (w *Witness) Changed(ctx context.Context, tree string) (list []verify.Change, now string, err error) {
	defer wrap(&err)
	v, err := w.view(ctx)
	if err != nil {
		return nil, "", err
	}
	differences, err := v.diff(ctx, tree, v.tree)
	return changes(differences), v.tree, err
}

// wrap says that an error is of this package.
func wrap(err *error) {
	if *err != nil {
		*err = fmt.Errorf("gitwitness: %w", *err)
	}
}

// Diff returns how the working tree differs from the baseline, as a patch of at most max bytes, and whether that is
// all of it. Without a baseline it is compared with what is checked out. A patch that does not show all texts is not
// all of it.
func (w *Witness) Diff(ctx context.Context, baseline string, max int) (patch string, whole bool, err error) {
	defer wrap(&err)
	v, err := w.view(ctx)
	if err != nil {
		return "", false, err
	}
	b, err := w.base(ctx, v, baseline)
	if err != nil {
		return "", false, err
	}
	from := cmp.Or(v.head, v.empty)
	if b != nil {
		from = b.tree
	}
	out := answer{max: max}
	err = v.mine.stream(ctx, nil, &out, "diff-tree", "-r", "-p", "--no-ext-diff", "--no-textconv", "--no-color",
		"--no-renames", "--src-prefix=a/", "--dst-prefix=b/", from, v.tree)
	patch = strings.ToValidUTF8(out.text.String(), "\ufffd")
	return patch, !out.over && !strings.Contains(patch, "\nBinary files "), err
}

// filters returns the filters of changed files, for those that have one.
func (v *view) filters(ctx context.Context, list []difference) (map[string]string, error) {
	var in []byte
	for _, d := range list {
		in = append(append(in, d.path...), 0)
	}
	if in == nil {
		return nil, nil
	}
	fields, err := v.mine.names(ctx, in, "check-attr", "-z", "--stdin", "filter")
	found := map[string]string{}
	for f := range slices.Chunk(fields, 3) {
		if len(f) == 3 && f[2] != "unspecified" && f[2] != "unset" {
			found[f[0]] = f[2]
		}
	}
	return found, err
}

// File returns a file as it is in the commit rev: name is in slashes, from the folder of the witness. It is at most max
// bytes; of a larger one there is one more. The error wraps [fs.ErrNotExist] if the commit has no such file.
func (w *Witness) File(ctx context.Context, rev, name string, max int) (_ []byte, err error) {
	defer wrap(&err)
	r, err := open(ctx, w.cfg.Dir)
	if err != nil {
		return nil, err
	}
	commit, err := r.baseline(ctx, rev)
	if err != nil {
		return nil, fmt.Errorf("the baseline: %w", err)
	}
	text := answer{max: max + 1}
	err = r.stream(ctx, nil, &text, "cat-file", "blob", commit+":"+path.Join(r.sub, name))
	if e, ok := errors.AsType[*exitError](err); ok && e.status > 0 && !text.over {
		err = fmt.Errorf("the commit has no such file: %w", fs.ErrNotExist)
	}
	return text.text.Bytes(), err
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
	ignored []string        // programs that are ignored
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
	l.files(ctx)
	for _, rev := range l.q.Commits {
		l.facts.Commits = append(l.facts.Commits, l.commit(ctx, w, rev))
	}
	if err := l.named(ctx); err != nil {
		return err
	}
	if err := l.words(ctx); err != nil {
		return err
	}
	if err := l.names(ctx); err != nil {
		return err
	}
	return l.texts(ctx)
}

func changes(list []difference) (all []verify.Change) {
	for _, d := range list {
		c := verify.Change{Path: d.path, Kind: verify.Modified, Hash: d.now}
		switch d.status {
		case "A":
			c.Kind = verify.Added
		case "D":
			c.Kind, c.Hash = verify.Removed, ""
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
	filters, err := v.filters(ctx, l.list)
	if err != nil {
		return err
	}
	if l.ignored, err = v.ignoredPrograms(ctx); err != nil {
		return err
	}
	l.changes = map[string]verify.Change{}
	for i, c := range changes(l.list) {
		switch driver := filters[c.Path]; {
		case driver != "" && c.Kind == verify.Modified && (l.base == nil || !l.base.exact):
			c.Why = fmt.Sprintf("it is recorded through the filter %q, which is not run here", driver)
		case c.Kind == verify.Added && slices.Contains(l.ignored, c.Path) && (l.base == nil || !l.base.exact):
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
		before := []string{l.base.commit}
		if first := w.cfg.First; first != nil && first.Root == v.root {
			before = append(before, first.Tree)
		}
		for _, tree := range slices.DeleteFunc(before, func(tree string) bool { return tree == "" }) {
			list, _ := v.diff(ctx, tree, l.base.tree) // none if it is gone
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
	l.facts.Committed = met(v.head != "" && v.head != l.base.commit)
	if l.facts.Committed == verify.Met {
		list, err := v.diff(ctx, cmp.Or(l.base.commit, v.empty), v.head)
		if err != nil {
			return err
		}
		for _, d := range list {
			l.commits[d.path] = true
		}
	}
	if v.head != "" {
		if err := l.uncommitted(ctx); err != nil {
			return err
		}
		if err := l.log(ctx); err != nil {
			return err
		}
	}
	remotes, err := v.line(ctx, "remote")
	l.facts.Remote, l.facts.Pushed = met(remotes != ""), verify.NotMet
	if v.head != "" {
		refs, err := v.line(ctx, "for-each-ref", "--count=1", "--contains="+v.head, "refs/remotes")
		l.facts.Pushed = met(err == nil && refs != "")
	}
	return err
}

// log notes the subjects of the new commits, and the branches of the query that are there.
func (l *look) log(ctx context.Context) error {
	args := []string{"log", "-z", "--format=%s", "--max-count=100", l.view.head}
	if l.base.commit != "" {
		args = append(args, "^"+l.base.commit)
	}
	var err error
	if l.facts.NewCommits, err = l.view.names(ctx, nil, args...); err != nil {
		return err
	}
	for _, name := range l.q.Branches {
		refs, err := l.view.line(ctx, "for-each-ref", "--count=1", "--format=%(objectname)", "refs/heads/"+name,
			"refs/remotes/"+name, "refs/remotes/*/"+name)
		if err == nil && refs != "" {
			if l.facts.Branches == nil {
				l.facts.Branches = map[string]bool{}
			}
			l.facts.Branches[name] = refs == l.view.head
		}
	}
	return nil
}

// uncommitted notes the files that differ from what is checked out, and are not ignored.
func (l *look) uncommitted(ctx context.Context) error {
	list, err := l.view.diff(ctx, l.view.head, l.view.tree)
	for _, d := range list {
		if !(d.status == "A" && slices.Contains(l.ignored, d.path)) && !project.Byproduct(d.path) {
			l.facts.Uncommitted = append(l.facts.Uncommitted, d.path)
		}
	}
	if err == nil {
		l.facts.Clean = met(len(l.facts.Uncommitted) == 0)
		l.facts.Uncommitted = l.facts.Uncommitted[:min(len(l.facts.Uncommitted), maxFindings)]
	}
	return err
}

func met(yes bool) verify.Status {
	if yes {
		return verify.Met
	}
	return verify.NotMet
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
	compared := testcode.Compare(before, after)
	if len(compared.Findings) > maxFindings {
		l.unseen("more than %d tests were changed", maxFindings)
	}
	change := func(f testcode.Finding) verify.TestChange {
		return verify.TestChange{File: f.File, Name: f.Name, Change: string(f.Change), Why: f.Why, Now: f.Now, Rows: f.Rows}
	}
	for _, f := range compared.Findings[:min(len(compared.Findings), maxFindings)] {
		l.facts.Tests = append(l.facts.Tests, change(f))
	}
	for _, f := range compared.Moved[:min(len(compared.Moved), maxFindings)] {
		l.facts.Moved = append(l.facts.Moved, change(f))
	}
	for _, t := range compared.New[:min(len(compared.New), maxFindings)] {
		l.facts.New = append(l.facts.New, verify.NewTest{File: t.File, Name: t.Name, Hollow: t.Hollow, Rows: t.Rows})
	}
	for _, o := range compared.Overrides {
		l.facts.Suspects = append(l.facts.Suspects,
			verify.Suspect{Path: o.File, Why: "changes how tests check (" + plaintext.MaskedLine(o.Line, 60) + ")"})
	}
	for _, d := range list {
		kept := testcode.Modules(string(texts[d.now]))
		if d.status == "D" && testcode.IsTest(d.path) || slices.ContainsFunc(testcode.Modules(string(texts[d.old])),
			func(m string) bool { return !slices.Contains(kept, m) }) {
			l.facts.Gone = append(l.facts.Gone, d.path)
		}
	}
	return nil
}

const maxFindings = 100

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
		if err != nil || !ok && l.view.shallow {
			return verify.Unverified
		}
		return met(ok)
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
