package install

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		system  string
		host    hook.Host
		program string
		flags   []string
		want    string
	}{
		{"linux", hook.Claude, "/usr/local/bin/sidecoach", nil, "/usr/local/bin/sidecoach hook claude || exit 0"},
		{"darwin", hook.Codex, "/Users/Ada L/it's/sidecoach", []string{"--shadow", "--plan=a b.md"},
			`'/Users/Ada L/it'\''s/sidecoach' hook codex --shadow '--plan=a b.md' || exit 0`},
		{"linux", hook.Gemini, "/opt/$HOME/`x`/sidecoach", nil,
			geminiBefore + "'/opt/$HOME/`x`/sidecoach' hook gemini" + geminiAfter},
		{"linux", hook.Cursor, "/usr/local/bin/sidecoach", nil, "/usr/local/bin/sidecoach hook cursor || exit 1"},
		{"windows", hook.Claude, `C:\Program Files\sidecoach.exe`, []string{`--state=C:\st`},
			`'C:/Program Files/sidecoach.exe' hook claude --state=C:/st || exit 0`},
		{"windows", hook.Codex, `C:\bin\sidecoach.exe`, []string{`--state=C:\a b`},
			`C:\bin\sidecoach.exe hook codex "--state=C:\a b" || exit /b 0`},
		{"windows", hook.Cursor, `C:\bin\sidecoach.exe`, []string{"--shadow"},
			`& 'C:\bin\sidecoach.exe' hook cursor '--shadow'; if (-not $?) { exit 1 }`},
		{"windows", hook.Gemini, `C:\it's\sidecoach.exe`, nil, `& 'C:\it''s\sidecoach.exe' hook gemini; exit 0`},
	} {
		assert.Equal(t, tt.want, Hook{Host: tt.host, Program: tt.program, Flags: tt.flags}.lineOn(tt.system))
	}
}

// Lines that install writes are known again, whatever is in them, and only for their own host.
func TestWrittenLines(t *testing.T) {
	for _, host := range hook.Hosts() {
		for _, system := range []string{"linux", "darwin", "windows"} {
			for _, program := range []string{"/usr/bin/sidecoach", "/it's a; folder/$x/sidecoach",
				`C:\Program Files (x86)\sidecoach.exe`} {
				for _, flags := range [][]string{nil, {"--shadow", "--max-continues=2"}, {"--plan=a 'plan' & more; (b).md"}} {
					line := Hook{Host: host, Program: program, Flags: flags}.lineOn(system)
					for _, h := range hook.Hosts() {
						runs, mixed := Hook{Host: h, Program: "/other/sidecoach"}.runs(line)
						assert.Equal(t, h == host, runs, "%s: %s", h, line)
						assert.False(t, mixed, "%s: %s", h, line)
					}
				}
			}
		}
	}
}

func TestRuns(t *testing.T) {
	h := Hook{Host: hook.Claude, Program: "/home/ada/bin/coach v2"}
	for want, lines := range map[string][]string{
		"ours": {
			"/old/sidecoach hook claude || exit 0", "/old/sidecoach-1.2 hook claude --shadow || exit 0",
			"'/home/ada/bin/coach v2' hook claude || exit 0", `"C:/Program Files/sidecoach.exe" hook claude; exit 0`,
			"sidecoach hook claude", "sidecoach hook claude --shadow ; exit 0",
			"'/my bin/sidecoach' hook claude --plan='a; b.md' || true",
			`& 'C:\my bin\sidecoach.exe' hook claude`,
		},
		"mixed": {
			"KEY=1 /old/sidecoach hook claude || exit 0", "KEY='a b' OTHER= sidecoach  hook  claude --max-continues 2",
			"cd /x && sidecoach hook claude || exit 0", "/old/sidecoach hook claude || exit 0; say done",
			"say done; sidecoach hook claude", "/old/sidecoach hook claude; say done || exit 0", "echo sidecoach hook claude",
			"sidecoach hook claude | tee log", "sidecoach hook claude >log", "nice sidecoach hook claude",
			"sidecoach hook claude --plan $(which plan)", "sidecoach hook claude &", "sidecoach hook claude\nsay done",
			geminiBefore + "sidecoach hook claude && rm -rf x" + geminiAfter,
		},
		"": {
			"sidecoach hook claude2 || exit 0", "/x/observer hook claude || exit 0", "/x/mycoach v2x hook claude || exit 0",
			"/home/sidecoach/hook claude || exit 0", "/home/sidecoach/run.sh hook claude || exit 0",
			"echo see sidecoach, hook claude", "", `sidecoach log --session "$(cat)" || exit 0`,
		},
	} {
		for _, line := range lines {
			runs, mixed := h.runs(line)
			assert.Equal(t, want != "", runs, line)
			assert.Equal(t, want == "mixed", mixed, line)
		}
	}
}

// However the program fails, and when it is missing, the line ends with 0, and an answer gets through.
func TestLineNeverFails(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lines are for a POSIX shell")
	}
	dir := filepath.Join(t.TempDir(), "it's a folder")
	require.NoError(t, os.Mkdir(dir, 0o777))
	for name, script := range map[string]string{
		"answers": "#!/bin/sh\necho \"$@\"; cat\n", "blocks": "#!/bin/sh\nexit 2\n", "fails": "#!/bin/sh\nexit 1\n",
		"dies": "#!/bin/sh\nkill -9 $$\n", "no program": "", "missing": "",
	} {
		program := filepath.Join(dir, name)
		if name != "missing" {
			require.NoError(t, os.WriteFile(program, []byte(script),
				map[bool]os.FileMode{true: 0o777, false: 0o666}[script != ""]))
		}
		for _, host := range []hook.Host{hook.Claude, hook.Gemini} {
			for _, sh := range []string{"sh", "bash"} {
				if _, err := exec.LookPath(sh); err != nil {
					continue
				}
				cmd := exec.Command(sh, "-c",
					Hook{Host: host, Program: program, Flags: []string{"--plan=a 'plan'.md"}}.lineOn("linux"))
				cmd.Stdin = strings.NewReader("event")
				out, err := cmd.Output()
				assert.NoError(t, err, "%s %s %s", name, host, sh)
				want := ""
				if name == "answers" {
					want = "hook " + string(host) + " --plan=a 'plan'.md\nevent"
				}
				assert.Equal(t, want, string(out), "%s %s %s", name, host, sh)
			}
		}
	}
}

// Gemini CLI ends the shell of a hook that takes too long, and waits until nobody holds its pipes any more.
func TestGeminiLineEndsTheProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lines are for a POSIX shell")
	}
	for name, script := range map[string]string{
		"hangs":           "#!/bin/sh\necho started\nexec sleep 1000\n",
		"ignores SIGTERM": "#!/bin/sh\ntrap '' TERM\necho started\nexec sleep 1000\n",
	} {
		program := filepath.Join(t.TempDir(), "sidecoach") // before any process starts that may keep it open for writing
		require.NoError(t, os.WriteFile(program, []byte(script), 0o777))
		for _, sh := range []string{"sh", "bash"} {
			t.Run(name+" in "+sh, func(t *testing.T) {
				t.Parallel()
				if _, err := exec.LookPath(sh); err != nil {
					t.Skip("the shell is missing:", err)
				}
				cmd := exec.Command(sh, "-c", Hook{Host: hook.Gemini, Program: program}.lineOn("linux"))
				out, err := cmd.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, cmd.Start())
				started := make([]byte, len("started\n"))
				_, err = io.ReadFull(out, started)
				require.NoError(t, err)
				require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
				rest, err := io.ReadAll(out) // ends when nobody holds the pipe
				require.NoError(t, err)
				assert.Empty(t, rest)
				assert.NoError(t, cmd.Wait())
			})
		}
	}
}
