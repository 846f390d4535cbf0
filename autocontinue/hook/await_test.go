package hook

import (
	"context"
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

// A message that comes a moment after the hook was called is waited for; one that never comes, for a second; and nothing is
// waited for where there is nothing to come.
func TestAwait(t *testing.T) {
	for name, tt := range map[string]struct {
		text   string // in the file
		later  time.Duration
		change func(*Event, *Memory)
		took   time.Duration
		want   string
	}{
		"there":        {text: copilotAsked + copilotSaid, want: "Fixed."},
		"late":         {text: copilotAsked, later: 120 * time.Millisecond, took: 150 * time.Millisecond, want: "Fixed."},
		"never":        {text: copilotAsked, took: time.Second},
		"aborted":      {text: copilotAsked + `{"type":"abort","id":"x","data":{"reason":"user"}}` + "\n"},
		"no file":      {},
		"in the event": {text: copilotAsked, change: func(e *Event, _ *Memory) { e.Message = Value("Fixed.") }},
		"held":         {text: copilotAsked, change: func(e *Event, m *Memory) { *m = m.Heard(Event{Kind: Said, Message: Value("Fixed.")}) }},
		"failed":       {text: copilotAsked, change: func(e *Event, _ *Memory) { e.Status = Value("error") }},
		"not a pause":  {text: copilotAsked, change: func(e *Event, _ *Memory) { e.Kind = Prompt }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "events.jsonl")
				if tt.text != "" {
					require.NoError(t, os.WriteFile(file, []byte(tt.text), 0o600))
				}
				e, m := Event{Host: Copilot, Kind: Stop, Session: "s", Transcript: Value(file)}, Memory{}
				if tt.change != nil {
					tt.change(&e, &m)
				}
				if tt.later > 0 {
					time.AfterFunc(tt.later, func() { require.NoError(t, os.WriteFile(file, []byte(tt.text+copilotSaid), 0o600)) })
				}
				start := time.Now()
				tr, _, err := e.Await(t.Context(), m, nil)
				require.NoError(t, err)
				require.Equal(t, tt.want, tr.Message)
				require.Equal(t, tt.took, time.Since(start))
			})
		})
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(copilotAsked), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		tr, _, err := Event{Host: Copilot, Kind: Stop, Session: "s", Transcript: Value(file)}.Await(ctx, Memory{}, nil)
		require.NoError(t, err)
		require.Empty(t, tr.Message)
		require.Less(t, time.Since(start), awaited)
	})
}

// What a host tells in an event of its own may be stored a moment after the pause was reported, by another process. What another
// hook of the pause has judged does not come again.
func TestAwaitWhatIsTold(t *testing.T) {
	e := Event{Host: Cursor, Kind: Stop, Session: "s", Generation: Value("g1"), Loop: Value(0), Status: Value("completed")}
	told := Memory{}.Heard(Event{Host: Cursor, Kind: Said, Message: Value("Fixed."), Generation: Value("g1")})
	for name, tt := range map[string]struct {
		from Memory
		at   int // of the readings; 0 is never
		took time.Duration
		hold string
	}{
		"there":  {from: told},
		"late":   {at: 3, took: 150 * time.Millisecond},
		"never":  {took: time.Second, hold: holdNoMessage},
		"judged": {from: told.After(e, e.Output(Trace{}, told), autocontinue.Decision{}), hold: holdNoMessage},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, n := time.Now(), 0
				tr, m, err := e.Await(t.Context(), tt.from, func() (Memory, error) {
					if n++; n == tt.at {
						return told, nil
					}
					return tt.from, nil
				})
				require.NoError(t, err)
				require.Equal(t, tt.took, time.Since(start))
				require.Equal(t, tt.hold, e.Output(tr, m).Hold)
			})
		})
	}
	_, _, err := e.Await(t.Context(), Memory{}, func() (Memory, error) { return Memory{}, context.DeadlineExceeded })
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
