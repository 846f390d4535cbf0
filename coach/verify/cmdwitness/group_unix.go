//go:build unix

package cmdwitness

import (
	"os/exec"
	"syscall"
)

// group is a process and those that it starts, unless they leave its process group.
type group struct{ cmd *exec.Cmd }

// newGroup makes a command that has not started yet the leader of a group.
func newGroup(cmd *exec.Cmd) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &group{cmd}, nil
}

// started tells that the command has started.
func (g *group) started() error { return nil }

// kill ends every process of the group.
func (g *group) kill() error {
	if g.cmd.Process == nil {
		return nil
	}
	err := syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
	if err == syscall.ESRCH || err == syscall.EPERM { // gone; on macOS EPERM says that all that is left are zombies
		return nil
	}
	return err
}

// end kills what is left of the group once its leader is gone.
func (g *group) end() { _ = g.kill() }

// signal returns the name of the signal that ended a process, and whether it is one by which somebody stops a program.
func signal(state *exec.Cmd) (name string, stopped bool) {
	ws, ok := state.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return "", false
	}
	return ws.Signal().String(), stops(int(ws.Signal()))
}
