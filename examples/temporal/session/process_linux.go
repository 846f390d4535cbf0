package session

import "syscall"

func dieTogether(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
