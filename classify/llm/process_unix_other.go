//go:build unix && !linux

package llm

import "syscall"

func endWithUs(*syscall.SysProcAttr) {}
