package gowitness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// Config says where and within which bounds go test runs. Dir is needed.
type Config struct {
	Dir     string        // the folder to run in
	Env     []string      // like [Options].Env
	Timeout time.Duration // of one command; 0 is [cmdwitness.DefaultTimeout]
	Keep    int           // bytes of output in a fact; 0 is 16 KiB

	// Tree identifies the content of the tree, as the witness of its files does; nil is to leave it unknown. An error of it
	// leaves it unknown too.
	Tree func(ctx context.Context) (string, error)
}

// Witness runs the go test commands of a query. It is safe for concurrent use; commands of one query run one after another.
type Witness struct{ cfg Config }

var _ verify.Witness = (*Witness)(nil)

// New returns a witness, or what is wrong with cfg.
func New(cfg Config) (*Witness, error) {
	if err := cfg.options().check(); err != nil {
		return nil, err
	}
	return &Witness{cfg}, nil
}

func (c Config) options() Options {
	return Options{Dir: c.Dir, Env: c.Env, Timeout: c.Timeout, Keep: c.Keep}
}

func (o Options) check() error {
	switch {
	case o.Dir == "":
		return errors.New("gowitness: the folder to run in is not set")
	case o.Timeout < 0:
		return errors.New("gowitness: the timeout is negative")
	case o.Keep < 0:
		return errors.New("gowitness: the output to keep is negative")
	}
	return nil
}

// Look runs the commands of q that are go test ([IsGoTest]), and returns a fact for each; the package says which status it has.
// Total, Passed, Failed and Skipped count test functions (tests, fuzz tests, examples), each once; subtests are named among
// the failures, and counted in PartsPassed. The error is the context's.
func (w *Witness) Look(ctx context.Context, q verify.Query) (verify.Facts, error) {
	var facts verify.Facts
	for _, command := range q.Commands {
		if !IsGoTest(command) {
			continue
		}
		fact := verify.TestFact{Command: slices.Clone(command), Status: verify.Unverified}
		if w.cfg.Tree != nil {
			if tree, err := w.cfg.Tree(ctx); err == nil {
				fact.Tree = tree
			}
		}
		o, err := Run(ctx, command, w.cfg.options())
		if err != nil {
			return facts, err
		}
		o.fill(&fact)
		facts.Tests = append(facts.Tests, fact)
	}
	return facts, nil
}

// fill writes the outcome to a fact.
func (o Outcome) fill(f *verify.TestFact) {
	switch o.Verdict {
	case Passed:
		f.Status = verify.Met
	case Failed:
		f.Status = verify.NotMet
	}
	f.Passed, f.Failed, f.Skipped = o.Passed, o.Failed, o.Skipped
	f.Total = f.Passed + f.Failed + f.Skipped
	f.Counted, f.PartsPassed = f.Total > 0, o.SubPassed
	for _, failure := range o.Failures {
		f.Failures = append(f.Failures, failure.String())
	}
	f.Output, f.Why, f.Took = o.Output, o.Why, o.Took
}

// String names what failed: "TestA/case (example.org/pkg)".
func (f Failure) String() string {
	if f.Test == "" {
		return f.Package
	}
	return fmt.Sprintf("%s (%s)", f.Test, f.Package)
}
