package main

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
)

const (
	defaultModel = "gpt-4.1-mini"
	certain      = 0.9 // of the heuristic, in a cascade: then the LLM is not asked
)

// llmOptions are the flags of an LLM. What they leave open comes from the environment, and nothing from files: a project's
// folder, which an agent may write to, has no say in where its output goes.
type llmOptions struct {
	model, baseURL, prompt string
	timeout                patience
}

func (o *llmOptions) register(f *pflag.FlagSet) {
	f.StringVar(&o.model, "model", "", "`NAME` of the LLM (default $SIDECOACH_MODEL, else "+defaultModel+")")
	f.StringVar(&o.baseURL, "base-url", "", "`URL` of the LLM's server, as in http://localhost:11434/v1 (default $OPENAI_BASE_URL, else OpenAI's)")
	o.timeout = usualPatience
	f.Var(&o.timeout, "timeout", "after this `TIME`, attempts and all, the LLM has not answered")
	f.StringVar(&o.prompt, "prompt", "", "`DIR` with a prompt to use instead of the built-in one; sidecoach prompt DIR writes that one there")
}

// given returns the flags that make sense with an LLM alone and were given.
func (o *llmOptions) given() string {
	switch {
	case o.model != "":
		return "--model"
	case o.baseURL != "":
		return "--base-url"
	case o.prompt != "":
		return "--prompt"
	case o.timeout != usualPatience:
		return "--timeout"
	}
	return ""
}

// newClassifier returns the classifier of a kind: heuristic, llm, or cascade, which is the heuristic and, where that is not
// certain, the LLM. A classifier of a kind that needs an LLM is an error when there is none; parallel is how many calls it
// may have to bear at a time.
func newClassifier(kind string, o llmOptions, parallel int) (classify.Classifier, error) {
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return nil, err
	}
	if kind == "heuristic" {
		return heuristic, nil
	}
	cfg, err := o.config(parallel)
	if err != nil {
		return nil, err
	}
	judge, _, err := o.judge(cfg, heuristic, 0)
	if err != nil {
		return nil, err
	}
	if kind == "cascade" {
		return classify.Cascade(heuristic, judge, certain), nil
	}
	return judge, nil
}

// modelName is the model that is asked.
func (o *llmOptions) modelName() string {
	return cmp.Or(o.model, os.Getenv("SIDECOACH_MODEL"), defaultModel)
}

// config is where the LLM is asked. That there is none is an error.
func (o *llmOptions) config(parallel int) (llm.Config, error) {
	cfg := llm.Config{
		Model:     o.modelName(),
		Timeout:   time.Duration(o.timeout),
		Key:       os.Getenv("OPENAI_API_KEY"),
		BaseURL:   cmp.Or(o.baseURL, os.Getenv("OPENAI_BASE_URL")),
		Transport: transport(parallel),
		NoBreaker: true, // one call, or a measurement
	}
	if strings.TrimSpace(cfg.Key) == "" && cfg.BaseURL == "" {
		return cfg, misuse("set OPENAI_API_KEY, or name a server that needs none: --base-url http://localhost:11434/v1", "no LLM: there is neither a key nor a base URL")
	}
	return cfg, nil
}

// judge returns a classifier that keeps some verdicts, so that the same is not asked again.
func (o *llmOptions) judge(cfg llm.Config, heuristic *classify.Heuristic, keep int) (*llm.Classifier, *llm.Client, error) {
	client, err := llm.NewClient(cfg)
	if err != nil {
		return nil, nil, misuse("look at --model and --base-url, OPENAI_API_KEY, OPENAI_BASE_URL and SIDECOACH_MODEL", "the LLM cannot be used: %s", trimmed(err))
	}
	opts := llm.Options{Heuristic: heuristic, Cache: keep}
	if o.prompt != "" {
		// To open what is no folder, such as a pipe, may wait for ever.
		if info, err := os.Stat(o.prompt); err == nil && !info.IsDir() {
			return nil, nil, badInput("sidecoach prompt DIR writes the built-in prompt to DIR, to start from", "cannot open the prompt %q: it is not a folder", o.prompt)
		}
		root, err := os.OpenRoot(o.prompt)
		if err != nil {
			return nil, nil, badInput("sidecoach prompt DIR writes the built-in prompt to DIR, to start from", "cannot open the prompt %q: %v", o.prompt, cause(err))
		}
		defer root.Close()
		opts.Prompt = root.FS()
	}
	judge, err := llm.New(client, opts)
	if err != nil {
		return nil, nil, badInput("compare with the built-in prompt, which sidecoach prompt DIR writes to DIR", "the prompt %q cannot be used: %s", o.prompt, trimmed(err))
	}
	return judge, client, nil
}

// transport keeps as many connections as there are calls at a time, where the default is two.
func transport(parallel int) http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = parallel
	return t
}

// trimmed is an error of the package llm without the name of the package.
func trimmed(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok && strings.HasSuffix(err.Error(), e.Error()) {
		return e.Path + ": " + e.Err.Error()
	}
	return strings.TrimPrefix(err.Error(), "llm: ")
}
