package filestore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
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

var errHeld = errors.New("another process has held the lock for too long")

func lockName(n int) string {
	if n == journalLock {
		return lockFolder + "/journal"
	}
	return fmt.Sprintf("%s/%02x", lockFolder, n)
}

// lock takes the lock with that number and returns a function that releases it. It waits until ctx is done or LockTimeout
// is over; for the journal's lock it waits at most journalWait.
func (s *Store) lock(ctx context.Context, root *os.Root, n int) (unlock func(), err error) {
	timeout := s.opts.LockTimeout
	if n == journalLock {
		timeout = min(timeout, journalWait)
	}
	wait, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	late := func() error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("filestore: waiting for a lock: %w", err)
		}
		return &Error{ErrLocked, "lock", s.path(lockName(n)), errHeld}
	}
	select {
	case s.gates[n] <- struct{}{}:
	case <-wait.Done():
		return nil, late()
	}
	var f *os.File
	release := func() {
		if f != nil {
			f.Close()
		}
		<-s.gates[n]
	}
	defer func() {
		if unlock == nil {
			release()
		}
	}()
	if f, err = openLock(root, n); err != nil {
		return nil, s.diskError("open", lockName(n), err)
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		ok, err := tryLock(f)
		if err != nil {
			return nil, &Error{ErrLocked, "lock", s.path(lockName(n)), err}
		}
		if ok {
			return release, nil
		}
		t := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-t.C:
		case <-wait.Done():
			t.Stop()
			return nil, late()
		}
	}
}

// lockNow takes the lock if nobody has it; otherwise it returns nil.
func (s *Store) lockNow(root *os.Root, n int) (unlock func()) {
	select {
	case s.gates[n] <- struct{}{}:
	default:
		return nil
	}
	f, err := openLock(root, n)
	if err == nil {
		if ok, err := tryLock(f); ok && err == nil {
			return func() { f.Close(); <-s.gates[n] }
		}
		f.Close()
	}
	<-s.gates[n]
	return nil
}

func openLock(root *os.Root, n int) (f *os.File, err error) {
	err = within(root, lockFolder, func() error {
		f, err = root.OpenFile(lockName(n), os.O_RDWR|os.O_CREATE, 0o600)
		return err
	})
	return f, err
}
