package main

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// version describes the binary, and the modules in it, from what the linker wrote into it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown\n"
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
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s) %s %s/%s\n", release, revision, info.GoVersion, set["GOOS"], set["GOARCH"])
	for _, m := range info.Deps {
		fmt.Fprintf(&b, "  with %s %s\n", m.Path, m.Version)
	}
	return b.String() + "sidecoach help licences prints their licences.\n"
}
