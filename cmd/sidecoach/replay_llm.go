package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

const (
	maxSent     = 10_000          // outputs that an estimate counts once
	usualAnswer = 100             // tokens of a verdict, with its reason and a message to the agent
	longestWait = 2 * time.Minute // for an answer: a busy server may ask to wait
)

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

// tally counts what a classifier is asked, and what its answers cost.
type tally struct {
	classify.Classifier
	into  *replayTotal
	model string
}

// Classify asks the classifier. The end of ctx is an error, also where a fallback answered.
func (t *tally) Classify(ctx context.Context, in classify.Input) (classify.Result, error) {
	r, err := t.Classifier.Classify(ctx, in)
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	asked := r.Usage != nil || r.Fallback != ""
	if t.model == "" || asked { // facts settle some outputs without the LLM
		t.into.Judged++
	}
	if !asked {
		return r, err
	}
	if t.into.LLM == nil {
		t.into.LLM = &replayLLM{Model: t.model, Failed: make(map[string]int)}
	}
	l := t.into.LLM
	if r.Fallback != "" {
		t.into.Fallbacks++
		l.Failed[failureInWords(r.Fallback)]++
	}
	if u := r.Usage; u != nil {
		l.Answered++
		if u.Attempts == 0 {
			l.Repeated++
		}
		l.PromptTokens += u.PromptTokens
		l.CachedTokens += u.CachedTokens
		l.CompletionTokens += u.CompletionTokens
	}
	return r, err
}

// failureInWords says why the LLM had no answer, in the same words each time.
func failureInWords(fallback string) string {
	why, _, _ := strings.Cut(strings.TrimPrefix(fallback, "llm: "), " for another ") // some seconds
	return strings.TrimSuffix(why, ": context deadline exceeded")
}

// sayLLM says what became of asking the LLM.
func (t replayTotal) sayLLM(say func(s style, format string, args ...any)) {
	l := t.LLM
	if l.Answered > 0 {
		said := fmt.Sprintf(
			"%s judged %s: it read %s",
			l.Model,
			plural(l.Answered, "output"),
			plural(l.PromptTokens, "token"),
		)
		if l.CachedTokens > 0 {
			said += fmt.Sprintf(" (%s of them cached)", thousands(l.CachedTokens))
		}
		said += fmt.Sprintf(" and wrote %s", thousands(l.CompletionTokens))
		if l.Repeated > 0 {
			said += fmt.Sprintf("; %s the same as before and not sent", plural(l.Repeated, "output"))
		}
		say("", "%s", visible(said))
	}
	if t.Fallbacks > 0 {
		say(
			yellow,
			"the LLM had no answer for %s of %s; the heuristic decided:",
			thousands(t.Fallbacks),
			plural(t.Judged, "output"),
		)
		for _, why := range slices.SortedFunc(maps.Keys(l.Failed), func(a, b string) int {
			return cmp.Or(cmp.Compare(l.Failed[b], l.Failed[a]), cmp.Compare(a, b))
		}) {
			say("", "  %s  %s", thousands(l.Failed[why]), visible(why))
		}
	}
}

// askFirst makes r ask the LLM. It estimates what that will cost, by going through everything with the heuristic, and
// asks whether the outputs may be sent.
func (o *replayOptions) askFirst(
	ctx context.Context,
	found *sessionFiles,
	r *replay,
	stdin io.Reader,
	stderr io.Writer,
	t terminal,
) error {
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return err
	}
	cfg, err := o.judging.llm.config(1)
	if err != nil {
		return err
	}
	cfg.NoBreaker = false
	cfg.Timeout = cmp.Or(time.Duration(o.judging.llm.timeout), longestWait)
	cfg.Cache = &memoryCache{} // a resumed session begins with a copy of what came before
	judge, err := o.judging.llm.judge(cfg, heuristic)
	if err != nil {
		return err
	}
	if !o.yes && !t.keyboard {
		return misuse(
			"add --yes to send them without a question",
			"--llm sends the agents' words away, and there is no terminal to ask whether it may",
		)
	}
	e := estimate{judge: judge, seen: make(map[[sha256.Size]byte]bool)}
	dry := *r
	dry.labelled, dry.show, dry.classifier = nil, func(any) error { return nil }, e.counting(r.classifier)
	if total, err := dry.all(ctx, found); err != nil || total.Interrupted {
		return cmp.Or(err, badInput("run it again", "interrupted: nothing was sent"))
	}
	where := cmp.Or(o.judging.llm.baseURL, os.Getenv("OPENAI_BASE_URL"), "OpenAI")
	said := fmt.Sprintf("about %s of %s at %s: it reads %s and writes %s",
		plural(e.calls, "call"), o.judging.llm.modelName(), where, plural(e.prompt, "token"), thousands(e.calls*usualAnswer))
	done := 0
	counted := classify.ClassifierFunc(func(ctx context.Context, in classify.Input) (classify.Result, error) {
		r.bar.unit = " outputs"
		r.bar.show(done, max(done, e.outputs, 1))
		done++
		return judge.Classify(ctx, in)
	})
	r.classifier, r.model = classify.Fallback(counted, heuristic), o.judging.llm.modelName()
	if o.judging.certain != 0 {
		r.classifier = classify.Cascade(heuristic, counted, float64(o.judging.certain))
	}
	if o.yes || e.calls == 0 {
		complain(stderr, "sidecoach: "+said)
		return nil
	}
	fmt.Fprintf(stderr, "%s.\nSend what the agents wrote there? [y/N] ", visible(said))
	word, err := answer(ctx, stdin)
	if err != nil || word == "" {
		fmt.Fprintln(stderr)
	}
	switch {
	case err != nil:
		return badInput("run it again", "interrupted: nothing was sent")
	case word != "y" && word != "yes":
		return badInput("leave --llm out to use the heuristic alone", "nothing was sent")
	}
	return nil
}

// estimate counts what an LLM would be asked. Where it judges otherwise than the heuristic, a turn may continue
// otherwise, too.
type estimate struct {
	judge                  *llm.Classifier
	seen                   map[[sha256.Size]byte]bool
	outputs, calls, prompt int
}

func (e *estimate) counting(c classify.Classifier) classify.Classifier {
	return classify.ClassifierFunc(func(ctx context.Context, in classify.Input) (classify.Result, error) {
		e.outputs++
		request := e.judge.Request(in)
		key := sha256.Sum256([]byte(request.User))
		if !plaintext.IsBlank(in.Text) && !e.seen[key] {
			if len(e.seen) < maxSent {
				e.seen[key] = true
			}
			e.calls++
			e.prompt += (len(request.System) + len(request.User) + len(request.Schema)) / 4
		}
		return c.Classify(ctx, in)
	})
}

// answer is the first line of what is typed, in lower case. The end of ctx is an error, at once.
func answer(ctx context.Context, stdin io.Reader) (string, error) {
	typed := make(chan string, 1)
	go func() {
		defer func() {
			if recover() != nil {
				typed <- "" // which is not yes
			}
		}()
		line, _ := bufio.NewReader(io.LimitReader(stdin, 1024)).ReadString('\n')
		typed <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case word := <-typed:
		return word, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
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
