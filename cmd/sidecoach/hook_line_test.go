package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

func TestHookLine(t *testing.T) {
	for _, tt := range []struct {
		system string
		host   hook.Host
		binary string
		flags  []string
		want   string
	}{
		{"linux", hook.Claude, "/usr/local/bin/sidecoach", nil, "/usr/local/bin/sidecoach hook claude || exit 0"},
		{"darwin", hook.Codex, "/Users/Ada L/it's/sidecoach", []string{"--shadow", "--plan=a b.md"}, `'/Users/Ada L/it'\''s/sidecoach' hook codex --shadow '--plan=a b.md' || exit 0`},
		{"linux", hook.Gemini, "/opt/$HOME/`x`/sidecoach", nil, "'/opt/$HOME/`x`/sidecoach' hook gemini || exit 0"},
		{"windows", hook.Claude, `C:\Program Files\sidecoach.exe`, []string{`--state=C:\st`}, `'C:/Program Files/sidecoach.exe' hook claude --state=C:/st || exit 0`},
		{"windows", hook.Codex, `C:\bin\sidecoach.exe`, []string{`--state=C:\a b`}, `C:\bin\sidecoach.exe hook codex "--state=C:\a b" || exit /b 0`},
		{"linux", hook.Cursor, "/usr/local/bin/sidecoach", nil, "/usr/local/bin/sidecoach hook cursor || exit 1"},
		{"windows", hook.Cursor, `C:\bin\sidecoach.exe`, []string{"--shadow"}, `& 'C:\bin\sidecoach.exe' hook cursor '--shadow'; if (-not $?) { exit 1 }`},
		{"windows", hook.Gemini, `C:\it's\sidecoach.exe`, []string{"--shadow"}, `& 'C:\it''s\sidecoach.exe' hook gemini '--shadow'; exit 0`},
	} {
		line := shellOf(tt.host, tt.system).line(tt.binary, tt.host, tt.flags)
		assert.Equal(t, tt.want, line)
		n := installation{host: tt.host, binary: "/another/sidecoach"}
		ours, written := n.owns(line)
		assert.True(t, ours && written, line)
		for _, h := range hook.Hosts() {
			if ours, _ := (installation{host: h, binary: "sidecoach"}).owns(line); h != tt.host {
				assert.False(t, ours, "%s: %s", h, line)
			}
		}
	}
}

func TestWhoseLineItIs(t *testing.T) {
	n := installation{host: hook.Claude, binary: "/home/ada/bin/coach v2"}
	for line, want := range map[string][2]bool{
		"/old/sidecoach hook claude || exit 0":                   {true, true},
		"/old/sidecoach-1.2 hook claude --shadow || exit 0":      {true, true},
		"'/home/ada/bin/coach v2' hook claude || exit 0":         {true, true},
		"sidecoach hook claude":                                  {true, false},
		"KEY=1 /old/sidecoach hook claude || exit 0":             {true, false},
		"cd /x && sidecoach hook claude || exit 0":               {true, false},
		"/old/sidecoach hook claude || exit 0; say done":         {true, false},
		"/old/sidecoach hook claude; say done || exit 0":         {true, false},
		"sidecoach hook claude2 || exit 0":                       {false, false},
		"/x/observer hook claude || exit 0":                      {false, false},
		"/x/mycoach v2x hook claude || exit 0":                   {false, false},
		"/home/sidecoach/hook claude || exit 0":                  {false, false},
		"/home/sidecoach/run.sh hook claude || exit 0":           {false, false},
		"echo see sidecoach, hook claude":                        {false, false},
		"":                                                       {false, false},
		"sidecoach log --session \"$(cat)\" || exit 0":           {false, false},
		"\"C:/Program Files/sidecoach.exe\" hook claude; exit 0": {true, true},
	} {
		ours, written := n.owns(line)
		assert.Equal(t, want, [2]bool{ours, written}, line)
	}
}

// Whatever is in them, the lines that install writes are told from those that do more.
func TestInstalledLinesAreAlone(t *testing.T) {
	for _, h := range hook.Hosts() {
		for _, system := range []string{"linux", "darwin", "windows"} {
			for _, binary := range []string{"/usr/bin/sidecoach", "/it's a; folder/$x/sidecoach", "C:\\Program Files (x86)\\sidecoach.exe"} {
				for _, flags := range [][]string{nil, {"--shadow", "--max-continues=2"}, {"--plan=a 'plan' & more; (b).md", "--base-url=http://[::1]:1/v1?a=b"}} {
					line := shellOf(h, system).line(binary, h, flags)
					n := installation{host: h, binary: binary}
					ours, written := n.owns(line)
					assert.True(t, ours && written, line)
				}
			}
		}
	}
}

// However the program fails, and where it is gone, the line of the settings ends with 0, and the answer gets through.
func TestHookLineNeverFails(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no sh to run the line with")
	}
	dir := filepath.Join(t.TempDir(), "it's a folder")
	require.NoError(t, os.Mkdir(dir, 0o777))
	for name, script := range map[string]string{
		"answers": "#!/bin/sh\necho \"$@\"\n", "blocks": "#!/bin/sh\nexit 2\n", "fails": "#!/bin/sh\nexit 1\n", "dies": "#!/bin/sh\nkill -9 $$\n",
		"no program": "", "gone": "",
	} {
		binary := filepath.Join(dir, name)
		if name != "gone" {
			require.NoError(t, os.WriteFile(binary, []byte(script), map[bool]os.FileMode{true: 0o777, false: 0o666}[script != ""]))
		}
		line := shellOf(hook.Claude, "linux").line(binary, hook.Claude, []string{"--plan=a 'plan'.md"})
		out, err := exec.Command(sh, "-c", line).Output()
		assert.NoError(t, err, name)
		if name == "answers" {
			assert.Equal(t, "hook claude --plan=a 'plan'.md", strings.TrimSpace(string(out)))
		} else {
			assert.Empty(t, out, name)
		}
	}
}
