package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatBelongsToAProject(t *testing.T) {
	shop := project{root: "/home/ada/shop"}
	for _, tt := range []struct {
		at    project
		file  string
		holds bool
	}{
		{shop, "/home/ada/shop/auth.go", true},
		{shop, "/home/ada/shop/sub/../auth.go", true},
		{shop, "/home/ada/shop/../other/auth.go", false},
		{shop, "/home/ada/shopping/auth.go", false},
		{shop, "/etc/hosts", false},
		{shop, "/tmp/try.go", false},
		{shop, "$TMPDIR/try.go", false},
		{shop, "${TMPDIR}/try.go", false},
		{shop, "auth.go", true},
		{shop, "../other/auth.go", true}, // from where is not known
		{shop, `odd\name.go`, true},
		{project{}, "/home/ada/shop/auth.go", true},
		{project{}, "/tmp/try.go", false},
		{project{}, "/private/var/folders/x/T/try.go", false},
		{project{}, "/tmpfiles/a.go", true},
		{project{root: "/tmp/shop"}, "/tmp/shop/auth.go", true},
		{project{root: "/tmp/shop"}, "/tmp/try.go", false},
		{project{root: "/"}, "/srv/auth.go", true},
		{project{root: "/"}, "/tmp/try.go", false},
		{project{root: "C:/Users/ada/shop"}, `c:\users\Ada\shop\auth.go`, true},
		{project{root: "C:/Users/ada/shop"}, `D:\shop\auth.go`, false},
		{project{root: "C:/Users/ada/shop"}, `C:\Users\ada\AppData\Local\Temp\try.go`, false},
	} {
		require.Equal(t, tt.holds, tt.at.holds(tt.file), "%s in %q", tt.file, tt.at.root)
	}
	require.True(t, shop.touched("README.md", "/tmp/x", "auth.go"))
	require.True(t, shop.touched(""), "some file")
	require.False(t, shop.touched("README.md", "/tmp/x"))
	require.False(t, shop.touched())
}

// An agent may work in a folder of its repository and change another one, by whatever name the folder goes.
func TestTheProjectIsTheRepository(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	repo := filepath.Join(root, "repo")
	require.NoError(t, os.MkdirAll(filepath.Join(repo, "web", "src"), 0o777))
	require.NoError(t, os.Mkdir(filepath.Join(root, "other"), 0o777))
	in := func(dir string) project { return Event{WorkDir: Value(dir)}.project() }
	require.False(t, in(filepath.Join(repo, "web")).holds(filepath.Join(repo, "api.go")), "no repository yet")
	require.NoError(t, os.WriteFile(filepath.Join(repo, ".git"), []byte("gitdir: elsewhere\n"), 0o666)) // as in a worktree
	at := in(filepath.Join(repo, "web", "src"))
	require.True(t, at.holds(filepath.Join(repo, "api.go")))
	require.False(t, at.holds(filepath.Join(root, "other", "api.go")))
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Symlink(repo, filepath.Join(root, "other", "link")))
		require.True(t, at.holds(filepath.Join(root, "other", "link", "api.go")))
		require.True(t, in(filepath.Join(root, "other", "link")).holds(filepath.Join(repo, "api.go")))
	}
	for _, dir := range []string{"", "relative", "/a\x00b"} {
		require.Equal(t, project{}, in(dir), dir)
	}
}

// What is written elsewhere after a test run does not make it stale; what is written here does, wherever here is.
func TestEditsElsewhere(t *testing.T) {
	write := func(file string) string {
		return fmt.Sprintf(`{"isSidechain":false,"message":{"id":"msg_w","role":"assistant","content":[{"type":"tool_use","id":"w","name":"Write","input":{"file_path":%q,"content":"x"}}]},"type":"assistant","uuid":"w1"}
{"isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"w","type":"tool_result","content":"done","is_error":false}]},"uuid":"w2"}`, file)
	}
	shell := func(script string) string { return claudeRuns("s", script, "") }
	for _, tt := range []struct {
		root, after string
		want        Tests
	}{
		{"/home/ada/shop", write("/tmp/notes.py"), TestsPassed},
		{"/home/ada/shop", write("/home/ada/.claude/plans/p.txt"), TestsPassed},
		{"/home/ada/shop", write("/home/ada/shop/auth.go"), TestsNone},
		{"/home/ada/shop", write("/home/ada/shop/testdata/want.out"), TestsNone},
		{"/tmp/shop", write("/tmp/shop/auth.go"), TestsNone},
		{"/tmp/shop", shell("sed -i s/a/b/ /tmp/shop/auth.go"), TestsNone},
		{"/home/ada/shop", shell("sed -i s/a/b/ /tmp/auth.go"), TestsPassed},
		{"/home/ada/shop", shell("bash -c 'echo x > /srv/other/auth.go'"), TestsPassed},
		{"/home/ada/shop", shell("cp auth.go /home/ada/backup/auth.go"), TestsPassed},
		{"/home/ada/shop", shell("cp /tmp/auth.go auth.go"), TestsNone},
		{"", write("/tmp/notes.py"), TestsPassed},
		{"", write("/srv/auth.go"), TestsNone},
	} {
		text := strings.Join([]string{claudeHuman("Fix it."), claudeRuns("t1", "go test ./...", "ok  \ta\t0.1s"), tt.after, claudeSays("m1", "All tests pass.")}, "\n") + "\n"
		tr := look(strings.NewReader(text), int64(len(text)), claudeScript{}, project{root: tt.root}, isOurs)
		require.Equal(t, tt.want, tr.Tests, "%q: %s", tt.root, tt.after)
	}
}
