package main

import (
	"io"
	"os"
	"path/filepath"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

// file returns the settings that install writes.
func (o *installOptions) file(h hook.Host) (string, error) {
	if o.user && o.project {
		return "", misuse("leave one of them out", "--user and --project exclude each other")
	}
	if o.project {
		return filepath.Abs(projectSettings(h)[0])
	}
	home, _ := os.UserHomeDir()
	file := userSettings(h, home, os.Getenv)
	if file == "" {
		return "", badInput("set HOME, or take --project", "there is no home folder")
	}
	return filepath.Abs(file)
}

// projectSettings are where a host looks for the settings of a project, below its folder; the first is where a hook that
// names this machine's program belongs. Claude Code's settings.local.json is the user's own, and not shared (its settings
// reference, November 2026); Gemini CLI and Codex have no such file.
func projectSettings(h hook.Host) []string {
	names := []string{settingsName(h)}
	if h == hook.Claude {
		names = []string{"settings.local.json", settingsName(h)}
	}
	dir := "." + string(h)
	if h == hook.Copilot {
		dir = ".github"
	}
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names
}

func settingsName(h hook.Host) string {
	switch h {
	case hook.Codex, hook.Cursor:
		return "hooks.json"
	case hook.Copilot: // it reads all files of that folder
		return filepath.Join("hooks", "sidecoach.json")
	}
	return "settings.json"
}

// userSettings is where a host looks for those of the user; each has a variable for another folder. "" is nowhere.
func userSettings(h hook.Host, home string, getenv func(string) string) string {
	switch dir := ""; h {
	case hook.Claude, hook.Codex, hook.Copilot:
		if dir = getenv(map[hook.Host]string{hook.Claude: "CLAUDE_CONFIG_DIR", hook.Codex: "CODEX_HOME", hook.Copilot: "COPILOT_HOME"}[h]); dir != "" {
			return filepath.Join(dir, settingsName(h))
		}
	case hook.Gemini:
		if dir = getenv("GEMINI_CLI_HOME"); dir != "" {
			home = dir
		}
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, "."+string(h), settingsName(h))
}

// files returns the settings that may hold the hook, in the scope that is meant: the one that install writes first.
func (o *installOptions) files(h hook.Host) ([]string, error) {
	file, err := o.file(h)
	if err != nil || !o.project {
		return []string{file}, err
	}
	files := projectSettings(h)
	for i, name := range files {
		if files[i], err = filepath.Abs(name); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// warnTwice tells that other settings, of the user or of the project, run the hook as well: a host runs both, but for lines
// that it finds to be the same. Settings that cannot be read say nothing.
func (o *installOptions) warnTwice(n installation, file string, stderr io.Writer) {
	for _, scope := range []string{"--user", "--project"} {
		names, err := (&installOptions{project: scope == "--project"}).files(n.host)
		if err != nil {
			continue
		}
		for _, name := range names {
			if name == file {
				continue
			}
			f, err := openSettings(name)
			if err != nil {
				continue
			}
			if _, times, err := n.unmerge(f.text); err != nil || times+n.flatLines(f.text) == 0 {
				continue
			}
			how := "sidecoach hook uninstall " + string(n.host) + " " + scope + " takes it out there"
			if printedOnly(n.host) || o.project == (scope == "--project") {
				how = "take it out there"
			}
			complain(stderr, "sidecoach: "+name+" has the hook, too")
			complain(stderr, "hint: one is enough: "+how)
		}
	}
}
