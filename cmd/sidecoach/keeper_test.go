package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify"
)

// What the store cannot do is told with what to do about it; the agent's output goes to the human in any case.
func TestStoreFailures(t *testing.T) {
	for _, tt := range []struct {
		err        error
		what, hint string
	}{
		{fmt.Errorf("filestore: cannot lock: %w", autocontinue.ErrConflict), "no decision: cannot lock: others are changing", "suspended"},
		{autocontinue.ErrUnavailable, "no decision: the store is unavailable", "--state"},
		{filestore.ErrTooLarge, "no decision: too large", "--state"},
		{autocontinue.ErrStateVersion, "no decision: state of a newer version", "newer sidecoach"},
	} {
		f, ok := errors.AsType[*failure](noDecision(fmt.Errorf("autocontinue: update: %w", tt.err), "go home"))
		require.True(t, ok, tt.what)
		assert.True(t, strings.HasPrefix(f.what, tt.what), f.what)
		assert.Equal(t, exitFailure, f.status)
		assert.True(t, strings.HasPrefix(f.hint, "go home; "), f.hint)
		assert.Contains(t, f.hint, tt.hint)
	}
	assert.EqualError(t, noDecision(errors.New("boom"), ""), "no decision: boom")
	assert.NoError(t, noDecision(nil, ""))
}

// The same outputs through the command and through the library get the same decisions.
func TestSessionIsTheLibrary(t *testing.T) {
	heuristic, err := classify.NewHeuristic()
	require.NoError(t, err)
	ac, err := autocontinue.New(autocontinue.Config{Classifier: heuristic})
	require.NoError(t, err)
	state := t.TempDir()
	for _, step := range []struct{ turn, text string }{
		{"1", hollow}, {"1", hollow}, {"1", "Next I'll rename the callers; 5 of 10 files are done.\n"}, {"1", hollow},
		{"2", hollow}, {"1", hollow}, {"2", "Which database should I use, Postgres or SQLite?\n"}, {"2", hollow},
	} {
		want, err := ac.Handle(t.Context(), autocontinue.Output{Session: "s", Turn: step.turn, Text: step.text})
		require.NoError(t, err)
		line := jsonOf(t, want)
		out, errs, status := sidecoach(t, strings.NewReader(step.text), "--state", state, "--session", "s", "--turn",
			step.turn, "--json")
		require.Zero(t, status, errs)
		assert.Equal(t, line, out)
	}
}

// journalOf reads the journal of a folder.
func journalOf(t *testing.T, dir string) []entry {
	t.Helper()
	var list []entry
	for line, err := range filestore.ReadJournal(t.Context(), dir, 0) {
		require.NoError(t, err)
		e, ok := parseEntry(line)
		require.True(t, ok)
		list = append(list, e)
	}
	return list
}

// The journal keeps what the classifier was asked or, where it was not, what it would have been asked.
func TestKeepText(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	state := t.TempDir()
	keep := func(text string, args ...string) entry {
		t.Helper()
		_, errs, status := sidecoach(t, strings.NewReader(text),
			append(args, "--state", state, "--session", "s", "--keep-text")...)
		require.Zero(t, status, errs)
		require.Empty(t, errs)
		list := journalOf(t, state)
		return list[len(list)-1]
	}
	e := keep(hollow, "--request", "/do-build it")
	require.NotNil(t, e.Input)
	assert.Equal(t, hollow, e.Input.Text)
	assert.Equal(t, "/do-build it", e.Input.Request)
	assert.NotEmpty(t, e.Input.SkillHint, "what the library makes of the request is kept, too")

	e = keep("boom", "--failed", "--request", "r")
	assert.Equal(t, autocontinue.Reason("crash_guard"), e.Decision.Reason)
	assert.Equal(t, &classify.Input{Text: "boom", Request: "r", Coached: 1}, e.Input)

	e = keep(strings.Repeat("x", maxKept))
	assert.Len(t, e.Input.Text, maxKept)
	e = keep(strings.Repeat("x", maxKept+1))
	assert.Nil(t, e.Input)
	_, errs, status := sidecoach(t, strings.NewReader(""), "log", "--state", state, "--case", e.Decision.ID, "--want",
		"status")
	assert.Equal(t, exitFailure, status)
	assert.Contains(t, errs, "which keeps texts of up to 1 MiB")
}

// A notice names the file and where it is now.
func TestNoticeOfASessionSetAside(t *testing.T) {
	state := t.TempDir()
	for range 2 {
		_, _, status := sidecoach(t, strings.NewReader(hollow), "--state", state, "--session", "s")
		require.Zero(t, status)
		files, err := filepath.Glob(filepath.Join(state, "sessions", "*", "*.json"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		require.NoError(t, os.WriteFile(files[0], nil, 0o600))
	}
	list := journalOf(t, state)
	require.Len(t, list, 3)
	assert.Equal(t, "s", list[1].Session)
	assert.Equal(t, shellHost, list[1].Host)
	assert.Contains(t, list[1].Notice, "it is empty")
	aside, err := filepath.Glob(filepath.Join(state, "aside", "*"))
	require.NoError(t, err)
	require.Len(t, aside, 1)
	assert.Contains(t, list[1].Notice, aside[0])
}

// A journal line that cannot be made, or not written, is said once and fails nothing.
func TestJournalFailures(t *testing.T) {
	var errs strings.Builder
	state := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(state, nil, 0o600))
	k, err := keeperOptions{state: state}.open(filestore.Options{Host: "h"}, &errs)
	require.NoError(t, err)
	k.journal(make(chan int))
	assert.Equal(t, 1, strings.Count(errs.String(), "sidecoach: not journaled: "))
	k.journal(1)
	assert.Equal(t, 2, strings.Count(errs.String(), "sidecoach: not journaled: "))
}

func TestEntryIsAnEvent(t *testing.T) {
	state := t.TempDir()
	_, _, status := sidecoach(t, strings.NewReader(hollow), "--state", state, "--session", "s")
	require.Zero(t, status)
	for line, err := range filestore.ReadJournal(t.Context(), state, 0) {
		require.NoError(t, err)
		var e autocontinue.Event
		require.NoError(t, json.Unmarshal(line, &e))
		assert.Equal(t, autocontinue.Continue, e.Decision.Action)
		assert.NotEmpty(t, e.Signals)
		assert.NotContains(t, string(line), `"input"`)
	}
}

func TestStateDir(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for given, want := range map[string]string{"": filepath.Join(home, ".local", "state", "sidecoach"),
		"state": filepath.Join(home, ".local", "state", "sidecoach"), home: filepath.Join(home, "sidecoach")} {
		t.Setenv("XDG_STATE_HOME", given)
		if given != home && (runtime.GOOS == "windows" || runtime.GOOS == "darwin") {
			continue // they have a folder of their own
		}
		dir, err := stateDir("")
		require.NoError(t, err)
		assert.Equal(t, want, dir, given)
	}
}
