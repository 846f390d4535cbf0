package classify

import (
	"cmp"
	"math"
	"slices"
)

// SignalKind says what a [Signal] is a sign of.
type SignalKind string

// The kinds of signals.
const (
	SignalClaim    SignalKind = "claim"    // says that work is done; Name is a claim name below
	SignalHedge    SignalKind = "hedge"    // weakens a claim: "should work now"
	SignalEvidence SignalKind = "evidence" // shows that work was done; Name is an [EvidenceKind]
	signalPromise  SignalKind = "promise"  // announces instead of doing: "will report back"
	SignalQuestion SignalKind = "question" // puts something to the human; Name "approval" for an approval request
	signalOffer    SignalKind = "offer"    // a courtesy or further offer: "let me know if you need anything else"
	SignalBlocker  SignalKind = "blocker"  // needs something from outside, or refuses
	SignalFailure  SignalKind = "failure"  // a crash, a failed command, an API error
	SignalGap      SignalKind = "gap"      // admits that something is missing or unfinished
	SignalProgress SignalKind = "progress" // is at work or names the next step
	signalAnswer   SignalKind = "answer"   // answers what was asked
)

// The names of claims that say which check or act they are about. Other claims say only that work was done: "edit" and
// "past" name a change ("Fixed the header"), "submit" and others are signs for the verdict.
const (
	claimDone        = "done"         // the work as a whole
	ClaimEdit        = "edit"         // a change of files
	ClaimTests       = "tests"        // tests pass
	ClaimChecked     = "checked"      // it was verified, no matter how
	ClaimBuild       = "build"        // it compiles or builds
	ClaimLint        = "lint"         // a linter finds nothing
	ClaimTypes       = "types"        // a type checker finds nothing
	ClaimCommit      = "commit"       // it is committed or merged
	ClaimPush        = "push"         // it is pushed
	ClaimPullRequest = "pull_request" // a pull request is open
)

const hedgeCannotCheck = "cannot_check"

// Signal is one thing found in an output. Start and End are byte offsets into [Input.Text], at rune boundaries,
// Start < End; text[Start:End] is what was found.
type Signal struct {
	Kind   SignalKind `json:"kind"`
	Name   string     `json:"name,omitempty"` // which one of its kind
	Start  int        `json:"start"`
	End    int        `json:"end"`
	Weight float64    `json:"weight"` // how much it counted, above 0; the end of an output weighs most
}

// SaysWhyUnchecked reports whether s is a hedge that says why nothing was run: "couldn't run the tests, npm is not
// installed".
func (s Signal) SaysWhyUnchecked() bool { return s.Kind == SignalHedge && s.Name == hedgeCannotCheck }

// maxSignals is how many signals a result keeps; the strongest stay.
const maxSignals = 64

// signalSet keeps the strongest signals and counts the rest.
type signalSet struct {
	kept    []Signal
	dropped int
}

// specific are the claims that ask for evidence and the hedges with a reason; of signals at one place they are the ones
// to keep.
func (s Signal) specific() bool {
	return s.CallsFor() != "" || s.SaysWhyUnchecked()
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
		asks, asked := sig.specific(), k.specific()
		if asks && asked && sig.Name != k.Name {
			continue
		}
		if asks && !asked || asks == asked && sig.End-sig.Start > k.End-k.Start {
			*k = sig
		}
		return
	}
	s.kept = append(s.kept, sig)
	if len(s.kept) == 4*maxSignals {
		s.prune()
	}
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
