package main

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
)

func TestPolicyFlags(t *testing.T) {
	const gate, never = autocontinue.NoGate, autocontinue.Never
	for flag, values := range map[string]map[string]autocontinue.Policy{
		"threshold": {"0": {MinConfidence: gate}, "-0": {MinConfidence: gate}, "0.0": {MinConfidence: gate},
			"0.8": {MinConfidence: 0.8}, "1": {MinConfidence: 1}, "1e-3": {MinConfidence: 0.001}},
		"max-continues": {"0": {MaxContinues: never}, "1": {MaxContinues: 1}, "3": {MaxContinues: 3},
			"1000": {MaxContinues: 1000}},
	} {
		for in, want := range values {
			var o policyFlags
			f := noFlags()
			o.register(f, "")
			before := o.policy()
			require.NoError(t, f.Set(flag, in), in)
			want.MaxContinues = cmp.Or(want.MaxContinues, before.MaxContinues)
			want.MinConfidence = cmp.Or(want.MinConfidence, before.MinConfidence)
			assert.Equal(t, want, o.policy(), in)
		}
	}
	for flag, values := range map[string][]string{
		"threshold":     {"", "x", "NaN", "nan", "Inf", "-Inf", "-0.01", "1.0001", "0,8", "80%", " 0.8"},
		"max-continues": {"", "x", "-1", "1001", "1.5", " 1", "99999999999999999999"},
	} {
		for _, in := range values {
			var o policyFlags
			f := noFlags()
			o.register(f, "")
			before := o
			assert.Error(t, f.Set(flag, in), in)
			assert.Equal(t, before, o, "a refused value changes nothing")
		}
	}
}

func TestNearestFlag(t *testing.T) {
	flags := newDecide(terminal{}).Flags()
	for in, want := range map[string]string{
		"jsn": "json", "JSON": "json", "treshold": "threshold", "thresh": "threshold", "exitcode": "exit-code",
		"zebra": "", "verbose": "",
	} {
		assert.Equal(t, want, nearest(flags, in), in)
	}
}
