package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

type trainer struct {
	l2, sharpen float64
	others      float64 // how much a case in another script counts
	dropout     float64 // how likely a feature is left out of a case in a step
	minimum     int
	names       []string // of the features, by number
	index       map[string]int
	examples    []example
	typical     bool // weigh the cases that are never held out as if the labels were as frequent among them as among the others
}

type example struct {
	fold     string // the repository, "" for cases that are never held out
	script   string
	weight   float64
	class    int
	features []feature
}

type feature struct {
	index int
	value float64
}

func (t *trainer) add(h *classify.Heuristic, c evaluate.Case, weight float64, foldable bool) {
	e := example{weight: weight, class: slices.Index(classes, label(c)), features: []feature{{0, 1}}}
	if foldable {
		e.fold = meta(c, "repo")
	}
	for _, f := range h.Features(c.Input) {
		if name, ok := strings.CutPrefix(f.Name, "script:"); ok {
			e.script = name
		}
		i, ok := t.index[f.Name]
		if !ok {
			i = len(t.names)
			t.index[f.Name] = i
			t.names = append(t.names, f.Name)
		}
		e.features = append(e.features, feature{i, f.Value})
	}
	t.examples = append(t.examples, e)
}

func label(c evaluate.Case) string {
	switch {
	case c.Want.Type != classify.Status:
		return string(c.Want.Type)
	case c.Want.WasRejectedCompletion:
		return "rejected"
	}
	return "progress"
}

func meta(c evaluate.Case, key string) string {
	s, _ := c.Meta[key].(string)
	return s
}

// fit returns the weights for texts in one script, a row a feature and a column a class, fitted on all examples but those of
// one fold. The same examples give the same weights.
func (t *trainer) fit(script, without string) [][]float64 {
	k := len(classes)
	prior := t.priors(without)
	var cases []*example
	seen := make([]int, len(t.names))
	for i := range t.examples {
		e := &t.examples[i]
		if without != "" && e.fold == without {
			continue
		}
		cases = append(cases, e)
		for _, f := range e.features {
			seen[f.index]++
		}
	}
	w, grad, mom, vel := matrix(len(seen), k), matrix(len(seen), k), matrix(len(seen), k), matrix(len(seen), k)
	const steps, rate, b1, b2 = 400, 0.05, 0.9, 0.999
	p := make([]float64, k)
	noise := rand.New(rand.NewPCG(1, 2))
	kept := make([]feature, 0, len(seen))
	for step := 1; step <= steps; step++ {
		for i := range grad {
			for c := range grad[i] {
				grad[i][c] = t.l2 * w[i][c]
				if i == 0 {
					grad[i][c] = 0
				}
			}
		}
		for _, e := range cases {
			kept = t.noised(kept[:0], e.features, noise)
			predict(p, w, kept)
			p[e.class]--
			weight := e.weight
			if e.script != script {
				weight *= t.others
			}
			if e.fold == "" {
				weight *= prior[e.class]
			}
			for _, f := range kept {
				for c := range p {
					grad[f.index][c] += weight * p[c] * f.value
				}
			}
		}
		lr := rate
		if step > steps/2 {
			lr *= 2 * (1 - float64(step)/(steps+1))
		}
		for i := range w {
			if seen[i] < t.minimum {
				continue
			}
			for c := range w[i] { // Adam (Kingma and Ba 2015)
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

// priors returns by class what the weight of a case that is never held out is multiplied with.
func (t *trainer) priors(without string) []float64 {
	f := make([]float64, len(classes))
	for c := range f {
		f[c] = 1
	}
	if !t.typical {
		return f
	}
	mine, real := make([]float64, len(classes)), make([]float64, len(classes))
	var allMine, allReal float64
	for _, e := range t.examples {
		switch {
		case e.fold == "":
			mine[e.class] += e.weight
			allMine += e.weight
		case e.fold != without:
			real[e.class] += e.weight
			allReal += e.weight
		}
	}
	for c := range f {
		f[c] = real[c] / allReal * allMine / mine[c]
	}
	return f
}

func matrix(n, k int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, k)
	}
	return m
}

// noised appends to kept the features that are not left out by chance, with values that make up for those that are. Features
// say much the same in many ways; so none comes to be relied on because of how it goes with the others in a few repositories.
func (t *trainer) noised(kept, features []feature, noise *rand.Rand) []feature {
	if t.dropout == 0 {
		return append(kept, features...)
	}
	for i, f := range features {
		switch {
		case i == 0: // the bias
			kept = append(kept, f)
		case noise.Float64() >= t.dropout:
			kept = append(kept, feature{f.index, f.value / (1 - t.dropout)})
		}
	}
	return kept
}

// predict sets p to the probability of each class.
func predict(p []float64, w [][]float64, features []feature) {
	clear(p)
	for _, f := range features {
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
}
