package classify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCascade(t *testing.T) {
	signals := []Signal{{Kind: SignalClaim, Name: "done", Start: 0, End: 4, Weight: 1}}
	own := []Signal{{Kind: SignalHedge, Start: 1, End: 2, Weight: 1}}
	down := errors.New("judge: no answer\nwithin 10 s")
	verdict := Result{Type: Completion, Confidence: 0.6, Source: "second"}
	for _, tt := range []struct {
		name    string
		text    string
		first   Result
		second  Result
		err     error // of second
		certain float64
		asked   bool
		want    Result
	}{
		{name: "certain", text: "x", first: Result{Type: Status, Confidence: 0.95}, certain: 0.9,
			want: Result{Type: Status, Confidence: 0.95}},
		{name: "exactly certain", text: "x", first: Result{Type: Status, Confidence: 0.9}, certain: 0.9,
			want: Result{Type: Status, Confidence: 0.9}},
		{name: "unsure", text: "x", first: Result{Type: Status, Confidence: 0.89, Signals: signals, SignalsDropped: 2}, second: verdict, certain: 0.9, asked: true,
			want: Result{Type: Completion, Confidence: 0.6, Source: "second", Signals: signals, SignalsDropped: 2}},
		{name: "signals of its own", text: "x", first: Result{Type: Status, Signals: signals, SignalsDropped: 2}, second: Result{Type: Status, Signals: own}, certain: 0.9, asked: true,
			want: Result{Type: Status, Signals: own}},
		{name: "an error, however unsure", text: "x", first: Result{Type: Error, Confidence: 0.3}, second: verdict, certain: 0.9,
			want: Result{Type: Error, Confidence: 0.3}},
		{name: "empty", text: "", first: Result{Type: Status, Confidence: 0.1}, second: verdict, certain: 0.9,
			want: Result{Type: Status, Confidence: 0.1}},
		{name: "blank", text: " \n\t\u200b", first: Result{Type: Status, Confidence: 0.1}, second: verdict, certain: 0.9,
			want: Result{Type: Status, Confidence: 0.1}},
		{name: "second fails", text: "x", first: Result{Type: Question, Confidence: 0.4}, err: down, certain: 0.9, asked: true,
			want: Result{Type: Question, Confidence: 0.4, Fallback: "judge: no answer within 10 s"}},
		{name: "second fails, first fell back itself", text: "x", first: Result{Type: Question, Fallback: "a"}, err: down, certain: 0.9, asked: true,
			want: Result{Type: Question, Fallback: "judge: no answer within 10 s; a"}},
		{name: "second names no type", text: "x", first: Result{Type: Question, Confidence: 0.4}, second: Result{Type: "banana"}, certain: 0.9, asked: true,
			want: Result{Type: Question, Confidence: 0.4, Fallback: "not one of the five output types"}},
		{name: "certain of everything", text: "x", first: Result{Type: Status}, second: verdict, certain: 0,
			want: Result{Type: Status}},
		{name: "certain is not a number", text: "x", first: Result{Type: Status, Confidence: 1}, second: verdict, certain: math.NaN(), asked: true,
			want: verdict},
		{name: "the confidence is not a number", text: "x", first: Result{Type: Status, Confidence: math.NaN()}, second: Result{Type: Question, Confidence: 0.4}, certain: 0.1, asked: true,
			want: Result{Type: Question, Confidence: 0.4, Fallback: "confidence NaN is not from 0 to 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := false
			second := ClassifierFunc(func(context.Context, Input) (Result, error) {
				asked = true
				return tt.second, tt.err
			})
			got, err := Cascade(fixed(tt.first, nil), second, tt.certain).Classify(t.Context(), Input{Text: tt.text})
			require.NoError(t, err)
			assert.Equal(t, tt.asked, asked, "whether second is asked")
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestCascadeWithoutFirst(t *testing.T) {
	down, broken := errors.New("a"), errors.New("b")
	good := Result{Type: Completion, Confidence: 0.9}

	r, err := Cascade(fixed(Result{}, down), fixed(good, nil), 0.9).Classify(t.Context(), Input{Text: "x"})
	require.NoError(t, err)
	assert.Equal(t, Completion, r.Type)
	assert.Equal(t, "a", r.Fallback)

	_, err = Cascade(fixed(Result{}, down), fixed(Result{}, broken), 0.9).Classify(t.Context(), Input{Text: "x"})
	assert.ErrorIs(t, err, down)
	assert.ErrorIs(t, err, broken)

	_, err = Cascade(fixed(Result{}, down), fixed(good, nil), 0.9).Classify(t.Context(), Input{})
	assert.ErrorIs(t, err, down, "an empty output is not for second")
}

func ExampleCascade() {
	cheap, err := NewHeuristic()
	if err != nil {
		panic(err)
	}
	dear := ClassifierFunc(func(context.Context, Input) (Result, error) {
		fmt.Println("asked")
		return Result{}, errors.New("judge: no answer")
	})
	c := Cascade(cheap, dear, 0.999)
	r, _ := c.Classify(context.Background(), Input{Text: "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:12 +0x1d\nexit status 2"})
	fmt.Println(r.Type)
	r, _ = c.Classify(context.Background(), Input{Text: "The parser handles both forms."})
	fmt.Println(r.Type, "-", r.Fallback)
	// Output:
	// error
	// asked
	// completion - judge: no answer
}
