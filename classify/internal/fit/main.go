// Command fit learns the heuristic's weights from labelled cases, and measures what they are worth on cases of repositories
// that they were not learned from.
//
//	go run ./classify/internal/fit -cases 'classify/testdata/cases/*.jsonl@0.3' -cases CORPUS -out classify/weights
//	go run ./classify/internal/fit -cases 'classify/testdata/cases/*.jsonl@0.3' -cases CORPUS -cv CORPUS
//
// CORPUS is a file of labelled outputs of real agents, in the format of package evaluate, whose meta names the repository
// and the agent. It is not part of the repository.
//
// The model is a multinomial logistic regression over [classify.Heuristic.Features]. A feature counts 1. A word of a text
// counts by how rare it is, divided by the length of the vector of all the text's words. Words that stand in few
// repositories are left out, and so are names. Weights are written as whole hundredths.
//
// With -cv the repositories of that file are dealt into ten folds. The weights for each fold are learned from the nine
// others, words and all, and the figures are those of the whole heuristic on the cases held out.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing/fstest"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

type files []string

func (f *files) String() string     { return strings.Join(*f, ",") }
func (f *files) Set(s string) error { *f = append(*f, s); return nil }

func main() {
	log.SetFlags(0)
	log.SetPrefix("fit: ")
	var patterns files
	flag.Var(&patterns, "cases", "JSON Lines files of cases, as a glob; with GLOB@N each case counts N times; may be repeated")
	out := flag.String("out", "", "write features.txt and words.txt to this folder")
	cv := flag.String("cv", "", "measure on this file of -cases, in folds by repository, instead of writing")
	blind := flag.Bool("blind", false, "with -cv: leave the request out of the cases that are measured")
	list := flag.Bool("list", false, "with -cv: list the cases that are wrongly continued")
	var t trainer
	flag.Float64Var(&t.penalty, "penalty", 10, "strength of the L2 penalty on weights")
	flag.Float64Var(&t.words, "words", 10, "how much all words of a text count together, one feature counting 1")
	flag.IntVar(&t.repositories, "repositories", 5, "leave out words that stand in fewer repositories than this")
	flag.IntVar(&t.steps, "steps", 60, "steps of the fit")
	flag.Parse()
	cases, err := load(patterns, *cv)
	if err != nil {
		log.Fatal(err)
	}
	if err := t.read(cases); err != nil {
		log.Fatal(err)
	}
	switch {
	case *cv != "":
		err = t.crossValidate(*blind, *list)
	case *out != "":
		for name, data := range t.fit(-1).files(t.source(patterns)) {
			if err == nil {
				err = os.WriteFile(filepath.Join(*out, name), data, 0o644)
			}
		}
	default:
		err = fmt.Errorf("neither -out nor -cv is given")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// weighted is a case that counts weight times. Held-out cases are measured on.
type weighted struct {
	evaluate.Case
	weight float64
	corpus bool
}

// load reads the cases that patterns name. The code decides the cases without words, and those with facts; they are left out.
func load(patterns []string, cv string) ([]weighted, error) {
	var list []weighted
	for _, p := range patterns {
		glob, n, ok := strings.Cut(p, "@")
		weight := 1.0
		if ok {
			var err error
			if weight, err = strconv.ParseFloat(n, 64); err != nil || weight <= 0 {
				return nil, fmt.Errorf("%s: %q is not a weight above 0", p, n)
			}
		}
		paths, err := filepath.Glob(glob)
		if err != nil || len(paths) == 0 {
			return nil, fmt.Errorf("no file matches %s", glob)
		}
		for _, path := range paths {
			cases, err := evaluate.LoadCases(os.DirFS(filepath.Dir(path)), filepath.Base(path))
			if err != nil {
				return nil, err
			}
			for _, c := range cases {
				if strings.TrimSpace(c.Input.Text) != "" && len(c.Input.Evidence) == 0 {
					list = append(list, weighted{c, weight, meta(c, "repo") != ""})
				}
			}
		}
	}
	if cv != "" && !slices.ContainsFunc(list, func(c weighted) bool { return c.corpus }) {
		return nil, fmt.Errorf("%s: no case names its repository", cv)
	}
	return list, nil
}

func meta(c evaluate.Case, key string) string {
	s, _ := c.Meta[key].(string)
	return s
}

func (t *trainer) source(patterns []string) string {
	return fmt.Sprintf("%d cases of %s; %d repositories", len(t.cases), strings.Join(patterns, ", "), len(t.repos()))
}

func (t *trainer) repos() map[string]int {
	n := map[string]int{}
	for _, c := range t.cases {
		if c.corpus {
			n[meta(c.Case, "repo")]++
		}
	}
	return n
}

const folds = 10

// deal deals the repositories into folds of about the same size.
func (t *trainer) deal() {
	n := t.repos()
	order := slices.Collect(maps.Keys(n))
	slices.SortFunc(order, func(a, b string) int {
		if n[a] != n[b] {
			return n[b] - n[a]
		}
		return strings.Compare(a, b)
	})
	var size [folds]int
	fold := map[string]int{}
	for _, repo := range order {
		least := 0
		for i := range size {
			if size[i] < size[least] {
				least = i
			}
		}
		fold[repo] = least
		size[least] += n[repo]
	}
	for i := range t.examples {
		t.examples[i].fold = -2 // never held out
		if c := t.cases[i/2]; c.corpus {
			t.examples[i].fold = fold[meta(c.Case, "repo")]
		}
	}
}

// crossValidate measures the heuristic on each fold with the weights that the other folds give.
func (t *trainer) crossValidate(blind, list bool) error {
	t.deal()
	var wait sync.WaitGroup
	var mu sync.Mutex
	var held []evaluate.Outcome
	var failed error
	limit := make(chan bool, 2)
	for fold := range folds {
		wait.Add(1)
		limit <- true
		go func() {
			defer wait.Done()
			outcomes, err := t.measure(fold, blind)
			mu.Lock()
			held, failed = append(held, outcomes...), err
			mu.Unlock()
			<-limit
		}()
	}
	wait.Wait()
	if failed != nil {
		return failed
	}
	slices.SortFunc(held, func(a, b evaluate.Outcome) int { return strings.Compare(a.Name, b.Name) })
	print(held, list)
	return nil
}

// measure returns what the heuristic makes of the cases of a fold.
func (t *trainer) measure(fold int, blind bool) ([]evaluate.Outcome, error) {
	tables := fstest.MapFS{}
	for name, data := range t.fit(fold).files("") {
		tables["weights/"+name] = &fstest.MapFile{Data: data}
	}
	h, err := classify.NewHeuristic(classify.Tables(tables))
	if err != nil {
		return nil, err
	}
	var cases []evaluate.Case
	for i, c := range t.cases {
		if t.examples[2*i].fold == fold {
			if blind {
				c.Input.Request = ""
			}
			cases = append(cases, c.Case)
		}
	}
	rep, err := evaluate.Evaluate(context.Background(), h, cases, evaluate.Options{})
	if err != nil {
		return nil, err
	}
	return rep.Outcomes, nil
}

// print prints the figures of outcomes, all and by agent.
func print(held []evaluate.Outcome, list bool) {
	groups := map[string][]evaluate.Outcome{}
	for _, o := range held {
		agent, _ := o.Meta["agent"].(string)
		lang, _ := o.Meta["lang"].(string)
		groups["agent "+agent] = append(groups["agent "+agent], o)
		groups["lang "+lang] = append(groups["lang "+lang], o)
		if list && o.Want.Type != classify.Status && continued(o, classify.DefaultThreshold) {
			fmt.Printf("%s %s %s: %s continued at %.2f: %s\n", agent, lang, o.Name, o.Want.Type, o.Verdict.Confidence, o.Result.Reason)
		}
	}
	for _, at := range []float64{0.7, 0.75, classify.DefaultThreshold, 0.85, 0.9} {
		f, n, sum := figuresOf(held, at), 0, 0.0
		for name, g := range groups {
			if strings.HasPrefix(name, "agent ") && len(g) >= 30 {
				sum += figuresOf(g, at).precision
				n++
			}
		}
		fmt.Printf("threshold %.2f: over agents %.3f  %s\n", at, sum/float64(n), f)
	}
	s := evaluate.Summarize(held).Figures
	fmt.Printf("types right %.3f, macro-F1 %.3f, ECE %.3f\n", s.Accuracy.Value, s.MacroF1.Value, s.ECE.Value)
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if len(groups[name]) >= 10 {
			fmt.Printf("%-18s %5d cases  %s\n", name, len(groups[name]), figuresOf(groups[name], classify.DefaultThreshold))
		}
	}
}

// figures are shares. precision: of the continues those that hit a status; caught: of the statuses those continued;
// completions: of these those continued; wrong: of the questions, blockers and errors those continued.
type figures struct{ precision, caught, completions, wrong float64 }

func (f figures) String() string {
	return fmt.Sprintf("precision %.3f  caught %.3f  completions %.3f  wrong %.3f", f.precision, f.caught, f.completions, f.wrong)
}

func continued(o evaluate.Outcome, threshold float64) bool {
	return o.Verdict.Type == classify.Status && o.Verdict.Confidence >= threshold
}

func figuresOf(outcomes []evaluate.Outcome, threshold float64) figures {
	var all, sent [3]float64 // statuses, completions, the rest
	for _, o := range outcomes {
		kind := 2
		switch o.Want.Type {
		case classify.Status:
			kind = 0
		case classify.Completion:
			kind = 1
		}
		all[kind]++
		if continued(o, threshold) {
			sent[kind]++
		}
	}
	share := func(a, b float64) float64 { return a / max(b, 1) }
	return figures{share(sent[0], sent[0]+sent[1]+sent[2]), share(sent[0], all[0]), share(sent[1], all[1]), share(sent[2], all[2])}
}

// files writes the weights as the heuristic reads them.
func (m *fitted) files(source string) map[string][]byte {
	var features, words bytes.Buffer
	head := func(b *bytes.Buffer, columns string) {
		fmt.Fprintf(b, "// Written by classify/internal/fit from %s.\n// In hundredths of log-odds: %s%s, name\n", source, columns, strings.Join(classes, ", "))
	}
	head(&features, "")
	head(&words, "rarity (in hundredths), ")
	for _, name := range slices.Sorted(maps.Keys(m.index)) {
		i := m.index[name]
		b, scale := &features, 100.0
		if isWord(name) {
			b, scale = &words, 100*m.rarity[i]*m.words
			fmt.Fprintf(b, "%.0f ", 100*m.rarity[i])
		}
		for c := range classes {
			fmt.Fprintf(b, "%.0f ", m.weights[i*len(classes)+c]*scale)
		}
		fmt.Fprintln(b, name)
	}
	return map[string][]byte{"features.txt": features.Bytes(), "words.txt": words.Bytes()}
}
