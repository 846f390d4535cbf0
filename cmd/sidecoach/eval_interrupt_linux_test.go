package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An evaluation that is interrupted leaves nothing behind where the page was to be.
func TestInterruptedEval(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "k")
	asked, never := make(chan struct{}), make(chan struct{})
	var first sync.Once
	server := judgeServer(t, func(string) string {
		first.Do(func() { close(asked) })
		<-never
		return ""
	})
	defer close(never)
	cases := casesFile(t, [2]string{"Which one?", "question"})
	dir := t.TempDir()
	var stderr strings.Builder
	status := make(chan int)
	go func() {
		args := []string{"eval", "--cases", cases, "--llm", "--base-url", server.URL, "--html",
			filepath.Join(dir, "page.html")}
		status <- run(t.Context(), args, strings.NewReader(""), io.Discard, &stderr)
	}()
	<-asked
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
	assert.Equal(t, exitFailure, <-status)
	assert.Contains(t, stderr.String(), "sidecoach: interrupted: there is no report\nhint: ")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}
