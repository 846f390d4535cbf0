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
		allowed, denied Then // by a rule that allows, and by one that denies
	}{
		{"src/main.go", "src", Allow, Forbid},
		{"src", "src", Allow, Forbid},
		{"./src//deep/", "src", Allow, Forbid},
		{"src/new/file.go", "src", Allow, Forbid},
		{dir + "/src/main.go", "src", Allow, Forbid},
		{dir, ".", Allow, Forbid},
		{"link/main.go", "src", Allow, Forbid},
		{"src/main.go", "link", Allow, Forbid},
		{"code/main.go", "src", Allow, Forbid},
		{"src/up/key", "secret", Allow, Forbid},
		{"src/abs/key", "secret", Allow, Forbid},
		{"srcx/main.go", "src", Ask, Ask},
		{"src/up/key", "src", Ask, Ask},
		{"src/abs/key", "src", Ask, Ask},
		{"SRC/main.go", "src", Ask, Forbid}, // some file systems ignore case
		{"README.md", "src", Ask, Ask},

		{"src/out/key", "src", Ask, Forbid},
		{"src/far/passwd", "src", Ask, Forbid},
		{"src/self", "src", Ask, Forbid},
		{"src/dangling", "src", Ask, Forbid},
		{"/etc/passwd", "src", Ask, Forbid},
		{dir + "x/src/main.go", "src", Ask, Forbid},
		{"~/src", ".", Ask, Forbid},
		{" src/main.go", ".", Ask, Forbid},
		{"src\\main.go", ".", Ask, Forbid},
		{"C:/x", ".", Ask, Forbid},
		{"file:///etc/passwd", ".", Ask, Forbid},
		{"src/\u202emain.go", ".", Ask, Forbid},
		{"", ".", Ask, Forbid},
		{"src/secret./key", ".", Ask, Forbid},
		{"src/secret /key", ".", Ask, Forbid},
		{"SECRET~1/key", ".", Ask, Forbid},
		{"src/key::$DATA", ".", Ask, Forbid},
		{"src/．．/key", ".", Ask, Forbid},
		{"src／key", ".", Ask, Forbid},
		{"src/%2E%2e/key", ".", Ask, Forbid},
		{"$HOME/key", ".", Ask, Forbid},
		{"src/re\u0301sume\u0301", ".", Ask, Forbid},
		{"src/.env", "src", Allow, Forbid},
		{"src/[id].tsx~", "src", Allow, Forbid},
		{"src/résumé", "src", Allow, Forbid},
		{"src/हिन्दी", "src", Allow, Forbid},

		{"src/../secret", "src", Forbid, Forbid},
		{"../src/main.go", "src", Forbid, Forbid},
		{"src/..", ".", Forbid, Forbid},
		{"src\\..\\x", ".", Forbid, Forbid},
	} {
		for then, want := range map[Then]Then{Allow: tt.allowed, Forbid: tt.denied} {
			rules := fmt.Sprintf(`[{"tool":"edit","when":[{"at":"/path","path":%q}],"then":%q},
				{"tool":"edit","when":[{"at":"/never","exists":true}],"then":"allow"}]`, tt.rule, then)
			s, err := New(policyOf(t, rules), Options{Audited: true, Root: files, RootDir: dir})
			require.NoError(t, err)
			got, _ := s.Judge(s.Policy(), call("r", "c", "edit", `{"path":`+quote(tt.path)+`}`))
			require.Equal(t, want, got, "%s: %s within %s", then, tt.path, tt.rule)
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
	require.Equal(t, Allow, p.verdict(call("r", "c", "edit", `{"paths":["src/a"]}`)).then, "as it is written")
	require.Equal(t, Forbid, p.verdict(call("r", "c", "edit", `{"paths":["src/../a"]}`)).then)
	require.NotEqual(t, Allow, p.verdict(call("r", "c", "edit", `{"paths":["/src/a"]}`)).then)
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
