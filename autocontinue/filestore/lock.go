package filestore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/gofrs/flock"

	"github.com/sidecoach/sidecoach/autocontinue"
)

const (
	lockFolder  = "locks"
	journalLock = lockFolder + "/journal"
	lockPause   = 4 * time.Millisecond // between two tries to get a lock, on average
)

// lockOf returns the lock of a document, one of 64. The name of its file begins like its key.
func lockOf(key string) string {
	b, _ := strconv.ParseUint(key[:2], 16, 8) // 0 for a name that is not ours
	return fmt.Sprintf("%s/%02x", lockFolder, b%64)
}

// lock takes the lock with that name and returns the function that releases it. It waits until ctx is done, and at most
// LockTimeout.
func (s *Store) lock(ctx context.Context, root *os.Root, name string) (unlock func(), err error) {
	wait, cancel := context.WithTimeout(ctx, s.opts.LockTimeout)
	defer cancel()
	for {
		if unlock, err := s.lockNow(root, name); unlock != nil || err != nil {
			return unlock, err
		}
		select {
		case <-time.After(lockPause/2 + rand.N(lockPause)):
		case <-wait.Done():
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("filestore: waiting for a lock: %w", err)
			}
			held := errors.New("another process has held the lock for too long")
			return nil, &failure{autocontinue.ErrConflict, held, "lock", s.path(name)}
		}
	}
}

// lockNow takes the lock if nobody has it. Otherwise it returns nil.
func (s *Store) lockNow(root *os.Root, name string) (unlock func(), err error) {
	err = root.MkdirAll(lockFolder, 0o700)
	if err == nil {
		_, err = root.Stat(lockFolder) // an error for a link that leads out
	}
	info, missing := root.Lstat(name)
	if err == nil && missing == nil && !info.Mode().IsRegular() { // flock would follow a link
		err = unreadable(notRegular)
	}
	if err == nil {
		unlock, err = s.tryLock(s.path(name))
	}
	if err != nil {
		return nil, s.diskError("lock", name, err)
	}
	return unlock, nil
}

// tryLock locks a file, which it makes if necessary. It returns nil without an error if another process has locked it.
func tryLock(name string) (unlock func(), err error) {
	f := flock.New(name)
	if ok, err := f.TryLock(); !ok || err != nil {
		return nil, err
	}
	return func() { _ = f.Unlock() }, nil // which also closes it
}
