package classify

import "math/bits"

// sheet takes down which features of a text hold. The features are always asked in the same order, so that each has a
// number, which is its place in that order.
type sheet struct {
	held  []uint16 // the numbers of those that hold
	next  uint16
	names *[]string // when not nil, takes down the name of every feature
}

// add takes down a feature.
func (sh *sheet) add(name string, holds bool) {
	if sh.names != nil {
		*sh.names = append(*sh.names, name)
	}
	if holds {
		sh.held = append(sh.held, sh.next)
	}
	sh.next++
}

var places = [4]string{"", "@last", "@tail", "@head"}

// rules takes down for each rule of the lexicon where it was found, in the order of places.
func (sh *sheet) rules(lex *lexicon, found [4]ruleSet) {
	if sh.names != nil {
		for _, at := range places {
			for _, r := range lex.rules {
				*sh.names = append(*sh.names, string(r.kind)+"."+r.name+at)
			}
		}
	}
	mine := ^lex.kinds["request"]
	for _, set := range found {
		for set &= mine & found[0]; set != 0; set &= set - 1 {
			sh.held = append(sh.held, sh.next+uint16(bits.TrailingZeros64(uint64(set))))
		}
		sh.next += uint16(len(lex.rules))
	}
}

// featureNames returns the name of every feature, by number.
func featureNames(lex *lexicon) []string {
	var names []string
	rd := &reading{lex: lex, reader: new(reader)}
	rd.features(rd, &sheet{names: &names})
	return names
}
