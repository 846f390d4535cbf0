//go:build unix && !linux

package session

import "syscall"

func dieTogether(*syscall.SysProcAttr) {}
