package filestore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"
)

const (
	lockFolder  = "locks"
	stripes     = 64 // locks that documents share
	journalLock = stripes
	lockCount   = stripes + 1

	firstPause   = 500 * time.Microsecond // between two tries to get a lock that another process has
	longestPause = 16 * time.Millisecond
)

func lockName(n int) string {
	if n == journalLock {
		return lockFolder + "/journal"
	}
	return fmt.Sprintf("%s/%02x", lockFolder, n)
}

// stripeOf returns the number of the lock of a document, by its key or by how the name of its file begins.
func stripeOf(key string) int {
	b, err := strconv.ParseUint(key[:2], 16, 8)
	if err != nil {
		return 0
	}
	return int(b) % stripes
}

// lock takes the lock with that number and returns what gives it back. It waits until ctx is done or LockTimeout is
// over.
func (s *Store) lock(ctx context.Context, root *os.Root, n int) (unlock func(), err error) {
	wait, cancel := context.WithTimeout(ctx, s.opts.LockTimeout)
	defer cancel()
	tooLate := func() error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("filestore: waiting for a lock: %w", err)
		}
		return &failure{ErrLocked, "lock", s.path(lockName(n)), errHeld}
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
	var f *os.File
	err = within(root, lockFolder, func() error {
		f, err = root.OpenFile(lockName(n), os.O_RDWR|os.O_CREATE, 0o600)
		return err
	})
	if err != nil {
		return nil, s.diskError("open", lockName(n), err)
	}
	ok, err := s.tryLock(f)
	if ok && err == nil {
		return func() { f.Close(); <-s.gates[n] }, nil
	}
	f.Close()
	if err != nil {
		err = &failure{ErrLocked, "lock", s.path(lockName(n)), err}
	}
	return nil, err
}
