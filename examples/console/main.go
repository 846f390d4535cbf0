// Command console is a host with a page on which a human approves, edits or denies what its agent does: each message before
// it is sent, each tool call before it is executed, each answer before it is shown.
//
//	go run .                       # prints a link; open it and write, for example: import my weights
//	go run . -auditors ann,ben     # one link each
//
// The agent is scripted: no key, no network. It reads a profile, which the rules allow, and saves and deletes weights,
// which they ask about. Try also: delete the wrong weight; tell me about my profile; be hostile.
//
// Everything is journaled in -dir before it happens. Kill the program at any moment and start it again: what waited still
// waits, the links of before are dead, and who was signed in still is.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate/console"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "console:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("console", flag.ContinueOnError)
	addr := fs.String("addr", "127.0.0.1:8484", "where to listen; a loopback `address`")
	dir := fs.String("dir", defaultDir(), "`folder` of the journal, the rules and the loop's state")
	auditors := fs.String("auditors", me(), "`names`, with commas between, of who gets a link")
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
		PolicyFile: filepath.Join(*dir, "policy.json"), Tools: toolNames(),
	})
	if err != nil {
		return err
	}
	defer page.Close()

	for _, name := range strings.Split(*auditors, ",") {
		link, err := page.Invite(strings.TrimSpace(name))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: http://%s%s\n", strings.TrimSpace(name), l.Addr(), link)
	}
	mux := http.NewServeMux()
	mux.Handle(page.Path(), page)
	mux.Handle(page.Path()+"/", page)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 32 << 10}

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

func defaultDir() string {
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "sidecoach-console")
	}
	return "sidecoach-console"
}

func me() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "auditor"
}
