package project

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
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

// Open returns the projects that a store keeps, for sessions of a host. Now is the clock.
func Open(store *filestore.Store, host string, now func() time.Time) *Projects {
	return &Projects{store, host, now}
}

const kind = "projects" // of the documents, and their folder

func (p *Projects) load(ctx context.Context, root string) (settings, error) {
	if _, err := os.Lstat(filepath.Join(p.store.Dir(), kind)); errors.Is(err, fs.ErrNotExist) {
		return settings{}, nil // most people set nothing, and a hook should not take long
	}
	doc, err := filestore.NewDocument[settings](p.store, kind, root)
	if err != nil {
		return settings{}, err
	}
	return doc.Load(ctx)
}

var errNoChange = errors.New("project: nothing to change")

// update replaces the settings of a project, unless fn returns errNoChange.
func (p *Projects) update(ctx context.Context, root string, fn func(*settings) error) error {
	doc, err := filestore.NewDocument[settings](p.store, kind, root)
	if err != nil {
		return err
	}
	err = doc.Update(ctx, func(s settings) (settings, error) {
		s.Root = root
		err := fn(&s)
		return s, err
	})
	if errors.Is(err, errNoChange) {
		return nil
	}
	return err
}

// Allow remembers that the human allows the folder as it is.
func (p *Projects) Allow(ctx context.Context, f Folder) error {
	return p.update(ctx, f.Root, func(s *settings) error {
		s.Allowed = f.Hash
		return nil
	})
}

// Folder returns the folder of the project that dir is in. If the human has not allowed it as it is, the error is
// [ErrNotAllowed] or [ErrChanged], and the folder does not count. A project without a folder has an empty one.
func (p *Projects) Folder(ctx context.Context, dir string) (Folder, error) {
	root, err := Root(dir)
	if err != nil {
		return Folder{}, err
	}
	s, err := p.load(ctx, root)
	if err != nil {
		return Folder{}, err
	}
	if s.Allowed == "" {
		if _, err := os.Lstat(filepath.Join(root, folderName)); err == nil {
			return Folder{}, ErrNotAllowed
		}
		return Folder{}, nil
	}
	f, err := ReadFolder(root)
	if errors.Is(err, fs.ErrNotExist) || err == nil && f.Hash != s.Allowed {
		return Folder{}, ErrChanged
	}
	return f, err
}

// SetGoal sets the goal of the project root; nil clears it.
func (p *Projects) SetGoal(ctx context.Context, root string, g *Goal) error {
	return p.update(ctx, root, func(s *settings) error {
		s.Goal = g
		return nil
	})
}

// GoalAt returns the goal of the nearest folder with one, dir or above it, and that folder. The bool says whether there
// is one.
func (p *Projects) GoalAt(ctx context.Context, dir string) (g Goal, root string, ok bool, err error) {
	all, err := above(dir)
	if err != nil {
		return g, "", false, err
	}
	for _, root := range all {
		s, err := p.load(ctx, root)
		if err != nil {
			return g, "", false, err
		}
		if s.Goal != nil {
			return *s.Goal, root, true, nil
		}
	}
	return g, "", false, nil
}

// Begin binds the goal of a project to a session in which the human has just sent the first prompt, in the folder dir.
// The goal must not be reached or bound yet, unless it holds for all sessions. A sub-agent's session is never bound.
func (p *Projects) Begin(ctx context.Context, session, dir string) error {
	g, root, ok, err := p.GoalAt(ctx, dir)
	if err != nil || !ok || isSubagent(session) {
		return err
	}
	return p.Change(ctx, root, g.Set, func(g *Goal) bool {
		if g.Session != "" && !g.Wide || !g.Ended.IsZero() {
			return false
		}
		g.Session = p.host + "/" + session
		if g.Begun.IsZero() {
			g.Begun = p.now()
		}
		return true
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

// isSubagent reports whether a session of a hook is that of a sub-agent.
func isSubagent(session string) bool { return strings.Contains(session, "/") }

// Change lets fn change the goal of root that was set at a time. It changes nothing if fn returns false, or if the goal
// was cleared or set anew.
func (p *Projects) Change(ctx context.Context, root string, set time.Time, fn func(*Goal) bool) error {
	return p.update(ctx, root, func(s *settings) error {
		if s.Goal == nil || !s.Goal.Set.Equal(set) {
			return errNoChange
		}
		g := *s.Goal
		g.Criteria = slices.Clone(g.Criteria)
		if !fn(&g) {
			return errNoChange
		}
		s.Goal = &g
		return nil
	})
}
