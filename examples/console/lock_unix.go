//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package main

import (
	"os"
	"syscall"
)

// tryLock locks an open file, and reports false when another has it locked. Closing the file unlocks it.
func tryLock(f *os.File) (bool, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		for {
			failed = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
			if failed != syscall.EINTR {
				return
			}
		}
	})
	if err != nil {
		return false, err
	}
	if failed == syscall.EWOULDBLOCK {
		return false, nil
	}
	return failed == nil, failed
}
