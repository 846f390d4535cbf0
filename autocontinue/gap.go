package autocontinue

import (
	"strings"

	"github.com/sidecoach/sidecoach/classify"
)

// kinds is a set of kinds of evidence, a bit for each entry of kindBits. Stored states hold it: entries are only appended.
type kinds uint8

var kindBits = [...]classify.EvidenceKind{
	classify.EvidenceTests, classify.EvidenceExitCode, classify.EvidenceOutput, classify.EvidenceCommit, classify.EvidencePullRequest,
}

func kindsOf(list []classify.EvidenceKind) (set kinds) {
	for _, k := range list {
		for i, known := range kindBits {
			if k == known {
				set |= 1 << i
			}
		}
	}
	return set
}

// gapOf returns what an output with result r leaves open. Feedback is a verifier's, the worst item in its first line.
func gapOf(o Output, r classify.Result, feedback string) gap {
	g := gap{Print: fingerprint(o.Text), Rejected: r.WasRejectedCompletion, Shown: kindsOf(r.Shown(o.Evidence))}
	if !g.Rejected {
		return g
	}
	g.Missing = kindsOf(r.Missing(o.Evidence))
	if worst, _, _ := strings.Cut(strings.TrimSpace(feedback), "\n"); worst != "" {
		g.Feedback = foldedKey(feedbackKey, worst)
	}
	return g
}

// same reports whether g and old are the same gap: the same fingerprint, or two rejected completions that lack the same
// kinds of evidence, if any, or that have the same worst feedback.
func (g gap) same(old gap) bool {
	if g.Print == old.Print {
		return true
	}
	return g.Rejected && old.Rejected &&
		(g.Missing != 0 && g.Missing == old.Missing || g.Feedback != key{} && g.Feedback == old.Feedback)
}

// lacked returns the kinds of evidence that would have been new to the rejection g: those it asked for or, when it was not
// rejected for want of evidence, all there were not.
func (g gap) lacked() kinds {
	if g.Missing != 0 {
		return g.Missing
	}
	return ^g.Shown
}

// wasRejected reports whether the claim of o, whose result r is a completion, was rejected in this turn, and there is no
// new evidence for it now: no kind that the rejection lacked, nor another new kind where the claim lacks none any more.
func (s State) wasRejected(o Output, r classify.Result) bool {
	print, shown := fingerprint(o.Text), kindsOf(r.Shown(o.Evidence))
	r.WasRejectedCompletion = true // as if: what would it lack?
	complete := len(r.Missing(o.Evidence)) == 0
	for _, g := range s.gaps {
		if g.Rejected && g.Print == print && shown&g.lacked() == 0 && !(complete && shown&^g.Shown != 0) {
			return true
		}
	}
	return false
}

func (s State) hasRejection() bool {
	for _, g := range s.gaps {
		if g.Rejected {
			return true
		}
	}
	return false
}
