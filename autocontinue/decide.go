package autocontinue

import (
	"math"
	"slices"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach"
)

// Decide decides about an output that was classified. The first row that holds wins. Rows 1 to 6 are those of [Known].
//
//	 #  when                                               action    outcome      reason
//	 1  a decision is recorded for this non-empty ID       as recorded, Replayed; a continue whose turn is over:
//	                                                       deliver, needs_human, superseded, the same decision ID
//	 2  run closed, not Failed, and the run reported       suppress  duplicate    run_closed
//	    this text before
//	2a  run closed, not Failed, and the text is another    deliver   needs_human  run_reused           Degraded; not read
//	 3  this run already delivered the same bytes          suppress  duplicate    same_text
//	 4  the turn is over                                   deliver   needs_human  superseded
//	 5  Failed                                             deliver   failed       crash_guard          hands over
//	 6  Hold                                               deliver   needs_human  hold
//	 7  type error                                         deliver   failed       crash_guard          hands over
//	    type question                                      deliver   needs_human  question             hands over
//	    type blocker                                       deliver   needs_human  blocker              hands over
//	 8  completion, unless its claim was rejected before   deliver   completed    completion           closes the run
//	 9  confidence below Policy.MinConfidence              deliver   needs_human  low_confidence       hands over
//	10  the turn was already handed over                   deliver   needs_human  waiting
//	11  the same gap for the third time in this turn;      deliver   stalled      repeat               hands over
//	    a blank output for the second time
//	12  continues used ≥ Policy.MaxContinues               deliver   capped       cap                  hands over
//	13  otherwise: a blank output                          continue  continuing   empty                closes the run
//	    otherwise: a rejected completion                   continue  continuing   rejected_completion  closes the run
//	    otherwise                                          continue  continuing   progress             closes the run
//	 –  a type that is not one of the five                 deliver   needs_human  error                not recorded
//
// A closed run is not continued again. After a hand-over nothing more is continued in this turn. The returned state
// remembers both.
//
// Rows 2 and 2a: two texts are the same if they differ only in white space, invisible characters and terminal escape
// sequences.
//
// The turn of an output: if Facts.Resets is neither 0 nor the number of the state, the turn is over. Otherwise an empty
// Turn is the current one, and a remembered other Turn is over. An unknown Turn opens a new turn, unless the Request is
// ours: it begins with "[System Coach]", or equals the message sent last. Then it is the current turn, whose name it
// becomes if that has none.
//
// Row 8: a claim was rejected before if an output of this turn with the same fingerprint was a rejected completion, and
// the output now has no kind of evidence that this rejection lacked, and no Verification is Verified. The rejection
// lacked the kinds that [classify.Result.Missing] named then. It lacked all kinds that it did not show if Missing named
// none then, or names none now. Such a completion, and one whose Verification is Rejected, is judged by the next rows
// as a rejected completion, with its own confidence.
//
// Row 9: a confidence that is not a number from 0 to 1 counts as 0.
//
// Row 11: two outputs have the same gap if they have the same fingerprint. Two rejected completions have it also if
// they lack the same kinds of evidence (at least one kind), or have the same worst feedback, which is its first line. A
// fingerprint ignores white space, case, punctuation, times, durations, hashes, line numbers and generated IDs. It
// keeps counts.
//
// Continues used is the larger of Output.Continues and State.Continues. Decision.Result is the classification as it was
// judged: lowered where row 8 or a verification lowered it.
//
// In row 13 Policy.Coach words the message from f.Coach. Decide sets its Attempt and Work. Decide also sets Text,
// Request and Evidence from the output if they are empty, drops a request that is ours, and takes Feedback from a
// Verification that is Rejected. Secrets in the message are masked, see [plaintext.Redact].
//
// It is pure: nothing that it is given is changed, and the same arguments give the same result. It runs Known first, so
// it is right on a state that has changed since the caller asked Known. A decision of Known, unless it is a replay,
// then carries f.Result. A decision for an invalid type leaves the state as it is.
func Decide(p Policy, s State, f Facts) (Decision, State) {
	o, r, before := f.Output, finite(f.Result), s
	d, s, ok := s.known(o, f.Resets)
	if ok {
		if !d.Replayed {
			d.Result = r
		}
		return d, s
	}
	if !r.Type.Valid() {
		return failure(o, s, r), before
	}
	d = Decision{Continues: s.used(o), Result: r}
	d.degrade(f.Degraded...)

	// Row 7.
	switch r.Type {
	case classify.Error:
		return s.handOver(o, d, ReasonCrashGuard)
	case classify.Question:
		return s.handOver(o, d, ReasonQuestion)
	case classify.Blocker:
		return s.handOver(o, d, ReasonBlocker)
	}

	// Row 8.
	d.Verified = f.Verification.shown()
	if r.Type == classify.Completion {
		why := ""
		switch {
		case f.Verification.Status == Rejected:
			why = "the verification rejected the claim"
		case d.Verified != Verified && s.wasRejected(o, r):
			why = "the same claim was rejected before, and there is no new evidence"
		default:
			d.Reason = ReasonCompletion
			d.Note = completionNote(len(r.Shown(o.Evidence)) > 0, d.Verified, f.Verification.Note)
			return s.settle(o, d), s
		}
		r.Type, r.WasRejectedCompletion, r.Reason = classify.Status, true, why+"; was completion: "+r.Reason
		d.Result = r
	}

	g := gapOf(o, r, f.feedback())
	times := s.seen(g)
	s.addGap(g)
	switch {
	case p.unsure(r.Confidence): // row 9
		d.Note = lowConfidenceNote(r.Confidence, p.minConfidence())
		return s.handOver(o, d, ReasonLowConfidence)
	case s.HandedOver: // row 10
		d.Reason = ReasonWaiting
		return s.settle(o, d), s
	case g.isBlank() && times > 0: // row 11
		d.Note = "The agent printed nothing again despite coaching."
		return s.handOver(o, d, ReasonRepeat)
	case times > 1: // row 11
		return s.handOver(o, d, ReasonRepeat)
	case d.Continues >= p.maxContinues(): // row 12
		d.Note = capNote(p.maxContinues())
		return s.handOver(o, d, ReasonCap)
	}

	// Row 13.
	switch {
	case g.isBlank():
		d.Reason = ReasonEmpty
	case g.Rejected:
		d.Reason = ReasonRejectedCompletion
	default:
		d.Reason = ReasonProgress
	}
	d.Attempt = times + 1
	d.Continues++
	msg := p.Coach.BuildCoachingMessage(r, f.coach(s, d.Attempt))
	d.Message, d.Tier = plaintext.Redact(msg.Text), msg.Tier
	for _, skip := range msg.Skipped {
		d.degrade(string(skip.Tier) + ": " + skip.Why)
	}
	return s.settle(o, d), s
}

// handOver settles d for reason and continues nothing more in this turn.
func (s State) handOver(o Output, d Decision, reason Reason) (Decision, State) {
	s.HandedOver = true
	d.Reason = reason
	return s.settle(o, d), s
}

// failure is the decision after an error of ours, in state s. It is not recorded.
func failure(o Output, s State, r classify.Result) Decision {
	v := ReasonError.verdict()
	d := Decision{
		Action: v.action, Outcome: v.outcome, Reason: ReasonError, Note: v.note, Continues: s.used(o), Result: finite(r),
	}
	if o.ID != "" {
		d.ID = decisionID(o, 0)
	}
	return d
}

// finite returns r with 0 for a confidence that is not from 0 to 1, and for weights that are not numbers: JSON has no
// NaN.
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

func (f Facts) feedback() string {
	if f.Verification.Status == Rejected && f.Verification.Feedback != "" {
		return f.Verification.Feedback
	}
	return f.Coach.Feedback
}

// coach returns what the message may use.
func (f Facts) coach(s State, attempt int) coach.Context {
	in := f.Coach
	in.Attempt, in.Feedback, in.Work = attempt, f.feedback(), f.Output.Work
	if in.Text == "" {
		in.Text = plaintext.Redact(f.Output.Text) // spans of it stay valid
	}
	if in.Request == "" {
		in.Request = f.Output.Request
	}
	if s.isOurs(in.Request) {
		in.Request = ""
	}
	if in.Evidence == nil {
		in.Evidence = f.Output.Evidence
	}
	return in
}
