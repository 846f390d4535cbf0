package main

import (
	"os"
	"path/filepath"
	"runtime"
)

// stateDir returns the folder where this user's programs keep what they remember: $XDG_STATE_HOME wherever it is set (a
// relative one is to be ignored: XDG Base Directory Specification 0.8), else what the system has for it.
func stateDir() (string, error) {
	dir := stateDirOn(runtime.GOOS, os.Getenv)
	if dir == "" {
		return "", badInput("name one: --state DIR; or set HOME",
			"there is no folder to remember things in: neither XDG_STATE_HOME nor a home folder is set")
	}
	return dir, nil
}

// stateDirOn returns "" when the environment says too little.
func stateDirOn(system string, getenv func(string) string) string {
	within := func(base string, below ...string) string {
		if base == "" {
			return ""
		}
		return filepath.Join(append(append([]string{base}, below...), "sidecoach")...)
	}
	if base := getenv("XDG_STATE_HOME"); filepath.IsAbs(base) {
		return within(base)
	}
	switch system {
	case "windows":
		return within(getenv("LocalAppData"))
	case "darwin":
		return within(getenv("HOME"), "Library", "Application Support")
	}
	return within(getenv("HOME"), ".local", "state")
}
