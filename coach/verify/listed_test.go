package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// Only the words that the host listed, blanks between them aside, are a command of the host.
func TestListedWordByWord(t *testing.T) {
	host := [][]string{goTest, {"make", "check"}, {"go test"}, {"sh", "-c", "make  all"}, {}}
	for _, line := range []string{"go test ./...", "  go \t test   ./... ", "make check"} {
		_, ok := verify.Listed(line, host)
		require.True(t, ok, "%q", line)
	}
	for _, line := range []string{
		"", " ", "go test", "go test ./... -v", "go test ./....", "go test ./...;", "go test ./... ; rm x", "go test ./... && rm x", "go test ./...|cat", "go test ./... #",
		"go test ./... >x", "go test $(x)", "go 'test' ./...", `go "test" ./...`, `go t\est ./...`, "go test `x`", "sudo go test ./...", "X=1 go test ./...", "Go test ./...",
		"go test ./..", "go test ./…", "go\u00a0test ./...", "go\u2003test ./...", "go\u3000test ./...", "go\u200btest ./...", "go test\u200b ./...", "g\u043e test ./...", "go test ./...\u200e",
		"\ufeffgo test ./...", "go test\n./...", "go test\r./...", "go test\v./...", "go test\f./...", "go test\u0085./...", "go test\u2028./...", "go test ./...\x00", "make", "check make",
		"make\u00a0check", "sh -c make all", "sh -c make  all", "-- make check", "$ make check",
	} {
		_, ok := verify.Listed(line, host)
		require.False(t, ok, "%q", line)
	}
	c, _ := verify.Listed("make check", host)
	c[0] = "rm"
	require.Equal(t, []string{"make", "check"}, host[1])
}
