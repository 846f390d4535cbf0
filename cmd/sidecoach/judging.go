package main

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/classify"
)

// judging are the flags of the commands that judge one output.
type judging struct {
	useLLM bool
	llm    llmOptions
}

func (o *judging) register(f *pflag.FlagSet) {
	f.BoolVar(&o.useLLM, "llm", false, "let an LLM judge, and the heuristic where that fails")
	o.llm.register(f)
}

// check returns what is wrong with the flags alone.
func (o *judging) check() error {
	if flag := o.llm.given(); flag != "" && !o.useLLM {
		return misuse("add --llm", "%s means nothing to the heuristic", flag)
	}
	return nil
}

// classifier returns the classifier of a single decision, which always has an answer: where the LLM has none the heuristic
// answers, and the decision says why. With a keeper, which may be nil, what became of the calls is remembered.
func (o *judging) classifier(ctx context.Context, k *keeper) (classify.Classifier, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	heuristic, err := classify.NewHeuristic()
	if err != nil || !o.useLLM {
		return heuristic, err
	}
	cfg, err := o.llm.config(1)
	if err != nil {
		return nil, err
	}
	if k == nil {
		judge, _, err := o.llm.judge(cfg, heuristic, 0)
		if err != nil {
			return nil, err
		}
		return classify.Fallback(judge, heuristic), nil
	}
	doc, err := openEndpoint(k, cfg)
	if err != nil {
		return nil, err
	}
	known, err := doc.Load(ctx)
	if err != nil {
		known = endpoint{} // the state will not be readable either, and says so
	}
	judge, client, err := o.llm.judge(known.seed(cfg, time.Now()), heuristic, 0)
	if err != nil {
		return nil, err
	}
	return classify.Fallback(&rememberingJudge{Classifier: judge, learnt: client.Learnt, doc: doc, now: time.Now, warn: k.warn}, heuristic), nil
}
