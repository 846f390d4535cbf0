package gitwitness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// snapshot returns every file of the repository's own folder with its content.
func (r *repo) snapshot() map[string]string {
	r.t.Helper()
	all := make(map[string]string)
	err := filepath.Walk(r.path(".git"), func(name string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		all[name] = string(text)
		return err
	})
	require.NoError(r.t, err)
	return all
}

// Whatever a repository's settings name, it is not run; and a look leaves the repository as it was, to the byte.
func TestSettingsRunNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the traps are shell scripts")
	}
	r := newRepo(t)
	sprung := filepath.Join(t.TempDir(), "sprung")
	trap := func(what string) string { return fmt.Sprintf("echo %s >>%s; cat", what, sprung) }
	r.write("a.go", "package a\n")
	r.write("a_test.go", "package a\n")
	r.write("sub.txt", "x\n")
	base := r.commit("base")
	r.write("a.go", "package a // changed\n")
	tip := r.commit("tip")

	sub := &repo{t, r.path("nested")}
	require.NoError(t, os.Mkdir(sub.dir, 0o755))
	sub.git("init", "-q")
	sub.write("n.txt", "n\n")
	sub.commit("nested")
	r.git("add", "nested")
	r.git("commit", "-qm", "a submodule, of sorts")

	r.write(".gitattributes", "* filter=trap diff=trap\nsub.txt filter=process\n")
	sub.write(".gitattributes", "* filter=trap\n")
	hooks := r.path("hooks")
	require.NoError(t, os.Mkdir(hooks, 0o755))
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "pre-commit", "post-checkout"} {
		require.NoError(t, os.WriteFile(filepath.Join(hooks, hook), []byte("#!/bin/sh\n"+trap(hook)+"\n"), 0o755))
	}
	for _, in := range []*repo{r, sub} {
		for key, value := range map[string]string{
			"core.fsmonitor": trap("fsmonitor"), "core.hooksPath": hooks, "core.pager": trap("pager"),
			"core.editor":     trap("editor"),
			"core.sshCommand": trap("ssh"), "core.askPass": trap("askpass"), "diff.external": trap("external"),
			"diff.trap.textconv": trap("textconv"),
			"diff.trap.command":  trap("diff command"), "filter.trap.clean": trap("clean"), "filter.trap.smudge": trap("smudge"),
			"filter.trap.required": "true", "filter.process.process": trap("process"), "gpg.program": trap("gpg"),
			"pager.diff":        "true",
			"credential.helper": "!" + trap("credential"), "alias.rev-parse": "!" + trap("alias"),
			"interactive.diffFilter": trap("interactive"),
			"core.untrackedCache":    "true", "feature.manyFiles": "true", "core.splitIndex": "true", "diff.renames": "copies",
		} {
			in.git("config", key, value)
		}
	}
	r.write("a.go", "package a // once more\n")
	r.write("sub.txt", "y\n")
	sub.write("n.txt", "m\n")
	r.write("new.go", "package a\n")
	require.NoError(t, os.RemoveAll(sprung)) // what the test's own commands set off
	before := r.snapshot()

	t.Setenv("GIT_DIR", t.TempDir())
	t.Setenv("GIT_WORK_TREE", t.TempDir())
	t.Setenv("GIT_INDEX_FILE", "/nowhere/index")
	t.Setenv("GIT_EXTERNAL_DIFF", trap("environment"))
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.worktree")
	t.Setenv("GIT_CONFIG_VALUE_0", "/")
	facts := r.look(
		verify.Query{Baseline: base, Paths: []string{"a.go", "sub.txt", "new.go", "nested/n.txt"}, Commits: []string{tip}})
	assert.Empty(t, facts.Unseen)
	assert.Equal(t, verify.Met, facts.Commits[0].Reachable)
	assert.Equal(t, verify.Added, facts.Files[2].Kind)
	assert.Contains(t, facts.Files[0].Why, `it is recorded through the filter "trap"`)
	patch, whole, err := r.witness().Diff(t.Context(), base, 1<<20)
	require.NoError(t, err)
	assert.True(t, whole)
	assert.Contains(t, patch, "+package a // once more")
	r.tree()

	set, err := os.ReadFile(sprung)
	assert.ErrorIs(t, err, os.ErrNotExist, "was run: %s", set)
	assert.Equal(t, before, r.snapshot())
}

// A file whose entry in the index says that it is to be taken for unchanged has changed all the same.
func TestIndexIsNotBelieved(t *testing.T) {
	r := newRepo(t)
	r.write("assumed.go", "package a\n")
	r.write("skipped.go", "package a\n")
	r.write("skipped_test.go", "package a\n")
	base := r.commit("base")
	r.git("update-index", "--assume-unchanged", "assumed.go")
	r.git("update-index", "--skip-worktree", "skipped.go", "skipped_test.go")
	before := r.tree()
	r.write("assumed.go", "package b\n")
	r.write("skipped.go", "package b\n")
	r.remove("skipped_test.go")
	facts := r.look(verify.Query{Baseline: base})
	assert.Equal(
		t,
		map[string]verify.ChangeKind{
			"assumed.go":      verify.Modified,
			"skipped.go":      verify.Modified,
			"skipped_test.go": verify.Removed,
		},
		kinds(facts),
	)
	assert.NotEqual(t, before, facts.Tree)
}

// History can be made up in other places than commits.
func TestMadeUpHistoryIsNotBelieved(t *testing.T) {
	r := newRepo(t)
	first := r.commit("first")
	r.git("checkout", "-q", "--orphan", "other")
	other := r.commit("other")
	r.git("checkout", "-q", "main")
	r.write(".git/info/grafts", first+" "+other+"\n")
	facts := r.look(verify.Query{Commits: []string{other}})
	assert.Equal(t, verify.NotMet, facts.Commits[0].Reachable, "a graft")
	r.remove(".git/info/grafts")

	r.git("replace", "--graft", first, other)
	facts = r.look(verify.Query{Commits: []string{other}})
	assert.Equal(t, verify.NotMet, facts.Commits[0].Reachable, "a replaced commit")
}

func TestElsewhere(t *testing.T) {
	r := newRepo(t)
	r.commit("one")
	r.git("config", "core.worktree", t.TempDir())
	facts := r.look(verify.Query{Paths: []string{"a.go"}})
	require.Len(t, facts.Unseen, 1)
	assert.Contains(t, facts.Unseen[0], "core.worktree")
	assert.Equal(t, "unverified", fact(facts.Files[0]))
}

// A promisor remote would be asked for what is missing, by whatever program its address names.
func TestNothingIsFetched(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the trap is a shell script")
	}
	r := newRepo(t)
	sprung := filepath.Join(t.TempDir(), "sprung")
	r.commit("one")
	r.git("config", "extensions.partialClone", "origin")
	r.git("config", "remote.origin.promisor", "true")
	r.git("config", "remote.origin.url", "ext::sh -c echo% x% >"+sprung)
	r.git("config", "protocol.ext.allow", "always")
	facts := r.look(verify.Query{Commits: []string{strings.Repeat("1", 40)}, Baseline: strings.Repeat("2", 40)})
	assert.NotEqual(t, verify.Met, facts.Commits[0].Exists)
	assert.NoFileExists(t, sprung)
}

func TestBrokenRepositories(t *testing.T) {
	for name, damage := range map[string]func(r *repo){
		"settings": func(r *repo) { r.write(".git/config", "[core\n") },
		"index":    func(r *repo) { r.write(".git/index", "DIRC nonsense") },
		"HEAD":     func(r *repo) { r.write(".git/HEAD", "nonsense\n") },
		"objects":  func(r *repo) { r.remove(".git/objects") },
		"a file for the folder": func(r *repo) {
			r.remove(".git")
			r.write(".git", "gitdir: /nowhere\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.write("a.go", "package a\n")
			base := r.commit("base")
			damage(r)
			facts := r.look(verify.Query{Baseline: base, Paths: []string{"a.go"}, Commits: []string{base}})
			assert.NotEmpty(t, facts.Unseen)
			require.Len(t, facts.Files, 1)
			assert.Equal(t, string(verify.Unverified), facts.Files[0].Changed.String())
			assert.Equal(t, string(verify.Unverified), facts.Commits[0].Exists.String())
			assert.NotEqual(t, verify.Met, facts.Compared)
		})
	}
}
