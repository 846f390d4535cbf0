package cmdwitness

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExitStatusAndOutput(t *testing.T) {
	for _, status := range []int{0, 1, 7, 127} {
		r, err := Run(t.Context(), Command{Args: as(t, "exit", strconv.Itoa(status)), Dir: t.TempDir()})
		require.NoError(t, err)
		assert.Equal(t, status, r.Exit)
		assert.False(t, r.Stopped)
		assert.Empty(t, r.Why)
		assert.Contains(t, r.Output, "to stdout\n")
		assert.Contains(t, r.Output, "to stderr\n")
		assert.Positive(t, r.Took)
	}
}

// 128 MiB go by without being kept, and what is kept is the end.
func TestFloodIsBounded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := Run(t.Context(), Command{Args: as(t, "flood"), Dir: t.TempDir(), Keep: 1000})
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	assert.Equal(t, 0, r.Exit)
	assert.LessOrEqual(t, len(r.Output), 1000)
	assert.True(t, strings.HasSuffix(r.Output, "the end\n"))
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20), "memory that was taken at any time")
}

func TestTimeIsLimited(t *testing.T) {
	for _, what := range []string{"hang", "flood without end"} {
		r, err := Run(t.Context(), Command{Args: as(t, what), Dir: t.TempDir(), Timeout: 300 * time.Millisecond, Keep: 4096})
		require.NoError(t, err)
		assert.True(t, r.Stopped)
		assert.Equal(t, -1, r.Exit)
		assert.Equal(t, "it was still running after 300ms, and was killed", r.Why)
		assert.NotEmpty(t, r.Output, "what it said until then is kept")
		assert.LessOrEqual(t, len(r.Output), 4096)
	}
}

func TestContextEndsARun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := Run(ctx, Command{Args: as(t, "hang"), Dir: t.TempDir()})
	require.ErrorIs(t, err, context.DeadlineExceeded)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Run(gone, Command{Args: as(t, "exit", "0"), Dir: t.TempDir()})
	require.ErrorIs(t, err, context.Canceled)
}

// The processes that a command starts end with it, whether it was killed or left them behind.
func TestGrandchildrenEnd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process that was started before its parent was put into the job is not in it")
	}
	for _, tt := range []struct {
		then    string
		stopped bool
	}{{"wait", true}, {"leave", false}} {
		t.Run(tt.then, func(t *testing.T) {
			timeout := time.Minute
			if tt.stopped {
				timeout = time.Second
			}
			r, err := Run(t.Context(), Command{Args: as(t, "leave a grandchild", tt.then), Dir: t.TempDir(), Timeout: timeout})
			require.NoError(t, err)
			assert.Equal(t, tt.stopped, r.Stopped)
			_, after, ok := strings.Cut(r.Output, "grandchild ")
			require.True(t, ok, "%q", r.Output)
			pid := strings.Fields(after)[0]
			assert.Eventually(t, func() bool { return gone(pid) }, 10*time.Second, 10*time.Millisecond, "process %s lives on",
				pid)
		})
	}
}

// gone reports whether a process has ended, be it that nobody has asked for its status yet.
func gone(pid string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err == nil {
		_, state, _ := strings.Cut(string(stat), ") ")
		return strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
	}
	return exec.Command("kill", "-0", pid).Run() != nil
}

func TestSignals(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no signals here")
	}
	for name, stopped := range map[string]bool{"KILL": true, "TERM": true, "SEGV": false, "ABRT": false} {
		r, err := Run(t.Context(), Command{Args: []string{sh, "-c", "kill -" + name + " $$"}, Dir: t.TempDir()})
		require.NoError(t, err)
		assert.Equal(t, -1, r.Exit, name)
		assert.Equal(t, stopped, r.Stopped, name)
		assert.Contains(t, r.Why, "it was ended by a signal: ", name)
	}
}

func TestProgramsThatCannotBeStarted(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain.txt")
	require.NoError(t, os.WriteFile(plain, []byte("no program\n"), 0o600))
	for _, tt := range []struct {
		name string
		cmd  Command
		says string
	}{
		{"not installed", Command{Args: []string{"no-such-program-here"}, Dir: dir},
			"no-such-program-here is not installed, or not in the PATH"},
		{"no such file", Command{Args: []string{"./none"}, Dir: dir}, "cannot start ./none"},
		{"no program", Command{Args: []string{plain}, Dir: dir}, "cannot start"},
		{"no folder", Command{Args: as(t, "exit", "0"), Dir: filepath.Join(dir, "none")}, "cannot start"},
		{"a file for a folder", Command{Args: as(t, "exit", "0"), Dir: plain}, "cannot start"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Run(t.Context(), tt.cmd)
			require.NoError(t, err)
			assert.Equal(t, -1, r.Exit)
			assert.True(t, r.Stopped)
			assert.Contains(t, r.Why, tt.says)
		})
	}
}

func TestCommandsThatMakeNoSense(t *testing.T) {
	for want, cmd := range map[string]Command{
		"cmdwitness: no program is named":             {Dir: "."},
		"cmdwitness: the folder to run in is not set": {Args: []string{"true"}},
		"cmdwitness: the timeout is negative": {Args: []string{"true"}, Dir: ".",
			Timeout: -1},
		"cmdwitness: the size of the output that is kept is negative": {Args: []string{"true"}, Dir: ".", Keep: -1},
	} {
		_, err := Run(t.Context(), cmd)
		assert.EqualError(t, err, want)
	}
}

// A process that is killed takes the commands that it runs along.
func TestKilledProcessLeavesNothingBehind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a job object ends with its last handle")
	}
	args := as(t, "run")
	cmd := exec.Command(args[0], args[1:]...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	buf := make([]byte, 1000)
	text := ""
	for !strings.Contains(text, "grandchild ") || !strings.HasSuffix(text, "\n") {
		n, err := out.Read(buf)
		require.NoError(t, err)
		text += string(buf[:n])
	}
	_, after, _ := strings.Cut(text, "grandchild ")
	pid := strings.Fields(after)[0]
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	assert.Eventually(t, func() bool { return gone(pid) }, 10*time.Second, 10*time.Millisecond, "process %s lives on", pid)
}

func TestEnvironmentOfACommand(t *testing.T) {
	t.Setenv("SIDECOACH_TEST_TOKEN", "hidden")
	t.Setenv("GIT_DIR", "/elsewhere")
	t.Setenv("PYTHONPATH", "src")
	r, err := Run(t.Context(), Command{Args: as(t, "environment"), Dir: t.TempDir()})
	require.NoError(t, err)
	assert.NotContains(t, r.Output, "hidden")
	assert.NotContains(t, r.Output, "GIT_DIR")
	assert.Contains(t, r.Output, "PYTHONPATH=src")
	assert.Contains(t, r.Output, "PATH=")

	r, err = Run(t.Context(), Command{Args: as(t, "environment"), Dir: t.TempDir(), Env: []string{"ONLY=this"}})
	require.NoError(t, err)
	assert.Contains(t, r.Output, "ONLY=this")
	assert.NotContains(t, r.Output, "PYTHONPATH")

	r, err = Run(t.Context(), Command{Args: as(t, "environment"), Dir: t.TempDir(), Env: []string{}})
	require.NoError(t, err)
	assert.NotContains(t, r.Output, "PYTHONPATH")
}

func TestEnvironment(t *testing.T) {
	for _, tt := range []struct {
		name     string
		e        Environment
		in       []string
		env, not []string
	}{
		{"secrets by their names", Environment{}, []string{"PATH=/bin", "OPENAI_API_KEY=k", "DB_PASSWORD=p",
			"SSH_AUTH_SOCK=s", "KEYBOARD=de", "GIT_AUTHOR_NAME=a", "GOFLAGS=-v", "NODE_PATH=x"},
			[]string{"PATH=/bin", "KEYBOARD=de", "GIT_AUTHOR_NAME=a", "GOFLAGS=-v", "NODE_PATH=x"}, []string{"OPENAI_API_KEY",
				"DB_PASSWORD", "SSH_AUTH_SOCK"}},
		{"secrets by their values", Environment{}, []string{"A=ghp_0123456789012345678901234567890123456", "B=hello"},
			[]string{"B=hello"}, []string{"A"}},
		{"git's options", Environment{}, []string{"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.pager", "GIT_CONFIG_VALUE_0=",
			"GIT_CONFIG_KEY_1=url.https://me:secret-9x7Kq2@host/.insteadOf", "MY_GIT_CONFIG_KEY_0=k"},
			[]string{"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.pager", "GIT_CONFIG_VALUE_0=",
				"GIT_CONFIG_KEY_1=url.https://host/.insteadOf"},
			[]string{"the password in GIT_CONFIG_KEY_1", "MY_GIT_CONFIG_KEY_0"}},
		{"a secret of git", Environment{}, []string{"GIT_CONFIG_VALUE_0=ghp_abcdefghijklmnopqrstuvwxyz0123456789"},
			[]string{"GIT_CONFIG_VALUE_0="}, []string{"GIT_CONFIG_VALUE_0"}},
		{"addresses", Environment{}, []string{"HTTPS_PROXY=http://me:secret@proxy:3128", "DATABASE_URL=postgres://u:p@db/x",
			"ALL_PROXY=me:secret@proxy:1080", "REMOTE=https://token@host/x", "MAIL=a@b.example", "SSH=ssh://git@host/x"},
			[]string{"HTTPS_PROXY=http://proxy:3128", "DATABASE_URL=postgres://db/x", "ALL_PROXY=proxy:1080",
				"REMOTE=https://host/x", "MAIL=a@b.example", "SSH=ssh://git@host/x"},
			[]string{"the password in HTTPS_PROXY", "the password in DATABASE_URL", "the password in ALL_PROXY",
				"the password in REMOTE"}},
		{"one is passed", Environment{Pass: []string{"API_KEY"}}, []string{"API_KEY=k", "OTHER_KEY=k"}, []string{"API_KEY=k"},
			[]string{"OTHER_KEY"}},
		{"clean", Environment{Clean: true, Pass: []string{"GOFLAGS"}}, []string{"PATH=/bin", "Path=C:\\bin",
			"LD_PRELOAD=x.so", "lc_time=C", "GOFLAGS=-v", "PYTHONPATH=x"},
			[]string{"PATH=/bin", "Path=C:\\bin", "lc_time=C", "GOFLAGS=-v"}, []string{"LD_PRELOAD", "PYTHONPATH"}},
		{"git's own, and what is no variable", Environment{}, []string{"GIT_DIR=/x", "GIT_WORK_TREE=/x", "=C:=C:\\",
			"no equals", "="}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env, withheld := tt.e.Of(tt.in)
			assert.Equal(t, tt.env, env)
			assert.Equal(t, tt.not, withheld)
		})
	}
}
