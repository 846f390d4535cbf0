package autocontinue

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

func answer(r classify.Result) classify.Classifier {
	return classify.ClassifierFunc(func(context.Context, classify.Input) (classify.Result, error) { return r, nil })
}

func TestNewChecksItsConfig(t *testing.T) {
	_, err := New(Config{})
	require.ErrorContains(t, err, "Config.Classifier is nil")

	for _, p := range []Policy{
		{}, {MaxContinues: Never}, {MaxContinues: 1}, {MaxContinues: 1000},
		{MinConfidence: NoGate}, {MinConfidence: 1}, {MinConfidence: 0.0001},
	} {
		_, err := New(Config{Classifier: answer(progress), Policy: p})
		assert.NoError(t, err, "%+v", p)
	}
	for _, p := range []Policy{
		{MaxContinues: -2}, {MaxContinues: 1001}, {MaxContinues: math.MaxInt}, {MaxContinues: math.MinInt},
		{MinConfidence: math.NaN()}, {MinConfidence: math.Inf(1)}, {MinConfidence: math.Inf(-1)}, {MinConfidence: 1.01},
		{MinConfidence: -0.5}, {MinConfidence: -1.01}, {MinConfidence: 80},
	} {
		_, err := New(Config{Classifier: answer(progress), Policy: p})
		assert.ErrorContains(t, err, "autocontinue: Policy.", "%+v", p)
	}
}

// A policy that New would refuse is taken on its careful side where there is no error to return.
func TestDecideWithAnInvalidPolicy(t *testing.T) {
	sure := progress
	sure.Confidence = 1
	for _, c := range []struct {
		policy Policy
		result classify.Result
		used   int
		want   Reason
	}{
		{Policy{MaxContinues: -2}, sure, 0, "cap"},
		{Policy{MaxContinues: math.MinInt}, sure, 0, "cap"},
		{Policy{MaxContinues: math.MaxInt}, sure, 999, "progress"},
		{Policy{MaxContinues: math.MaxInt}, sure, 1000, "cap"},
		{Policy{MaxContinues: math.MaxInt}, sure, math.MaxInt, "cap"},
		{Policy{MinConfidence: math.NaN()}, sure, 0, "low_confidence"},
		{Policy{MinConfidence: math.Inf(1)}, sure, 0, "low_confidence"},
		{Policy{MinConfidence: 1.01}, sure, 0, "low_confidence"},
		{Policy{MinConfidence: math.Inf(-1)}, sure, 0, "progress"},
		{Policy{MinConfidence: -0.5}, classify.Result{Type: classify.Status, Confidence: 0.79}, 0, "low_confidence"},
	} {
		d, _ := Decide(c.policy, State{}, Facts{Output: Output{Session: "s", Text: "a", Continues: c.used}, Result: c.result})
		assert.Equal(t, c.want, d.Reason, "%+v, used %d", c.policy, c.used)
	}
}
