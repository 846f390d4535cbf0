package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// price is a flag that takes what a million tokens cost, to an LLM and back, in any currency.
type price struct{ in, out float64 }

func (p *price) String() string {
	if *p == (price{}) {
		return ""
	}
	return strconv.FormatFloat(p.in, 'f', -1, 64) + "," + strconv.FormatFloat(p.out, 'f', -1, 64)
}

func (p *price) Type() string { return "IN,OUT" }

func (p *price) Set(s string) error {
	in, out, ok := strings.Cut(s, ",")
	x, err := strconv.ParseFloat(strings.TrimSpace(in), 64)
	y, err2 := strconv.ParseFloat(strings.TrimSpace(out), 64)
	sane := func(x float64) bool { return x >= 0 && !math.IsInf(x, 0) }
	if !ok || err != nil || err2 != nil || !sane(x) || !sane(y) {
		return errors.New("it is what a million tokens cost, to the LLM and back, such as 0.40,1.60")
	}
	*p = price{x, y}
	return nil
}

// of is what that many tokens cost.
func (p price) of(in, out int) float64 {
	return (float64(in)*p.in + float64(out)*p.out) / 1e6
}

// money is an amount with as many digits as matter.
func money(x float64) string {
	switch {
	case x >= 0.995:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case x > 0 && x < 0.00005:
		return "less than 0.0001"
	}
	return strconv.FormatFloat(x, 'f', 4, 64)
}
