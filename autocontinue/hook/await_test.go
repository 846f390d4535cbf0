package hook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
)

const (
	copilotAsked = `{"type":"user.message","id":"u","data":{"content":"Fix it."}}` + "\n"
	copilotSaid  = `{"type":"assistant.message","id":"a","data":{"content":"Fixed.","toolRequests":[]}}` + "\n"
)

// Each host's transcript of a request and an answer.
var answered = map[Host][2]string{
	Claude: {
		`{"type":"user","uuid":"u","message":{"role":"user","content":"Fix it."}}` + "\n",
		`{"type":"assistant","uuid":"a","message":{"id":"m","content":[{"type":"text","text":"Fixed."}]}}` + "\n",
	},
	Codex: {
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Fix it."}]}}` + "\n",
		`{"type":"response_item","payload":{"type":"message","id":"a","role":"assistant","content":[{"type":"output_text","text":"Fixed."}]}}` + "\n",
	},
	Gemini:  {`{"id":"u","type":"user","content":"Fix it."}` + "\n", `{"id":"a","type":"gemini","content":"Fixed."}` + "\n"},
	Copilot: {copilotAsked, copilotSaid},
	Cursor: {
		`{"role":"user","message":{"content":[{"type":"text","text":"Fix it."}]}}` + "\n",
		`{"role":"assistant","message":{"content":[{"type":"text","text":"Fixed."}]}}` + "\n",
	},
}

// A message that comes a moment after the hook was called is waited for, in every host; one that never comes for as long as
// the host is worth it; and nothing is waited for where there is nothing to come.
func TestAwait(t *testing.T) {
	for host, lines := range answered {
		reports := host != Copilot && host != Cursor
		most := awaited
		if !reports {
			most = awaitedLast
		}
		for name, tt := range map[string]struct {
			text   string // in the file
			later  time.Duration
			change func(*Event, *Memory)
			took   time.Duration
			want   string
			behind bool
		}{
			"there":       {text: lines[0] + lines[1], want: "Fixed."},
			"late":        {text: lines[0], later: 105 * time.Millisecond, took: 110 * time.Millisecond, want: "Fixed."},
			"never":       {text: lines[0], took: most, behind: true},
			"no file":     {},
			"empty":       {text: lines[0], change: func(e *Event, _ *Memory) { e.Message = Value(" ") }},
			"failed":      {text: lines[0], change: func(e *Event, _ *Memory) { e.Status = Value("error") }},
			"told":        {text: lines[0], change: func(e *Event, _ *Memory) { e.Kind = Notify }},
			"not a pause": {text: lines[0], change: func(e *Event, _ *Memory) { e.Kind = Prompt }},
		} {
			t.Run(fmt.Sprint(host, " ", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					file := filepath.Join(t.TempDir(), "transcript.jsonl")
					if tt.text != "" {
						require.NoError(t, os.WriteFile(file, []byte(tt.text), 0o600))
					}
					e, m := Event{Host: host, Kind: Stop, Session: "s", Transcript: Value(file)}, Memory{}
					if reports {
						e.Message = Value("Fixed.")
					}
					if tt.change != nil {
						tt.change(&e, &m)
					}
					if tt.later > 0 {
						time.AfterFunc(tt.later, func() { require.NoError(t, os.WriteFile(file, []byte(tt.text+lines[1]), 0o600)) })
					}
					start := time.Now()
					tr, m, err := e.Await(t.Context(), m, nil)
					require.NoError(t, err)
					require.Equal(t, tt.want, tr.Message)
					require.Equal(t, tt.took, time.Since(start))
					require.Equal(t, tt.behind, tr.Behind)
				})
			})
		}
	}
}

// After a pause, the message that was judged is not the answer to the coaching, though the words are the same.
func TestAwaitTheAnswer(t *testing.T) {
	coached := map[Host]string{
		Claude: `{"type":"user","uuid":"f","isMeta":true,"message":{"role":"user","content":"Stop hook feedback:\n[System Coach] Run it."}}` + "\n",
		Codex: `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":` +
			`"<hook_prompt hook_run_id=\"1\">[System Coach] Run it.</hook_prompt>"}]}}` + "\n",
		Gemini:  `{"id":"u2","type":"user","content":"[System Coach] Run it.","displayContent":"Fix it."}` + "\n",
		Copilot: `{"type":"user.message","id":"u2","data":{"content":"[System Coach] Run it."}}` + "\n",
	}
	again := map[Host]string{
		Claude:  `{"type":"assistant","uuid":"b","message":{"id":"n","content":[{"type":"text","text":"Fixed."}]}}` + "\n",
		Codex:   `{"type":"response_item","payload":{"type":"message","id":"b","role":"assistant","content":[{"type":"output_text","text":"Fixed."}]}}` + "\n",
		Gemini:  `{"id":"b","type":"gemini","content":"Fixed."}` + "\n",
		Copilot: `{"type":"assistant.message","id":"b","data":{"content":"Fixed.","toolRequests":[]}}` + "\n",
	}
	for host, line := range coached {
		t.Run(string(host), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "transcript.jsonl")
				text := answered[host][0] + answered[host][1]
				require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
				e := Event{Host: host, Kind: Stop, Session: "s", Transcript: Value(file), Message: Value("Fixed.")}
				if host == Copilot {
					e.Message = Field[string]{}
				}
				tr, m, err := e.Await(t.Context(), Memory{}, nil)
				require.NoError(t, err)
				require.False(t, tr.Behind)
				out := e.Output(tr, m)
				m = m.After(e, out, autocontinue.Decision{Action: autocontinue.Continue, Message: "[System Coach] Run it."})

				if host == Gemini {
					e.Message = Value("Fixed.\nFixed.")
				}
				e.StopActive = Value(true)
				time.AfterFunc(75*time.Millisecond, func() {
					require.NoError(t, os.WriteFile(file, []byte(text+line+again[host]), 0o600))
				})
				start := time.Now()
				tr, m, err = e.Await(t.Context(), m, nil)
				require.NoError(t, err)
				require.Equal(t, 80*time.Millisecond, time.Since(start))
				require.Equal(t, "b", tr.MessageID[len(tr.MessageID)-1:])
				require.Equal(t, 1, tr.Continues)
				require.Equal(t, "b", e.Output(tr, m).ID)
			})
		})
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "events.jsonl")
		require.NoError(t, os.WriteFile(file, []byte(copilotAsked), 0o600))
		ctx, cancel := context.WithTimeout(t.Context(), 70*time.Millisecond)
		defer cancel()
		start := time.Now()
		tr, _, err := Event{Host: Copilot, Kind: Stop, Session: "s", Transcript: Value(file)}.Await(ctx, Memory{}, nil)
		require.NoError(t, err)
		require.True(t, tr.Read)
		require.Equal(t, 70*time.Millisecond, time.Since(start))
	})
}

// A host that tells what the agent printed in an event of its own runs another process for it, which may store it later.
func TestAwaitWhatIsTold(t *testing.T) {
	e := Event{Host: Cursor, Kind: Stop, Session: "s", Generation: Value("g"), Loop: Value(0), Status: Value("completed")}
	said := Memory{}.Heard(Event{Kind: Said, Message: Value("Fixed."), Generation: Value("g")})
	for name, tt := range map[string]struct {
		after time.Duration // until it is stored
		took  time.Duration
		text  string
	}{
		"at once": {0, 0, "Fixed."},
		"late":    {95 * time.Millisecond, 100 * time.Millisecond, "Fixed."},
		"never":   {time.Hour, awaitedLast, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, m, err := e.Await(t.Context(), Memory{}, func() (Memory, error) {
					if time.Since(start) >= tt.after {
						return said, nil
					}
					return Memory{}, nil
				})
				require.NoError(t, err)
				require.Equal(t, tt.took, time.Since(start))
				require.Equal(t, tt.text, m.Said)
			})
		})
	}
}
