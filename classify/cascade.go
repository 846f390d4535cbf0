package classify

import (
	"context"
	"errors"
	"fmt"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Cascade asks first, and second only where first is less certain than certain, a confidence: a cheap classifier before a
// dear one. The rules, in order:
//
//   - first calls it an error, or the text of the input is empty or blank: that is first's to say, and second is not asked;
//   - the confidence of first is at least certain: first's result;
//   - second answers: its result, with the signals of first if it has none of its own;
//   - second fails, or babbles (see [Fallback]): first's result, whose Fallback field says why.
//
// When first fails, second alone answers, and its result says in Fallback why first did not; the error, when both fail, wraps
// both. About an empty text second is not asked even then. With a certain that is not a number first is never certain.
func Cascade(first, second Classifier, certain float64) Classifier {
	return ClassifierFunc(func(ctx context.Context, in Input) (Result, error) {
		r, err := ask(ctx, first, in)
		if plaintext.IsBlank(in.Text) || err == nil && (r.Type == Error || r.Confidence >= certain) {
			return r, err
		}
		s, err2 := ask(ctx, second, in)
		switch {
		case err != nil && err2 != nil:
			return Result{}, fmt.Errorf("classify: no classifier answered: %w", errors.Join(err, err2))
		case err != nil:
			s.because(err)
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

// because notes in r why another classifier did not answer, before what it notes already.
func (r *Result) because(err error) {
	why := clip(err.Error(), 200)
	if r.Fallback != "" {
		why += "; " + r.Fallback
	}
	r.Fallback = why
}
