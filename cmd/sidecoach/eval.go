package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/coach"
)

const exitUnmet = 10 // a requirement on the figures is not met

// evalOptions are the flags of eval.
type evalOptions struct {
	cases      []string
	classifier choice
	llm        llmOptions
	models     []string
	prompts    []string
	certain    certainty
	cache      string
	noCache    bool
	repeat     count
	parallel   count
	threshold  threshold
	by         string
	baseline   string
	regression bool
	require    []string
	json       bool
	markdown   bool
	html       string
	readers    readerOptions
}

func newEval(t terminal) *cobra.Command {
	o := evalOptions{
		classifier: choice{value: "heuristic", allowed: []string{"heuristic", "llm", "cascade"}},
		repeat:     1, parallel: 8, threshold: classify.DefaultThreshold, certain: defaultCertain,
	}
	cmd := &cobra.Command{
		Use:   "eval --cases FILE… [flags]",
		Short: "Measure a classifier on labelled cases",
		Long: `eval judges every case of some files. It prints how often the verdicts are
right, and what the wrong ones would do.

A file has one case a line; sidecoach log --case makes one of a decision:
  {"name":"a","input":{"text":"Which one?"},"want":{"type":"question"}}
With "meta":{"sure":false} it is a case on which two people may differ. Figures
are given for all cases and for the sure ones. A case may check the message too:
  "message":{"contains":["test"],"not_contains":["commit"],"max_chars":350}

Figures; lower is better for those marked so:
  macro_f1               mean F1 of the five types
  accuracy               cases whose type is right
  continue_precision     cases that would be continued, and should
  wrong_continues        questions, blockers and errors that would be
                         continued (lower)
  completions_continued  completions that would be continued (lower)
  caught                 statuses that would be continued
  rejected_precision     verdicts "rejected completion" that are right
  rejected_recall        rejected completions that were found
  ece                    how far confidence is from accuracy (lower)
  asked                  calls that asked the LLM (lower)
With a baseline there are also: broken, fixed (numbers of cases).

Several --prompt or --model are measured in one run, each against the one
before. The answers of an LLM are kept, so that a run asks again only what
changed; --no-cache asks everything anew.

Exit status: 0 the cases were judged, 1 bad input or a failure (also if a third
of the calls failed), 10 a --require or --fail-on-regression is not met, 64
wrong usage.`,
		Example: `  sidecoach eval --cases 'cases/*.jsonl'
  sidecoach eval --cases dev.jsonl --judge claude --json >old.json
  sidecoach eval --cases dev.jsonl --judge claude --prompt p --baseline old.json
  sidecoach eval --cases dev.jsonl --judge api --model a --model b --html r.html
  sidecoach eval --cases dev.jsonl --require 'sure.wrong_continues<=6%'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args, t) },
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if e, ok := errors.AsType[*pflag.NotExistError](err); ok && e.GetSpecifiedName() == "llm" {
			return misuse("--judge api measures an LLM, --classifier cascade the LLM where the heuristic is not certain",
				"unknown flag --llm")
		}
		return flagError(cmd, err)
	})
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.cases, "cases", nil, "`FILE` with cases, or a pattern such as 'cases/*.jsonl'; may be repeated")
	f.Var(&o.classifier, "classifier", "what to measure: "+strings.Join(o.classifier.allowed, ", ")+"; --judge means llm")
	o.llm.registerJudge(f)
	f.StringArrayVar(&o.models, "model", nil, "`NAME` of the LLM (default as for sidecoach --judge); may be repeated")
	f.StringArrayVar(&o.prompts, "prompt", nil,
		"`DIR` with a prompt to use instead of the built-in one; sidecoach prompt DIR writes that one there; may be repeated")
	f.Var(&o.certain, "certain", "with cascade, ask the LLM only where the heuristic is less sure than this, `P`")
	f.StringVar(&o.cache, "cache", "", "keep the answers of an LLM in this `DIR` (default in the user's cache folder)")
	f.BoolVar(&o.noCache, "no-cache", false, "neither use kept answers nor keep any")
	f.Var(&o.repeat, "repeat", "judge each case `N` times; the majority counts")
	f.Var(&o.parallel, "parallel", "make at most `N` calls at a time")
	f.Var(&o.threshold, "threshold", "a status less certain than this, 0 to 1, is not continued; 0 switches the rule off")
	f.StringVar(&o.by, "by", "", "show figures for each value of a `KEY` of meta too, such as lang or agent")
	f.StringVar(&o.baseline, "baseline", "", "compare with the report in this `FILE`, which --json made")
	f.BoolVar(&o.regression, "fail-on-regression", false, "with --baseline, exit with 10 if more cases broke than were fixed")
	f.StringArrayVar(&o.require, "require", nil, "exit with 10 unless this `BOUND` on a figure holds, such as 'broken<=0'; may be repeated")
	f.BoolVar(&o.json, "json", false, "print the report as JSON, without any text of the cases")
	f.BoolVar(&o.markdown, "markdown", false, "print a summary in Markdown, for a pull request or a CI job")
	f.StringVar(&o.html, "html", "", "write a page to `FILE` that shows the report, with the texts of the wrong cases")
	o.readers.register(f)
	return cmd
}

// count is a flag that takes a whole number from 1 to 1000.
type count int

func (c *count) String() string { return strconv.Itoa(int(*c)) }
func (c *count) Type() string   { return "N" }

func (c *count) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 1000 {
		return errors.New("it is a whole number from 1 to 1000")
	}
	*c = count(n)
	return nil
}

// run does all that can fail for free before it puts the first case to a classifier.
func (o *evalOptions) run(cmd *cobra.Command, args []string, t terminal) error {
	requirements, err := o.requirements()
	if err != nil {
		return err
	}
	patterns := append(o.cases, args...)
	if len(patterns) == 0 {
		return misuse("sidecoach eval --cases 'cases/*.jsonl'", "no cases: no file is named")
	}
	if o.llm.kind() != "" && !cmd.Flags().Changed("classifier") {
		o.classifier.value = "llm"
	}
	variants, err := o.variants()
	if err != nil {
		return err
	}
	cases, err := loadCases(cmd.ErrOrStderr(), patterns)
	if err != nil {
		return err
	}
	if o.readers.render != "" {
		return o.readers.write(cmd, cases, variants)
	}
	if cases, err = o.readers.take(cmd, cases, variants); err != nil {
		return err
	}
	if keys := metaKeys(cases); o.by != "" && !slices.Contains(keys, o.by) {
		hint := "the meta of these cases has no key"
		if len(keys) > 0 {
			hint = "the keys are " + strings.Join(keys, ", ")
		}
		return badInput(hint, "no case has %q in its meta", o.by)
	}
	var last evaluate.Run // what the next run is compared with
	if o.baseline != "" {
		if last.Report, err = readBaseline(o.baseline); err != nil {
			return err
		}
		last.Baseline = o.baseline
	}
	var page *atomicFile
	if o.html != "" {
		if err := replaceable(o.html, append(patterns, o.baseline)); err != nil {
			return err
		}
		if page, err = createAtomic(o.html, 0o600); err != nil {
			return err
		}
		defer page.discard()
	}
	e := evaluated{requirements: requirements, by: o.by}
	for _, v := range variants {
		report, err := o.evaluate(cmd.Context(), v, cases, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		run := evaluate.Run{Report: report, Baseline: last.Baseline}
		if last.Baseline != "" {
			c := report.Compare(last.Report)
			run.Comparison = &c
		}
		e.runs = append(e.runs, run)
		last = evaluate.Run{Report: report, Baseline: v.name}
	}
	if page != nil {
		if err := page.commit(func(w io.Writer) error { return evaluate.HTML(w, e.runs...) }); err != nil {
			return err
		}
	}
	if err := o.print(cmd.OutOrStdout(), e, t); err != nil {
		return err
	}
	for _, r := range e.runs {
		if err := failedCalls(r.Report); err != nil {
			return err
		}
	}
	return o.unmet(e)
}

// variant is one classifier to measure.
type variant struct {
	name       string
	classifier classify.Classifier
	judge      *llm.Classifier // nil for the heuristic
	cache      *llm.DirCache   // nil if no answers are kept
}

// variants returns what to measure: the heuristic, or each prompt with each model.
func (o *evalOptions) variants() ([]variant, error) {
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return nil, err
	}
	kind := cmp.Or(o.classifier.value, "heuristic")
	if kind == "heuristic" {
		flag := cmp.Or(o.llm.given(), o.readers.given())
		if len(o.models) > 0 {
			flag = "--model"
		} else if len(o.prompts) > 0 {
			flag = "--prompt"
		}
		if flag != "" {
			return nil, misuse("add --judge claude, --judge api or --classifier cascade", "%s means nothing to the heuristic", flag)
		}
		return []variant{{name: kind, classifier: heuristic}}, nil
	}
	models, prompts := o.models, o.prompts
	if len(models) == 0 {
		models = []string{""}
	}
	if len(prompts) == 0 {
		prompts = []string{""}
	}
	var list []variant
	for _, prompt := range prompts {
		for _, model := range models {
			v, err := o.variant(kind, heuristic, prompt, model, len(o.prompts) > 0 && prompt == "")
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
	}
	return list, nil
}

func (o *evalOptions) variant(kind string, heuristic *classify.Heuristic, prompt, model string, blank bool) (variant, error) {
	l := o.llm
	l.model = model
	if prompt != "" || blank {
		if err := l.prompt.Set(prompt); err != nil {
			return variant{}, misuse(err.Error(), "--prompt cannot be %q", prompt)
		}
	}
	cfg, err := o.readers.config(&l, int(o.parallel))
	if err != nil {
		return variant{}, err
	}
	v := variant{}
	if v.cache, err = o.answers(); err != nil {
		return v, err
	}
	if v.cache != nil {
		cfg.Cache = v.cache
	}
	if v.judge, _, err = l.judge(cfg, heuristic); err != nil {
		return v, err
	}
	v.classifier = v.judge
	v.name = strings.Join([]string{kind, o.readers.modelName(&l)}, " ") + ", prompt " +
		cmp.Or(prompt, "built-in") + " " + promptHash(v.judge)
	if kind == "cascade" {
		v.classifier = classify.Cascade(heuristic, v.judge, float64(o.certain))
		v.name += ", certain " + o.certain.String()
	}
	return v, nil
}

// answers returns where the answers of an LLM are kept, or nil.
func (o *evalOptions) answers() (*llm.DirCache, error) {
	if o.readers.render != "" {
		return &llm.DirCache{Dir: o.readers.render, Offline: true}, nil
	}
	if o.noCache {
		if o.cache != "" || o.readers.answers != nil {
			return nil, misuse("leave --no-cache out", "--no-cache contradicts --cache and --answers")
		}
		return nil, nil
	}
	dir := o.cache
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, badInput("name a folder with --cache, or use --no-cache", "there is no folder for the LLM's answers: %v", err)
		}
		dir = filepath.Join(user, "sidecoach", "answers")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, badInput("name another folder with --cache, or use --no-cache", "cannot keep the LLM's answers in %q: %v", dir, cause(err))
	}
	return &llm.DirCache{Dir: dir, Repeat: o.repeat > 1, Offline: o.readers.answers != nil, Origin: o.readers.by}, nil
}

// evaluate ends early when the user interrupts it, so that nothing half done stays behind. A second signal ends the
// program.
func (o *evalOptions) evaluate(ctx context.Context, v variant, cases []evaluate.Case, stderr io.Writer) (evaluate.Report, error) {
	caught, release := interruptible(ctx)
	defer release()
	bar := newBar(stderr)
	defer bar.clear()
	report, err := evaluate.Evaluate(caught, v.classifier, cases, evaluate.Options{
		Threshold: o.threshold.policy(), // the same number means no gate there
		Repeat:    int(o.repeat), Parallel: int(o.parallel),
		Progress: bar.show, Name: v.name, Message: messageOf,
	})
	if err != nil && caught.Err() != nil && ctx.Err() == nil {
		return report, badInput("run it again; --parallel makes more calls at a time", "interrupted: there is no report")
	}
	return report, err
}

// messageOf returns what the agent would be told.
func messageOf(in classify.Input, r classify.Result) string {
	if r.Type != classify.Status {
		return ""
	}
	return coach.BuildCoachingMessage(r, coach.Context{
		Text: in.Text, Request: in.Request, Evidence: in.Evidence, Work: in.Work, Attempt: in.Coached + 1,
	}).Text
}

// interruptible returns a context that ends with the first signal to end; the next one does what it always does. A signal
// that is ignored, as under nohup, stays so.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	if len(signals) == 0 { // which NotifyContext takes as all
		return context.WithCancel(ctx)
	}
	caught, release := signal.NotifyContext(ctx, signals...)
	context.AfterFunc(caught, release)
	return caught, release
}

func (o *evalOptions) requirements() (parsed []evaluate.Requirement, err error) {
	if o.regression && o.baseline == "" {
		return nil, misuse("name the report to compare with: --baseline before.json", "--fail-on-regression needs a baseline")
	}
	for _, s := range o.require {
		r, err := evaluate.ParseRequirement(s)
		switch {
		case errors.Is(err, evaluate.ErrNoFigure):
			return nil, misuse("the figures are "+strings.Join(evaluate.FigureNames(), ", ")+", and with --baseline broken, fixed",
				"--require %q names no figure", s)
		case err != nil:
			return nil, misuse("a bound looks like 'wrong_continues<=0.06' or 'caught>=70%', quoted for the shell", "--require cannot be %q", s)
		case r.NeedsBaseline() && o.baseline == "":
			return nil, misuse("name the report to compare with: --baseline before.json", "--require %q needs a baseline", s)
		}
		parsed = append(parsed, r)
	}
	return parsed, nil
}

// failedCalls returns an error for a run in which so many calls failed that its figures mean little.
func failedCalls(r evaluate.Report) error {
	failed := r.Cost.Errors + r.Cost.Fallbacks
	if failed*3 < r.Cost.Calls || failed == 0 {
		return nil
	}
	why := ""
	for _, o := range r.Outcomes {
		why = cmp.Or(why, o.Verdict.Error, o.Verdict.Fallback)
	}
	return badInput("the figures mean little; look at the judge, its login, the server, the key and the model",
		"%d of %d calls failed: %s", failed, r.Cost.Calls, why)
}

// unmet returns an error that names the requirements that are not met, in any of the runs.
func (o *evalOptions) unmet(e evaluated) error {
	var missed []string
	for _, run := range e.runs {
		r, before := run.Report, len(missed)
		if n := r.All.Unanswered; n > 0 && len(e.requirements) > 0 {
			missed = append(missed, fmt.Sprintf("%d cases have no verdict", n))
		}
		if n := r.Cost.Fallbacks; n > 0 && len(e.requirements) > 0 {
			missed = append(missed, fmt.Sprintf("%d verdicts are not the LLM's", n))
		}
		for _, q := range e.requirements {
			if f, ok := q.Met(r, run.Comparison); !ok {
				is := "there is nothing to measure it on"
				if f.Of > 0 {
					is = "it is " + strconv.FormatFloat(f.Value, 'g', 4, 64)
				}
				missed = append(missed, fmt.Sprintf("%s (%s)", q, is))
			}
		}
		if c := run.Comparison; o.regression && c != nil && c.Regressed() {
			missed = append(missed, fmt.Sprintf("no regression (labels: %s; actions: %s)", c.Labels, c.Actions))
		}
		if len(e.runs) > 1 && len(missed) > before {
			missed[before] = r.Classifier + ": " + missed[before]
		}
	}
	if len(missed) == 0 {
		return nil
	}
	return &failure{exitUnmet, "not met: " + strings.Join(missed, ", "), "--html report.html shows every wrong case with what it was judged by"}
}

const maxFaultsListed = 5

// loadCases reads the cases that the patterns name, anywhere. If there are several faults, the first ones are listed.
func loadCases(stderr io.Writer, patterns []string) ([]evaluate.Case, error) {
	const hint = `a case is a line such as {"name":"a","input":{"text":"Which one?"},"want":{"type":"question"}}`
	var names []string
	for _, pattern := range patterns {
		info, err := os.Stat(pattern)
		if err == nil && info.IsDir() {
			return nil, badInput("name its files: --cases '"+filepath.Join(pattern, "*.jsonl")+"'", "%q is a folder", pattern)
		}
		found := []string{pattern}
		if err != nil {
			if found, err = filepath.Glob(pattern); err != nil {
				return nil, misuse(`* stands for any characters, ? for one, [ab] for one of them, and \ takes away their meaning`,
					"the pattern %q cannot be read", pattern)
			}
		}
		if len(found) == 0 {
			return nil, badInput("check the name; --cases takes files and patterns such as 'cases/*.jsonl'", "no such file: %q", pattern)
		}
		names = append(names, found...)
	}
	cases, err := evaluate.LoadCases(anywhere{}, names...)
	if err == nil {
		return cases, nil
	}
	faults := strings.Split(err.Error(), "\n")
	if len(faults) == 1 {
		return nil, badInput(hint, "%s", faults[0])
	}
	for _, f := range faults[:min(len(faults), maxFaultsListed)] {
		complain(stderr, f)
	}
	if len(faults) > maxFaultsListed {
		return nil, badInput(hint, "the cases have faults; these are the first %d", maxFaultsListed)
	}
	return nil, badInput(hint, "the cases have %d faults", len(faults))
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

func readBaseline(name string) (evaluate.Report, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return evaluate.Report{}, badInput("make one: sidecoach eval --cases FILE --json >before.json", "cannot open the baseline %q: %v", name, cause(err))
	}
	var several struct{ Runs []json.RawMessage }
	if json.Unmarshal(b, &several) == nil && len(several.Runs) > 0 {
		b = several.Runs[len(several.Runs)-1] // of several, the last
	}
	r, err := evaluate.ReadReport(bytes.NewReader(b))
	if err != nil {
		return r, badInput("a baseline is made with sidecoach eval --json >before.json; a shell empties that file before sidecoach can read it, "+
			"so give the new report another name", "the baseline %q cannot be used: %v", name, cause(err))
	}
	return r, nil
}

// replaceable returns an error for a page that would replace one of the files that are read, which are named by patterns.
func replaceable(page string, read []string) error {
	target, err := os.Stat(page)
	if err != nil {
		return nil // not there, or for the writing to say
	}
	for _, pattern := range read {
		names, _ := filepath.Glob(pattern) // a bad pattern was reported before
		for _, name := range append(names, pattern) {
			if info, err := os.Stat(name); err == nil && os.SameFile(info, target) {
				return misuse("name another file for the page", "--html would overwrite %q, which is read", page)
			}
		}
	}
	return nil
}
