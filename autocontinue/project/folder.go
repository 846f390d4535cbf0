package project

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing/fstest"

	"github.com/sidecoach/sidecoach/skills"
)

// folderName is the name of a project's folder.
const folderName = ".sidecoach"

const (
	maxFolder = 1 << 20 // bytes of all files
	maxFiles  = 500
)

// ErrNotAllowed says that a folder does not count, because nobody has allowed it.
var ErrNotAllowed = errors.New("nobody has allowed it")

var errChanged = errors.New("it has changed since it was allowed")

// Folder is the content of a project's folder .sidecoach, and of the files SKILL.md where agents keep the skills of a
// project. It was read once: Hash is the hash of exactly this content. The zero Folder is empty.
type Folder struct {
	Root  string   // the project
	Hash  string   // of the names and the content of all files
	Files []string // names from the root, in slashes, sorted

	content fstest.MapFS // which nobody else can change
}

// Part returns a part of the folder .sidecoach as files: "coach", "lexicon". It is nil if the folder has no such part.
func (f Folder) Part(name string) fs.FS {
	within := path.Join(folderName, name)
	if _, err := fs.Stat(f.content, within); err != nil {
		return nil
	}
	sub, _ := fs.Sub(f.content, within) // the name is valid
	return sub
}

// Config returns the content of .sidecoach/config.json, nil if there is none.
func (f Folder) Config() []byte {
	text, _ := fs.ReadFile(f.content, folderName+"/config.json")
	return text
}

// Skills returns the skills of the project, and why others were skipped.
func (f Folder) Skills() ([]skills.Skill, []error) {
	return skills.FromFS(f.content, append([]string{folderName + "/skills"}, skills.Folders()...)...)
}

// ReadFolder reads the folder of the project root. A project without any of the files is [fs.ErrNotExist]. A link that
// leads out of the project and a folder that is too large are errors.
func ReadFolder(root string) (Folder, error) {
	f := Folder{Root: root, content: fstest.MapFS{}}
	tree, err := os.OpenRoot(root)
	if err == nil {
		defer tree.Close()
		err = f.read(tree.FS())
	}
	if err != nil {
		return Folder{}, fmt.Errorf("project: %w", err)
	}
	return f, nil
}

// read reads the files that count: all below .sidecoach, and the agents' skills. It opens no pipe: that can block.
func (f *Folder) read(tree fs.FS) error {
	err := fs.WalkDir(tree, folderName, func(name string, e fs.DirEntry, err error) error {
		switch {
		case name == folderName && errors.Is(err, fs.ErrNotExist):
			return nil
		case err == nil && !e.IsDir():
			f.Files = append(f.Files, name)
		}
		if err == nil && len(f.Files) > maxFiles {
			err = fmt.Errorf("%s has more than %d files", folderName, maxFiles)
		}
		return err
	})
	for _, folder := range skills.Folders() {
		found, _ := fs.Glob(tree, folder+"/*/SKILL.md") // the pattern is valid
		f.Files = append(f.Files, found[:min(len(found), maxFiles)]...)
	}
	if err == nil && len(f.Files) == 0 {
		err = fmt.Errorf("%s: %w", filepath.Join(f.Root, folderName), fs.ErrNotExist)
	}
	slices.Sort(f.Files)
	hash, size := sha256.New(), int64(0)
	if err != nil {
		return err
	}
	for _, name := range f.Files {
		info, err := fs.Stat(tree, name)
		if err != nil {
			return err
		}
		if size += info.Size(); size > maxFolder {
			return fmt.Errorf("the files are larger than %d kB together: %s", maxFolder>>10, name)
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file", name)
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(hash, "%d %s %d %s", len(name), name, len(text), text) // a hash never fails
		f.content[name] = &fstest.MapFile{Data: text}
	}
	f.Hash = hex.EncodeToString(hash.Sum(nil))
	return nil
}

// Root returns the project of a folder: the nearest one, it or above it, that has .sidecoach or .git, else itself.
func Root(dir string) (string, error) {
	all, err := above(dir)
	if err != nil {
		return "", err
	}
	for _, dir := range all {
		for _, name := range []string{folderName, ".git"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				return dir, nil
			}
		}
	}
	return all[0], nil
}

// above returns the real path of dir, and the folders above it, the nearest first.
func above(dir string) (list []string, err error) {
	dir, err = filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("project: %w", err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		list = append(list, dir)
	}
	return append(list, dir), nil
}

// agents are variables that agents set for the commands that they run, and the agent's name.
var agents = [...][2]string{
	{"CLAUDECODE", "Claude Code"}, {"CODEX_SANDBOX", "Codex"}, {"CODEX_CI", "Codex"}, {"CODEX_THREAD_ID", "Codex"},
	{"GEMINI_CLI", "Gemini CLI"}, {"CURSOR_AGENT", "Cursor"}, {"COPILOT_CLI", "Copilot CLI"}, {"OPENCODE", "opencode"},
	{"AI_AGENT", "an agent"},
}

// AgentIn returns the agent that an environment shows, "" if it shows none.
func AgentIn(getenv func(string) string) string {
	for _, a := range agents {
		if getenv(a[0]) != "" {
			return a[1]
		}
	}
	return ""
}
