package verifier

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
)

const keepFor = 30 * 24 * time.Hour

// Session is what is remembered of the tree in which a session works.
type Session struct {
	Root  string               `json:"root"`            // the folder of the project
	First *gitwitness.Snapshot `json:"first,omitempty"` // when the human spoke first
	Last  *gitwitness.Snapshot `json:"last,omitempty"`  // when the human spoke last
}

// Remember keeps the state of the project that dir is in, for a session in which the human spoke just now, below the
// folder state. It removes sessions that are 30 days old. The error says why there is no baseline.
func Remember(ctx context.Context, state, session, dir string) error {
	folder := sessionFolder(state, session)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("verifier: %w", err)
	}
	s := Recall(state, session)
	root := cmdwitness.Root(dir)
	if rel, err := filepath.Rel(s.Root, dir); s.Root != "" && err == nil && filepath.IsLocal(rel) {
		root = s.Root // the agent may have changed its folder
	}
	now, err := gitwitness.Take(ctx, root, folder)
	if s.Root, s.Last = root, nil; err == nil {
		s.Last = &now
		if s.First == nil || s.First.Root != now.Root {
			s.First = &now
		}
	}
	text, _ := json.Marshal(s) // strings: nothing can fail
	written := filestore.WriteFile(filepath.Join(folder, "session.json"), text, 0o600)
	sweep(filepath.Dir(folder))
	return cmp.Or(err, written)
}

// Recall returns the state that Remember kept for a session. Without one it is empty.
func Recall(state, session string) Session {
	var s Session
	text, err := os.ReadFile(filepath.Join(sessionFolder(state, session), "session.json"))
	if err != nil || json.Unmarshal(text, &s) != nil {
		return Session{}
	}
	return s
}

func sessionFolder(state, session string) string {
	return filepath.Join(state, "verify", fmt.Sprintf("%x", sha256.Sum256([]byte(session)))[:32])
}

// sweep removes old sessions.
func sweep(folder string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(folder, e.Name(), "session.json"))
		if err != nil {
			info, err = e.Info()
		}
		if err == nil && time.Since(info.ModTime()) > keepFor {
			_ = os.RemoveAll(filepath.Join(folder, e.Name()))
		}
	}
}
