package main

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

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
	fold     int
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
	e := example{Case: c, original: true, repo: repo, fold: -1, weight: 1, class: class, features: h.Features(c.Input)}
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
	weights []float64 // a row of classes for each feature
}

// fit learns from all examples but those of one fold. The same examples give the same weights.
func (t *trainer) fit(without int) *fitted {
	kept := slices.DeleteFunc(slices.Clone(*t), func(e example) bool { return without >= 0 && e.fold == without })
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
