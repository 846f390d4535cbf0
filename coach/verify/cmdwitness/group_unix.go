//go:build unix

package cmdwitness

import (
	"os/exec"
	"strconv"
	"syscall"
)

// group is a process and those that it starts, unless they leave its process group.
type group struct{ cmd, watchdog *exec.Cmd }

// newGroup makes a command that has not started yet the leader of a group.
func newGroup(cmd *exec.Cmd) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &group{cmd: cmd}, nil
}

// started starts the watchdog: a shell that waits for the end of a pipe that this process holds open. When this process
// is killed, the pipe ends, and the shell kills the group.
func (g *group) started(brief bool) error {
	if brief {
		return nil
	}
	watchdog := exec.Command("/bin/sh", "-c", `read line; kill -9 -"$1"`, "sh", strconv.Itoa(g.cmd.Process.Pid))
	watchdog.Env = []string{"PATH=/bin:/usr/bin"}
	watchdog.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	_, err := watchdog.StdinPipe() // the pipe; Wait closes it
	if err == nil {
		err = watchdog.Start()
	}
	if err == nil {
		g.watchdog = watchdog
	}
	return err
}

func (g *group) kill() error {
	if g.cmd.Process == nil {
		return nil
	}
	return syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
}

// end kills what is left of the group once its leader is gone.
func (g *group) end() {
	_ = g.kill()
	if g.watchdog != nil { // before its pipe ends: the number of the group may have a new owner by then
		_ = g.watchdog.Process.Kill()
		_ = g.watchdog.Wait()
	}
}

// signal returns the name of the signal that ended a process, and whether it stopped the program from outside.
func signal(state *exec.Cmd) (name string, stopped bool) {
	ws, ok := state.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return "", false
	}
	return ws.Signal().String(), stops(int(ws.Signal()))
}
