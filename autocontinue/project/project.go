// Package project answers one question: what has the human set for the project that an agent works in? There are two
// answers: the folder .sidecoach, which counts once the human has allowed its content, and the goal of the sessions.
//
// Start with [Open], on the store in which a hook keeps its sessions. [ReadFolder] reads a project's folder,
// [Projects.Allow] remembers a hash of its content, and [Projects.Folder] returns it only while it is unchanged.
// [Projects.SetGoal] gives the project a goal, [Projects.Begin] binds it to the session that the human starts next, and
// [Projects.Goal] returns the goal of a session.
//
// # Limits
//
// The agent can write to the folder of its project. Because of the hash, a change has no effect. Because the goal is a
// copy, a change of the plan has none either. [AgentIn] finds the environment of an agent, so that a command can refuse
// to give trust there. None of this stops an agent that means to cheat: it can do what the user can do. A folder has at
// most 1 MiB and 500 files, a goal at most 50 criteria. What nobody used for 30 days is forgotten.
package project

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
	"github.com/sidecoach/sidecoach/skills"
)

// Projects is what humans have set for their projects. It is safe for concurrent use, also by processes.
type Projects struct {
	store *filestore.Store
	host  string
	now   func() time.Time
}

// settings are what is kept of one project.
type settings struct {
	Root    string `json:"root"`
	Allowed string `json:"allowed,omitempty"` // Folder.Hash
	Goal    *Goal  `json:"goal,omitempty"`
}

// Open returns the projects that a store keeps, for sessions of a host. Now is the clock. It panics if one is nil.
func Open(store *filestore.Store, host string, now func() time.Time) *Projects {
	if store == nil || now == nil {
		panic("project: Open of a nil store or clock")
	}
	return &Projects{store, host, now}
}

func (p *Projects) load(ctx context.Context, root string) (s settings, err error) {
	doc, err := filestore.NewDocument[settings](p.store, "projects", root)
	if err == nil {
		s, err = doc.Load(ctx)
	}
	return s, err
}

func (p *Projects) update(ctx context.Context, root string, fn func(*settings)) error {
	doc, err := filestore.NewDocument[settings](p.store, "projects", root)
	if err != nil {
		return err
	}
	return doc.Update(ctx, func(s settings) (settings, error) {
		s.Root = root
		fn(&s)
		return s, nil
	})
}

// Allow remembers that the human allows the folder as it is.
func (p *Projects) Allow(ctx context.Context, f Folder) error {
	return p.update(ctx, f.Root, func(s *settings) { s.Allowed = f.Hash })
}

// Folder returns the folder of the project that dir is in. If the human has not allowed it as it is, the error is
// [ErrNotAllowed] or says that it has changed, and the folder does not count. Without a folder it is empty.
func (p *Projects) Folder(ctx context.Context, dir string) (Folder, error) {
	root, err := Root(dir)
	if err != nil {
		return Folder{}, err
	}
	s, err := p.load(ctx, root)
	switch {
	case err != nil:
		return Folder{}, err
	case s.Allowed == "":
		if _, err := os.Lstat(filepath.Join(root, folderName)); err != nil {
			return Folder{}, nil
		}
		return Folder{}, ErrNotAllowed
	}
	f, err := ReadFolder(root)
	if errors.Is(err, fs.ErrNotExist) || err == nil && f.Hash != s.Allowed {
		return Folder{}, errChanged
	}
	return f, err
}

// SetGoal sets the goal of the project root; nil clears it.
func (p *Projects) SetGoal(ctx context.Context, root string, g *Goal) error {
	return p.update(ctx, root, func(s *settings) { s.Goal = g })
}

// GoalAt returns the goal of the nearest folder with one, dir or above it, and that folder. The bool is false without.
func (p *Projects) GoalAt(ctx context.Context, dir string) (g Goal, root string, ok bool, err error) {
	all, err := above(dir)
	for _, root := range all {
		s, err := p.load(ctx, root)
		if err != nil {
			return g, "", false, err
		}
		if s.Goal != nil {
			return *s.Goal, root, true, nil
		}
	}
	return g, "", false, err
}

// Begin binds the goal of a project to a session in which the human has just sent the first prompt, in the folder dir.
// The goal must not be reached or bound yet, unless it holds for all sessions. A sub-agent's session is never bound.
func (p *Projects) Begin(ctx context.Context, session, dir string) error {
	g, root, ok, err := p.GoalAt(ctx, dir)
	if err != nil || !ok || isSubagent(session) {
		return err
	}
	return p.Change(ctx, root, g.Set, func(g *Goal) {
		if (g.Session == "" || g.Wide) && g.Ended.IsZero() {
			g.Session = p.host + "/" + session
			if g.Begun.IsZero() {
				g.Begun = p.now()
			}
		}
	})
}

// Goal returns the goal that a session works on, and the root of its project. Dir is where the session began. The bool
// says whether there is one: it is bound to the session or holds for all sessions, and is not reached yet.
func (p *Projects) Goal(ctx context.Context, session, dir string) (g Goal, root string, ok bool, err error) {
	if isSubagent(session) {
		return g, "", false, nil
	}
	g, root, ok, err = p.GoalAt(ctx, dir)
	return g, root, ok && g.Ended.IsZero() && (g.Wide || g.Session == p.host+"/"+session), err
}

func isSubagent(session string) bool { return strings.Contains(session, "/") }

// Change lets fn change the goal of root that was set at a time. If the goal was cleared or set anew, it does nothing.
func (p *Projects) Change(ctx context.Context, root string, set time.Time, fn func(*Goal)) error {
	return p.update(ctx, root, func(s *settings) {
		if s.Goal != nil && s.Goal.Set.Equal(set) {
			fn(s.Goal)
		}
	})
}

// Goal is what the sessions of a project must reach, as the human set it: a copy, whatever becomes of the plan.
type Goal struct {
	Plan     string               `json:"plan,omitempty"` // the file that it comes from, for people
	Dir      string               `json:"dir"`            // where its commands run and its files are
	Criteria []verifier.Criterion `json:"criteria"`
	Stages   []string             `json:"stages,omitempty"` // triggers or phases of skills, in order
	Set      time.Time            `json:"set"`              // when; it also names the goal

	Continues int           `json:"continues,omitempty"` // the cap of a turn; 0 is the hook's
	For       time.Duration `json:"for,omitempty"`       // from Begun on; 0 is no limit
	Wide      bool          `json:"wide,omitempty"`      // it holds for all sessions of the project

	Session string    `json:"session,omitempty"` // the session that it is bound to, after its host and a slash
	Begun   time.Time `json:"begun,omitzero"`    // when the first session began
	Stage   int       `json:"stage,omitempty"`   // how many stages are done
	Ended   time.Time `json:"ended,omitzero"`    // when it was reached
}

// Check returns what is wrong with a goal that a human sets.
func (g Goal) Check() error {
	switch {
	case len(g.Criteria) == 0 && len(g.Stages) == 0:
		return errors.New("the goal has neither criteria nor stages")
	case len(g.Criteria) > 50:
		return fmt.Errorf("the goal has %d criteria; at most 50 are possible", len(g.Criteria))
	case g.Continues < 0 || g.Continues > 100:
		return errors.New("the cap of a goal is from 1 to 100")
	case g.For < 0:
		return errors.New("the time of a goal is negative")
	}
	return nil
}

// Limit returns why nothing more is continued for the goal at a time, "" if its time is not over.
func (g Goal) Limit(now time.Time) string {
	if g.For <= 0 || g.Begun.IsZero() || now.Sub(g.Begun) < g.For {
		return ""
	}
	return fmt.Sprintf("The goal's time of %v is over.", g.For)
}

// IsReached reports whether each criterion was seen to hold and each stage is done.
func (g Goal) IsReached() bool {
	return verifier.AllMet(g.Criteria) && g.Stage >= len(g.Stages)
}

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
