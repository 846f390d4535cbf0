package filestore

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// Each system has its own tryLock. Whatever it answers, the store waits, gives up or fails, and gives the lock back.
func TestLocksOfAnySystem(t *testing.T) {
	none := errors.New("this program has no file locks")
	for name, tt := range map[string]struct {
		answers func(call int) (bool, error)
		is      error
		calls   int // at least
	}{
		"free":        {func(int) (bool, error) { return true, nil }, nil, 1},
		"free, later": {func(call int) (bool, error) { return call > 20, nil }, nil, 21},
		"held":        {func(int) (bool, error) { return false, nil }, autocontinue.ErrConflict, 100},
		"no locks":    {func(int) (bool, error) { return false, none }, autocontinue.ErrUnavailable, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s, err := New(dir, Options{})
				require.NoError(t, err)
				calls := 0
				s.tryLock = func(string) (func(), error) {
					calls++
					if ok, err := tt.answers(calls); !ok || err != nil {
						return nil, err
					}
					return func() {}, nil
				}
				start := time.Now()
				count := func(s autocontinue.State) (autocontinue.State, error) { s.Seq++; return s, nil }
				err = s.Update(context.Background(), "s", count)
				assert.GreaterOrEqual(t, calls, tt.calls)
				if tt.is == nil {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, tt.is)
				}
				assert.LessOrEqual(t, time.Since(start), 5*time.Second)
				s.tryLock = func(string) (func(), error) { return func() {}, nil }
				require.NoError(t, s.Update(context.Background(), "s", count), "nobody waits for a goroutine that gave up")
			})
		})
	}
}
