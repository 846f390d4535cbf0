package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

func TestTraceAfterAProcessThatDied(t *testing.T) {
	name := filepath.Join(t.TempDir(), "trace.jsonl")
	event := verify.Event{Time: time.Unix(1, 0).UTC(), Name: verify.ValidateStart, Task: "T1"}
	for _, tt := range []struct {
		name, left string
		want       int // events that are there
	}{
		{"nothing", "", 0},
		{"half a line", `{"time":"2026`, 0},
		{"a line without its end", `{"time":"2026-01-02T12:00:00Z","event":"coach_decision","task_id":"T1"}`, 1},
		{"a line and a half", `{"time":"2026-01-02T12:00:00Z","event":"coach_decision","task_id":"T1"}` + "\n" + `{"ti`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(name, []byte(tt.left), 0o600))
			f, trace, err := openTrace(name, false)
			require.NoError(t, err)
			require.Len(t, trace, tt.want)
			require.NoError(t, f.add(event))
			require.NoError(t, f.add(event, event))
			f.close()
			f, trace, err = openTrace(name, false)
			require.NoError(t, err)
			f.close()
			require.Len(t, trace, tt.want+3)
			require.Equal(t, event, trace[len(trace)-1])
		})
	}
}
