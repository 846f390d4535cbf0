package classify

import (
	"fmt"
	"io/fs"
	"math"
	"slices"
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

// classTypes are the types of the first classes. The others are a status.
var classTypes = [...]OutputType{Error, Blocker, Question, Completion}

// row is how much something speaks for each class, in log-odds.
type row [nClasses]float64

// model is the weights: how much each feature and each word speaks for each class.
type model struct {
	features map[string]row
	words    map[string][nZones]int32 // where in weights a word's are, by zone; 0: nowhere
	weights  []wordWeight
}

// wordWeight is the weight of a word in a zone. A rare word counts more.
type wordWeight struct {
	rarity float64
	row    row
}

const (
	featuresFile = "features.txt"
	wordsFile    = "words.txt"
)

// parseModel reads the weights in fsys. In features.txt a line is a weight for each class and the name of a feature.
// In words.txt it is the rarity, a weight for each class, the zone and the word or the pair. All numbers are
// hundredths. An error names file and line.
func parseModel(fsys fs.FS) (*model, error) {
	m := &model{
		features: map[string]row{}, words: make(map[string][nZones]int32, 1<<14), weights: make([]wordWeight, 1, 1<<14),
	}
	err := eachRow(fsys, featuresFile, nClasses, func(name string, nums []float64) error {
		var r row
		copy(r[:], nums)
		if _, ok := m.features[name]; ok {
			return fmt.Errorf("%s stands there twice", name)
		}
		m.features[name] = r
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, eachRow(fsys, wordsFile, nClasses+1, func(name string, nums []float64) error {
		prefix, term, _ := strings.Cut(name, " ")
		z := slices.Index(zoneNames[:], prefix)
		if z < 0 {
			return fmt.Errorf("%q is not a zone", prefix)
		}
		w := wordWeight{rarity: nums[0]}
		copy(w.row[:], nums[1:])
		at := m.words[term]
		at[z] = int32(len(m.weights))
		m.words[term] = at
		m.weights = append(m.weights, w)
		return nil
	})
}

// eachRow calls add for each line of a file: n numbers, and what stands behind them.
func eachRow(fsys fs.FS, file string, n class, add func(name string, nums []float64) error) error {
	src, err := fs.ReadFile(fsys, file)
	if err != nil {
		return fmt.Errorf("read weights: %w", err)
	}
	nums := make([]float64, n)
	rest, number := strings.TrimPrefix(string(src), byteOrderMark), 0
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		line = strings.TrimRight(line, "\r")
		if number++; line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		for i := range nums {
			field, after, _ := strings.Cut(line, " ")
			v, err := strconv.Atoi(field)
			if err != nil {
				return fmt.Errorf("weights %s:%d: %q is not a whole number; want %d of them and a name", file, number, field, n)
			}
			nums[i], line = float64(v)/100, after
		}
		if err := add(line, nums); err != nil {
			return fmt.Errorf("weights %s:%d: %w", file, number, err)
		}
	}
	return nil
}

// probabilities returns how likely each class is, given the features and the words of a text.
func (m *model) probabilities(features []string, words *wordReader) row {
	score := m.features["bias"]
	for _, f := range features {
		r := m.features[f]
		for c, w := range r {
			score[c] += w
		}
	}
	words.score(&score)
	top, sum := slices.Max(score[:]), 0.0
	for c := range score {
		score[c] = math.Exp(score[c] - top)
		sum += score[c]
	}
	for c := range score {
		score[c] /= sum
	}
	return score
}
