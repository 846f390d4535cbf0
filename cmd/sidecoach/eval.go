package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

const exitUnmet = 10 // a requirement on the figures is not met

// evalOptions are the flags of eval.
type evalOptions struct {
	cases      []string
	classifier choice
	llm        llmOptions
	repeat     count
	parallel   count
	threshold  threshold
	by         string
	baseline   string
	json       bool
	html       string
	require    []string
}

func newEval(t terminal) *cobra.Command {
	o := evalOptions{
		classifier: choice{value: "heuristic", allowed: []string{"heuristic", "llm", "cascade"}},
		repeat:     1, parallel: 8, threshold: classify.DefaultThreshold,
	}
	cmd := &cobra.Command{
		Use:   "eval --cases FILE… [flags]",
		Short: "Measure a classifier on labelled cases",
		Long: `eval judges every case of some files and prints how often the verdicts are
right, and what the wrong ones would do.

A file has one case a line; sidecoach log --case makes one of a decision:
  {"name":"a","input":{"text":"Which one?"},"want":{"type":"question"}}
With "meta":{"sure":false} it is one on which two people may differ. Figures
are given for all cases and, where not all are, for the sure ones: sure.caught.

Figures, lower is better for those marked so:
  macro_f1               mean F1 of the five types
  accuracy               cases whose type is right
  wrong_continues        questions, blockers and errors that would be
                         continued (lower)
  completions_continued  completions that would be continued (lower)
  caught                 statuses that would be continued
  rejected_precision     verdicts "rejected completion" that are right
  rejected_recall        rejected completions that were found
  ece                    how far confidence is from accuracy (lower)

Exit status: 0 the cases were judged, 1 bad input or a failure, 10 a --require
is not met, 64 wrong usage.`,
		Example: `  sidecoach eval --cases 'cases/*.jsonl'
  sidecoach eval --cases dev.jsonl --json >report.json
  sidecoach eval --cases dev.jsonl --baseline report.json --html report.html
  sidecoach eval --cases dev.jsonl --classifier llm --prompt mine --repeat 3
  sidecoach eval --cases dev.jsonl --require 'sure.wrong_continues<=6%'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args, t) },
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if e, ok := errors.AsType[*pflag.NotExistError](err); ok && e.GetSpecifiedName() == "llm" {
			return misuse("--classifier llm measures the LLM, --classifier cascade the LLM where the heuristic is not certain", "unknown flag --llm")
		}
		return flagError(cmd, err)
	})
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.cases, "cases", nil, "`FILE` with cases, or a pattern such as 'cases/*.jsonl'; may be given again, as may more files after it")
	f.Var(&o.classifier, "classifier", "judge with this one: "+strings.Join(o.classifier.allowed, ", "))
	o.llm.register(f)
	f.Var(&o.repeat, "repeat", "judge each case `N` times; the majority counts")
	f.Var(&o.parallel, "parallel", "at most `N` calls at a time")
	f.Var(&o.threshold, "threshold", "a status less certain than this, 0 to 1, is not continued; 0 switches the rule off")
	f.StringVar(&o.by, "by", "", "show figures for each value of a `KEY` of meta too, such as lang or agent")
	f.StringVar(&o.baseline, "baseline", "", "compare with the report in this `FILE`, which --json made; what was not measured alike is named")
	f.BoolVar(&o.json, "json", false, "print the report as JSON, without any text of the cases")
	f.StringVar(&o.html, "html", "", "write a page to `FILE` that shows the report, with the texts of the wrong cases")
	f.StringArrayVar(&o.require, "require", nil, "`BOUND` on a figure, such as 'wrong_continues<=0.06'; may be given again")
	return cmd
}

// run does all that can fail for free before it puts the first case to the classifier.
func (o *evalOptions) run(cmd *cobra.Command, args []string, t terminal) error {
	requirements, err := parseRequirements(o.require)
	if err != nil {
		return err
	}
	patterns := append(o.cases, args...)
	if len(patterns) == 0 {
		return misuse("sidecoach eval --cases 'cases/*.jsonl'", "no cases: no file is named")
	}
	kind := cmp.Or(o.classifier.value, "heuristic")
	if flag := o.llm.given(); flag != "" && kind == "heuristic" {
		return misuse("add --classifier llm or --classifier cascade", "%s means nothing to the heuristic", flag)
	}
	classifier, err := newClassifier(kind, o.llm, int(o.parallel))
	if err != nil {
		return err
	}
	cases, err := loadCases(cmd.ErrOrStderr(), patterns)
	if err != nil {
		return err
	}
	if keys := metaKeys(cases); o.by != "" && !slices.Contains(keys, o.by) {
		hint := "the meta of these cases has no key"
		if len(keys) > 0 {
			hint = "the keys are " + strings.Join(keys, ", ")
		}
		return badInput(hint, "no case has %q in its meta", o.by)
	}
	var baseline *evaluate.Report
	if o.baseline != "" {
		if baseline, err = readBaseline(o.baseline); err != nil {
			return err
		}
	}
	var page *atomicFile
	if o.html != "" {
		if err := replaceable(o.html, append(patterns, o.baseline)); err != nil {
			return err
		}
		if page, err = createAtomic(o.html, 0o666); err != nil {
			return err
		}
		defer page.discard()
	}
	name := kind
	if kind != "heuristic" {
		name += " " + o.llm.modelName() // a report of another model is another one
	}
	report, err := o.evaluate(cmd.Context(), name, classifier, cases, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	e := evaluated{report: report, requirements: requirements, by: o.by}
	if baseline != nil {
		c := report.Compare(*baseline)
		e.comparison, e.baseline = &c, o.baseline
	}
	if page != nil {
		if err := page.commit(e.html); err != nil {
			return err
		}
	}
	if err := o.print(cmd.OutOrStdout(), e, t); err != nil {
		return err
	}
	if report.All.Unanswered == report.All.Cases {
		return badInput("nothing was measured; look at the server, the key and the model", "the classifier failed on every case: %s", report.Outcomes[0].Verdict.Error)
	}
	if report.Cost.Fallbacks > 0 && report.Cost.Metered == 0 {
		return badInput("the heuristic alone was measured; look at the server, the key and the model", "the LLM failed on every output it was asked about")
	}
	return unmet(report, requirements)
}

// replaceable returns an error for a page that would replace one of the files that are read, which are named by patterns.
func replaceable(page string, read []string) error {
	target, err := os.Stat(page)
	if err != nil {
		return nil // not there, or for the writing to say
	}
	for _, pattern := range read {
		names, _ := filepath.Glob(pattern) // a bad pattern was told of before
		for _, name := range append(names, pattern) {
			if info, err := os.Stat(name); err == nil && os.SameFile(info, target) {
				return misuse("name another file for the page", "--html would overwrite %q, which is read", page)
			}
		}
	}
	return nil
}

// evaluate ends early when the user interrupts it, so that nothing half done stays behind; a second signal ends the program.
func (o *evalOptions) evaluate(ctx context.Context, name string, c classify.Classifier, cases []evaluate.Case, stderr io.Writer) (evaluate.Report, error) {
	caught, release := interruptible(ctx)
	defer release()
	bar := newBar(stderr)
	defer bar.clear()
	report, err := evaluate.Evaluate(caught, c, cases, evaluate.Options{
		Threshold: o.threshold.policy(), // the same number means no gate there
		Repeat:    int(o.repeat), Parallel: int(o.parallel),
		Progress: bar.show, Name: name,
	})
	if err != nil && caught.Err() != nil && ctx.Err() == nil {
		return report, badInput("run it again; --parallel makes more calls at a time", "interrupted: there is no report")
	}
	return report, err
}

// interruptible returns a context that ends with the first signal to end; the next one does what it always does. A signal that
// is ignored, as under nohup, stays so.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	if len(signals) == 0 { // which NotifyContext takes for all
		return context.WithCancel(ctx)
	}
	caught, release := signal.NotifyContext(ctx, signals...)
	context.AfterFunc(caught, release)
	return caught, release
}

func parseRequirements(list []string) ([]evaluate.Requirement, error) {
	var parsed []evaluate.Requirement
	for _, s := range list {
		r, err := evaluate.ParseRequirement(s)
		switch {
		case errors.Is(err, evaluate.ErrNoFigure):
			return nil, misuse("the figures are "+strings.Join(evaluate.FigureNames(), ", "), "--require %q names no figure", s)
		case err != nil:
			return nil, misuse("a bound looks like 'wrong_continues<=0.06' or 'caught>=70%', quoted for the shell", "--require cannot be %q", s)
		}
		parsed = append(parsed, r)
	}
	return parsed, nil
}

// unmet returns an error that names the requirements that are not met.
func unmet(r evaluate.Report, list []evaluate.Requirement) error {
	var missed []string
	if n := r.All.Unanswered; n > 0 && len(list) > 0 {
		missed = append(missed, fmt.Sprintf("%d cases have no verdict", n))
	}
	if n := r.Cost.Fallbacks; n > 0 && len(list) > 0 {
		missed = append(missed, fmt.Sprintf("%d verdicts are not the LLM's", n))
	}
	for _, q := range list {
		if f, ok := q.Met(r); !ok {
			is := "there is nothing to measure it on"
			if f.Of > 0 {
				is = fmt.Sprintf("it is %.4f", f.Value)
			}
			missed = append(missed, fmt.Sprintf("%s (%s)", q, is))
		}
	}
	if len(missed) == 0 {
		return nil
	}
	return &failure{exitUnmet, "not met: " + strings.Join(missed, ", "), "--html report.html shows every wrong case with what it was judged by"}
}

const maxFaultsListed = 5

// loadCases reads the cases that the patterns name, anywhere. Where there is more than one fault the first ones are listed.
func loadCases(stderr io.Writer, patterns []string) ([]evaluate.Case, error) {
	const hint = `a case is a line such as {"name":"a","input":{"text":"Which one?"},"want":{"type":"question"}}`
	var names []string
	for _, pattern := range patterns {
		_, err := os.Stat(pattern)
		found := []string{pattern}
		if err != nil {
			if found, err = filepath.Glob(pattern); err != nil {
				return nil, misuse(`* stands for any characters, ? for one, [ab] for one of them, and \ takes away their meaning`, "the pattern %q cannot be read", pattern)
			}
		}
		if len(found) == 0 {
			return nil, badInput("check the name; --cases takes files and patterns such as 'cases/*.jsonl'", "no such file: %q", pattern)
		}
		names = append(names, found...)
	}
	cases, err := evaluate.LoadCases(anywhere{}, names...)
	e, ok := errors.AsType[*evaluate.LoadError](err)
	switch {
	case !ok:
		return cases, err
	case len(e.Faults) == 1:
		return nil, badInput(hint, "%v", e.Faults[0])
	}
	for _, f := range e.Faults[:min(len(e.Faults), maxFaultsListed)] {
		complain(stderr, f.Error())
	}
	n := len(e.Faults) + e.More
	if n > maxFaultsListed {
		return nil, badInput(hint, "the cases have %d faults, of which these are the first %d", n, maxFaultsListed)
	}
	return nil, badInput(hint, "the cases have %d faults", n)
}

// metaKeys returns what the meta of cases has, sorted.
func metaKeys(cases []evaluate.Case) []string {
	all := make(map[string]bool)
	for _, c := range cases {
		for key := range c.Meta {
			all[key] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// anywhere is the file system by the names that the command line has.
type anywhere struct{}

func (anywhere) Open(name string) (fs.File, error) { return os.Open(name) }

func readBaseline(name string) (*evaluate.Report, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, badInput("make one: sidecoach eval --cases FILE --json >report.json", "cannot open the baseline %q: %v", name, cause(err))
	}
	defer f.Close()
	r, err := evaluate.ReadReport(f)
	if err != nil {
		return nil, badInput("a baseline is made with sidecoach eval --json >report.json; a shell empties that file before sidecoach can read it, so give the new report another name",
			"the baseline %q cannot be used: %v", name, cause(err))
	}
	return &r, nil
}
