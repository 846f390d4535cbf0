package gitwitness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// Config says which working tree to look at.
type Config struct {
	Dir string // a folder of the working tree; claimed paths are read from here, and from the top
	Git string // the program; empty is git, from the PATH
	// Own is files that the host writes while it verifies, such as a trace. They are no part of the work unless they are tracked: a
	// tree is the same with and without them. A name that is not there is left out of account.
	Own []string
}

// Witness looks at a working tree and its repository. It is safe for concurrent use, and changes neither.
type Witness struct{ cfg Config }

var _ verify.Witness = (*Witness)(nil)

// New returns a witness. It looks at nothing yet.
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
	return &Witness{cfg}, nil
}

// open finds the repository as it is now.
func (w *Witness) open(ctx context.Context) (*repository, error) {
	r, err := open(ctx, w.cfg.Git, w.cfg.Dir)
	if err != nil {
		return nil, err
	}
	for _, name := range w.cfg.Own {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			r.hosts = append(r.hosts, info)
		}
	}
	return r, nil
}

// Tree returns a hash of the working tree: the names, contents and modes of the files that are tracked or not ignored, and of
// ignored Go files beside them, those of the repositories inside it included. It is that of [verify.Facts].Tree, for equal files the same in every clone.
func (w *Witness) Tree(ctx context.Context) (string, error) {
	r, err := w.open(ctx)
	if err != nil {
		return "", fmt.Errorf("gitwitness: %w", err)
	}
	hash, err := r.tree(ctx)
	if err != nil {
		return "", fmt.Errorf("gitwitness: %w", err)
	}
	return hash, nil
}

// Diff returns how the working tree differs from a commit, as a patch of at most max bytes that has untracked files in it, and
// whether that is all of it. An empty baseline is what is checked out. Nothing that the repository's settings
// name shows files (textconv, external diffs).
func (w *Witness) Diff(ctx context.Context, baseline string, max int) (patch string, whole bool, err error) {
	r, err := w.open(ctx)
	if err != nil {
		return "", false, fmt.Errorf("gitwitness: %w", err)
	}
	base := r.head
	if baseline != "" {
		if base, err = r.baseline(ctx, baseline); err != nil {
			return "", false, fmt.Errorf("gitwitness: the baseline: %w", err)
		}
	}
	if patch, whole, err = r.diff(ctx, base, max); err != nil {
		return "", false, fmt.Errorf("gitwitness: %w", err)
	}
	return patch, whole, nil
}

// Look answers q from the working tree: what changed since the baseline, which claimed files are there, and which claimed
// commits. Without a baseline files are compared with what is checked out: one that differs has changed, of any other it
// cannot be told, since the change may be committed.
//
// What cannot be seen (no repository, no git, a baseline that is not there) is Unverified, and said in Unseen. The error is the context's.
func (w *Witness) Look(ctx context.Context, q verify.Query) (verify.Facts, error) {
	l := &look{q: q}
	err := l.look(ctx, w)
	if ctx.Err() != nil {
		return l.facts, ctx.Err()
	}
	if err != nil {
		l.unseen("the repository cannot be looked at: %s", words(err))
	}
	l.rest(err)
	return l.facts, nil
}

// words is an error for people.
func words(err error) string {
	return strings.TrimPrefix(err.Error(), "cmdwitness: ")
}

// look is one look at a repository.
type look struct {
	q       verify.Query
	r       *repository
	facts   verify.Facts
	tracked map[string]bool
	changes map[string]verify.Change
}

func (l *look) unseen(format string, args ...any) {
	l.facts.Unseen = append(l.facts.Unseen, fmt.Sprintf(format, args...))
}

func (l *look) look(ctx context.Context, w *Witness) error {
	var err error
	if l.r, err = w.open(ctx); err != nil {
		return err
	}
	if l.facts.Tree, err = l.r.tree(ctx); err != nil {
		l.facts.Tree = ""
		l.unseen("the content of the working tree cannot be told: %s", words(err))
	}
	if l.tracked, err = l.r.tracked(ctx); err != nil {
		return err
	}
	if err := l.compare(ctx); err != nil {
		l.facts.Base, l.facts.Compared = "", verify.Unverified
		l.facts.Changes, l.facts.TestFiles, l.changes = nil, nil, nil
		l.unseen("what has changed cannot be told: %s", words(err))
	}
	if err := l.files(ctx); err != nil {
		return err
	}
	l.commits(ctx)
	return nil
}

// compare notes what differs from the baseline or, without one, from what is checked out.
func (l *look) compare(ctx context.Context) error {
	base := l.r.head
	if l.q.Baseline != "" {
		var err error
		if base, err = l.r.baseline(ctx, l.q.Baseline); err != nil {
			return fmt.Errorf("the baseline: %w", err)
		}
		l.facts.Base, l.facts.Compared = base, verify.Met
	}
	changes, err := l.r.changes(ctx, base)
	if err != nil {
		return err
	}
	l.changes = make(map[string]verify.Change, len(changes))
	for _, c := range changes {
		l.facts.Changes = append(l.facts.Changes, c)
		l.changes[strings.TrimSuffix(c.Path, "/")] = c
		role, err := l.r.role(ctx, base, c, l.q.Commands)
		if err != nil {
			return err
		}
		if role != NoRole && (c.Kind != verify.Added || role == Settings) {
			l.facts.TestFiles = append(l.facts.TestFiles, verify.TestFileFact{Path: c.Path, Kind: c.Kind, Config: role == Settings, Why: c.Why})
		}
	}
	return l.hidden(ctx)
}

// hidden notes ignored files, beside others that are not, that settle how tests run: test runners read them all the same.
func (l *look) hidden(ctx context.Context) error {
	names, err := l.r.ignoredFiles(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, known := l.changes[name]; known {
			continue
		}
		if RoleOf(name) == Settings || strings.HasSuffix(name, "_test.go") && takesOver(l.r.source(name), true) {
			l.facts.TestFiles = append(l.facts.TestFiles, verify.TestFileFact{
				Path: name, Kind: verify.Added, Config: true, Why: "it is ignored: whether it is new cannot be told",
			})
		}
	}
	return nil
}

// files notes what is known of the claimed paths.
func (l *look) files(ctx context.Context) error {
	var there []string
	asked := make(map[string]string) // whether it is ignored, by the claim
	for _, claimed := range l.q.Paths {
		if l.has(claimed) {
			continue
		}
		p := l.place(claimed)
		f := verify.FileFact{Path: claimed, Clean: p.name, Changed: verify.Unverified, Tracked: verify.Unverified, Why: p.why}
		change, differs := l.changes[p.name]
		at := p.name
		if p.real != "" {
			at = p.real
			if !differs {
				change, differs = l.changes[at]
			}
		}
		switch {
		case p.name == "":
		case p.outside:
			f.State = verify.Outside
		case !p.there:
			f.State, f.Tracked = verify.Missing, l.isTracked(p.name)
		default:
			file := p.name
			if p.real != "" && !p.link {
				file = p.real // git knows nothing behind a link
			}
			f.State, f.Tracked = verify.Exists, l.isTracked(file)
			if f.Tracked == verify.NotMet {
				there = append(there, file)
				asked[claimed] = file
			}
		}
		if f.State == verify.Exists || f.State == verify.Missing {
			l.changed(&f, at, change, differs)
		}
		l.facts.Files = append(l.facts.Files, f)
	}
	ignored, err := l.r.ignored(ctx, there)
	if err != nil {
		return err
	}
	for i, f := range l.facts.Files {
		if f.State == verify.Exists && ignored[asked[f.Path]] {
			l.facts.Files[i].State = verify.Ignored
			if f.Changed == verify.NotMet {
				// Git keeps nothing of it to compare it with.
				l.facts.Files[i].Changed, l.facts.Files[i].Why = verify.Unverified, "it is ignored: whether it has changed cannot be told"
			}
		}
	}
	return nil
}

func (l *look) has(claimed string) bool {
	return slices.ContainsFunc(l.facts.Files, func(f verify.FileFact) bool { return f.Path == claimed })
}

// changed notes whether a file differs, or what it is a symbolic link to, which is at.
func (l *look) changed(f *verify.FileFact, at string, change verify.Change, differs bool) {
	switch {
	case l.changes == nil:
		f.Why = "what has changed cannot be told"
	case differs && change.Why != "":
		f.Why = change.Why
	case differs:
		f.Changed, f.Kind = verify.Met, change.Kind
	case l.within(at):
		f.Changed, f.Kind = verify.Met, verify.Modified
		if f.State == verify.Missing {
			f.Kind = verify.Removed // a folder
		}
	case f.State == verify.Exists && l.new(at):
		f.Changed, f.Kind = verify.Met, verify.Added
	case f.State == verify.Exists && l.nested(at):
		f.Why = "it is in a repository of its own, in which nobody looked"
	case l.facts.Compared == verify.Met:
		f.Changed = verify.NotMet
	case f.State == verify.Exists:
		f.Why = "without a baseline it cannot be told whether a commit has changed it"
	}
}

// new reports whether a file is in a repository that was added as a whole.
func (l *look) new(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if l.changes[dir].Kind == verify.Added && l.changes[dir].Why == "" {
			return true
		}
	}
	return false
}

// nested reports whether a file is in a repository inside this one, or such a repository, and not recorded here as a file.
func (l *look) nested(name string) bool {
	if _, ok := l.tracked[name]; ok && !l.r.isThere(name+"/.git") {
		return false
	}
	for dir := name; dir != "."; dir = path.Dir(dir) {
		if l.r.isThere(dir + "/.git") {
			return true
		}
	}
	return false
}

// within reports whether something in a folder has changed.
func (l *look) within(folder string) bool {
	for name, c := range l.changes {
		if c.Why == "" && (folder == "." || strings.HasPrefix(name, folder+"/")) {
			return true
		}
	}
	return false
}

// place returns where a claimed path leads. One that is nowhere is that of the only file whose path ends with it, if there is
// one: reports name files without their folders.
func (l *look) place(claimed string) place {
	p := l.r.find(claimed)
	if p.there || p.outside || p.name == "" {
		return p
	}
	if _, removed := l.changes[p.name]; removed {
		return p
	}
	tail := "/" + strings.TrimPrefix(path.Clean(filepath.ToSlash(strings.TrimSpace(claimed))), "/")
	found := make(map[string]bool)
	for name := range l.tracked {
		if strings.HasSuffix(name, tail) {
			found[name] = true
		}
	}
	for name := range l.changes {
		if strings.HasSuffix(name, tail) {
			found[name] = true
		}
	}
	if len(found) != 1 {
		return p
	}
	for name := range found {
		p = l.r.look(name)
		if p.why == "" {
			p.why = "it is at " + name
		}
	}
	return p
}

// isTracked says whether a file, or something in a folder, is in version control.
func (l *look) isTracked(name string) verify.Status {
	if _, ok := l.tracked[name]; ok {
		return verify.Met
	}
	for t := range l.tracked {
		if name == "." || strings.HasPrefix(t, name+"/") {
			return verify.Met
		}
	}
	return verify.NotMet
}

// commits notes what is known of the claimed commits.
func (l *look) commits(ctx context.Context) {
	for _, rev := range l.q.Commits {
		if slices.ContainsFunc(l.facts.Commits, func(c verify.CommitFact) bool { return c.Rev == rev }) {
			continue
		}
		l.facts.Commits = append(l.facts.Commits, l.r.claimed(ctx, rev))
	}
}

// claimed returns what is known of a commit that somebody names.
func (r *repository) claimed(ctx context.Context, rev string) verify.CommitFact {
	f := verify.CommitFact{Rev: rev, Exists: verify.Unverified, Reachable: verify.Unverified}
	const shallow = "the history is cut off (a shallow clone), and it may be behind the cut"
	var err error
	f.Name, err = r.commit(ctx, strings.TrimSpace(rev))
	switch {
	case errors.Is(err, errNoCommit) && r.cut:
		f.Why = shallow
		return f
	case errors.Is(err, errNoCommit):
		f.Exists, f.Reachable, f.Why = verify.NotMet, verify.NotMet, err.Error()
		return f
	case err != nil:
		f.Why = words(err)
		return f
	}
	f.Exists = verify.Met
	if r.head == "" {
		f.Reachable, f.Why = verify.NotMet, "nothing is checked out"
		return f
	}
	switch ok, err := r.reachable(ctx, f.Name, r.head); {
	case err != nil:
		f.Why = words(err)
	case ok:
		f.Reachable = verify.Met
	case r.cut:
		f.Why = shallow
	default:
		f.Reachable, f.Why = verify.NotMet, "it is not among the commits that lead to what is checked out"
	}
	return f
}

// rest adds a fact for everything that was asked and has none.
func (l *look) rest(err error) {
	if err == nil {
		return
	}
	for _, p := range l.q.Paths {
		if !l.has(p) {
			l.facts.Files = append(l.facts.Files, verify.FileFact{Path: p, Changed: verify.Unverified, Tracked: verify.Unverified, Why: words(err)})
		}
	}
	for _, rev := range l.q.Commits {
		if !slices.ContainsFunc(l.facts.Commits, func(c verify.CommitFact) bool { return c.Rev == rev }) {
			l.facts.Commits = append(l.facts.Commits, verify.CommitFact{Rev: rev, Exists: verify.Unverified, Reachable: verify.Unverified, Why: words(err)})
		}
	}
}
