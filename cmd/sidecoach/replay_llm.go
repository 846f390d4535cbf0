package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
)

const longestWait = 2 * time.Minute // for an answer: a busy server may ask to wait

// replayLLM is what became of asking an LLM.
type replayLLM struct {
	Model            string         `json:"model"`
	Answered         int            `json:"answered"` // outputs
	Repeated         int            `json:"repeated"` // of these, answered before and not sent again
	PromptTokens     int            `json:"prompt_tokens"`
	CachedTokens     int            `json:"cached_tokens"` // part of PromptTokens, as the server says
	CompletionTokens int            `json:"completion_tokens"`
	Failed           map[string]int `json:"failed,omitempty"` // outputs by why the heuristic judged them
}

// Classify asks the classifier, and counts what its answers cost. The end of ctx is an error, also where a fallback
// answered.
func (r *replay) Classify(ctx context.Context, in classify.Input) (classify.Result, error) {
	result, err := r.classifier.Classify(ctx, in)
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	asked := result.Usage != nil || result.Fallback != ""
	if r.model == "" || asked { // facts settle some outputs without the LLM
		r.sum.Judged++
	}
	if !asked {
		return result, err
	}
	if r.sum.LLM == nil {
		r.sum.LLM = &replayLLM{Model: r.model, Failed: make(map[string]int)}
	}
	l := r.sum.LLM
	if result.Fallback != "" {
		r.sum.Fallbacks++
		l.Failed[failureInWords(result.Fallback)]++
	}
	if u := result.Usage; u != nil {
		l.Answered++
		if u.Attempts == 0 {
			l.Repeated++
		}
		l.PromptTokens += u.PromptTokens
		l.CachedTokens += u.CachedTokens
		l.CompletionTokens += u.CompletionTokens
	}
	return result, err
}

// failureInWords says why the LLM had no answer, in the same words each time.
func failureInWords(fallback string) string {
	why, _, _ := strings.Cut(strings.TrimPrefix(fallback, "llm: "), " for another ") // 30s
	return strings.TrimSuffix(why, ": context deadline exceeded")
}

// sayLLM says what became of asking the LLM.
func (p *page) sayLLM(t replayTotal) {
	l := t.LLM
	if l.Answered > 0 {
		said := fmt.Sprintf("%s judged %s: it read %s",
			l.Model, plural(l.Answered, "output"), plural(l.PromptTokens, "token"))
		if l.CachedTokens > 0 {
			said += fmt.Sprintf(" (%s of them cached)", thousands(l.CachedTokens))
		}
		said += fmt.Sprintf(" and wrote %s", thousands(l.CompletionTokens))
		if l.Repeated > 0 {
			said += fmt.Sprintf("; %s the same as before and not sent", plural(l.Repeated, "output"))
		}
		p.say("", visible(said))
	}
	if t.Fallbacks > 0 {
		p.say(yellow, fmt.Sprintf("the LLM had no answer for %s of %s; the heuristic decided:",
			thousands(t.Fallbacks), plural(t.Judged, "output")))
		for _, why := range mostFrequent(l.Failed) {
			p.say("", "  "+thousands(l.Failed[why])+"  "+visible(why))
		}
	}
}

// useLLM makes r ask the LLM.
func (o *replayOptions) useLLM(r *replay, heuristic *classify.Heuristic) error {
	cfg, err := o.judging.llm.config(1)
	if err != nil {
		return err
	}
	cfg.NoBreaker = false
	cfg.Timeout = cmp.Or(o.judging.llm.timeout, longestWait)
	cfg.Cache = &memoryCache{} // a resumed session begins with a copy of what came before
	judge, err := o.judging.llm.judge(cfg, heuristic)
	if err != nil {
		return err
	}
	r.classifier, r.model = o.judging.beside(heuristic, judge), o.judging.llm.modelName()
	return nil
}

// askFirst asks the human whether the outputs may be sent.
func (o *replayOptions) askFirst(ctx context.Context, files int, stdin io.Reader, stderr io.Writer, t terminal) error {
	if !t.keyboard {
		return misuse("add --yes to send them without a question",
			"--llm sends the agents' words away, and there is no terminal to ask whether it may")
	}
	to := o.judging.llm.modelName()
	if !o.judging.llm.isProgram() {
		to += " at " + cmp.Or(o.judging.llm.baseURL, os.Getenv("OPENAI_BASE_URL"), "OpenAI")
	}
	yes, err := ask(ctx, stdin, stderr, fmt.Sprintf("Send what the agents wrote in %s to %s?", plural(files, "file"),
		visible(to)))
	switch {
	case err != nil:
		return badInput("run it again", "interrupted: nothing was sent")
	case !yes:
		return badInput("leave --llm out to use the heuristic alone", "nothing was sent")
	}
	return nil
}

// memoryCache keeps the answers of this process.
type memoryCache struct{ answers sync.Map }

func (m *memoryCache) Load(_ context.Context, r llm.Request) (llm.Answer, error) {
	if object, ok := m.answers.Load(r.Key()); ok {
		return llm.Answer{Object: object.(json.RawMessage), Usage: classify.Usage{Model: r.Model}}, nil
	}
	return llm.Answer{}, llm.ErrNotCached
}

func (m *memoryCache) Store(_ context.Context, r llm.Request, a llm.Answer) error {
	m.answers.Store(r.Key(), a.Object)
	return nil
}
