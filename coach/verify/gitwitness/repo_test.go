package gitwitness_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
)

// repo is a git repository made for a test.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := &repo{t, t.TempDir()}
	r.init()
	return r
}

// config is the settings that git init writes here. It writes dozens of files otherwise, which takes long.
var config struct {
	sync.Once
	text string
}

// init makes an empty repository of the folder.
func (r *repo) init() {
	r.t.Helper()
	config.Do(func() {
		first := &repo{r.t, r.t.TempDir()}
		first.git("init", "-q")
		text, err := os.ReadFile(first.path(".git/config"))
		require.NoError(r.t, err)
		config.text = string(text)
	})
	r.write(".git/HEAD", "ref: refs/heads/main\n")
	r.write(".git/config", config.text)
	for _, folder := range []string{".git/objects", ".git/refs"} {
		require.NoError(r.t, os.Mkdir(r.path(folder), 0o755))
	}
}

// git runs git as an agent would, and returns its answer.
func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=file",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		// No processes and files that no test needs.
		"GIT_TEMPLATE_DIR=", "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false",
		"GIT_CONFIG_KEY_1=core.logAllRefUpdates", "GIT_CONFIG_VALUE_1=false")
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "git %s: %s", strings.Join(args, " "), out)
	return strings.TrimSpace(string(out))
}

func (r *repo) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

func (r *repo) write(name, text string) {
	r.t.Helper()
	require.NoError(r.t, os.MkdirAll(filepath.Dir(r.path(name)), 0o755))
	require.NoError(r.t, os.WriteFile(r.path(name), []byte(text), 0o644))
}

func (r *repo) remove(name string) {
	r.t.Helper()
	require.NoError(r.t, os.RemoveAll(r.path(name)))
}

func (r *repo) link(target, name string) {
	r.t.Helper()
	if err := os.Symlink(target, r.path(name)); err != nil {
		r.t.Skip("no symbolic links here:", err)
	}
}

// commit records everything and returns the name of the commit.
func (r *repo) commit(message string) string {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
	if name, err := os.ReadFile(r.path(".git/refs/heads/main")); err == nil && r.onMain() {
		return strings.TrimSpace(string(name))
	}
	return r.git("rev-parse", "HEAD")
}

// onMain reports whether the branch main is checked out.
func (r *repo) onMain() bool {
	head, err := os.ReadFile(r.path(".git/HEAD"))
	return err == nil && string(head) == "ref: refs/heads/main\n"
}

func (r *repo) witness() *gitwitness.Witness {
	r.t.Helper()
	return newWitness(r.t, &gitwitness.Witness{Dir: r.dir})
}

func newWitness(t *testing.T, w *gitwitness.Witness) *gitwitness.Witness {
	t.Helper()
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

func (r *repo) look(q verify.Query) verify.Facts {
	r.t.Helper()
	facts, err := r.witness().Look(r.t.Context(), q)
	require.NoError(r.t, err)
	return facts
}

func (r *repo) tree() string {
	r.t.Helper()
	return r.look(verify.Query{}).Tree
}

// kinds returns the changes by their paths.
func kinds(facts verify.Facts) map[string]verify.ChangeKind {
	m := make(map[string]verify.ChangeKind)
	for _, c := range facts.Changes {
		m[c.Path] = c.Kind
	}
	return m
}
