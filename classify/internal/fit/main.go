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
	"math"
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
		for name, data := range t.fit(func(example) bool { return false }).files(strings.Join(patterns, ", ")) {
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
	repos[""] = -1
	var held []evaluate.Case
	var verdicts []classify.Result
	for fold := range folds {
		tables := fstest.MapFS{}
		for name, data := range t.fit(func(e example) bool { return repos[e.repo] == fold }).files("") {
			tables["weights/"+name] = &fstest.MapFile{Data: data}
		}
		h, err := classify.NewHeuristic(classify.Tables(tables))
		if err != nil {
			return err
		}
		for _, e := range *t {
			if c := e.Case; e.original && repos[e.repo] == fold {
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

var classes = []string{"error", "blocker", "question", "completion", "rejected", "progress"}

const (
	penalty           = 10.0 // strength of the L2 penalty on weights
	wordsWeight       = 10.0 // how much all words of a text count together, one feature counting 1
	leastRepositories = 5    // words that stand in fewer repositories are left out
	leastCases        = 5    // features that fewer cases have are left out
	steps             = 60   // of the fit
	blindWeight       = 0.3  // how much the copy of a case without its request counts: a pipe has none
)

// trainer learns from examples.
type trainer []example

type example struct {
	evaluate.Case
	original bool   // with its request; the others are copies without
	repo     string // "" for a case that is never held out
	weight   float64
	class    int
	features []string

	index []int // of its features in a model
	value []float64
}

// add takes down a case and its features, with its request and without.
func (t *trainer) add(h *classify.Heuristic, c evaluate.Case) {
	class := slices.Index(classes, string(c.Want.Type))
	if c.Want.Type == classify.Status {
		class = slices.Index(classes, "progress")
		if c.Want.WasRejectedCompletion {
			class = slices.Index(classes, "rejected")
		}
	}
	repo, _ := c.Meta["repo"].(string)
	e := example{Case: c, original: true, repo: repo, weight: 1, class: class, features: h.Features(c.Input)}
	if c.Input.Request != "" {
		e.weight -= blindWeight
		blind := e
		blind.Input.Request, blind.original, blind.weight = "", false, blindWeight
		blind.features = h.Features(blind.Input)
		*t = append(*t, blind)
	}
	*t = append(*t, e)
}

func isWord(feature string) bool { return strings.Contains(feature, " ") }

// fitted is a model that was learned.
type fitted struct {
	index   map[string]int // of a feature in the other fields
	rarity  []float64      // of words; -1 of features
	weights []float64      // a row of classes for each feature
}

// fit learns from the examples that are not held out. The same examples give the same weights.
func (t *trainer) fit(heldOut func(example) bool) *fitted {
	kept := slices.DeleteFunc(slices.Clone(*t), heldOut)
	m := kept.vocabulary()
	for i := range kept {
		m.number(&kept[i])
	}
	m.learn(kept)
	return m
}

// vocabulary chooses the features of the examples that are worth a weight, and how rare the words are.
func (t trainer) vocabulary() *fitted {
	seen, repos, cases := map[string]int{}, map[string]map[string]bool{}, 0
	for _, e := range t {
		if e.original {
			cases++
		}
		for _, f := range e.features {
			if repos[f] == nil {
				repos[f] = map[string]bool{}
			}
			if e.repo != "" {
				repos[f][e.repo] = true
			}
			if e.original || !isWord(f) {
				seen[f]++
			}
		}
	}
	m := &fitted{index: map[string]int{"bias": 0}, rarity: []float64{-1}}
	for _, f := range slices.Sorted(maps.Keys(seen)) {
		rarity := -1.0
		switch {
		case seen[f] < leastCases, isWord(f) && len(repos[f]) < leastRepositories:
			continue
		case isWord(f):
			rarity = math.Log(float64(cases) / float64(seen[f]))
		}
		m.index[f] = len(m.rarity)
		m.rarity = append(m.rarity, rarity)
	}
	return m
}

// number turns the features of an example into numbers.
func (m *fitted) number(e *example) {
	e.index, e.value = []int{0}, []float64{1}
	norm := 0.0
	for _, f := range e.features {
		if i, ok := m.index[f]; ok {
			e.index, e.value = append(e.index, i), append(e.value, math.Abs(m.rarity[i]))
			norm += max(0, m.rarity[i]) * m.rarity[i]
		}
	}
	for n, i := range e.index {
		if m.rarity[i] >= 0 {
			e.value[n] *= wordsWeight / math.Sqrt(norm)
		}
	}
}

// learn minimises the loss with L-BFGS (Nocedal 1980), which remembers ten steps.
func (m *fitted) learn(samples trainer) {
	const memory = 10
	n := len(m.rarity) * len(classes)
	x, grad := make([]float64, n), make([]float64, n)
	loss := m.loss(samples, x, grad)
	var moves, changes [][]float64
	for range steps {
		direction := slices.Clone(grad)
		alpha := make([]float64, len(moves))
		for i := len(moves) - 1; i >= 0; i-- {
			alpha[i] = dot(moves[i], direction) / dot(moves[i], changes[i])
			addTo(direction, changes[i], -alpha[i])
		}
		scale := 1 / math.Sqrt(dot(grad, grad))
		if k := len(moves) - 1; k >= 0 {
			scale = dot(moves[k], changes[k]) / dot(changes[k], changes[k])
		}
		for i := range direction {
			direction[i] *= scale
		}
		for i := range moves {
			addTo(direction, moves[i], alpha[i]-dot(changes[i], direction)/dot(moves[i], changes[i]))
		}
		slope, size := dot(grad, direction), 1.0
		next, nextGrad := slices.Clone(x), make([]float64, n)
		var after float64
		for {
			copy(next, x)
			addTo(next, direction, -size)
			if after = m.loss(samples, next, nextGrad); after <= loss-1e-4*size*slope || size < 1e-6 {
				break
			}
			size /= 2
		}
		if size < 1e-6 || loss-after < 1e-5*loss {
			break
		}
		move, change := slices.Clone(next), slices.Clone(nextGrad)
		addTo(move, x, -1)
		addTo(change, grad, -1)
		moves, changes = append(moves, move), append(changes, change)
		if len(moves) > memory {
			moves, changes = moves[1:], changes[1:]
		}
		x, grad, loss = next, nextGrad, after
	}
	m.weights = x
}

// loss returns the penalised log loss at w, and sets grad to its gradient.
func (m *fitted) loss(samples trainer, w, grad []float64) float64 {
	k := len(classes)
	sum := 0.0
	for i, v := range w {
		if i < k { // the bias
			grad[i] = 0
			continue
		}
		grad[i] = penalty * v
		sum += penalty * v * v / 2
	}
	p := make([]float64, k)
	for _, s := range samples {
		clear(p)
		for j, i := range s.index {
			row := w[i*k : i*k+k]
			for c, v := range row {
				p[c] += v * s.value[j]
			}
		}
		top, total := slices.Max(p), 0.0
		for c := range p {
			p[c] = math.Exp(p[c] - top)
			total += p[c]
		}
		for c := range p {
			p[c] /= total
		}
		sum -= s.weight * math.Log(max(p[s.class], 1e-300))
		p[s.class]--
		for j, i := range s.index {
			row, v := grad[i*k:i*k+k], s.weight*s.value[j]
			for c := range row {
				row[c] += v * p[c]
			}
		}
	}
	return sum
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func addTo(a, b []float64, by float64) {
	for i, v := range b {
		a[i] += by * v
	}
}
