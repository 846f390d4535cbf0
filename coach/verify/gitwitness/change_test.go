package gitwitness_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
)

func TestChanges(t *testing.T) {
	r := newRepo(t)
	for _, name := range []string{"same.go", "edited.go", "removed.go", "renamed.go", "mode.sh", "staged.go", "becomes-link", "touched.go"} {
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
	r.remove("in/c_test.go")
	facts := r.look(verify.Query{Baseline: base, Paths: []string{"out/b_test.go"}})
	assert.Equal(t, []verify.TestFileFact{
		{Path: "in/c_test.go", Kind: verify.Removed},
		{Path: "out/b_test.go", Kind: verify.Removed, Why: "a sparse checkout leaves it out"},
	}, facts.TestFiles)
	assert.Equal(t, "missing unverified  met out/b_test.go", fact(facts.Files[0]))

	// A single file beside others that are there is left out by nobody but who wants to be rid of it.
	r.git("sparse-checkout", "disable")
	r.git("sparse-checkout", "set", "--no-cone", "/*", "!out/b_test.go")
	r.write("out/d.go", "package out\n")
	r.git("add", "--sparse", "out/d.go")
	assert.Contains(t, r.look(verify.Query{Baseline: base}).TestFiles, verify.TestFileFact{Path: "out/b_test.go", Kind: verify.Removed})
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
	assert.Empty(t, r.look(verify.Query{Baseline: base}).Changes)

	sub := &repo{t, r.path("lib")}
	sub.write("lib.go", "package lib // edited\n")
	assert.NotEqual(t, clean, r.tree(), "an edit in a submodule")
	for _, f := range r.look(verify.Query{Baseline: base, Paths: []string{"lib", "lib/lib.go"}}).Files {
		assert.Equal(t, string(verify.Unverified), f.Changed.String(), "what was changed in it is not recorded here: %s", f.Path)
	}
	sub.commit("edited")
	facts := r.look(verify.Query{Baseline: base, Paths: []string{"lib", "lib/lib.go"}})
	assert.Equal(t, map[string]verify.ChangeKind{"lib": verify.Modified}, kinds(facts))
	assert.Equal(t, verify.Modified, facts.Files[0].Kind)
	assert.Equal(t, "exists unverified  not_met lib/lib.go", fact(facts.Files[1]))

	r.git("submodule", "deinit", "-q", "-f", "lib")
	facts = r.look(verify.Query{Baseline: base})
	assert.Empty(t, facts.Changes)
	assert.NotEmpty(t, facts.Tree)
	assert.Empty(t, facts.Unseen)
}

func TestNewRepositoryInside(t *testing.T) {
	r := newRepo(t)
	base := r.commit("base")
	r.write("nested/n.go", "package n\n")
	(&repo{t, r.path("nested")}).git("init", "-q")
	(&repo{t, r.path("nested")}).commit("n")
	facts := r.look(verify.Query{Baseline: base, Paths: []string{"nested/n.go"}})
	assert.Equal(t, "exists met added not_met nested/n.go", fact(facts.Files[0]))
}

func TestTree(t *testing.T) {
	r := newRepo(t)
	r.write("a.go", "package a\n")
	r.write(".gitignore", "*.log\n")
	r.commit("base")
	first := r.tree()
	assert.Len(t, first, 64)
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

func TestTestFiles(t *testing.T) {
	r := newRepo(t)
	files := map[string]string{
		"a_test.go": "package a\n", "gone_test.go": "package a\n", "main_test.go": "package a\n\nfunc TestMain(m *testing.M) { m.Run() }\n",
		"testdata/want.txt": "1\n", "web/app.spec.ts": "it()\n", "py/conftest.py": "x\n", "src/App.java": "x\n", "README.md": "x\n",
	}
	for name, text := range files {
		r.write(name, text)
	}
	base := r.commit("base")
	assert.Empty(t, r.look(verify.Query{Baseline: base}).TestFiles)

	for name := range files {
		r.write(name, files[name]+"// changed\n")
	}
	r.remove("gone_test.go")
	r.write("main_test.go", "package a\n") // its TestMain is gone
	r.write("new_test.go", "package a\n")
	r.write("b/new_main_test.go", "package b\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n")
	assert.Equal(t, []verify.TestFileFact{
		{Path: "a_test.go", Kind: verify.Modified},
		{Path: "b/new_main_test.go", Kind: verify.Added, Config: true},
		{Path: "gone_test.go", Kind: verify.Removed},
		{Path: "main_test.go", Kind: verify.Modified, Config: true},
		{Path: "py/conftest.py", Kind: verify.Modified, Config: true},
		{Path: "testdata/want.txt", Kind: verify.Modified},
		{Path: "web/app.spec.ts", Kind: verify.Modified},
	}, r.look(verify.Query{Baseline: base}).TestFiles)
}

// Of files that settle more than the tests, a change counts that the tests can feel.
func TestTestSettings(t *testing.T) {
	const (
		pkg    = `{"name":"a","scripts":{"test":"jest"},"dependencies":{"x":"1"}}`
		toml   = "[project]\nname = \"a\"\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n"
		legacy = "[metadata]\nname = a\n[tool:pytest]\naddopts = -q\n"
	)
	for _, tt := range []struct {
		file, old, now string
		command        []string
		settings       bool
	}{
		{"package.json", pkg, `{"dependencies":{"x":"2","y":"1"},"name":"b", "scripts": {"test": "jest"}}`, []string{"npm", "test"}, false},
		{"package.json", pkg, `{"name":"a","scripts":{"test":"exit 0"}}`, []string{"npm", "test"}, true},
		{"package.json", pkg, `{"name":"a","scripts":{"test":"jest"},"jest":{"testPathIgnorePatterns":["."]}}`, nil, true},
		{"package.json", pkg, `{`, nil, true},
		{"web/package.json", "", `{"name":"b","scripts":{"test":"true"}}`, nil, true},
		{"pyproject.toml", toml, "[project]\nname = \"b\"\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n[tool.black]\nx = 1\n", nil, false},
		{"pyproject.toml", toml, "[project]\nname = \"a\"\n\n[tool.pytest.ini_options]\naddopts = \"-k nothing\"\n", nil, true},
		{"pyproject.toml", toml, "[project]\nname = \"a\"\n", nil, true},
		{"setup.cfg", legacy, "[metadata]\nname = b\n[tool:pytest]\naddopts = -q\n", nil, false},
		{"setup.cfg", legacy, "[metadata]\nname = a\n[tool:pytest]\naddopts = --co\n", nil, true},
		{"go.mod", "module a\n", "module a\n\ngo 1.26\n", []string{"go", "test", "./..."}, false},
		{"go.mod", "module a\n\nignore ./x\n", "module a\n\nignore x // still\n\nrequire b v1.0.0\n", nil, false},
		{"go.mod", "module a\n", "module a\n\nignore ./sub\n", nil, true},
		{"go.mod", "module a\n\nignore ./x\n", "module a\n\nignore(\n\t./x\n\t\"sub\"\n)\n", nil, true},
		{"sub/go.mod", "", "module sub\n", nil, true},
		{"new/go.mod", "", "module new\n", nil, false},
		{"go.mod", "", "module a\n", nil, false},
		{"go.work", "", "go 1.26\n\nuse ./sub\n", nil, true},
		{"go.work", "use (\n\t.\n\t./sub\n)\n", "use ./sub\n", nil, true},
		{"go.work", "use .\n", "use (\n\t.\n\t./new\n)\n", nil, false},
		{"Makefile", "test:\n\tgo test\n", "test:\n\ttrue\n", []string{"make", "test"}, true},
		{"Makefile", "test:\n\tgo test\n", "test:\n\ttrue\n", []string{"/usr/bin/make", "test"}, true},
		{"Makefile", "test:\n\tgo test\n", "test:\n\ttrue\n", []string{"go", "test"}, false},
		{"pom.xml", "<a/>", "<b/>", []string{"mvn", "-q", "test"}, true},
		{"scripts/check.sh", "go test\n", "true\n", []string{"./scripts/check.sh", "all"}, true},
		{"scripts/check.sh", "go test\n", "true\n", []string{"sh", "scripts/check.sh"}, true},
		{"cmd/main.go", "package main\n", "package main // x\n", []string{"go", "run", "./cmd/main.go"}, false},
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
		var q verify.Query
		q.Baseline = base
		if tt.command != nil {
			q.Commands = [][]string{tt.command}
		}
		facts := r.look(q)
		require.Empty(t, facts.Unseen)
		assert.Equal(t, tt.settings, len(facts.TestFiles) == 1 && facts.TestFiles[0].Config, "%s: %q with %v", tt.file, tt.now, tt.command)
		assert.Equal(t, tt.settings, len(facts.TestFiles) > 0)
	}
}

// What a Go test file does before any test runs can decide what is said of the tests.
func TestFilesThatTakeOver(t *testing.T) {
	const head = "package a\n\nimport (\"flag\"; \"os\"; \"testing\")\n\n"
	for text, want := range map[string]bool{
		"package a; import \"testing\"; func TestMain(m *testing.M) {}\n":                                          true,
		head + "func /* x */ TestMain(m *testing.M) {}\n":                                                          true,
		head + "func\nTestMain(m *testing.M) {}\n":                                                                 true,
		head + "// " + strings.Repeat("x", 5<<20) + "\nfunc TestMain(m *testing.M) {}\n":                           true,
		head + "func init() { os.Exit(0) }\n":                                                                      true,
		head + "var _ = boot()\n\nfunc boot() int { return then() }\n\nfunc then() int { os.Exit(0); return 0 }\n": true,
		head + "func init() { os.Args = append(os.Args, \"-test.skip=TestA\") }\n":                                 true,
		head + "func init() { flag.Set(\"test.run\", \"TestA\") }\n":                                               true,
		head + "func init() { os.Stdout = nil }\n":                                                                 true,

		head + "func TestA(t *testing.T) { if os.Getenv(\"HELPER\") != \"\" { os.Exit(0) } }\n":               false,
		head + "var update = flag.Bool(\"update\", false, \"\")\n\nfunc init() { flag.Set(\"v\", \"1\") }\n":  false,
		head + "func TestA(t *testing.T) { os.Args = []string{\"a\"}; run() }\n\nfunc run() {}\n":             false,
		head + "// func TestMain(m *testing.M) is not needed\nvar s = `\nfunc TestMain(m *testing.M) {}\n`\n": false,
		"": false,
	} {
		r := newRepo(t)
		base := r.commit("base")
		r.write("a_test.go", text)
		facts := r.look(verify.Query{Baseline: base})
		assert.Equal(t, want, len(facts.TestFiles) == 1 && facts.TestFiles[0].Config, "%.200s", text)
	}
}

func TestCodeThatTakesOver(t *testing.T) {
	const head = "package a\n\nimport (\"fmt\"; \"os\")\n\n"
	for text, want := range map[string]bool{
		head + "func init() { fmt.Println(\"PASS\"); os.Exit(0) }\n":                                       true,
		head + "func init() { func() { os.Exit(zero) }() }\n":                                              true,
		head + "var _ = boot()\n\nfunc boot() int { os.Exit(0); return 0 }\n":                              true,
		head + "func init() { os.Args = append(os.Args, \"-test.run=./none\") }\n":                         true,
		head + "func init() { if os.Getenv(\"HOME\") == \"\" { os.Exit(1) } }\n":                           false,
		head + "var run = func() { os.Exit(code()) }\n\nfunc init() { cmd.Run = func() { os.Exit(0) } }\n": false,
		head + "func main() { os.Exit(run()) }\n":                                                          false,
		head + "func TestMain(m *testing.M) {}\n":                                                          false,
		head + "func init() {": false,
	} {
		r := newRepo(t)
		base := r.commit("base")
		r.write("a.go", text)
		facts := r.look(verify.Query{Baseline: base})
		assert.Equal(t, want, len(facts.TestFiles) == 1 && facts.TestFiles[0].Config, text)
		assert.Equal(t, want, len(facts.TestFiles) > 0)
	}
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
	const why = "it is ignored: whether it is new cannot be told"
	assert.Equal(t, []verify.TestFileFact{
		{Path: "conftest.py", Kind: verify.Added, Config: true, Why: why},
		{Path: "main_test.go", Kind: verify.Added, Config: true, Why: why},
	}, r.look(verify.Query{Baseline: base}).TestFiles)
}

func TestRoleOf(t *testing.T) {
	for role, names := range map[gitwitness.Role][]string{
		gitwitness.Test: {
			"a_test.go", "pkg/x_test.go", "test_api.py", "api_test.py", "a.test.tsx", "a.spec.js", "user_spec.rb", "src/test/java/FooTest.java",
			"FooTests.cs", "tests/common/mod.rs", "pkg/testdata/in.json", "__tests__/a.js", "ui/__snapshots__/a.snap", "e2e/login.ts",
		},
		gitwitness.Settings: {"conftest.py", "a/pytest.ini", "jest.config.js", "vitest.config.mts", "phpunit.xml.dist", ".mocharc.json", "tests/conftest.py"},
		gitwitness.NoRole:   {"a.go", "contest.py", "latest.go", "testing.go", "attest/a.go", "tests/README.md", "manifest.json", "Contest.java", "protest.py", "main.go", "go.mod", "Makefile", "package.json", "vite.config.ts"},
	} {
		for _, name := range names {
			assert.Equal(t, role, gitwitness.RoleOf(name), name)
		}
	}
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
	for _, want := range []string{"-var x = 1\n+var x = 2\n", "--- a/gone.go\n+++ /dev/null\n", "b/new file.go", "+var y = 3\n"} {
		assert.Contains(t, patch, want)
	}
	part, whole, err := r.witness().Diff(t.Context(), "", 50)
	require.NoError(t, err)
	assert.False(t, whole)
	assert.Equal(t, patch[:50], part)
	_, _, err = r.witness().Diff(t.Context(), "--output=x", 50)
	assert.EqualError(t, err, "gitwitness: the baseline: it is not the name of a commit")

	// Attributes hide no text.
	r.git("config", "diff.driver.binary", "true")
	r.write(".gitattributes", "*.go -diff\n*.js diff=driver\n*.png binary\n")
	r.write("new.js", "text of js\n")
	r.write("new.png", "\x00\x01\x02")
	patch, _, err = r.witness().Diff(t.Context(), base, 1<<20)
	require.NoError(t, err)
	assert.Contains(t, patch, "+var x = 2\n")
	assert.Contains(t, patch, "+text of js\n")
	require.NoError(t, os.WriteFile(r.path(".gitattributes"), []byte("*.png binary\n"), 0o600))
	patch, _, err = r.witness().Diff(t.Context(), base, 1<<20)
	require.NoError(t, err)
	assert.Contains(t, patch, "Binary files a/new.png and b/new.png differ")

	r.write("big.txt", strings.Repeat("a line of text\n", 1<<20))
	patch, whole, err = r.witness().Diff(t.Context(), base, 1000)
	require.NoError(t, err)
	assert.False(t, whole)
	assert.LessOrEqual(t, len(patch), 1000)
}
