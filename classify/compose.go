package classify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Fallback asks primary, and secondary when primary fails: it returns an error, or a result that is not valid (see
// [Result.ValidateFor]). A result of secondary says why in its Fallback field. Secondary gets the same context, even if
// that is done by then: the heuristic answers all the same. If both fail, the error wraps both.
//
// Fallback panics if a classifier is nil.
func Fallback(primary, secondary Classifier) Classifier {
	return inTurn("Fallback", primary, secondary, func(_ Input, _ Result, err error) bool { return err == nil })
}

// Cascade asks first, and second only if first is less certain than certain, a confidence: a cheap classifier before an
// expensive one. The rules, in order:
//
//   - first calls it an error, or the text of the input is empty or blank: first decides, and second is not asked;
//   - first is certain: its confidence is at least certain. For a question and for honest progress, the confidence
//     counts as raised by a quarter of what it lacks to 1. First is never certain of a blocker, unless certain is 0.
//     The result is that of first;
//   - second answers: its result, with the signals of first if it has none;
//   - second fails (see [Fallback]): the result of first, whose Fallback field says why.
//
// If first fails, second alone answers, and its result says in Fallback why first did not; if both fail, the error
// wraps both. About an empty text, second is not asked even then. If certain is not a number, first is never certain.
//
// The exceptions were measured on the [Heuristic]: what it says about questions and progress is right more often than
// about claims of the same confidence, and what it says about blockers less often.
//
// Cascade panics if a classifier is nil.
func Cascade(first, second Classifier, certain float64) Classifier {
	return inTurn("Cascade", first, second, func(in Input, r Result, err error) bool {
		return err == nil && r.certain(certain) || plaintext.IsBlank(in.Text)
	})
}

// inTurn asks second where what first says is not enough.
func inTurn(who string, first, second Classifier, enough func(Input, Result, error) bool) Classifier {
	mustNotBeNil(who, first, second)
	return ClassifierFunc(func(ctx context.Context, in Input) (Result, error) {
		r, err := ask(ctx, first, in)
		if enough(in, r, err) {
			return r, err
		}
		s, err2 := ask(ctx, second, in)
		switch {
		case err != nil && err2 != nil:
			return Result{}, fmt.Errorf("classify: no classifier answered: %w", errors.Join(err, err2))
		case err != nil:
			s.because(err) // before what second, which may be a Fallback too, says
			return s, nil
		case err2 != nil:
			r.because(err2)
			return r, nil
		}
		if s.Signals == nil {
			s.Signals, s.SignalsDropped = r.Signals, r.SignalsDropped
		}
		return s, nil
	})
}

// certain reports whether r needs no second opinion in a [Cascade].
func (r Result) certain(least float64) bool {
	switch {
	case r.Type == Error:
		return true
	case r.Type == Blocker:
		return least == 0
	case r.Type == Question, r.Type == Status && !r.WasRejectedCompletion:
		return r.Confidence+(1-r.Confidence)/4 >= least
	}
	return r.Confidence >= least
}

// because notes in r why another classifier did not answer, before what it notes already.
func (r *Result) because(err error) {
	why := plaintext.MaskedLine(err.Error(), 200)
	if r.Fallback != "" {
		why += "; " + r.Fallback
	}
	r.Fallback = why
}

// ask returns what c says, or an error if that is not a verdict.
func ask(ctx context.Context, c Classifier, in Input) (Result, error) {
	r, err := c.Classify(ctx, in)
	if err = cmp.Or(err, r.ValidateFor(in.Text)); err != nil {
		return Result{}, err
	}
	return r, nil
}

// ValidateFor returns an error if r breaks the contract of [Classifier]: its type is not one of the five, its
// confidence is not a number from 0 to 1, or it is a rejected completion of another type than status. So does a signal
// whose span is outside the text that was classified, or whose weight is infinite or not a number: JSON has neither.
func (r Result) ValidateFor(text string) error {
	switch {
	case !r.Type.Valid():
		return errors.New("not one of the five output types")
	case !(r.Confidence >= 0 && r.Confidence <= 1):
		return fmt.Errorf("confidence %v is not from 0 to 1", r.Confidence)
	case r.WasRejectedCompletion && r.Type != Status:
		return fmt.Errorf("a rejected completion of type %s", r.Type)
	}
	for _, s := range r.Signals {
		if s.Start < 0 || s.Start > s.End || s.End > len(text) {
			return fmt.Errorf("a signal is outside the text: bytes %d to %d of %d", s.Start, s.End, len(text))
		}
		if math.IsNaN(s.Weight) || math.IsInf(s.Weight, 0) {
			return fmt.Errorf("the weight of a signal is %v", s.Weight)
		}
	}
	return nil
}

// mustNotBeNil panics if a classifier is nil, so that the mistake shows where it is made.
func mustNotBeNil(who string, list ...Classifier) {
	for _, c := range list {
		if c == nil || HoldsNil(c) {
			panic("classify: " + who + " of a nil classifier")
		}
	}
}

// HoldsNil reports whether an interface that is not nil holds a nil pointer or a nil function, which would fail when it
// is called. Constructors refuse it. A nil map or slice is an empty one.
func HoldsNil(v any) bool {
	r := reflect.ValueOf(v)
	return (r.Kind() == reflect.Pointer || r.Kind() == reflect.Func) && r.IsNil()
}

// ConfidenceGate applies the rule "unsure means human" to the results of c: a status whose confidence is below
// threshold becomes a question. Its reason keeps the old verdict; its coaching message and rejected flag are cleared.
// A confidence equal to threshold passes; a threshold of 0 gates nothing; a threshold that is not a number gates. A
// result that is not valid is an error.
//
// It is for users of this package alone: the loop in package autocontinue has its own threshold, whatever the
// classifier.
//
// ConfidenceGate panics if c is nil.
func ConfidenceGate(c Classifier, threshold float64) Classifier {
	mustNotBeNil("ConfidenceGate", c)
	return ClassifierFunc(func(ctx context.Context, in Input) (Result, error) {
		r, err := ask(ctx, c, in)
		if err != nil || r.Type != Status || r.Confidence >= threshold {
			return r, err
		}
		verdict := string(r.Type)
		if r.WasRejectedCompletion {
			verdict = "rejected completion"
		}
		r.Reason = fmt.Sprintf("unsure (%.2f is below %.2f), so the human decides; was %s: %s", r.Confidence, threshold,
			verdict, r.Reason)
		r.Type, r.CoachingMessage, r.WasRejectedCompletion = Question, "", false
		return r, nil
	})
}
