package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDescribe(t *testing.T) {
	built := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		settings = append(settings, debug.BuildSetting{Key: "GOOS", Value: "linux"}, debug.BuildSetting{Key: "GOARCH", Value: "amd64"})
		return &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123abcd"}
	modified := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	clean := debug.BuildSetting{Key: "vcs.modified", Value: "false"}
	assert.Equal(t, "v1.2.3 (no revision recorded) go1.26.0 linux/amd64", describe(built("v1.2.3")))
	assert.Equal(t, "(devel) (no revision recorded) go1.26.0 linux/amd64", describe(built("")))
	assert.Equal(t, "(devel) (revision 0123abcd) go1.26.0 linux/amd64", describe(built("(devel)", revision, clean)))
	assert.Equal(t, "(devel) (revision 0123abcd, modified) go1.26.0 linux/amd64", describe(built("(devel)", revision, modified)))
}
