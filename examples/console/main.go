// Command console is a host with a page on which a person approves, edits or denies what an agent does: each message
// before it is sent, each tool call before it is executed, each answer before it is shown.
//
//	go run .                                   # prints a link; open it and write, for example: import my weights
//	go run . -auditors ann,ben                 # one link for each; a link works once
//	go run . -notify "notify-send sidecoach"   # runs this for each thing that waits
//
// The agent is scripted: no key, no network. It reads a profile, which the rules allow. It saves and deletes weights,
// which the rules ask about. Try also: delete the wrong weight; tell me about my profile; be hostile.
//
// The program journals everything in -dir before it happens. Kill it at any moment and start it again: what waited
// still waits, and who was signed in still is. Press Enter for new links.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/autocontinue/gate/console"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "console:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	fs := flag.NewFlagSet("console", flag.ContinueOnError)
	addr := fs.String("addr", "127.0.0.1:8484", "where to listen; a loopback `address`")
	dir := fs.String("dir", stateDir(), "`folder` of the journal, the rules, the sign-ins and the loop's state")
	auditors := fs.String("auditors", me(), "`names` of those who get a link, with commas between")
	notify := fs.String("notify", "", "`command` to run for each thing that waits; its last argument says what waits")
	pace := fs.Duration("pace", 700*time.Millisecond, "how long the agent thinks before each step")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: there are flags only, see -help", fs.Arg(0))
	}
	// Before the journal is touched: a second program on the same address stops here.
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer l.Close()
	if ip := l.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		return fmt.Errorf("%s is not a loopback address: this example has no TLS, so it serves this machine only", *addr)
	}
	if err := os.MkdirAll(*dir, 0o700); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	h, err := open(*dir, *pace, out)
	if err != nil {
		return err
	}
	defer h.close()
	page, err := console.New(console.Config{
		Session: h.session, Submit: h.submit, SignIns: filepath.Join(*dir, "sign-ins.json"),
		PolicyFile: filepath.Join(*dir, "policy.json"), Tools: toolNames(), Schema: formOf,
	})
	if err != nil {
		return err
	}
	defer page.Close()
	for _, warning := range h.session.Policy().Warnings() {
		fmt.Fprintln(out, "warning:", warning)
	}

	invite := func() error {
		for name := range strings.SplitSeq(*auditors, ",") {
			link, err := page.Invite(strings.TrimSpace(name))
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s: http://%s%s\n", strings.TrimSpace(name), l.Addr(), link)
		}
		return nil
	}
	if err := invite(); err != nil {
		return err
	}
	go func() {
		for lines := bufio.NewScanner(in); lines.Scan(); {
			invite() // the names were good before
		}
	}()
	if *notify != "" {
		defer h.session.Watch(func(e gate.Event) { h.notify(strings.Fields(*notify), e) })()
	}
	mux := http.NewServeMux()
	mux.Handle("/{$}", http.RedirectHandler(page.Path()+"/", http.StatusFound))
	mux.Handle(page.Path(), page)
	mux.Handle(page.Path()+"/", page)
	srv := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 32 << 10,
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h.start(ctx)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	page.Close()
	end, cancelEnd := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancelEnd()
	return srv.Shutdown(end)
}

// stateDir returns the folder for what must outlive a restart. A cache may be emptied at any time.
func stateDir() string {
	dir := os.Getenv("XDG_STATE_HOME")
	switch home, err := os.UserHomeDir(); {
	case runtime.GOOS == "windows":
		dir = os.Getenv("LocalAppData")
	case err != nil:
	case runtime.GOOS == "darwin":
		dir = filepath.Join(home, "Library", "Application Support")
	case !filepath.IsAbs(dir):
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "sidecoach-console")
}

// notify runs a command for an item that waits.
func (h *host) notify(command []string, e gate.Event) {
	it, _ := h.session.Item(e.Item)
	if e.Status() != gate.Pending || it.Status != gate.Pending {
		return
	}
	what := plaintext.Visible(fmt.Sprintf("%s waits: %s", cmp.Or(it.Tool, string(it.Kind)), it.Label))
	h.turns.Go(func() {
		args := append(slices.Clone(command[1:]), what)
		if err := exec.CommandContext(h.ctx, command[0], args...).Run(); err != nil && h.ctx.Err() == nil {
			fmt.Fprintf(h.out, "notify: %v\n", err)
		}
	})
}

func me() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "auditor"
}
