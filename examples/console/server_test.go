package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the program, so that it can be killed.
func TestMain(m *testing.M) {
	if os.Getenv("CONSOLE_SERVE") != "" {
		os.Unsetenv("CONSOLE_SERVE")
		main()
		return
	}
	code := m.Run()
	closeBrowser()
	os.Exit(code)
}

// server is the program, running.
type server struct {
	t     *testing.T
	dir   string
	addr  string
	cmd   *exec.Cmd
	links map[string]string // by auditor
}

func serve(t *testing.T) *server {
	t.Helper()
	return serveFrom(t, t.TempDir())
}

// serveFrom serves what a folder holds already.
func serveFrom(t *testing.T, dir string) *server {
	t.Helper()
	s := &server{t: t, dir: dir, addr: "127.0.0.1:0"}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *server) start() {
	s.t.Helper()
	self, err := os.Executable()
	require.NoError(s.t, err)
	s.cmd = exec.CommandContext(context.Background(), self, "-addr", s.addr, "-dir", s.dir, "-auditors", "ann,ben",
		"-pace", "1ms")
	s.cmd.Env = append(os.Environ(), "CONSOLE_SERVE=1")
	log, err := os.OpenFile(filepath.Join(s.dir, "stderr"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(s.t, err)
	defer log.Close()
	s.cmd.Stderr = log // not ours: a test run waits until everybody has closed that
	out, err := s.cmd.StdoutPipe()
	require.NoError(s.t, err)
	require.NoError(s.t, s.cmd.Start())
	s.links = make(map[string]string)
	lines := bufio.NewScanner(out)
	for len(s.links) < 2 && lines.Scan() {
		if name, link, ok := strings.Cut(lines.Text(), ": http"); ok {
			s.links[name] = "http" + link
		}
	}
	require.Len(s.t, s.links, 2, "the program printed no links")
	s.addr = strings.Split(s.links["ann"], "/")[2]
	go func() {
		for lines.Scan() { // so that it never waits for a reader
		}
	}()
}

// kill ends the program as a loss of power would.
func (s *server) kill() {
	if s.cmd != nil {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		s.cmd = nil
	}
}

// journal returns what the program has written down.
func (s *server) journal() string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, "journal.jsonl"))
	require.NoError(s.t, err)
	return string(data)
}
