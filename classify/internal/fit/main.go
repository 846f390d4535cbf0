// Command fit fits the heuristic's weights on labelled cases: multinomial logistic regression over the heuristic's
// features, with an L2 penalty and dropout, rounded to hundredths of log-odds.
//
//	go run ./classify/internal/fit -cases 'classify/testdata/cases/*.jsonl@2' -cases more.jsonl -out classify/weights
//	go run ./classify/internal/fit -cases 'classify/testdata/cases/*.jsonl@2' -cases more.jsonl -cv more.jsonl
//
// There are weights for each script, fitted on all cases, those in other scripts counting less.
//
// The shipped weights come from the shipped cases and from dev.jsonl, labelled outputs of real agents that are not part of
// the repository; the heads of the files say how often each counted.
//
// With -cv nothing is written: each repository named in that file (meta.repo) is held out in turn, weights are fitted on
// all else, and the figures are those of the whole heuristic, rounded weights and rules included, on the held-out cases.
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

var classes = []string{"error", "blocker", "question", "completion", "rejected", "progress"}

type files []string

func (f *files) String() string     { return strings.Join(*f, ",") }
func (f *files) Set(s string) error { *f = append(*f, s); return nil }

func main() {
	log.SetFlags(0)
	log.SetPrefix("fit: ")
	var patterns files
	flag.Var(&patterns, "cases", "JSON Lines files of cases, as a glob; GLOB@N counts them N times; may be given several times")
	out := flag.String("out", "", "folder to write the weights to, a file a script")
	cv := flag.String("cv", "", "cross-validate on this file, folds by repository, instead of writing")
	var t trainer
	flag.Float64Var(&t.l2, "l2", 2, "strength of the penalty on large weights")
	flag.Float64Var(&t.others, "others", 0.3, "how much cases in other scripts count in the weights for one script")
	flag.Float64Var(&t.dropout, "dropout", 0.5, "how likely a feature is left out of a case, anew in each step of the fit")
	flag.IntVar(&t.minimum, "min", 3, "leave out features that fewer cases have")
	flag.Float64Var(&t.sharpen, "sharpen", 1, "factor on all weights: above 1 the verdicts are surer than the fit makes them")
	flag.BoolVar(&t.typical, "typical", false, "weigh the cases without a repository as if labels were as frequent among them as among those with one")
	blind := flag.Float64("blind", 0.3, "how much a copy of each case without its request counts: in a pipe there is none")
	show := flag.String("show", "", "with -cv: list the wrong cases of this label (a type, rejected, progress, all) or language; every: list the right ones too")
	flag.Parse()
	if err := run(patterns, *out, *cv, *show, *blind, &t); err != nil {
		log.Fatal(err)
	}
}

func run(patterns files, out, cv, show string, blind float64, t *trainer) error {
	h, err := classify.NewHeuristic()
	if err != nil {
		return err
	}
	t.index = map[string]int{"bias": 0}
	t.names = []string{"bias"}
	var sources []string
	var held []evaluate.Case
	for _, p := range patterns {
		p, weight, err := weighted(p)
		if err != nil {
			return err
		}
		paths, err := filepath.Glob(p)
		if err != nil || len(paths) == 0 {
			return fmt.Errorf("no file matches %s", p)
		}
		for _, path := range paths {
			cases, err := evaluate.LoadCases(os.DirFS(filepath.Dir(path)), filepath.Base(path))
			if err != nil {
				return err
			}
			if path == cv {
				held = cases
			}
			used := 0
			for _, c := range cases {
				if strings.TrimSpace(c.Input.Text) == "" || len(c.Input.Evidence) > 0 {
					continue // those the code decides by itself
				}
				used++
				t.add(h, c, weight, path == cv)
				if c.Input.Request != "" && blind > 0 {
					c.Input.Request = ""
					t.add(h, c, weight*blind, path == cv)
				}
			}
			source := fmt.Sprintf("%s (%d cases", filepath.Base(path), used)
			if weight != 1 {
				source += fmt.Sprintf(" that count %g times", weight)
			}
			sources = append(sources, source+")")
		}
	}
	if cv != "" {
		if held == nil {
			return fmt.Errorf("%s is none of the files of -cases", cv)
		}
		return t.crossValidate(held, show)
	}
	for _, script := range scripts {
		table := t.table(t.fit(script, ""), fmt.Sprintf("%s, with -l2 %g -dropout %g -blind %g -min %d -sharpen %g -others %g", strings.Join(sources, ", "), t.l2, t.dropout, blind, t.minimum, t.sharpen, t.others))
		if out == "" {
			fmt.Printf("%s\n%s\n", script, table)
		} else if err := os.WriteFile(filepath.Join(out, script+".txt"), table, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// scripts are those that have weights of their own.
var scripts = []string{"english", "latin", "cyrillic", "chinese", "japanese"}

// weighted splits GLOB@N into its parts: its cases count N times. Without @ they count once.
func weighted(pattern string) (string, float64, error) {
	glob, n, ok := strings.Cut(pattern, "@")
	if !ok {
		return pattern, 1, nil
	}
	w, err := strconv.ParseFloat(n, 64)
	if err != nil || w <= 0 {
		return "", 0, fmt.Errorf("%s: %q is not a weight above 0", pattern, n)
	}
	return glob, w, nil
}

// table writes the weights as the heuristic reads them: a row a feature, in hundredths of log-odds.
func (t *trainer) table(w [][]float64, sources string) []byte {
	order := make([]int, len(t.names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order[1:], func(a, b int) int { return strings.Compare(t.names[a], t.names[b]) })
	var b strings.Builder
	fmt.Fprintf(&b, "// How much each feature speaks for each class, in hundredths of log-odds.\n")
	fmt.Fprintf(&b, "// In a name, @ says where a rule of the lexicon was found, + and - join properties: with and without.\n")
	fmt.Fprintf(&b, "// Written by classify/internal/fit from: %s.\n\n", sources)
	fmt.Fprintf(&b, "// %-40s", "feature")
	for _, c := range classes {
		fmt.Fprintf(&b, "%11s", c)
	}
	b.WriteByte('\n')
	for _, i := range order {
		row := make([]int, len(classes))
		zero := true
		for c := range row {
			row[c] = int(math.Round(w[i][c] * 100 * t.sharpen))
			zero = zero && row[c] == 0
		}
		if zero && i != 0 {
			continue
		}
		fmt.Fprintf(&b, "%-43s", t.names[i])
		for _, v := range row {
			fmt.Fprintf(&b, "%11d", v)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}
