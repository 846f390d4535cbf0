package llm

import "syscall"

// endWithUs has the system end the program if this process is killed.
func endWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
