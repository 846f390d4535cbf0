//go:build !unix

package llm

import (
	"os"
	"os/exec"
	"strconv"
)

func ownGroup(*exec.Cmd) {}

func killRest(*os.Process) {} // the leader is gone, and nothing tells what it started

// killGroup ends the leader and, on Windows, what it started.
func killGroup(leader *os.Process) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(leader.Pid)).Run()
	_ = leader.Kill()
}
