package gitwitness_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
)

// fact is what matters of a FileFact, in a line: state, changed, kind, clean.
func fact(f verify.FileFact) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", f.State, f.Changed, f.Kind, f.Clean))
}

func TestClaimedFiles(t *testing.T) {
	r := newRepo(t)
	r.write("README.md", "old\n")
	r.write("src/client.go", "package src\n")
	r.write("src/Server.go", "package src\n")
	r.write("src/gone.go", "package src\n")
	r.write("a/same.go", "package a\n")
	r.write("b/same.go", "package b\n")
	r.write("with space/ünïcode \"quoted\".txt", "x\n")
	r.write(".gitignore", "*.log\nbuild/\n")
	r.write("forced.log", "old\n")
	r.git("add", "-f", "forced.log")
	base := r.commit("base")
	r.write("src/client.go", "package src // changed\n")
	r.write("with space/ünïcode \"quoted\".txt", "y\n")
	r.write("src/new.go", "package src\n")
	r.write("debug.log", "secret\n")
	r.write("build/out.bin", "x\n")
	r.write("forced.log", "new\n")
	r.remove("src/gone.go")
	r.write("committed.go", "package x\n")
	r.git("add", "committed.go")
	r.git("commit", "-qm", "one")

	cases := map[string]string{
		"src/client.go":                     "exists met modified src/client.go",
		"./src/../src/client.go":            "exists met modified src/client.go",
		"client.go":                         "exists met modified src/client.go",
		"/client.go":                        "exists met modified src/client.go",
		r.path("src/client.go"):             "exists met modified src/client.go",
		"README.md":                         "exists not_met  README.md",
		"readme.MD":                         "exists not_met  README.md",
		"SRC/server.go":                     "exists not_met  src/Server.go",
		"src/new.go":                        "exists met added src/new.go",
		"committed.go":                      "exists met added committed.go",
		"src/gone.go":                       "missing met removed src/gone.go",
		"src/never.go":                      "missing not_met  src/never.go",
		"same.go":                           "unverified",
		"debug.log":                         "ignored unverified  debug.log",
		"build/out.bin":                     "ignored unverified  build/out.bin",
		"forced.log":                        "exists met modified forced.log",
		"with space/ünïcode \"quoted\".txt": "exists met modified with space/ünïcode \"quoted\".txt",
		"src":                               "exists met modified src",
		"a/":                                "exists not_met  a",
		"../elsewhere.go":                   "outside unverified  ../elsewhere.go",
		"src/../../elsewhere.go":            "outside unverified  ../elsewhere.go",
		".git/config":                       "outside unverified  .git/config",
		"":                                  "unverified",
		"a\x00b":                            "unverified",
		"--help":                            "missing not_met  --help",
		":(glob)**":                         "missing not_met  :(glob)**",
		"*.go":                              "missing not_met  *.go",
	}
	if runtime.GOOS == "windows" {
		delete(cases, "with space/ünïcode \"quoted\".txt")
	}
	var q verify.Query
	q.Baseline = base
	for path := range cases {
		q.Paths = append(q.Paths, path)
	}
	facts := r.look(q)
	require.Len(t, facts.Files, len(cases))
	for _, f := range facts.Files {
		assert.Equal(t, cases[f.Path], fact(f), "%q %s", f.Path, f.Why)
	}
	assert.Equal(t, base, facts.Base)
	assert.Equal(t, verify.Met, facts.Compared)
	assert.Empty(t, facts.Unseen)

	below := newWitness(t, &gitwitness.Witness{Dir: r.path("src")})
	facts, err := below.Look(t.Context(),
		verify.Query{Baseline: base, Paths: []string{"client.go", "src/client.go", "../README.md"}})
	require.NoError(t, err)
	for i, want := range []string{"exists met modified src/client.go", "exists met modified src/client.go",
		"exists not_met  README.md"} {
		assert.Equal(t, want, fact(facts.Files[i]))
	}
}

func TestSymbolicLinks(t *testing.T) {
	r := newRepo(t)
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "f.go"), []byte("package f\n"), 0o600))
	r.write("in/f.go", "package in\n")
	base := r.commit("base")
	r.link("in/f.go", "inward.go")
	r.link("in", "folder")
	r.link(outside, "way-out")
	r.link(filepath.Join(outside, "f.go"), "out.go")
	r.link("../../nowhere", "nowhere-out.go")
	r.link("nowhere", "nowhere.go")
	r.link("loop.go", "loop.go")
	paths := map[string]string{
		"inward.go":      "exists met added inward.go",
		"out.go":         "outside unverified  out.go",
		"way-out":        "outside unverified  way-out",
		"way-out/f.go":   "outside unverified  way-out/f.go",
		"way-out/new.go": "missing not_met  way-out/new.go",
		"nowhere-out.go": "missing met added nowhere-out.go",
		"nowhere.go":     "missing met added nowhere.go",
		"loop.go":        "missing met added loop.go",
	}
	var q verify.Query
	q.Baseline = base
	for p := range paths {
		q.Paths = append(q.Paths, p)
	}
	for _, f := range r.look(q).Files {
		assert.Equal(t, paths[f.Path], fact(f), "%s: %s", f.Path, f.Why)
	}

	// The tree by way of a link is the same tree.
	way := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(r.dir, way))
	w := newWitness(t, &gitwitness.Witness{Dir: way})
	facts, err := w.Look(t.Context(),
		verify.Query{Paths: []string{filepath.Join(way, "in", "f.go"), filepath.Join(way, "in", "none.go")}})
	require.NoError(t, err)
	assert.Equal(t, "in/f.go", facts.Files[0].Clean)
	assert.Equal(t, "in/none.go", facts.Files[1].Clean)
	assert.Equal(t, verify.Missing, facts.Files[1].State)
}

// What is changed through a symbolic link is what it leads to.
func TestChangesBehindLinks(t *testing.T) {
	r := newRepo(t)
	r.write("AGENTS.md", "one\n")
	r.write("in/f.go", "package in\n")
	r.write("in/same.go", "package in\n")
	r.link("AGENTS.md", "CLAUDE.md")
	r.link("in", "folder")
	base := r.commit("base")
	r.write("AGENTS.md", "two\n")
	r.write("in/f.go", "package in // changed\n")
	want := []string{
		"exists met modified CLAUDE.md",
		"exists met modified folder/f.go",
		"exists met modified folder",
		"exists not_met  folder/same.go",
	}
	for i, f := range r.look(verify.Query{Baseline: base, Paths: []string{"CLAUDE.md", "folder/f.go", "folder",
		"folder/same.go"}}).Files {
		assert.Equal(t, want[i], fact(f))
	}
}

// The same name can be written in composed and in decomposed letters: such a file is not called missing.
func TestDecomposedNames(t *testing.T) {
	r := newRepo(t)
	r.write("f\u00fcr/\ud55c.txt", "one\n")
	facts := r.look(verify.Query{Paths: []string{"fu\u0308r/\u1112\u1161\u11ab.txt", "\u4e2d\u56fd.txt"}})
	assert.Empty(t, facts.Files[0].State)
	assert.Equal(t, verify.Missing, facts.Files[1].State)
}

// A path is found without a baseline however it is written.
func TestSpellings(t *testing.T) {
	r := newRepo(t)
	r.write("src/client.go", "package src\n")
	r.commit("base")
	paths := []string{
		`src\client.go`,
		"src/client.go:12",
		"src/client.go:12:3",
		"src/client.go:12-30",
		"src/client.go#L12",
		"@src/client.go",
		"./src//x/../client.go",
	}
	for _, f := range r.look(verify.Query{Paths: paths}).Files {
		assert.Equal(t, "exists unverified  src/client.go", fact(f), f.Path)
	}
	facts := r.look(verify.Query{Paths: []string{`src\server.go`, "src/server.go:12"}})
	assert.Equal(t, verify.Missing, facts.Files[0].State)
	assert.Equal(t, verify.Missing, facts.Files[1].State)
}

func TestCaseIsNotHidden(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("names that differ in case alone are the same file here")
	}
	r := newRepo(t)
	r.write("main_test.go", "package a\n")
	base := r.commit("base")
	r.git("config", "core.ignoreCase", "true")
	before := r.tree()
	r.write("Main_test.go", "package a\n\nfunc TestMain(m *testing.M) {}\n")
	assert.Equal(t, map[string]verify.ChangeKind{"Main_test.go": verify.Added},
		kinds(r.look(verify.Query{Baseline: base})))
	assert.NotEqual(t, before, r.tree())
}

// A hash is that of an object, whatever branches there are.
func TestHashesAndBranches(t *testing.T) {
	r := newRepo(t)
	first := r.commit("first")
	r.git("tag", "-a", "-m", "one", "v1")
	tag := r.git("rev-parse", "v1")
	second := r.commit("second")
	r.git("branch", second[:8], first)
	r.git("branch", "facade", first)
	facts := r.look(verify.Query{Baseline: "refs/heads/facade", Commits: []string{tag, tag[:10], second[:8], "facade"}})
	assert.Equal(t, first, facts.Base)
	for i, want := range []verify.Status{verify.Unverified, verify.Unverified, verify.Unverified, verify.Unverified} {
		assert.Equal(t, want.String(), facts.Commits[i].Exists.String(), "nobody knows which one is meant")
	}
}

// A short hash that two commits begin with names neither of them.
func TestHashOfTwoCommits(t *testing.T) {
	r := newRepo(t)
	var script strings.Builder
	for i := range 600 {
		fmt.Fprintf(&script, "commit refs/heads/main\ncommitter a <a@example.org> %d +0000\ndata 1\nx\n\n", 1e9+i)
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(script.String())
	require.NoError(t, cmd.Run())
	seen := map[string]bool{}
	for hash := range strings.FieldsSeq(r.git("log", "--format=%H", "main")) {
		if short := hash[:4]; seen[short] {
			fact := r.look(verify.Query{Commits: []string{short}}).Commits[0]
			assert.Equal(t, verify.Unverified.String(), fact.Exists.String())
			assert.Equal(t, "more than one commit can be meant", fact.Why)
			return
		}
		seen[hash[:4]] = true
	}
	t.Fatal("no two hashes begin alike")
}

func TestRemovedFolder(t *testing.T) {
	r := newRepo(t)
	r.write("old/a.go", "package old\n")
	base := r.commit("base")
	r.remove("old")
	facts := r.look(verify.Query{Baseline: base, Paths: []string{"old/"}})
	assert.Equal(t, "missing met removed old", fact(facts.Files[0]))
}

func TestHardlyChanged(t *testing.T) {
	r := newRepo(t)
	r.write("a.py", "def f():\n    return 1\n")
	r.write("b.py", "def f():\n    return 1\n")
	base := r.commit("base")
	r.write("a.py", "def f():  \n\n    return 1\n\n")
	r.write("b.py", "def f():\n  return 1\n")
	r.write("api.md", "")
	r.write("p/__init__.py", "")
	facts := r.look(verify.Query{Baseline: base, Paths: []string{"a.py", "b.py", "api.md", "p/__init__.py"}})
	for i, want := range []string{"only blanks and empty lines changed", "", "it is empty", ""} {
		assert.Equal(t, want, facts.Files[i].Slight, facts.Files[i].Path)
	}
	r.write("a.py", "def f():\n    # better\n    return 1\n")
	r.remove("b.py")
	r.git("checkout", "-q", "b.py")
	facts = r.look(verify.Query{Baseline: base, Paths: []string{"a.py"}})
	assert.Equal(t, "only comments changed", facts.Files[0].Slight)
	assert.False(t, facts.Programs)
}

// Names in code, lines for debugging, tests that are new or elsewhere, and what is not committed.
func TestWhatIsInTheTree(t *testing.T) {
	r := newRepo(t)
	r.write("a.go", "package p\n\nfunc Old() {}\n\nfunc Kept() {}\n")
	r.write("gone.py", "def gone():\n    pass\n")
	r.write("log.py", "def f():\n    print('debug', 1)\n")
	r.write("tests/test_a.py", "def test_a():\n    assert f()\n")
	r.write("tests/__init__.py", "\n")
	base := r.commit("base")
	facts := r.look(verify.Query{Baseline: base})
	assert.Equal(t, verify.Met.String(), facts.Clean.String())
	assert.False(t, facts.Programs)

	r.write("a.go", "package p\n\n// New is new.\nfunc Other() {}\n\nfunc Kept() {}\n")
	r.write("log.py", "def f():\n    print('debug', 2)\n")
	r.remove("gone.py")
	r.remove("tests/__init__.py")
	r.git("mv", "tests/test_a.py", "tests/test_b.py")
	r.write("tests/test_c.py", "def test_c():\n    pass\n")
	facts = r.look(verify.Query{Baseline: base, Names: []string{"Old", "New", "Other", "Kept", "gone", "test_b"}})
	var names []string
	for _, n := range facts.Names {
		names = append(names, fmt.Sprint(n.Name, " ", n.Uses, n.Defined, n.DefinedBefore))
	}
	assert.Equal(t, []string{"Old 0 0 1", "New 0 0 0", "Other 1 1 0", "Kept 1 1 1", "gone 0 0 1",
		"test_b 1 0 0"}, names)
	assert.Equal(t, verify.NotMet.String(), facts.Clean.String())
	assert.Contains(t, facts.Uncommitted, "a.go")
	assert.True(t, facts.Programs)
	assert.Equal(t, []verify.TestChange{{File: "tests/test_c.py", Name: "test_c", Hollow: true}}, facts.New)
	assert.Equal(t, []verify.TestChange{{File: "tests/test_a.py", Name: "test_a", Change: "moved", Now: "tests/test_b.py"}},
		facts.Moved)
	assert.Equal(t, []string{"tests/__init__.py", "tests/test_a.py"}, facts.Gone)

	r.write("tests/conf.py", "unittest.TestCase.assertEqual = f\n")
	r.write("a.go", "package p\n\nfunc Other() bool { return testing.Testing() }\n")
	assert.ElementsMatch(t, []string{"a.go", "tests/conf.py"}, suspects(r.look(verify.Query{Baseline: base})))
}

// A folder with nothing but ignored files, or none, is gone as far as git knows.
func TestRemovedFolderThatIsStillThere(t *testing.T) {
	r := newRepo(t)
	r.write(".gitignore", "__pycache__/\n")
	r.write("old/a.py", "x\n")
	r.write("part/a.py", "x\n")
	r.write("part/b.py", "x\n")
	base := r.commit("base")
	r.remove("old/a.py")
	r.remove("part/a.py")
	query := verify.Query{Baseline: base, Paths: []string{"old", "part"}}
	for range 2 {
		facts := r.look(query)
		assert.Equal(t, "missing met removed old", fact(facts.Files[0]))
		assert.Equal(t, verify.Exists, facts.Files[1].State)
		r.write("old/__pycache__/a.pyc", "x\n")
	}
}

func TestWithoutABaseline(t *testing.T) {
	r := newRepo(t)
	r.write("a.go", "package a\n")
	r.write("b.go", "package b\n")
	r.commit("base")
	r.write("b.go", "package b // changed\n")
	facts := r.look(verify.Query{Paths: []string{"a.go", "b.go", "none.go"}})
	assert.Equal(t, "exists unverified  a.go", fact(facts.Files[0]))
	assert.Equal(t, "without a baseline it is not known whether a commit has changed it", facts.Files[0].Why)
	assert.Equal(t, "exists met modified b.go", fact(facts.Files[1]))
	assert.Equal(t, "missing unverified  none.go", fact(facts.Files[2]))
	assert.Empty(t, facts.Base)
	assert.Equal(t, string(verify.Unverified), facts.Compared.String())
}

func TestBaselinesThatAreNone(t *testing.T) {
	r := newRepo(t)
	r.write("a.go", "package a\n")
	r.commit("base")
	r.write("a_test.go", "package a\n")
	for _, baseline := range []string{"ffffffff", "no-such-branch", "--output=x", "HEAD..HEAD", ":/base",
		"HEAD@{1 hour ago}", "HEAD:a.go", "a b"} {
		facts := r.look(verify.Query{Baseline: baseline, Paths: []string{"a.go"}})
		assert.Equal(t, "exists unverified  a.go", fact(facts.Files[0]), baseline)
		assert.NotEqual(t, verify.Met, facts.Compared, baseline)
		assert.Empty(t, facts.Changes)
		require.Len(t, facts.Unseen, 1)
		assert.Contains(t, facts.Unseen[0], "what has changed is not known: the baseline: ")
		assert.NotEmpty(t, facts.Tree)
	}
	require.NoFileExists(t, r.path("x"))
}

func TestCommits(t *testing.T) {
	r := newRepo(t)
	first := r.commit("first")
	r.git("tag", "v1")
	second := r.commit("second")
	r.git("checkout", "-q", "-b", "side", first)
	r.write("x", "x")
	lost := r.commit("on the side")
	r.git("checkout", "-q", "main")
	r.git("branch", "deadbeef")
	blob := r.git("rev-parse", lost+":x")
	for rev, want := range map[string][2]string{
		second:                     {"met", "met"},
		first[:8]:                  {"met", "met"},
		strings.ToUpper(first[:8]): {"met", "met"},
		"HEAD":                     {"met", "met"},
		"HEAD~1":                   {"met", "met"},
		"v1":                       {"met", "met"},
		"side":                     {"met", "not_met"},
		lost[:10]:                  {"met", "not_met"},
		"deadbeef":                 {"unverified", "unverified"}, // a branch has this name
		strings.Repeat("1", 40):    {"not_met", "unverified"},
		"0123456":                  {"not_met", "unverified"},
		blob:                       {"not_met", "unverified"},
		"no-such":                  {"not_met", "unverified"},
		"--all":                    {"unverified", "unverified"},
		"first..second":            {"unverified", "unverified"},
		"":                         {"unverified", "unverified"},
		"the last one":             {"unverified", "unverified"},
		strings.Repeat("a", 1000):  {"unverified", "unverified"},
	} {
		f := r.look(verify.Query{Commits: []string{rev}}).Commits
		require.Len(t, f, 1)
		assert.Equal(t, want, [2]string{f[0].Exists.String(), f[0].Reachable.String()}, "%q: %s", rev, f[0].Why)
		assert.Equal(t, rev, f[0].Rev)
	}
}

func TestBeforeTheFirstCommit(t *testing.T) {
	r := newRepo(t)
	r.write("a.go", "package a\n")
	facts := r.look(verify.Query{Paths: []string{"a.go"}, Commits: []string{"HEAD", "abcdef12"}})
	assert.Equal(t, "exists met added a.go", fact(facts.Files[0]))
	assert.Equal(t, verify.NotMet, facts.Commits[0].Exists)
	assert.Equal(t, verify.NotMet, facts.Commits[1].Exists)
	assert.NotEmpty(t, facts.Tree)
	assert.Empty(t, facts.Unseen)
}

func TestShallowClone(t *testing.T) {
	from := newRepo(t)
	old := from.commit("old")
	from.write("a.go", "package a\n")
	tip := from.commit("tip")
	r := &repo{t, t.TempDir()}
	r.git("clone", "-q", "--depth", "1", "file://"+filepath.ToSlash(from.dir), ".")
	facts := r.look(verify.Query{Commits: []string{old, tip}, Baseline: old, Paths: []string{"a.go"}})
	assert.Equal(t, string(verify.Unverified), facts.Commits[0].Exists.String())
	assert.Contains(t, facts.Commits[0].Why, "shallow")
	assert.Equal(t, verify.Met, facts.Commits[1].Reachable)
	assert.Equal(t, string(verify.Unverified), facts.Files[0].Changed.String())
}

func TestWorktree(t *testing.T) {
	r := newRepo(t)
	r.write("a.go", "package a\n")
	base := r.commit("base")
	other := &repo{t, filepath.Join(t.TempDir(), "other")}
	r.git("worktree", "add", "-q", "-b", "other", other.dir)
	other.write("b.go", "package b\n")
	made := other.commit("there")
	facts := other.look(verify.Query{Baseline: base, Paths: []string{"b.go"}, Commits: []string{made}})
	assert.Equal(t, "exists met added b.go", fact(facts.Files[0]))
	assert.Equal(t, verify.Met, facts.Commits[0].Reachable)
	facts = r.look(verify.Query{Baseline: base, Paths: []string{"b.go"}, Commits: []string{made}})
	assert.Equal(t, verify.Missing, facts.Files[0].State)
	assert.Equal(t, verify.NotMet, facts.Commits[0].Reachable)
	assert.Equal(t, verify.Met, facts.Commits[0].Exists)
}

func TestNoRepository(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		cfg *gitwitness.Witness
		why string
	}{
		"no repository": {&gitwitness.Witness{Dir: dir}, "it is not in a git repository"},
		"no folder":     {&gitwitness.Witness{Dir: filepath.Join(dir, "none")}, "no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWitness(t, tt.cfg)
			facts, err := w.Look(t.Context(), verify.Query{Baseline: "HEAD", Paths: []string{"a"}, Commits: []string{"abc1234"}})
			require.NoError(t, err)
			require.Len(t, facts.Unseen, 1)
			assert.Contains(t, facts.Unseen[0], tt.why)
			require.Len(t, facts.Files, 1)
			assert.Equal(t, "unverified", fact(facts.Files[0]))
			assert.Contains(t, facts.Files[0].Why, tt.why)
			require.Len(t, facts.Commits, 1)
			assert.Equal(t, string(verify.Unverified), facts.Commits[0].Exists.String())
			assert.Empty(t, facts.Tree)
			_, _, err = w.Diff(t.Context(), "", 100)
			assert.ErrorContains(t, err, tt.why)
		})
	}
	_, _, err := new(gitwitness.Witness).Changed(t.Context(), "HEAD")
	assert.EqualError(t, err, "the folder of the working tree is not set")
}

func TestBareRepository(t *testing.T) {
	r := newRepo(t)
	r.commit("one")
	r.git("config", "core.bare", "true")
	facts := r.look(verify.Query{Paths: []string{"a"}})
	require.Len(t, facts.Unseen, 1)
	assert.Contains(t, facts.Unseen[0], "bare")
}

func TestLookEndsWithItsContext(t *testing.T) {
	r := newRepo(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.witness().Look(ctx, verify.Query{})
	require.ErrorIs(t, err, context.Canceled)
}

func ExampleWitness_Look() {
	w := &gitwitness.Witness{Dir: os.TempDir()}
	defer w.Close()
	facts, err := w.Look(context.Background(), verify.Query{Paths: []string{"client.go"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(facts.Files[0].Changed)
	fmt.Println(facts.Unseen[0])
	// Output:
	// unverified
	// the repository cannot be looked at: it is not in a git repository
}
