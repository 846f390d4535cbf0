package gitwitness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// repository is a working tree as it was found when a look began.
type repository struct {
	git                   // in root, with filters off
	root    string        // the top of the working tree, symbolic links resolved
	sub     string        // where Dir is in it, in slashes; "." at the top
	objects string        // the folder of its objects
	head    string        // the commit that is checked out; empty before the first
	cut     bool          // a shallow clone: old commits are not there
	part    bool          // a sparse checkout: some files are not there
	hosts   []fs.FileInfo // of the host, which are no part of the work while they are untracked
}

// errNoRepository says that there is nothing for git to look at.
var errNoRepository = errors.New("it is not in a git repository")

// open finds the repository that dir is in.
func open(ctx context.Context, program, dir string) (*repository, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	g := git{program: program, dir: dir}
	if err := g.checkVersion(ctx); err != nil {
		return nil, err
	}
	top, err := g.line(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		if e, ok := errors.AsType[*exitError](err); ok && strings.Contains(e.said, "not a git repository") {
			return nil, errNoRepository
		} else if ok && strings.Contains(e.said, "must be run in a work tree") {
			return nil, errors.New("it is a bare repository, or the inside of one: there are no files to look at")
		}
		return nil, err
	}
	r := &repository{git: g}
	if r.root, err = filepath.EvalSymlinks(filepath.FromSlash(top)); err != nil {
		return nil, err
	}
	sub, err := filepath.Rel(r.root, dir)
	if err != nil || sub != "." && !filepath.IsLocal(sub) {
		// core.worktree may name any folder
		return nil, errors.New("the repository's settings say that its files are elsewhere (core.worktree)")
	}
	r.sub, r.git.dir = filepath.ToSlash(sub), r.root
	if r.objects, err = r.line(ctx, "rev-parse", "--git-path", "objects"); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(r.objects) {
		r.objects = filepath.Join(r.root, r.objects)
	}
	off, err := r.filtersOff(ctx)
	if err != nil {
		return nil, err
	}
	r.git = r.with(off...)
	shallow, err := r.line(ctx, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return nil, err
	}
	r.cut = shallow == "true"
	sparse, err := r.line(ctx, "config", "--type=bool", "--get", "core.sparseCheckout")
	if err != nil && !exited(err, 1) {
		return nil, err
	}
	r.part = sparse == "true"
	r.head, err = r.commit(ctx, "HEAD")
	if errors.Is(err, errNoCommit) {
		err = nil
	}
	return r, err
}

// quoted returns a folder as one of a list, in which a separator would end it.
func quoted(folder string) string {
	if !strings.ContainsAny(folder, "\":;") || os.PathSeparator == '\\' {
		return folder
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(folder) + `"`
}

// own returns r with an index of its own that holds the files of a commit, or none if base is empty, and a place of its own
// for new objects, and what removes them. The user's index is not touched, nor believed: it may say that a file is to be taken for unchanged.
func (r *repository) own(ctx context.Context, base string) (*repository, func(), error) {
	folder, err := os.MkdirTemp("", "gitwitness-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for an index: %w", err)
	}
	remove := func() { _ = os.RemoveAll(folder) }
	mine := *r
	mine.git = r.with("GIT_INDEX_FILE="+filepath.Join(folder, "index"), "GIT_OBJECT_DIRECTORY="+filepath.Join(folder, "objects"),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES="+quoted(r.objects))
	if err = os.Mkdir(filepath.Join(folder, "objects"), 0o700); err == nil {
		what := base
		if base == "" {
			what = "--empty"
		}
		_, err = mine.run(ctx, nil, "read-tree", what)
	}
	if err == nil {
		// What it says of sizes and times is filled in, by reading every file: otherwise all of them would seem to differ.
		if _, err = mine.run(ctx, nil, "update-index", "-q", "--ignore-submodules", "--refresh"); exited(err, 1) {
			err = nil // some differ
		}
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	return &mine, remove, nil
}

// tracked returns the files in the user's index, with what is wrong with its entry: "S" is a file that a sparse checkout leaves out.
func (r *repository) tracked(ctx context.Context) (map[string]bool, error) {
	names, err := r.names(ctx, nil, "ls-files", "-z", "-t", "--cached")
	if err != nil {
		return nil, err
	}
	list := make(map[string]bool, len(names))
	for _, n := range names {
		tag, name, ok := strings.Cut(n, " ")
		if ok {
			list[name] = list[name] || tag == "S"
		}
	}
	return list, nil
}

// untracked returns the files that are in no index and not ignored. A name that ends with a slash is a folder with a
// repository of its own.
func (r *repository) untracked(ctx context.Context) ([]string, error) {
	names, err := r.names(ctx, nil, "ls-files", "-z", "--others", "--exclude-standard")
	if len(r.hosts) == 0 {
		return names, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		info, err := os.Lstat(filepath.Join(r.root, filepath.FromSlash(name)))
		return err == nil && slices.ContainsFunc(r.hosts, func(own fs.FileInfo) bool { return os.SameFile(own, info) })
	}), err
}

// ignoredFiles returns the ignored files that stand in folders with others that are not.
func (r *repository) ignoredFiles(ctx context.Context) ([]string, error) {
	names, err := r.names(ctx, nil, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "/") }), err
}
