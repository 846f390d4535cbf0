package autocontinue

import (
	"math"
	"slices"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
)

// Decide decides about an output that was classified. The first row that holds wins; rows 1 to 6 are [Known]'s.
//
//	 #  when                                               action    outcome      reason
//	 1  a non-empty ID that is recorded                    as recorded, Replayed; a continue whose turn is
//	                                                       over: deliver, needs_human, superseded, the same ID
//	 2  run closed, and not Failed                         suppress  duplicate    run_closed
//	 3  this run delivered the same bytes                  suppress  duplicate    same_text
//	 4  the turn is over                                   deliver   needs_human  superseded
//	 5  Failed                                             deliver   failed       crash_guard          hands over
//	 6  Hold                                               deliver   needs_human  hold
//	 7  type error                                         deliver   failed       crash_guard          hands over
//	    type question                                      deliver   needs_human  question             hands over
//	    type blocker                                       deliver   needs_human  blocker              hands over
//	 8  completion, unless its claim was rejected before   deliver   completed    completion           closes the run
//	 9  confidence below Policy.MinConfidence              deliver   needs_human  low_confidence       hands over
//	10  the turn was handed over                           deliver   needs_human  waiting
//	11  the same gap for the third time in this turn,      deliver   stalled      repeat               hands over
//	    a blank output for the second
//	12  continues used ≥ Policy.MaxContinues               deliver   capped       cap                  hands over
//	13  otherwise: a blank output                          continue  continuing   empty                closes the run
//	    otherwise: a rejected completion                   continue  continuing   rejected_completion  closes the run
//	    otherwise                                          continue  continuing   progress             closes the run
//	 –  a type that is none of the five                    deliver   needs_human  error                not recorded
//
// To close a run is to suppress its further outputs. To hand over is to continue nothing more in this turn. Both hold
// in the state that is returned.
//
// The turn: an output whose Resets is neither 0 nor the state's has a turn that is over. Otherwise an empty Turn is the
// current one, a remembered other Turn is over, and an unknown one opens a turn, unless its Request is ours: it begins with
// "[System Coach]" or equals, white space around it aside, the message sent last. Then it is the current turn, whose name it
// becomes if that has none.
//
// Row 8: a claim was rejected before when an output of this turn with the same fingerprint was a rejected completion, and
// there is no kind of evidence now that the rejection lacked, nor a Verification Verified. "Lacked" are the kinds that
// [classify.Result.Missing] named then, all that there were not if it named none, and all that there were not if it would
// name none now: what stands in for a kind counts, too. Such a completion, and one whose Verification is Rejected, is
// judged on as a rejected completion with the confidence it has.
//
// Row 9: a confidence that is not a number from 0 to 1 counts as 0.
//
// Row 11: the same gap is the same fingerprint, or a rejected completion that lacks the same kinds of evidence, if any, or
// has the same worst feedback (its first line, folded like a fingerprint), as any other status of this turn.
// A fingerprint ignores white space, case, punctuation, times, durations, hashes, line numbers and generated IDs; counts
// it keeps.
//
// Continues used is the larger of Output.Continues and State.Continues. Decision.Result is the classification as it was
// judged on: lowered where row 8 or a verification lowered it.
//
// With row 13 the message is worded by Policy.Coach from f.Coach. Decide sets Attempt in it and, where they are empty,
// Text, Request and Evidence from the output; a request that is ours is dropped; with a Verification that is Rejected,
// Feedback is that verification's.
//
// It is pure: nothing it is given is changed, and the same arguments give the same result. It runs Known first, so that it
// is right on a state that has changed since the caller asked Known; a decision of Known's, unless it is a replay, then
// carries f.Result. A decision for an invalid type leaves the state as it is.
func Decide(p Policy, s State, f Facts) (Decision, State) {
	o, r := f.Output, f.Result
	r = finite(r)
	given := s
	d, s, ok := Known(p, s, o)
	if ok {
		if !d.Replayed {
			d.Result = r
		}
		return d, s
	}
	if !r.Type.Valid() {
		return failure(o, s.used(o), r), given
	}

	d = Decision{Continues: s.used(o), Result: r, Degraded: clean(f.Degraded)}
	switch r.Type {
	case classify.Error:
		return s.handOver(o, d, ReasonCrashGuard)
	case classify.Question:
		return s.handOver(o, d, ReasonQuestion)
	case classify.Blocker:
		return s.handOver(o, d, ReasonBlocker)
	}

	d.Verified = f.Verification.verified()
	g, ok := s.judge(f, &r)
	d.Result = r
	if ok {
		d.Reason = ReasonCompletion
		if d.Verified != Verified && len(r.Shown(o.Evidence)) == 0 {
			d.Note = answerNote
		}
		d.Note = verifiedNote(d, f.Verification.Note)
		return s.settle(o, d), s
	}
	empty := g.Print == blankPrint
	if empty {
		g = gap{Print: blankPrint} // it claims nothing, so it is the same as a blank one only
	}
	times := s.seen(g)
	s.addGap(g)
	switch {
	case p.unsure(r.Confidence):
		d.Note = lowConfidenceNote(r.Confidence, p.minConfidence())
		return s.handOver(o, d, ReasonLowConfidence)
	case s.HandedOver:
		d.Reason = ReasonWaiting
		return s.settle(o, d), s
	case empty && times > 0:
		d.Note = emptyRepeatNote
		return s.handOver(o, d, ReasonRepeat)
	case times > 1:
		return s.handOver(o, d, ReasonRepeat)
	case d.Continues >= p.maxContinues():
		d.Note = capNote(p.maxContinues())
		return s.handOver(o, d, ReasonCap)
	case empty:
		d.Reason = ReasonEmpty
	case g.Rejected:
		d.Reason = ReasonRejectedCompletion
	default:
		d.Reason = ReasonProgress
	}

	d.Attempt = times + 1
	msg := p.Coach.BuildCoachingMessage(r, f.coach(s, d.Attempt))
	d.Message, d.Tier = msg.Text, msg.Tier
	for _, skip := range msg.Skipped {
		d.Degraded = append(d.Degraded, coach.Clean(string(skip.Tier)+": "+skip.Why, maxDegraded))
	}
	d.Continues++
	return s.settle(o, d), s
}

// judge reports whether f is a completion by row 8. If not, it lowers r to the status it is judged on as, and returns
// what that leaves open.
func (s State) judge(f Facts, r *classify.Result) (g gap, done bool) {
	if r.Type == classify.Completion {
		rejected := f.Verification.Status == Rejected
		if !rejected && (f.Verification.Status == Verified || !s.hasRejection()) {
			return gap{}, true
		}
		if !rejected && !s.wasRejected(f.Output, *r) {
			return gap{}, true
		}
		why := "the same claim was rejected before, and there is no new evidence"
		if rejected {
			why = "the verification rejected the claim"
		}
		r.Type, r.WasRejectedCompletion, r.Reason = classify.Status, true, why+"; was completion: "+r.Reason
	}
	return gapOf(f.Output, *r, f.feedback()), false
}

// handOver settles d for reason and continues nothing more in this turn.
func (s State) handOver(o Output, d Decision, reason Reason) (Decision, State) {
	s.HandedOver = true
	d.Reason = reason
	return s.settle(o, d), s
}

// finite returns r with 0 for a confidence that is not from 0 to 1 and for weights that are no numbers: JSON has no NaN.
func finite(r classify.Result) classify.Result {
	if !(r.Confidence >= 0 && r.Confidence <= 1) {
		r.Confidence = 0
	}
	odd := func(s classify.Signal) bool { return math.IsNaN(s.Weight) || math.IsInf(s.Weight, 0) }
	if slices.ContainsFunc(r.Signals, odd) {
		r.Signals = slices.Clone(r.Signals)
		for i := range r.Signals {
			if odd(r.Signals[i]) {
				r.Signals[i].Weight = 0
			}
		}
	}
	return r
}

// failure is the decision after an error of ours. It is not recorded.
func failure(o Output, used int, r classify.Result) Decision {
	r = finite(r)
	d := Decision{Reason: ReasonError, Note: note(ReasonError), Continues: used, Result: r}
	d.Action, d.Outcome, _ = d.Reason.verdict()
	if o.ID != "" {
		d.ID = newDecisionID(o, 0).String()
	}
	return d
}

func (f Facts) feedback() string {
	if f.Verification.Status == Rejected && f.Verification.Feedback != "" {
		return f.Verification.Feedback
	}
	return f.Coach.Feedback
}

// coach returns what the message may use.
func (f Facts) coach(s State, attempt int) coach.Context {
	in := f.Coach
	in.Attempt, in.Feedback = attempt, f.feedback()
	if in.Text == "" {
		in.Text = f.Output.Text
	}
	if in.Request == "" {
		in.Request = f.Output.Request
	}
	if s.ours(in.Request) {
		in.Request = ""
	}
	if in.Evidence == nil {
		in.Evidence = f.Output.Evidence
	}
	in.Work = f.Output.Work
	return in
}

// verified returns what a decision says about v.
func (v Verification) verified() string {
	switch v.Status {
	case "", Rejected:
		return ""
	case Verified:
		return Verified
	}
	return Unverified
}

const (
	maxDegraded  = 200 // characters of one entry of Decision.Degraded
	manyDegraded = 8   // entries
)

func clean(degraded []string) []string {
	var out []string
	for _, why := range degraded[:min(len(degraded), manyDegraded)] {
		out = append(out, coach.Clean(why, maxDegraded))
	}
	return out
}
