package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
)

// sessionFile is a file to be replayed.
type sessionFile struct {
	name  string
	size  int64
	among bool // it was found in a folder, and need not be a transcript
}

// sessionFiles are the files that a command line names.
type sessionFiles struct {
	files  []sessionFile
	seen   map[string]bool // absolute names, without links
	others int             // files in folders that are not transcripts by their name
}

// findTranscripts returns the files that names, folders and patterns stand for, each once.
func findTranscripts(args []string) (*sessionFiles, error) {
	t := &sessionFiles{seen: make(map[string]bool)}
	for _, arg := range args {
		names, pattern := []string{arg}, false
		if _, err := os.Stat(arg); err != nil {
			if names, err = expand(arg); err != nil {
				return t, err
			}
			pattern = true
		}
		for _, name := range names {
			info, err := os.Stat(name)
			if err == nil && info.IsDir() {
				err = t.walk(name)
			} else {
				err = t.add(name, pattern && err != nil)
			}
			if err != nil {
				return t, err
			}
		}
	}
	return t, nil
}

// expand returns the files that a pattern stands for.
func expand(pattern string) ([]string, error) {
	switch {
	case pattern == "-":
		return nil, misuse("save it as a file", "a transcript is not read from standard input")
	case strings.Contains(pattern, "**"):
		return nil, misuse("name the folder alone: what is in it is read at any depth",
			"the pattern %q has **, which would stand for one folder only", pattern)
	}
	names, err := filepath.Glob(pattern)
	switch {
	case err != nil:
		return nil, misuse(`* stands for any characters, ? for one, [ab] for one of them, and \ takes away their meaning`,
			"the pattern %q cannot be read", pattern)
	case len(names) == 0:
		return nil, badInput("check the name; "+transcript.Locations, "no such file: %q", pattern)
	}
	return names, nil
}

// add adds a file. Among others it may be missing, such as a link that leads nowhere.
func (t *sessionFiles) add(name string, among bool) error {
	info, err := os.Stat(name)
	switch {
	case (err != nil || !info.Mode().IsRegular()) && among:
		return nil
	case err != nil:
		return badInput("check the name and the permissions", "cannot open %q: %v", name, cause(err))
	case !info.Mode().IsRegular():
		return badInput("save it as a file", "%q is not a regular file", name)
	}
	key := name
	if abs, err := filepath.Abs(name); err == nil {
		key = abs
	}
	if real, err := filepath.EvalSymlinks(key); err == nil {
		key = real
	}
	if !t.seen[key] {
		t.seen[key] = true
		t.files = append(t.files, sessionFile{name, info.Size(), among})
	}
	return nil
}

// walk adds the files of a folder that may be transcripts by their names.
func (t *sessionFiles) walk(dir string) error {
	if !os.IsPathSeparator(dir[len(dir)-1]) {
		dir += string(filepath.Separator) // WalkDir does not follow a link to a folder without it
	}
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name == dir:
			return badInput("check its permissions", "cannot open the folder %q: %v", dir, cause(err))
		case err != nil: // opening it fails again later, and is reported then
			t.files = append(t.files, sessionFile{name: name})
			return fs.SkipDir
		case entry.IsDir() && slices.Contains([]string{".git", "node_modules"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		case strings.HasSuffix(name, ".jsonl"), strings.HasSuffix(name, ".json"):
			return t.add(name, true)
		}
		t.others++
		return nil
	})
}
