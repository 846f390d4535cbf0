package gitwitness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

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
	for _, name := range v.ignored() {
		if !lex().Made.Match(name) {
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
