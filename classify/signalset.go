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

// specific are the claims that ask for evidence and the hedges with a reason; of signals at one place they are the ones to keep.
func (s Signal) specific() bool {
	return s.CallsFor() != "" || s.Name == HedgeCannotCheck
}

// add takes sig, unless the last ones hold a better one of its kind at the same place; a worse one it replaces.
// Better is a claim that asks for evidence of its own, then the longer one. Evidence of different kinds may share a
// place.
func (s *signalSet) add(sig Signal) {
	sig.Weight = math.Round(sig.Weight*100) / 100
	for i := len(s.kept) - 1; i >= max(0, len(s.kept)-8); i-- {
		k := &s.kept[i]
		if k.Kind != sig.Kind || k.Start >= sig.End || sig.Start >= k.End || sig.Kind == SignalEvidence &&
			k.Name != sig.Name {
			continue
		}
		if better := sig.specific(); better != k.specific() {
			if better {
				*k = sig
			}
			return
		}
		if sig.specific() && sig.Name != k.Name {
			continue
		}
		if sig.End-sig.Start > k.End-k.Start {
			*k = sig
		}
		return
	}
	s.kept = append(s.kept, sig)
	if len(s.kept) == 2*maxSignals {
		s.prune()
	}
}

// drop takes out the signals of a kind and name.
func (s *signalSet) drop(k SignalKind, name string) {
	s.kept = slices.DeleteFunc(s.kept, func(sig Signal) bool { return sig.Kind == k && sig.Name == name })
}

// prune drops the weakest, of equals the earliest, so that maxSignals stay; the strongest of each kind and name
// always does.
func (s *signalSet) prune() {
	if len(s.kept) <= maxSignals {
		return
	}
	slices.SortStableFunc(s.kept, func(a, b Signal) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.Start, a.Start))
	})
	firsts := 0 // one of each kind and name stands before the rest
	for i, sig := range s.kept {
		if !slices.ContainsFunc(s.kept[:firsts], func(f Signal) bool { return f.Kind == sig.Kind && f.Name == sig.Name }) {
			copy(s.kept[firsts+1:i+1], s.kept[firsts:i])
			s.kept[firsts] = sig
			firsts++
		}
	}
	s.dropped += len(s.kept) - maxSignals
	s.kept = s.kept[:maxSignals]
}

// list returns the signals by position.
func (s *signalSet) list() []Signal {
	s.prune()
	if len(s.kept) == 0 {
		return nil
	}
	slices.SortFunc(s.kept, func(a, b Signal) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Name, b.Name))
	})
	list := slices.Clone(s.kept)
	return slices.CompactFunc(list, func(a, b Signal) bool {
		return a.Kind == b.Kind && a.Name == b.Name && a.Start < b.End && b.Start < a.End
	})
}
