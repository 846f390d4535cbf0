package classify

import (
	"slices"
	"strconv"
	"strings"
)

// group is what features are summed up under when a verdict is explained.
type group uint8

const (
	claimGroup group = iota
	noEvidenceGroup
	evidenceGroup
	hedgeGroup
	gapGroup
	questionGroup
	offerGroup
	blockerGroup
	failureGroup
	progressGroup
	promiseGroup
	answerGroup
	requestGroup
	shapeGroup
	nGroups
)

var groupNames = [nGroups]string{
	"claim", "no evidence", "evidence", "hedge", "gap", "question", "offer", "blocker", "failure", "progress", "promise", "answer", "request", "shape",
}

// groupOf sorts a feature by its name.
func groupOf(name string) group {
	switch {
	case strings.Contains(name, "-evidence"):
		return noEvidenceGroup
	case strings.Contains(name, "request"):
		return requestGroup
	}
	word := name
	if i := strings.IndexAny(name, ".:+-@"); i >= 0 {
		word = name[:i]
	}
	switch word {
	case "ends":
		if strings.HasPrefix(name, "ends:question") {
			return questionGroup
		}
	case "asks", "questions":
		return questionGroup
	case "goes":
		return progressGroup
	case "crash", "trace":
		return failureGroup
	case "admitted", "part":
		return gapGroup
	case "observed", "commit":
		return evidenceGroup
	}
	if i := slices.Index(groupNames[:], word); i >= 0 {
		return group(i)
	}
	return shapeGroup
}

// maxGrounds is how many groups an explanation names at most, and leastGround is the least log-odds that are worth naming.
const (
	maxGrounds  = 3
	leastGround = 0.3
)

// explain appends what spoke most for class c against the next likely one, in log-odds by group: " (claim 1.9, no
// evidence 1.2)".
func (t *table) explain(buf []byte, held []uint16, p [nClasses]float64, c class) []byte {
	next := class(0)
	if c == next {
		next = 1
	}
	for d := range p {
		if class(d) != c && p[d] > p[next] {
			next = class(d)
		}
	}
	var sums [nGroups]float64
	for _, f := range held {
		sums[t.groups[f]] += t.rows[f][c] - t.rows[f][next]
	}
	for n := range maxGrounds {
		best := 0
		for g, s := range sums {
			if s > sums[best] {
				best = g
			}
		}
		if sums[best] < leastGround {
			if n > 0 {
				return append(buf, ')')
			}
			return buf
		}
		if n == 0 {
			buf = append(buf, " ("...)
		} else {
			buf = append(buf, ", "...)
		}
		buf = append(append(buf, groupNames[best]...), ' ')
		buf = strconv.AppendFloat(buf, sums[best], 'f', 1, 64)
		sums[best] = 0
	}
	return append(buf, ')')
}
