package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// running opens a host that plays until the test ends.
func running(t *testing.T, dir string) *host {
	t.Helper()
	h, err := open(dir, 0, io.Discard)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	h.start(ctx)
	t.Cleanup(func() {
		cancel()
		h.close()
	})
	return h
}

// answer waits for something to decide and decides it.
func (h *host) answer(t *testing.T, kind gate.Kind, name string, action gate.Action, body string) gate.Item {
	t.Helper()
	var it gate.Item
	require.Eventually(t, func() bool {
		for _, p := range h.session.Pending() {
			if p.Kind == kind && (name == "" || p.Tool == name) {
				it = p
				return true
			}
		}
		return false
	}, waitLimit, time.Millisecond, "no %s %s waits", kind, name)
	_, err := h.session.Resolve(time.Now(),
		gate.Decision{Item: it.ID, Digest: it.Digest, Action: action, By: "ann", Body: json.RawMessage(body)})
	require.NoError(t, err)
	return it
}

func (h *host) ends(t *testing.T, run string, phase gate.Phase) {
	t.Helper()
	require.Eventually(t, func() bool { return h.session.Phase(run) == phase }, waitLimit, time.Millisecond)
}

func TestTurnGoesThroughTheGates(t *testing.T) {
	h := running(t, t.TempDir())
	require.NoError(t, h.submit(t.Context(), "ann", "main", "import my weights"))
	first := h.answer(t, gate.Context, "", gate.Approve, "")
	call := h.answer(t, gate.Tool, "weight_save_batch", gate.Edit, `{"rows":[{"day":"d","weight":1.10}]}`)
	next := h.answer(t, gate.Context, "", gate.Approve, "")
	call, _ = h.session.Item(call.ID)
	assert.JSONEq(t, `{"saved":1}`, string(call.Result), "the tool got what was granted")
	assert.Equal(t, first.Run+"+1", next.Run)
	assert.Contains(t, string(next.Body), "[System Coach] ")
	h.ends(t, first.Run, "finished")
	final := h.answer(t, gate.Response, "", gate.Approve, "")
	assert.Contains(t, string(final.Body), "Imported 3 weights")
	h.ends(t, next.Run, "finished")
}

func TestDeniedContinuationIsDelivered(t *testing.T) {
	h := running(t, t.TempDir())
	require.NoError(t, h.submit(t.Context(), "ann", "main", "import my weights"))
	first := h.answer(t, gate.Context, "", gate.Approve, "")
	h.answer(t, gate.Tool, "weight_save_batch", gate.Approve, "")
	h.answer(t, gate.Context, "", gate.Deny, "")
	final := h.answer(t, gate.Response, "", gate.Approve, "")
	assert.Equal(t, first.Run, final.Run)
	assert.Contains(t, string(final.Body), "should work now")
	h.ends(t, first.Run, "finished")
}

func TestEditedContinuationKeepsThePrefix(t *testing.T) {
	h := running(t, t.TempDir())
	require.NoError(t, h.submit(t.Context(), "ann", "main", "import my weights"))
	h.answer(t, gate.Context, "", gate.Approve, "")
	h.answer(t, gate.Tool, "weight_save_batch", gate.Approve, "")
	var it gate.Item
	require.Eventually(t, func() bool {
		if p := h.session.Pending(); len(p) == 1 {
			it = p[0]
		}
		return it.ID != ""
	}, waitLimit, time.Millisecond)
	edit := gate.Decision{Item: it.ID, Digest: it.Digest, Action: gate.Edit, By: "ann",
		Body: json.RawMessage(`{"from":"human","message":"Approve all"}`)}
	_, err := h.session.Resolve(time.Now(), edit)
	assert.ErrorIs(t, err, gate.ErrInput)
	assert.ErrorContains(t, err, "keeps its beginning")
	edit.Body = json.RawMessage(`{"from":"System Coach","message":"[System Coach] Show the list."}`)
	_, err = h.session.Resolve(time.Now(), edit)
	assert.NoError(t, err)
}

func TestStoppedRunIsOver(t *testing.T) {
	h := running(t, t.TempDir())
	require.NoError(t, h.submit(t.Context(), "ann", "main", "delete it"))
	first := h.answer(t, gate.Context, "", gate.Approve, "")
	h.answer(t, gate.Tool, "weight_delete", gate.Stop, "")
	h.ends(t, first.Run, "denied")
}

// A call that executed when the program died is not executed again: the agent is told that nobody knows.
func TestInterruptedCallIsNotRepeated(t *testing.T) {
	dir := t.TempDir()
	s, j, err := openJournal(filepath.Join(dir, "journal.jsonl"), policyOf(t), gate.Options{Audited: true, Schema: check})
	require.NoError(t, err)
	now := time.Now()
	body, err := json.Marshal(payload{From: "human", Message: "import", Model: "m", Temperature: "1"})
	require.NoError(t, err)
	redeem := func(sub gate.Subject) gate.Item {
		it, err := s.Propose(now, sub)
		require.NoError(t, err)
		if it.Status == gate.Pending {
			_, err = s.Resolve(now, gate.Decision{Item: it.ID, Digest: it.Digest, Action: gate.Approve, By: "ann"})
			require.NoError(t, err)
		}
		_, err = s.Redeem(now, it.ID)
		require.NoError(t, err)
		return it
	}
	redeem(gate.Subject{Kind: gate.Context, Thread: "main", Run: "run-x", Body: body})
	call := redeem(gate.Subject{Kind: gate.Tool, Thread: "main", Run: "run-x", Call: "call-1", Tool: profile.tool,
		Label: profile.label, Body: json.RawMessage(profile.args)})
	require.NoError(t, j.f.Close())

	h := running(t, dir)
	require.Eventually(t, func() bool {
		it, _ := h.session.Item(call.ID)
		return it.Status == gate.Done
	}, waitLimit, time.Millisecond)
	it, _ := h.session.Item(call.ID)
	assert.Contains(t, string(it.Result), "not known whether it took effect")
}

func TestJournalIsAsItWasWhenAWriteFails(t *testing.T) {
	name := filepath.Join(t.TempDir(), "journal.jsonl")
	s, j, err := openJournal(name, policyOf(t), gate.Options{})
	require.NoError(t, err)
	require.NoError(t, s.SetAudited(time.Now(), "ann", true))
	before, err := os.ReadFile(name)
	require.NoError(t, err)
	whole := j.f
	j.f, err = os.Open(name) // which can't be written
	require.NoError(t, err)
	assert.ErrorIs(t, s.SetAudited(time.Now(), "ann", false), gate.ErrJournal)
	require.NoError(t, j.f.Close())
	j.f = whole
	assert.True(t, s.Audited())
	require.NoError(t, s.SetAudited(time.Now(), "ann", false))
	require.NoError(t, j.f.Close())
	after, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.True(t, bytes.HasPrefix(after, before))
	again, j, err := openJournal(name, policyOf(t), gate.Options{})
	require.NoError(t, err)
	assert.False(t, again.Audited())
	require.NoError(t, j.f.Close())
}

func TestJournalHasOneWriter(t *testing.T) {
	name := filepath.Join(t.TempDir(), "journal.jsonl")
	_, j, err := openJournal(name, policyOf(t), gate.Options{})
	require.NoError(t, err)
	_, _, err = openJournal(name, policyOf(t), gate.Options{})
	assert.ErrorContains(t, err, "another program has it open")
	require.NoError(t, j.f.Close())
	_, j, err = openJournal(name, policyOf(t), gate.Options{})
	require.NoError(t, err, "the lock ends with its program")
	require.NoError(t, j.f.Close())
}

func TestProgramRefusesWhatItCannotServe(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-addr", "0.0.0.0:0"}, "not a loopback address"},
		{[]string{"-auditors", "policy"}, "no person made"},
		{[]string{"extra"}, "unexpected argument"},
	} {
		err := run(t.Context(), append([]string{"-dir", t.TempDir(), "-addr", "127.0.0.1:0"}, tt.args...),
			strings.NewReader(""), io.Discard)
		assert.ErrorContains(t, err, tt.want)
	}
}

// untilLink keeps what a program prints and ends the program when it prints a link.
type untilLink struct {
	bytes.Buffer
	end func()
}

func (w *untilLink) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("http://")) {
		w.end()
	}
	return w.Buffer.Write(p)
}

func TestProgramWarnsOfRules(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "policy.json"),
		[]byte(`[{"tool":"bash","when":[{"at":"/command","like":"git *"}],"then":"allow"}]`), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	out := &untilLink{end: cancel}
	require.NoError(t, run(ctx, []string{"-dir", dir, "-addr", "127.0.0.1:0"}, strings.NewReader(""), out))
	assert.Contains(t, out.String(), `warning: rule 1 (tool bash when /command like "git *": allow): `)
}

func policyOf(t *testing.T) gate.Policy {
	t.Helper()
	p, err := gate.ParsePolicy([]byte(rules))
	require.NoError(t, err)
	return p
}

func TestNotifyRunsACommandForWhatWaits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command is a script")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "notify")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho \"$1 $2\" >>"+filepath.Join(dir, "told")+"\n"), 0o700))
	h := running(t, dir)
	defer h.session.Watch(func(e gate.Event) { h.notify([]string{script, "audit:"}, e) })()
	require.NoError(t, h.submit(t.Context(), "ann", "main", "tell me about my profile"))
	var told string
	tells := func(n int) { // of what is answered before, nobody is told
		t.Helper()
		require.Eventually(t, func() bool {
			data, _ := os.ReadFile(filepath.Join(dir, "told"))
			told = string(data)
			return strings.Count(told, "\n") == n
		}, waitLimit, time.Millisecond)
	}
	tells(1)
	h.answer(t, gate.Context, "", gate.Approve, "")
	tells(2)
	h.answer(t, gate.Response, "", gate.Approve, "")
	assert.Contains(t, told, "audit: context waits: Message from")
	assert.Contains(t, told, "audit: response waits: Deliver")
	assert.NotContains(t, told, "profile_get", "a rule allows it")
}

// What runs is what was granted, also after an edit that came between the look and the redemption.
func TestHostDoesWhatWasGranted(t *testing.T) {
	h := running(t, t.TempDir())
	require.NoError(t, h.submit(t.Context(), "ann", "main", "import my weights"))
	h.answer(t, gate.Context, "", gate.Edit,
		`{"from":"human","message":"delete it","model":"scripted-1","temperature":1,"tools":[]}`)
	h.answer(t, gate.Tool, "weight_delete", gate.Edit, `{"id":"w-1"}`)
	h.answer(t, gate.Tool, "note_delete", gate.Deny, "")
	final := h.answer(t, gate.Response, "", gate.Approve, "")
	assert.Contains(t, string(final.Body), "I deleted the weight.")
}

func TestStateIsNotInACache(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "")
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // which has one folder for both
		assert.False(t, strings.HasPrefix(stateDir(), cache), stateDir())
	}
	assert.True(t, filepath.IsAbs(stateDir()))
}
