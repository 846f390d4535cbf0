//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A hook that runs a command which never ends, as a process: when its host is killed, and when it gets a signal, the
// hook and the command end.
func TestHookEndsWithItsCommand(t *testing.T) {
	const event = `{"session_id":"s","cwd":%q,"hook_event_name":"Stop","stop_hook_active":false,` +
		`"last_assistant_message":"Fixed the login redirect. go test ./...: 42 passed, 0 failed, exit code 0."}`
	for name, end := range map[string]func(shell *exec.Cmd, hook int) error{
		"the host is killed": func(shell *exec.Cmd, _ int) error { return shell.Process.Kill() },
		"a signal":           func(_ *exec.Cmd, hook int) error { return syscall.Kill(hook, syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pipe := filepath.Join(dir, "pipe")
			require.NoError(t, syscall.Mkfifo(pipe, 0o600))
			forever := filepath.Join(dir, "forever.sh")
			require.NoError(t, os.WriteFile(forever, []byte("exec 3>"+pipe+"\necho started >&3\nexec sleep 1000\n"), 0o600))
			exe, err := os.Executable()
			require.NoError(t, err)
			require.NoError(t, os.Symlink(exe, filepath.Join(dir, "sidecoach"))) // see TestMain
			shell := exec.Command("sh", "-c", `"$0" hook claude --state "$1" --verify "sh $2" <&3 & echo $!; wait`,
				filepath.Join(dir, "sidecoach"), filepath.Join(dir, "state"), forever)
			in, err := os.CreateTemp(dir, "event")
			require.NoError(t, err)
			fmt.Fprintf(in, event, dir)
			_, err = in.Seek(0, io.SeekStart)
			require.NoError(t, err)
			shell.ExtraFiles = []*os.File{in}
			out, err := shell.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, shell.Start())
			lines := bufio.NewReader(out)
			id, err := lines.ReadString('\n')
			require.NoError(t, err)
			hook, err := strconv.Atoi(strings.TrimSpace(id))
			require.NoError(t, err)

			command, err := os.Open(pipe)
			require.NoError(t, err)
			started := make([]byte, len("started\n"))
			_, err = io.ReadFull(command, started)
			require.NoError(t, err)
			require.NoError(t, end(shell, hook))
			_, err = io.ReadAll(command) // until the command is gone
			require.NoError(t, err)
			rest, err := io.ReadAll(lines) // until the hook is gone
			require.NoError(t, err)
			assert.Equal(t, "{}\n", string(rest))
			_ = shell.Wait()
		})
	}
}
