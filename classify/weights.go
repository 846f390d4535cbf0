package classify

import (
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// class is what the weights tell apart: the five types, a rejected completion apart from honest progress.
type class int

const (
	classError class = iota
	classBlocker
	classQuestion
	classCompletion
	classRejected
	classProgress
	nClasses
)

var classNames = [nClasses]string{"error", "blocker", "question", "completion", "rejected", "progress"}

// weights are hundredths of log-odds: how much a feature speaks for each class.
type weights map[string][nClasses]int

// parseWeights reads the table in the file name: a line a feature, its name and a whole number for each class. An error
// names the line.
func parseWeights(fsys fs.FS, name string) (weights, error) {
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	w := make(weights)
	for i, line := range strings.Split(strings.TrimPrefix(string(src), byteOrderMark), "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "//") {
			continue
		}
		if len(f) != int(nClasses)+1 {
			return nil, fmt.Errorf("weights %s:%d: %d columns, want %d: a feature and %s", name, i+1, len(f), nClasses+1, strings.Join(classNames[:], ", "))
		}
		if _, ok := w[f[0]]; ok {
			return nil, fmt.Errorf("weights %s:%d: feature %s stands there twice", name, i+1, f[0])
		}
		var row [nClasses]int
		for c := range row {
			if row[c], err = strconv.Atoi(f[c+1]); err != nil {
				return nil, fmt.Errorf("weights %s:%d: %s is not a whole number", name, i+1, f[c+1])
			}
		}
		w[f[0]] = row
	}
	if len(w) == 0 {
		return nil, fmt.Errorf("weights %s: no rows", name)
	}
	return w, nil
}

// table is weights by the numbers of the features.
type table struct {
	names  []string
	groups []group
	bias   [nClasses]float64
	rows   [][nClasses]float64 // log-odds
}

func (w weights) table(names []string) *table {
	t := &table{names: names, rows: make([][nClasses]float64, len(names))}
	fill := func(row *[nClasses]float64, name string) {
		for c, n := range w[name] {
			row[c] = float64(n) / 100
		}
	}
	fill(&t.bias, "bias")
	for i, name := range names {
		t.groups = append(t.groups, groupOf(name))
		fill(&t.rows[i], name)
	}
	return t
}

// probabilities returns how likely each class is, given the features that hold.
func (t *table) probabilities(held []uint16) [nClasses]float64 {
	score := t.bias
	for _, f := range held {
		for c, w := range &t.rows[f] {
			score[c] += w
		}
	}
	top := math.Inf(-1)
	for _, s := range score {
		top = max(top, s)
	}
	sum := 0.0
	for c := range score {
		score[c] = math.Exp(score[c] - top)
		sum += score[c]
	}
	for c := range score {
		score[c] /= sum
	}
	return score
}
