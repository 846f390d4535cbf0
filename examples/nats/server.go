package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// serve is the server's process: it prints its address, and ends with ctx.
func serve(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("nats server", flag.ContinueOnError)
	dir := flags.String("dir", "", "")
	port := flags.Int("port", server.RANDOM_PORT, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s, err := server.NewServer(
		&server.Options{Host: "127.0.0.1", Port: *port, JetStream: true, StoreDir: *dir, NoLog: true, NoSigs: true},
	)
	if err != nil {
		return err
	}
	s.Start()
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	if !s.ReadyForConnections(20 * time.Second) {
		return errors.New("not ready after 20s: is the port taken, or the folder in use?")
	}
	fmt.Println(s.ClientURL())
	<-ctx.Done()
	return nil
}

// host is the server's process as the demonstration has it: only this machine reaches it.
type host struct {
	dir string
	url string

	mu      sync.Mutex
	process *exec.Cmd
}

func newHost(dir string) (*host, error) {
	h := &host{dir: dir}
	return h, h.start()
}

// start starts the server, at the address it had before.
func (h *host) start() error {
	args := []string{"server", "-dir", h.dir}
	if h.url != "" {
		u, err := url.Parse(h.url)
		if err != nil {
			return fmt.Errorf("server: %w", err)
		}
		args = append(args, "-port", u.Port())
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	p := exec.Command(self, args...)
	p.Env = append(os.Environ(), processEnv+"=1")
	p.Stderr = os.Stderr
	stdout, err := p.StdoutPipe()
	if err == nil {
		_, err = p.StdinPipe() // open for as long as this process lives
	}
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if err := p.Start(); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		p.Process.Kill()
		return fmt.Errorf("server: it did not start: %w", errors.Join(err, p.Wait()))
	}
	h.mu.Lock()
	h.url, h.process = strings.TrimSpace(line), p
	h.mu.Unlock()
	return nil
}

// kill ends the server as kill -9 does. It may be called again.
func (h *host) kill() {
	h.mu.Lock()
	p := h.process
	h.process = nil
	h.mu.Unlock()
	if p != nil {
		p.Process.Kill()
		p.Wait()
	}
}
