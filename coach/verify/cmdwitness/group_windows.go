package cmdwitness

import (
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object: a process and those that it starts once it is in the job.
type group struct {
	cmd *exec.Cmd
	job windows.Handle
}

// newGroup makes a job for a command that has not started yet.
func newGroup(cmd *exec.Cmd) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	return &group{cmd: cmd, job: job}, nil
}

// started puts the command, which has just started, into the job.
func (g *group) started(bool) error {
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(g.cmd.Process.Pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(p)
	return windows.AssignProcessToJobObject(g.job, p)
}

// kill ends every process of the job, and the command if it is not in it.
func (g *group) kill() error {
	_ = windows.TerminateJobObject(g.job, 1)
	return g.cmd.Process.Kill()
}

// end kills what is left of the job.
func (g *group) end() { _ = windows.CloseHandle(g.job) }

// signal is for systems with signals.
func signal(*exec.Cmd) (name string, stopped bool) { return "", false }
