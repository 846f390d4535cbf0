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
	sparse  bool   // some files are not checked out
	own     []string
}

var errNoRepository = errors.New("it is not in a git repository")

// open finds the repository that dir is in.
func open(ctx context.Context, program, dir string) (*repository, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
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
	if err != nil || sub != "." && !filepath.IsLocal(sub) { // core.worktree may name any folder
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
	r.shallow = shallow == "true"
	sparse, err := r.line(ctx, "config", "--type=bool", "--get", "core.sparseCheckout")
	if err != nil && !exited(err, 1) {
		return nil, err
	}
	r.sparse = sparse == "true"
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

// newStore makes a store in a folder.
func newStore(dir string, others ...string) (*store, error) {
	if err := os.MkdirAll(filepath.Join(dir, "objects"), 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for objects: %w", err)
	}
	return &store{dir, others}, nil
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
	mine := s.in(r, "index-"+strings.NewReplacer("/", "-", ":", "-").Replace(strings.TrimPrefix(r.root, "/")))
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
	forced, err := r.names(ctx, nil, "ls-files", "-z", "--cached", "--ignored",
		"--exclude-standard") // added although they are ignored
	if err != nil {
		return "", err
	}
	left, err := r.leftOut(ctx)
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
	bytes, seen := int64(0), map[string]bool{}
	for _, name := range slices.Concat(changed, others, forced, ignored) {
		if seen[name] || slices.Contains(links, name) {
			continue
		}
		seen[name] = true
		if strings.HasSuffix(name, "/") {
			nested = append(nested, strings.TrimSuffix(name, "/"))
			continue
		}
		info, err := r.lstat(name)
		switch {
		case err != nil:
			if !left[name] {
				drop = append(drop, name)
			}
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
	for _, step := range []struct {
		names []string
		flags []string
	}{{drop, []string{"--force-remove"}}, {add, []string{"--add", "--replace"}}} {
		if len(step.names) > 0 {
			in := []byte(strings.Join(step.names, "\x00") + "\x00")
			args := slices.Concat([]string{"update-index", "-z"}, step.flags, []string{"--stdin"})
			if _, err := mine.run(ctx, in, args...); err != nil {
				return "", err
			}
		}
	}
	if err := s.flatten(ctx, mine, append(nested, links...), depth); err != nil {
		return "", err
	}
	return mine.line(ctx, "write-tree")
}

// leftOut returns the files that a sparse checkout leaves out. It leaves out whole folders: a single file beside
// others that are there counts as removed.
func (r *repository) leftOut(ctx context.Context) (map[string]bool, error) {
	if !r.sparse {
		return nil, nil
	}
	names, err := r.names(ctx, nil, "ls-files", "-z", "-t", "--cached")
	left, here := map[string]bool{}, map[string]bool{}
	for _, n := range names {
		if tag, name, ok := strings.Cut(n, " "); ok && tag != "S" {
			here[path.Dir(name)] = true
		}
	}
	for _, n := range names {
		if tag, name, ok := strings.Cut(n, " "); ok && tag == "S" && !here[path.Dir(name)] {
			left[name] = true
		}
	}
	return left, err
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
		sub, err := open(ctx, mine.program, full)
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
		if err := mine.graft(ctx, name, tree, s.in(sub, "none")); err != nil {
			return err
		}
		if !slices.Contains(s.others, sub.objects) {
			s.others = append(s.others, sub.objects)
		}
		*mine = *s.in(mine, filepath.Base(mine.indexFile()))
	}
	return nil
}

// graft puts a tree into the index in the place of a submodule.
func (r *repository) graft(ctx context.Context, name, tree string, objects *repository) error {
	if _, err := r.run(ctx, []byte(name+"\x00"), "update-index", "-z", "--force-remove", "--stdin"); err != nil {
		return err
	}
	entries, err := objects.names(ctx, nil, "ls-tree", "-r", "-z", tree)
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
	_, err = r.run(ctx, []byte(in.String()), "update-index", "-z", "--index-info")
	return err
}

func (r *repository) indexFile() string {
	for i := len(r.env) - 1; i >= 0; i-- {
		if name, ok := strings.CutPrefix(r.env[i], "GIT_INDEX_FILE="); ok {
			return name
		}
	}
	return ""
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
		sub, err := open(ctx, r.program, filepath.Join(r.root, filepath.FromSlash(name)))
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
			if err := mine.graft(ctx, name, fields[2], sub); err != nil {
				return "", err
			}
			if !slices.Contains(s.others, sub.objects) {
				s.others = append(s.others, sub.objects)
			}
			mine = s.in(r, "index-base")
		}
	}
	if !found {
		return tree, nil
	}
	return mine.line(ctx, "write-tree")
}
