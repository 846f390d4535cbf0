// Command otel plays turns of coding agents through a sidecoach loop that is observed with OpenTelemetry (package
// sidecoachotel), and exports what it sees:
//
//	go run .                                                      every turn once; spans and metrics as JSON lines
//	OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 go run .    the same, to a collector, by OTLP over HTTP
//	go run . -listen localhost:9464                               turn after turn, until interrupted; /metrics for Prometheus
//
// The heuristic is the real one. The model, the verifier and the faults of the store are played, so that every panel of
// dashboard.json has something to show.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/examples/otel/sidecoachotel"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// settings are what the flags say.
type settings struct {
	listen string
	every  time.Duration
	rounds int
}

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	var s settings
	flags := flag.NewFlagSet("otel", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.listen, "listen", "",
		"serve /metrics for Prometheus at that `address` (instead of printing), and play until interrupted")
	flags.DurationVar(&s.every, "every", 300*time.Millisecond, "with -listen, the `time` from one turn to the next")
	flags.IntVar(&s.rounds, "rounds", 0,
		"play every turn that `number` of times; 0 is once or, with -listen, until interrupted")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	switch {
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "otel: unexpected argument %q: everything is a flag, see -h\n", flags.Arg(0))
		return 2
	case s.rounds < 0, s.every < 0:
		fmt.Fprintln(stderr, "otel: -rounds and -every are not below 0")
		return 2
	}
	if err := s.play(ctx, getenv, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "otel:", err)
		return 1
	}
	return 0
}

func (s settings) play(ctx context.Context, getenv func(string) string, stdout, stderr io.Writer) (err error) {
	x, err := newExport(ctx, s.listen != "", getenv, stdout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.shutdown()) }()
	if s.listen != "" {
		l, err := net.Listen("tcp", s.listen)
		if err != nil {
			return fmt.Errorf("-listen: %w", err)
		}
		defer x.serve(l)()
		fmt.Fprintf(stderr, "metrics: http://%s/metrics\n", l.Addr())
	}

	observer, err := sidecoachotel.New(
		sidecoachotel.Config{TracerProvider: x.traces, MeterProvider: x.metrics, Model: model},
	)
	if err != nil {
		return err
	}
	t, err := newSimulation()
	if err != nil {
		return err
	}
	ac, err := autocontinue.New(observer.Instrument(t.config()))
	if err != nil {
		return err
	}
	rounds := s.rounds
	if rounds == 0 && s.listen == "" {
		rounds = 1
	}
	for n := 0; (rounds == 0 || n < rounds*len(turns)) && ctx.Err() == nil; n++ {
		t.play(ctx, ac, n)
		if s.listen != "" {
			wait(ctx, s.every)
		}
	}
	fmt.Fprintf(stderr, "%d outputs decided about, %d of them with an error of the played store\n", t.decided, t.failed)
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
