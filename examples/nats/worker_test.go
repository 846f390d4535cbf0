package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// What nobody can ever decide about is shown to the human, and stops nothing that comes after it.
func TestHopelessOutputsAreShown(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server, err := newHost(t.TempDir())
	require.NoError(t, err)
	defer server.kill()
	nc, js, err := connect(server.url)
	require.NoError(t, err)
	defer nc.Close()
	require.NoError(t, prepare(ctx, js, time.Second, 1))
	long := strings.Repeat("i", 300<<10)
	for _, data := range []string{
		"not json", strings.Repeat("\x01\xff", 200<<10), // six times as much as JSON
		fmt.Sprintf(`{"at":3,"output":{"session":%q,"turn":%q,"run":"\u0001%s","id":"3","text":"Which one?"}}`, long, long,
			long),
		`{"at":1,"output":{"session":"","id":"1","text":"Which one?"}}`,
		`{"at":2,"output":{"session":"s","id":"2","text":"Next I'll run the tests."}}`,
	} {
		_, err := js.Publish(ctx, outputSubject(0), []byte(data))
		require.NoError(t, err)
	}
	s := newStage(demonstration{}, server, js)
	_, err = s.play(ctx, 1, partitions)
	require.NoError(t, err)
	acts, err := read[act](ctx, js, actStream)
	require.NoError(t, err)
	require.Len(t, acts, 5)
	assert.Equal(t, []any{autocontinue.Deliver, "not json"}, []any{acts[0].Action, acts[0].Message})
	assert.Equal(t, []any{autocontinue.Deliver, "3"}, []any{acts[2].Action, acts[2].Output})
	assert.Equal(t, []any{autocontinue.Deliver, "1"}, []any{acts[3].Action, acts[3].Output})
	assert.Equal(t, []any{autocontinue.Continue, "2"}, []any{acts[4].Action, acts[4].Output})
	journal, err := read[entry](ctx, js, journalStream)
	require.NoError(t, err)
	require.Len(t, journal, 3)
	assert.True(t, journal[1].Shown)
	assert.Contains(t, journal[1].Error, "session ID is empty")
}

func TestHopeless(t *testing.T) {
	w := worker{patience: 3}
	for _, err := range []error{autocontinue.ErrConflict, autocontinue.ErrUnavailable, context.Canceled,
		context.DeadlineExceeded} {
		assert.False(t, w.hopeless(fmt.Errorf("x: %w", err), 1000), err)
	}
	assert.False(t, w.hopeless(autocontinue.ErrStateVersion, 3))
	assert.True(t, w.hopeless(autocontinue.ErrStateVersion, 4))
	assert.True(t, w.hopeless(autocontinue.ErrNoSession, 1))
	assert.True(t, w.hopeless(errors.New("state: no version"), 1))
}
