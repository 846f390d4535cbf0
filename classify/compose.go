package classify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// DefaultThreshold is the confidence below which a status is shown to the human instead of being continued.
const DefaultThreshold = 0.80

// Fallback asks primary, and secondary when primary fails: it returns an error, or babbles, which is a type that is none of
// the five, a confidence that is not a number from 0 to 1, or a rejected completion that is no status. A result of
// secondary says in its Fallback field why. Secondary gets the same context, even one that is done by then: the heuristic
// answers all the same. The error, when both fail, wraps both.
func Fallback(primary, secondary Classifier) Classifier {
	return ClassifierFunc(func(ctx context.Context, in Input) (Result, error) {
		r, err := ask(ctx, primary, in)
		if err == nil {
			return r, nil
		}
		r, err2 := ask(ctx, secondary, in)
		if err2 != nil {
			return Result{}, fmt.Errorf("classify: no classifier answered: %w", errors.Join(err, err2))
		}
		r.because(err) // before what secondary, which may be a Fallback too, says
		return r, nil
	})
}

// ask returns what c says, or an error when that is no verdict.
func ask(ctx context.Context, c Classifier, in Input) (Result, error) {
	r, err := c.Classify(ctx, in)
	switch {
	case err != nil:
		return Result{}, err
	case !r.Type.Valid():
		return Result{}, errors.New("not one of the five output types")
	case !(r.Confidence >= 0 && r.Confidence <= 1):
		return Result{}, fmt.Errorf("confidence %v is not from 0 to 1", r.Confidence)
	case r.WasRejectedCompletion && r.Type != Status:
		return Result{}, fmt.Errorf("a rejected completion of type %s", r.Type)
	}
	return r, nil
}

// ConfidenceGate applies the rule "unsure means human" to the results of c: a status whose confidence is below threshold
// becomes a question. Its reason keeps the old verdict, its coaching message and rejected flag are cleared. A confidence
// equal to threshold passes; a threshold of 0 gates nothing; a threshold or confidence that is not a number gates.
//
// It is for users of this package alone: the loop in package autocontinue asks its own threshold, whatever the classifier.
func ConfidenceGate(c Classifier, threshold float64) Classifier {
	return ClassifierFunc(func(ctx context.Context, in Input) (Result, error) {
		r, err := c.Classify(ctx, in)
		if err != nil || r.Type != Status || r.Confidence >= threshold {
			return r, err
		}
		verdict := string(r.Type)
		if r.WasRejectedCompletion {
			verdict = "rejected completion"
		}
		r.Reason = fmt.Sprintf("unsure (%.2f is below %.2f), so the human decides; was %s: %s", r.Confidence, threshold, verdict, r.Reason)
		r.Type, r.CoachingMessage, r.WasRejectedCompletion = Question, "", false
		return r, nil
	})
}

// clip shortens s to at most n bytes, at a rune boundary, on one line.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
