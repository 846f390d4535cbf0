package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
)

// patient returns a classifier for many decisions: the LLM, and the heuristic where it fails, which after some failures in a row
// it is not asked any more for a while.
func (o *judging) patient() (classify.Classifier, error) {
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return nil, err
	}
	cfg, err := o.llm.config(1)
	if err != nil {
		return nil, err
	}
	cfg.NoBreaker = false
	judge, _, err := o.llm.judge(cfg, heuristic)
	if err != nil {
		return nil, err
	}
	return classify.Fallback(judge, heuristic), nil
}

// agreed estimates what the LLM will cost, by going through all with the heuristic, and asks whether that is fine.
func (o *replayOptions) agreed(ctx context.Context, found oldSessions, r replay, stdin io.Reader, stderr io.Writer, t terminal) error {
	if !o.yes && !t.keyboard {
		return misuse("add --yes to send them without a question", "--llm sends the agents' words away, and there is no terminal to ask whether it may")
	}
	asked := &tally{Classifier: r.classifier}
	r.classifier, r.labelled = asked, nil
	if _, err := r.all(ctx, found, silent{}, io.Discard); err != nil {
		return err
	}
	fixed, err := o.promptTokens()
	if err != nil {
		return err
	}
	const variable, answer = 900, 200 // what the judge sees of an output at most, and about what it says
	in := asked.calls*fixed + min(asked.calls*variable, asked.size/3)
	where := cmp.Or(o.judging.llm.baseURL, os.Getenv("OPENAI_BASE_URL"), "OpenAI")
	said := fmt.Sprintf("about %s of %s at %s: %d tokens to it and %d back", plural(asked.calls, "call"), o.judging.llm.modelName(), where, in, asked.calls*answer)
	if o.yes || asked.calls == 0 {
		complain(stderr, "sidecoach: "+said)
		return nil
	}
	fmt.Fprintf(stderr, "%s.\nSend what the agents wrote there? [y/N] ", visible(said))
	line, err := bufio.NewReader(io.LimitReader(stdin, 1024)).ReadString('\n')
	if err != nil && line == "" {
		fmt.Fprintln(stderr)
	}
	if word := strings.ToLower(strings.TrimSpace(line)); word != "y" && word != "yes" {
		return badInput("leave --llm out to use the heuristic alone", "nothing was sent")
	}
	return nil
}

// promptTokens is about how many tokens the part of a call has that is always the same.
func (o *replayOptions) promptTokens() (int, error) {
	prompt := llm.Prompt()
	if dir := o.judging.llm.prompt; dir != "" {
		prompt = os.DirFS(dir)
	}
	size := 0
	err := fs.WalkDir(prompt, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += int(info.Size())
		}
		return err
	})
	if err != nil {
		return 0, badInput("sidecoach prompt DIR writes the built-in prompt to DIR, to start from", "cannot read the prompt: %v", cause(err))
	}
	return size / 4, nil
}

// silent prints nothing.
type silent struct{}

func (silent) pause(replayPause) error     { return nil }
func (silent) session(replaySession) error { return nil }
func (silent) fault(replayFault) error     { return nil }
func (silent) total(replayTotal) error     { return nil }
