package plancriteria_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/plancriteria"
)

const plan = "# Success Criteria\n- a\n"

func TestExtractFile(t *testing.T) {
	fsys := fstest.MapFS{
		"plan.md":           {Data: []byte(plan)},
		"docs/plans/a b.md": {Data: []byte("\ufeff" + plan)},
		`back\slash.md`:     {Data: []byte(plan)},
		"..md":              {Data: []byte(plan)},
		"empty.md":          {},
		"none.md":           {Data: []byte("# Plan\n")},
		"two.md":            {Data: []byte(plan + plan)},
		"blank.md":          {Data: []byte("# Success Criteria\n\n")},
		"latin1.md":         {Data: []byte(plan + "\xfc")},
		"exact.md":          {Data: []byte(plan + strings.Repeat("x", plancriteria.MaxSize-len(plan)))},
		"large.md":          {Data: []byte(plan + strings.Repeat("x", plancriteria.MaxSize+1-len(plan)))},
		"pipe.md":           {Mode: fs.ModeNamedPipe},
		"device.md":         {Mode: fs.ModeDevice},
		"socket.md":         {Mode: fs.ModeSocket},
	}
	tests := []struct {
		name string
		err  error
	}{
		{"plan.md", nil},
		{"./plan.md", nil},
		{"././/plan.md", nil},
		{"docs/../plan.md", nil},
		{"docs/plans/a b.md", nil},
		{"./docs//plans/./a b.md", nil},
		{filepath.Join("docs", "plans", "a b.md"), nil},
		{"..md", nil},
		{"exact.md", nil},

		{"", fs.ErrInvalid},
		{"missing.md", fs.ErrNotExist},
		{"plan.md/x", fs.ErrNotExist},
		{" plan.md", fs.ErrNotExist},
		{"..", fs.ErrInvalid},
		{"../plan.md", fs.ErrInvalid},
		{"./../plan.md", fs.ErrInvalid},
		{"docs/../../plan.md", fs.ErrInvalid},
		{"docs/../../docs/plan.md", fs.ErrInvalid},
		{"/plan.md", fs.ErrInvalid},
		{"//plan.md", fs.ErrInvalid},
		{"/", fs.ErrInvalid},
		{".", fs.ErrInvalid},
		{"docs", fs.ErrInvalid},
		{"./docs/", fs.ErrInvalid},
		{"pipe.md", fs.ErrInvalid},
		{"device.md", fs.ErrInvalid},
		{"socket.md", fs.ErrInvalid},
		{"empty.md", plancriteria.ErrNoSection},
		{"none.md", plancriteria.ErrNoSection},
		{"two.md", plancriteria.ErrAmbiguous},
		{"blank.md", plancriteria.ErrEmpty},
		{"latin1.md", plancriteria.ErrUnusable},
		{"large.md", plancriteria.ErrUnusable},
	}
	if runtime.GOOS != "windows" { // where it is not a separator, a backslash is a character
		tests = append(tests, []struct {
			name string
			err  error
		}{{`back\slash.md`, nil}, {`docs\plans\a b.md`, fs.ErrNotExist}, {`..\plan.md`, fs.ErrNotExist}}...)
	}
	for _, tt := range tests {
		got, err := plancriteria.ExtractFile(fsys, tt.name)
		require.ErrorIs(t, err, tt.err, "%q", tt.name)
		if tt.err != nil {
			require.Zero(t, got)
			require.True(t, strings.HasPrefix(err.Error(), "plancriteria: "), err.Error())
			require.LessOrEqual(t, strings.Count(err.Error(), "plancriteria: "), 1)
			continue
		}
		require.Equal(t, "a", got.Items[0].Text[:1], "%q", tt.name)
	}

	_, err := plancriteria.ExtractFile(nil, "plan.md")
	require.ErrorIs(t, err, fs.ErrInvalid)
}

func TestExtractFileInARoot(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret.md")
	require.NoError(t, os.WriteFile(secret, []byte(plan), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "docs"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docs", "plan.md"), []byte(plan), 0o600))
	for name, target := range map[string]string{
		"out.md": secret, "out": outside, "in.md": filepath.Join("docs", "plan.md"), "loop.md": "loop.md",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()

	for _, name := range []string{"docs/plan.md", "./docs/plan.md", filepath.Join("docs", "plan.md"), "in.md"} {
		got, err := plancriteria.ExtractFile(root.FS(), name)
		require.NoError(t, err, name)
		require.Equal(t, "- a\n", got.Text)
	}
	for _, name := range []string{"out.md", "out/secret.md", "loop.md", "docs", ".", "missing.md", secret,
		"../" + filepath.Base(outside) + "/secret.md"} {
		got, err := plancriteria.ExtractFile(root.FS(), name)
		assert.Error(t, err, name)
		assert.Zero(t, got, name)
	}
	_, err = plancriteria.ExtractFile(root.FS(), "docs/missing.md")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = plancriteria.ExtractFile(root.FS(), secret)
	require.ErrorIs(t, err, fs.ErrInvalid)

	_, err = plancriteria.ExtractFile(os.DirFS(dir), "out.md")
	require.NoError(t, err, "os.DirFS follows the link: the docs warn of it")
}

// endless is a file that claims to be small and never ends.
type endless struct {
	fs.File
	read int
	err  error
}

func (f *endless) Read(p []byte) (int, error) {
	f.read += len(p)
	return len(p), f.err
}

func (f *endless) Open(string) (fs.File, error) { return f, nil }

func (f *endless) Stat() (fs.FileInfo, error) {
	return fs.Stat(fstest.MapFS{"plan.md": {}}, "plan.md")
}

func (f *endless) Close() error { return nil }

func TestExtractFileReadsNoMoreThanItMust(t *testing.T) {
	file := &endless{}
	_, err := plancriteria.ExtractFile(file, "plan.md")
	require.ErrorIs(t, err, plancriteria.ErrUnusable)
	require.LessOrEqual(t, file.read, plancriteria.MaxSize+1)
}

func TestExtractFileReadError(t *testing.T) {
	broken := errors.New("broken disk")
	got, err := plancriteria.ExtractFile(&endless{err: broken}, "plan.md")
	require.ErrorIs(t, err, broken)
	require.Zero(t, got)
}

func ExampleExtractFile() {
	dir, err := os.MkdirTemp("", "repo")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "plan.md"), []byte("# Success Criteria\n- [ ] it runs\n"),
		0o600); err != nil {
		fmt.Println(err)
		return
	}

	root, err := os.OpenRoot(dir) // plans cannot leave the tree
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()
	c, err := plancriteria.ExtractFile(root.FS(), "./plan.md")
	fmt.Println(c.Items[0].Text, err)
	_, err = plancriteria.ExtractFile(root.FS(), "../plan.md")
	fmt.Println(errors.Is(err, fs.ErrInvalid))
	// Output:
	// it runs <nil>
	// true
}
