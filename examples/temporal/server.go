package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// buildServer builds the server beside this program into a folder. The first time that takes minutes: it is a whole
// Temporal.
func buildServer(ctx context.Context, dir string) (string, error) {
	if _, err := os.Stat(filepath.Join("server", "go.mod")); err != nil {
		return "", errors.New(
			"no server beside this program: run it in examples/temporal, or give the -address of one that runs",
		)
	}
	path, err := filepath.Abs(filepath.Join(dir, "server.exe"))
	if err != nil {
		return "", err
	}
	fmt.Fprintln(os.Stderr, "building the server; the first time this takes minutes")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, ".")
	build.Dir, build.Env = "server", append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return path, nil
}

// server is a Temporal server that is a process of ours.
type server struct {
	cmd   *exec.Cmd
	stdin io.Closer
	where where
}

// serve starts the server at path and waits until it says where it is.
func serve(path string) (*server, error) {
	cmd := exec.Command(path)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	s := &server{cmd: cmd, stdin: stdin}
	gone := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	gone.Stop()
	var at struct{ Address, Namespace string }
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("the server does not say where it is: %w", err)
	}
	s.where = where{address: at.Address, namespace: at.Namespace, queue: "sidecoach"}
	return s, nil
}

// stop ends the server.
func (s *server) stop() {
	s.stdin.Close()
	gone := time.AfterFunc(10*time.Second, func() { s.cmd.Process.Kill() })
	defer gone.Stop()
	_ = s.cmd.Wait() // how it ended is nobody's interest
}
