package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// oldSession is a file to be replayed.
type oldSession struct {
	name  string
	size  int64
	among bool // it was found in a folder, and need not be one
}

// oldSessions are the files that a command line names.
type oldSessions struct {
	files  []oldSession
	size   int64
	others int // files in folders that are none by their name
}

func (t *oldSessions) names() []string {
	var names []string
	for _, f := range t.files {
		names = append(names, f.name)
	}
	return names
}

const usualPlaces = "agents keep transcripts in ~/.claude/projects, ~/.codex/sessions, ~/.gemini/tmp, ~/.cursor/projects, ~/.copilot/session-state, and in a project .specstory/history and .aider.chat.history.md"

// findTranscripts returns the files that names, folders and patterns stand for, each once.
func findTranscripts(args []string) (found oldSessions, err error) {
	seen := make(map[string]bool)
	add := func(name string, among bool) error {
		info, err := os.Stat(name)
		switch {
		case err != nil && among:
			return nil // a link that leads nowhere
		case err != nil:
			return badInput("check the name and the permissions", "cannot open %q: %v", name, cause(err))
		case !info.Mode().IsRegular() && among:
			return nil
		case !info.Mode().IsRegular():
			return badInput("save it as a file: it is read forwards and backwards", "%q is no regular file", name)
		}
		key := name
		if real, err := filepath.EvalSymlinks(name); err == nil {
			key = real
		}
		if abs, err := filepath.Abs(key); err == nil {
			key = abs
		}
		if !seen[key] {
			seen[key] = true
			found.files = append(found.files, oldSession{name, info.Size(), among})
			found.size += info.Size()
		}
		return nil
	}
	for _, arg := range args {
		names, matched := []string{arg}, false
		if _, err := os.Stat(arg); err != nil {
			if arg == "-" {
				return found, misuse("save it as a file: it is read forwards and backwards", "a transcript is not read from standard input")
			}
			if strings.Contains(arg, "**") {
				return found, misuse("name the folder alone: what is in it is read at any depth", "the pattern %q has **, which would stand for one folder only", arg)
			}
			matched = true
			if names, err = filepath.Glob(arg); err != nil {
				return found, misuse(`* stands for any characters, ? for one, [ab] for one of them, and \ takes away their meaning`, "the pattern %q cannot be read", arg)
			}
		}
		if len(names) == 0 {
			return found, badInput("check the name; "+usualPlaces, "no such file: %q", arg)
		}
		for _, name := range names {
			if info, err := os.Stat(name); err == nil && info.IsDir() {
				if err := found.walk(name, add); err != nil {
					return found, err
				}
			} else if err := add(name, matched && isLink(name)); err != nil {
				return found, err
			}
		}
	}
	return found, nil
}

// isLink reports whether a name is a symbolic link.
func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// walk adds the files of a folder that may be transcripts by their names.
func (t *oldSessions) walk(dir string, add func(string, bool) error) error {
	if !os.IsPathSeparator(dir[len(dir)-1]) {
		dir += string(filepath.Separator) // WalkDir does not follow a link to a folder without it
	}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name == dir:
			return badInput("check its permissions", "cannot open the folder %q: %v", dir, cause(err))
		case err != nil: // opening it fails again when its turn comes, and is told then
			t.files = append(t.files, oldSession{name: name})
			return fs.SkipDir
		case entry.IsDir() && slices.Contains([]string{".git", "node_modules"}, entry.Name()):
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		case strings.HasSuffix(name, ".jsonl"), strings.HasSuffix(name, ".json"), strings.HasSuffix(name, ".md"):
			return add(name, true)
		}
		t.others++
		return nil
	})
	return err
}

// open opens the file without waiting, whatever became of it since it was found.
func (t oldSession) open() (*os.File, error) {
	f, err := os.OpenFile(t.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, cause(err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.New("it is no regular file any more")
	}
	return f, nil
}
