package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks an open file, and reports false when another has it locked. Closing the file unlocks it.
func tryLock(f *os.File) (bool, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
		behind := &windows.Overlapped{OffsetHigh: 1 << 20} // what is locked can't be read there, so it is beyond the end
		failed = windows.LockFileEx(windows.Handle(fd), flags, 0, 1, 0, behind)
	})
	if err != nil {
		return false, err
	}
	if failed == windows.ERROR_LOCK_VIOLATION {
		return false, nil
	}
	return failed == nil, failed
}
