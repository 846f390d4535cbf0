package gitwitness

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

// repository is a working tree as it was found when a look began. Git runs in it until the context ends.
type repository struct {
	ctx     context.Context
	dir     string   // where git runs: the root, once it is known
	env     []string // the whole environment of git
	root    string   // the top of the working tree, symbolic links resolved
	sub     string   // where the folder that was given is in it, in slashes; "." at the top
	objects string   // the folder of its objects
	head    string   // the commit that is checked out; empty before the first
	shallow bool     // old commits are not there
	remote  bool     // it knows another repository
	// What is ignored, as the tree was read; a folder that is ignored as a whole ends with a slash. Programs are the
	// ignored files that tests may use all the same: programs, and settings of tests, in folders that are not ignored.
	ignored, programs []string
}

// open finds the repository that dir is in.
func open(ctx context.Context, dir string) (r *repository, err error) {
	defer catch(&err)
	if dir == "" {
		check(errors.New("the folder of the working tree is not set"))
	}
	dir = must(filepath.EvalSymlinks(must(filepath.Abs(dir))))
	clean, _ := cmdwitness.Environment{Clean: true}.Of(os.Environ())
	r = &repository{ctx: ctx, dir: dir,
		env: slices.Concat(clean, lex("Environment").Words, []string{"GIT_GRAFT_FILE=" + os.DevNull})}
	about, err := r.line("rev-parse", "--path-format=absolute", "--is-shallow-repository", "--git-path", "objects",
		"--show-toplevel", "--revs-only", "HEAD^{commit}") // nothing for the last one before the first commit
	if says := fmt.Sprint(err); strings.Contains(says, "not a git repository") {
		err = errors.New("it is not in a git repository")
	} else if strings.Contains(says, "must be run in a work tree") {
		err = errors.New("it is a bare repository, or the inside of one: there are no files to look at")
	}
	check(err)
	if last := strings.LastIndexByte(about, '\n'); lex("Hash").Match(about[last+1:]) {
		about, r.head = about[:last], about[last+1:]
	}
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
	if r.settings() {
		return nil, errors.New("it is a sparse checkout: run git sparse-checkout disable")
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
	mine, others := *r, append([]string{r.objects}, s.others...)
	mine.env = append(slices.Clone(r.env), "GIT_INDEX_FILE="+filepath.Join(s.dir, index),
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
	tracked, links, names := mine.staged("--modified", "--others", "--exclude-standard")
	// Some files were added although they are ignored.
	for _, line := range must(r.names("ls-files", "-z", "-t", "--others", "--cached", "--ignored", "--exclude-standard",
		"--directory")) {
		if name, other := strings.CutPrefix(line, "? "); other {
			r.ignored = append(r.ignored, name)
		} else {
			names = append(names, line[2:])
		}
	}
	r.programs = slices.DeleteFunc(slices.Clone(r.ignored), func(name string) bool {
		return strings.HasSuffix(name, "/") || !testcode.IsCode(name) && !lex("ConfigName").Match(path.Base(name))
	})
	names = append(names, r.programs...)
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
		case links[name] != "" || !tracked[name] && slices.Contains(s.own, r.full(name)):
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
	if nested = slices.AppendSeq(nested, maps.Keys(links)); len(nested) > maxNested {
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
	if len(names) == 0 {
		return
	}
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

const submodule = "160000" // the mode of one

// staged returns which files an index has, the commits of its submodules, and the names that the flags add.
func (r *repository) staged(flags ...string) (files map[string]bool, links map[string]string, more []string) {
	files, links = map[string]bool{}, map[string]string{}
	for _, line := range must(r.names(append([]string{"ls-files", "-z", "-t", "--stage"}, flags...)...)) {
		about, name, _ := strings.Cut(line[2:], "\t") // mode, hash and stage, if it is not "? name"
		switch part := strings.Fields(about); {
		case line[0] == '?':
			more = append(more, line[2:])
		case line[0] == 'C': // it has another content
			more = append(more, name)
		case part[0] == submodule:
			links[name] = part[1]
			fallthrough
		default:
			files[name] = true
		}
	}
	return files, links, more
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

// baseTree returns the tree of a commit with the files of its submodules, as far as their commits are known here.
func (s *store) baseTree(r *repository, commit string) string {
	if !slices.ContainsFunc(must(r.names("ls-tree", "-r", "-z", commit)), func(line string) bool {
		return strings.HasPrefix(line, submodule)
	}) {
		return must(r.line("rev-parse", "--verify", "--end-of-options", commit+"^{tree}"))
	}
	mine := s.in(r, "index-base")
	must(mine.run("", "read-tree", commit))
	_, links, _ := mine.staged()
	for name, hash := range links {
		inner, err := open(r.ctx, r.full(name))
		if err == nil && inner.sub == "." && inner.has(hash) {
			s.graft(r, "index-base", name, hash, inner)
		}
	}
	return must(s.in(r, "index-base").line("write-tree")) // with the objects of those inside
}

const (
	callTimeout = time.Minute // of one call of git
	maxAnswer   = 64 << 20    // bytes of its output that are read
	maxSource   = 4 << 20     // bytes of a file, or of the lines that git grep finds
)

// hardening keeps git from running, fetching or believing what the repository's settings say: the agent can write them.
var hardening = sync.OnceValue(func() []string {
	args := []string{"--no-pager", "--no-optional-locks", "--no-replace-objects",
		"-c", "core.hooksPath=" + os.DevNull, // post-index-change runs when an index is written
		"-c", "core.ignoreCase=" + strconv.FormatBool(runtime.GOOS != "linux")}
	for _, setting := range lex("Settings").Words {
		args = append(args, "-c", setting)
	}
	return args
})

// failure is an error that ends a look. Check and must raise it, and catch returns it.
type failure struct{ error }

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](x T, err error) T {
	check(err)
	return x
}

// catch is deferred by functions whose error may be a failure.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		*err = r.error
	default:
		panic(r)
	}
}

// exitError is a call of git that ended with another status than 0; with -1 if it was stopped.
type exitError struct {
	error
	status int
}

func exited(err error, status int) bool {
	e, ok := errors.AsType[exitError](err)
	return ok && e.status == status
}

// limited runs git with arguments, the first of which is the command. It returns at most max bytes of the standard
// output, and whether there were more.
func (r *repository) limited(max int, stdin string, args ...string) (text []byte, over bool, err error) {
	out := answer{max: max}
	cmd := cmdwitness.Command{
		Args:    slices.Concat([]string{"git"}, hardening(), args),
		Dir:     r.dir,
		Env:     r.env,
		Timeout: callTimeout,
		Keep:    4096,
		Stdout:  &out,
		Stdin:   strings.NewReader(stdin),
		Brief:   true,
	}
	result, err := cmdwitness.Run(r.ctx, cmd)
	if err == nil && (result.Why != "" || result.Exit != 0) {
		if m := lex("Complaint").Find(result.Output); m != nil {
			result.Output = m[1] // the first
		}
		said := plaintext.MaskedLine(strings.TrimSpace(result.Output), 200)
		why := cmp.Or(result.Why, said, fmt.Sprintf("it ended with status %d", result.Exit))
		err = exitError{fmt.Errorf("git %s: %s", args[0], why), result.Exit}
	}
	return out.text.Bytes(), out.over, err
}

// answer keeps up to max bytes. The buffer is not embedded: io.Copy would fill it by its ReadFrom, past the limit.
type answer struct {
	text bytes.Buffer
	max  int
	over bool
}

func (a *answer) Write(p []byte) (int, error) {
	part := p[:min(len(p), a.max-a.text.Len())]
	a.over = a.over || len(part) < len(p)
	a.text.Write(part)
	return len(p), nil
}

// run returns the whole output of a command.
func (r *repository) run(stdin string, args ...string) (string, error) {
	text, over, err := r.limited(maxAnswer, stdin, args...)
	if err == nil && over {
		err = fmt.Errorf("git %s: its answer is larger than %d MiB", args[0], maxAnswer>>20)
	}
	return string(text), err
}

// line is run for an answer of one line.
func (r *repository) line(args ...string) (string, error) {
	out, err := r.run("", args...)
	return strings.TrimRight(out, "\r\n"), err
}

// names is run for an answer of names that end with a zero byte.
func (r *repository) names(args ...string) ([]string, error) {
	out, err := r.run("", args...)
	return zeroSplit(out), err
}

func zeroSplit(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\x00"), "\x00")
}

// blob returns the content of a file; "" if it cannot be read whole.
func (r *repository) blob(object string) string {
	text, over, err := r.limited(maxSource, "", "cat-file", "blob", object)
	if err != nil || over {
		return ""
	}
	return string(text)
}

// settings switches every filter driver off, and returns whether the checkout is sparse. Clean filters are commands that
// would run when a file is compared with what is recorded.
func (r *repository) settings() (sparse bool) {
	set, err := r.names("config", "-z", "--get-regexp", `^(filter\..*|remote\.[^/].*\..*|core\.sparsecheckout)$`)
	if !exited(err, 1) { // there are none
		check(err)
	}
	filters := 0
	for _, setting := range set {
		key, value, has := strings.Cut(setting, "\n")
		switch off := ""; {
		case key == "core.sparsecheckout": // the last counts
			sparse = !has || !slices.Contains([]string{"false", "no", "off", "0", ""}, strings.ToLower(value))
		case strings.HasPrefix(key, "remote."):
			r.remote = true
		case strings.HasSuffix(key, ".required"):
			off = "false"
			fallthrough
		default:
			r.env = append(r.env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", filters, key),
				fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", filters, off))
			filters++
		}
	}
	r.env = append(r.env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", filters))
	return sparse
}

// has reports whether a tree, or that of a commit, is there.
func (r *repository) has(tree string) bool {
	_, err := r.run("", "cat-file", "-e", tree+"^{tree}")
	return tree != "" && err == nil
}

var errNoCommit = errors.New("there is no such commit")

// commit returns the full name of the commit that rev names. A rev that looks like a hash is one: a branch of that name
// does not stand for it. The error is errNoCommit, or says what went wrong.
func (r *repository) commit(rev string) (string, error) {
	if rev == r.head && rev != "" {
		return rev, nil
	}
	isHash := lex("HexName").Match(rev)
	if len(rev) > 256 || !isHash && !lex("RefName").Match(rev) || strings.Contains(rev, "..") {
		return "", errors.New("it is not the name of a commit")
	}
	name, err := r.line("rev-parse", "--verify", "--end-of-options", rev+"^{commit}")
	switch says := fmt.Sprint(err); {
	case strings.Contains(says, "ambiguous"),
		err == nil && isHash && !strings.HasPrefix(name, strings.ToLower(rev)): // an annotated tag, or a branch of that name
		err = errors.New("more than one commit can be meant")
	case lex("UnknownName").Match(says):
		err = errNoCommit
	}
	return name, err
}

// baseline is commit for what the host names.
func (r *repository) baseline(rev string) string {
	name, err := r.commit(rev)
	if err != nil {
		check(fmt.Errorf("the baseline: %w", err))
	}
	return name
}
