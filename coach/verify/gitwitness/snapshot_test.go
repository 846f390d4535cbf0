package gitwitness_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
)

const aTest = "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Log(1) }\n"

func take(t *testing.T, dir, store string) *gitwitness.Snapshot {
	t.Helper()
	s, err := gitwitness.Take(t.Context(), dir, store)
	require.NoError(t, err)
	return &s
}

// A snapshot is the baseline, with what was not committed then. What was committed since is a change, too.
func TestSnapshotIsTheBaseline(t *testing.T) {
	r := newRepo(t)
	r.write("a_test.go", aTest)
	r.write("same.go", "package a\n")
	r.write(".gitignore", "*.log\n")
	r.commit("base")
	r.write("draft.go", "package a\n")
	r.write("left.go", "package a\n")
	r.write("noise.log", "x\n")
	base := take(t, r.dir, t.TempDir())

	r.write("draft.go", "package a // more\n")
	r.write("new.go", "package a\n")
	r.remove("a_test.go")
	r.commit("work")
	w := newWitness(t, &gitwitness.Witness{Dir: r.dir, Base: base})
	facts, err := w.Look(
		t.Context(),
		verify.Query{
			Paths:   []string{"draft.go", "new.go", "a_test.go", "same.go", "left.go"},
			Commits: []string{"HEAD", "HEAD~1"},
		},
	)
	require.NoError(t, err)
	assert.Equal(t, verify.Met, facts.Compared)
	assert.Equal(t, "snapshot "+base.Tree, facts.Base)
	assert.Equal(t,
		map[string]verify.ChangeKind{"a_test.go": verify.Removed, "draft.go": verify.Modified, "new.go": verify.Added},
		kinds(facts))
	for i, want := range []string{"exists met modified draft.go", "exists met added new.go",
		"missing met removed a_test.go", "exists not_met  same.go"} {
		assert.Equal(t, want, fact(facts.Files[i]))
	}
	assert.Equal(t, verify.Met, facts.Files[0].Committed)
	assert.Equal(t, "exists unverified  left.go", fact(facts.Files[4]),
		"the agent may have written it before the human spoke again")
	require.Len(t, facts.Tests, 1)
	assert.Equal(t, "TestA", facts.Tests[0].Name)
	assert.Equal(t, verify.Met, facts.Committed)
	assert.Equal(t, []verify.Status{verify.Met, verify.NotMet},
		[]verify.Status{facts.Commits[0].New, facts.Commits[1].New})
}

// A later prompt of the same session is another baseline: what changed before it is not said to be unchanged.
func TestEarlierInTheSession(t *testing.T) {
	r := newRepo(t)
	r.write("a.go", "package a\n")
	r.write("b.go", "package a\n")
	r.commit("base")
	store := t.TempDir()
	first := take(t, r.dir, store)
	r.write("a.go", "package a // first turn\n")
	r.commit("first turn")
	last := take(t, r.dir, store)
	w := newWitness(t, &gitwitness.Witness{Dir: r.dir, Base: last, First: first})
	facts, err := w.Look(t.Context(), verify.Query{Paths: []string{"a.go", "b.go"}, Commits: []string{"HEAD"}})
	require.NoError(t, err)
	assert.Empty(t, facts.Changes)
	assert.True(t, facts.Earlier)
	assert.Equal(t, "exists unverified  a.go", fact(facts.Files[0]))
	assert.Equal(t, "exists not_met  b.go", fact(facts.Files[1]))
	assert.Equal(t, verify.Unverified, facts.Commits[0].New)
}

func TestSnapshotsThatAreGone(t *testing.T) {
	r := newRepo(t)
	r.write("a.go", "package a\n")
	r.commit("base")
	r.write("a.go", "package a // draft\n")
	store := filepath.Join(t.TempDir(), "store")
	base := take(t, r.dir, store)
	r.write("a.go", "package a // more\n")
	require.NoError(t, os.RemoveAll(store))
	other := newRepo(t)
	elsewhere := take(t, other.dir, t.TempDir())
	for want, s := range map[string]*gitwitness.Snapshot{"the baseline is gone": base,
		"the baseline is of another folder": elsewhere} {
		facts, err := newWitness(t, &gitwitness.Witness{Dir: r.dir, Base: s}).Look(t.Context(),
			verify.Query{Paths: []string{"a.go"}})
		require.NoError(t, err)
		assert.Equal(t, []string{"what has changed is not known: " + want}, facts.Unseen)
		assert.Equal(t, "exists unverified  a.go", fact(facts.Files[0]))
		assert.Empty(t, facts.Changes)
	}
	_, err := gitwitness.Take(t.Context(), t.TempDir(), store)
	require.ErrorContains(t, err, "it is not in a git repository")
}

// The store of a snapshot has what no commit has, and the repository is left alone.
func TestSnapshotWritesToItsStore(t *testing.T) {
	r := newRepo(t)
	r.write("a.go", "package a\n")
	r.commit("base")
	r.write("secret draft.go", "package draft\n")
	before := r.snapshot()
	take(t, r.dir, t.TempDir())
	assert.Equal(t, before, r.snapshot())
}

// A witness tells what changed while it was open, and leaves nothing behind.
func TestChangedMeanwhile(t *testing.T) {
	r := newRepo(t)
	r.write("a.go", "package a\n")
	r.write(".gitignore", "*.log\n")
	r.commit("base")
	t.Setenv("TMPDIR", t.TempDir())
	w := r.witness()
	facts, err := w.Look(t.Context(), verify.Query{})
	require.NoError(t, err)
	tree := facts.Tree
	r.write("a.go", "package a // more\n")
	r.write("b.log", "x\n")
	list, now, err := w.Changed(t.Context(), tree)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, "a.go", list[0].Path)
	assert.NotEqual(t, tree, now)
	require.NoError(t, w.Close())
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// The baseline is written elsewhere, with the ignored dependencies that it needs, and not with what builds made.
func TestCheckout(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links")
	}
	r := newRepo(t)
	r.write("sub/a.js", "one\n")
	r.write("packages/own/index.js", "own\n")
	r.write(".gitignore", "node_modules\ndist\n.env\n")
	r.commit("base")
	r.write("node_modules/dep/index.js", "dep\n")
	r.write("node_modules/@scope/dep/index.js", "scoped\n")
	r.write("node_modules/.bin/tool", "#!/bin/sh\n")
	r.link(r.path("packages/own"), "node_modules/own")
	r.write("dist/out.js", "built\n")
	r.write(".env", "A=1\n")
	base := take(t, r.dir, t.TempDir())
	r.write("sub/a.js", "two\n")
	r.write("packages/own/index.js", "changed\n")
	r.write("new.js", "new\n")
	r.commit("work")

	for name, cfg := range map[string]*gitwitness.Witness{
		"HEAD~1": {Dir: r.path("sub")},
		"":       {Dir: r.path("sub"), Base: base},
	} {
		dir := t.TempDir()
		folder, tree, err := newWitness(t, cfg).Checkout(t.Context(), name, dir)
		require.NoError(t, err)
		assert.Equal(t, base.Tree, tree)
		assert.Equal(t, filepath.Join(dir, "sub"), folder)
		for file, want := range map[string]string{
			"sub/a.js": "one\n", "node_modules/dep/index.js": "dep\n", "node_modules/@scope/dep/index.js": "scoped\n",
			"node_modules/own/index.js": "own\n", ".env": "A=1\n", "node_modules/.bin/tool": "#!/bin/sh\n",
		} {
			text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
			require.NoError(t, err, file)
			assert.Equal(t, want, string(text), "a package of the project is that of the baseline: %s", file)
		}
		assert.NoFileExists(t, filepath.Join(dir, "new.js"))
		assert.NoDirExists(t, filepath.Join(dir, "dist"))
	}

	_, _, err := newWitness(t, &gitwitness.Witness{Dir: r.dir}).Checkout(t.Context(), "", t.TempDir())
	require.ErrorContains(t, err, "there is no baseline")
}

// The hooks of the repository do not run when its baseline is written.
func TestCheckoutRunsNoHooks(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not installed")
	}
	r := newRepo(t)
	r.write("a.go", "package a\n")
	base := r.commit("base")
	sprung := filepath.Join(t.TempDir(), "sprung")
	for _, hook := range []string{"post-checkout", "post-index-change"} {
		r.write(".git/hooks/"+hook, "#!/bin/sh\ntouch '"+sprung+"'\n")
		require.NoError(t, os.Chmod(r.path(".git/hooks/"+hook), 0o755))
	}
	_, _, err := r.witness().Checkout(t.Context(), base, t.TempDir())
	require.NoError(t, err)
	assert.NoFileExists(t, sprung)
}

// An environment that has the project installed from its folder would run the work, not the baseline.
func TestCheckoutOfAnEditableInstall(t *testing.T) {
	r := newRepo(t)
	r.write("bank.py", "x = 1\n")
	r.write(".gitignore", ".venv\n")
	base := r.commit("base")
	r.write(".venv/lib/python3.13/site-packages/dep.py", "y = 1\n")
	dir := t.TempDir()
	_, _, err := r.witness().Checkout(t.Context(), base, dir)
	require.NoError(t, err)
	assert.FileExists(t, filepath.Join(dir, ".venv/lib/python3.13/site-packages/dep.py"))
	r.write(".venv/lib/python3.13/site-packages/__editable__.bank.pth", r.dir+"\n")
	_, _, err = r.witness().Checkout(t.Context(), base, t.TempDir())
	require.ErrorContains(t, err, ".venv leads back to the working tree (an editable install)")
}
