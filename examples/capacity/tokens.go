package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// usage is what asking an LLM takes, of all the cases together.
type usage struct {
	cases   int
	certain float64
	fixed   int // tokens that each call sends alike, and that a provider's cache may know
	each    asked
	cascade asked
}

// asked is about how many cases the LLM is asked, and how many tokens these calls send beside those that are always the
// same.
type asked struct{ calls, variable int }

// tokens counts what the LLM is sent about each case, and about those that the cascade asks about.
func tokens(ctx context.Context, cases []evaluate.Case, certain float64) (usage, error) {
	u := usage{cases: len(cases), certain: certain}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return u, err
	}
	client, err := llm.NewClient(llm.Config{Model: "counted", Key: "none"}) // no call is made
	if err != nil {
		return u, err
	}
	judge, err := llm.New(client, llm.Options{Heuristic: heuristic})
	if err != nil {
		return u, err
	}
	tokens := func(in classify.Input) int { // a token has about four bytes
		r := judge.Request(in)
		return (len(r.System) + len(r.User) + len(r.Schema)) / 4
	}
	u.fixed = tokens(classify.Input{Text: "."}) - 1
	for _, c := range cases {
		if plaintext.IsBlank(c.Input.Text) {
			continue // there is nothing to judge in it
		}
		sent := tokens(c.Input)
		u.each.calls, u.each.variable = u.each.calls+1, u.each.variable+sent-u.fixed

		unsure := false
		second := classify.ClassifierFunc(func(context.Context, classify.Input) (classify.Result, error) {
			unsure = true
			return classify.Result{}, errors.New("nobody is asked here")
		})
		if _, err := classify.Cascade(heuristic, second, certain).Classify(ctx, c.Input); err != nil {
			return u, fmt.Errorf("case %s: %w", c.Name, err)
		}
		if unsure {
			u.cascade.calls, u.cascade.variable = u.cascade.calls+1, u.cascade.variable+sent-u.fixed
		}
	}
	return u, nil
}
