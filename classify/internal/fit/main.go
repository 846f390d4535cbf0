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

func main() {
	log.SetFlags(0)
	log.SetPrefix("fit: ")
	var patterns []string
	flag.Func("cases", "JSON Lines files of cases, as a glob; may be repeated", func(s string) error {
		patterns = append(patterns, s)
		return nil
	})
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
		for i, pattern := range patterns {
			patterns[i] = filepath.Base(pattern) // without the folders of this machine
		}
		for name, data := range t.fit(-1).files(strings.Join(patterns, ", ")) {
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
	names := make([]string, len(patterns))
	for i, p := range patterns {
		if p, err = filepath.Abs(p); err != nil {
			return err
		}
		names[i] = strings.TrimPrefix(filepath.ToSlash(p), "/")
	}
	cases, err := evaluate.LoadCases(os.DirFS("/"), names...)
	for _, c := range cases {
		if strings.TrimSpace(c.Input.Text) != "" && len(c.Input.Evidence) == 0 {
			t.add(h, c)
		}
	}
	return err
}

const folds = 20

// crossValidate measures the heuristic on each fold with the weights that the other folds give.
func (t *trainer) crossValidate(blind bool) error {
	repos := map[string]int{} // the fold of each, dealt in the order of their names
	for _, e := range *t {
		repos[e.repo] = 0
	}
	delete(repos, "")
	for i, repo := range slices.Sorted(maps.Keys(repos)) {
		repos[repo] = i % folds
	}
	for i := range *t {
		if e := &(*t)[i]; e.repo != "" {
			e.fold = repos[e.repo]
		}
	}
	var held []evaluate.Case
	var verdicts []classify.Result
	for fold := range folds {
		tables := fstest.MapFS{}
		for name, data := range t.fit(fold).files("") {
			tables["weights/"+name] = &fstest.MapFile{Data: data}
		}
		h, err := classify.NewHeuristic(classify.Tables(tables))
		if err != nil {
			return err
		}
		for _, e := range *t {
			if c := e.Case; e.original && e.fold == fold {
				if blind {
					c.Input.Request = ""
				}
				verdict, err := h.Classify(context.Background(), c.Input)
				if err != nil {
					return err
				}
				held, verdicts = append(held, c), append(verdicts, verdict)
			}
		}
	}
	report, err := evaluate.Record(held, verdicts, evaluate.Options{Name: "held out"})
	if err != nil {
		return err
	}
	agents, sum := 0, 0.0
	for _, g := range report.By("agent") {
		if g.Cases >= 30 {
			agents, sum = agents+1, sum+g.Figures["continue_precision"].Value
		}
	}
	fmt.Printf("continue_precision over agents %.3f\n", sum/float64(agents))
	for _, key := range []string{"agent", "lang"} {
		if err := (evaluate.View{Reports: []evaluate.Report{report}, By: key}).Text(os.Stdout); err != nil {
			return err
		}
	}
	return nil
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
