//go:build unix

package project_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func pipe(t *testing.T, root, name string) {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, name), 0o600))
}
