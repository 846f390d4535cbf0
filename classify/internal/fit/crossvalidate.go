package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// crossValidate holds out each repository of the cases in turn, and reports what the heuristic makes of its cases with the
// weights that the others give.
func (t *trainer) crossValidate(cases []evaluate.Case, show string) error {
	folds := map[string][]evaluate.Case{}
	for _, c := range cases {
		folds[meta(c, "repo")] = append(folds[meta(c, "repo")], c)
	}
	var held []evaluate.Outcome
	for repo, cases := range folds {
		tables := fstest.MapFS{}
		for _, script := range t.scriptsOf(repo) {
			data := t.table(t.fit(script, repo), "")
			tables["weights/"+script+".txt"] = &fstest.MapFile{Data: data}
			tables["weights.txt"] = &fstest.MapFile{Data: data} // the others are not asked for
		}
		h, err := classify.NewHeuristic(classify.Tables(tables))
		if err != nil {
			return err
		}
		rep, err := evaluate.Evaluate(context.Background(), h, cases, evaluate.Options{})
		if err != nil {
			return err
		}
		held = append(held, rep.Outcomes...)
	}
	slices.SortFunc(held, func(a, b evaluate.Outcome) int { return strings.Compare(a.Name, b.Name) })
	list(held, show)

	fmt.Printf("%-16s%6s%10s%10s%10s%10s%10s%10s%10s%10s\n", "held out", "cases", "macro_f1", "accuracy", "wrong", "compl.", "caught", "rej.prec", "rej.rec", "ece")
	row("all", evaluate.Summarize(held))
	rep := evaluate.Report{Outcomes: held}
	for _, g := range rep.By("lang") {
		row(g.Value, g.Summary)
	}
	all := evaluate.Summarize(held).Labels
	fmt.Printf("\n%-12s", "")
	for _, n := range all.Names {
		fmt.Printf("%11s", n)
	}
	fmt.Println()
	for i, counts := range all.Counts {
		fmt.Printf("%-12s", all.Names[i])
		for _, n := range counts[:len(all.Names)] {
			fmt.Printf("%11d", n)
		}
		fmt.Println()
	}
	return nil
}

// scriptsOf returns the scripts of the cases in a fold.
func (t *trainer) scriptsOf(fold string) []string {
	var list []string
	for _, e := range t.examples {
		if e.fold == fold && !slices.Contains(list, e.script) {
			list = append(list, e.script)
		}
	}
	return list
}

func row(name string, s evaluate.Summary) {
	f := s.Figures
	fmt.Printf("%-16s%6d", name, s.Cases)
	for _, v := range []evaluate.Figure{f.MacroF1, f.Accuracy, f.WrongContinues, f.CompletionsContinued, f.Caught, f.RejectedPrecision, f.RejectedRecall, f.ECE} {
		fmt.Printf("%10.3f", v.Value)
	}
	fmt.Println()
}

// list prints the outcomes with a wrong label that are of the kind to show, or every one.
func list(outcomes []evaluate.Outcome, show string) {
	for _, o := range outcomes {
		want := label(evaluate.Case{Want: o.Want})
		if show != "every" && (o.LabelRight() || show != "all" && show != want && show != o.Meta["lang"]) {
			continue
		}
		v := o.Verdict
		got := label(evaluate.Case{Want: evaluate.Want{Type: v.Type, WasRejectedCompletion: v.WasRejectedCompletion}})
		fmt.Printf("%s (%v) want %s got %s %.2f: %s\n", o.Name, o.Meta["lang"], want, got, v.Confidence, o.Result.Reason)
	}
}
