package cmdwitness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// Config says where and within which bounds commands run. Dir is needed.
type Config struct {
	Dir     string        // the folder to run in
	Env     []string      // like [Command].Env
	Timeout time.Duration // of one command; 0 is [DefaultTimeout]

	// Keep is how many bytes of a command's output are in its fact; 0 is 16 KiB.
	Keep int

	// Only says which commands of a query this witness runs; nil is all. Leave out what another witness runs.
	Only func(command []string) bool

	// Tree identifies the content of the tree, as the witness of its files does; nil is to leave it unknown. An error of it
	// leaves it unknown too.
	Tree func(ctx context.Context) (string, error)
}

// Witness runs the commands of a query and reports how they fared. It is safe for concurrent use; commands of one query run one
// after another.
type Witness struct{ cfg Config }

var _ verify.Witness = (*Witness)(nil)

// New returns a witness, or what is wrong with cfg.
func New(cfg Config) (*Witness, error) {
	if cfg.Keep == 0 {
		cfg.Keep = 16 << 10
	}
	if err := (Command{Args: []string{"-"}, Dir: cfg.Dir, Timeout: cfg.Timeout, Keep: cfg.Keep}).check(); err != nil {
		return nil, fmt.Errorf("cmdwitness: %w", err)
	}
	return &Witness{cfg}, nil
}

// ReportFile stands in a command for the name of a file that it is to write its report to, as JUnit XML: "--junitxml={report}".
// The file is in a folder of its own that is removed after the run, so that no report of an earlier run is taken for this one's.
const ReportFile = "{report}"

// Look runs the commands of q and returns a fact for each.
//
// A command that writes a report, JUnit XML to [ReportFile] or TAP to its standard output, is Met when at least one test
// passed, none failed and it succeeded. One that reports no tests is Met when it succeeded (exit status 0), without a
// count. It is NotMet when a test failed, or with another exit status; but Unverified when that says that it did not run,
// or not to its end (124, 126, 127, and 128 and the number of a signal by which programs are stopped), as when it could
// not be started, its time was over, its report is broken, or no test in it passed.
//
// The error is the context's.
func (w *Witness) Look(ctx context.Context, q verify.Query) (verify.Facts, error) {
	var facts verify.Facts
	for _, command := range q.Commands {
		if len(command) == 0 || w.cfg.Only != nil && !w.cfg.Only(command) {
			continue
		}
		f, err := w.run(ctx, command)
		if err != nil {
			return facts, err
		}
		facts.Tests = append(facts.Tests, f)
	}
	return facts, nil
}

func (w *Witness) run(ctx context.Context, command []string) (verify.TestFact, error) {
	fact := verify.TestFact{Command: slices.Clone(command), Status: verify.Unverified}
	if w.cfg.Tree != nil {
		if tree, err := w.cfg.Tree(ctx); err == nil {
			fact.Tree = tree
		}
	}
	args, report, remove, err := withReport(command)
	if err != nil {
		fact.Why = "there is no room for its report: " + err.Error()
		return fact, ctx.Err()
	}
	defer remove()
	tail := NewTail(w.cfg.Keep)
	tap := NewTAP()
	r, err := Run(ctx, Command{
		Args: args, Dir: w.cfg.Dir, Env: w.cfg.Env, Timeout: w.cfg.Timeout, Keep: w.cfg.Keep, Stdout: both{tail, tap},
	})
	if start, ok := errors.AsType[*StartError](err); ok {
		fact.Why = strings.TrimPrefix(start.Error(), "cmdwitness: ")
		return fact, ctx.Err()
	} else if err != nil {
		return fact, err
	}
	fact.Took = r.Took
	fact.Output = joined(tail.String(), r.Output, w.cfg.Keep)
	judge(&fact, r, counted(report, tap))
	return fact, nil
}

// withReport returns a command with ReportFile replaced, the file if there is one, and what removes it.
func withReport(command []string) (args []string, report string, remove func(), err error) {
	args, remove = slices.Clone(command), func() {}
	if !slices.ContainsFunc(args[1:], func(a string) bool { return strings.Contains(a, ReportFile) }) {
		return args, "", remove, nil
	}
	folder, err := os.MkdirTemp("", "cmdwitness-")
	if err != nil {
		return nil, "", nil, err
	}
	report = filepath.Join(folder, "report.xml")
	for i := range args[1:] {
		args[i+1] = strings.ReplaceAll(args[i+1], ReportFile, report)
	}
	return args, report, func() { _ = os.RemoveAll(folder) }, nil
}

// tests is what a command reported of single tests.
type tests struct {
	Counts
	seen bool   // there is a report
	why  string // why there is none, where there should be
}

func counted(report string, tap *TAP) tests {
	if report == "" {
		c := tap.Counts()
		switch {
		case tap.version || tap.planned >= 0:
			return tests{Counts: c, seen: true}
		case c.Failed > 0:
			return tests{why: `it says "not ok", but without the plan that a TAP report has`}
		}
		return tests{} // many programs say ok
	}
	info, err := os.Lstat(report)
	if err != nil {
		return tests{why: "it wrote no report"}
	}
	if !info.Mode().IsRegular() {
		return tests{why: "its report is no regular file"}
	}
	f, err := os.Open(report)
	if err != nil {
		return tests{why: "its report cannot be read"}
	}
	defer f.Close()
	c, err := ReadJUnit(f)
	if err != nil {
		return tests{why: strings.TrimPrefix(err.Error(), "cmdwitness: ")}
	}
	return tests{Counts: c, seen: true}
}

// judge says what a run comes to.
func judge(fact *verify.TestFact, r Result, t tests) {
	if t.seen {
		fact.Counted = t.Total() > 0
		fact.Passed, fact.Failed, fact.Skipped, fact.Total = t.Passed, t.Failed, t.Skipped, t.Total()
		fact.Failures = t.Failures
	}
	switch {
	case t.Failed > 0:
		fact.Status, fact.Why = verify.NotMet, fmt.Sprintf("%d of %d tests failed", t.Failed, t.Total())
	case r.Stopped:
		fact.Why = r.Why
	case r.Why != "":
		fact.Status, fact.Why = verify.NotMet, r.Why
	case r.Exit == 126 || r.Exit == 127:
		fact.Why = fmt.Sprintf("it could not be run: exit status %d", r.Exit)
	case r.Exit == 124 || r.Exit > 128 && stops(r.Exit-128):
		fact.Why = fmt.Sprintf("it was interrupted: exit status %d", r.Exit)
	case r.Exit != 0:
		fact.Status, fact.Why = verify.NotMet, fmt.Sprintf("it ended with exit status %d", r.Exit)
	case t.why != "":
		fact.Why = t.why
	case t.seen && t.Broken != "":
		fact.Why = "its report cannot be taken at its word: " + t.Broken
	case t.seen && t.Passed == 0:
		fact.Why = "no test passed, and none failed"
	default:
		fact.Status = verify.Met
	}
}

// both writes to two writers that never fail.
type both [2]interface{ Write([]byte) (int, error) }

func (b both) Write(p []byte) (int, error) {
	_, _ = b[0].Write(p)
	return b[1].Write(p)
}

// joined returns the ends of both outputs, in at most max bytes.
func joined(stdout, stderr string, max int) string {
	t := NewTail(max)
	_, _ = t.Write([]byte(stdout))
	if stdout != "" && stderr != "" && !strings.HasSuffix(stdout, "\n") {
		_, _ = t.Write([]byte("\n"))
	}
	if half := max / 2; len(stderr) > half {
		stderr = strings.ToValidUTF8(stderr[len(stderr)-half:], "")
	}
	_, _ = t.Write([]byte(stderr))
	return t.String()
}
