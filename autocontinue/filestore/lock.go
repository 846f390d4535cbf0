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
)

const (
	lockFolder  = "locks"
	journalLock = 64 // documents share the locks before it
	lockCount   = 65

	firstPause   = 500 * time.Microsecond // between two tries to get a lock that another process has
	longestPause = 16 * time.Millisecond
)

func lockName(n int) string {
	if n == journalLock {
		return lockFolder + "/journal"
	}
	return fmt.Sprintf("%s/%02x", lockFolder, n)
}

// lockOf returns the number of the lock of a document. The name of its file begins like its key.
func lockOf(key string) int {
	b, err := strconv.ParseUint(key[:2], 16, 8)
	if err != nil {
		return 0
	}
	return int(b) % journalLock
}

// lock takes the lock with that number and returns the function that releases it. It waits until ctx is done, and at
// most LockTimeout.
func (s *Store) lock(ctx context.Context, root *os.Root, n int) (unlock func(), err error) {
	wait, cancel := context.WithTimeout(ctx, s.opts.LockTimeout)
	defer cancel()
	tooLate := func() error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("filestore: waiting for a lock: %w", err)
		}
		return &failure{ErrLocked, errors.New("another process has held the lock for too long"), "lock", s.path(lockName(n))}
	}
	select {
	case s.gates[n] <- struct{}{}: // the goroutines of this process ask the system one at a time
	case <-wait.Done():
		return nil, tooLate()
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		unlock, err := s.tryGate(root, n)
		if unlock != nil {
			return unlock, nil
		}
		if err == nil {
			select {
			case <-time.After(pause/2 + rand.N(pause)):
				continue
			case <-wait.Done():
				err = tooLate()
			}
		}
		<-s.gates[n]
		return nil, err
	}
}

// lockNow takes the lock if nobody has it. Otherwise it returns nil.
func (s *Store) lockNow(root *os.Root, n int) (unlock func()) {
	select {
	case s.gates[n] <- struct{}{}:
	default:
		return nil
	}
	unlock, _ = s.tryGate(root, n)
	if unlock == nil {
		<-s.gates[n]
	}
	return unlock
}

// tryGate asks the system for the lock, with the gate held. It returns nil without an error if another process has it.
func (s *Store) tryGate(root *os.Root, n int) (unlock func(), err error) {
	err = within(root, lockFolder, func() error {
		_, err := root.Stat(lockFolder) // an error for a link that leads out
		return err
	})
	info, missing := root.Lstat(lockName(n))
	if err == nil && missing == nil && !info.Mode().IsRegular() { // flock would follow a link
		err = unreadable(notRegular)
	}
	var release func()
	if err == nil {
		release, err = s.tryLock(s.path(lockName(n)))
	}
	if err != nil {
		return nil, s.diskError("lock", lockName(n), err)
	} else if release == nil {
		return nil, nil
	}
	return func() { release(); <-s.gates[n] }, nil
}

// tryLock locks a file, which it makes if necessary. It returns nil without an error if another process has locked it.
func tryLock(name string) (unlock func(), err error) {
	f := flock.New(name)
	if ok, err := f.TryLock(); !ok || err != nil {
		return nil, err
	}
	return func() { _ = f.Unlock() }, nil // which also closes it
}
