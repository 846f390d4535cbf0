//go:build unix

package llm

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes a command that has not started yet the leader of a process group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killGroup ends every process of the group.
func killGroup(leader *os.Process) error {
	err := syscall.Kill(-leader.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) { // gone; macOS says EPERM if only zombies are left
		return os.ErrProcessDone
	}
	return err
}
