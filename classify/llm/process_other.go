//go:build !unix

package llm

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
)

func ownGroup(*exec.Cmd) {}

// killGroup ends a process and those that it started.
func killGroup(leader *os.Process) error {
	if runtime.GOOS == "windows" && exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(leader.Pid)).Run() == nil {
		return nil
	}
	return leader.Kill()
}
