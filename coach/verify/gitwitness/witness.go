// Package gitwitness looks at a working tree and its git repository. It finds the files that changed since a
// baseline, the claimed files and commits, the tests that went away, and the changed files that can decide what a run
// of tests shows.
//
// [Witness] is a [verify.Witness]. [Take] remembers the state of a tree as a baseline. [Witness.Checkout] writes the
// baseline to another folder. [Witness.Diff] is a patch for a judge to read.
//
// # Trust
//
// Git runs as a program. The agent can write the repository's settings. So hooks, file system monitors, filters,
// external diffs, text converters, pagers, editors and remote helpers do not run, and nothing is fetched. Variables
// that begin with GIT_, replaced objects, grafts and commit graphs are ignored. The tree is read into an index and a
// store of our own, and nothing is written to the repository. Names are never read as options or patterns.
//
// # Limits
//
// Git 2.31 or later is needed. A call may take a minute. The objects and refs of the repository are believed. An
// ignored file has no history. Ignored programs count for the tree. A file behind a filter, such as Git LFS, is
// Unverified. In a shallow clone, an unknown commit is Unverified. A sparse checkout is not read, nor a tree with more
// than 1 GiB or 100,000 files that are not committed. Repositories inside the tree count with their files, up to 50.
package gitwitness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/project"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

// Witness looks at a working tree and its repository. Dir is needed. It is safe for concurrent use, and changes
// neither. The caller closes it.
type Witness struct {
	Dir string // a folder of the working tree; claimed paths are read from here, and from the top
	// Base is the baseline of queries that name no revision. First is an earlier one, such as that of the session: what
	// changed between the two is not known to be unchanged.
	Base, First *Snapshot
	// Own is files that the host writes while it verifies, such as a trace. They do not count unless they are tracked.
	Own []string

	mu  sync.Mutex
	dir string // the store
}

var _ verify.Witness = (*Witness)(nil)

// Close removes what the witness wrote to a temporary folder.
func (w *Witness) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	dir := w.dir
	w.dir = ""
	return os.RemoveAll(dir)
}

// Snapshot is the state of a working tree at some time, for a baseline.
type Snapshot struct {
	Root string `json:"root"` // the top of the working tree
	Head string `json:"head"` // the commit that was checked out; empty before the first
	Tree string `json:"tree"` // of the working tree, in Store
	// Store is the folder that holds what is in no commit. The snapshot is of use as long as the folder is there.
	Store string `json:"store"`
}

// Take remembers the working tree that dir is in. It writes the files that are not committed to the folder store,
// which the caller removes some day. Several snapshots may share a store.
func Take(ctx context.Context, dir, store string) (s Snapshot, err error) {
	defer catch(&err)
	r := must(open(ctx, dir))
	return Snapshot{Root: r.root, Head: r.head, Tree: newStore(store).snapshot(r), Store: store}, nil
}

// Changed returns the files that differ between a tree, such as [verify.Facts].Tree, and the working tree. It also
// returns the hash of the working tree now.
func (w *Witness) Changed(ctx context.Context, tree string) (list []verify.Change, now string, err error) {
	defer catch(&err)
	v := w.view(ctx)
	for _, d := range v.diff(tree, v.tree) {
		list = append(list, d.Change)
	}
	return list, v.tree, nil
}

// Diff returns how the working tree differs from the baseline, as a patch of at most max bytes, and whether that is
// all of it. Without a baseline it is compared with what is checked out. A patch that does not show all texts is not
// all of it.
func (w *Witness) Diff(ctx context.Context, baseline string, max int) (patch string, whole bool, err error) {
	defer catch(&err)
	v := w.view(ctx)
	text, over, err := v.mine.limited(max, "", "diff-tree", "-r", "-p", "--no-ext-diff", "--no-textconv", "--no-color",
		"--no-renames", "--src-prefix=a/", "--dst-prefix=b/", must(w.base(v, baseline)).tree, v.tree)
	patch = strings.ToValidUTF8(string(text), "\ufffd")
	return patch, !over && !strings.Contains(patch, "\nBinary files "), err
}

// File returns a file as it is in the commit rev: name is in slashes, from the folder of the witness. It is at most max
// bytes; of a larger one there is one more. The error wraps [fs.ErrNotExist] if the commit has no such file.
func (w *Witness) File(ctx context.Context, rev, name string, max int) (text []byte, err error) {
	defer catch(&err)
	r := must(open(ctx, w.Dir))
	text, over, err := r.limited(max+1, "", "cat-file", "blob", r.baseline(rev)+":"+path.Join(r.sub, name))
	if exited(err, 128) && !over {
		err = fmt.Errorf("the commit has no such file: %w", fs.ErrNotExist)
	}
	return text, err
}

// Look answers q from the working tree. Without a baseline, files are compared with what is checked out: one that
// differs has changed, of any other it is not known, since its change may be committed.
//
// What cannot be seen (no repository, no git, a baseline that is not there) is Unverified, and named in Unseen. The
// error is the context's.
func (w *Witness) Look(ctx context.Context, q verify.Query) (verify.Facts, error) {
	l := &look{w: w, q: q}
	err := l.all(ctx)
	if err == nil || ctx == nil {
		return l.facts, err
	} else if ctx.Err() != nil {
		return l.facts, context.Cause(ctx)
	}
	l.unseen("the repository cannot be looked at: %v", err)
	for _, p := range q.Paths {
		l.facts.Files = append(l.facts.Files, verify.FileFact{Path: p, Changed: verify.Unverified, Why: err.Error()})
	}
	for _, rev := range q.Commits {
		l.facts.Commits = append(l.facts.Commits, verify.CommitFact{Rev: rev, Why: err.Error()})
	}
	return l.facts, nil
}

// look is one look at a repository.
type look struct {
	*view
	w       *Witness
	q       verify.Query
	base    base
	facts   verify.Facts
	list    []*difference
	changed map[string]*difference // those of list, by their paths
	earlier []string               // changed before the baseline, in the same session or without a commit
	commits []string               // changed in commits since the baseline
	paths   []string               // of the working tree
	old     []string               // of the baseline
}

func (l *look) unseen(format string, args ...any) {
	l.facts.Unseen = append(l.facts.Unseen, fmt.Sprintf(format, args...))
}

func (l *look) all(ctx context.Context) (err error) {
	defer catch(&err)
	l.view = l.w.view(ctx)
	l.facts.Tree = l.tree
	l.base, err = l.w.base(l.view, l.q.Baseline)
	if err != nil {
		l.unseen("what has changed is not known: %v", err)
		l.base.tree = l.tree // nothing is known to differ
	}
	l.compare()
	if l.base.name != "" {
		l.facts.Base, l.facts.Compared = l.base.name, verify.Met
		l.history()
		l.tests()
	}
	l.suspects()
	for _, claimed := range l.q.Paths {
		l.facts.Files = append(l.facts.Files, l.file(claimed))
	}
	for _, rev := range l.q.Commits {
		l.facts.Commits = append(l.facts.Commits, l.commitFact(rev))
	}
	l.namedTests()
	l.names()
	l.shown()
	return nil
}

// compare notes what differs from the baseline or, without one, from what is checked out.
func (l *look) compare() {
	l.list, l.changed = l.diff(l.base.tree, l.tree), map[string]*difference{}
	l.paths = must(l.mine.names("ls-tree", "-r", "-z", "--name-only", l.tree))
	filters := l.filters()
	for _, d := range l.list {
		switch driver := filters[d.Path]; {
		case driver != "" && d.Kind == verify.Modified && !l.base.exact:
			d.Why = fmt.Sprintf("it is recorded through the filter %q, which is not run here", driver)
		case d.Kind == verify.Added && slices.Contains(l.programs, d.Path) && !l.base.exact:
			d.Why = "it is ignored: whether it is new is not known"
		case d.link:
			d.Why = "it is a submodule whose commits are not known here"
		}
		l.changed[d.Path] = d
		l.facts.Changes = append(l.facts.Changes, d.Change)
	}
	l.old = slices.DeleteFunc(slices.Clone(l.paths), func(p string) bool {
		return l.changed[p] != nil && l.changed[p].Kind == verify.Added
	})
	for _, d := range l.list {
		if d.Kind == verify.Removed {
			l.old = append(l.old, d.Path)
		}
	}
	slices.Sort(l.old)
	l.read(l.list)
}

// filters returns the filters of changed files, for those that have one.
func (l *look) filters() map[string]string {
	found := map[string]string{}
	if len(l.list) == 0 {
		return nil
	}
	var in strings.Builder
	for _, d := range l.list {
		in.WriteString(d.Path + "\x00")
	}
	for f := range slices.Chunk(zeroSplit(must(l.mine.run(in.String(), "check-attr", "-z", "--stdin", "filter"))), 3) {
		if f[2] != "unspecified" && f[2] != "unset" {
			found[f[0]] = f[2]
		}
	}
	return found
}

// history notes what changed before the baseline, what was committed since, and what was pushed.
func (l *look) history() {
	f := &l.facts
	if l.base.exact { // also what was changed before, and what was not yet committed
		if l.mine.has(l.base.commit) {
			l.earlier = l.differing(l.base.commit, l.base.tree)
		}
		if first := l.w.First; first != nil && first.Root == l.root && l.mine.has(first.Tree) {
			l.earlier = append(l.earlier, l.differing(first.Tree, l.base.tree)...)
		}
		f.Earlier = len(l.earlier) > 0
	}
	f.Committed, f.Pushed = met(l.head != "" && l.head != l.base.commit), verify.NotMet
	f.Remote = met(l.remote)
	if l.head == "" {
		return
	}
	if l.head != l.base.commit {
		log := []string{"log", "-z", "--format=%s", "--max-count=100", l.head}
		if l.base.commit != "" {
			log = append(log, "^"+l.base.commit)
		}
		f.NewCommits = must(l.view.names(log...))
		l.commits = l.differing(l.orEmpty(l.base.commit), l.head)
	}
	open := l.list
	if l.head != l.base.commit || l.base.exact {
		open = l.diff(l.store.baseTree(l.repository, l.head), l.tree)
	}
	for _, d := range open {
		if !(d.Kind == verify.Added && slices.Contains(l.programs, d.Path)) && !project.Byproduct(d.Path) {
			f.Uncommitted = append(f.Uncommitted, d.Path)
		}
	}
	f.Clean = met(len(f.Uncommitted) == 0)
	f.Uncommitted = f.Uncommitted[:min(len(f.Uncommitted), maxFindings)]
	f.Branches = map[string]bool{}
	for _, name := range l.q.Branches {
		if at := l.ref("--format=%(objectname)", "refs/heads/"+name, "refs/remotes/"+name, "refs/remotes/*/"+name); at != "" {
			f.Branches[name] = at == l.head
		}
	}
	f.Pushed = met(l.ref("--contains="+l.head, "refs/remotes") != "")
}

// ref returns the first ref that there is, or "".
func (l *look) ref(args ...string) string {
	found, _ := l.line(append([]string{"for-each-ref", "--count=1"}, args...)...)
	return found
}

func met(yes bool) verify.Status {
	if yes {
		return verify.Met
	}
	return verify.NotMet
}

const (
	maxFindings = 100
	maxTexts    = 400 // test files that are compared
)

// tests compares the tests of the changed files with those of the baseline.
func (l *look) tests() {
	var changes []testcode.Change
	for _, d := range l.list {
		if !testcode.MayHoldTests(d.Path) || d.Why != "" {
			continue
		}
		if d.unread {
			l.unseen("%s is too large: the tests in it were not compared", d.Path)
			continue
		}
		changes = append(changes, testcode.Change{Path: d.Path, Old: d.old, Now: d.now})
		kept := testcode.Modules(d.now)
		lost := func(m string) bool { return !slices.Contains(kept, m) }
		if d.Kind == verify.Removed && testcode.IsTest(d.Path) || slices.ContainsFunc(testcode.Modules(d.old), lost) {
			l.facts.Gone = append(l.facts.Gone, d.Path)
		}
	}
	if len(changes) > maxTexts {
		l.unseen("more than %d test files changed: the tests in them were not compared", maxTexts)
		return
	}
	compared := testcode.Compare(changes)
	if len(compared.Findings) > maxFindings {
		l.unseen("more than %d tests were changed", maxFindings)
	}
	l.facts.Tests = compared.Findings[:min(len(compared.Findings), maxFindings)]
	l.facts.Moved = compared.Moved[:min(len(compared.Moved), maxFindings)]
	l.facts.New = compared.New[:min(len(compared.New), maxFindings)]
	for _, o := range compared.Overrides {
		l.suspected(o.File, "changes how tests check ("+plaintext.MaskedLine(o.Name, 60)+")")
	}
}

func (l *look) commitFact(rev string) verify.CommitFact {
	f := verify.CommitFact{Rev: rev, Exists: verify.Unverified, Reachable: verify.Unverified, New: verify.Unverified}
	name, err := l.commit(strings.TrimSpace(rev))
	if err != nil {
		if f.Why = err.Error(); errors.Is(err, errNoCommit) && l.shallow {
			f.Why = "the history is cut off (a shallow clone), and it may be behind the cut"
		} else if errors.Is(err, errNoCommit) {
			f.Exists, f.Why = verify.NotMet, ""
		}
		return f
	}
	f.Exists = verify.Met
	before := func(from string) verify.Status {
		if from == "" {
			return verify.NotMet
		}
		_, err := l.run("", "merge-base", "--is-ancestor", "--end-of-options", name, from)
		if err != nil && (l.shallow || !exited(err, 1)) {
			return verify.Unverified
		}
		return met(err == nil)
	}
	if f.Reachable = before(l.head); f.Reachable == verify.NotMet {
		f.Branch = l.ref("--format=%(refname:short)", "--contains="+name, "refs/heads")
	}
	if l.base.name == "" {
		return f
	}
	switch before(l.base.commit) {
	case verify.NotMet:
		f.New = verify.Met
	case verify.Met:
		f.New = verify.NotMet
		if first := l.w.First; l.base.exact && first != nil && before(first.Head) == verify.NotMet {
			f.New, f.Why = verify.Unverified, "it was made earlier in this session"
		}
	}
	return f
}
