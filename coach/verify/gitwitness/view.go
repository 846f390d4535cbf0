package gitwitness

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

//go:embed patterns.txt
var patternsText string

var lex = lazy.Load(patternsText)

type view struct {
	*repository
	store *store
	mine  *repository // with the store
	tree  string      // of the working tree
}

// base is what a tree is compared with.
type base struct {
	name   string // for people and for the facts; empty: there is no baseline, and tree is what is checked out
	commit string // at which the work began; empty before the first
	tree   string
	exact  bool // the tree is that of a snapshot: files that were not committed count
}

// base returns the baseline of a query: the revision that it names, else the snapshot of the host.
func (w *Witness) base(v *view, revision string) (b base, err error) {
	defer catch(&err)
	s := w.Base
	switch {
	case revision != "":
		commit := v.baseline(revision)
		return base{commit, commit, v.store.baseTree(v.repository, commit), false}, nil
	case s == nil:
		return base{tree: v.orEmpty(v.head)}, nil
	case s.Root != v.root:
		return base{}, errors.New("the baseline is of another folder")
	case !v.mine.has(s.Tree):
		return base{}, errors.New("the baseline is gone")
	}
	return base{"snapshot " + s.Tree, s.Head, s.Tree, true}, nil
}

// difference is a file that differs between two trees.
type difference struct {
	verify.Change
	objects  [2]string // then and now
	old, now string    // the texts, if they were read
	unread   bool      // one of them is too large
	link     bool      // it is a submodule
}

func (v *view) diff(from, to string) (list []*difference) {
	if from == to {
		return nil
	}
	fields := must(v.mine.names("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff",
		from, to))
	for pair := range slices.Chunk(fields, 2) {
		about := strings.Fields(strings.TrimPrefix(pair[0], ":"))
		d := &difference{objects: [2]string(about[2:4]), link: about[0] == submodule || about[1] == submodule}
		d.Change = verify.Change{Path: pair[1], Kind: verify.Modified, Hash: about[3]}
		switch about[4] {
		case "A":
			d.Kind = verify.Added
		case "D":
			d.Kind, d.Hash = verify.Removed, ""
		}
		list = append(list, d)
	}
	return list
}

func (v *view) differing(from, to string) []string {
	return must(v.mine.names("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", from, to))
}

// read fills in the texts of a list, as far as they fit. A file that is not there, or a submodule, has none.
func (v *view) read(list []*difference) {
	if len(list) == 0 {
		return
	}
	var in strings.Builder
	for _, d := range list {
		in.WriteString(strings.Join(d.objects[:], "\n") + "\n")
	}
	out, _, err := v.mine.limited(maxAnswer, in.String(), "cat-file", "--batch")
	check(err)
	all := string(out)
	next := func() (text string, ok bool) { // NAME TYPE SIZE, the content, each with the end of a line; or NAME missing
		head, rest, _ := strings.Cut(all, "\n")
		_, about, _ := strings.Cut(head, " ")
		kind, digits, _ := strings.Cut(about, " ")
		size, err := strconv.Atoi(digits)
		switch {
		case kind == "missing":
			all = rest
			return "", true
		case err != nil || size >= len(rest): // it was cut off
			all = ""
			return "", false
		case kind == "blob" && size < maxSource:
			text = rest[:size]
		}
		all = rest[size+1:]
		return text, size < maxSource
	}
	for _, d := range list {
		var before, after bool
		d.old, before = next()
		d.now, after = next()
		d.unread = !before || !after
	}
}

// view reads the working tree into the witness's store.
func (w *Witness) view(ctx context.Context) *view {
	r := must(open(ctx, w.Dir))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dir == "" {
		w.dir = must(os.MkdirTemp("", "gitwitness-"))
	}
	s := newStore(w.dir)
	for _, name := range w.Own {
		abs := must(filepath.Abs(name))
		if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
			s.own = append(s.own, filepath.Join(dir, filepath.Base(abs)))
		}
	}
	for _, snap := range []*Snapshot{w.Base, w.First} {
		if snap != nil {
			s.others = append(s.others, filepath.Join(snap.Store, "objects"))
		}
	}
	v := &view{repository: r, store: s, tree: s.snapshot(r)}
	v.mine = s.in(r, "index-view")
	return v
}

// orEmpty returns a commit, or without one the tree that has no files.
func (v *view) orEmpty(commit string) string {
	if commit != "" {
		return commit
	}
	return must(v.mine.line("hash-object", "-w", "-t", "tree", "--stdin"))
}

// Checkout writes the baseline to an empty folder: the revision, or without one the snapshot of the witness.
// Dependencies that git ignores, such as node_modules, are linked from the working tree, so that the baseline can
// run. It returns where in the folder the witness's own folder is, and the hash of the baseline's tree.
//
// The error says why the baseline cannot be had, also where the dependencies lead back to the working tree.
func (w *Witness) Checkout(ctx context.Context, revision, dir string) (folder, tree string, err error) {
	defer catch(&err)
	v := w.view(ctx)
	b := must(w.base(v, revision))
	if b.name == "" {
		return "", "", errors.New("there is no baseline")
	}
	dir = must(filepath.EvalSymlinks(dir))
	mine := v.store.in(v.repository, "index-checkout")
	must(mine.run("", "read-tree", b.tree))
	must(mine.run("", "checkout-index", "-a", "-q", "--prefix="+filepath.ToSlash(dir)+"/"))
	for _, name := range v.ignored {
		if !lex("Made").Match(name) {
			link(v.root, dir, strings.TrimSuffix(name, "/"))
		}
	}
	return filepath.Join(dir, filepath.FromSlash(v.sub)), b.tree, nil
}

// link makes an ignored file or folder of one tree part of another. In node_modules each package is linked by itself:
// a link between packages of the project stays one inside its tree.
func link(from, to, name string) {
	source, target := filepath.Join(from, filepath.FromSlash(name)), filepath.Join(to, filepath.FromSlash(name))
	info, err := os.Lstat(source)
	if _, there := os.Lstat(target); err != nil || there == nil {
		return
	}
	check(os.MkdirAll(filepath.Dir(target), 0o700))
	base, isPackage := path.Base(name), path.Base(path.Dir(name)) == "node_modules"
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		source = must(os.Readlink(source))
		if rel, err := filepath.Rel(from, source); err == nil && filepath.IsLocal(rel) {
			source = filepath.Join(to, rel)
		}
	case info.IsDir() && (base == "node_modules" || isPackage && (base == ".bin" || strings.HasPrefix(base, "@"))):
		for _, e := range must(os.ReadDir(source)) {
			if !slices.Contains([]string{".cache", ".vite", ".package-lock.json"}, e.Name()) {
				link(from, to, path.Join(name, e.Name()))
			}
		}
		return
	case info.IsDir() && leadsBack(source, from):
		check(fmt.Errorf("%s leads back to the working tree (an editable install)", name))
	}
	check(os.Symlink(source, target))
}

// leadsBack reports whether a folder of Python packages has the working tree as one of them.
func leadsBack(folder, root string) bool {
	for _, lib := range []string{"lib*/python*", "Lib"} {
		names, _ := filepath.Glob(filepath.Join(folder, filepath.FromSlash(lib), "site-packages", "*"))
		for _, name := range names {
			if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(root)) {
				return true
			}
		}
	}
	return false
}
