package gitwitness_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

func TestChanges(t *testing.T) {
	r := newRepo(t)
	for _, name := range []string{"same.go", "edited.go", "removed.go", "renamed.go", "mode.sh", "staged.go",
		"becomes-link", "touched.go"} {
		r.write(name, name+"\n")
	}
	r.write(".gitignore", "*.log\n")
	base := r.commit("base")
	assert.Empty(t, r.look(verify.Query{Baseline: base}).Changes)

	r.write("edited.go", "other\n")
	r.write("touched.go", "touched.go\n") // the same content, written anew
	r.remove("removed.go")
	r.git("mv", "renamed.go", "moved.go")
	r.write("staged.go", "other\n")
	r.git("add", "staged.go")
	r.write("staged.go", "staged.go\n") // and taken back in the working tree
	r.write("committed.go", "x\n")
	r.git("add", "committed.go")
	r.git("commit", "-qm", "work", "--", "committed.go")
	r.write("untracked dir/new.go", "x\n")
	r.write("noise.log", "x\n")
	r.write("forced.log", "x\n")
	r.git("add", "-f", "forced.log")
	want := map[string]verify.ChangeKind{
		"edited.go": verify.Modified, "removed.go": verify.Removed, "renamed.go": verify.Removed, "moved.go": verify.Added,
		"committed.go": verify.Added, "untracked dir/new.go": verify.Added, "forced.log": verify.Added,
	}
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Chmod(r.path("mode.sh"), 0o755))
		r.remove("becomes-link")
		r.link("same.go", "becomes-link")
		want["mode.sh"], want["becomes-link"] = verify.Modified, verify.Modified
	}
	facts := r.look(verify.Query{Baseline: base})
	assert.Equal(t, want, kinds(facts))
	for _, c := range facts.Changes {
		assert.Empty(t, c.Why)
	}
}

// What git would convert when it records a file is no change.
func TestLineEndsAreNoChange(t *testing.T) {
	r := newRepo(t)
	r.write(".gitattributes", "*.txt text eol=crlf\n")
	r.write("a.txt", "one\r\ntwo\r\n")
	base := r.commit("base")
	assert.Empty(t, r.look(verify.Query{Baseline: base}).Changes)
	r.write("a.txt", "one\r\n2\r\n")
	assert.Len(t, r.look(verify.Query{Baseline: base}).Changes, 1)
}

func TestSparseCheckout(t *testing.T) {
	r := newRepo(t)
	r.write("in/a.go", "package in\n")
	r.write("out/b_test.go", "package out\n")
	r.write("in/c_test.go", "package in\n")
	base := r.commit("base")
	r.git("sparse-checkout", "set", "in")
	require.NoFileExists(t, r.path("out/b_test.go"))
	facts := r.look(verify.Query{Baseline: base, Paths: []string{"out/b_test.go"}})
	require.Len(t, facts.Unseen, 1)
	assert.Contains(t, facts.Unseen[0], "it is a sparse checkout")
	assert.Equal(t, "unverified", fact(facts.Files[0]))
	r.git("sparse-checkout", "disable")
	assert.Empty(t, r.look(verify.Query{Baseline: base}).Unseen)
}

func TestSubmodules(t *testing.T) {
	lib := newRepo(t)
	lib.write("lib.go", "package lib\n")
	lib.commit("lib")
	r := newRepo(t)
	r.write("a.go", "package a\n")
	r.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", lib.dir, "lib")
	base := r.commit("base")
	clean := r.tree()
	facts := r.look(verify.Query{Baseline: base})
	assert.Empty(t, facts.Changes)
	assert.Equal(t, verify.Met, facts.Clean)
	r.write("a.go", "package a // edited\n")
	next := r.commit("edited")
	assert.Equal(t, verify.Met, r.look(verify.Query{Baseline: base}).Clean, "also after a commit")
	base = next

	sub := &repo{t, r.path("lib")}
	sub.write("lib.go", "package lib // edited\n")
	assert.NotEqual(t, clean, r.tree(), "an edit in a submodule")
	edited := map[string]verify.ChangeKind{"lib/lib.go": verify.Modified}
	facts = r.look(verify.Query{Baseline: base, Paths: []string{"lib", "lib/lib.go"}})
	assert.Equal(t, edited, kinds(facts))
	assert.Equal(t, "exists met modified lib", fact(facts.Files[0]))
	assert.Equal(t, "exists met modified lib/lib.go", fact(facts.Files[1]))
	sub.commit("edited")
	assert.Equal(t, edited, kinds(r.look(verify.Query{Baseline: base})), "also where it is committed")

	r.git("submodule", "deinit", "-q", "-f", "lib")
	facts = r.look(verify.Query{Baseline: base})
	assert.Empty(t, facts.Changes, "it is not checked out")
	assert.NotEmpty(t, facts.Tree)
	assert.Empty(t, facts.Unseen)
}

func TestNewRepositoryInside(t *testing.T) {
	r := newRepo(t)
	base := r.commit("base")
	r.write("nested/n.go", "package n\n")
	(&repo{t, r.path("nested")}).init()
	(&repo{t, r.path("nested")}).commit("n")
	facts := r.look(verify.Query{Baseline: base, Paths: []string{"nested/n.go"}})
	assert.Equal(t, "exists met added nested/n.go", fact(facts.Files[0]))
}

func TestTree(t *testing.T) {
	r := newRepo(t)
	r.write("a.go", "package a\n")
	r.write(".gitignore", "*.log\n")
	r.commit("base")
	first := r.tree()
	assert.Len(t, first, 40)
	seen := map[string]string{first: "base"}
	same := func(what string) {
		t.Helper()
		assert.Equal(t, first, r.tree(), what)
	}
	differs := func(what string) {
		t.Helper()
		hash := r.tree()
		assert.Empty(t, seen[hash], what)
		seen[hash] = what
	}
	r.write("a.go", "package a\n")
	r.write("x.log", "noise\n")
	same("written anew, and what is ignored")
	r.git("commit", "-q", "--allow-empty", "-m", "nothing")
	same("another commit of the same files")

	r.write("b.go", "x\n")
	differs("an untracked file")
	r.git("add", "b.go")
	hash := r.tree()
	assert.Equal(t, "an untracked file", seen[hash], "whether it is tracked is no content")
	r.git("rm", "-q", "--cached", "b.go")
	r.write("b.go", "y\n")
	differs("another content")
	r.remove("b.go")
	same("and gone again")
	r.write("a.go", "package b\n")
	differs("a tracked file that changed")
	r.remove("a.go")
	differs("a tracked file that is gone")
	r.write("c.go", "package a\n")
	differs("a file of another name")
	r.remove("c.go")
	r.write("a.go", "package a\n")
	same("back to the base")
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Chmod(r.path("a.go"), 0o755))
		differs("a program")
		require.NoError(t, os.Chmod(r.path("a.go"), 0o644))
		r.link("a.go", "l")
		differs("a link")
		r.remove("l")
		r.link("b.go", "l")
		differs("a link that leads elsewhere")
		r.remove("l")
	}
	r.write("dir/nested/.gitkeep", "")
	differs("an empty file")
	r.remove("dir")
	same("back again")

	r.write(".git/info/exclude", "*.go\nbuild\n")
	r.git("rm", "-q", "--cached", "a.go")
	same("the same file, no longer tracked and ignored")
	r.write("build/gen.go", "package gen\n")
	same("an ignored folder")
	r.write("a.go", "package c\n")
	differs("a Go file that is ignored")

	other := newRepo(t)
	other.write("a.go", "package a\n")
	other.write(".gitignore", "*.log\n")
	assert.Equal(t, first, other.tree(), "the same files in another repository")
}

func suspects(facts verify.Facts) []string {
	var list []string
	for _, s := range facts.Suspects {
		list = append(list, s.Path)
	}
	return list
}

func TestTestFiles(t *testing.T) {
	r := newRepo(t)
	files := map[string]string{
		"a_test.go":       "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Log(1) }\n",
		"gone_test.go":    "package a\n\nimport \"testing\"\n\nfunc TestGone(t *testing.T) { t.Log(2) }\n",
		"main_test.go":    "package a\n\nfunc TestMain(m *testing.M) { m.Run() }\n",
		"web/app.spec.ts": "it('works', () => { expect(1).toBe(1) })\n",
		"py/conftest.py":  "x\n", "src/App.java": "x\n", "README.md": "x\n", ".github/workflows/ci.yml": "on: push\n",
	}
	for name, text := range files {
		r.write(name, text)
	}
	base := r.commit("base")
	assert.Empty(t, suspects(r.look(verify.Query{Baseline: base})))

	for name := range files {
		r.write(name, files[name]+"// changed\n")
	}
	r.remove("gone_test.go")
	r.write("main_test.go", "package a\n") // its TestMain is gone
	r.write("new_test.go", "package a\n")
	r.write("web/app.spec.ts", "it.skip('works', () => { expect(1).toBe(1) })\n")
	r.write("src/lib.rs", "fn test_values() -> i32 { 1 }\n")
	r.write("b/new_main_test.go", "package b\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n")
	r.write(".github/workflows/new.yml", "on: push\n")
	facts := r.look(verify.Query{Baseline: base, Tests: []string{"TestA", "TestGone", "TestNone", "works", "changed",
		"test_values"}})
	assert.Equal(t, []string{".github/workflows/ci.yml", "b/new_main_test.go", "main_test.go", "py/conftest.py"},
		suspects(facts))
	assert.Equal(t, []verify.TestChange{
		{File: "gone_test.go", Name: "TestGone", Change: "removed"},
		{File: "web/app.spec.ts", Name: "works", Change: "disabled", Why: "skipped"},
	}, facts.Tests)
	assert.Equal(t, []verify.NamedTest{
		{Name: "TestA", Now: verify.Met, Before: verify.Met}, {Name: "TestGone", Now: verify.NotMet, Before: verify.Met},
		{Name: "TestNone", Now: verify.NotMet, Before: verify.NotMet}, {Name: "works", Now: verify.Met, Before: verify.Met},
		{Name: "changed", Now: verify.NotMet, Before: verify.NotMet},
		{Name: "test_values", Now: verify.Unverified, Before: verify.NotMet},
	}, facts.Named)
}

// Programs and modules that take the place of those by which tests run.
func TestShadows(t *testing.T) {
	for name, tt := range map[string]struct {
		file, text string
		want       bool
	}{
		"a module":                {"unittest.py", "x", true},
		"a package":               {"pytest/__init__.py", "x", true},
		"another module":          {"bank.py", "x", false},
		"a module further in":     {"bank/types.py", "x", false},
		"a program":               {"node_modules/.bin/node", "x", true},
		"a program of no package": {"node_modules/.bin/vitest", "#!/bin/sh\ntrue\n", true},
		"a program that starts a file": {"node_modules/.bin/vitest", "#!/bin/sh\nexec node \"$basedir/../vitest/x.js\"\n",
			false},
		"tests that load themselves": {"tests/__init__.py", "def load_tests(loader, tests, pattern):\n    return tests\n",
			true},
		"cargo's settings": {".cargo/config.toml", "[target]\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.write(".gitignore", "node_modules\n")
			base := r.commit("base")
			r.write(tt.file, tt.text)
			facts := r.look(verify.Query{Baseline: base, Commands: [][]string{{"python3", "-m", "unittest"}}})
			assert.Equal(t, tt.want, len(facts.Suspects) == 1, "%v", facts.Suspects)
		})
	}
}

// Of files that settle more than the tests, a change counts that the tests can feel. What that is for each kind of
// file is told by internal/project.
func TestTestSettings(t *testing.T) {
	const (
		pkg  = `{"name":"a","scripts":{"test":"jest"},"dependencies":{"x":"1"}}`
		both = "use (\n\t.\n\t./sub\n)\n"
	)
	for _, tt := range []struct {
		file, old, now string
		command        []string
		settings       bool
	}{
		{"package.json", pkg, `{"dependencies":{"x":"2","y":"1"},"name":"b", "scripts": {"test": "jest"}}`, []string{"npm",
			"test"}, false},
		{"package.json", pkg, `{"name":"a","scripts":{"test":"exit 0"}}`, []string{"npm", "test"}, true},
		{"web/package.json", "", `{"name":"b","scripts":{"test":"true"}}`, nil, false},
		{"go.mod", "module a\n", "module a\n\ngo 1.26\n", []string{"go", "test", "./..."}, false},
		{"go.mod", "module a\n\nignore ./x\n", "module a\n\nignore(\n\t./x\n\t\"sub\"\n)\n", nil, true},
		{"sub/go.mod", "", "module sub\n", nil, true},
		{"new/go.mod", "", "module new\n", nil, false},
		{"go.work", both, "use ./sub\n", nil, true},
		{"go.work", "use .\n", "use (\n\t.\n\t./new\n)\n", nil, false},
		{"scripts/check.sh", "go test\n", "true\n", []string{"sh", "scripts/check.sh"}, true},
		{"scripts/other.sh", "go test\n", "true\n", []string{"./scripts/check.sh"}, false},
	} {
		r := newRepo(t)
		r.write("keep", "")
		r.write("sub/a_test.go", "package a\n")
		if tt.old != "" {
			r.write(tt.file, tt.old)
		}
		base := r.commit("base")
		r.write(tt.file, tt.now)
		q := verify.Query{Baseline: base}
		if tt.command != nil {
			q.Commands = [][]string{tt.command}
		}
		facts := r.look(q)
		require.Empty(t, facts.Unseen)
		assert.Equal(t, tt.settings, len(facts.Suspects) == 1, "%s: %q with %v", tt.file, tt.now, tt.command)
	}
}

// takeOvers is a repository with a folder for each case.
type takeOvers struct {
	*repo
	texts []string
	wants []string // the files that take over
}

func (r *takeOvers) takesOver(file, text string, want bool) {
	file = fmt.Sprintf("p%02d/%s", len(r.texts), file)
	r.write(file, text)
	if r.texts = append(r.texts, text); want {
		r.wants = append(r.wants, file)
	}
}

func (r *takeOvers) checkTakesOver() {
	r.t.Helper()
	r.git("commit", "-q", "--allow-empty", "-m", "base")
	assert.Equal(r.t, r.wants, suspects(r.look(verify.Query{Baseline: "HEAD"})), "%.2000q", r.texts)
}

// What a Go test file does before any test runs can decide what is said of the tests.
func TestFilesThatTakeOver(t *testing.T) {
	r := &takeOvers{repo: newRepo(t)}
	const head = "package a\n\nimport (\"flag\"; \"os\"; \"testing\")\n\n"
	for text, want := range map[string]bool{
		"package a; import \"testing\"; func TestMain(m *testing.M) {}\n":                true,
		head + "func /* x */ TestMain(m *testing.M) {}\n":                                true,
		head + "func\nTestMain(m *testing.M) {}\n":                                       true,
		head + "// " + strings.Repeat("x", 5<<20) + "\nfunc TestMain(m *testing.M) {}\n": true,
		head + "func init() { os.Exit(0) }\n":                                            true,
		head + "func init() { os.Args = append(os.Args, \"-test.skip=TestA\") }\n":       true,
		head + "func init() { flag.Set(\"test.run\", \"TestA\") }\n":                     true,
		head + "func init() { os.Stdout = nil }\n":                                       true,

		head + "func TestA(t *testing.T) { if os.Getenv(\"HELPER\") != \"\" { os.Exit(0) } }\n":               false,
		head + "var update = flag.Bool(\"update\", false, \"\")\n\nfunc init() { flag.Set(\"v\", \"1\") }\n":  false,
		head + "func TestA(t *testing.T) { os.Args = []string{\"a\"}; run() }\n\nfunc run() {}\n":             false,
		head + "// func TestMain(m *testing.M) is not needed\nvar s = `\nfunc TestMain(m *testing.M) {}\n`\n": false,
		"": false,
	} {
		r.takesOver("a_test.go", text, want)
	}
	r.checkTakesOver()
}

func TestCodeThatTakesOver(t *testing.T) {
	r := &takeOvers{repo: newRepo(t)}
	const head = "package a\n\nimport (\"fmt\"; \"os\")\n\n"
	for text, want := range map[string]bool{
		head + "func init() { os.Args = append(os.Args, \"-test.run=./none\") }\n":                         true,
		head + "func init() { if os.Getenv(\"HOME\") == \"\" { os.Exit(1) } }\n":                           false,
		head + "var run = func() { os.Exit(code()) }\n\nfunc init() { cmd.Run = func() { os.Exit(0) } }\n": false,
		head + "func main() { os.Exit(run()) }\n":                                                          false,
		head + "func TestMain(m *testing.M) {}\n":                                                          false,
		head + "func init() {": false,
	} {
		r.takesOver("a.go", text, want)
	}
	r.checkTakesOver()
}

// What git ignores, go test and pytest read all the same.
func TestIgnoredSettings(t *testing.T) {
	r := newRepo(t)
	r.write("a_test.go", "package a\n")
	base := r.commit("base")
	r.write(".git/info/exclude", "main_test.go\nlocal_test.go\nconftest.py\nvenv\n")
	r.write("main_test.go", "package a\n\nfunc TestMain(m *testing.M) {}\n")
	r.write("local_test.go", "package a\n")
	r.write("conftest.py", "x\n")
	r.write("venv/lib/conftest.py", "x\n")
	const why = "it is ignored: whether it is new is not known"
	assert.Equal(t, []verify.Suspect{
		{Path: "conftest.py", Why: "decides how tests run, and was added; " + why},
		{Path: "main_test.go", Why: "decides which tests run and what they say, and was added; " + why},
	}, r.look(verify.Query{Baseline: base}).Suspects)
}

func TestDiff(t *testing.T) {
	r := newRepo(t)
	r.write("a.go", "package a\n\nvar x = 1\n")
	r.write("gone.go", "package a\n")
	base := r.commit("base")
	r.write("a.go", "package a\n\nvar x = 2\n")
	r.remove("gone.go")
	r.write("new file.go", "package a\n\nvar y = 3\n")
	patch, whole, err := r.witness().Diff(t.Context(), base, 1<<20)
	require.NoError(t, err)
	assert.True(t, whole)
	for _, want := range []string{"-var x = 1\n+var x = 2\n", "--- a/gone.go\n+++ /dev/null\n", "b/new file.go",
		"+var y = 3\n"} {
		assert.Contains(t, patch, want)
	}
	part, whole, err := r.witness().Diff(t.Context(), "", 50)
	require.NoError(t, err)
	assert.False(t, whole)
	assert.Equal(t, patch[:50], part)
	_, _, err = r.witness().Diff(t.Context(), "--output=x", 50)
	assert.EqualError(t, err, "the baseline: it is not the name of a commit")

	// A patch that hides text is not all of it.
	r.write(".gitattributes", "*.go -diff\n")
	patch, whole, err = r.witness().Diff(t.Context(), base, 1<<20)
	require.NoError(t, err)
	assert.False(t, whole, patch)

	r.write("big.txt", strings.Repeat("a line of text\n", 1<<20))
	patch, whole, err = r.witness().Diff(t.Context(), base, 1000)
	require.NoError(t, err)
	assert.False(t, whole)
	assert.LessOrEqual(t, len(patch), 1000)
}
