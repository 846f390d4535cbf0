package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// onTerminal runs the command with standard output on a terminal of that width and returns what it shows.
func onTerminal(t *testing.T, width int, args ...string) string {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this machine has no pseudo-terminals:", err)
	}
	defer screen.Close()
	require.NoError(t, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetUint32(int(screen.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(width)}))
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	shown := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(screen) // ends with an error once the last program has closed the terminal
		shown <- all
	}()
	var errs bytes.Buffer
	status := run(t.Context(), args, strings.NewReader(""), tty, &errs)
	require.NoError(t, tty.Close())
	out := <-shown
	require.Equal(t, 0, status, errs.String())
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}

func TestOnATerminal(t *testing.T) {
	output := filepath.Join(t.TempDir(), "output.txt")
	require.NoError(t, os.WriteFile(output, []byte(hollow), 0o600))
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	plain, _, _ := sidecoach(t, strings.NewReader(""), output)

	t.Run("colour", func(t *testing.T) {
		out := onTerminal(t, 100, output)
		assert.Contains(t, out, "\x1b[1;36mcontinue\x1b[0m")
		assert.Contains(t, out, "\x1b[1msend to the agent:\x1b[0m")
	})
	t.Run("no colour", func(t *testing.T) {
		t.Setenv("NO_COLOR", "1")
		assert.Equal(t, plain, onTerminal(t, 10_000, output), "as in a pipe")
	})
	t.Run("dumb", func(t *testing.T) {
		t.Setenv("TERM", "dumb")
		assert.Equal(t, plain, onTerminal(t, 10_000, output), "as in a pipe")
	})
	t.Run("wrapped", func(t *testing.T) {
		t.Setenv("TERM", "dumb")
		for _, width := range []int{0, 100, 72, 60} { // 0 is a terminal that does not say, taken for 80
			out := onTerminal(t, width, output)
			for line := range strings.Lines(out) {
				limit := width
				if limit == 0 {
					limit = 80
				}
				assert.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), limit)
			}
			assert.Equal(t, strings.Fields(plain), strings.Fields(out))
		}
	})
	t.Run("forms for programs are as in a pipe", func(t *testing.T) {
		for _, form := range []string{"--json", "--print=message"} {
			piped, _, _ := sidecoach(t, strings.NewReader(""), form, output)
			assert.Equal(t, piped, onTerminal(t, 60, form, output))
		}
	})
}

// What uninstall says is wrapped too: it names files.
func TestUninstallOnATerminal(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	settings := filepath.Join(home, ".claude", "settings.json")
	require.NoError(t, os.Mkdir(filepath.Dir(settings), 0o700))
	require.NoError(t, os.WriteFile(settings,
		[]byte(`{"model":"m","hooks":{"Stop":[{"hooks":[{"type":"command","command":"sidecoach hook claude || exit 0"}]}]}}`), 0o600))
	out := onTerminal(t, 30, "hook", "uninstall", "claude")
	assert.Contains(t, out, "removed from\n"+settings+"\n")
}
