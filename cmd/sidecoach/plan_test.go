package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The working tree may be reached by several roads; what leaves it is refused by each.
func TestPlanByAnotherRoad(t *testing.T) {
	base := t.TempDir()
	tree, link := filepath.Join(base, "tree"), filepath.Join(base, "link")
	require.NoError(t, os.Mkdir(tree, 0o755))
	if err := os.Symlink(tree, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(tree, "plan.md"), []byte("# Plan\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(base, "secret.md"), []byte("# Secret\n"), 0o644))
	require.NoError(t, os.Symlink(filepath.Join(base, "secret.md"), filepath.Join(tree, "out.md")))
	for _, dir := range []string{tree, link} {
		t.Chdir(dir)
		for _, name := range []string{"plan.md", "./plan.md", filepath.Join(tree, "plan.md"),
			filepath.Join(link, "plan.md")} {
			root, local, err := openPlan(".", name)
			if assert.NoError(t, err, "%s from %s", name, dir) {
				assert.Equal(t, "plan.md", local)
				assert.NoError(t, root.Close())
			}
		}
		for _, name := range []string{"out.md", "../secret.md", filepath.Join(base, "secret.md"),
			filepath.Join(link, "..", "secret.md"), filepath.Join(link, "out.md")} {
			_, _, err := openPlan(".", name)
			assert.ErrorContains(t, err, "outside", "%s from %s", name, dir)
		}
	}
}
