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

// errorsOnTerminal runs the command with standard error on a terminal of that width and returns what that is sent,
// and what goes to stdout. A width of 0 is a terminal that does not say.
func errorsOnTerminal(t *testing.T, width, wantStatus int, args ...string) (stdout, shown string) {
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
	sent := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(screen)
		sent <- all
	}()
	var out strings.Builder
	status := run(t.Context(), args, strings.NewReader(""), &out, tty)
	require.NoError(t, tty.Close())
	require.Equal(t, wantStatus, status)
	return out.String(), string(<-sent)
}

func TestErrorsOnATerminalAreWrapped(t *testing.T) {
	bad := casesFile(t, [2]string{"a", "done"}, [2]string{"b", "done"})
	for name, tt := range map[string]struct {
		status int
		args   []string
	}{
		"usage":  {exitUsage, []string{"eval", "--cases", bad, "--require", "precision>0.5"}},
		"input":  {exitFailure, []string{"eval", "--cases", "missing.jsonl"}},
		"faults": {exitFailure, []string{"eval", "--cases", bad}},
	} {
		t.Run(name, func(t *testing.T) {
			_, piped, _ := sidecoach(t, strings.NewReader(""), tt.args...)
			longest := 0
			for line := range strings.Lines(piped) {
				longest = max(longest, len([]rune(line)))
			}
			require.Greater(t, longest, 60, "there is something to wrap")
			for _, width := range []int{60, 0} {
				_, shown := errorsOnTerminal(t, width, tt.status, tt.args...)
				if width == 0 {
					width = 80
				}
				for line := range strings.Lines(shown) {
					line = strings.TrimRight(line, "\r\n")
					if strings.Contains(line, " ") { // a word by itself is not broken
						assert.LessOrEqual(t, len([]rune(line)), width, line)
					}
				}
				assert.Equal(t, strings.Fields(piped), strings.Fields(shown))
			}
		})
	}
}

func TestProgressBar(t *testing.T) {
	cases := casesFile(t, [2]string{"Which one?", "question"}, [2]string{"API Error: 529 overloaded_error", "error"})
	t.Setenv("TERM", "xterm")
	out, shown := errorsOnTerminal(t, 0, 0, "eval", "--cases", cases, "--json", "--repeat", "2")
	assert.Contains(t, shown, "\r2 of 4\x1b[K")
	assert.Contains(t, shown, "\r4 of 4\x1b[K")
	assert.True(t, strings.HasSuffix(shown, "\r\x1b[K"), "it is taken away: %q", shown)
	assert.NotContains(t, out, " of ", "the report is not mixed with it")

	t.Setenv("TERM", "dumb")
	_, shown = errorsOnTerminal(t, 0, 0, "eval", "--cases", cases)
	assert.Empty(t, shown)
}

func TestReplayProgressBar(t *testing.T) {
	file := replayFixture(t)
	t.Setenv("TERM", "xterm")
	out, shown := errorsOnTerminal(t, 0, 0, "replay", file)
	assert.Contains(t, shown, "\r0 of 1\x1b[K")
	assert.True(t, strings.HasSuffix(shown, "\r\x1b[K"), "it is taken away: %q", shown)
	assert.NotContains(t, out, "0 of 1")
}
