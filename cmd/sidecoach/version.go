package main

import (
	"fmt"
	"runtime/debug"
)

// version describes the binary from what the linker wrote into it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return describe(info)
}

func describe(info *debug.BuildInfo) string {
	set := make(map[string]string)
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	release := info.Main.Version
	if release == "" {
		release = "(devel)"
	}
	revision := set["vcs.revision"]
	switch {
	case revision == "":
		revision = "no revision recorded"
	case set["vcs.modified"] == "true":
		revision = "revision " + revision + ", modified"
	default:
		revision = "revision " + revision
	}
	return fmt.Sprintf("%s (%s) %s %s/%s", release, revision, info.GoVersion, set["GOOS"], set["GOARCH"])
}
