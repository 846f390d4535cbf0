package cmdwitness

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
	"github.com/sidecoach/sidecoach/coach/verify/internal/project"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testoutput"
)

// Witness runs the commands of a query. Dir is needed. It is safe for concurrent use.
type Witness struct {
	Dir     string
	Env     []string      // the whole environment; nil: what the zero [Environment] leaves of this process's
	Timeout time.Duration // of one command; 0 is [DefaultTimeout]

	exec func(context.Context, Command) (Result, error) // nil is Run
}

//go:embed patterns.txt
var patternsText string

var lex = lazy.Load(patternsText)

var _ verify.Witness = (*Witness)(nil)

// reportFile stands in a command for the name of a file that it writes its report to, as JUnit XML:
// "--junitxml={report}". The file is in a new folder that is removed after the run.
const reportFile = "{report}"

const (
	keepRead = 4 << 20  // bytes of output in which counts are looked for
	keepShow = 16 << 10 // bytes of output in a fact
)

// Look runs the commands of q, one after another, and returns a fact for each.
//
// A command is Met when it ended with status 0, and its report, if it has one, shows that tests passed and none
// failed. It is NotMet when a test failed, or with another status. It is Unverified when it did not run to its end,
// is not there, ran no test, or has a report that cannot be believed. The report is JUnit XML in "{report}" or
// where pytest, Maven and Gradle write it, the Test Anything Protocol, or the summary of a test runner in the output.
//
// Of go test, each package counts. A failed build is NotMet. It is Unverified when all tests of a package were skipped,
// a package says ok without a test, a test never ended, or go or a module is not installed.
//
// Look also says which commands of q.Claimed the project does not have: a script of package.json, a target of a
// Makefile. The error is the context's.
func (w *Witness) Look(ctx context.Context, q verify.Query) (verify.Facts, error) {
	var facts verify.Facts
	for _, command := range q.Claimed {
		if why := project.Lacks(os.DirFS(w.Dir), command); why != "" {
			facts.Missing = append(facts.Missing, verify.Run{Command: command, Exit: -1, Why: why})
		}
	}
	for _, command := range q.Commands {
		if len(command) == 0 {
			continue
		}
		r, err := w.Run(ctx, command)
		if err != nil {
			return facts, err
		}
		facts.Runs = append(facts.Runs, r)
	}
	return facts, nil
}

// Run runs one command, as Look does. The error is the context's, or says what is wrong with w.
func (w *Witness) Run(ctx context.Context, command []string) (verify.Run, error) {
	run := verify.Run{Command: slices.Clone(command), Status: verify.Unverified, Exit: -1}
	if flags := goTestFlags(command); flags > 0 {
		return w.goTest(ctx, run, slices.Insert(slices.Clone(command), flags, "-json", "-count=1"))
	}
	folder, err := os.MkdirTemp("", "cmdwitness-")
	if err != nil {
		run.Why = "there is no room for its report"
		return run, ctx.Err()
	}
	defer os.RemoveAll(folder)
	report := filepath.Join(folder, "report.xml")
	args := slices.Clone(command)
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, reportFile, report)
	}
	own := !slices.Equal(args, command)
	line := strings.Join(command, " ")
	if !own && lex("Pytest").Match(line) && !lex("PytestReport").Match(line) {
		args = append(args, "--junitxml="+report)
	}
	stdout, begun := &tail{max: keepRead}, time.Now()
	r, err := w.start(ctx, &run, Command{Args: args, Keep: keepRead, Stdout: stdout})
	if err != nil {
		return run, err
	}
	out, errs := stdout.String(), r.Output
	run.Output = shown(out, errs)
	out, errs = testoutput.ShortLines(out), testoutput.ShortLines(errs)
	files := freshReports(w.Dir, command, begun)
	if fileExists(report) {
		files = []string{report}
	}
	counts, counted := testoutput.Read(out)
	fault := ""
	switch {
	case len(files) > 0:
		counts, fault = readReports(files)
		counted = fault == ""
	case own:
		counts, counted, fault = testoutput.Counts{}, false, "it wrote no report"
	case !counted:
		counts, counted = testoutput.Read(errs)
	}
	judge(&run, r, counts, counted, fault, out+"\n"+errs)
	return run, nil
}

func (w *Witness) start(ctx context.Context, run *verify.Run, cmd Command) (Result, error) {
	cmd.Dir, cmd.Env, cmd.Timeout = w.Dir, w.Env, w.Timeout
	exec := w.exec
	if exec == nil {
		exec = Run
	}
	r, err := exec(ctx, cmd)
	run.Took, run.Exit = r.Took, r.Exit
	return r, err
}

// readReports returns the counts of reports, or says what is wrong with one.
func readReports(files []string) (counts testoutput.Counts, fault string) {
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return counts, "its report cannot be read"
		}
		err = counts.ReadJUnit(f)
		f.Close()
		if err != nil {
			return counts, err.Error()
		}
	}
	return counts, ""
}

// freshReports returns the JUnit files that Maven or Gradle wrote since a run began.
func freshReports(dir string, command []string, since time.Time) []string {
	program := project.Program(command)
	if !strings.HasPrefix(program, "mvn") && !strings.HasPrefix(program, "gradle") {
		return nil
	}
	var files []string
	for _, place := range lex("ReportPlaces").Words {
		found, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(place)))
		files = append(files, found...)
	}
	return slices.DeleteFunc(files, func(name string) bool {
		info, err := os.Stat(name)
		return err != nil || info.ModTime().Before(since.Truncate(time.Second))
	})
}

func judge(run *verify.Run, r Result, c testoutput.Counts, counted bool, fault, output string) {
	if counted {
		run.Counted = !c.Partial && c.Total() > 0
		run.Passed, run.Failed, run.Skipped, run.Total = c.Passed, c.Failed, c.Skipped, c.Total()
		run.Failures, run.Passes, run.Parts = c.Failures, c.Passes, c.More
	}
	failed, lacks := fmt.Sprintf("%d of %d tests failed", c.Failed, c.Total()), ""
	if c.Partial {
		failed = "tests failed"
	}
	if r.Exit != 0 {
		lacks = strings.TrimSpace(lex("NotThere").Regexp().FindString(output))
	}
	lists := lex("Formatters").Has(project.Program(run.Command)) && slices.Contains(run.Command, "-l")
	run.Status, run.Why = firstOf([]verdict{
		{c.Failed > 0, verify.NotMet, failed},
		{lists && strings.TrimSpace(output) != "" && r.Exit == 0, verify.NotMet, "it lists files that are not formatted"},
		{r.Stopped, verify.Unverified, r.Why},
		{r.Why != "", verify.NotMet, r.Why},
		{lacks != "", verify.Unverified, "there is nothing to run: " + lacks},
		{counted && c.Total() == 0 && fault == "", verify.Unverified, "it ran no test"},
		{r.Exit == 126 || r.Exit == 127, verify.Unverified, fmt.Sprintf("it could not be run: exit status %d", r.Exit)},
		{r.Exit == 124 || r.Exit > 128 && stops(r.Exit-128), verify.Unverified,
			fmt.Sprintf("it was interrupted: exit status %d", r.Exit)},
		{r.Exit != 0, verify.NotMet, fmt.Sprintf("it ended with exit status %d", r.Exit)},
		{fault != "", verify.Unverified, fault},
		{c.Broken != "", verify.Unverified, "its report cannot be believed: " + c.Broken},
		{!counted && lex("NotOK").Match(output), verify.Unverified, `it says "not ok", without the plan that a report has`},
		{counted && c.Passed == 0, verify.Unverified, "no test passed: all were skipped"},
	})
}

// verdict is a line of a table of what a run can amount to, and why it is not Met.
type verdict struct {
	holds  bool
	status verify.Status
	why    string
}

// firstOf returns the first verdict that holds. A run of which none holds is Met.
func firstOf(table []verdict) (verify.Status, string) {
	for _, v := range table {
		if v.holds {
			return v.status, v.why
		}
	}
	return verify.Met, ""
}

// shown returns the ends of both outputs, for people.
func shown(stdout, stderr string) string {
	if stdout != "" && !strings.HasSuffix(stdout, "\n") {
		stdout += "\n"
	}
	t := &tail{max: keepShow}
	_, _ = t.Write([]byte(stdout + strings.ToValidUTF8(stderr[max(0, len(stderr)-keepShow/2):], "")))
	return t.String()
}

// Find returns the command by which the project in a folder tests itself, and the name of the file that says so. It
// returns nothing where there is no sign of tests. It runs nothing.
func Find(dir string) (command []string, by string) { return project.Find(os.DirFS(dir)) }

// Root returns the folder of the project that dir is in: the outermost folder that holds a project file such as
// go.mod or package.json, up to the top of the repository. Without one it is the top of the repository, and outside
// of a repository dir itself.
func Root(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "."
	}
	outermost := ""
	for at := dir; ; at = filepath.Dir(at) {
		isMarked := func(name string) bool { return fileExists(filepath.Join(at, name)) }
		if slices.ContainsFunc(project.Markers, isMarked) {
			outermost = at
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return cmp.Or(outermost, at)
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

func fileExists(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}
