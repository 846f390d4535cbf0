package autocontinue

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
)

// gap is what one output left open.
type gap struct {
	Text     digest                  `json:"text"`               // fingerprint of the output
	Rejected bool                    `json:"rejected,omitempty"` // it was a rejected completion
	Feedback digest                  `json:"feedback,omitzero"`  // worst item of a verifier's feedback about it
	Missing  []classify.EvidenceKind `json:"missing,omitempty"`  // the kinds of evidence that it lacked
	Shown    []classify.EvidenceKind `json:"shown,omitempty"`    // the kinds of evidence that there were
	Goal     digest                  `json:"goal,omitzero"`      // what the checks of the session's goal saw
}

// gapOf returns what an output with result r leaves open. Feedback is a verifier's, the worst item in its first line.
func gapOf(o Output, r classify.Result, feedback string, goal Goal) gap {
	g := gap{Text: fingerprint(o.Text), Rejected: r.WasRejectedCompletion, Shown: r.Shown(o.seen())}
	if goal.Results != "" {
		g.Goal = fingerprint(goal.Results)
	}
	if g.isBlank() {
		return gap{Text: g.Text, Goal: g.Goal} // a blank output claims nothing
	}
	if !g.Rejected {
		return g
	}
	g.Missing = r.Missing(o.seen())
	if worst, _, _ := strings.Cut(strings.TrimSpace(feedback), "\n"); worst != "" {
		g.Feedback = fingerprint(worst)
	}
	return g
}

// evidenceOf is the evidence that a passed check is, if it is more than an exit code.
var evidenceOf = map[classify.CheckKind]classify.EvidenceKind{
	classify.CheckTest: classify.EvidenceTests, classify.CheckCommit: classify.EvidenceCommit,
	classify.CheckPull: classify.EvidencePullRequest,
}

// seen returns the evidence that the host saw: its own, and the checks of Work that passed after the last edit.
func (o Output) seen() []classify.Evidence {
	all := slices.Clone(o.Evidence)
	for _, c := range o.Work.Checks {
		if c.Outcome == classify.OutcomePassed {
			kind := cmp.Or(evidenceOf[c.Kind], classify.EvidenceExitCode)
			all = append(all, classify.Evidence{Kind: kind, Text: c.Command})
		}
	}
	return all
}

func (g gap) isBlank() bool { return g.Text == blankFingerprint }

// same reports whether g and old are the same gap.
func (g gap) same(old gap) bool {
	if g.Goal != 0 || old.Goal != 0 {
		return g.Goal == old.Goal
	}
	return g.Text == old.Text || g.Rejected && old.Rejected &&
		(len(g.Missing) > 0 && slices.Equal(g.Missing, old.Missing) || g.Feedback != 0 && g.Feedback == old.Feedback)
}

// seen returns how often outputs of this turn left the gap g open.
func (s State) seen(g gap) (times int) {
	for _, old := range s.history.Gaps {
		if g.same(old) {
			times++
		}
	}
	return times
}

// wasRejected reports whether the claim of o, whose result r is a completion, was rejected in this turn, and there is
// no new evidence for it now.
func (s State) wasRejected(o Output, r classify.Result) bool {
	text, shown := fingerprint(o.Text), r.Shown(o.seen())
	r.WasRejectedCompletion = true // as if: what would it lack?
	complete := len(r.Missing(o.seen())) == 0
	return slices.ContainsFunc(s.history.Gaps, func(g gap) bool {
		return g.Rejected && g.Text == text && !g.isAnswered(shown, complete)
	})
}

// isAnswered reports whether one of the shown kinds of evidence is new to the rejection g: a kind that it asked for, or
// a kind that it did not have if it asked for none, or if the claim is complete now.
func (g gap) isAnswered(shown []classify.EvidenceKind, complete bool) bool {
	return slices.ContainsFunc(shown, func(k classify.EvidenceKind) bool {
		fresh := (len(g.Missing) == 0 || complete) && !slices.Contains(g.Shown, k)
		return fresh || slices.Contains(g.Missing, k)
	})
}
