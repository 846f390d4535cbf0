package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// The events and transcripts of testdata/recorded are those of the real agents, as .ci/hosts has recorded them. The
// hook gives the answers that it gave there, and replay of the transcripts decides the same. Nobody has recorded
// Cursor and SubagentStop of Codex: those of the other tests are as documented.
func TestRecordedEvents(t *testing.T) {
	seen := map[string]int{}
	for _, host := range []Host{Claude, Codex, Gemini, Copilot} {
		a, err := txtar.ParseFile("testdata/recorded/" + string(host) + ".txtar")
		require.NoError(t, err)
		files := map[string]string{}
		for _, f := range a.Files {
			files[f.Name] = string(f.Data)
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if scenario, ok := strings.CutSuffix(name, "/events"); ok {
				t.Run(string(host)+" "+scenario, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { playRecorded(t, host, scenario, files, seen) })
				})
			}
		}
	}
	for host, events := range map[Host][]string{
		Claude:  {"Stop", "SubagentStop", "StopFailure", "UserPromptSubmit"},
		Codex:   {"Stop", "UserPromptSubmit"},
		Gemini:  {"AfterAgent", "BeforeAgent"},
		Copilot: {"Stop", "UserPromptSubmit"},
	} {
		for _, event := range events {
			require.NotZero(t, seen[string(host)+" "+event], "%s %s", host, event)
		}
	}
}

func playRecorded(t *testing.T, host Host, scenario string, files map[string]string, seen map[string]int) {
	home := t.TempDir()
	here := func(text string) string { return strings.ReplaceAll(text, "/home/ada", home) }
	transcripts := map[string][]string{} // by path
	for name, text := range files {
		if path, ok := strings.CutPrefix(name, scenario+"/transcript "); ok {
			transcripts[here(path)] = strings.SplitAfter(here(text), "\n")
		}
	}
	heuristic, err := classify.NewHeuristic()
	require.NoError(t, err)
	live := map[string][]string{}
	cfg := Config{Sessions: &store{state: map[string][]byte{}}}
	cfg.Loop = func(_ context.Context, p *Pause) (autocontinue.Config, error) {
		observer := autocontinue.ObserverFunc(func(_ context.Context, e autocontinue.Event) error {
			live[e.Session] = append(live[e.Session], fmt.Sprint(e.Decision.Action, " ", e.Decision.Reason))
			return nil
		})
		return autocontinue.Config{Classifier: heuristic, Observer: observer}, nil
	}
	for line := range strings.Lines(files[scenario+"/events"]) {
		var name, want string
		var count int
		_, err := fmt.Sscan(line, &name, &count, &want)
		require.NoError(t, err)
		payload := here(files[scenario+"/"+name])
		var event struct {
			Name       string `json:"hook_event_name"`
			Transcript string `json:"transcript_path"`
			Agents     string `json:"agent_transcript_path"`
		}
		require.NoError(t, json.Unmarshal([]byte(payload), &event))
		seen[string(host)+" "+event.Name]++
		if event.Agents != "" {
			event.Transcript = event.Agents
		}
		if lines := transcripts[event.Transcript]; count > 0 {
			require.NoError(t, os.MkdirAll(filepath.Dir(event.Transcript), 0o700))
			require.NoError(t, os.WriteFile(event.Transcript, []byte(strings.Join(lines[:count], "")), 0o600))
		}
		out, err := Run(t.Context(), host, []byte(payload), cfg)
		require.NoError(t, err)
		got := "none"
		if len(out) > 0 {
			got = "stop"
		}
		if strings.Contains(string(out), `"reason"`) {
			got = "continue"
		}
		require.Equal(t, want, got, "%s: %s", name, out)
	}
	for path, lines := range transcripts {
		moments, err := replayed(t, []byte(strings.Join(lines, "")))
		require.NoError(t, err)
		var decided []string
		session := ""
		for _, m := range moments {
			session = m.Output.Session
			decided = append(decided, fmt.Sprint(m.Decision.Action, " ", m.Decision.Reason))
		}
		if strings.Contains(path, "subagents") { // the file alone does not tell that
			continue
		}
		require.Equal(t, live[session], decided)
	}
}
