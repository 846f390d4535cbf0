package gitwitness

import (
	"cmp"
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
}

// open finds the repository that dir is in.
func open(ctx context.Context, dir string) (r *repository, err error) {
	defer catch(&err)
	if dir == "" {
		check(errors.New("the folder of the working tree is not set"))
	}
	dir = must(filepath.EvalSymlinks(must(filepath.Abs(dir))))
	r = &repository{git: git{ctx: ctx, dir: dir}}
	about, err := r.line("rev-parse", "--path-format=absolute", "--is-shallow-repository", "--git-path", "objects",
		"--show-toplevel")
	if says := fmt.Sprint(err); strings.Contains(says, "not a git repository") {
		err = errors.New("it is not in a git repository")
	} else if strings.Contains(says, "must be run in a work tree") {
		err = errors.New("it is a bare repository, or the inside of one: there are no files to look at")
	}
	check(err)
	lines := strings.SplitN(about, "\n", 3)
	if strings.HasPrefix(about, "--") { // it does not know the option, or numbered variables, which switch filters off
		return nil, errors.New("git is too old: 2.31 or later is needed")
	}
	r.shallow, r.objects = lines[0] == "true", lines[1]
	r.root = must(filepath.EvalSymlinks(filepath.FromSlash(lines[2])))
	sub, err := filepath.Rel(r.root, dir)
	if err != nil || sub != "." && !filepath.IsLocal(sub) { // core.worktree may name any folder
		return nil, errors.New("the repository's settings say that its files are elsewhere (core.worktree)")
	}
	r.sub, r.dir = filepath.ToSlash(sub), r.root
	r.git = r.with(r.filtersOff()...)
	if sparse, _ := r.line("config", "--type=bool", "--get", "core.sparseCheckout"); sparse == "true" {
		return nil, errors.New("it is a sparse checkout: run git sparse-checkout disable")
	}
	if r.head, err = r.commit("HEAD"); !errors.Is(err, errNoCommit) {
		check(err)
	}
	return r, nil
}

// full returns the path of a file of the tree on this machine.
func (r *repository) full(name string) string { return filepath.Join(r.root, filepath.FromSlash(name)) }

// store is a place for objects and indexes of our own.
type store struct {
	dir    string
	others []string // folders of objects that are read, too
	own    []string // files of the host that are left out
}

func newStore(dir string) *store {
	check(os.MkdirAll(filepath.Join(dir, "objects"), 0o700))
	return &store{dir: dir}
}

// in returns the repository with the objects and an index of the store.
func (s *store) in(r *repository, index string) *repository {
	mine := *r
	others := append([]string{r.objects}, s.others...)
	mine.git = r.with("GIT_INDEX_FILE="+filepath.Join(s.dir, index),
		"GIT_OBJECT_DIRECTORY="+filepath.Join(s.dir, "objects"),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES="+strings.Join(others, string(os.PathListSeparator)))
	return &mine
}

// What of a tree is read that is not committed.
const (
	maxBytes  = 1 << 30
	maxFiles  = 100_000
	maxNested = 50
)

// snapshot writes the working tree to the store and returns its hash: the files that are tracked or not ignored,
// ignored programs beside them, and those of the repositories inside.
func (s *store) snapshot(r *repository) string {
	index := "index-" + strings.NewReplacer("/", "-", ":", "-").Replace(strings.TrimPrefix(r.root, "/"))
	mine := s.in(r, index)
	must(mine.run("", "read-tree", cmp.Or(r.head, "--empty")))
	// Sizes and times are filled in, by reading every file.
	if _, err := mine.run("", "update-index", "-q", "--ignore-submodules", "--refresh"); !exited(err, 1) {
		check(err)
	}
	tracked, links := map[string]bool{}, []string{} // links are the submodules
	for _, e := range mine.entries() {
		if tracked[e.name] = true; e.mode == "160000" {
			links = append(links, e.name)
		}
	}
	// Some files were added although they are ignored.
	names := slices.Concat(must(mine.names("ls-files", "-z", "--modified", "--others", "--exclude-standard")),
		must(r.names("ls-files", "-z", "--cached", "--ignored", "--exclude-standard")), r.ignoredPrograms())
	slices.Sort(names)
	var add, drop, nested []string
	bytes := int64(0)
	for _, name := range slices.Compact(names) {
		if inside, ok := strings.CutSuffix(name, "/"); ok {
			nested = append(nested, inside)
			continue
		}
		info, err := r.lstat(name)
		switch {
		case slices.Contains(links, name) || !tracked[name] && slices.Contains(s.own, r.full(name)):
		case err != nil:
			drop = append(drop, name)
		case info.Mode()&os.ModeSymlink != 0, info.Mode().IsRegular() && readable(r.full(name)):
			add, bytes = append(add, name), bytes+info.Size()
		}
	}
	if bytes > maxBytes || len(add) > maxFiles {
		check(errors.New("the tree has too much that is not committed"))
	}
	mine.update(drop, "--force-remove")
	mine.update(add, "--add", "--replace")
	if nested = append(nested, links...); len(nested) > maxNested {
		check(errors.New("the tree holds too many repositories"))
	}
	for _, name := range nested {
		if _, err := os.Lstat(filepath.Join(r.full(name), ".git")); err != nil {
			continue // a submodule that is not checked out
		}
		if inner := must(open(r.ctx, r.full(name))); inner.sub == "." {
			s.graft(r, index, name, s.snapshot(inner), inner)
		}
	}
	return must(s.in(r, index).line("write-tree")) // with the objects of those inside
}

func readable(name string) bool {
	f, err := os.Open(name)
	if err == nil {
		f.Close()
	}
	return err == nil
}

func (r *repository) update(names []string, flags ...string) {
	args := slices.Concat([]string{"update-index", "-z"}, flags, []string{"--stdin"})
	must(r.run(strings.Join(names, "\x00"), args...))
}

// lstat returns what a name is. A name behind a symbolic link or a file is not there.
func (r *repository) lstat(name string) (os.FileInfo, error) {
	dir := filepath.Dir(r.full(name))
	if real, err := filepath.EvalSymlinks(dir); err != nil || !strings.EqualFold(real, dir) {
		return nil, os.ErrNotExist
	}
	return os.Lstat(r.full(name))
}

// entry is a line of ls-files --stage.
type entry struct{ mode, hash, name string }

func (r *repository) entries() (list []entry) {
	for _, line := range must(r.names("ls-files", "-z", "--stage")) {
		about, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(about)
		list = append(list, entry{fields[0], fields[1], name})
	}
	return list
}

// graft puts a tree of the repository inner into an index of r, in the place of a submodule.
func (s *store) graft(r *repository, index, name, tree string, inner *repository) {
	if !slices.Contains(s.others, inner.objects) {
		s.others = append(s.others, inner.objects)
	}
	mine := s.in(r, index)
	mine.update([]string{name}, "--force-remove")
	must(mine.run("", "read-tree", "--prefix="+name+"/", tree))
}

// ignoredPrograms returns the ignored files that tests may use all the same: programs, and settings of tests, in
// folders that are not ignored.
func (r *repository) ignoredPrograms() []string {
	return slices.DeleteFunc(r.ignored(), func(name string) bool {
		return strings.HasSuffix(name, "/") || !testcode.IsCode(name) && !lex().ConfigName.Match(path.Base(name))
	})
}

// ignored returns what is ignored; a folder that is ignored as a whole ends with a slash.
func (r *repository) ignored() []string {
	return must(r.names("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"))
}

// baseTree returns the tree of a commit with the files of its submodules, as far as their commits are known here.
func (s *store) baseTree(r *repository, commit string) string {
	mine := s.in(r, "index-base")
	must(mine.run("", "read-tree", commit))
	for _, e := range mine.entries() {
		if e.mode != "160000" {
			continue
		}
		inner, err := open(r.ctx, r.full(e.name))
		if err != nil || inner.sub != "." {
			continue
		}
		if _, err := inner.line("rev-parse", "--verify", "--end-of-options", e.hash+"^{tree}"); err == nil {
			s.graft(r, "index-base", e.name, e.hash, inner)
		}
	}
	return must(s.in(r, "index-base").line("write-tree")) // with the objects of those inside
}
