//go:build unix

package llm

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes a command that has not started yet the leader of a process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killRest ends what is left of the group after its leader has ended.
func killRest(leader *os.Process) { killGroup(leader) }

// killGroup ends every process of the group, if any is left.
func killGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }
