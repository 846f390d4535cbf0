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
	words    map[string][nZones]int32 // which of lines has a word's weights, by zone; 0: none
	text     string                   // words.txt
	lines    []int32                  // where each line with weights begins in text, after a first one that has none
}

const (
	featuresFile = "features.txt"
	wordsFile    = "words.txt"
)

// parseModel reads the weights. In features.txt a line is a weight for each class and the name of a feature. In
// words.txt it is the rarity, a weight for each class, the zone and the word or the pair. All numbers are hundredths. An
// error names file and line. A host's words.txt is checked here. The numbers of the built-in one, which is given as text,
// are read when a text has the word.
func parseModel(fsys fs.FS, builtinWords string) (*model, error) {
	m := &model{
		features: map[string]row{}, words: make(map[string][nZones]int32, 1<<13), lines: make([]int32, 1, 1<<14),
	}
	_, err := eachLine(fsys, featuresFile, "", func(_ int, line string) error {
		var r row
		name, err := numbers(r[:], line)
		if _, ok := m.features[name]; ok && err == nil {
			return fmt.Errorf("%s stands there twice", name)
		}
		m.features[name] = r
		return err
	})
	if err != nil {
		return nil, err
	}
	m.text, err = eachLine(fsys, wordsFile, builtinWords, func(start int, line string) error {
		name := strings.TrimLeft(line, "-0123456789 ")
		if builtinWords == "" {
			var err error
			if name, err = numbers(make([]float64, 1+nClasses), line); err != nil {
				return err
			}
		}
		prefix, term, _ := strings.Cut(name, " ")
		z := slices.Index(zoneNames[:], prefix)
		if z < 0 {
			return fmt.Errorf("%q is not a zone", prefix)
		}
		at := m.words[term]
		at[z] = int32(len(m.lines))
		m.words[term] = at
		m.lines = append(m.lines, int32(start))
		return nil
	})
	return m, err
}

// eachLine calls add for each line of a file that is no comment, with where it begins in the text of the file, which it
// reads unless it is given, and returns.
func eachLine(fsys fs.FS, file, text string, add func(start int, line string) error) (string, error) {
	if text == "" {
		src, err := fs.ReadFile(fsys, file)
		if err != nil {
			return "", fmt.Errorf("read weights: %w", err)
		}
		text = strings.TrimPrefix(string(src), byteOrderMark)
	}
	start, number := 0, 0
	for line := range strings.Lines(text) {
		number++
		if row := strings.TrimRight(line, "\r\n"); row != "" && !strings.HasPrefix(row, "//") {
			if err := add(start, row); err != nil {
				return "", fmt.Errorf("weights %s:%d: %w", file, number, err)
			}
		}
		start += len(line)
	}
	return text, nil
}

// numbers reads what a line begins with into nums, and returns what stands behind them.
func numbers(nums []float64, line string) (rest string, err error) {
	for i := range nums {
		field, after, _ := strings.Cut(line, " ")
		v, err := strconv.Atoi(field)
		if err != nil {
			return "", fmt.Errorf("%q is not a whole number; want %d of them and a name", field, len(nums))
		}
		nums[i], line = float64(v)/100, after
	}
	return line, nil
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
