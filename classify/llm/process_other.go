//go:build !unix

package llm

import (
	"os"
	"os/exec"
	"strconv"
)

func ownGroup(*exec.Cmd) {}

// killGroup ends the leader and, on Windows, what it started.
func killGroup(leader *os.Process) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(leader.Pid)).Run()
	_ = leader.Kill()
}
