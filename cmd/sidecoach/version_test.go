package main

import (
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDescribe(t *testing.T) {
	built := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		settings = append(
			settings,
			debug.BuildSetting{Key: "GOOS", Value: "linux"},
			debug.BuildSetting{Key: "GOARCH", Value: "amd64"},
		)
		return &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123abcd"}
	modified := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	clean := debug.BuildSetting{Key: "vcs.modified", Value: "false"}
	for want, info := range map[string]*debug.BuildInfo{
		"v1.2.3 (no revision recorded)":         built("v1.2.3"),
		"(devel) (no revision recorded)":        built(""),
		"(devel) (revision 0123abcd)":           built("(devel)", revision, clean),
		"(devel) (revision 0123abcd, modified)": built("(devel)", revision, modified),
	} {
		info.Deps = []*debug.Module{{Path: "example.com/a", Version: "v1.0.0"}}
		assert.Equal(t, want+" go1.26.0 linux/amd64\n  with example.com/a v1.0.0\n"+
			"sidecoach help licences prints their licences.\n", describe(info))
	}
}

// The licences of all that the binary contains, on every system, are in it. If this fails, run .ci/licences.
func TestLicencesAreComplete(t *testing.T) {
	text, errs, status := sidecoach(t, strings.NewReader(""), "help", "licences")
	require.Zero(t, status, errs)
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command(
			"go",
			"list",
			"-deps",
			"-f",
			"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}",
			".",
		)
		cmd.Env = append(os.Environ(), "GOOS="+system)
		out, err := cmd.Output()
		require.NoError(t, err)
		for module := range strings.Lines(string(out)) {
			assert.Contains(t, text, "\n"+strings.TrimSpace(module)+"\n=====", "%s", system)
		}
	}
	assert.Contains(t, text, "Copyright 2009 The Go Authors")
}
