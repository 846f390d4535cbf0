//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpu is the processor's time that this process has used.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err) // it has no other reason than a bad address
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
