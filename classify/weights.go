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

// parseWeights reads the table in a file: a line a feature, its name and a whole number for each class. An error
// names the line.
func parseWeights(fsys fs.FS, file string) (weights, error) {
	src, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	w := make(weights, 512)
	n := 0
	for line := range strings.SplitSeq(strings.TrimPrefix(string(src), byteOrderMark), "\n") {
		n++
		name, rest := cutField(line)
		if name == "" || strings.HasPrefix(name, "//") {
			continue
		}
		var row [nClasses]int
		columns := 1
		for field, rest := cutField(rest); field != ""; field, rest = cutField(rest) {
			if columns < len(row)+1 {
				if row[columns-1], err = strconv.Atoi(field); err != nil {
					return nil, fmt.Errorf("weights %s:%d: %s is not a whole number", file, n, field)
				}
			}
			columns++
		}
		if columns != len(row)+1 {
			return nil, fmt.Errorf("weights %s:%d: %d columns, want %d: a feature and %s", file, n, columns, len(row)+1, strings.Join(classNames[:], ", "))
		}
		if _, ok := w[name]; ok {
			return nil, fmt.Errorf("weights %s:%d: feature %s stands there twice", file, n, name)
		}
		w[name] = row
	}
	if len(w) == 0 {
		return nil, fmt.Errorf("weights %s: no rows", file)
	}
	return w, nil
}

// cutField returns the first field of a line and what follows it.
func cutField(line string) (field, rest string) {
	first := 0
	for first < len(line) && isBlank(line[first]) {
		first++
	}
	end := first
	for end < len(line) && !isBlank(line[end]) {
		end++
	}
	return line[first:end], line[end:]
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
