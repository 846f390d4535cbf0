// Command capacity measures what deciding about a pause costs, on this machine and on outputs of yours, and works out
// what 10,000, 1 million and 100 million pauses a day come to: with the heuristic alone, with an LLM where the
// heuristic is not certain (the cascade), and with an LLM for each.
//
//	go run ./examples/capacity                             on the shipped cases that no weight was fitted on
//	go run ./examples/capacity -cases 'my/*.jsonl'         on cases of yours, see the docs of classify/evaluate
//	go run ./examples/capacity -price 0.40,0.10,1.60       with the money: a million tokens in, in again from the cache, and back
//
// It asks no LLM and needs no network: of each call it counts the tokens that would be sent. How long an answer is, it
// is told.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/classify/evaluate"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

type options struct {
	cases   string
	certain float64
	answer  int
	price   price
	each    time.Duration
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("capacity", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.cases, "cases", filepath.Join("classify", "testdata", "heldout.jsonl"), "case `files`, a pattern")
	flags.Float64Var(&o.certain, "certain", 0.86, "`confidence` of the heuristic at which the cascade asks no LLM")
	flags.IntVar(&o.answer, "answer", 100, "`tokens` of an answer; models that reason take more")
	flags.Var(&o.price, "price", "of a million tokens: `in,cached,out`")
	flags.DurationVar(&o.each, "each", 2*time.Second, "measure each step for that `time`")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if err := o.check(flags.Args()); err != nil {
		fmt.Fprintln(stderr, "capacity:", err)
		return 2
	}
	if err := o.measure(ctx, stdout); err != nil {
		fmt.Fprintln(stderr, "capacity:", err)
		return 1
	}
	return 0
}

func (o options) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q: everything is a flag, see -h", rest[0])
	case !(o.certain >= 0 && o.certain <= 1):
		return errors.New("-certain is 0 to 1")
	case o.answer < 0:
		return errors.New("-answer is not below 0")
	case o.each <= 0:
		return errors.New("-each is above 0")
	}
	return nil
}

func (o options) measure(ctx context.Context, w io.Writer) error {
	dir, pattern := filepath.Split(o.cases)
	if dir == "" {
		dir = "."
	}
	cases, err := evaluate.LoadCases(os.DirFS(dir), pattern)
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		return fmt.Errorf("no case in %s: see the docs of classify/evaluate for their form", o.cases)
	}
	s, err := speeds(ctx, cases, o.each)
	if err != nil {
		return err
	}
	kept, err := sessions(ctx, cases)
	if err != nil {
		return err
	}
	t, err := tokens(ctx, cases, o.certain)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, report{s, kept, t, o.answer, o.price}.String())
	return err
}

// price is what a million tokens cost.
type price struct {
	set             bool
	in, cached, out float64
}

func (p *price) String() string {
	if p == nil || !p.set {
		return ""
	}
	return fmt.Sprint(p.in, ",", p.cached, ",", p.out)
}

func (p *price) Set(s string) error {
	fields := strings.Split(s, ",")
	if len(fields) != 3 {
		return errors.New("it takes three numbers, such as 0.40,0.10,1.60")
	}
	for i, to := range []*float64{&p.in, &p.cached, &p.out} {
		v, err := strconv.ParseFloat(strings.TrimSpace(fields[i]), 64)
		if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return fmt.Errorf("%q is no price", fields[i])
		}
		*to = v
	}
	p.set = true
	return nil
}
