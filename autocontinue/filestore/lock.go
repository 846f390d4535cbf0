package filestore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/gofrs/flock"

	"github.com/sidecoach/sidecoach/autocontinue"
)

const (
	lockFolder  = "locks"
	journalLock = lockFolder + "/journal"
	lockPause   = 4 * time.Millisecond // between two tries to get a lock
)

// lockOf returns the lock of a document, one of 64: documents in one folder, whose name begins like their keys, share
// it.
func lockOf(key string) string {
	b, _ := strconv.ParseUint(key[:2], 16, 8) // a key is hexadecimal
	return fmt.Sprintf("%s/%02x", lockFolder, b%64)
}

// lock takes the lock with that name and returns the function that releases it. It waits until ctx is done, and at most
// LockTimeout.
func (s *Store) lock(ctx context.Context, root *os.Root, name string) (unlock func(), err error) {
	err = root.MkdirAll(lockFolder, 0o700)
	if err == nil {
		_, err = root.Stat(lockFolder) // an error for a link that leads out
	}
	info, missing := root.Lstat(name)
	if err == nil && missing == nil && !info.Mode().IsRegular() { // flock would follow a link
		err = unreadable(notRegular)
	}
	wait, cancel := context.WithTimeout(ctx, s.opts.LockTimeout)
	defer cancel()
	f := flock.New(s.path(name))
	if err == nil {
		_, err = f.TryLockContext(wait, lockPause)
	}
	switch {
	case err == nil:
		return func() { _ = f.Unlock() }, nil // which also closes it
	case ctx.Err() != nil:
		return nil, fmt.Errorf("filestore: waiting for a lock: %w", ctx.Err())
	case wait.Err() != nil:
		held := errors.New("another process has held the lock for too long")
		return nil, &failure{autocontinue.ErrConflict, held, "lock", s.path(name)}
	}
	return nil, s.diskError("lock", name, err)
}
