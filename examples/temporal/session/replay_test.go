package session

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// replay runs a workflow against the histories that a server recorded, see TestRecord in the program's tests.
func replay(t *testing.T, fn any, file string) error {
	t.Helper()
	r := worker.NewWorkflowReplayer()
	r.RegisterWorkflowWithOptions(fn, workflow.RegisterOptions{Name: WorkflowName})
	return r.ReplayWorkflowHistoryFromJSONFile(nil, file)
}

func histories(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.Len(t, files, 3)
	return files
}

// TestHistoriesReplay fails when the workflow of today would not go on with the sessions that are under way. Then
// either undo the change, or put it behind workflow.GetVersion: see the README.
func TestHistoriesReplay(t *testing.T) {
	for _, file := range histories(t) {
		assert.NoError(t, replay(t, Workflow, file), file)
	}
}

// TestChangedWorkflowIsDetected changes the workflow in ways that look harmless.
func TestChangedWorkflowIsDetected(t *testing.T) {
	for name, changed := range map[string]func(workflow.Context, Session) (Counts, error){
		"a pause first": func(ctx workflow.Context, s Session) (Counts, error) {
			if err := workflow.Sleep(ctx, time.Second); err != nil {
				return Counts{}, err
			}
			return Workflow(ctx, s)
		},
		"another cap": func(ctx workflow.Context, s Session) (Counts, error) {
			s.Config.MaxContinues = autocontinue.Never
			return Workflow(ctx, s)
		},
		"another judge": func(ctx workflow.Context, s Session) (Counts, error) {
			s.Config.Model = !s.Config.Model
			return Workflow(ctx, s)
		},
		"another end": func(ctx workflow.Context, s Session) (Counts, error) {
			s.Ending = true
			return Workflow(ctx, s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := 0
			for _, file := range histories(t) {
				if err := replay(t, changed, file); err != nil {
					found++
				}
			}
			assert.Positive(t, found, "no recorded history shows this change")
		})
	}
}

// TestGetVersionLetsOldSessionsGoOn makes the same change as above for sessions that begin from now on.
func TestGetVersionLetsOldSessionsGoOn(t *testing.T) {
	versioned := func(ctx workflow.Context, s Session) (Counts, error) {
		if workflow.GetVersion(ctx, "pause first", workflow.DefaultVersion, 1) >= 1 {
			if err := workflow.Sleep(ctx, time.Second); err != nil {
				return Counts{}, err
			}
		}
		return Workflow(ctx, s)
	}
	for _, file := range histories(t) {
		assert.NoError(t, replay(t, versioned, file), file)
	}
}

// TestLimitsAreNotCompared shows what a replay does not see: how an activity is run.
func TestLimitsAreNotCompared(t *testing.T) {
	limited := func(ctx workflow.Context, s Session) (Counts, error) {
		s.Config.ActLimit, s.Config.RunAttempts, s.Config.RunLimit = time.Second, 7, time.Minute
		return Workflow(ctx, s)
	}
	for _, file := range histories(t) {
		assert.NoError(t, replay(t, limited, file), file)
	}
}
