package classify

import (
	"cmp"
	"math"
	"slices"
)

// maxSignals is how many signals a result keeps; the strongest stay.
const maxSignals = 64

// signalSet keeps the strongest signals and counts the rest.
type signalSet struct {
	kept    []Signal
	dropped int
}

// add takes sig, unless the last ones hold a longer one of its kind at the same place; a shorter one it replaces.
func (s *signalSet) add(sig Signal) {
	sig.Weight = math.Round(sig.Weight*100) / 100
	for i := len(s.kept) - 1; i >= max(0, len(s.kept)-8); i-- {
		k := &s.kept[i]
		if k.Kind == sig.Kind && k.Start < sig.End && sig.Start < k.End {
			if sig.End-sig.Start > k.End-k.Start {
				*k = sig
			}
			return
		}
	}
	s.kept = append(s.kept, sig)
	if len(s.kept) == 2*maxSignals {
		s.prune()
	}
}

// prune drops the weakest, of equals the earliest, so that maxSignals stay.
func (s *signalSet) prune() {
	if len(s.kept) <= maxSignals {
		return
	}
	slices.SortStableFunc(s.kept, func(a, b Signal) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.Start, a.Start))
	})
	s.dropped += len(s.kept) - maxSignals
	s.kept = s.kept[:maxSignals]
}

// list returns the signals by position, of a kind only the longest at a place.
func (s *signalSet) list() []Signal {
	s.prune()
	slices.SortFunc(s.kept, func(a, b Signal) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	if len(s.kept) == 0 {
		return nil
	}
	list := make([]Signal, 0, len(s.kept))
	covered := make(map[SignalKind]int, 8) // up to where a kind has been found already
	for _, sig := range s.kept {
		if sig.End > covered[sig.Kind] {
			covered[sig.Kind] = sig.End
			list = append(list, sig)
		}
	}
	return list
}
