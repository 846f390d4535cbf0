package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// errorsOnTerminal runs the command with standard error on a terminal and returns what that is sent, and what goes to stdout.
func errorsOnTerminal(t *testing.T, args ...string) (stdout, shown string) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this machine has no pseudo-terminals:", err)
	}
	defer screen.Close()
	require.NoError(t, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetUint32(int(screen.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	sent := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(screen)
		sent <- all
	}()
	var out strings.Builder
	status := run(t.Context(), args, strings.NewReader(""), &out, tty)
	require.NoError(t, tty.Close())
	require.Equal(t, 0, status)
	return out.String(), string(<-sent)
}

func TestProgressBar(t *testing.T) {
	cases := casesFile(t, [2]string{"Which one?", "question"}, [2]string{"API Error: 529 overloaded_error", "error"})
	t.Setenv("TERM", "xterm")
	out, shown := errorsOnTerminal(t, "eval", "--cases", cases, "--json", "--repeat", "2")
	half, full := strings.Repeat("█", 15)+strings.Repeat("░", 15), strings.Repeat("█", 30)
	assert.Contains(t, shown, "\r"+half+"  50 %  2 of 4\x1b[K")
	assert.Contains(t, shown, "\r"+full+" 100 %  4 of 4\x1b[K")
	assert.True(t, strings.HasSuffix(shown, "\r\x1b[K"), "it is taken away: %q", shown)
	assert.NotContains(t, out, "█", "the report is not mixed with it")

	t.Setenv("TERM", "dumb")
	_, shown = errorsOnTerminal(t, "eval", "--cases", cases)
	assert.Empty(t, shown)
}
