package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
)

// waitsAtMost is how long a session is listed. Nobody tells the hook that a session was closed.
const waitsAtMost = 24 * time.Hour

func newStatus(t terminal) *cobra.Command {
	var state string
	cmd := withoutArguments("status [flags]", func(cmd *cobra.Command) error {
		list, err := waiting(cmd.Context(), state)
		if err != nil {
			return err
		}
		return t.tell(cmd.OutOrStdout(), view("waiting", list))
	})
	bind(cmd.Flags(), "state", &state)
	return cmd
}

// waiting returns the last decision of each session that waits for the human, the oldest first.
func waiting(ctx context.Context, state string) ([]entry, error) {
	dir, err := stateDir(state)
	if err != nil {
		return nil, err
	}
	last := map[string]entry{}
	for line, err := range filestore.ReadJournal(ctx, dir, 0) {
		e, ok := parseEntry(line)
		if err != nil || !ok || e.Notice != "" || e.Host == "" || strings.Contains(e.Session, "/") ||
			e.Decision.Action == autocontinue.Suppress || e.Decision.Replayed {
			continue
		}
		last[e.Host+"/"+e.Session] = e
	}
	var list []entry
	for _, e := range last {
		store, err := filestore.New(dir, filestore.Options{Host: e.Host})
		if err != nil {
			return nil, err
		}
		_, memory, err := (&keeper{store: store}).Load(ctx, e.Session)
		if err != nil {
			return nil, err
		}
		if memory.Waits() && time.Since(e.Time) < waitsAtMost {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Host+"/"+a.Session, b.Host+"/"+b.Session))
	})
	return list, nil
}

// tell runs the human's command, if the human is next. A failure is journaled and changes nothing else.
func (k *keeper) tell(ctx context.Context) {
	if k.notify == nil || k.last == nil || k.last.Decision.Action != autocontinue.Deliver ||
		k.last.Decision.Replayed || strings.Contains(k.session, "/") {
		return
	}
	text, err := json.Marshal(struct {
		autocontinue.Decision
		Host    string `json:"host"`
		Session string `json:"session"`
		Folder  string `json:"folder,omitempty"`
	}{k.last.Decision, k.host, masked(k.session), masked(k.folder)})
	if err == nil {
		var r cmdwitness.Result
		r, err = cmdwitness.Run(ctx, cmdwitness.Command{
			Args: k.notify, Dir: k.folder, Env: os.Environ(), Timeout: 5 * time.Second, Stdin: bytes.NewReader(text),
		})
		if err == nil && (r.Exit != 0 || r.Why != "") {
			err = fmt.Errorf("exit status %d %s", r.Exit, r.Why)
		}
	}
	if err != nil {
		k.note("notify failed: " + strings.TrimSpace(err.Error()))
	}
}
