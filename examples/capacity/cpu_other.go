//go:build !unix

package main

import "time"

var started = time.Now()

// cpu is the time on the clock, which is more than the processor's where others use it too.
func cpu() time.Duration { return time.Since(started) }
