// Command fit fits the heuristic's weights on labelled cases: multinomial logistic regression over the heuristic's
// features, with an L2 penalty, rounded to hundredths of log-odds.
//
//	go run ./classify/internal/fit -cases 'classify/testdata/cases/*.jsonl@2' -cases more.jsonl -out classify/weights.txt
//	go run ./classify/internal/fit -cases 'classify/testdata/cases/*.jsonl@2' -cases more.jsonl -cv more.jsonl
//
// The shipped weights come from the shipped cases and from dev.jsonl, labelled outputs of real agents that are not part of
// the repository; the head of weights.txt says how often each counted.
//
// With -cv nothing is written: each repository named in that file (meta.repo) is held out in turn, and the figures are
// those of the held-out cases.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
)

var classes = []string{"error", "blocker", "question", "completion", "rejected", "progress"}

type example struct {
	Name  string         `json:"name"`
	Input classify.Input `json:"input"`
	Want  struct {
		Type     classify.OutputType `json:"type"`
		Rejected bool                `json:"was_rejected_completion"`
	} `json:"want"`
	Meta struct {
		Repo string `json:"repo"`
		Lang string `json:"lang"`
	} `json:"meta"`

	file     string
	weight   float64
	blinded  bool // a copy without its request: for fitting, never for figures
	class    int
	features []feature
}

type feature struct {
	index int
	value float64
}

type files []string

func (f *files) String() string     { return strings.Join(*f, ",") }
func (f *files) Set(s string) error { *f = append(*f, s); return nil }

func main() {
	log.SetFlags(0)
	log.SetPrefix("fit: ")
	var patterns files
	flag.Var(&patterns, "cases", "JSON Lines files of cases, as a glob; GLOB@N counts them N times; may be given several times")
	out := flag.String("out", "", "file to write the weights to")
	cv := flag.String("cv", "", "cross-validate on this file, folds by repository, instead of writing")
	l2 := flag.Float64("l2", 3, "strength of the penalty on large weights")
	minimum := flag.Int("min", 3, "leave out features that fewer cases have")
	blind := flag.Float64("blind", 0.3, "how much a copy of each case without its request counts: in a pipe there is none")
	show := flag.String("show", "", "with -cv: list the wrong cases of this class")
	flag.Parse()

	h, err := classify.NewHeuristic()
	if err != nil {
		log.Fatal(err)
	}
	index := map[string]int{"bias": 0}
	names := []string{"bias"}
	var sources []string
	features := func(in classify.Input) []feature {
		list := []feature{{0, 1}}
		for _, f := range h.Features(in) {
			i, ok := index[f.Name]
			if !ok {
				i = len(names)
				index[f.Name] = i
				names = append(names, f.Name)
			}
			list = append(list, feature{i, f.Value})
		}
		return list
	}
	var all []*example
	for _, p := range patterns {
		p, weight, err := weighted(p)
		if err != nil {
			log.Fatal(err)
		}
		paths, err := filepath.Glob(p)
		if err != nil || len(paths) == 0 {
			log.Fatalf("no file matches %s", p)
		}
		for _, path := range paths {
			cases, err := load(path)
			if err != nil {
				log.Fatal(err)
			}
			for _, c := range cases {
				c.weight = weight
				c.features = features(c.Input)
				if c.Input.Request != "" && *blind > 0 {
					blinded := *c
					blinded.Input.Request = ""
					blinded.features = features(blinded.Input)
					blinded.weight *= *blind
					blinded.blinded = true
					all = append(all, &blinded)
				}
			}
			all = append(all, cases...)
			source := fmt.Sprintf("%s (%d cases", filepath.Base(path), len(cases))
			if weight != 1 {
				source += fmt.Sprintf(" that count %g times", weight)
			}
			sources = append(sources, source+")")
		}
	}
	if *cv != "" {
		crossValidate(all, *cv, len(names), *l2, *minimum, *show)
		return
	}
	w := train(all, len(names), *l2, *minimum)
	report("fitted on these very cases", all, func(e *example) []float64 { return predict(w, e) }, *show)
	if *out != "" {
		if err := write(*out, w, names, fmt.Sprintf("%s, with -l2 %g -blind %g -min %d", strings.Join(sources, ", "), *l2, *blind, *minimum)); err != nil {
			log.Fatal(err)
		}
	}
}

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

func load(path string) ([]*example, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var cases []*example
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	for n := 1; sc.Scan(); n++ {
		if strings.TrimSpace(sc.Text()) == "" {
			continue
		}
		e := &example{file: path}
		if err := json.Unmarshal(sc.Bytes(), e); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		name := string(e.Want.Type)
		if e.Want.Type == classify.Status {
			name = "progress"
			if e.Want.Rejected {
				name = "rejected"
			}
		}
		if e.class = slices.Index(classes, name); e.class < 0 {
			return nil, fmt.Errorf("%s:%d: unknown type %q", path, n, e.Want.Type)
		}
		if e.Meta.Repo == "" { // cases of no repository: ten folds
			h := fnv.New32a()
			h.Write([]byte(e.Name))
			e.Meta.Repo = fmt.Sprintf("fold %d", h.Sum32()%10)
		}
		if strings.TrimSpace(e.Input.Text) != "" && len(e.Input.Evidence) == 0 { // the code decides those by itself
			cases = append(cases, e)
		}
	}
	return cases, sc.Err()
}

// train returns the weights: a row a feature, a column a class. Deterministic.
func train(cases []*example, features int, l2 float64, minimum int) [][]float64 {
	k := len(classes)
	seen := make([]int, features)
	for _, e := range cases {
		for _, f := range e.features {
			seen[f.index]++
		}
	}
	w, grad, mom, vel := matrix(features, k), matrix(features, k), matrix(features, k), matrix(features, k)
	const steps, rate, b1, b2 = 400, 0.05, 0.9, 0.999
	for step := 1; step <= steps; step++ {
		for i := range grad {
			for c := range grad[i] {
				grad[i][c] = l2 * w[i][c]
				if i == 0 {
					grad[i][c] = 0
				}
			}
		}
		for _, e := range cases {
			p := predict(w, e)
			p[e.class]--
			for _, f := range e.features {
				for c := range p {
					grad[f.index][c] += e.weight * p[c] * f.value
				}
			}
		}
		lr := rate
		if step > steps/2 {
			lr *= 2 * (1 - float64(step)/(steps+1))
		}
		for i := range w {
			if seen[i] < minimum {
				continue
			}
			for c := range w[i] { // Adam
				g := grad[i][c]
				mom[i][c] = b1*mom[i][c] + (1-b1)*g
				vel[i][c] = b2*vel[i][c] + (1-b2)*g*g
				m := mom[i][c] / (1 - math.Pow(b1, float64(step)))
				v := vel[i][c] / (1 - math.Pow(b2, float64(step)))
				w[i][c] -= lr * m / (math.Sqrt(v) + 1e-8)
			}
		}
	}
	return w
}

func matrix(n, k int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, k)
	}
	return m
}

func predict(w [][]float64, e *example) []float64 {
	p := make([]float64, len(classes))
	for _, f := range e.features {
		for c := range p {
			p[c] += w[f.index][c] * f.value
		}
	}
	top, sum := slices.Max(p), 0.0
	for c := range p {
		p[c] = math.Exp(p[c] - top)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return p
}

func write(path string, w [][]float64, names []string, sources string) error {
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order[1:], func(a, b int) int { return strings.Compare(names[a], names[b]) })
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
			row[c] = int(math.Round(w[i][c] * 100))
			zero = zero && row[c] == 0
		}
		if zero && i != 0 {
			continue
		}
		fmt.Fprintf(&b, "%-43s", names[i])
		for _, v := range row {
			fmt.Fprintf(&b, "%11d", v)
		}
		b.WriteByte('\n')
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
