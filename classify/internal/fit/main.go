// Command fit learns the heuristic's weights from labelled cases, and measures what they are worth on cases of
// repositories that they were not learned from.
//
//	go run ./classify/internal/fit -cases 'classify/testdata/cases/*.jsonl' -cases CORPUS -out classify/weights
//	go run ./classify/internal/fit -cases 'classify/testdata/cases/*.jsonl' -cases CORPUS -cv
//
// CORPUS is a file of labelled outputs of real agents, in the format of package evaluate, whose meta names the
// repository and the agent. It is not part of the repository.
//
// The model is a multinomial logistic regression over [classify.Heuristic.Features]. A feature counts 1. A word of a
// text counts by how rare it is, divided by the length of the vector of all the text's words. Words that stand in few
// repositories are left out, and so are names. Weights are written as whole hundredths.
//
// With -cv the repositories are dealt into twenty folds. The weights for each fold are learned from the others, words
// and all, and the figures are those of the whole heuristic on the cases held out. Cases without a repository are
// never held out.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

type files []string

func (f *files) String() string     { return strings.Join(*f, ",") }
func (f *files) Set(s string) error { *f = append(*f, s); return nil }

// names returns the patterns without the folders of this machine.
func (f files) names() string {
	var names []string
	for _, pattern := range f {
		names = append(names, filepath.Base(pattern))
	}
	return strings.Join(names, ", ")
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("fit: ")
	var patterns files
	flag.Var(&patterns, "cases",
		"JSON Lines files of cases, as a glob; may be repeated")
	out := flag.String("out", "", "write features.txt and words.txt to this folder")
	cv := flag.Bool("cv", false, "measure in folds by repository, instead of writing")
	blind := flag.Bool("blind", false, "with -cv: leave the request out of the cases that are measured")
	flag.Parse()
	var t trainer
	err := t.load(patterns)
	switch {
	case err != nil:
	case *cv:
		err = t.crossValidate(*blind)
	case *out != "":
		for name, data := range t.fit(-1).files(patterns.names()) {
			if err == nil {
				err = os.WriteFile(filepath.Join(*out, name), data, 0o644)
			}
		}
	default:
		err = errors.New("neither -out nor -cv is given")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// load reads the cases that patterns name, and takes down their features. Cases that the code decides by itself are
// left out: those without a text and those with facts.
func (t *trainer) load(patterns []string) error {
	h, err := classify.NewHeuristic()
	if err != nil {
		return err
	}
	for _, p := range patterns {
		paths, err := filepath.Glob(p)
		if err != nil || len(paths) == 0 {
			return fmt.Errorf("no file matches %s", p)
		}
		for _, path := range paths {
			cases, err := evaluate.LoadCases(os.DirFS(filepath.Dir(path)), filepath.Base(path))
			if err != nil {
				return err
			}
			for _, c := range cases {
				if strings.TrimSpace(c.Input.Text) != "" && len(c.Input.Evidence) == 0 {
					t.add(h, c)
				}
			}
		}
	}
	return nil
}

const folds = 20

// deal deals the repositories into folds, in the order of their names.
func (t *trainer) deal() {
	repos := map[string]int{}
	for _, e := range t.examples {
		repos[e.repo] = -1
	}
	delete(repos, "")
	for i, repo := range slices.Sorted(maps.Keys(repos)) {
		repos[repo] = i % folds
	}
	for i := range t.examples {
		e := &t.examples[i]
		e.fold = -1 // never held out
		if e.repo != "" {
			e.fold = repos[e.repo]
		}
	}
}

// crossValidate measures the heuristic on each fold with the weights that the other folds give.
func (t *trainer) crossValidate(blind bool) error {
	t.deal()
	var held []evaluate.Outcome
	for fold := range folds {
		tables := fstest.MapFS{}
		for name, data := range t.fit(fold).files("") {
			tables["weights/"+name] = &fstest.MapFile{Data: data}
		}
		h, err := classify.NewHeuristic(classify.Tables(tables))
		if err != nil {
			return err
		}
		var cases []evaluate.Case
		for _, e := range t.examples {
			if c := e.Case; e.original && e.fold == fold {
				if blind {
					c.Input.Request = ""
				}
				cases = append(cases, c)
			}
		}
		rep, err := evaluate.Evaluate(context.Background(), h, cases, evaluate.Options{})
		if err != nil {
			return err
		}
		held = append(held, rep.Outcomes...)
	}
	print(held)
	return nil
}

// print prints the figures of outcomes, of all and by agent and language.
func print(held []evaluate.Outcome) {
	groups := map[string][]evaluate.Outcome{}
	for _, o := range held {
		for _, key := range []string{"agent", "lang"} {
			group := fmt.Sprint(key, " ", o.Meta[key])
			groups[group] = append(groups[group], o)
		}
	}
	for _, threshold := range []float64{0.7, 0.75, classify.DefaultThreshold, 0.85, 0.9} {
		n, sum := 0, 0.0
		for name, g := range groups {
			if strings.HasPrefix(name, "agent ") && len(g) >= 30 {
				sum += figuresOf(g, threshold).precision
				n++
			}
		}
		fmt.Printf("threshold %.2f: over agents %.3f  %s\n", threshold, sum/float64(n), figuresOf(held, threshold))
	}
	s := evaluate.Summarize(held).Figures
	fmt.Printf("types right %.3f, macro-F1 %.3f, ECE %.3f\n", s["accuracy"].Value, s["macro_f1"].Value, s["ece"].Value)
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if g := groups[name]; len(g) >= 10 {
			fmt.Printf("%-18s %5d cases  %s\n", name, len(g), figuresOf(g, classify.DefaultThreshold))
		}
	}
}

// figures are shares. precision: of the continues those that hit a status; caught: of the statuses those continued;
// completions: of these those continued; wrong: of the questions, blockers and errors those continued.
type figures struct{ precision, caught, completions, wrong float64 }

func (f figures) String() string {
	return fmt.Sprintf("precision %.3f  caught %.3f  completions %.3f  wrong %.3f", f.precision, f.caught, f.completions,
		f.wrong)
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
		if o.Verdict.Type == classify.Status && o.Verdict.Confidence >= threshold {
			sent[kind]++
		}
	}
	share := func(a, b float64) float64 { return a / max(b, 1) }
	return figures{share(sent[0], sent[0]+sent[1]+sent[2]), share(sent[0], all[0]), share(sent[1], all[1]),
		share(sent[2], all[2])}
}

// files writes the weights as the heuristic reads them.
func (m *fitted) files(source string) map[string][]byte {
	var features, words bytes.Buffer
	for b, first := range map[*bytes.Buffer]string{&features: "", &words: "rarity, "} {
		fmt.Fprintf(b, "// Written by classify/internal/fit from %s.\n// In hundredths of log-odds: %s%s, name\n",
			source, first, strings.Join(classes, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(m.index)) {
		i := m.index[name]
		b, scale := &features, 100.0
		if isWord(name) {
			b, scale = &words, 100*m.rarity[i]*wordsWeight
			fmt.Fprintf(b, "%.0f ", 100*m.rarity[i])
		}
		for c := range classes {
			fmt.Fprintf(b, "%.0f ", m.weights[i*len(classes)+c]*scale)
		}
		fmt.Fprintln(b, name)
	}
	return map[string][]byte{"features.txt": features.Bytes(), "words.txt": words.Bytes()}
}
