package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
)

func TestThreshold(t *testing.T) {
	for in, want := range map[string]float64{"0": autocontinue.NoGate, "-0": autocontinue.NoGate,
		"0.0": autocontinue.NoGate, "0.8": 0.8, "1": 1, "1e-3": 0.001} {
		var x threshold
		require.NoError(t, x.Set(in), in)
		assert.InDelta(t, want, x.policy(), 1e-12, in)
	}
	for _, in := range []string{"", "x", "NaN", "nan", "Inf", "-Inf", "-0.01", "1.0001", "0,8", "80%", " 0.8"} {
		x := threshold(0.5)
		assert.Error(t, x.Set(in), in)
		assert.Equal(t, threshold(0.5), x, "a refused value changes nothing")
	}
}

func TestMostContinues(t *testing.T) {
	for in, want := range map[string]int{"0": autocontinue.Never, "1": 1, "3": 3, "1000": 1000} {
		var m mostContinues
		require.NoError(t, m.Set(in), in)
		assert.Equal(t, want, m.policy(), in)
	}
	for _, in := range []string{"", "x", "-1", "1001", "1.5", " 1", "99999999999999999999"} {
		m := mostContinues(5)
		assert.Error(t, m.Set(in), in)
		assert.Equal(t, mostContinues(5), m, "a refused value changes nothing")
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
