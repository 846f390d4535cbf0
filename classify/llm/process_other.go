//go:build !unix

package llm

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func killGroup(leader *os.Process) { _ = leader.Kill() }
