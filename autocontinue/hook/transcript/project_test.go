package transcript

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProjectHolds(t *testing.T) {
	shop := project("/home/ada/shop")
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
		{project(""), "/home/ada/shop/auth.go", true},
		{project(""), "/tmp/try.go", false},
		{project(""), "/private/var/folders/x/T/try.go", false},
		{project(""), "/tmpfiles/a.go", true},
		{project("/tmp/shop"), "/tmp/shop/auth.go", true},
		{project("/tmp/shop"), "/tmp/try.go", false},
		{project("/"), "/srv/auth.go", true},
		{project("/"), "/tmp/try.go", false},
		{project("C:/Users/ada/shop"), `c:\users\Ada\shop\auth.go`, true},
		{project("C:/Users/ada/shop"), `D:\shop\auth.go`, false},
		{project("C:/Users/ada/shop"), `C:\Users\ada\AppData\Local\Temp\try.go`, false},
	} {
		require.Equal(t, tt.holds, tt.at.holds(tt.file), "%s in %q", tt.file, tt.at)
	}
}

// An agent may work in a folder of its repository and change another one, by whatever name the folder goes.
func TestProjectIsTheRepository(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	repo := filepath.Join(root, "repo")
	require.NoError(t, os.MkdirAll(filepath.Join(repo, "web", "src"), 0o777))
	require.NoError(t, os.Mkdir(filepath.Join(root, "other"), 0o777))
	require.False(t, projectOf(filepath.Join(repo, "web")).holds(filepath.Join(repo, "api.go")), "no repository yet")
	require.NoError(t, os.WriteFile(filepath.Join(repo, ".git"), []byte("gitdir: elsewhere\n"), 0o666)) // as in a worktree
	at := projectOf(filepath.Join(repo, "web", "src"))
	require.True(t, at.holds(filepath.Join(repo, "api.go")))
	require.False(t, at.holds(filepath.Join(root, "other", "api.go")))
	if runtime.GOOS != "windows" {
		link := filepath.Join(root, "other", "link")
		require.NoError(t, os.Symlink(repo, link))
		require.True(t, at.holds(filepath.Join(link, "api.go")))
		require.True(t, projectOf(link).holds(filepath.Join(repo, "api.go")))
	}
	for _, dir := range []string{"", "relative", "/a\x00b"} {
		require.Equal(t, project(""), projectOf(dir), dir)
	}
}
