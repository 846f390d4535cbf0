package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/coach"
)

type evalOptions struct {
	cases            []string
	judging          judgeFlags
	models, prompts  []string
	cache            string
	noCache          bool
	repeat, parallel int
	threshold        float64
	baseline         string
	regression       bool
	require          []string
	json             bool
	html             string
	view             evaluate.View
}

func newEval() *cobra.Command {
	o := evalOptions{threshold: classify.DefaultThreshold, repeat: 1, parallel: 8}
	cmd := command("eval --cases FILE… [flags]", cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
		o.cases = append(o.cases, args...)
		return o.run(cmd)
	}, "cases", &o.cases)
	o.judging.registerJudge(cmd.Flags())
	bind(cmd.Flags(), "model", &o.models, "prompt", &o.prompts, "cache", &o.cache,
		"no-cache", &o.noCache, "repeat", &o.repeat, "parallel", &o.parallel, "threshold", number[float64]{&o.threshold, 1},
		"by", &o.view.By, "baseline", &o.baseline, "fail-on-regression", &o.regression, "require", &o.require,
		"json", &o.json, "html", &o.html)
	return cmd
}

// run does all that can fail for free before it puts the first case to a classifier.
func (o *evalOptions) run(cmd *cobra.Command) error {
	if err := o.check(); err != nil {
		return err
	}
	variants, err := o.variants()
	if err != nil {
		return err
	}
	cases, err := evaluate.LoadCases(osFiles{}, o.cases...)
	if err != nil {
		faults := strings.Split(err.Error(), "\n")
		return badInput("--cases takes files and patterns such as 'cases/*.jsonl'; "+
			`a case is a line such as {"name":"a","input":{"text":"Which one?"},"want":{"type":"question"}}`,
			"%s", strings.Join(faults[:min(len(faults), 5)], "; "))
	}
	by := o.view.By
	if by != "" && !slices.ContainsFunc(cases, func(c evaluate.Case) bool { _, ok := c.Meta[by]; return ok }) {
		return badInput(`meta is an object beside input and want, such as {"lang":"en"}`, "no case has %q in its meta", by)
	}
	last, against := evaluate.Report{}, o.baseline // what the next report is compared with
	if o.baseline != "" {
		f, err := os.Open(o.baseline)
		if err == nil {
			last, err = evaluate.ReadReport(f)
			f.Close()
		}
		if err != nil {
			return badInput("make one: sidecoach eval --cases FILE --json >before.json; give the next report another name, "+
				"because a shell empties that file first", "the baseline %q cannot be used: %v", o.baseline, cause(err))
		}
	}
	ctx, release := interruptible(cmd.Context()) // so that nothing half done stays behind
	defer release()
	bar := newBar(cmd.ErrOrStderr())
	for _, v := range variants {
		report, err := evaluate.Evaluate(ctx, v.classifier, cases, evaluate.Options{
			Threshold: cmp.Or(o.threshold, -1), Repeat: o.repeat, Parallel: o.parallel,
			Progress: bar.show, Name: v.name, Message: messageOf,
		})
		if bar.clear(); err != nil && ctx.Err() != nil {
			err = badInput("run it again; --parallel makes more calls at a time", "interrupted: there is no report")
		}
		if err != nil {
			return err
		}
		if against != "" {
			report = report.Compare(against, last)
		}
		o.view.Reports = append(o.view.Reports, report)
		last, against = report, v.name
	}
	release()
	if o.json {
		err = writeJSON(cmd.OutOrStdout(), o.view, " ")
	} else {
		err = o.view.Text(cmd.OutOrStdout())
	}
	if err = errors.Join(err, writePage(o.html, o.view)); err != nil {
		return err
	}
	return o.unmet()
}

// check reads the requirements, and says what is wrong with the flags alone.
func (o *evalOptions) check() error {
	const needs = "name the report to compare with: --baseline before.json"
	switch {
	case len(o.cases) == 0:
		return misuse("sidecoach eval --cases 'cases/*.jsonl'", "no cases: no file is named")
	case min(o.repeat, o.parallel) < 1 || max(o.repeat, o.parallel) > 1000:
		return misuse("they are whole numbers from 1 to 1000", "--repeat or --parallel is out of range")
	case o.regression && o.baseline == "":
		return misuse(needs, "--fail-on-regression needs a baseline")
	case (o.noCache || o.repeat > 1) && o.cache != "":
		return misuse("leave one of them out", "--no-cache and --repeat ask anew; --cache does not")
	}
	for _, s := range o.require {
		var r evaluate.Requirement
		switch err := r.Set(s); {
		case err != nil:
			return misuse("a bound looks like 'wrong_continues<=0.06' or 'caught>=70%', quoted for the shell",
				"--require cannot be %q: %v", s, errors.Unwrap(err))
		case r.NeedsBaseline() && o.baseline == "":
			return misuse(needs, "--require %q needs a baseline", s)
		}
		o.view.Requirements = append(o.view.Requirements, r)
	}
	return cmp.Or(o.judging.check(), checkPage(o.html))
}

type variant struct {
	name       string
	classifier classify.Classifier
}

func (o *evalOptions) variants() (list []variant, err error) {
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return nil, err
	}
	if !o.judging.asks() {
		return []variant{{name: "heuristic", classifier: heuristic}}, nil
	}
	if !o.noCache && o.repeat == 1 { // each repeat asks anew
		dir := o.cache
		if dir == "" {
			dir, err = os.UserCacheDir()
			dir = filepath.Join(dir, "sidecoach", "answers")
		}
		if err == nil {
			err = os.MkdirAll(dir, 0o700)
		}
		if err != nil {
			return nil, badInput("name another folder with --cache, or use --no-cache", "cannot keep the LLM's answers in %q: %v",
				dir, cause(err))
		}
		o.judging.Cache = &llm.DirCache{Dir: dir}
	}
	for _, list := range []*[]string{&o.prompts, &o.models} {
		if len(*list) == 0 {
			*list = []string{""} // the default
		}
	}
	for _, prompt := range o.prompts {
		for _, model := range o.models {
			j := o.judging
			j.Model, j.prompt = model, prompt
			judge, err := j.judge(heuristic)
			if err != nil {
				return nil, err
			}
			hash := sha256.Sum256([]byte(judge.Request(classify.Input{}).System))
			name := fmt.Sprintf("%s, prompt %s %.4x", j.modelName(), cmp.Or(prompt, "built-in"), hash)
			v := variant{"llm " + name, judge}
			if j.certain != 0 {
				v.name, v.classifier = fmt.Sprintf("cascade %s, certain %v", name, j.certain),
					classify.Cascade(heuristic, judge, j.certain)
			}
			list = append(list, v)
		}
	}
	return list, nil
}

func messageOf(in classify.Input, r classify.Result) string {
	if r.Type != classify.Status {
		return ""
	}
	return coach.BuildCoachingMessage(r, coach.Context{
		Text: in.Text, Request: in.Request, Evidence: in.Evidence, Work: in.Work, Attempt: in.Coached + 1,
	}).Text
}

// interruptible returns a context that ends with the first signal to end; the next one does what it always does. A
// signal that is ignored, as under nohup, stays so.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	caught, release := signal.NotifyContext(ctx, append(signals, syscall.SIGTERM)...) // of no signal it would catch all
	context.AfterFunc(caught, release)
	return caught, release
}

// unmet returns an error if, in any run, a third of the calls failed or a requirement is not met.
func (o *evalOptions) unmet() error {
	var missed []string
	for _, r := range o.view.Reports {
		failed := r.Cost.Errors + r.Cost.Fallbacks
		if failed > 0 && failed*3 >= r.Cost.Calls {
			why := ""
			for _, o := range r.Outcomes {
				why = cmp.Or(why, o.Verdict.Error, o.Verdict.Fallback)
			}
			return badInput("the figures mean little; look at the judge, its login, the server, the key and the model",
				"%d of %d calls failed: %s", failed, r.Cost.Calls, why)
		}
		of := ""
		if len(o.view.Reports) > 1 {
			of = r.Classifier + ": "
		}
		miss := func(format string, args ...any) { missed = append(missed, of+fmt.Sprintf(format, args...)) }
		if failed > 0 && len(o.require) > 0 {
			miss("%d calls failed", failed)
		}
		for _, q := range o.view.Requirements {
			switch f, ok := q.Met(r); {
			case !ok && f.Of > 0:
				miss("%s (it is %.4g)", q, f.Value)
			case !ok:
				miss("%s (there is nothing to measure it on)", q)
			}
		}
		if c := r.Comparison; o.regression && c != nil && c.Regressed() {
			miss("no regression (%s)", c)
		}
	}
	if len(missed) == 0 {
		return nil
	}
	return &failure{exitUnmet, "not met: " + strings.Join(missed, ", "),
		"--html report.html shows every wrong case with what it was judged by"}
}

// osFiles is the file system by the names that the command line has.
type osFiles struct{}

func (osFiles) Open(name string) (fs.File, error)               { return os.Open(name) }
func (osFiles) Glob(pattern string) (names []string, err error) { return filepath.Glob(pattern) }

// checkPage returns what is wrong with the name of a page, which could be that of a file with cases or a transcript.
func checkPage(name string) error {
	if name != "" && filepath.Ext(name) != ".html" {
		return misuse("name a file that ends in .html", "--html cannot be %q", name)
	}
	return nil
}

// writePage writes the page of --html, as a whole or not at all.
func writePage(name string, view evaluate.View) error {
	if name == "" {
		return nil
	}
	var page bytes.Buffer
	err := view.HTML(&page)
	if err == nil {
		err = filestore.WriteFile(name, page.Bytes(), 0o600)
	}
	return cannot("write", name, err)
}

// cannot words an error about a file that cannot be written, copied or removed; nil stays nil.
func cannot(do, name string, err error) error {
	if err == nil {
		return nil
	}
	return badInput(checkFolder, "cannot %s %q: %v", do, name, cause(err))
}

const checkFolder = "check the folder, its permissions and the space on the disk"

// bar shows progress on a terminal; anywhere else it shows nothing.
type bar struct{ w io.Writer }

func newBar(stderr io.Writer) bar {
	if widthOf(stderr) == 0 || os.Getenv("TERM") == "dumb" {
		return bar{io.Discard}
	}
	return bar{stderr}
}

func (b bar) show(done, total int) { fmt.Fprintf(b.w, "\r%d of %d\x1b[K", done, total) }
func (b bar) clear()               { io.WriteString(b.w, "\r\x1b[K") }
