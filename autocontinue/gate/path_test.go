package gate

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree makes a folder with links, and returns its files and its name.
func tree(t *testing.T) (fs.FS, string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights on Windows")
	}
	dir, outside := t.TempDir(), t.TempDir()
	for _, d := range []string{"src/deep", "secret"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "src/main.go"), nil, 0o644))
	for name, target := range map[string]string{
		"src/out": outside, "src/up": "../secret", "src/self": "self", "src/abs": filepath.Join(dir, "secret"), "link": "src",
		"src/far": "../../../../../../../../etc", "src/dangling": "nowhere/../../secret", "code": "link",
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { root.Close() })
	return root.FS(), dir
}

func TestPaths(t *testing.T) {
	files, dir := tree(t)
	for _, tt := range []struct {
		path, rule      string
		allowed, denied ruling // by a rule that allows, and by one that denies
	}{
		{"src/main.go", "src", allow, forbid},
		{"src", "src", allow, forbid},
		{"./src//deep/", "src", allow, forbid},
		{"src/new/file.go", "src", allow, forbid},
		{dir + "/src/main.go", "src", allow, forbid},
		{dir, ".", allow, forbid},
		{"link/main.go", "src", allow, forbid},
		{"src/main.go", "link", allow, forbid},
		{"code/main.go", "src", allow, forbid},
		{"src/up/key", "secret", allow, forbid},
		{"src/abs/key", "secret", allow, forbid},
		{"srcx/main.go", "src", ask, ask},
		{"src/up/key", "src", ask, ask},
		{"src/abs/key", "src", ask, ask},
		{"SRC/main.go", "src", ask, forbid}, // some file systems ignore case
		{"README.md", "src", ask, ask},

		{"src/out/key", "src", ask, forbid},
		{"src/far/passwd", "src", ask, forbid},
		{"src/self", "src", ask, forbid},
		{"src/dangling", "src", ask, forbid},
		{"/etc/passwd", "src", ask, forbid},
		{dir + "x/src/main.go", "src", ask, forbid},
		{"~/src", ".", ask, forbid},
		{" src/main.go", ".", ask, forbid},
		{"src\\main.go", ".", ask, forbid},
		{"C:/x", ".", ask, forbid},
		{"file:///etc/passwd", ".", ask, forbid},
		{"src/\u202emain.go", ".", ask, forbid},
		{"", ".", ask, forbid},
		{"src/secret./key", ".", ask, forbid},
		{"src/secret /key", ".", ask, forbid},
		{"SECRET~1/key", ".", ask, forbid},
		{"src/key::$DATA", ".", ask, forbid},
		{"src/．．/key", ".", ask, forbid},
		{"src／key", ".", ask, forbid},
		{"src/%2E%2e/key", ".", ask, forbid},
		{"$HOME/key", ".", ask, forbid},
		{"src/re\u0301sume\u0301", ".", ask, forbid},
		{"src/.env", "src", allow, forbid},
		{"src/[id].tsx~", "src", allow, forbid},
		{"src/résumé", "src", allow, forbid},
		{"src/हिन्दी", "src", allow, forbid},

		{"src/../secret", "src", forbid, forbid},
		{"../src/main.go", "src", forbid, forbid},
		{"src/..", ".", forbid, forbid},
		{"src\\..\\x", ".", forbid, forbid},
	} {
		for then, want := range map[ruling]ruling{allow: tt.allowed, forbid: tt.denied} {
			rules := fmt.Sprintf(`[{"tool":"edit","when":[{"at":"/path","path":%q}],"then":%q},
				{"tool":"edit","when":[{"at":"/never","exists":true}],"then":"allow"}]`, tt.rule, then)
			s, err := New(policyOf(t, rules), Options{Audited: true, Root: files, RootDir: dir})
			require.NoError(t, err)
			got, _ := s.Judge(s.Policy(), call("r", "c", "edit", `{"path":`+quote(tt.path)+`}`))
			require.Equal(t, statusOf[want], got, "%s: %s within %s", then, tt.path, tt.rule)
		}
	}
}

func TestPathNeedsARoot(t *testing.T) {
	p := policyOf(t, `[{"tool":"edit","when":[{"at":"/paths","all":{"path":"src"}}],"then":"allow"}]`)
	_, err := New(p, Options{})
	require.ErrorContains(t, err, "set Options.Root")
	d := open(t, someRules)
	require.ErrorContains(t, d.SetPolicy(d.now, "ann", p), "set Options.Root")
	_, err = New(p, Options{Root: onlyFS{}})
	require.ErrorContains(t, err, "fs.ReadLinkFS")
	require.Equal(t, allow, p.verdict(call("r", "c", "edit", `{"paths":["src/a"]}`)).then, "as it is written")
	require.Equal(t, forbid, p.verdict(call("r", "c", "edit", `{"paths":["src/../a"]}`)).then)
	require.NotEqual(t, allow, p.verdict(call("r", "c", "edit", `{"paths":["/src/a"]}`)).then)
}

type onlyFS struct{ fs.FS }

func TestBadPaths(t *testing.T) {
	for _, path := range []string{`""`, `"/etc"`, `"../x"`, `"a/../b"`, `"src/*"`, `"a\\b"`, `"a:b"`, `"a."`, `[]`, `1`,
		`["a",1]`} {
		_, err := ParsePolicy([]byte(`[{"tool":"edit","when":[{"at":"/path","path":` + path + `}],"then":"allow"}]`))
		require.ErrorContains(t, err, "path: ", path)
	}
}

// A link that appears after the approval is seen when the item is redeemed.
func TestPathIsResolvedAgain(t *testing.T) {
	files, dir := tree(t)
	d := open(t, `[{"tool":"edit","when":[{"at":"/path","path":"src"}],"then":"allow"},
		{"tool":"edit","when":[{"at":"/path","path":"secret"}],"then":"deny"}]`,
		func(o *Options) { o.Root, o.RootDir = files, dir })
	it := d.propose(call(d.started("r"), "c", "edit", `{"path":"src/new"}`))
	require.Equal(t, Approved, it.Status)
	require.NoError(t, os.Symlink("../secret/key", filepath.Join(dir, "src", "new")))
	_, err := d.Redeem(d.now, it.ID)
	require.ErrorIs(t, err, ErrDenied)
}

// stuck is a file system that answers when it may.
type stuck struct{ entered, leave chan struct{} }

func (s stuck) Open(string) (fs.File, error)    { return nil, fs.ErrNotExist }
func (s stuck) ReadLink(string) (string, error) { return "", fs.ErrNotExist }
func (s stuck) Lstat(string) (fs.FileInfo, error) {
	select {
	case s.entered <- struct{}{}:
		<-s.leave
	case <-s.leave:
	}
	return nil, fs.ErrNotExist
}
