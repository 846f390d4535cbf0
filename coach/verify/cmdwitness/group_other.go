//go:build !unix && !windows

package cmdwitness

import "os/exec"

// group is the process alone, where there are no groups.
type group struct{ cmd *exec.Cmd }

func newGroup(cmd *exec.Cmd) (*group, error) { return &group{cmd}, nil }

func (g *group) started(bool) error { return nil }

func (g *group) kill() error { return g.cmd.Process.Kill() }

func (g *group) end() {}

func signal(*exec.Cmd) (name string, stopped bool) { return "", false }
