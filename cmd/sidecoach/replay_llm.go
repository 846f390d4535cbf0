package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// sent is how many outputs are counted once in an estimate: resumed sessions begin with a copy of what came before.
const sent = 10_000

// patient returns a judge for many decisions, which after some failures in a row is not asked any more for a while.
func (o *judging) patient(heuristic *classify.Heuristic) (*llm.Classifier, error) {
	cfg, err := o.llm.config(1)
	if err != nil {
		return nil, err
	}
	cfg.NoBreaker = false
	cfg.Cache = &memoryCache{} // resumed sessions begin with a copy of what came before
	judge, _, err := o.llm.judge(cfg, heuristic)
	return judge, err
}

// obliging asks once more after the time that a busy server asks for, where that is longer than a call may take: what a limit on
// calls or tokens a minute needs.
type obliging struct {
	classify.Classifier
	wait func(context.Context, time.Duration) error
}

const longestWait = 2 * time.Minute

func (o obliging) Classify(ctx context.Context, in classify.Input) (classify.Result, error) {
	r, err := o.Classifier.Classify(ctx, in)
	busy, ok := errors.AsType[*llm.Error](err)
	if !ok || busy.RetryAfter <= 0 || busy.RetryAfter > longestWait {
		return r, err
	}
	if err := o.wait(ctx, busy.RetryAfter); err != nil {
		return r, err
	}
	return o.Classifier.Classify(ctx, in)
}

// pause waits until the time is over or ctx ends, which is an error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// estimate is what an LLM would cost.
type estimate struct{ outputs, calls, prompt, completion int }

// usualAnswer is about how many tokens a verdict has, with its reason and a message to the agent.
const usualAnswer = 100

// agreed makes r ask the LLM. It estimates what that will cost, by going through all with the heuristic, and asks whether that
// is fine.
func (o *replayOptions) agreed(ctx context.Context, found oldSessions, r *replay, bar *bar, stdin io.Reader, stderr io.Writer, t terminal) error {
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return err
	}
	judge, err := o.judging.patient(heuristic)
	if err != nil {
		return err
	}
	if !o.yes && !t.keyboard {
		return misuse("add --yes to send them without a question", "--llm sends the agents' words away, and there is no terminal to ask whether it may")
	}
	e, err := estimated(ctx, found, *r, judge, bar)
	if err != nil {
		return err
	}
	where := cmp.Or(o.judging.llm.baseURL, os.Getenv("OPENAI_BASE_URL"), "OpenAI")
	said := fmt.Sprintf("about %s of %s at %s: %s to it and %s back", plural(e.calls, "call"), o.judging.llm.modelName(), where, plural(e.prompt, "token"), thousands(e.completion))
	if o.price != (price{}) {
		said += ", " + money(o.price.of(e.prompt, e.completion)) + " by --price"
	}
	wait := func(ctx context.Context, d time.Duration) error {
		bar.clear()
		complain(stderr, fmt.Sprintf("sidecoach: the server is busy and is asked again in %v", d.Round(time.Second)))
		return pause(ctx, d)
	}
	r.classifier, r.model = classify.Fallback(obliging{judge, wait}, heuristic), o.judging.llm.modelName()
	if o.price != (price{}) {
		r.price = &o.price
	}
	done := 0
	r.asking = func() {
		bar.unit = " outputs"
		bar.show(done, max(done, e.outputs, 1))
		done++
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

// estimated goes through all with the heuristic. Where the LLM judges otherwise a turn may go on otherwise, too.
func estimated(ctx context.Context, found oldSessions, r replay, judge *llm.Classifier, bar *bar) (e estimate, err error) {
	seen := make(map[[sha256.Size]byte]bool)
	r.labelled = nil
	r.classifier = asked{r.classifier, func(in classify.Input) {
		e.outputs++
		request := judge.Request(in)
		key := sha256.Sum256([]byte(request.User))
		if plaintext.IsBlank(in.Text) || seen[key] {
			return
		}
		tokens := (len(request.System) + len(request.User) + len(request.Schema)) / 4
		if len(seen) < sent {
			seen[key] = true
		}
		e.calls++
		e.prompt += tokens
		e.completion += usualAnswer
	}}
	total, err := r.all(ctx, found, silent{}, bar)
	if err == nil && total.Interrupted {
		err = badInput("run it again", "interrupted: nothing was sent")
	}
	return e, err
}

// answer is the first line of what is typed, in lower case. The end of ctx is an error, at once.
func answer(ctx context.Context, stdin io.Reader) (string, error) {
	typed := make(chan string, 1)
	go func() {
		defer func() {
			if recover() != nil {
				typed <- "" // which is no yes
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

// asked is a classifier that tells what it is asked.
type asked struct {
	classify.Classifier
	tell func(classify.Input)
}

func (a asked) Classify(ctx context.Context, in classify.Input) (classify.Result, error) {
	a.tell(in)
	return a.Classifier.Classify(ctx, in)
}

// silent prints nothing.
type silent struct{}

func (silent) pause(replayPause) error     { return nil }
func (silent) session(replaySession) error { return nil }
func (silent) fault(replayFault) error     { return nil }
func (silent) total(replayTotal) error     { return nil }

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
