//go:build !unix

package main

import (
	"errors"
	"os"
)

func stopProcess(*os.Process) error { return errors.ErrUnsupported }

func continueProcess(*os.Process) error { return errors.ErrUnsupported }

// wasKilled takes every end that is not a good one for a kill: other systems do not say.
func wasKilled(s *os.ProcessState) bool { return !s.Success() }
