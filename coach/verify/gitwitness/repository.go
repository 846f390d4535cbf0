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

	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

// repository is a working tree as it was found when a look began.
type repository struct {
	git            // in root, with filters off
	root    string // the top of the working tree, symbolic links resolved
	sub     string // where the folder that was given is in it, in slashes; "." at the top
	objects string // the folder of its objects
	head    string // the commit that is checked out; empty before the first
	shallow bool   // old commits are not there
	own     []string
}

// open finds the repository that dir is in.
func open(ctx context.Context, dir string) (*repository, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	g := git{dir: dir}
	if err := g.checkVersion(ctx); err != nil {
		return nil, err
	}
	about, err := g.line(ctx, "rev-parse", "--path-format=absolute", "--is-shallow-repository", "--git-path", "objects",
		"--show-toplevel")
	if err != nil {
		if e, ok := errors.AsType[*exitError](err); ok && strings.Contains(e.said, "not a git repository") {
			return nil, errors.New("it is not in a git repository")
		} else if ok && strings.Contains(e.said, "must be run in a work tree") {
			return nil, errors.New("it is a bare repository, or the inside of one: there are no files to look at")
		}
		return nil, err
	}
	lines := strings.SplitN(about, "\n", 3)
	r := &repository{git: g, shallow: lines[0] == "true", objects: lines[1]}
	if r.root, err = filepath.EvalSymlinks(filepath.FromSlash(lines[2])); err != nil {
		return nil, err
	}
	sub, err := filepath.Rel(r.root, dir)
	if err != nil || sub != "." && !filepath.IsLocal(sub) { // core.worktree may name any folder
		return nil, errors.New("the repository's settings say that its files are elsewhere (core.worktree)")
	}
	r.sub, r.git.dir = filepath.ToSlash(sub), r.root
	off, err := r.filtersOff(ctx)
	if err != nil {
		return nil, err
	}
	r.git = r.with(off...)
	if sparse, _ := r.line(ctx, "config", "--type=bool", "--get", "core.sparseCheckout"); sparse == "true" {
		return nil, errors.New("it is a sparse checkout: run git sparse-checkout disable")
	}
	r.head, err = r.commit(ctx, "HEAD")
	if errors.Is(err, errNoCommit) {
		err = nil
	}
	return r, err
}

// store is a place for objects and indexes of our own.
type store struct {
	dir    string
	others []string // folders of objects that are read, too
}

func newStore(dir string) (*store, error) {
	if err := os.MkdirAll(filepath.Join(dir, "objects"), 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for objects: %w", err)
	}
	return &store{dir: dir}, nil
}

// in returns the repository with the objects and an index of the store.
func (s *store) in(r *repository, index string) *repository {
	mine := *r
	var others []string
	for _, dir := range append([]string{r.objects}, s.others...) {
		others = append(others, quoted(dir))
	}
	mine.git = r.with("GIT_INDEX_FILE="+filepath.Join(s.dir, index),
		"GIT_OBJECT_DIRECTORY="+filepath.Join(s.dir, "objects"),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES="+strings.Join(others, string(os.PathListSeparator)))
	return &mine
}

// quoted returns a folder as one of a list, in which a separator would end it.
func quoted(folder string) string {
	if !strings.ContainsAny(folder, "\":;") || os.PathSeparator == '\\' {
		return folder
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(folder) + `"`
}

// What of a tree is read that is not committed.
const (
	maxBytes  = 1 << 30
	maxFiles  = 100_000
	maxNested = 50
	maxDepth  = 3
)

// snapshot writes the working tree to the store and returns its hash: the files that are tracked or not ignored,
// ignored programs beside them, and those of the repositories inside.
func (s *store) snapshot(ctx context.Context, r *repository, depth int) (string, error) {
	index := "index-" + strings.NewReplacer("/", "-", ":", "-").Replace(strings.TrimPrefix(r.root, "/"))
	mine := s.in(r, index)
	start := "--empty"
	if r.head != "" {
		start = r.head
	}
	if _, err := mine.run(ctx, nil, "read-tree", start); err != nil {
		return "", err
	}
	// Sizes and times are filled in, by reading every file.
	if _, err := mine.run(ctx, nil, "update-index", "-q", "--ignore-submodules", "--refresh"); err != nil &&
		!exited(err, 1) {
		return "", err
	}
	changed, err := mine.names(ctx, nil, "diff-files", "-z", "--name-only", "--no-ext-diff", "--no-renames",
		"--ignore-submodules=dirty")
	if err != nil {
		return "", err
	}
	others, err := mine.names(ctx, nil, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return "", err
	}
	// Some files were added although they are ignored.
	forced, err := r.names(ctx, nil, "ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
	if err != nil {
		return "", err
	}
	ignored, err := r.ignoredPrograms(ctx)
	if err != nil {
		return "", err
	}
	links, err := mine.links(ctx)
	if err != nil {
		return "", err
	}
	var add, drop, nested []string
	bytes, names := int64(0), slices.Concat(changed, others, forced, ignored)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if slices.Contains(links, name) {
			continue
		}
		if strings.HasSuffix(name, "/") {
			nested = append(nested, strings.TrimSuffix(name, "/"))
			continue
		}
		info, err := r.lstat(name)
		switch {
		case err != nil:
			drop = append(drop, name)
		case info.IsDir():
		case slices.Contains(others, name) && slices.Contains(r.own, filepath.Join(r.root, filepath.FromSlash(name))):
		case info.Mode().IsRegular() || info.Mode()&os.ModeSymlink != 0:
			if f, err := os.Open(filepath.Join(r.root, filepath.FromSlash(name))); err == nil {
				f.Close()
			} else if info.Mode().IsRegular() {
				continue // nobody can read it
			}
			add, bytes = append(add, name), bytes+info.Size()
		}
	}
	if bytes > maxBytes || len(add) > maxFiles {
		return "", errors.New("the tree has too much that is not committed")
	}
	if err := mine.update(ctx, drop, "--force-remove"); err != nil {
		return "", err
	}
	if err := mine.update(ctx, add, "--add", "--replace"); err != nil {
		return "", err
	}
	if err := s.flatten(ctx, mine, append(nested, links...), depth); err != nil {
		return "", err
	}
	return s.in(r, index).line(ctx, "write-tree") // with the objects of those inside
}

// update updates the index from files.
func (r *repository) update(ctx context.Context, names []string, flags ...string) error {
	if len(names) == 0 {
		return nil
	}
	args := slices.Concat([]string{"update-index", "-z"}, flags, []string{"--stdin"})
	_, err := r.run(ctx, []byte(strings.Join(names, "\x00")+"\x00"), args...)
	return err
}

// lstat returns what a name is. A name behind a symbolic link or a file is not there.
func (r *repository) lstat(name string) (os.FileInfo, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(r.root, filepath.FromSlash(dir))); err == nil && !info.IsDir() {
			return nil, os.ErrNotExist
		}
	}
	return os.Lstat(filepath.Join(r.root, filepath.FromSlash(name)))
}

// links returns the submodules in the index.
func (r *repository) links(ctx context.Context) ([]string, error) {
	entries, err := r.names(ctx, nil, "ls-files", "-z", "--stage")
	var list []string
	for _, e := range entries {
		if mode, name, ok := strings.Cut(e, "\t"); ok && strings.HasPrefix(mode, "160000 ") {
			list = append(list, name)
		}
	}
	return list, err
}

// flatten puts the files of the repositories inside the tree into the index.
func (s *store) flatten(ctx context.Context, mine *repository, nested []string, depth int) error {
	if len(nested) > maxNested || len(nested) > 0 && depth >= maxDepth {
		return errors.New("the tree holds too many repositories")
	}
	for _, name := range nested {
		full := filepath.Join(mine.root, filepath.FromSlash(name))
		if _, err := os.Lstat(filepath.Join(full, ".git")); err != nil {
			continue // a submodule that is not checked out
		}
		sub, err := open(ctx, full)
		if err != nil {
			return err
		}
		if sub.sub != "." {
			continue
		}
		tree, err := s.snapshot(ctx, sub, depth+1)
		if err != nil {
			return err
		}
		if err := s.graft(ctx, mine, name, tree, sub); err != nil {
			return err
		}
	}
	return nil
}

// graft puts a tree of the repository sub into the index of mine, in the place of a submodule.
func (s *store) graft(ctx context.Context, mine *repository, name, tree string, sub *repository) error {
	if err := mine.update(ctx, []string{name}, "--force-remove"); err != nil {
		return err
	}
	if !slices.Contains(s.others, sub.objects) {
		s.others = append(s.others, sub.objects)
	}
	entries, err := s.in(sub, "none").names(ctx, nil, "ls-tree", "-r", "-z", tree)
	if err != nil {
		return err
	}
	var in strings.Builder
	for _, e := range entries {
		meta, file, ok := strings.Cut(e, "\t")
		fields := strings.Fields(meta)
		if ok && len(fields) == 3 && fields[1] == "blob" {
			fmt.Fprintf(&in, "%s %s\t%s/%s\x00", fields[0], fields[2], name, file)
		}
	}
	_, err = mine.run(ctx, []byte(in.String()), "update-index", "-z", "--index-info")
	return err
}

// ignoredPrograms returns the ignored files that tests may use all the same: programs, and settings of tests, in
// folders that are not ignored.
func (r *repository) ignoredPrograms(ctx context.Context) ([]string, error) {
	names, err := r.ignored(ctx)
	return slices.DeleteFunc(names, func(name string) bool {
		return strings.HasSuffix(name, "/") || !testcode.IsCode(name) && !configName.Match(path.Base(name))
	}), err
}

// ignored returns what is ignored; a folder that is ignored as a whole ends with a slash.
func (r *repository) ignored(ctx context.Context) ([]string, error) {
	return r.names(ctx, nil, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
}

// baseTree returns the tree of a commit with the files of its submodules, as far as their commits are known here.
func (s *store) baseTree(ctx context.Context, r *repository, commit string) (string, error) {
	tree, err := r.line(ctx, "rev-parse", "--verify", "--end-of-options", commit+"^{tree}")
	if err != nil {
		return "", err
	}
	entries, err := r.names(ctx, nil, "ls-tree", "-r", "-z", tree)
	if err != nil {
		return "", err
	}
	mine := s.in(r, "index-base")
	found := false
	for _, e := range entries {
		meta, name, _ := strings.Cut(e, "\t")
		fields := strings.Fields(meta)
		if len(fields) != 3 || fields[1] != "commit" {
			continue
		}
		sub, err := open(ctx, filepath.Join(r.root, filepath.FromSlash(name)))
		if err != nil || sub.sub != "." {
			continue
		}
		if !found {
			if _, err := mine.run(ctx, nil, "read-tree", tree); err != nil {
				return "", err
			}
			found = true
		}
		if _, err := sub.line(ctx, "rev-parse", "--verify", "--end-of-options", fields[2]+"^{tree}"); err == nil {
			if err := s.graft(ctx, mine, name, fields[2], sub); err != nil {
				return "", err
			}
		}
	}
	if !found {
		return tree, nil
	}
	return s.in(r, "index-base").line(ctx, "write-tree")
}
